"""Taking in conversations: all of the files or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import connection, transaction

from labeling.domain import transcripts
from labeling.domain.errors import RuleError
from labeling.domain.exchange.importing import Fingerprint, Problem, Record, conflict
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import Fingerprint as Sketch
from labeling.domain.fingerprints import fingerprint
from labeling.domain.formats.conversations import READERS
from labeling.models import Conversation, Project, Transcript
from labeling.services import events, near_duplicates, projects
from labeling.services.exchange import splits

BATCH_CONVERSATIONS = 500
BATCH_CHARACTERS = 8_000_000
MAX_PROBLEMS = 20
MAX_NOTES = 100


class ImportRefused(RuleError):
    """Something in the files is wrong, so nothing was stored. ``problems`` has one line each."""

    code = "import_refused"

    def __init__(self, problems: Sequence[Fact]) -> None:
        super().__init__(
            "import.refused",
            problems=problems,
            details={"problems": [problem.as_json() for problem in problems]},
        )
        self.problems = problems


class BadProjectSlug(RuleError):
    code = "bad_project_slug"


@dataclass(slots=True)
class ImportReport:
    """What an import did, or on a dry run would do. ``messages`` counts those of new ones.

    ``inherited`` has the splits of new conversations that are those of stored copies, ``given``
    those of stored ones that had none. ``notes`` says why, of the first; they may name projects
    that not everybody may see, so the audit log does without them.
    """

    read: int = 0
    new: int = 0
    unchanged: int = 0
    messages: int = 0
    project_created: bool = False
    inherited: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    notes: list[Fact] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        return self.new > 0 or bool(self.given)

    def as_json(self) -> dict[str, Any]:
        """For the audit log."""
        return {name: value for name, value in asdict(self).items() if name != "notes"}


class _Entry(NamedTuple):
    place: _RecordPlace
    record: Record
    fingerprint: Fingerprint


class _RecordPlace(NamedTuple):
    order: int  # of the file
    line: int
    file: str

    @property
    def shown(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def says(self, reason: Fact) -> Fact:
        return Fact("import.problem", place=self.shown, why=reason)


def _by_place(problem: tuple[_RecordPlace, Fact]) -> _RecordPlace:
    return problem[0]


@transaction.atomic
def import_files(
    *,
    project_slug: str,
    files: Iterable[tuple[str, BinaryIO]],
    split: str = "",
    dry_run: bool = False,
    actor: Any = None,
    format: str = "native",
) -> ImportReport:
    """Store the conversations of files that are not stored yet.

    ``files`` are names (without folders, for messages) and binary streams, each read once and
    forwards, so an iterable may open them one at a time. ``split`` is for conversations that name
    none. A stored conversation with the same content is left alone, except that it gets a split if
    it had none; one with other content refuses the whole import. A missing project is created.
    """
    splits.require_fingerprints()
    project, created = open_project(project_slug, actor)
    importing = _ConversationImport(project=project, split=split, format=format, actor=actor)
    names = list(importing.take(files))
    if importing.problems:
        raise ImportRefused(
            [place.says(reason) for place, reason in sorted(importing.problems, key=_by_place)]
        )
    report = replace(importing.report, project_created=created)
    if dry_run:
        transaction.set_rollback(True)
    elif report.has_changes:
        events.record(
            "conversations.imported",
            project,
            project=project,
            actor=actor,
            files=names,
            **report.as_json(),
        )
    return report


def store_records(
    *,
    project: Project,
    records: Iterable[tuple[str, Record]],
    split: str = "",
    proposed: bool = False,
    actor: Any = None,
) -> ImportReport:
    """Store conversations that were read elsewhere, each with the name of its file.

    The rules are those of :func:`import_files`; the caller holds the project and a transaction.
    With ``proposed`` a copy of a stored conversation may have another split than its record says.
    """
    splits.require_fingerprints()
    importing = _ConversationImport(project=project, split=split, actor=actor, proposed=proposed)
    importing.keep(records)
    if importing.problems:
        raise ImportRefused(
            [place.says(reason) for place, reason in sorted(importing.problems, key=_by_place)]
        )
    return importing.report


def open_project(slug: str, actor: Any, *, layers: Sequence[str] = ()) -> tuple[Project, bool]:
    """The project, locked so that two imports into it cannot store the same conversation.

    A missing one is created with these ``layers``.
    """
    project = planned_project(slug, layers=layers)
    created = project.pk is None
    if created:
        defaults = {"name": project.name, "layers": project.layers}
        project, created = Project.objects.get_or_create(slug=slug, defaults=defaults)
    if created:
        events.record("project.created", project, project=project, actor=actor, name=slug)
    return projects.lock(project), created


def planned_project(slug: str, *, layers: Sequence[str] = ()) -> Project:
    """The project as it is, or as it would be created; nothing is stored."""
    try:
        validate_slug(slug)
        Project._meta.get_field("slug").run_validators(slug)
    except ValidationError:
        raise BadProjectSlug("project.bad_slug", slug=slug, details={"slug": slug}) from None
    stored = Project.objects.filter(slug=slug).first()
    return stored or Project(slug=slug, name=slug, **({"layers": list(layers)} if layers else {}))


@dataclass(slots=True)
class _ConversationImport:
    """One import on its way: a batch at a time, so that memory does not grow with the files."""

    project: Project
    split: str
    format: str = "native"
    actor: Any = None
    proposed: bool = False
    report: ImportReport = field(default_factory=ImportReport)
    problems: list[tuple[_RecordPlace, Fact]] = field(default_factory=list)
    _batch: list[_Entry] = field(default_factory=list)
    _characters: int = 0

    def take(self, files: Iterable[tuple[str, BinaryIO]]) -> Iterator[str]:
        """Read all files, yielding their names; ends early when there are too many problems."""
        for order, (name, stream) in enumerate(files):
            yield name
            for entry in READERS[self.format](stream):
                if isinstance(entry, Problem):
                    self._refuse(_RecordPlace(order, entry.line or 0, name), entry.reason)
                else:
                    line, record = entry
                    self._add(_RecordPlace(order, line, name), record)
                if len(self.problems) >= MAX_PROBLEMS:
                    return
        self._store()

    def keep(self, records: Iterable[tuple[str, Record]]) -> None:
        for order, (name, record) in enumerate(records):
            self._add(_RecordPlace(order, 0, name), record)
        self._store()

    def _refuse(self, place: _RecordPlace, reason: Fact) -> None:
        self.problems.append((place, reason))

    def _add(self, place: _RecordPlace, record: Record) -> None:
        if self.split and record.split not in ("", self.split):
            reason = Fact(
                "import.other_split",
                conversation=record.id,
                split=record.split,
                wanted=self.split,
            )
            return self._refuse(place, reason)
        record = replace(record, split=record.split or self.split)
        self._batch.append(_Entry(place, record, record.fingerprint))
        self._characters += record.size
        if len(self._batch) >= BATCH_CONVERSATIONS or self._characters >= BATCH_CHARACTERS:
            self._store()
        return None

    def _store(self) -> None:
        new, without_split = self._sorted()
        self._give_splits(without_split)
        prints = [fingerprint(turn.content for turn in entry.record.turns) for entry in new]
        rows = [
            self._row(entry, split)
            for entry, split in zip(new, self._splits(new, prints), strict=True)
        ]
        Conversation.objects.bulk_create(rows)
        texts = ((row.pk, entry.record.turns) for row, entry in zip(rows, new, strict=True))
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {Transcript._meta.db_table} (conversation_id, messages)"
                " VALUES (%s, %s)",
                ((pk, transcripts.written(turns)) for pk, turns in texts),
            )
        near_duplicates.store([(row.pk, each) for row, each in zip(rows, prints, strict=True)])
        self.report.new += len(rows)
        self.report.messages += sum(row.n_messages for row in rows)
        self._batch, self._characters = [], 0

    def _sorted(self) -> tuple[list[_Entry], dict[str, _Entry]]:
        """What is not stored yet, each once, and what is stored and may get a split by its id."""
        known = self._stored()
        new, without_split = [], {}
        for entry in self._batch:
            self.report.read += 1
            stored, name = known.get(entry.record.id), entry.record.id
            if stored is None:
                known[name] = entry.fingerprint
                new.append(entry)
            elif reason := conflict(stored, entry.fingerprint):
                if not self._keeps_its_split(stored, entry):
                    self._refuse_entry(entry, reason)
                    continue
                self.report.unchanged += 1
            elif entry.record.split and not stored.split:
                known[name] = stored._replace(split=entry.record.split)
                without_split[name] = entry
            else:
                self.report.unchanged += 1
        return new, without_split

    def _keeps_its_split(self, stored: Fingerprint, entry: _Entry) -> bool:
        """Whether only a proposed split differs from the stored one, which copies decide about."""
        if not self.proposed or conflict(stored, entry.fingerprint._replace(split="")):
            return False
        conversation = self.project.conversations.get(external_id=entry.record.id)
        return splits.is_held_by_copies(conversation)

    def _splits(self, entries: Sequence[_Entry], prints: Sequence[Sketch]) -> Iterator[str]:
        proposals = [
            splits.Proposal(
                name=entry.record.id,
                sketch=sketch,
                split=entry.record.split,
                is_demanded=not self.proposed,
                is_synthetic=entry.record.origin == Conversation.Origin.SYNTHETIC,
            )
            for entry, sketch in zip(entries, prints, strict=True)
        ]
        decisions = splits.decide(proposals, project=self.project, actor=self.actor)
        for entry, decision in zip(entries, decisions, strict=True):
            if decision.is_refused and decision.why:
                self._refuse_entry(entry, decision.why)
            elif decision.why:
                self.report.inherited[entry.record.id] = decision.split
                self._note(entry, decision.why)
            yield decision.split

    def _give_splits(self, entries: Mapping[str, _Entry]) -> None:
        """Give stored conversations the split that they had none of."""
        if not entries:
            return
        rows = {row.pk: row for row in self.project.conversations.filter(external_id__in=entries)}
        wishes = {pk: entries[row.external_id].record.split for pk, row in rows.items()}
        refusals = splits.refusals_to_give(wishes, project=self.project, actor=self.actor)
        for pk, row in rows.items():
            entry = entries[row.external_id]
            if pk in refusals:
                self._refuse_entry(entry, refusals[pk])
                continue
            row.split = wishes[pk]
            self.report.given[row.external_id] = row.split
            self._note(entry, Fact("import.gets_split", split=row.split))
        Conversation.objects.bulk_update(rows.values(), ["split"], batch_size=BATCH_CONVERSATIONS)

    def _refuse_entry(self, entry: _Entry, reason: Fact) -> None:
        why = Fact("import.conversation", conversation=entry.record.id, why=reason)
        self._refuse(entry.place, why)

    def _note(self, entry: _Entry, reason: Fact) -> None:
        if len(self.report.notes) < MAX_NOTES:
            why = Fact("import.conversation", conversation=entry.record.id, why=reason)
            self.report.notes.append(Fact("import.note", place=entry.place.shown, why=why))

    def _stored(self) -> dict[str, Fingerprint]:
        ids = [entry.record.id for entry in self._batch]
        rows = self.project.conversations.filter(external_id__in=ids)
        columns = ("external_id", "content_sha256", "domain", "difficulty", "split", "origin")
        return {
            external_id: Fingerprint(sha256, domain, difficulty, split, origin=origin)
            for external_id, sha256, domain, difficulty, split, origin in rows.values_list(*columns)
        }

    def _row(self, entry: _Entry, split: str) -> Conversation:
        record = entry.record
        return Conversation(
            project=self.project,
            external_id=record.id,
            domain=record.domain,
            difficulty=record.difficulty,
            split=split,
            origin=record.origin or Conversation.Origin.COLLECTED,
            generator=record.generator,
            priority=record.priority,
            speakers=record.speakers,
            n_messages=len(record.turns),
            content_sha256=entry.fingerprint.sha256,
        )
