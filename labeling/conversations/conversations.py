"""Taking in conversations: all of the files or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import connection, transaction
from django.db.models import Count, Max, Q

from labeling.conversations import near_duplicates, splits
from labeling.conversations.formats.conversations import read
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.importing import Fingerprint, Problem, Record, conflict
from labeling.core import events, planner, projects
from labeling.core.planner import SQLITE_CONVERSATIONS
from labeling.core.spool import Spool
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import Fingerprint as Sketch
from labeling.domain.fingerprints import fingerprint
from labeling.domain.msgids import msgid
from labeling.gold.rules.normal import same_text
from labeling.models import Conversation, Project, Transcript

BATCH_CONVERSATIONS = 100
"""Whose texts are in memory at once."""
MAX_PROBLEMS = 20
MAX_NOTES = 100
MAX_LOSSES = 10_000
"""That are listed; the others are counted."""
MAX_TEXT = 200
NOTHING, UNREADABLE, CONFLICTS = "nothing", "unreadable", "conflicts"
LEAVE_OUT = (NOTHING, UNREADABLE, CONFLICTS)
"""What may be left out so that the rest is stored: nothing, what cannot be read, and also what is
stored otherwise."""
ADVISORY_LOCK = 4711002


class ImportRefused(RuleError, code="import_refused"):
    """Something in the files is wrong, so nothing was stored. ``problems`` has one line each."""

    def __init__(self, problems: Sequence[Fact]) -> None:
        super().__init__(
            "import.refused",
            problems=problems,
            details={"problems": [problem.as_json() for problem in problems]},
        )
        self.problems = problems


class BadProjectSlug(RuleError, code="bad_project_slug"):
    """It cannot be part of an address."""


class TooManyForSqlite(RuleError, code="too_many_for_sqlite"):
    """PostgreSQL serves so many conversations."""


class LeftOutIn(NamedTuple):
    """Something that a file says and is not stored; the text is shortened.

    Of a whole conversation or file, the text is its title.
    """

    file: str
    line: int
    reason: Fact
    text: str
    is_whole: bool = False

    @property
    def shown(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def fact(self) -> Fact:
        """In one sentence, with its place."""
        place = self.shown
        if not self.text:
            return Fact("import.note", place=place, why=self.reason)
        code = "import.left_out_whole" if self.is_whole else "import.left_out"
        return Fact(code, place=place, why=self.reason, text=self.text)

    @property
    def problem(self) -> Fact:
        """Of what keeps everything out."""
        place = f"{self.shown} ({self.text})" if self.text else self.shown
        return Fact("import.problem", place=place, why=self.reason)


@dataclass(slots=True)
class ImportReport:
    """What an import did, or on a dry run would do. ``messages`` counts those of new ones,
    ``left_out`` lists what files say and no conversation shows, as far as it is listed.

    ``inherited`` has the splits of new conversations that are those of stored copies, ``given``
    those of stored ones that had none. ``notes`` says why, of the first; they may name projects
    that not everybody may see, so the audit log does without them.
    """

    read: int = 0
    new: int = 0
    unchanged: int = 0
    messages: int = 0
    n_refused: int = 0
    """Conversations and files that are left out."""
    n_left_out: int = 0
    """Messages and values of the others."""
    project_created: bool = False
    inherited: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    notes: list[Fact] = field(default_factory=list)
    left_out: list[LeftOutIn] = field(default_factory=list)

    @property
    def parts_left_out(self) -> list[LeftOutIn]:
        return [each for each in self.left_out if not each.is_whole]

    @property
    def has_changes(self) -> bool:
        return self.new > 0 or bool(self.given)

    def as_json(self) -> dict[str, Any]:
        """For the audit log."""
        report = asdict(replace(self, notes=[], left_out=[]))
        del report["notes"]
        counts = {"refused": report.pop("n_refused"), "left_out": report.pop("n_left_out")}
        return report | counts


def import_files(
    *,
    project_slug: str,
    files: Iterable[tuple[str, BinaryIO]],
    split: str = "",
    dry_run: bool = False,
    actor: Any = None,
    format: str = "native",
    how: HowToRead | None = None,
    leave_out: str = UNREADABLE,
) -> ImportReport:
    """Store the conversations of files that are not stored yet.

    ``files`` are names (without folders, for messages) and binary streams, each read once, so an
    iterable may open them one at a time. ``how`` says which columns and roles they have, ``split``
    is for conversations that name none. A stored conversation with the same content is left alone,
    except that it gets a split if it had none; one with other content refuses the whole import,
    unless it may be left out: so says ``leave_out``, one of :data:`LEAVE_OUT`. A missing project
    is created.

    Files are read and decided about while nothing is locked, and stored in one transaction: if
    something else has come in by then, it is decided again there. A dry run writes nothing at all.
    """
    planned = planned_project(project_slug)
    reading = Reading(split=split, leave_out=leave_out)
    names = reading.take(files, format=format, how=how)
    plan = Plan(reading, planned, actor=actor)
    if dry_run:
        plan.report.project_created = planned.pk is None
        return plan.report
    with transaction.atomic():
        project, created = open_project(project_slug, actor)
        report = plan.store(project)
        report.project_created = created
        if report.has_changes:
            record_import(project, names, report, actor)
            transaction.on_commit(planner.count, robust=True)
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
    reading = Reading(split=split)
    for name, record in records:
        reading.keep(name, record)
    return Plan(reading, project, actor=actor, proposed=proposed).store(project)


def record_import(project: Project, files: Sequence[str], report: ImportReport, actor: Any) -> None:
    events.record(
        "conversations.imported",
        project,
        project=project,
        actor=actor,
        files=list(files),
        **report.as_json(),
    )


def open_project(slug: str, actor: Any, *, layers: Sequence[str] = ()) -> tuple[Project, bool]:
    """The project, locked; a missing one is created with these ``layers``.

    One import at a time stores, in all projects: copies are recognized wherever they lie.
    """
    lock_imports()
    project = planned_project(slug, layers=layers)
    created = project.pk is None
    if created:
        defaults = {"name": project.name, "layers": project.layers}
        project, created = Project.objects.get_or_create(slug=slug, defaults=defaults)
    if created:
        events.record("project.created", project, project=project, actor=actor, name=slug)
    return projects.lock(project), created


def lock_imports() -> None:
    """Until the transaction ends."""
    if connection.vendor == "postgresql":  # SQLite has one writer anyway
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])


def planned_project(slug: str, *, layers: Sequence[str] = ()) -> Project:
    """The project as it is, or as it would be created; nothing is stored."""
    try:
        validate_slug(slug)
        Project._meta.get_field("slug").run_validators(slug)
    except ValidationError:
        raise BadProjectSlug(
            msgid(
                "“{slug}” cannot name a project: use up to 50 letters, digits, hyphens "
                "and underscores."
            ),
            slug=slug,
            details={"slug": slug},
        ) from None
    stored = Project.objects.filter(slug=slug).first()
    return stored or Project(slug=slug, name=slug, **({"layers": list(layers)} if layers else {}))


def _state() -> dict[str, Any]:
    """What plans rest on: a conversation only comes in, goes, or gets the split it had not."""
    without_split = Count("pk", filter=Q(split=""))
    return Conversation.objects.aggregate(Max("pk"), Count("pk"), without_split=without_split)


class _Read(NamedTuple):
    """A conversation of a file, and where it is."""

    file: str
    line: int
    record: Record

    def says(self, why: Fact) -> LeftOutIn:
        why = Fact("import.conversation", conversation=self.record.id, why=why)
        return LeftOutIn(self.file, self.line, why, "", True)


class Reading:
    """What files hold: conversations on disk, and everything that could not be read."""

    def __init__(self, *, split: str = "", leave_out: str = NOTHING) -> None:
        self.split, self.may_leave_out = split, leave_out
        self.records: Spool[_Read] = Spool()
        self.files: dict[str, int] = {}  # by name, in their order
        self.faults: list[LeftOutIn] = []
        self.n_faults = 0
        self.left_out: list[LeftOutIn] = []
        self.n_left_out = 0

    def take(
        self, files: Iterable[tuple[str, BinaryIO]], *, format: str, how: HowToRead | None
    ) -> list[str]:
        """Read all files and return their names; ends early when there are too many problems."""
        names: list[str] = []
        for name, stream in files:
            names.append(name)
            self.files.setdefault(name, len(self.files))
            for entry in read(stream, format=format, name=name, how=how):
                if isinstance(entry, Problem):
                    line, reason, title = entry
                    fault = LeftOutIn(name, line or 0, reason, _short(title), True)
                    self.n_faults += 1
                    self.faults += [fault] if len(self.faults) < MAX_LOSSES else []
                else:
                    self.keep(name, entry[1], line=entry[0])
                if self.n_faults >= MAX_PROBLEMS and self.may_leave_out == NOTHING:
                    return names
        return names

    def keep(self, file: str, record: Record, *, line: int = 0) -> None:
        self.files.setdefault(file, len(self.files))
        if len(self.records) >= SQLITE_CONVERSATIONS and connection.vendor == "sqlite":
            raise TooManyForSqlite(
                msgid(
                    "One import takes at most {most} conversations on SQLite; nothing was"
                    " stored. Split the files into several imports, or let the server use"
                    " PostgreSQL."
                ),
                most=SQLITE_CONVERSATIONS,
            )
        self.n_left_out += len(record.left_out)
        for at, reason, text in record.left_out[: MAX_LOSSES - len(self.left_out)]:
            self.left_out.append(LeftOutIn(file, at, reason, _short(text)))
        record = replace(record, split=record.split or self.split, left_out=())
        self.records.append(_Read(file, line, record))


class _New(NamedTuple):
    """A conversation by its number among those that were read."""

    number: int
    read: _Read
    own: Fingerprint

    @property
    def record(self) -> Record:
        return self.read.record


class Plan:
    """What shall be stored of what was read, by what is stored now; refuses what is wrong.

    ``project`` may be one that is yet to be created.
    """

    def __init__(
        self, reading: Reading, project: Project, *, actor: Any = None, proposed: bool = False
    ) -> None:
        self._reading, self._actor, self._proposed = reading, actor, proposed
        self._decide(project)

    # --- deciding -------------------------------------------------------------------------------

    def _decide(self, project: Project) -> None:
        self._project, self._before = project, _state()
        self.report = ImportReport(n_left_out=self._reading.n_left_out)
        self._refusals: list[LeftOutIn] = []
        self._n_refusals = 0
        self._known: dict[str, Fingerprint] = {}  # of what shall be stored
        self._new: dict[int, Sketch] = {}
        self._copies: dict[int, splits.Copy] = {}
        self._unstored = near_duplicates.Unstored()
        self._given: dict[int, str] = {}
        for batch in batches(enumerate(self._reading.records), BATCH_CONVERSATIONS):
            if len(self._refused) >= MAX_PROBLEMS:  # no more is said of it
                break
            self._decide_batch([_New(at, read, read.record.fingerprint) for at, read in batch])
        self._leave_out_or_refuse()

    @property
    def _refused(self) -> list[LeftOutIn]:
        """What keeps everything out."""
        may_leave_out = self._reading.may_leave_out
        faults = self._reading.faults if may_leave_out == NOTHING else []
        return [*faults, *(self._refusals if may_leave_out != CONFLICTS else [])]

    def _leave_out_or_refuse(self) -> None:
        """Nothing is left to store where every conversation would have to be left out."""

        def by_place(each: LeftOutIn) -> tuple[int, int]:
            return self._reading.files[each.file], each.line

        wholes = sorted([*self._reading.faults, *self._refusals], key=by_place)
        refused, report = sorted(self._refused, key=by_place), self.report
        if not (report.new or report.unchanged or report.given):
            refused = refused or wholes
        if refused:
            raise ImportRefused([each.problem for each in refused[:MAX_PROBLEMS]])
        report.n_refused = self._reading.n_faults + self._n_refusals
        report.left_out = [*wholes, *self._reading.left_out]

    def _decide_batch(self, batch: Sequence[_New]) -> None:
        new, without_split = self._sorted(batch)
        self._give_splits(without_split)
        prints = [fingerprint(turn.content for turn in each.record.turns) for each in new]
        found = near_duplicates.find(prints)
        others = {match.conversation for matches in found for match in matches}
        stored = splits.stored_copies(others, self._project, self._actor, self._given)
        for each, sketch, matches in zip(new, prints, found, strict=True):
            copies = [stored[match.conversation] for match in matches]
            copies += [self._copies[number] for number in self._unstored.find(sketch)]
            self._decide_split(each, sketch, copies)

    def _decide_split(self, new: _New, sketch: Sketch, copies: Iterable[splits.Copy]) -> None:
        record = new.record
        is_synthetic = record.origin == Conversation.Origin.SYNTHETIC
        decision = splits.decide(
            record.split, copies, is_synthetic=is_synthetic, is_demanded=not self._proposed
        )
        if decision.is_refused and decision.why:
            self._refuse(new, decision.why)
            return
        if decision.why:
            self.report.inherited[record.id] = decision.split
            self._note(new, decision.why)
        self._unstored.add(new.number, sketch)
        self._copies[new.number] = splits.Copy(decision.split, is_synthetic, record.id)
        self._known[record.id] = new.own._replace(split=decision.split)
        self._new[new.number] = sketch
        self.report.new += 1
        self.report.messages += len(record.turns)

    def _sorted(self, batch: Sequence[_New]) -> tuple[list[_New], dict[str, _New]]:
        """What is not stored yet, each once, and what is stored and may get a split by its id."""
        known = self._known_of([each.record.id for each in batch])
        new, without_split = [], {}
        for each in batch:
            record = each.record
            self.report.read += 1
            stored = known.get(record.id)
            if self._reading.split and record.split != self._reading.split:
                wanted = self._reading.split
                why = Fact(
                    msgid('names split "{split}", and "{wanted}" was asked for'),
                    split=record.split,
                    wanted=wanted,
                )
                self._refuse(each, why)
            elif stored is None:
                known[record.id] = each.own
                new.append(each)
            elif reason := conflict(stored, own := self._in_form_of(stored, each)):
                if self._keeps_its_split(stored, own, record.id):
                    self.report.unchanged += 1
                else:
                    self._refuse(each, reason)
            elif record.split and not stored.split:
                known[record.id] = stored._replace(split=record.split)
                without_split[record.id] = each
            else:
                self.report.unchanged += 1
        return new, without_split

    def _known_of(self, ids: Sequence[str]) -> dict[str, Fingerprint]:
        """What is stored, and what shall be."""
        known = {id: self._known[id] for id in ids if id in self._known}
        if self._project.pk is None:
            return known
        rows = self._project.conversations.filter(external_id__in=ids).order_by()
        columns = ("external_id", "content_sha256", "domain", "difficulty", "split", "origin")
        for name, sha256, domain, difficulty, split, origin in rows.values_list(*columns):
            split = split or self.report.given.get(name, "")
            known[name] = Fingerprint(sha256, domain, difficulty, split, origin=origin)
        return known

    def _in_form_of(self, stored: Fingerprint, new: _New) -> Fingerprint:
        """The fingerprint as if its accents were written as in the stored text, if that is all."""
        if stored.sha256 != new.own.sha256:
            rows = Transcript.objects.filter(conversation__project=self._project.pk)
            there = rows.filter(conversation__external_id=new.record.id).first()
            if there and same_text(there.messages, transcripts.written(new.record.turns)):
                return new.own._replace(sha256=stored.sha256)
        return new.own

    def _keeps_its_split(self, stored: Fingerprint, own: Fingerprint, name: str) -> bool:
        """Whether only a proposed split differs from the stored one, which copies decide about."""
        if not self._proposed or conflict(stored, own._replace(split="")):
            return False
        return splits.is_held_by_copies(self._project.conversations.get(external_id=name))

    def _give_splits(self, wanted: Mapping[str, _New]) -> None:
        """Stored conversations get the split that they had none of."""
        if not wanted:
            return
        rows = self._project.conversations.filter(external_id__in=wanted).order_by("external_id")
        names = dict(rows.values_list("pk", "external_id"))
        wishes = {pk: wanted[name].record.split for pk, name in names.items()}
        refusals = splits.refusals_to_give(
            wishes, project=self._project, actor=self._actor, given=self._given
        )
        for pk, name in names.items():
            if pk in refusals:
                self._refuse(wanted[name], refusals[pk])
                continue
            self._given[pk] = self.report.given[name] = wishes[pk]
            self._note(
                wanted[name],
                Fact(msgid("had no split and is {split} from now on"), split=wishes[pk]),
            )

    def _refuse(self, new: _New, reason: Fact) -> None:
        self._n_refusals += 1
        if len(self._refusals) < MAX_LOSSES:
            self._refusals.append(new.read.says(reason))

    def _note(self, new: _New, reason: Fact) -> None:
        if len(self.report.notes) < MAX_NOTES:
            self.report.notes.append(new.read.says(reason).fact)

    # --- storing --------------------------------------------------------------------------------

    def store(self, project: Project) -> ImportReport:
        """In the transaction of the caller, who holds the project.

        If something has come in since it was decided, it is decided again.
        """
        if self.report.given or self._before != _state():
            self._decide(project)
        for batch in batches(self._new.items(), BATCH_CONVERSATIONS):
            records = [self._reading.records[number].record for number, _ in batch]
            rows = Conversation.objects.bulk_create(
                self._row(project, record) for record in records
            )
            Transcript.objects.bulk_create(
                Transcript(conversation_id=row.pk, messages=transcripts.written(record.turns))
                for row, record in zip(rows, records, strict=True)
            )
            sketches = (sketch for _, sketch in batch)
            near_duplicates.store([*zip((row.pk for row in rows), sketches, strict=True)])
        for split in set(self._given.values()):
            named = [pk for pk, given in self._given.items() if given == split]
            for some in batches(named, 500):
                Conversation.objects.filter(pk__in=some).update(split=split)
        return self.report

    def _row(self, project: Project, record: Record) -> Conversation:
        decided = self._known[record.id]
        return Conversation(
            project=project,
            external_id=record.id,
            domain=record.domain,
            difficulty=record.difficulty,
            split=decided.split,
            origin=record.origin or Conversation.Origin.COLLECTED,
            generator=record.generator,
            speakers=record.speakers,
            priority=record.priority,
            n_messages=len(record.turns),
            content_sha256=decided.sha256,
        )


def _short(text: str) -> str:
    more = "…" if len(text) > MAX_TEXT else ""
    text = " ".join(text[:MAX_TEXT].split())
    return "".join(each if each.isprintable() else "\ufffd" for each in text) + more
