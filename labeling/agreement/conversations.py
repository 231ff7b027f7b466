"""What each conversation of a round adds to its agreement, measured once for each set of answers.

Figures of a round are sums over conversations, and what one adds depends on its own answers alone.
So a worker reads the payloads only of conversations with other answers than it measured before,
in chunks, and stores a row for each of them. The figures are then computed from the rows, by the
same functions in the same order as from all answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeVar, cast

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from labeling.agreement import answers
from labeling.agreement.answers import EVERYTHING, Selection
from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import texts_to_prime
from labeling.agreement.matching.similarity import MINILM_ID, Ruler, compared
from labeling.agreement.rules.disagreements import Split, label_splits, splits_of, with_candidates
from labeling.agreement.rules.event_agreement import event_counts
from labeling.agreement.rules.records import Counted, PairCounts, counted
from labeling.agreement.rules.units import (
    Base,
    Units,
    judged,
    marks,
    message_names,
    of_type,
    own_units,
    units,
)
from labeling.core import transactions
from labeling.core.projects import synonyms_of
from labeling.domain.canonical import canonical_json
from labeling.models import Annotation, Conversation, ConversationAgreement, Round
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.schema.layers import Judged
from labeling.schema.origins import of_origin

VERSION = 2
"""Raise it when the same answers may add something else: everything is then measured again."""

CHUNK = 500
PARTS = 4
"""Chunks of payloads are smaller than those of keys by this factor."""

MISSING = 255
NAMED_BY = ("round", "layer", "selection", "conversation")


Value = TypeVar("Value")


class Added(NamedTuple):
    """What a conversation adds, as a row has it."""

    name: str
    annotators: Sequence[str]
    labels: dict[str, Sequence[Hashable]]
    unit_names: Sequence[str]
    pairs: dict[tuple[str, str], PairCounts]
    is_used: bool


# --- which answers a row is about ----------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """The answers of a round: what names those of each conversation."""

    measured: Round

    @cached_property
    def names(self) -> dict[int, str]:
        """Of the annotators."""
        rows = self.measured.assignments.order_by()
        return dict(rows.values_list("annotator", "annotator__username").distinct())

    @cached_property
    def rules(self) -> bytes:
        """What rows depend on besides the answers."""
        project = self.measured.project
        rules = [VERSION, MINILM_ID, project.match_threshold, project.actor_synonyms]
        return canonical_json(rules).encode()

    def chunks(self) -> Iterator[dict[int, str]]:
        """By conversation, the digest of what was submitted; ``CHUNK`` of them at a time."""
        last = 0
        while True:
            places = self.measured.assignments.filter(conversation__gt=last)
            keys = places.order_by("conversation").values_list("conversation", flat=True)
            chunk = list(keys.distinct()[:CHUNK])
            if not chunk:
                return
            last = chunk[-1]
            yield self._digests(chunk[0], last)

    def _digests(self, first: int, last: int) -> dict[int, str]:
        rows = (
            self.measured.assignments.filter(conversation__gte=first, conversation__lte=last)
            .order_by("conversation", "annotator", "pk")
            .values_list(
                *("conversation", "annotator", "annotation__status", "annotation"),
                *("annotation__version", "annotation__guideline", "first_pass"),
            )
        )
        of_conversation: dict[int, list[str]] = {}
        for conversation, annotator, status, *answer in rows:
            parts = of_conversation.setdefault(conversation, [])
            if status == Annotation.Status.SUBMITTED:
                parts.append(f"{self.names[annotator]} {answer}")
        return {
            pk: hashlib.sha256(self.rules + "\n".join(parts).encode()).hexdigest() if parts else ""
            for pk, parts in of_conversation.items()
        }


# --- measuring what is new -----------------------------------------------------------------------


def catch_up(
    measured: Round, wanted: Collection[tuple[str, Selection]], *, ruler: Callable[[], Ruler]
) -> str:
    """Measure each conversation that has other answers than before; what names all answers."""
    digest = hashlib.sha256()
    positions: dict[int, int] | None = None
    for chunk in Answered(measured).chunks():
        _name(digest, chunk)
        for layer, selection in wanted:
            due = _due(measured, layer, selection, chunk)
            if due and positions is None:
                positions = dict(measured.places.values_list("conversation", "position"))
            for keys in _parts(due):
                rows = _measure(measured, layer, selection, keys, ruler())
                _store(measured, layer, selection, keys, rows, chunk, positions or {})
                ruler().forget()
    return digest.hexdigest()


def digest_of(measured: Round) -> str:
    """Names all answers of a round, as :func:`catch_up` does."""
    digest = hashlib.sha256()
    for chunk in Answered(measured).chunks():
        _name(digest, chunk)
    return digest.hexdigest()


def _name(digest: Any, chunk: Mapping[int, str]) -> None:
    """What nobody has submitted yet names nothing: handing out and drafts change no figure."""
    for pk, named in chunk.items():
        if named:
            digest.update(f"{pk} {named}\n".encode())


def _due(measured: Round, layer: str, selection: Selection, chunk: Mapping[int, str]) -> list[int]:
    keys = list(chunk)
    stored = dict(
        rows_of(measured, layer, selection)
        .filter(conversation__gte=keys[0], conversation__lte=keys[-1])
        .values_list("conversation", "answers_sha256")
    )
    return [pk for pk, named in chunk.items() if stored.get(pk, "") != named]


def _parts(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    size = CHUNK // PARTS
    return (keys[start : start + size] for start in range(0, len(keys), size))


@transactions.atomic
def _store(
    measured: Round,
    layer: str,
    selection: Selection,
    keys: Sequence[int],
    rows: Sequence[ConversationAgreement],
    digests: Mapping[int, str],
    positions: Mapping[int, int],
) -> None:
    """Replaces the rows of these conversations; another worker may be storing the same."""
    for row in rows:
        row.answers_sha256 = digests[row.conversation_id]
        row.position = positions.get(row.conversation_id, 0)
    without = set(keys) - {row.conversation_id for row in rows}
    rows_of(measured, layer, selection).filter(conversation__in=without).delete()
    names = [field.name for field in ConversationAgreement._meta.fields if field.name != "id"]
    ConversationAgreement.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=NAMED_BY,
        update_fields=[name for name in names if name not in NAMED_BY],
    )


def rows_of(measured: Round, layer: str, selection: Selection) -> Any:
    return measured.agreed_conversations.filter(layer=layer, selection=selection.key)


def _measure(
    measured: Round, layer: str, selection: Selection, keys: Sequence[int], ruler: Ruler
) -> list[ConversationAgreement]:
    """What each of these conversations adds; nobody's answer to it adds nothing."""
    project = measured.project
    rules = Rules(ruler, synonyms_of(project), project.match_threshold)
    submitted = _submitted(measured, selection, keys)
    sizes = answers.sizes(keys) if LAYERS[layer].by_message else {}
    names = dict(Conversation.objects.filter(pk__in=keys).values_list("pk", "external_id"))
    matched = [*([layer] if LAYERS[layer].has_records else []), *_judged_by(layer)]
    ruler.prime(
        text
        for by_annotator in submitted.values()
        for matched_layer in matched
        for text in compared(
            texts_to_prime(answer.payload.get(LAYERS[matched_layer].key, []))
            for answer in by_annotator.values()
        )
    )
    return [
        _row(measured, layer, selection, pk, names[pk], submitted[pk], sizes.get(pk, 0), rules)
        for pk in keys
        if pk in submitted
    ]


def _judged_by(layer: str) -> tuple[str, ...]:
    """The layers whose labels are matched to make its units."""
    unit = LAYERS[layer].units
    return tuple(LAYERS[layer].needs) if isinstance(unit, Judged) else ()


class _Submitted(NamedTuple):
    """What one person submitted, and whether they saw suggestions first."""

    payload: Payload
    has_seen: bool
    unanswered: frozenset[str]


def _submitted(
    measured: Round, selection: Selection, keys: Sequence[int]
) -> dict[int, dict[str, _Submitted]]:
    """By conversation and annotator, what was submitted, and whether they saw suggestions first."""
    everything = answers.submitted(measured, replace(selection, origin=""))
    rows = everything.filter(conversation__in=keys).values_list(
        *("conversation", "annotator__username", "annotation__payload"),
        *("annotation__unanswered", "first_pass"),
    )
    by_conversation: dict[int, dict[str, _Submitted]] = {}
    for pk, who, payload, unanswered, first_pass in rows:
        answer = _Submitted(payload, first_pass is not None, frozenset(unanswered or ()))
        by_conversation.setdefault(pk, {})[who] = answer
    return by_conversation


def _row(
    measured: Round,
    layer: str,
    selection: Selection,
    pk: int,
    name: str,
    submitted: Mapping[str, _Submitted],
    size: int,
    rules: Rules,
) -> ConversationAgreement:
    everything = _narrowed(layer, submitted, replace(selection, origin=""))
    own = _narrowed(layer, submitted, selection)
    row = ConversationAgreement(
        round=measured,
        layer=layer,
        selection=selection.key,
        conversation_id=pk,
        n_annotators=len(own),
        annotators=list(own),
        is_used=any(payload.get(LAYERS[layer].key) for payload in own.values()),
        n_units=0,
        n_differing=0,
    )
    records = _records(layer, own, rules)
    pairs = {people: each.counts for people, each in records.items()}
    if LAYERS[layer].has_units:
        compared, base = _units(layer, own, size, rules)
        if selection.origin == "typed":
            compared = own_units(compared, _units(layer, everything, size, rules)[0])
        row.n_annotators, row.n_units, row.n_differing = counts_of(compared)
        row.marks, row.units = _as_stored(layer, compared)
        splits = splits_of(layer, name, own, compared, base) if row.n_differing else []
        if LAYERS[layer].has_records:
            matched = {people: each.matches for people, each in records.items()}
            splits = with_candidates(layer, name, own, compared, base, splits, matched)
    else:
        splits = label_splits(layer, name, own, ruler=rules.ruler)
        pairs = pairs or _events(layer, own)
    row.pairs = [[a, b, *counts] for (a, b), counts in pairs.items()]
    row.splits = [split.as_json() for split in splits]
    row.n_splits = len(splits)
    return row


def added_by(
    layer: str, name: str, payloads: Mapping[str, Payload], *, size: int, rules: Rules
) -> Added:
    """What a conversation with these answers adds; ``size`` is the number of its messages."""
    compared = Units([], {})
    pairs = {people: each.counts for people, each in _records(layer, payloads, rules).items()}
    if LAYERS[layer].has_units:
        compared, _ = _units(layer, payloads, size, rules)
    else:
        pairs = pairs or _events(layer, payloads)
    return Added(
        name,
        list(payloads),
        dict(compared.labels),
        compared.names,
        pairs,
        any(payload.get(LAYERS[layer].key) for payload in payloads.values()),
    )


def _narrowed(
    layer: str, submitted: Mapping[str, _Submitted], selection: Selection
) -> dict[str, Payload]:
    payloads = {}
    for who, (payload, has_seen, unanswered) in submitted.items():
        if layer in unanswered or (selection.origin == "assisted" and not has_seen):
            continue
        if selection.label_type and LAYERS[layer].type_field:
            payload = of_type(layer, payload, selection.label_type)
        if selection.origin:
            assisted = selection.origin == "assisted"
            payload = of_origin(layer, payload, assisted=assisted)
        payloads[who] = payload
    return payloads


def _units(
    layer: str, payloads: Mapping[str, Payload], size: int, rules: Rules
) -> tuple[Units, Base]:
    if LAYERS[layer].by_message:
        return marks_of(layer, payloads, size), []
    base = judged(
        layer, payloads, ruler=rules.ruler, synonyms=rules.synonyms, threshold=rules.threshold
    )
    return units(layer, payloads, message_count=0, base=base), base


def marks_of(layer: str, payloads: Mapping[str, Payload], size: int) -> Units:
    labels = {who: marks(layer, payload, size) for who, payload in payloads.items()}
    return Units(message_names(size), labels)


def counts_of(compared: Units) -> tuple[int, int, int]:
    """Annotators, units that two of them judged, and those that they labeled differently."""
    people = len(compared.labels)
    if not people:
        return 0, 0, 0
    first, *others = compared.labels.values()
    if not others or all(labels == first for labels in others):
        return people, len(first) - first.count(None), 0
    columns = list(zip(first, *others, strict=True))
    size = sum(people - labels.count(None) > 1 for labels in columns)
    return people, size, sum(len(set(labels) - {None}) > 1 for labels in columns)


def _records(
    layer: str, payloads: Mapping[str, Payload], rules: Rules
) -> dict[tuple[str, str], Counted]:
    """Of each two people; none where labels are not compared as records."""
    if not LAYERS[layer].has_records:
        return {}
    labels = {who: payload.get(LAYERS[layer].key, []) for who, payload in payloads.items()}
    return {
        (a, b): counted(labels[a], labels[b], **rules._asdict())
        for a, b in combinations(sorted(labels), 2)
    }


def _events(layer: str, payloads: Mapping[str, Payload]) -> dict[tuple[str, str], PairCounts]:
    labels = {who: payload.get(LAYERS[layer].key, []) for who, payload in payloads.items()}
    return {(a, b): event_counts(labels[a], labels[b]) for a, b in combinations(sorted(labels), 2)}


def _as_stored(layer: str, compared: Units) -> tuple[bytes | None, dict[str, Any] | None]:
    """Marks of messages as bytes; else the units with their names."""
    if not LAYERS[layer].by_message:
        return None, compared._asdict()
    everyone = (label for labels in compared.labels.values() for label in labels)
    return bytes(MISSING if label is None else cast(int, label) for label in everyone), None


# --- reading -------------------------------------------------------------------------------------


def each(measured: Round, layer: str, selection: Selection) -> list[Added]:
    """What every conversation adds, in order of its name."""
    rows = (
        rows_of(measured, layer, selection)
        .order_by()
        .values_list(
            *("conversation__external_id", "annotators", "marks", "units", "pairs", "is_used")
        )
    )
    once = _Once()
    everything = [
        _added(name, once(tuple(annotators)), stored_marks, stored_units, pairs, is_used, once)
        for name, annotators, stored_marks, stored_units, pairs, is_used in rows.iterator()
        if annotators
    ]
    return sorted(everything, key=lambda added: added.name)


class _Once(dict[Any, Any]):
    """Equal values are one object: of 100,000 conversations most add what another one adds."""

    def __call__(self, value: Value) -> Value:
        return cast(Value, self.setdefault(value, value))


def _added(
    name: str,
    annotators: tuple[str, ...],
    stored_marks: bytes | None,
    stored_units: Mapping[str, Any] | None,
    pairs: Sequence[Sequence[Any]],
    is_used: bool,
    once: _Once,
) -> Added:
    labels: dict[str, Sequence[Hashable]] = {}
    unit_names: Sequence[str] = ()
    if stored_marks is not None:
        size = len(stored_marks) // len(annotators)
        for at, who in enumerate(annotators):
            own = bytes(stored_marks[at * size : (at + 1) * size])
            labels[who] = _with_gaps(own) if MISSING in own else once(own)
        unit_names = once(tuple(message_names(size)))
    elif stored_units is not None:
        labels, unit_names = stored_units["labels"], stored_units["names"]
    counts = {once((a, b)): once(_counted(*values)) for a, b, *values in pairs}
    return Added(name, annotators, labels, unit_names, counts, is_used)


def _counted(
    matches: int, left: int, right: int, fields: Sequence[Sequence[float]] = ()
) -> PairCounts:
    return PairCounts(matches, left, right, tuple(map(tuple, fields)))


def _with_gaps(own: bytes) -> list[Hashable]:
    return [None if label == MISSING else label for label in own]


def units_of(measured: Round, layer: str, selection: Selection) -> dict[str, Units]:
    """The units of each conversation as annotators labeled them; none for events."""
    if not LAYERS[layer].has_units:
        return {}
    return {
        added.name: Units(
            list(added.unit_names), {who: list(own) for who, own in added.labels.items()}
        )
        for added in each(measured, layer, selection)
    }


class Sums(NamedTuple):
    """Over the rows of a measurement."""

    n_conversations: int
    n_compared: int
    n_splits: int


def sums_of(measured: Round, layer: str, selection: Selection) -> Sums:
    sums = rows_of(measured, layer, selection).aggregate(
        n_conversations=Count("pk", filter=Q(n_annotators__gt=0)),
        n_compared=Count("pk", filter=Q(n_annotators__gt=1)),
        n_splits=Coalesce(Sum("n_splits"), 0),
    )
    return Sums(**sums)


class Place(NamedTuple):
    """Where a conversation is in its round: what a walk goes on behind."""

    position: int
    conversation: int


START = Place(-1, 0)
AT_A_TIME = 100


def splits_in(
    measured: Round,
    layer: str,
    selection: Selection = EVERYTHING,
    *,
    among: Collection[int] | QuerySet[Any] | None = None,
    since: Place = START,
) -> Iterator[tuple[int, Split]]:
    """With their conversation, the units that were labeled differently, in the order of the round.

    Rows are read some at a time: the first splits cost the same in any project. ``since`` is the
    first conversation to read, ``among`` narrows it to these.
    """
    rows = rows_of(measured, layer, selection).filter(n_splits__gt=0)
    if among is not None:
        rows = rows.filter(conversation__in=among)
    rows = rows.order_by("position", "conversation")
    behind = rows.filter(position__gte=since.position)
    behind = behind.exclude(position=since.position, conversation__lt=since.conversation)
    while chunk := list(behind.values_list("position", "conversation", "splits")[:AT_A_TIME]):
        for _, conversation, stored in chunk:
            for split in stored:
                yield conversation, Split.from_json(split)
        if len(chunk) < AT_A_TIME:
            return
        position, conversation, _ = chunk[-1]
        behind = rows.filter(position__gte=position)
        behind = behind.exclude(position=position, conversation__lte=conversation)


def number_before(measured: Round, layer: str, place: Place) -> int:
    """How many splits the conversations before this one have."""
    earlier = Q(position__lt=place.position)
    earlier |= Q(position=place.position, conversation__lt=place.conversation)
    rows = rows_of(measured, layer, EVERYTHING).filter(earlier).order_by()
    total: int = rows.aggregate(total=Coalesce(Sum("n_splits"), 0))["total"]
    return total


def place_of(measured: Round, layer: str, conversation: int) -> Place | None:
    rows = rows_of(measured, layer, EVERYTHING).filter(conversation=conversation)
    return next((Place(*row) for row in rows.values_list("position", "conversation")), None)
