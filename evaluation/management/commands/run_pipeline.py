"""``assay run_pipeline``: a pipeline on conversations without gold, from files to files."""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from evaluation.management import foreground
from evaluation.management.base import RunCommand, add_model, budget_in, problem, read_settings
from evaluation.models import Run
from evaluation.services.language_models import bills
from evaluation.services.language_models.usage import Spent
from evaluation.services.launch import launch
from evaluation.services.unmeasured import folder, launching, predicting
from evaluation.services.unmeasured.folder import Failure, FileEntry
from evaluation.services.unmeasured.launching import Wish
from evaluation.services.unmeasured.predicting import Question, Task
from evaluation.services.work import slots, steering
from labeling.conversations.formats import conversations as formats
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.rules.importing import Problem, Record
from labeling.core import acting
from labeling.domain.facts import Fact
from labeling.words import in_english
from pipelines import registry

FAILED = 1
LONGEST_ID = 50  # what the column holds


class Command(RunCommand):
    help = (
        "Run a pipeline on conversations of files, without gold. Writes predictions.jsonl (which "
        "evaluate --predictions reads), labels.csv, documents/, failures.jsonl and run.json; then "
        "nothing of it is left in the database. A run that was stopped goes on when the same "
        "command is called again; what is done is not done again. Exit status: 0 everything has "
        "an output, 1 some conversations failed or could not be read, 2 not usable."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
        parser.add_argument("--pipeline", required=True, metavar="NAME")
        parser.add_argument("--output-dir", required=True, type=Path, metavar="FOLDER")
        parser.add_argument(
            "--layer",
            choices=sorted(registry.LAYERS),
            default="",
            help="what is asked for (default: the whole document, or the pipeline's first layer)",
        )
        parser.add_argument(
            "--config", type=Path, metavar="FILE.yaml", help="settings of the pipeline"
        )
        parser.add_argument(
            "--questions",
            type=Path,
            metavar="FILE",
            help="for pipelines that answer questions: one a line, asked of every conversation, or "
            'JSON Lines {"id", "question", "conversation"}',
        )
        parser.add_argument(
            "--event-schema",
            type=Path,
            metavar="FILE.json",
            help='for pipelines that look for events: {"type": ["role", …]}',
        )
        parser.add_argument(
            "--format",
            default=formats.AUTO,
            choices=formats.FORMATS,
            metavar="NAME",
            help=f"how the files are written: {', '.join(formats.FORMATS)} (default: auto)",
        )
        parser.add_argument(
            "--columns", default="", metavar="WHAT=COLUMN,…", help="as in import_conversations"
        )
        parser.add_argument(
            "--roles",
            default="",
            metavar="NAME=ROLE,…",
            help="who is the user and who the analyst: “Ana=analyst,*=user”",
        )
        parser.add_argument(
            "--encoding",
            choices=ENCODINGS,
            default="",
            help="of files that are not UTF-8, which are refused otherwise",
        )
        add_model(parser)

    def handle(self, **options: Any) -> None:
        task, into = _task(options), options["output_dir"]
        how = HowToRead.written(*(options[name] for name in ("columns", "roles", "encoding")))
        how_read = {"format": options["format"], "columns": how.columns, "roles": how.roles}
        if how.encoding:
            how_read["encoding"] = how.encoding
        asked = folder.asked_report(task, list(map(_entry_of, options["files"])), how_read)
        known = folder.known(into, asked)
        if known and known["state"] == "finished" and not known["failed"]:
            self._say(known, into)
            return
        run = folder.run_of(known)
        if known and run:
            self._go_on(run, options)
            report = known
        else:
            run, report = self._begin(task, how, asked, options)
        self.work([run.pk])
        done = foreground.reload(run.pk)
        report = folder.write(into, report, done)
        self._say(report, into)
        self._end(done, report, into)

    def _begin(
        self, task: Task, how: HowToRead, asked: folder.Report, options: dict[str, Any]
    ) -> tuple[Run, folder.Report]:
        records: dict[str, Record] = {}
        unreadable: list[Failure] = []
        for entry in _entries(options["files"], options["format"], how):
            if isinstance(entry, Failure):
                unreadable.append(entry)
            elif entry.id in records:
                twice = Fact("trial.id_twice", id=entry.id)
                unreadable.append(Failure(entry.id, "permanent", in_english(twice)))
            else:
                records[entry.id] = entry
        for failure in unreadable:
            self.stderr.write(f"{failure.case_id}: {failure.reason}")
        into: Path = options["output_dir"]
        wish = Wish(acting.person(), task, into.name, **budget_in(options))
        with transaction.atomic():
            run = launching.on_files(wish, list(records.values()))
            return run, folder.begin(into, asked, run, unreadable)

    def _go_on(self, run: Any, options: dict[str, Any]) -> None:
        """What is done is not done again; what failed is tried again."""
        self.stderr.write(f"Continuing: {run.n_done} done already.")
        slots.keep_for_command([run.pk])
        if run.failure or (run.scored_at and run.n_failed):
            steering.retry(run, by=acting.person())
        elif run.scored_at is None and run.paused:
            steering.resume(run, by=acting.person(), **budget_in(options))

    def again(self, left: Sequence[str]) -> str:
        return "Call the same command again to continue."

    def _end(self, run: Run, report: folder.Report, into: Path) -> None:
        """The folder has everything of a run that went well, which is not kept then."""
        if run.failure:
            raise self.problem(in_english(run.failure))
        if run.status != Run.Status.FINISHED:
            why = in_english(run.pause_reason) if run.pause_reason else f"The run is {run.status}."
            raise self.problem(f"{why} Results so far are kept: call again.")
        if report["failed"]:
            said = f"{report['failed']} failed: see {into / folder.FAILURES}."
            raise CommandError(said, returncode=FAILED)
        run.delete()

    def _say(self, report: folder.Report, into: Path) -> None:
        labels = ", ".join(f"{number} × {kind}" for kind, number in report["labels"].items())
        self.stdout.write(
            f"{report['pipeline']} {report['version']}: {report['done']} of {report['cases']} "
            f"cases of {report['conversations']} conversations ({report['messages']} messages), "
            f"{report['failed']} failed."
        )
        self.stdout.write(f"Labels: {labels or 'none'}.")
        for notice, number in report["notices"].items():
            self.stdout.write(f"{number} × {notice}")
        if report["done"]:
            documents = len(list((into / folder.DOCUMENTS).glob("*")))
            also = f", {documents} in {folder.DOCUMENTS}/" if documents else ""
            self.stdout.write(f"In {into}: {folder.PREDICTIONS}, {folder.LABELS}{also}.")
        if report["usage"]:
            usage = bills.usage_line(Spent.read(report["usage"]))
            self.stdout.write(f"Language model: {usage}.")


def _task(options: dict[str, Any]) -> Task:
    task = predicting.checked_task(
        options["pipeline"],
        read_settings(options["config"]),
        layer=options["layer"],
        questions=_questions(options["questions"]),
        event_schema=_event_schema(options["event_schema"]),
        model=options["model"],
    )
    money, tokens = options["budget"], options["budget_tokens"]
    launch.check_budget(task.entry, money, tokens, asks_model=task.asks_model, model=task.model)
    return task


def _questions(path: Path | None) -> tuple[Question, ...]:
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(f"{path} is not written in UTF-8.") from error
    if not text.lstrip().startswith("{"):
        return predicting.questions_in(text)
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            rows.append(_question(line, number, path))
    return tuple(rows)


def _question(line: str, number: int, path: Path) -> Question:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    text = row.get("question") if isinstance(row, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise problem(f'{path}:{number}: not an object with "question".')
    id = str(row.get("id") or f"Q-{number:03d}")
    if len(id) > LONGEST_ID:
        raise problem(f"{path}:{number}: an id has at most {LONGEST_ID} characters.")
    return Question(id, text.strip(), str(row.get("conversation") or ""))


def _event_schema(path: Path | None) -> dict[str, list[str]] | None:
    if path is None:
        return None
    try:
        schema = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError:
        schema = None
    if not isinstance(schema, dict) or not all(
        isinstance(roles, list) and all(isinstance(role, str) for role in roles)
        for roles in schema.values()
    ):
        raise problem(f'{path} must hold event types with their roles: {{"type": ["role"]}}.')
    return schema


def _entry_of(path: Path) -> FileEntry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _entries(paths: list[Path], format: str, how: HowToRead) -> Iterator[Record | Failure]:
    """By the reader that imports use."""
    for path in paths:
        with path.open("rb") as file:
            for entry in formats.read(file, format=format, name=path.name, how=how):
                if isinstance(entry, Problem):
                    place = path.name if entry.line is None else f"{path.name}:{entry.line}"
                    yield Failure(place, "unreadable", in_english(entry.reason))
                else:
                    yield entry[1]
