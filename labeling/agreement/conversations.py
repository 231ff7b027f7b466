"""What each conversation of a round adds to its agreement, measured once for each set of answers.

Figures of a round are sums over conversations, and what one adds depends on its own answers alone.
So a worker reads the payloads only of conversations with other answers than it measured before,
and stores a row for each of them. The figures are then computed from the rows, by the same
functions in the same order as from all answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet

from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import texts_to_prime
from labeling.agreement.matching.similarity import MINILM_ID, Ruler, compared
from labeling.agreement.rules.disagreements import Split, label_splits, splits_of, with_candidates
from labeling.agreement.rules.records import Counted, PairCounts, counted, event_counts
from labeling.agreement.rules.units import Base, Units, judged, own_units, units
from labeling.core import transactions
from labeling.core.projects import synonyms_of
from labeling.domain.batches import batches
from labeling.domain.canonical import canonical_json
from labeling.models import Annotation, Assignment, Conversation, ConversationAgreement, Round
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.schema.layers import Judged
from labeling.schema.origins import typed

VERSION = 2
"""Raise it when the same answers may add something else: everything is then measured again."""

AT_ONCE = 125
NAMED_BY = ("round", "layer", "selection", "conversation")


class Added(NamedTuple):
    """What a conversation adds, as a row has it."""

    name: str
    annotators: Sequence[str]
    labels: Mapping[str, Sequence[Hashable]]
    unit_names: Sequence[str]
    pairs: dict[tuple[str, str], PairCounts]
    is_used: bool


# --- which answers a row is about ----------------------------------------------------------------


def assignments_of(measured: Round) -> QuerySet[Assignment]:
    return measured.assignments.order_by("annotator__username", "conversation__external_id")


def digests(measured: Round) -> dict[int, str]:
    """By conversation, what names its submitted answers and the rules; "" without any."""
    project = measured.project
    depends_on = [VERSION, MINILM_ID, project.match_threshold, project.actor_synonyms]
    rules = canonical_json(depends_on).encode()
    rows = measured.assignments.order_by("conversation", "annotator", "pk").values_list(
        *("conversation", "annotator__username", "annotation__status", "annotation"),
        *("annotation__version", "annotation__guideline", "first_pass"),
    )
    named = {}
    for pk, of_conversation in groupby(rows.iterator(), key=itemgetter(0)):
        parts = [
            f"{annotator} {answer}"
            for _, annotator, status, *answer in of_conversation
            if status == Annotation.Status.SUBMITTED
        ]
        joined = "\n".join(parts).encode()
        named[pk] = hashlib.sha256(rules + joined).hexdigest() if parts else ""
    return named


def digest_of(named: Mapping[int, str]) -> str:
    """Names all answers of a round: handing out and drafts change no figure."""
    digest = hashlib.sha256()
    for pk, answers in named.items():
        if answers:
            digest.update(f"{pk} {answers}\n".encode())
    return digest.hexdigest()


# --- measuring what is new -----------------------------------------------------------------------


def catch_up(
    measured: Round, wanted: Collection[tuple[str, str]], *, ruler: Callable[[], Ruler]
) -> str:
    """Measure each conversation that has other answers than before; what names all answers.

    ``wanted`` are layers, each with an origin of labels (empty: all).
    """
    named = digests(measured)
    positions = dict(measured.places.values_list("conversation", "position"))
    for layer, origin in wanted:
        stored = dict(
            rows_of(measured, layer, origin).values_list("conversation", "answers_sha256")
        )
        due = [pk for pk, answers in named.items() if stored.get(pk, "") != answers]
        for keys in batches(due, AT_ONCE):
            rows = _measure(measured, layer, origin, keys, ruler())
            for row in rows:
                row.answers_sha256 = named[row.conversation_id]
                row.position = positions.get(row.conversation_id, 0)
            _store(measured, layer, origin, keys, rows)
            ruler().forget()
    return digest_of(named)


@transactions.atomic
def _store(
    measured: Round,
    layer: str,
    origin: str,
    keys: Sequence[int],
    rows: Sequence[ConversationAgreement],
) -> None:
    """Replaces the rows of these conversations; another worker may be storing the same."""
    without = set(keys) - {row.conversation_id for row in rows}
    rows_of(measured, layer, origin).filter(conversation__in=without).delete()
    names = [field.name for field in ConversationAgreement._meta.fields if field.name != "id"]
    ConversationAgreement.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=NAMED_BY,
        update_fields=[name for name in names if name not in NAMED_BY],
    )


def rows_of(measured: Round, layer: str, origin: str = "") -> Any:
    return measured.agreed_conversations.filter(layer=layer, selection=origin)


class _Submitted(NamedTuple):
    """What one person submitted, and the layers that they left open."""

    payload: Payload
    unanswered: frozenset[str]


def _measure(
    measured: Round, layer: str, origin: str, keys: Sequence[int], ruler: Ruler
) -> list[ConversationAgreement]:
    """What each of these conversations adds; nobody's answer to it adds nothing."""
    project = measured.project
    rules = Rules(ruler, synonyms_of(project), project.match_threshold)
    submitted: dict[int, dict[str, _Submitted]] = {}
    rows = assignments_of(measured).filter(
        conversation__in=keys, annotation__status=Annotation.Status.SUBMITTED
    )
    for pk, who, payload, unanswered in rows.values_list(
        *("conversation", "annotator__username", "annotation__payload", "annotation__unanswered")
    ):
        answer = _Submitted(payload, frozenset(unanswered or ()))
        submitted.setdefault(pk, {})[who] = answer
    unit = LAYERS[layer].units
    matched = [layer] if LAYERS[layer].has_records else []
    matched += LAYERS[layer].needs if isinstance(unit, Judged) else ()
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
        _row(measured, layer, origin, conversation, submitted[conversation.pk], rules)
        for conversation in Conversation.objects.filter(pk__in=submitted)
    ]


def _row(
    measured: Round,
    layer: str,
    origin: str,
    conversation: Conversation,
    submitted: Mapping[str, _Submitted],
    rules: Rules,
) -> ConversationAgreement:
    name, size = conversation.external_id, conversation.n_messages
    own = _narrowed(layer, submitted, origin)
    found = _compared(layer, own, size, rules)
    units = found.units
    if units and origin:
        everything = _compared(layer, _narrowed(layer, submitted, ""), size, rules).units
        units = own_units(units, everything) if everything else None
    if origin:  # the discussion is of all labels
        splits = []
    elif units is None:
        splits = label_splits(layer, name, own, rules)
    else:
        splits = splits_of(layer, name, own, units, found.base)
        if LAYERS[layer].has_records:
            matched = {people: each.matches for people, each in found.records.items()}
            splits = with_candidates(layer, name, own, units, found.base, splits, matched)
    return ConversationAgreement(
        round=measured,
        layer=layer,
        selection=origin,
        conversation=conversation,
        annotators=list(own),
        is_used=_is_used(layer, own),
        units=units._asdict() if units else None,
        pairs=[[a, b, *counts] for (a, b), counts in found.pairs.items()],
        splits=[split.as_json() for split in splits],
        n_splits=len(splits),
    )


def _is_used(layer: str, payloads: Mapping[str, Payload]) -> bool:
    return any(payload.get(LAYERS[layer].key) for payload in payloads.values())


def _narrowed(layer: str, submitted: Mapping[str, _Submitted], origin: str) -> dict[str, Payload]:
    return {
        who: typed(layer, answer.payload) if origin else answer.payload
        for who, answer in submitted.items()
        if layer not in answer.unanswered
    }


class _Compared(NamedTuple):
    """Payloads compared on a layer; ``units`` None where it has none."""

    units: Units | None
    base: Base
    records: dict[tuple[str, str], Counted]
    pairs: dict[tuple[str, str], PairCounts]


def _compared(layer: str, payloads: Mapping[str, Payload], size: int, rules: Rules) -> _Compared:
    labels = {who: payload.get(LAYERS[layer].key, []) for who, payload in payloads.items()}
    of_two = list(combinations(sorted(labels), 2))
    records = {}
    if LAYERS[layer].has_records:
        records = {(a, b): counted(labels[a], labels[b], rules) for a, b in of_two}
    pairs = {people: each.counts for people, each in records.items()}
    if not LAYERS[layer].has_units:
        pairs = {(a, b): event_counts(labels[a], labels[b]) for a, b in of_two}
        return _Compared(None, [], records, pairs)
    base: Base = []
    if not LAYERS[layer].by_message:
        base = judged(layer, payloads, rules)
    found = units(layer, payloads, message_count=size, base=base)
    return _Compared(found, base, records, pairs)


# --- reading -------------------------------------------------------------------------------------


def each(measured: Round, layer: str, origin: str = "") -> list[Added]:
    """What every conversation adds, in order of its name."""
    rows = rows_of(measured, layer, origin).order_by()
    columns = ("conversation__external_id", "annotators", "units", "pairs", "is_used")
    everything = []
    for name, annotators, own, pairs, is_used in rows.values_list(*columns).iterator():
        if not annotators:
            continue
        labels = {who: own["labels"][who] for who in annotators} if own else {}
        names = own["names"] if own else ()
        counts = {(a, b): _counted(*values) for a, b, *values in pairs}
        everything.append(Added(name, annotators, labels, names, counts, is_used))
    return sorted(everything, key=lambda added: added.name)


def _counted(
    matches: int, left: int, right: int, fields: Sequence[Sequence[float]] = ()
) -> PairCounts:
    return PairCounts(matches, left, right, tuple(map(tuple, fields)))


def splits_in(
    measured: Round, layer: str, *, among: Collection[int] | None = None
) -> Iterator[tuple[int, Split]]:
    """With their conversation, the units that were labeled differently, in the order of the round.

    ``among`` narrows it to these conversations.
    """
    rows = rows_of(measured, layer).filter(n_splits__gt=0).order_by("position", "conversation")
    if among is not None:
        rows = rows.filter(conversation__in=among)
    for conversation, stored in rows.values_list("conversation", "splits"):
        for split in stored:
            yield conversation, Split.from_json(split)
