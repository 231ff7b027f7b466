"""``assay run_pipeline``: a pipeline on conversations without gold, from files to files."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import CommandError

from evaluation.management.base import RunCommand, add_budget, problem, read_settings
from evaluation.management.foreground import bar
from evaluation.services.language_models import bills
from evaluation.services.language_models.metering import CountedModel
from evaluation.services.language_models.usage import Spent
from evaluation.services.launch import launch
from evaluation.services.unmeasured import files, folder, predicting
from evaluation.services.unmeasured.folder import Entry, Failure, FileEntry, Folder, Outcome
from evaluation.services.unmeasured.predicting import Question, Task
from labeling.conversations.formats import conversations as formats
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.rules.importing import Problem
from labeling.domain.facts import Fact
from labeling.words import in_english
from pipelines import registry
from pipelines.chat.endpoint import DEFAULT
from pipelines.encoder import MemoryCache, MiniLM
from pipelines.errors import PipelineError
from pipelines.types import Pipeline

FAILED = 1
KEPT_VECTORS = 5_000
"""So that memory stays the same however many conversations follow each other."""


class Command(RunCommand):
    acts = False
    help = (
        "Run a pipeline on conversations of files, without gold and without storing anything in "
        "the database. Writes predictions.jsonl (which evaluate --predictions reads), labels.csv, "
        "documents/, failures.jsonl and run.json. A run that was stopped goes on when the same "
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
        parser.add_argument("--config", type=Path, metavar="FILE.yaml", help="settings")
        parser.add_argument(
            "--set",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME=VALUE",
            help="settings of the pipeline; they win over --config",
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
        parser.add_argument(
            "--documents",
            nargs="*",
            choices=sorted(files.DOCUMENTS),
            default=sorted(files.DOCUMENTS),
            help="in which forms documents are written (default: all)",
        )
        parser.add_argument(
            "--model",
            default=DEFAULT,
            metavar="NAME",
            help="which of the declared language models is asked (default: that of LLM_MODEL)",
        )
        add_budget(parser)

    def handle(self, **options: Any) -> None:
        try:
            outcome = self._run(options)
        except OSError as error:
            said = f"{error.filename}: {error.strerror}." if error.filename else str(error)
            raise problem(said) from error
        if outcome.stopped:
            raise self.problem(
                f"{in_english(outcome.stopped)} Results so far are kept: call again."
            )
        if outcome.failed:
            said = f"{outcome.failed} failed: see {options['output_dir'] / folder.FAILURES}."
            raise CommandError(said, returncode=FAILED)

    def _run(self, options: dict[str, Any]) -> Outcome:
        gc.freeze()  # the collector, which each document calls, looks at what comes in only
        task = _task(options)
        how = HowToRead.written(*(options[name] for name in ("columns", "roles", "encoding")))
        read = [_entry_of(path) for path in options["files"]]
        model = _model(task, options)
        pipeline = _built(task, model)
        how_read = {"format": options["format"], "columns": how.columns, "roles": how.roles}
        if how.encoding:
            how_read["encoding"] = how.encoding
        asked = folder.asked_report(task, pipeline, read, how_read)
        into = Folder(options["output_dir"])
        with into.alone():
            done = into.open(asked)
            if done:
                self.stderr.write(f"Continuing: {len(done)} done already.")
            try:
                outcome = self._work(task, pipeline, into, done, model, how, options, asked)
            except KeyboardInterrupt:
                message = "Stopped. Call the same command again to continue."
                raise CommandError(message, returncode=130) from None
            into.write_labels(task.layer)
            usage = into.spent(model.spent if model else None)
            report = folder.finished_report(asked, outcome, into, usage)
            into.write_report(report)
        self._say(report, options["output_dir"])
        return outcome

    def _work(
        self,
        task: Task,
        pipeline: Pipeline,
        into: Folder,
        done: set[str],
        model: CountedModel | None,
        how: HowToRead,
        options: dict[str, Any],
        asked: folder.Report,
    ) -> Outcome:
        def say(failure: Failure) -> None:
            self.stderr.write(f"{failure.case_id}: {in_english(failure.reason)}")

        with bar() as shown:
            shown.disable = not sys.stderr.isatty()
            row = shown.add_task(task.entry.name, total=None)

            def tell(outcome: Outcome) -> None:
                shown.update(row, completed=outcome.cases)
                if model:  # what was paid is known after a kill, too
                    into.write_report({**asked, "usage": into.spent(model.spent)})

            return folder.carry_out(
                _talks(options["files"], options["format"], how),
                task,
                pipeline,
                into,
                done,
                model=model,
                forms=options["documents"],
                tell=tell,
                say=say,
            )

    def _say(self, report: folder.Report, into: Path) -> None:
        labels = ", ".join(f"{number} × {kind}" for kind, number in report["labels"].items())
        self.stdout.write(
            f"{report['pipeline']} {report['version']}: {report['done']} of {report['cases']} "
            f"cases of {report['conversations']} conversations ({report['messages']} messages), "
            f"{report['failed']} failed, {report['seconds']:.1f} s, "
            f"{report['peak_memory_mb']} MB at most."
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
        {**read_settings(options["config"]), **_settings(options["set"])},
        layer=options["layer"],
        questions=_questions(options["questions"]),
        event_schema=_event_schema(options["event_schema"]),
        model=options["model"],
    )
    money, tokens = options["budget"], options["budget_tokens"]
    launch.check_budget(task.entry, money, tokens, asks_model=task.asks_model, model=task.model)
    return task


def _settings(pairs: list[str]) -> dict[str, Any]:
    """``NAME=VALUE``, the value as YAML has it: 0.5, true, [a, b], or text."""
    settings = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not (name and sign):
            raise problem(f"“{pair}” is not NAME=VALUE.")
        try:
            settings[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise problem(f"“{pair}”: not a value.") from error
    return settings


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
    id = row.get("id") or f"Q-{number:03d}"
    return Question(str(id), text.strip(), str(row.get("conversation") or ""))


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


def _model(task: Task, options: dict[str, Any]) -> CountedModel | None:
    if not task.asks_model:
        return None
    return CountedModel.named(
        task.model, budget_cost=options["budget"], budget_tokens=options["budget_tokens"]
    )


def _built(task: Task, model: CountedModel | None) -> Pipeline:
    encoder = MiniLM(MemoryCache(KEPT_VECTORS))
    try:
        return registry.build(task.entry.name, task.config, encoder=encoder, model=model)
    except PipelineError as error:
        raise problem(in_english(Fact.from_json(error.as_json()))) from error


def _talks(paths: list[Path], format: str, how: HowToRead) -> Iterator[Entry]:
    """One conversation at a time, by the reader that imports use."""
    for path in paths:
        with path.open("rb") as file:
            for entry in formats.read(file, format=format, name=path.name, how=how):
                if isinstance(entry, Problem):
                    place = path.name if entry.line is None else f"{path.name}:{entry.line}"
                    yield Failure(place, "unreadable", entry.reason)
                else:
                    yield predicting.talk_of(entry[1])
