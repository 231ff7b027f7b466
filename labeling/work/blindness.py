"""Who labels what blind: one rule for every place that shows labels of others."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from labeling.models import Conversation, Round


def again(user: Any) -> QuerySet[Conversation]:
    """The conversations of open calibration rounds that the user labels in them.

    Until such a round closes, the user must not see what others have ever labeled there: not in
    an earlier round, not as a decision, not frozen as gold.
    """
    mine = Round.objects.blind().filter(assignments__annotator=user)
    return Conversation.objects.filter(
        assignments__round__in=mine, assignments__annotator=user
    ).order_by()


def round_again(user: Any, conversations: QuerySet[Conversation]) -> Round | None:
    """The open calibration round in which the user labels some of these conversations."""
    asked = Round.objects.blind().filter(
        assignments__annotator=user, assignments__conversation__in=conversations.values("pk")
    )
    return asked.order_by("pk").first()


def refuse(user: Any, conversations: QuerySet[Conversation]) -> None:
    """Raise if the user may not see labels of others on these conversations now."""
    if round_ := round_again(user, conversations):
        raise PermissionDenied(
            _(
                "You are labeling these conversations blind in round {number}. What others have "
                "labeled there opens for you when that round has closed."
            ).format(number=round_.number)
        )
