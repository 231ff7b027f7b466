"""Taking in conversations: all of the files or nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple, Self

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from labeling.domain import transcripts
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.exchange.importing import Fingerprint, LeftOut, Problem, Record, conflict
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import Fingerprint as Sketch
from labeling.domain.fingerprints import fingerprints
from labeling.domain.formats.conversations import read
from labeling.domain.formats.talks import HowToRead
from labeling.domain.gold.normal import same_text
from labeling.domain.gold.release import text_sha256
from labeling.models import Conversation, Project, Transcript
from labeling.services import events, near_duplicates, planner, projects
from labeling.services.exchange import drafts, splits
from labeling.services.exchange.staging import Entry, Shared, Staged
from labeling.services.planner import SQLITE_CONVERSATIONS
from labeling.services.short_writes import short_write

BATCH_CONVERSATIONS = 500
BATCH_CHARACTERS = 4_000_000
ATTEMPTS = 5
"""Of decisions, while others keep coming in: only what is inserted first takes long."""
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


class TooManyForSqlite(RuleError):
    code = "too_many_for_sqlite"


class ImportOvertaken(RuleError):
    """Others kept importing while this import was decided."""

    code = "import_overtaken"


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


class _RecordPlace(NamedTuple):
    order: int  # of the file
    line: int
    file: str

    @property
    def shown(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def says(self, reason: Fact, title: str) -> Fact:
        place = f"{self.shown} ({_short(title)})" if title else self.shown
        return Fact("import.problem", place=place, why=reason)


@dataclass(frozen=True, slots=True, order=True)
class _Refusal:
    place: _RecordPlace
    reason: Fact = field(compare=False)
    title: str = field(default="", compare=False)


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

    Nothing is computed while anything is locked: what was read and decided is inserted a few at a
    time, where nothing shows it, and published at once if nothing has come in meanwhile; else it
    is decided again. A dry run writes nothing at all.
    """
    splits.require_fingerprints()
    planned_project(project_slug)  # refuses what no project can be called
    with Staged() as staged:
        importing = Importing(
            staged, split=split, format=format, how=how, actor=actor, leave_out=leave_out
        )
        names = list(importing.take(files))
        if dry_run:
            return importing.foretell(project_slug)
        with Storing(importing, project_slug) as storing:
            for _ in storing.attempts():
                with transaction.atomic():
                    project = storing.publish()
                    if project is None:
                        continue
                    report = importing.report
                    if report.has_changes:
                        events.record(
                            "conversations.imported",
                            project,
                            project=project,
                            actor=actor,
                            files=names,
                            **report.as_json(),
                        )
                        transaction.on_commit(planner.count, robust=True)
                    return report
    raise ImportOvertaken("import.overtaken")


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
    with Staged() as staged:
        importing = Importing(staged, split=split, actor=actor, proposed=proposed)
        importing.keep(records)
        importing.decide(project)
        if importing.report.new:
            with drafts.Draft(project, importing.report.new) as draft:
                importing.insert(draft)
                draft.publish()
        importing.give_splits()
    return importing.report


def open_project(slug: str, actor: Any, *, layers: Sequence[str] = ()) -> tuple[Project, bool]:
    """The project, locked; a missing one is created with these ``layers``.

    One import at a time publishes, in all projects: copies are recognised wherever they lie.
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
    """Until the transaction ends; nothing is computed under this lock."""
    if connection.vendor == "postgresql":  # SQLite has one writer anyway
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])


def planned_project(slug: str, *, layers: Sequence[str] = ()) -> Project:
    """The project as it is, or as it would be created; nothing is stored."""
    try:
        validate_slug(slug)
        Project._meta.get_field("slug").run_validators(slug)
    except ValidationError:
        raise BadProjectSlug("project.bad_slug", slug=slug, details={"slug": slug}) from None
    stored = Project.objects.filter(slug=slug).first()
    return stored or Project(slug=slug, name=slug, **({"layers": list(layers)} if layers else {}))


class State(NamedTuple):
    """What decisions rest on: a conversation only comes in, goes, or gets the split it had not."""

    newest: int | None
    conversations: int
    without_split: int


def state() -> State:
    without_split = Count("pk", filter=Q(split=""))
    figures = {"newest": Max("pk"), "conversations": Count("pk"), "without_split": without_split}
    return State(**Conversation.objects.aggregate(**figures))


class Importing:
    """One import on its way, a batch at a time, so that memory does not grow with the files."""

    def __init__(
        self,
        staged: Staged,
        *,
        split: str,
        format: str = "native",
        how: HowToRead | None = None,
        actor: Any = None,
        proposed: bool = False,
        leave_out: str = NOTHING,
    ) -> None:
        self.report = ImportReport()
        self._staged, self._split, self._format = staged, split, format
        self._how, self._n_left_out, self._n_read = how, 0, 0
        self._left_out: list[LeftOutIn] = []
        self._may_leave_out, self._n_faults = leave_out, 0
        self.actor, self._proposed = actor, proposed
        self._names: list[str] = []
        self._faults: list[_Refusal] = []  # of the files
        self._refusals: list[_Refusal] = []  # by what is stored
        self._n_refusals = 0
        self._batch: list[tuple[_RecordPlace, Record]] = []
        self._characters = 0

    # --- reading --------------------------------------------------------------------------------

    def take(self, files: Iterable[tuple[str, BinaryIO]]) -> Iterator[str]:
        """Read all files, yielding their names; ends early when there are too many problems."""
        for order, (name, stream) in enumerate(files):
            yield name
            for entry in read(stream, format=self._format, name=name, how=self._how):
                if isinstance(entry, Problem):
                    place = _RecordPlace(order, entry.line or 0, name)
                    self._n_faults += 1
                    if len(self._faults) < MAX_LOSSES:
                        self._faults.append(_Refusal(place, entry.reason, entry.title))
                else:
                    line, record = entry
                    self._add(_RecordPlace(order, line, name), record)
                if self._n_faults >= MAX_PROBLEMS and self._may_leave_out == NOTHING:
                    return
        self._stage()

    def keep(self, records: Iterable[tuple[str, Record]]) -> None:
        for order, (name, record) in enumerate(records):
            self._add(_RecordPlace(order, 0, name), record)
        self._stage()

    def _add(self, place: _RecordPlace, record: Record) -> None:
        self._n_read += 1
        if self._n_read > SQLITE_CONVERSATIONS and connection.vendor == "sqlite":
            raise TooManyForSqlite("import.too_many_for_sqlite", most=SQLITE_CONVERSATIONS)
        self._n_left_out += len(record.left_out)
        listed = record.left_out[: MAX_LOSSES - len(self._left_out)]
        self._left_out += [_left_out_in(place.file, each) for each in listed]
        self._batch.append((place, record))
        self._characters += record.size
        if len(self._batch) >= BATCH_CONVERSATIONS or self._characters >= BATCH_CHARACTERS:
            self._stage()

    def _stage(self) -> None:
        prints = fingerprints([turn.content for turn in record.turns] for _, record in self._batch)
        entries = (
            _entry(place, record, record.split or self._split, sketch)
            for (place, record), sketch in zip(self._batch, prints, strict=True)
        )
        self._staged.add(entries, prints)
        self._batch, self._characters = [], 0

    # --- deciding -------------------------------------------------------------------------------

    def decide(self, project: Project, *, stay_alive: Callable[[], None] = lambda: None) -> None:
        """What shall be stored, by what is stored now; refuses the import if something is wrong.

        Writes nothing, and may be repeated. ``stay_alive`` tells others who wait for the caller.
        """
        left_out = list(self._left_out)
        self.report = ImportReport(n_left_out=self._n_left_out, left_out=left_out)
        self._refusals, self._n_refusals = [], 0
        self._staged.forget_decisions()
        refused = self._faults if self._may_leave_out == NOTHING else []
        if len(refused) < MAX_PROBLEMS:
            for batch in self._staged.entries(BATCH_CONVERSATIONS):
                self._decide_batch(project, batch)
                stay_alive()
                if self._may_leave_out != CONFLICTS:
                    refused = [*refused, *self._refusals][:MAX_PROBLEMS]
                if len(refused) == MAX_PROBLEMS:
                    break
        self._leave_out_or_refuse(refused)

    def _leave_out_or_refuse(self, refused: Sequence[_Refusal]) -> None:
        """Nothing is left to store where every conversation would have to be left out."""
        all_of_them = sorted([*self._faults, *self._refusals])
        if not refused and not (self.report.new or self.report.unchanged or self.report.given):
            refused = all_of_them
        if refused:
            raise ImportRefused(
                [
                    each.place.says(each.reason, each.title)
                    for each in sorted(refused)[:MAX_PROBLEMS]
                ]
            )
        self.report.n_refused = self._n_faults + self._n_refusals
        self.report.left_out = [
            _left_out_in(each.place.file, LeftOut(each.place.line, each.reason, each.title), True)
            for each in all_of_them
        ] + self.report.left_out

    def foretell(self, slug: str) -> ImportReport:
        """What would be stored; nothing is."""
        splits.require_fingerprints()
        project = planned_project(slug)
        self.decide(project)
        self.report.project_created = project.pk is None
        return self.report

    def is_overtaken(self, before: State | None) -> bool:
        """Whether something has come in since, or a split can no longer be given."""
        given = dict(self._staged.given)
        return before != state() or bool(splits.are_frozen(given))

    def _decide_batch(self, project: Project, batch: Sequence[tuple[int, Entry]]) -> None:
        new, without_split = self._sorted(project, batch)
        self._give_splits(project, without_split)
        prints = [Sketch.from_bytes(entry.sketch) for _, entry in new]
        shared = self._staged.shared(prints)
        given = zip(new, self._splits(project, new, prints, shared), shared, strict=True)
        decided = [
            (entry, (number, entry.id, split, each))
            for (number, entry), split, each in given
            if split is not None
        ]
        self._staged.decide([row for _, row in decided])
        self.report.new += len(decided)
        self.report.messages += sum(entry.messages for entry, _ in decided)

    def _sorted(
        self, project: Project, batch: Sequence[tuple[int, Entry]]
    ) -> tuple[list[tuple[int, Entry]], dict[str, Entry]]:
        """What is not stored yet, each once, and what is stored and may get a split by its id."""
        known = self._known(project, [entry.id for _, entry in batch])
        new, without_split = [], {}
        for number, entry in batch:
            self.report.read += 1
            stored = known.get(entry.id)
            if self._split and entry.split != self._split:
                why = Fact("import.other_split", split=entry.split, wanted=self._split)
                self._refuse(entry, why)
            elif stored is None:
                known[entry.id] = entry.fingerprint
                new.append((number, entry))
            elif reason := conflict(
                stored, own := self._in_form_of(project, stored, number, entry)
            ):
                if not self._keeps_its_split(project, stored, own, entry.id):
                    self._refuse(entry, reason)
                    continue
                self.report.unchanged += 1
            elif entry.split and not stored.split:
                known[entry.id] = stored._replace(split=entry.split)
                without_split[entry.id] = entry
            else:
                self.report.unchanged += 1
        return new, without_split

    def _known(self, project: Project, ids: Sequence[str]) -> dict[str, Fingerprint]:
        """What is stored, and what was decided to be, by earlier batches too."""
        known = self._staged.known(ids)
        if project.pk is None:
            return known
        rows = project.conversations.filter(external_id__in=ids).order_by()
        columns = ("external_id", "content_sha256", "domain", "difficulty", "split", "origin")
        for name, sha256, domain, difficulty, split, origin in rows.values_list(*columns):
            split = split or self.report.given.get(name, "")
            known[name] = Fingerprint(sha256, domain, difficulty, split, origin=origin)
        return known

    def _in_form_of(
        self, project: Project, stored: Fingerprint, number: int, entry: Entry
    ) -> Fingerprint:
        """The fingerprint as if its accents were written as in the stored text, if that is all."""
        own = entry.fingerprint
        if stored.sha256 not in (own.sha256, own.written_sha256):
            rows = Transcript.objects.filter(conversation__project=project.pk)
            there = rows.filter(conversation__external_id=entry.id).first()
            if there and same_text(there.messages, self._staged.text(number)):
                return own._replace(sha256=stored.sha256)
        return own

    def _keeps_its_split(
        self, project: Project, stored: Fingerprint, own: Fingerprint, name: str
    ) -> bool:
        """Whether only a proposed split differs from the stored one, which copies decide about."""
        if not self._proposed or conflict(stored, own._replace(split="")):
            return False
        return splits.is_held_by_copies(project.conversations.get(external_id=name))

    def _splits(
        self,
        project: Project,
        entries: Sequence[tuple[int, Entry]],
        prints: Sequence[Sketch],
        shared: Sequence[Shared],
    ) -> Iterator[str | None]:
        """The split of each; None of what is refused."""
        proposals = [
            splits.Proposal(
                name=entry.id,
                sketch=sketch,
                split=entry.split,
                is_demanded=not self._proposed,
                is_synthetic=entry.origin == Conversation.Origin.SYNTHETIC,
                shared=each,
            )
            for (_, entry), sketch, each in zip(entries, prints, shared, strict=True)
        ]
        decisions = splits.decide(
            proposals,
            project=project,
            actor=self.actor,
            before=self._staged.copies(shared),
            given=dict(self._staged.given),
        )
        for (_, entry), decision in zip(entries, decisions, strict=True):
            if decision.is_refused and decision.why:
                self._refuse(entry, decision.why)
                yield None
                continue
            if decision.why:
                self.report.inherited[entry.id] = decision.split
                self._note(entry, decision.why)
            yield decision.split

    def _give_splits(self, project: Project, entries: Mapping[str, Entry]) -> None:
        """Stored conversations get the split that they had none of."""
        if not entries:
            return
        rows = project.conversations.filter(external_id__in=entries).order_by("external_id")
        names = dict(rows.values_list("pk", "external_id"))
        wishes = {pk: entries[name].split for pk, name in names.items()}
        refusals = splits.refusals_to_give(
            wishes, project=project, actor=self.actor, given=dict(self._staged.given)
        )
        for pk, name in names.items():
            if pk in refusals:
                self._refuse(entries[name], refusals[pk])
                continue
            self.report.given[name] = wishes[pk]
            self._note(entries[name], Fact("import.gets_split", split=wishes[pk]))
        self._staged.give((pk, split) for pk, split in wishes.items() if pk not in refusals)

    def _refuse(self, entry: Entry, reason: Fact) -> None:
        why = Fact("import.conversation", conversation=entry.id, why=reason)
        self._n_refusals += 1
        if len(self._refusals) < MAX_LOSSES:
            self._refusals.append(_Refusal(_place(entry), why))

    def _note(self, entry: Entry, reason: Fact) -> None:
        if len(self.report.notes) < MAX_NOTES:
            why = Fact("import.conversation", conversation=entry.id, why=reason)
            place = _place(entry).shown
            self.report.notes.append(Fact("import.note", place=place, why=why))

    # --- publishing -----------------------------------------------------------------------------

    def insert(self, draft: drafts.Draft) -> None:
        draft.insert(self._staged.rows(), connection.ops.adapt_datetimefield_value(timezone.now()))
        self._staged.mark_inserted()

    @property
    def is_inserted(self) -> bool:
        """Whether what shall be stored is what was inserted last."""
        return self._staged.is_inserted()

    @property
    def given(self) -> dict[int, str]:
        """The splits of stored conversations that have none yet."""
        return dict(self._staged.given)

    def give_splits(self) -> None:
        by_split: dict[str, list[int]] = defaultdict(list)
        for pk, split in self._staged.given:
            by_split[split].append(pk)
        for split, conversations in by_split.items():
            for some in batches(conversations, BATCH_CONVERSATIONS):
                Conversation.objects.filter(pk__in=some).update(split=split)


class Storing:
    """Puts what an import has decided into the database, and publishes it.

    ``opened`` is the project as it will be: with its key, whether it is stored already or not.
    """

    def __init__(self, importing: Importing, slug: str, *, layers: Sequence[str] = ()) -> None:
        self._importing, self._slug, self._layers = importing, slug, layers
        self._draft: drafts.Draft | None = None
        self._before: State | None = None
        self._planned: int | None = None
        self._swept: RuleError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: Any) -> None:
        self._give_up(*failure)

    def attempts(self) -> Iterator[None]:
        """Each leaves everything ready for :meth:`publish`; there is another one if that fails.

        Also if a sweep took the process for dead. Refuses if it did so each time.
        """
        for _ in range(ATTEMPTS):
            self._swept, self._before = None, state()
            # Only then: what comes in later, with or without fingerprints, is another state.
            near_duplicates.catch_up(stay_alive=self._keep)
            self.opened = planned_project(self._slug, layers=self._layers)
            self._planned = self.opened.pk
            self._keep()
            self._importing.decide(self.opened, stay_alive=self._keep)
            try:
                self._insert()
            except drafts.DraftGivenUp as swept:
                self._swept = swept
                self._give_up()
            else:
                yield
        if self._swept is not None:
            raise self._swept

    def _keep(self) -> None:
        """What is inserted, while it is decided again; if it was swept, it is inserted again."""
        try:
            self.stay_alive()
        except drafts.DraftGivenUp:
            self._give_up()

    def _insert(self) -> None:
        is_created = self._planned is None
        number = self._importing.report.new
        self._importing.report.project_created = is_created
        draft = self._draft
        if draft is None or not self._importing.is_inserted or self._is_elsewhere(draft):
            self._give_up()
            if number or is_created:
                self._draft = draft = drafts.Draft(self.opened, number)
                self._importing.insert(draft)
        if draft is not None:
            self.opened.pk = draft.project

    def _is_elsewhere(self, draft: drafts.Draft) -> bool:
        """Whether somebody else has created the project, or removed it."""
        is_created = not Project.objects.filter(pk=draft.project).exists()
        return is_created != (self._planned is None) or self._planned not in (None, draft.project)

    @property
    def splits(self) -> Mapping[int, str]:
        """What stored conversations will have that have none yet."""
        return self._importing.given

    @property
    def conversations(self) -> QuerySet[Conversation]:
        """Those of the project as they will be."""
        if self._draft is None:
            return Conversation.objects.filter(project=self.opened)
        return self._draft.conversations

    @property
    def drafted(self) -> int | None:
        """The draft that hides the new ones."""
        return None if self._draft is None else self._draft.first

    def try_again(self, swept: RuleError) -> None:
        """After a sweep in the middle of an attempt: the next one inserts once more."""
        self._swept = swept

    def stay_alive(self) -> None:
        """To be called several times a minute between the attempt and the end."""
        if self._draft is not None:
            with short_write():
                self._draft.stay_alive()

    def publish(self) -> Project | None:
        """Show everything, in the transaction of the caller; None if that is decided no more.

        The project is locked then. One import at a time publishes, in all projects.
        """
        try:
            if self._draft is not None:
                self._draft.stay_alive()  # before others keep this one waiting
        except drafts.DraftGivenUp as swept:
            self._swept = swept
            return None
        lock_imports()
        stored = Project.objects.filter(slug=self._slug).first()
        if (stored.pk if stored else None) != self._planned:
            return None
        if self._importing.is_overtaken(self._before):
            return None
        if stored is None and not self._create():
            return None
        project = projects.lock(self.opened)
        if self._draft is not None:
            self._draft.publish()
        self._importing.give_splits()
        return project

    def _create(self) -> bool:
        """Unless somebody else has just done so."""
        project = self.opened
        try:
            with transaction.atomic():
                project.save(force_insert=True)
        except IntegrityError:
            return False
        actor = self._importing.actor
        events.record("project.created", project, project=project, actor=actor, name=self._slug)
        return True

    def _give_up(self, *failure: Any) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.__exit__(*(failure or (None, None, None)))


def _entry(place: _RecordPlace, record: Record, split: str, sketch: Sketch) -> Entry:
    text = transcripts.written(record.turns)
    return Entry(
        file=place.order,
        line=place.line,
        name=place.file,
        id=record.id,
        domain=record.domain,
        difficulty=record.difficulty,
        split=split,
        origin=record.origin,
        generator=record.generator,
        speakers=json.dumps(record.speakers),
        priority=record.priority,
        messages=len(record.turns),
        sha256=text_sha256(text),
        written_sha256=record.written_sha256,
        text=text,
        sketch=bytes(sketch),
    )


def _left_out_in(file: str, left_out: LeftOut, is_whole: bool = False) -> LeftOutIn:
    text = _short(left_out.text)
    return LeftOutIn(file, left_out.line, left_out.reason, text, is_whole)


def _short(text: str) -> str:
    more = "…" if len(text) > MAX_TEXT else ""
    text = " ".join(text[:MAX_TEXT].split())
    return "".join(each if each.isprintable() else "\ufffd" for each in text) + more


def _place(entry: Entry) -> _RecordPlace:
    return _RecordPlace(entry.file, entry.line, entry.name)
