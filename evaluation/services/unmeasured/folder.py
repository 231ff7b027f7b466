"""What a run without gold returned, as files in a folder; ``run.json`` says of which run."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from django.db.models import Sum

from evaluation import adapters
from evaluation.judge import how_asked
from evaluation.models import CaseRun, Run
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.launch import spec
from evaluation.services.unmeasured import files, launching
from evaluation.services.unmeasured.predicting import Task, TrialRefused, counted
from labeling.exchange import building
from labeling.words import in_english
from pipelines.requirements.document.files import FORMS

PREDICTIONS, LABELS, FAILURES = "predictions.jsonl", "labels.csv", "failures.jsonl"
REPORT, DOCUMENTS = "run.json", "documents"


class FileEntry(TypedDict):
    name: str
    bytes: int
    sha256: str


class Failure(NamedTuple):
    """Why a case has no output, or a part of a file is not a conversation."""

    case_id: str
    error_class: str
    reason: str


Report = dict[str, Any]
"""``run.json``: what was asked, which decides whether a folder can be continued; what came out."""

ASKED = ("pipeline", "layer", "settings", "prompts", "questions", "event_schema", "read", "files")
"""What must be the same for a folder to be continued; the model, too, whatever it costs now."""


def asked_report(task: Task, read: list[FileEntry], how_read: dict[str, Any]) -> Report:
    return {
        "pipeline": task.entry.name,
        "layer": task.layer,
        "settings": task.config,
        "prompts": spec.prompts_of(task.entry.name, task.config),
        "model": endpoints.describe(task.model) if task.asks_model else None,
        "questions": [question._asdict() for question in task.questions],
        "event_schema": task.event_schema,
        "read": how_read,
        "files": read,
    }


def known(folder: Path, asked: Report) -> Report | None:
    """What an earlier call wrote that asked for the same. Refused where other results lie."""
    folder.mkdir(parents=True, exist_ok=True)
    report = _report_in(folder)
    if report is None:
        if {*folder.iterdir()} - {building.partial_of(folder / REPORT)}:
            raise TrialRefused("trial.folder_not_empty", path=str(folder))
        return None
    differing = [name for name in ASKED if report.get(name) != asked[name]]
    if how_asked(report.get("model") or {}) != how_asked(asked["model"] or {}):
        differing.append("model")
    if differing:
        raise TrialRefused("trial.folder_of_another", path=str(folder), names=differing)
    return report


def _report_in(folder: Path) -> Report | None:
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def begin(folder: Path, asked: Report, run: Run, unreadable: Iterable[Failure]) -> Report:
    """The caller has not committed the run yet: a folder never lacks the name of its run."""
    report = {
        **asked,
        "run": run.pk,
        "started_at": run.created_at.isoformat(),
        "state": "running",
        "unreadable": [failure._asdict() for failure in unreadable],
    }
    _write_report(folder, report)
    return report


def run_of(report: Report | None) -> Run | None:
    """None: there is none yet, it was deleted, or it is in another database."""
    if report is None:
        return None
    run = Run.objects.with_progress().filter(release=None, pk=int(report["run"])).first()
    return run if run and run.created_at.isoformat() == report["started_at"] else None


def write(folder: Path, report: Report, run: Run) -> Report:
    """Everything that is done. Needs ``with_progress()``."""
    counts: Any = run
    labels, notices = Counter[str](), Counter[str]()
    done = launching.done_cases(run)
    with building.whole(folder / PREDICTIONS) as file:
        for case in done.defer(None).iterator(chunk_size=20):
            output = case.output or {}
            file.write(files.prediction_line(case))
            _write_documents(folder, case)
            labels.update(counted(output, run.spec.layer))
            if notice := output.get("notice"):
                notices[str(notice)] += 1
    with building.whole(folder / LABELS) as file:
        file.writelines(files.label_table(done.iterator(chunk_size=20), run.spec.layer))
    failures = [*(Failure(**each) for each in report["unreadable"]), *_failures_of(run)]
    with building.whole(folder / FAILURES) as file:
        file.writelines(_failure_line(failure) for failure in failures)
    spent = budgets.spent(run.pk)
    talks = run.conversations.aggregate(messages=Sum("n_messages"))
    report = {
        **report,
        "version": run.pipeline_version,
        "state": "finished" if run.status == Run.Status.FINISHED else "stopped",
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "conversations": run.conversations.count(),
        "messages": talks["messages"],
        "cases": counts.n_cases,
        "done": counts.n_done,
        "failed": len(failures),
        "failures": dict(Counter(failure.error_class for failure in failures)),
        "labels": dict(labels),
        "notices": dict(notices),
        "usage": spent.as_json() if spent.calls else None,
    }
    _write_report(folder, report)
    return report


def _failures_of(run: Run) -> Iterable[Failure]:
    failed = CaseRun.objects.filter(run=run, state=CaseRun.State.FAILED).order_by("pk")
    for case in failed.select_related("talk").defer("talk__text"):
        reason = in_english(case.error) if case.error else ""
        yield Failure(case.case_id, case.error_class, reason)


def _failure_line(failure: Failure) -> str:
    line = dict(zip(("case_id", "class", "reason"), failure, strict=True))
    return json.dumps(line, ensure_ascii=False) + "\n"


def _write_report(folder: Path, report: Mapping[str, Any]) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    with building.whole(folder / REPORT) as file:
        file.write(text + "\n")


def _write_documents(folder: Path, case: CaseRun) -> None:
    document = files.document_of(case.output or {}, case.case_id)
    if document is None:
        return
    assert case.talk is not None
    messages = adapters.messages_of(case.talk)
    (folder / DOCUMENTS).mkdir(exist_ok=True)
    for ending, form in FORMS.items():
        path = folder / DOCUMENTS / f"{files.file_stem(case.case_id)}.{ending}"
        path.write_bytes(form.write(document, messages))
    gc.collect()  # the trees of Word files lie in circles, 5 MB each, outside of what it counts
