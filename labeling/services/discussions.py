"""What the annotators of a closed round marked differently, and what is said and decided about it.

A disagreement is found from the labels, so there is nothing to keep in step: a row exists from
the first remark or decision on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from labeling.domain.disagreements import Split, letters, splits
from labeling.domain.errors import RuleError
from labeling.models import Comment, Conversation, Disagreement, Round
from labeling.services import agreement, events
from labeling.services.comments import EmptyComment

LAYER = "extraction"


class RoundOpen(RuleError):
    """An open round is blind or unfinished: there is nothing to discuss yet."""

    code = "round_open"


class NoDisagreement(RuleError):
    """The annotators marked this message alike, or it does not exist."""

    code = "no_disagreement"


class Place(NamedTuple):
    """Where a disagreement is: the key of its conversation and the index of its message."""

    conversation: int
    unit: int

    @classmethod
    def parse(cls, text: str) -> Place | None:
        """From ``12-3``, as it stands in addresses and forms."""
        conversation, _, unit = text.partition("-")
        if not all(part.isdecimal() and len(part) < 10 for part in (conversation, unit)):
            return None
        return cls(int(conversation), int(unit))

    def __str__(self) -> str:
        return f"{self.conversation}-{self.unit}"


def found_in(discussed: Round) -> dict[Place, Split]:
    """The disagreements of a round in the order in which it handed out its conversations."""
    if discussed.state == Round.State.OPEN:
        raise RoundOpen("This round is open: its disagreements are discussed when it has closed.")
    keys = dict(discussed.places.values_list("conversation__external_id", "conversation"))
    if LAYER not in discussed.project.layers:
        return {}
    given = splits(agreement.ratings(discussed, LAYER), list(keys))
    return {Place(keys[one.conversation], one.unit): one for one in given}


def letters_of(discussed: Round) -> dict[str, str]:
    """A letter for each annotator; nobody can tell from it who it is, and it stays the same."""
    names = discussed.assignments.order_by().values_list("annotator__username", flat=True)
    return letters({name: _secret(discussed, name) for name in names.distinct()})


def _secret(discussed: Round, name: str) -> str:
    return salted_hmac("labeling.discussions", f"{discussed.pk}:{name}").hexdigest()


def blind_again(discussed: Round, user: Any) -> Round | None:
    """The open calibration round in which the user labels some of these conversations again.

    Until it closes the user must not see what others said about them before.
    """
    return (
        Round.objects.filter(
            project=discussed.project_id,
            kind=Round.Kind.CALIBRATION,
            state=Round.State.OPEN,
            assignments__annotator=user,
            assignments__conversation__in=discussed.conversations.values("pk"),
        )
        .exclude(pk=discussed.pk)
        .order_by("number")
        .first()
    )


@transaction.atomic
def say(discussed: Round, place: Place, *, body: str, by: User) -> Comment:
    """Add a remark to the thread of a disagreement. The same one sent twice is one remark."""
    body = body.strip()
    if not body:
        raise EmptyComment("Write something first.")
    row = _row(discussed, place)
    last = row.comments.last()
    if last and (last.author, last.body) == (by, body):
        return last
    added = Comment.objects.create(
        project=discussed.project,
        conversation=row.conversation,
        round=discussed,
        disagreement=row,
        message_index=place.unit,
        body=body,
        author=by,
    )
    events.record("disagreement.discussed", row, project=discussed.project, actor=by, **_named(row))
    return added


@transaction.atomic
def decide(
    discussed: Round, place: Place, *, outcome: str, note: str = "", by: User
) -> Disagreement:
    """Say what came of a disagreement; an empty outcome opens it again. The last word counts."""
    row = _row(discussed, place)
    row.outcome, row.note = outcome, note.strip()
    row.decided_by, row.decided_at = (by, timezone.now()) if outcome else (None, None)
    row.save(update_fields=["outcome", "note", "decided_by", "decided_at"])
    if outcome:
        words = row.get_outcome_display()
        events.record(
            "disagreement.decided",
            row,
            project=discussed.project,
            actor=by,
            outcome=words,
            **_named(row),
        )
    else:
        events.record(
            "disagreement.reopened", row, project=discussed.project, actor=by, **_named(row)
        )
    return row


@transaction.atomic
def hide_names(discussed: Round, *, hidden: bool, by: User) -> None:
    """Show letters instead of names to everybody who reads the discussion."""
    changed = Round.objects.filter(pk=discussed.pk, anonymous=not hidden).update(anonymous=hidden)
    if changed and hidden:
        events.record("round.names_hidden", discussed, project=discussed.project, actor=by)
    elif changed:
        events.record("round.names_shown", discussed, project=discussed.project, actor=by)


def _row(discussed: Round, place: Place) -> Disagreement:
    """The stored row of a disagreement, made on first use."""
    if place not in found_in(discussed):
        raise NoDisagreement("The annotators marked this message alike: there is nothing to say.")
    row, _ = Disagreement.objects.get_or_create(
        round=discussed, conversation_id=place.conversation, layer=LAYER, unit=str(place.unit)
    )
    return Disagreement.objects.select_for_update().select_related("conversation").get(pk=row.pk)


def _named(row: Disagreement) -> dict[str, Any]:
    conversation: Conversation = row.conversation
    return {"conversation": conversation.external_id, "message": int(row.unit)}
