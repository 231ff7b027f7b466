"""Which conversations a round gets: those named, those of a round again, or some that are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from labeling.domain.planning import shuffled
from labeling.models import Conversation, Project
from labeling.work.rounds import RoundImpossible, unplanned

MOST_NAMED = 10


def chosen(
    project: Project,
    *,
    conversations: Sequence[str] | None = None,
    same_as: int | None = None,
    number: int | None = None,
    seed: int = 0,
    split: str = "",
    domain: str = "",
) -> list[Conversation]:
    """``number`` are drawn by the seed from those in no round yet, unless others are named."""
    wanted = {"split": split, "domain": domain}
    only = {name: value for name, value in wanted.items() if value}
    if conversations is not None:
        return _named(project.conversations.filter(**only), conversations)
    if same_as is not None:
        return list(project.conversations.filter(rounds__number=same_as, **only))
    free = {row.pk: row for row in unplanned(project).filter(**only)}
    return [free[pk] for pk in shuffled(list(free), seed=seed)[:number]]


def _named(rows: QuerySet[Conversation], names: Sequence[str]) -> list[Conversation]:
    wanted = list(dict.fromkeys(names))
    known: dict[str, Conversation] = {}
    for start in range(0, len(wanted), 1000):
        part = rows.filter(external_id__in=wanted[start : start + 1000])
        known |= {row.external_id: row for row in part}
    missing = [name for name in wanted if name not in known]
    if missing:
        raise RoundImpossible("round.unknown_conversations", names=missing[:MOST_NAMED])
    return [known[name] for name in wanted]
