"""A trial whose results are files in a folder: written case by case, continued after a kill.

``predictions.jsonl`` is what counts as done. Memory does not grow with the conversations: only
the ids of the cases are kept.
"""

from __future__ import annotations

import fcntl
import gc
import json
import logging
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypedDict

from evaluation.judge import how_asked
from evaluation.services.language_models import endpoints
from evaluation.services.language_models.metering import CountedModel
from evaluation.services.language_models.usage import Spent, together
from evaluation.services.launch import spec
from evaluation.services.unmeasured import files
from evaluation.services.unmeasured.files import Prediction
from evaluation.services.unmeasured.predicting import (
    Talk,
    Task,
    TrialRefused,
    cases_of,
    counted,
    predict,
    prepare,
)
from evaluation.services.work import working
from labeling.domain.facts import Fact
from labeling.exchange import building
from labeling.words import in_english
from pipelines.types import Case, Message, Pipeline

logger = logging.getLogger(__name__)

PREDICTIONS, LABELS, FAILURES, REPORT = (
    *("predictions.jsonl", "labels.csv", "failures.jsonl"),
    "run.json",
)
DOCUMENTS = "documents"
LOCK = ".lock"
KIBIBYTES = 1024 if sys.platform != "darwin" else 1024 * 1024  # of the unit of ``ru_maxrss``


class FileEntry(TypedDict):
    name: str
    bytes: int
    sha256: str


Report = dict[str, Any]
"""``run.json``: what was asked, which decides whether a folder can be continued; what came out."""

ASKED = (
    *("pipeline", "version", "layer", "settings", "prompts", "questions_sha256"),
    *("event_schema", "how_read", "files"),
)
"""What must be the same for a folder to be continued."""


class Failure(NamedTuple):
    """Why a case has no output, or a part of a file is not a conversation."""

    case_id: str
    error_class: str
    reason: Fact


Entry = Talk | Failure


@dataclass(slots=True)
class Outcome:
    conversations: int = 0
    messages: int = 0
    cases: int = 0
    done: int = 0
    done_before: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    stopped: Fact | None = None
    """Why no other case was tried: a budget, a key or a model that is not known."""
    since: float = field(default_factory=perf_counter)

    @property
    def failed(self) -> int:
        return self.failures.total()

    def report(self) -> Report:
        return {
            "conversations": self.conversations,
            "messages": self.messages,
            "cases": self.cases,
            "done": self.done + self.done_before,
            "done_before": self.done_before,
            "failed": self.failed,
            "failures": dict(self.failures),
            "seconds": round(perf_counter() - self.since, 2),
        }


class Folder:
    """Where the results of one trial are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._spent: Mapping[str, Any] = {}

    def open(self, asked: Report) -> set[str]:
        """The ids of the cases that are done already. Refused where other results lie."""
        known = self._known()
        if known is not None:
            differing = [name for name in ASKED if known.get(name) != asked[name]]
            if _who_replies(known.get("model")) != _who_replies(asked["model"]):
                differing.append("model")
            if differing:
                raise TrialRefused("trial.folder_of_another", path=str(self.path), names=differing)
        elif {*self.path.iterdir()} - {self.path / LOCK, building.partial_of(self.path / REPORT)}:
            raise TrialRefused("trial.folder_not_empty", path=str(self.path))
        self._spent = (known or {}).get("usage") or {}
        self.write_report({**asked, "usage": self.spent(None)})
        return self._done()

    def spent(self, now: Spent | None) -> Any:
        """On language models by all calls that have written into the folder."""
        return together(self._spent, now) if now else self._spent or None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Two commands at once would write each case twice. A killed one holds nothing."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TrialRefused("trial.folder_in_use", path=str(self.path)) from None
            yield

    def _known(self) -> dict[str, Any] | None:
        try:
            known = json.loads((self.path / REPORT).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return known if isinstance(known, dict) else None

    def _done(self) -> set[str]:
        """By whole lines: one that was cut off when a process was killed goes."""
        path, kept = self.path / PREDICTIONS, 0
        done: set[str] = set()
        if not path.exists():
            return done
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                done.add(str(json.loads(line)["case_id"]))
                kept += len(line)
        os.truncate(path, kept)
        return done

    def predictions(self) -> Iterator[Prediction]:
        path = self.path / PREDICTIONS
        if not path.exists():
            return
        with path.open(encoding="utf-8") as file:
            for line in file:
                document = json.loads(line)
                yield Prediction(document["case_id"], document["output"])

    def write_report(self, report: Report) -> None:
        text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
        with building.whole(self.path / REPORT) as file:
            file.write(text + "\n")

    def write_labels(self, layer: str) -> None:
        with building.whole(self.path / LABELS) as file:
            file.writelines(files.label_table(self.predictions(), layer))

    def write_documents(
        self, prediction: Prediction, messages: tuple[Message, ...], forms: Iterable[str]
    ) -> None:
        document = files.document_of(prediction.output, prediction.case_id)
        if document is None:
            return
        (self.path / DOCUMENTS).mkdir(exist_ok=True)
        for ending in forms:
            content = files.DOCUMENTS[ending].write(document, messages)
            self._document(prediction.case_id, ending).write_bytes(content)
        gc.collect()  # the trees of Word files lie in circles, 5 MB each, outside of what it counts

    def _document(self, case_id: str, ending: str) -> Path:
        return self.path / DOCUMENTS / f"{files.file_stem(case_id)}.{ending}"


def _who_replies(model: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The model and how it is asked: a new price does not make it another model."""
    return how_asked(model) if model else {}


Told = Callable[[Outcome], None]


def carry_out(
    entries: Iterable[Entry],
    task: Task,
    pipeline: Pipeline,
    folder: Folder,
    done: set[str],
    *,
    model: CountedModel | None = None,
    forms: Iterable[str] = (),
    tell: Told = lambda _: None,
    say: Callable[[Failure], None] = lambda _: None,
) -> Outcome:
    """Run the pipeline on what is not done yet. A case that fails is said, and the others go on."""
    outcome, seen = Outcome(), set[str]()
    with (
        (folder.path / PREDICTIONS).open("a", encoding="utf-8") as predictions,
        (folder.path / FAILURES).open("w", encoding="utf-8") as failures,
    ):

        def fail(failure: Failure) -> None:
            outcome.failures[failure.error_class] += 1
            failures.write(_failure_line(failure))
            failures.flush()
            say(failure)

        for entry in entries:
            if isinstance(entry, Failure):
                fail(entry)
                continue
            if entry.id in seen:
                fail(Failure(entry.id, "permanent", Fact("trial.id_twice", id=entry.id)))
                continue
            seen.add(entry.id)
            outcome.conversations += 1
            outcome.messages += len(entry.messages)
            for number, case in enumerate(cases_of(entry, task)):
                outcome.cases += 1
                if case.case_id in done:
                    outcome.done_before += 1
                    continue
                try:
                    prediction = _prediction(pipeline, case, is_first=number == 0)
                except Exception as error:  # the others get theirs
                    working.log_failure(logger, case.case_id, error)
                    kind = working.class_of(error)
                    fail(Failure(case.case_id, str(kind.value), working.fact_of(error)))
                else:
                    folder.write_documents(prediction, case.messages, forms)
                    predictions.write(files.prediction_line(prediction))
                    predictions.flush()
                    outcome.done += 1
                if model and model.stopped:
                    outcome.stopped = working.fact_of(model.stopped)
                    return outcome
                tell(outcome)
    return outcome


def _prediction(pipeline: Pipeline, case: Case, *, is_first: bool) -> Prediction:
    if is_first:
        prepare(pipeline, case)
    return Prediction(case.case_id, predict(pipeline, case))


def _failure_line(failure: Failure) -> str:
    line = {
        "case_id": failure.case_id,
        "class": failure.error_class,
        "reason": in_english(failure.reason),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def asked_report(
    task: Task,
    pipeline: Pipeline,
    read: list[FileEntry],
    how_read: dict[str, Any],
) -> Report:
    """What is asked, before anything is done."""
    questions = [question._asdict() for question in task.questions]
    return {
        "pipeline": task.entry.name,
        "version": pipeline.version,
        "layer": task.layer,
        "settings": task.config,
        "prompts": spec.prompts_of(task.entry.name, task.config),
        "model": endpoints.describe(task.model) if task.asks_model else None,
        "questions": len(questions),
        "questions_sha256": spec.sha256_of(questions),
        "event_schema": task.event_schema,
        "how_read": how_read,
        "files": read,
        "state": "running",
        "started_at": _now(),
        "finished_at": None,
        **Outcome().report(),
        **_held([], task.layer),
        "usage": None,
    }


def finished_report(asked: Report, outcome: Outcome, folder: Folder, usage: Any) -> Report:
    """What all cases hold, also those that were done before."""
    return {
        **asked,
        "state": "running" if outcome.stopped else "finished",
        "finished_at": _now(),
        **outcome.report(),
        **_held(folder.predictions(), asked["layer"]),
        "usage": usage,
    }


def _held(predictions: Iterable[Prediction], layer: str) -> Report:
    """Labels by kind, and what a pipeline said of a conversation, as that it cannot read its
    language; the peak of memory is that of this process so far."""
    labels, notices = Counter[str](), Counter[str]()
    for prediction in predictions:
        labels.update(counted(prediction.output, layer))
        if notice := prediction.output.get("notice"):
            notices[str(notice)] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTES
    return {
        "labels": dict(labels),
        "notices": dict(notices),
        "peak_memory_mb": round(peak / 1e6),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
