"""Importing labels made elsewhere: all of the files or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
from typing import Any, BinaryIO, NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from labeling.conversations.conversations import MAX_LOSSES, MAX_PROBLEMS, ImportRefused
from labeling.conversations.formats.answers import (
    SUBMITTED,
    FileAnswer,
    FileConversation,
    FileDecision,
    LineFault,
    ReadLine,
    Unnamed,
    without_empty_layers,
)
from labeling.conversations.rules.lookalikes import folded
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.core.spool import Spool
from labeling.domain.batches import batches
from labeling.domain.canonical import with_line_feeds
from labeling.domain.errors import FileFault, NotCanonical, RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.exchange.formats import native, sample_labels
from labeling.exchange.label_rounds import ImportedAnswer, ImportedRounds
from labeling.gold.rules.normal import moved, same_text
from labeling.gold.rules.release import item_sha256
from labeling.jobs import pending
from labeling.models import (
    Adjudication,
    Annotation,
    Assignment,
    Conversation,
    Guideline,
    Project,
    Round,
    RoundConversation,
)
from labeling.schema import LAYERS, check_payload
from labeling.schema.labels import Payload, StoredLabel
from labeling.settling import adjudications
from labeling.work import rounds

Reader = Callable[[BinaryIO, str, Unnamed], Iterator[ReadLine]]


READERS: dict[str, Reader] = {
    "native": lambda stream, _name, _unnamed: native.read(stream),
    "sample": lambda stream, name, unnamed: sample_labels.read(stream, name=name, unnamed=unnamed),
}
BATCH = 200  # conversations in memory at a time


class LabelsRefused(ImportRefused, code="labels_refused"):
    """Something in the files of answers is wrong, so nothing was stored."""


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
    losses: list[Fact] = field(default_factory=list)
    """What was converted or left out, with file and line."""

    @property
    def has_read(self) -> bool:
        return bool(self.read or self.decisions or self.older)

    @property
    def is_new(self) -> bool:
        return bool(self.new or self.decisions)


class _FilePlace(NamedTuple):
    file: str
    line: int | None

    def says(self, code: str, why: Fact) -> Fact:
        return Fact(code, place=f"{self.file}:{self.line}" if self.line else self.file, why=why)


def import_labels(
    *,
    project: Project,
    files: Iterable[tuple[str, BinaryIO]],
    format: str,
    dry_run: bool = False,
    create_annotators: bool = False,
    reason: str = "",
    by: User | None = None,
    unnamed: Unnamed | None = None,
) -> LabelReport:
    """Store the answers of files that the project does not have yet, in separate closed rounds.

    An answer that the same annotator already has with the same labels is left alone. ``reason`` is
    needed while the gate is locked: imported labels pass it like an override, and it is recorded.
    ``unnamed`` says of samples whose labels they are, where their files do not.
    """
    entries, names = _spooled(files, READERS[format], unnamed or Unnamed())
    with transaction.atomic():
        project = projects.lock(project)
        if not project.guidelines.exists():
            raise rounds.RoundImpossible(
                msgid("Write the guidelines first: labels count under a version.")
            )
        people = People(project, may_create=create_annotators)
        importing = _LabelImport(project, format, people, by, reason)
        importing.take(entries)
        importing.refuse()
        report = importing.finish(names)
        if dry_run:
            transaction.set_rollback(True)
        elif report.needs_reason:
            raise rounds.GateLocked(
                msgid(
                    "No calibration round has passed, and imported labels would pass "
                    "the gate: say with a reason why they count."
                )
            )
        return report


def _spooled(
    files: Iterable[tuple[str, BinaryIO]], reader: Reader, unnamed: Unnamed
) -> tuple[Spool[tuple[str, ReadLine]], list[str]]:
    """What the files hold, on disk, and their names: nothing is locked while they are read.

    Ends early when there are too many problems.
    """
    entries: Spool[tuple[str, ReadLine]] = Spool()
    names: list[str] = []
    faults = 0
    for name, stream in files:
        names.append(name)
        for entry in reader(stream, name, unnamed):
            try:
                entries.append((name, entry))
            except RecursionError:  # no label is so deep, but a line may be
                line = None if isinstance(entry, LineFault) else entry[0]
                entries.append((name, LineFault(line, Fact("file.too_deep"))))
            faults += isinstance(entry, LineFault)
            if faults == MAX_PROBLEMS:
                return entries, names
    return entries, names


@dataclass(slots=True)
class _LabelImport:
    """One import on its way: a batch of conversations at a time."""

    project: Project
    format: str
    people: People
    by: User | None
    reason: str
    report: LabelReport = field(default_factory=LabelReport)
    problems: list[tuple[_FilePlace, Fact]] = field(default_factory=list)
    _rounds: ImportedRounds = field(init=False)
    _guidelines: dict[int, Guideline] = field(init=False)
    _decisions: list[tuple[_FilePlace, Conversation, FileConversation, int | None]] = field(
        default_factory=list
    )
    _seen: set[tuple[int, int, str]] = field(default_factory=set)
    _times: Counter[tuple[int, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._rounds = ImportedRounds(self.project, by=self.by, reason=self.reason)
        versions = self.project.guidelines.defer("body")
        self._guidelines = {guideline.version: guideline for guideline in versions}

    def take(self, entries: Iterable[tuple[str, ReadLine]]) -> None:
        """Ends early when there are too many problems."""
        for part in batches(entries, BATCH):
            labeled = []
            for name, entry in part:
                if isinstance(entry, LineFault):
                    self.problems.append((_FilePlace(name, entry.line), entry.reason))
                else:
                    labeled.append((_FilePlace(name, entry[0]), entry[1]))
            known = known_of(self.project, {each.id for _, each in labeled})
            for place, each in labeled:
                self._take(place, each, known)
            if len(self.problems) >= MAX_PROBLEMS:
                return
        if not self.problems:
            self._rounds.write()  # decisions are about answers, so these are stored first
            for decided in sorted(self._decisions, key=lambda each: each[1].pk):
                self._decide(*decided)  # conversations are locked in the order of workers

    def _take(self, place: _FilePlace, labeled: FileConversation, known: Known) -> None:
        try:
            labeled = self._conversation(place, labeled, known)
        except EntryRefused as refused:
            whole = msgid("conversation '{conversation}': {why}")
            self.problems.append((place, Fact(whole, conversation=labeled.id, why=refused.fact)))
            return
        if labeled.decisions:
            conversation = known.conversations[labeled.id]
            is_open = known.open_rounds.get(conversation.pk)
            self._decisions.append((place, conversation, replace(labeled, answers=()), is_open))

    def refuse(self) -> None:
        """Where something cannot be read or taken, or nothing is there."""
        if problems := self.problems[:MAX_PROBLEMS]:
            raise LabelsRefused([place.says("import.problem", why) for place, why in problems])
        if not self.report.has_read:
            raise LabelsRefused(
                [Fact(msgid("the files hold no answer that anybody has submitted or skipped"))]
            )

    def _decide(
        self,
        place: _FilePlace,
        conversation: Conversation,
        labeled: FileConversation,
        is_open: int | None,
    ) -> None:
        newest = _newest(conversation)
        try:
            for source in labeled.decisions:
                decision = self._decision(conversation, source)
                if _is_known(decision, source):
                    continue
                if source.layer in newest and decision.decided_at < newest[source.layer]:
                    self.report.older += 1
                    continue
                _refuse_open(is_open)
                store_decision(decision)
                self.report.decisions += 1
        except EntryRefused as refused:
            decision_of = msgid("conversation '{conversation}', a decision: {why}")
            why = Fact(decision_of, conversation=labeled.id, why=refused.fact)
            self.problems.append((place, why))

    def _decision(self, conversation: Conversation, source: FileDecision) -> Adjudication:
        """The same is refused as of a decision made here, except references to other labels: those
        settled at the time may have changed, and gold reports that.
        """
        if source.layer not in self.project.layers:
            raise EntryRefused(msgid("the project does not label “{layer}”"), layer=source.layer)
        if not reason_in(source.reason) and not source.reason_code:
            raise EntryRefused(msgid("it is without a reason"))
        if source.decided_at and source.decided_at > timezone.now():
            raise EntryRefused(msgid("it was made in the future"))
        key = LAYERS[source.layer].key
        labels = {key: [_named(each, self.people.named) for each in source.labels]}
        return Adjudication(
            conversation=conversation,
            layer=source.layer,
            guideline_id=self._guideline(source.guideline_version),
            payload={key: [], **without_suggestions(labels)},
            reason="" if source.reason_code else reason_in(source.reason),
            kind=_kind(source.kind),
            guideline_flag=source.guideline_flag,
            decided_by=self.people.named(source.decided_by),
            decided_at=source.decided_at or timezone.now(),
        )

    def _conversation(
        self, place: _FilePlace, labeled: FileConversation, known: Known
    ) -> FileConversation:
        conversation = known.conversations.get(labeled.id)
        if conversation is None:
            raise EntryRefused(msgid("is not in the project; import the conversations first"))
        labeled = on_stored(labeled, known.texts[conversation.pk])
        for line, why in labeled.notes[: MAX_LOSSES - len(self.report.losses)]:
            self.report.losses.append(place._replace(line=line).says("import.note", why))
        for answer in labeled.answers:
            try:
                self._answer(conversation, answer, known)
            except EntryRefused as refused:
                why = Fact(
                    msgid("conversation '{conversation}', {annotator}: {why}"),
                    conversation=labeled.id,
                    annotator=answer.annotator,
                    why=refused.fact,
                )
                self.problems.append((place, why))
        return labeled

    def _answer(self, conversation: Conversation, answer: FileAnswer, known: Known) -> None:
        annotator = self.people.named(answer.annotator)
        answer = _in_layers(answer, self.project.layers)
        of_person = (conversation.pk, annotator.pk)
        seen = (*of_person, content_of(answer))
        if seen in self._seen or seen[2] in known.contents.get(of_person, ()):
            self.report.unchanged += 1
            self.report.read += 1
            return
        _refuse_open(known.open_rounds.get(conversation.pk))
        payload = check_answer(answer, self.project, known.texts[conversation.pk])
        self._seen.add(seen)
        guideline = self._guideline(answer.guideline_version)
        row = ImportedAnswer(*of_person, guideline, answer, payload)
        self._rounds.add(row, number=self._times[of_person])
        self._times[of_person] += 1
        self.report.read += 1
        self.report.new += 1
        self.report.empty += answer.empty
        self.report.skipped += answer.status != SUBMITTED

    def _guideline(self, version: int | None) -> int:
        """The version that is named; the newest for a format that names none."""
        if version is None:
            version = max(self._guidelines)
        if version not in self._guidelines:
            raise EntryRefused(
                msgid(
                    "was made under version {version} of the guidelines, which the "
                    "project does not have; write it first"
                ),
                version=version,
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
        pending.request(self.project)
        return report

    def _tell(self, verb: str, files: list[str], **data: Any) -> None:
        details = {"files": files, "format": self.format, **data}
        events.record(verb, self.project, project=self.project, actor=self.by, **details)


# --- checking answers -----------------------------------------------------------------------------


MAX_SECONDS = 2_147_483_647  # the limit of the database column


class EntryRefused(FileFault):
    """An answer cannot be taken."""


class Known(NamedTuple):
    """What the project has about some conversations; all but the first by their keys."""

    conversations: Mapping[str, Conversation]
    texts: Mapping[int, Sequence[str]]
    contents: Mapping[tuple[int, int], Collection[str]]  # (conversation, annotator) → hashes
    open_rounds: Mapping[int, int]


def known_of(project: Project, ids: Collection[str]) -> Known:
    stored = project.conversations.filter(external_id__in=ids).select_related("transcript")
    conversations = {conversation.external_id: conversation for conversation in stored}
    pks = [conversation.pk for conversation in conversations.values()]
    running = RoundConversation.objects.filter(
        conversation__in=pks, round__state=Round.State.OPEN
    ).values_list("conversation", "round__number")
    return Known(
        conversations,
        {
            conversation.pk: [message.content for message in conversation.messages]
            for conversation in conversations.values()
        },
        _contents_of(pks),
        dict(running),
    )


def _contents_of(conversations: Sequence[int]) -> dict[tuple[int, int], set[str]]:
    """Answers in open calibration rounds are left out: it must not show whether they are equal."""
    contents: dict[tuple[int, int], set[str]] = {}
    rows = (
        Assignment.objects.filter(conversation__in=conversations, annotation__isnull=False)
        .exclude(annotation__status=Annotation.Status.DRAFT)
        .exclude(round__in=Round.objects.blind())
        .select_related("annotation")
    )
    for row in rows:
        annotation = row.annotation
        answer = FileAnswer(
            "",
            annotation.payload,
            annotation.status,
            annotation.empty,
            unanswered=tuple(annotation.unanswered or ()),
        )
        key = (row.conversation_id, row.annotator_id)
        contents.setdefault(key, set()).add(content_of(answer))
    return contents


def content_of(answer: FileAnswer) -> str:
    """A hash that is the same for the same answer in any file."""
    payload = without_suggestions(answer.payload)
    try:
        left_open = [sorted(answer.unanswered)] if answer.unanswered else []
        is_empty = answer.status == SUBMITTED and answer.empty
        return item_sha256([answer.status, is_empty, payload, *left_open])
    except NotCanonical as error:
        raise EntryRefused(error.fact) from None


def without_suggestions(payload: Mapping[str, Any]) -> Payload:
    """Labels keep how they were made, but not the suggestion's number: another project gave it."""

    def own(label: Any) -> Any:
        if not isinstance(label, dict):
            return label
        return {key: value for key, value in label.items() if key != "suggestion"}

    layers = without_empty_layers(payload).items()
    return {key: [*map(own, rows)] if isinstance(rows, list) else rows for key, rows in layers}


def on_stored(labeled: FileConversation, texts: Sequence[str]) -> FileConversation:
    """Labels point to places in the text, so it must be the same, in whatever form of accents."""
    stored = [with_line_feeds(text) for text in texts]
    if not labeled.turns or labeled.texts == stored:
        return labeled
    both = zip(labeled.texts, stored, strict=False)
    same = len(list(takewhile(lambda two: same_text(*two), both)))
    if same < max(len(labeled.texts), len(stored)):
        raise EntryRefused(
            msgid(
                "its messages are not those of the project, from message {message:d} on: "
                "import these as a conversation of its own, or export the labels of the "
                "right one"
            ),
            message=same + 1,
        )
    answers = tuple(
        replace(answer, payload=moved(answer.payload, labeled.texts, stored))
        for answer in labeled.answers
    )
    decisions = tuple(
        replace(decided, labels=moved(decided.labels, labeled.texts, stored))
        for decided in labeled.decisions
    )
    return replace(labeled, answers=answers, decisions=decisions)


def _refuse_open(number: int | None) -> None:
    if number:
        raise EntryRefused(
            msgid("is being labeled in round {number}; close that round first"), number=number
        )


def _in_layers(answer: FileAnswer, layers: Sequence[str]) -> FileAnswer:
    """Silence about layers that the project does not have means nothing.

    “Nothing here” is said of the whole, so where it is silent about a layer it is not said.
    """
    unanswered = tuple(layer for layer in answer.unanswered if layer in layers)
    return replace(answer, unanswered=unanswered, empty=answer.empty and not unanswered)


def _says_nothing(answer: FileAnswer, layers: Sequence[str]) -> bool:
    """Whether it states that nothing is there, of all layers or of some."""
    has_labels = any(answer.payload.values())
    return answer.empty or (not has_labels and 0 < len(answer.unanswered) < len(layers))


def check_answer(answer: FileAnswer, project: Project, texts: Sequence[str]) -> Payload:
    """The payload as it will be stored."""
    payload = without_suggestions(answer.payload)
    if answer.status != SUBMITTED and not reason_in(answer.skip_reason):
        raise EntryRefused(msgid("it was skipped without a reason"))
    if answer.active_seconds > MAX_SECONDS:
        raise EntryRefused(msgid("active_seconds is too large"))
    problems = check_payload(
        payload,
        layers=project.layers,
        message_count=len(texts),
        complete=answer.status == SUBMITTED,
        empty=_says_nothing(answer, project.layers),
        messages=texts,
        event_schema=project.event_schema,
        open_fields=project.open_fields,
    )
    if problems:
        first = Fact("labels.problem", path=problems[0].path, why=problems[0].fact)
        more = len(problems) - 1
        raise EntryRefused(
            Fact("labels.problems_and_more", problems=[first], number=more) if more else first
        )
    return payload


# --- decisions ------------------------------------------------------------------------------------


FINISHED = (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)


def _newest(conversation: Conversation) -> dict[str, datetime]:
    rows = Adjudication.objects.filter(conversation=conversation).order_by().values_list("layer")
    return dict(rows.annotate(at=Max("decided_at")))


def _named(label: Mapping[str, Any], person: Callable[[str], User]) -> StoredLabel:
    """With people under the names that they have here."""
    here = dict(label)
    if isinstance(label.get("adopted_from"), str):
        here["adopted_from"] = person(label["adopted_from"]).get_username()
    elif label.get("adopted_from"):
        here["adopted_from"] = [person(name).get_username() for name in label["adopted_from"]]
    if "uids" in label:
        uids = label["uids"].items()
        here["uids"] = {person(name).get_username(): uid for name, uid in uids}
    return here


def _kind(kind: str) -> str:
    if kind and kind not in Adjudication.Kind.values:
        raise EntryRefused(
            msgid("“{kind}” is not a kind of decision; known are {known}"),
            kind=kind,
            known=list(Adjudication.Kind.values),
        )
    return kind


def _is_known(decision: Adjudication, source: FileDecision) -> bool:
    same = ("conversation", "layer", "decided_by", "reason", "kind", "guideline_flag")
    same_decision = Adjudication.objects.filter(**{name: getattr(decision, name) for name in same})
    if source.decided_at:
        same_decision = same_decision.filter(decided_at=source.decided_at)
    key = LAYERS[decision.layer].key
    payloads = same_decision.values_list("payload", flat=True)
    return any(
        {key: [], **without_suggestions(payload)} == decision.payload for payload in payloads
    )


def store_decision(decision: Adjudication) -> None:
    answers = Annotation.objects.filter(assignment__conversation=decision.conversation)
    if not answers.filter(status__in=FINISHED).exists():
        raise EntryRefused(msgid("there are no answers that it could be about"))
    try:
        adjudications.check(decision, base=None)
    except RuleError as error:
        raise EntryRefused(error.fact) from None
    adjudications.record(decision)


# --- people ---------------------------------------------------------------------------------------


class People:
    """A project's members and everybody who has labeled in it, by user name or e-mail address.

    An address that several of them have names nobody. A name that only looks like theirs is
    refused: one person must not count as two. Others are refused, or created as inactive accounts
    that nobody can sign in with.
    """

    def __init__(self, project: Project, *, may_create: bool) -> None:
        worked = Assignment.objects.filter(round__project=project).order_by().values("annotator")
        belongs = Q(pk__in=project.memberships.values("user")) | Q(pk__in=worked)
        users = list(User.objects.filter(belongs))
        self._project = project
        self._may_create = may_create
        self._by_name = {user.get_username(): user for user in users}
        shared = Counter(user.email.lower() for user in users)
        self._by_email = {
            user.email.lower(): user
            for user in users
            if user.email and shared[user.email.lower()] == 1
        }
        self._by_looks = {folded(member): member for member in self._by_name}
        self.used: set[str] = set()
        self.created: list[str] = []

    def named(self, name: str) -> User:
        user = self._by_name.get(name) or self._by_email.get(name.lower())
        if user is None and (alike := self._by_looks.get(folded(name))):
            raise EntryRefused(
                msgid(
                    "“{name}” is not a member, but looks like one: did you mean "
                    "“{member}”? Write the name as it is in the project; if it is "
                    "somebody else, create that account first"
                ),
                name=name,
                member=alike,
            )
        if user is None and not self._may_create:
            raise EntryRefused(
                msgid("nobody called “{name}” is in the project; add them as a member"), name=name
            )
        user = user or self._create(name)
        self.used.add(user.get_username())
        return user

    def _create(self, name: str) -> User:
        if User.objects.filter(username=name).exists():
            raise EntryRefused(
                msgid("“{name}” has an account outside of the project; add them as a member"),
                name=name,
            )
        user = User(username=name, is_active=False)
        user.set_unusable_password()
        try:
            user.clean_fields(exclude=["password"])
        except ValidationError:
            raise EntryRefused(msgid("“{name}” cannot be a user name"), name=name) from None
        user.save()
        self._by_name[name] = user
        self._by_looks[folded(name)] = name
        self.created.append(name)
        events.record("annotator.created", user, project=self._project, user=name)
        return user
