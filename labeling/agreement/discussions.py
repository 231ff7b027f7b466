"""Disagreements of a closed round: what the annotators say about them, and what is decided.

A disagreement is found from the labels, so nothing has to be kept in step: a row exists from
the first remark or decision on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import dropwhile
from typing import NamedTuple, NotRequired, TypedDict

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from labeling.agreement import agreement, answers, conversations, measurements
from labeling.agreement.rules.disagreements import Split, letters
from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.models import Comment, Conversation, Disagreement, Round
from labeling.schema import DEFAULT_LAYER, LAYERS
from labeling.work.comments import EmptyComment


class RoundOpen(RuleError):
    """An open round is blind or unfinished: there is nothing to discuss yet."""

    code = "round_open"


class NoDisagreement(RuleError):
    """The annotators marked this message alike, or it does not exist."""

    code = "no_disagreement"


class UnitPlace(NamedTuple):
    """Where a disagreement is: its conversation's key, the position of its unit, its layer.

    The units of requirements, evidence and narratives are the messages.
    """

    conversation: int
    unit: int
    layer: str = DEFAULT_LAYER

    @classmethod
    def parse(cls, text: str) -> UnitPlace | None:
        """From ``12-3`` or ``12-3-validation``, as in addresses and forms."""
        conversation, _, rest = text.partition("-")
        unit, _, layer = rest.partition("-")
        if not all(part.isdecimal() and len(part) < 10 for part in (conversation, unit)):
            return None
        if layer and layer not in LAYERS:
            return None
        return cls(int(conversation), int(unit), layer or DEFAULT_LAYER)

    def __str__(self) -> str:
        layer = "" if self.layer == DEFAULT_LAYER else f"-{self.layer}"
        return f"{self.conversation}-{self.unit}{layer}"


def found_in(
    discussed: Round, layer: str = "", *, among: Collection[int] | None = None
) -> dict[UnitPlace, Split]:
    """The disagreements of a round on one layer (default: the project's first).

    In the order in which the round handed out its conversations; ``among`` narrows it to these.
    Raises ``NotMeasured`` if a worker has to find them first.
    """
    return dict(walk(discussed, layer, among=among))


def walk(
    discussed: Round,
    layer: str = "",
    *,
    after: UnitPlace | None = None,
    among: Collection[int] | None = None,
) -> Iterator[tuple[UnitPlace, Split]]:
    """The same one by one: the first ones cost the same in any round.

    Those behind ``after``, if it is one of the round.
    """
    if discussed.state == Round.State.OPEN:
        raise RoundOpen("discussion.round_open")
    layer = layer or agreement.first_layer(discussed.project)
    if layer not in discussed.project.layers:
        return iter(())
    measurements.refuse_unmeasured(discussed, layer)
    place = conversations.place_of(discussed, layer, after.conversation) if after else None
    splits = conversations.splits_in(
        discussed, layer, among=among, since=place or conversations.START
    )
    everything = ((UnitPlace(pk, split.unit, layer), split) for pk, split in splits)
    if after is None or place is None:
        return everything
    return dropwhile(lambda each: _is_not_behind(each[0], after), everything)


def _is_not_behind(place: UnitPlace, after: UnitPlace) -> bool:
    return place.conversation == after.conversation and place.unit <= after.unit


def number_of(discussed: Round, place: UnitPlace) -> int:
    """Which of the disagreements on its layer it is, counted from 1."""
    at = conversations.place_of(discussed, place.layer, place.conversation)
    own = found_in(discussed, place.layer, among=[place.conversation])
    earlier = conversations.number_before(discussed, place.layer, at) if at else 0
    return earlier + sum(other.unit <= place.unit for other in own)


class Progress(TypedDict):
    """The disagreements of a round, and how many of them have been spoken of and decided."""

    total: int
    discussed: int
    decided: int


def progress_on(discussed: Round, layer: str) -> Progress:
    """On one layer; ``NotMeasured`` if a worker has to find them first."""
    measured = measurements.read(discussed, layer)
    if measured is None:
        raise measurements.NotMeasured("agreement.not_measured")
    rows = discussed.disagreements.filter(layer=layer)
    outcomes = {
        UnitPlace(pk, int(unit), layer): outcome
        for pk, unit, outcome in rows.values_list("conversation", "unit", "outcome")
    }
    known = found_in(discussed, layer, among={place.conversation for place in outcomes})
    return {
        "total": measured.n_splits,
        "discussed": sum(place in known for place in outcomes),
        "decided": sum(bool(outcome) and place in known for place, outcome in outcomes.items()),
    }


def split_at(discussed: Round, place: UnitPlace) -> Split | None:
    return found_in(discussed, place.layer, among=[place.conversation]).get(place)


def split_of(row: Disagreement) -> Split | None:
    """What a stored disagreement is about."""
    return split_at(row.round, UnitPlace(row.conversation_id, int(row.unit), row.layer))


def letters_of(discussed: Round) -> dict[str, str]:
    """A letter for each annotator that does not reveal who it is, and stays the same."""
    names = answers.annotators_of(discussed)
    return letters({name: _secret(discussed, name) for name in names})


def _secret(discussed: Round, name: str) -> str:
    return salted_hmac("labeling.discussions", f"{discussed.pk}:{name}").hexdigest()


@transaction.atomic
def say(discussed: Round, place: UnitPlace, *, body: str, by: User) -> Comment:
    """Add a remark to the thread of a disagreement. The same one sent twice is one remark."""
    body = reason_in(body)
    if not body:
        raise EmptyComment("comment.empty")
    row, split = _row(discussed, place)
    last = row.comments.last()
    if last and (last.author, last.body) == (by, body):
        return last
    added = Comment.objects.create(
        project=discussed.project,
        conversation=row.conversation,
        round=discussed,
        disagreement=row,
        message_index=split.message,
        body=body,
        author=by,
    )
    named = _named(row, split)
    events.record("disagreement.discussed", row, project=discussed.project, actor=by, **named)
    return added


@transaction.atomic
def decide(
    discussed: Round, place: UnitPlace, *, outcome: str, note: str = "", by: User
) -> Disagreement:
    """Say what came of a disagreement; an empty outcome opens it again. The last word counts."""
    row, split = _row(discussed, place)
    named = _named(row, split)
    row.outcome, row.note = outcome, reason_in(note)
    row.decided_by, row.decided_at = (by, timezone.now()) if outcome else (None, None)
    row.save(update_fields=["outcome", "note", "decided_by", "decided_at"])
    if outcome:
        events.record(
            "disagreement.decided",
            row,
            project=discussed.project,
            actor=by,
            outcome=outcome,
            **named,
        )
    else:
        events.record("disagreement.reopened", row, project=discussed.project, actor=by, **named)
    return row


@transaction.atomic
def hide_names(discussed: Round, *, hidden: bool, by: User) -> None:
    """Show letters instead of names to everybody who reads the discussion."""
    changed = Round.objects.filter(pk=discussed.pk, anonymous=not hidden).update(anonymous=hidden)
    if changed and hidden:
        events.record("round.names_hidden", discussed, project=discussed.project, actor=by)
    elif changed:
        events.record("round.names_shown", discussed, project=discussed.project, actor=by)


def _row(discussed: Round, place: UnitPlace) -> tuple[Disagreement, Split]:
    """The stored row of a disagreement, created on first use."""
    split = split_at(discussed, place)
    if split is None:
        raise NoDisagreement("discussion.no_disagreement")
    row, _ = Disagreement.objects.get_or_create(
        round=discussed,
        conversation_id=place.conversation,
        layer=place.layer,
        unit=str(place.unit),
    )
    stored = Disagreement.objects.select_for_update().select_related("conversation")
    return stored.get(pk=row.pk), split


class NamedSplit(TypedDict):
    """How an event names what people disagreed on."""

    conversation: str
    message: int | None
    layer: str
    about: NotRequired[str]


def _named(row: Disagreement, split: Split) -> NamedSplit:
    conversation: Conversation = row.conversation
    named: NamedSplit = {
        "conversation": conversation.external_id,
        "message": split.message,
        "layer": row.layer,
    }
    if split.name:
        named["about"] = split.name
    return named
