"""Taking in labels that were made elsewhere: all of the files or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from labeling.domain.formats import doccano, labelstudio, native
from labeling.domain.formats.answers import SUBMITTED, Answer, Fault, Found, Labelled
from labeling.domain.sentences import say
from labeling.models import Conversation, Guideline, Project
from labeling.services import events, label_decisions, merges, projects, rounds
from labeling.services.conversations import MAX_PROBLEMS, ImportRefused
from labeling.services.export import UnknownFormat
from labeling.services.label_answers import (
    Known,
    Refused,
    check_answer,
    check_text,
    content_of,
    known_of,
)
from labeling.services.label_people import People
from labeling.services.label_rounds import ImportedRounds

READERS: dict[str, Callable[[BinaryIO], Iterator[Found]]] = {
    "native": native.read,
    "labelstudio": labelstudio.read,
    "doccano": doccano.read,
}
BATCH = 200  # conversations held at a time


class LabelsRefused(ImportRefused):
    """Something in the files of answers is wrong, so nothing was stored."""

    code = "labels_refused"


@dataclass(slots=True)
class LabelReport:
    """What an import did, or on a dry run would do. Counts are answers."""

    read: int = 0
    new: int = 0
    unchanged: int = 0
    empty: int = 0
    skipped: int = 0
    decisions: int = 0
    """New ones about the answers."""
    older: int = 0
    """Decisions that were left out, because somebody has decided here since."""
    rounds: list[int] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    needs_reason: bool = False

    @property
    def is_new(self) -> bool:
        return bool(self.new or self.decisions)


class _Place(NamedTuple):
    file: str
    line: int | None

    def says(self, reason: str) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {reason}; nothing was stored"


@transaction.atomic
def import_labels(
    *,
    project: Project,
    files: Iterable[tuple[str, BinaryIO]],
    format: str,
    dry_run: bool = False,
    create_annotators: bool = False,
    reason: str = "",
    by: User | None = None,
) -> LabelReport:
    """Store the answers of files that the project does not hold yet, in closed rounds of their own.

    An answer that the same annotator has given with the same labels is left alone. ``reason`` is
    needed while the gate is locked: imported labels pass it like an override, and it is recorded.
    """
    if format not in READERS:
        raise UnknownFormat(
            say(
                "There is no format {value}. Available: {readers}.",
                value=f"{format!r}",
                readers=", ".join(READERS),
            )
        )
    project = projects.lock(project)
    if not project.guidelines.exists():
        raise rounds.RoundImpossible("Write the guidelines first: labels count under a version.")
    intake = _Intake(project, format, People(project, may_create=create_annotators), by, reason)
    names = list(intake.take(files))
    if intake.problems:
        raise LabelsRefused([place.says(why) for place, why in intake.problems[:MAX_PROBLEMS]])
    report = intake.finish(names)
    if dry_run:
        transaction.set_rollback(True)
    elif report.needs_reason:
        raise rounds.GateLocked(
            "No calibration round has passed, and imported labels would pass the gate: say with a "
            "reason why they count."
        )
    return report


@dataclass(slots=True)
class _Intake:
    """One import on its way: a batch of conversations at a time."""

    project: Project
    format: str
    people: People
    by: User | None
    reason: str
    report: LabelReport = field(default_factory=LabelReport)
    problems: list[tuple[_Place, str]] = field(default_factory=list)
    _rounds: ImportedRounds = field(init=False)
    _guidelines: dict[int, Guideline] = field(init=False)
    _batch: list[tuple[_Place, Labelled]] = field(default_factory=list)
    _seen: set[tuple[int, int, str]] = field(default_factory=set)
    _times: Counter[tuple[int, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._rounds = ImportedRounds(self.project, by=self.by, reason=self.reason)
        versions = self.project.guidelines.defer("body")
        self._guidelines = {one.version: one for one in versions}

    def take(self, files: Iterable[tuple[str, BinaryIO]]) -> Iterator[str]:
        """Read all files, yielding their names; ends early when there are too many problems."""
        for name, stream in files:
            yield name
            for found in READERS[self.format](stream):
                if isinstance(found, Fault):
                    self.problems.append((_Place(name, found.line), found.reason))
                else:
                    self._batch.append((_Place(name, found[0]), found[1]))
                if len(self._batch) >= BATCH:
                    self._store()
                if len(self.problems) >= MAX_PROBLEMS:
                    return
        self._store()

    def _store(self) -> None:
        ids = {one.id for _, one in self._batch}
        known = known_of(self.project, ids)
        for place, labelled in self._batch:
            try:
                self._conversation(place, labelled, known)
            except Refused as refused:
                self.problems.append((place, f"conversation {labelled.id!r}: {refused}"))
        if not self.problems:
            self._rounds.write()
            self._decide(known)
        self._batch = []

    def _decide(self, known: Known) -> None:
        """Decisions are about answers, so these are stored first."""
        naming = label_decisions.Naming(self.people.named, self._guideline)
        for place, labelled in self._batch:
            conversation = known.conversations[labelled.id]
            try:
                taken = label_decisions.take_over(conversation, labelled.decisions, naming)
                if taken.new:
                    self._refuse_open(conversation, known)
            except Refused as refused:
                why = f"conversation {labelled.id!r}, a decision: {refused}"
                self.problems.append((place, why))
            else:
                self.report.decisions += taken.new
                self.report.older += taken.older

    def _refuse_open(self, conversation: Conversation, known: Known) -> None:
        if number := known.open_rounds.get(conversation.pk):
            raise Refused(
                say("is being labelled in round {number}; close that round first", number=number)
            )

    def _conversation(self, place: _Place, labelled: Labelled, known: Known) -> None:
        conversation = known.conversations.get(labelled.id)
        if conversation is None:
            raise Refused("is not in the project; import the conversations first")
        check_text(labelled, known.texts[conversation.pk])
        for answer in labelled.answers:
            try:
                self._answer(conversation, answer, known)
            except Refused as refused:
                why = f"conversation {labelled.id!r}, {answer.annotator}: {refused}"
                self.problems.append((place, why))

    def _answer(self, conversation: Conversation, answer: Answer, known: Known) -> None:
        self.report.read += 1
        annotator = self.people.named(answer.annotator)
        content = content_of(answer)
        seen = (conversation.pk, annotator.pk, content)
        if seen in self._seen or content in known.held.get(seen[:2], ()):
            self.report.unchanged += 1
            return
        self._refuse_open(conversation, known)
        texts = known.texts[conversation.pk]
        payload = check_answer(answer, self.project, texts)
        self._seen.add(seen)
        self._rounds.add(
            conversation.pk,
            annotator.pk,
            answer,
            payload,
            guideline=self._guideline(answer.guideline_version),
            number=self._times[seen[:2]],
        )
        self._times[seen[:2]] += 1
        self.report.new += 1
        self.report.empty += answer.empty
        self.report.skipped += answer.status != SUBMITTED

    def _guideline(self, version: int | None) -> int:
        """The version that is named; the newest for a format that names none."""
        if version is None:
            version = max(self._guidelines)
        if version not in self._guidelines:
            raise Refused(
                say(
                    "was made under version {version} of the guidelines, which the project "
                    "does not have; write it first",
                    version=version,
                )
            )
        return self._guidelines[version].pk

    def finish(self, files: list[str]) -> LabelReport:
        report = self.report
        report.annotators = sorted(self.people.used)
        report.created = sorted(self.people.created)
        if not report.is_new:
            return report
        if report.new:
            report.needs_reason = self._rounds.needs_reason
            report.rounds = self._rounds.close()
            self._tell(
                "labels.imported",
                files,
                new=report.new,
                unchanged=report.unchanged,
                rounds=report.rounds,
                annotators=report.annotators,
                created=report.created,
            )
        if report.decisions:
            self._tell("decisions.imported", files, decisions=report.decisions)
        merges.request(self.project)
        return report

    def _tell(self, verb: str, files: list[str], **data: Any) -> None:
        told = {"files": files, "format": self.format, **data}
        events.record(verb, self.project, project=self.project, actor=self.by, **told)
