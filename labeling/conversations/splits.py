"""Which split an imported conversation gets: that of the same conversation, whatever it is called.

Files, ``--split`` and the numbers in the names of published chats propose a split. What is stored
already decides: a copy of a test conversation is test, in every project and under every name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from labeling.conversations import near_duplicates
from labeling.domain.batches import batches
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.models import Conversation, GoldItem, GoldRelease, Project


class Decision(NamedTuple):
    """``why`` is given where something else than the proposal decided, or refused it."""

    split: str
    why: Fact | None = None
    is_refused: bool = False


class Copy(NamedTuple):
    """Another conversation with the same text, and how the reader may have it named."""

    split: str
    is_synthetic: bool
    title: str | Fact


def decide(
    wanted: str, copies: Iterable[Copy], *, is_synthetic: bool, is_demanded: bool
) -> Decision:
    """The split of a conversation by its copies, the most alike first.

    ``is_demanded``: only in this split, or not at all. Two synthetic conversations decide nothing
    about each other: they share what their templates say. The freeze names such copies.
    """
    deciding: dict[str, Copy] = {}
    for copy in copies:  # the most alike is the one that is named
        if copy.split and not (copy.is_synthetic and is_synthetic):
            deciding.setdefault(copy.split, copy)
    if not deciding or set(deciding) == {wanted}:
        return Decision(wanted)
    named = [
        Fact(msgid("{same} ({split})"), same=each.title, split=each.split)
        for each in deciding.values()
    ]
    if len(deciding) > 1:
        undecided = msgid(
            "is the same conversation as {copies:,}: whether it may be trained on is undecided"
        )
        return Decision("", Fact(undecided, copies=named), is_refused=True)
    ((split, copy),) = deciding.items()
    if wanted and is_demanded:
        other = msgid("is the same conversation as {copy}, so it cannot be {wanted}")
        return Decision("", Fact(other, copy=named[0], wanted=wanted), is_refused=True)
    same = msgid("is {split}: it is the same conversation as {same}")
    return Decision(split, Fact(same, same=copy.title, split=split))


def refusals_to_give(
    wishes: Mapping[int, str], *, project: Project, actor: Any, given: Mapping[int, str]
) -> dict[int, Fact]:
    """Why stored conversations without a split cannot get one now, by their ids."""
    refusals = {}
    found = dict(near_duplicates.of_conversations(wishes))
    others = {match.conversation for matches in found.values() for match in matches}
    stored = stored_copies({*wishes, *others}, project, actor, given)
    for pk, matches in found.items():
        copies = [stored[match.conversation] for match in matches if match.conversation in stored]
        is_synthetic = stored[pk].is_synthetic
        decision = decide(wishes[pk], copies, is_synthetic=is_synthetic, is_demanded=True)
        if decision.is_refused and decision.why:
            refusals[pk] = decision.why
    for part in batches(wishes, 500):
        frozen = GoldItem.objects.filter(conversation__in=part).select_related("release")
        documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
        for item in frozen.defer("canonical", *documents).order_by("pk"):
            why = Fact(
                msgid("is in {release} without a split, so it cannot get one now"),
                release=str(item.release),
            )
            refusals[item.conversation_id] = why
    return refusals


def is_held_by_copies(conversation: Conversation) -> bool:
    """Whether the same conversation is stored elsewhere with the same split, and with no other."""
    ((_, matches),) = near_duplicates.of_conversations([conversation.pk])
    rows = Conversation.objects.filter(pk__in=[match.conversation for match in matches])
    return set(rows.exclude(split="").values_list("split", flat=True)) == {conversation.split}


def stored_copies(
    conversations: Collection[int], project: Project, actor: Any, given: Mapping[int, str]
) -> dict[int, Copy]:
    """What may be named of them: a stranger's project stays unnamed.

    ``given`` has splits that stored conversations will have.
    """
    if not conversations:
        return {}
    rows = Conversation.objects.filter(pk__in=conversations)
    named = rows if actor is None else rows.visible_to(actor)
    visible = set(named.values_list("pk", flat=True))
    columns = ("pk", "split", "origin", "external_id", "project_id", "project__slug")
    copies = {}
    for pk, split, origin, name, project_id, slug in rows.values_list(*columns):
        title = (
            name
            if project_id == project.pk
            else Fact(msgid("{name} of project {project}"), name=name, project=slug)
        )
        shown = title if pk in visible else Fact(msgid("one of another project"))
        is_synthetic = origin == Conversation.Origin.SYNTHETIC
        copies[pk] = Copy(given.get(pk, split), is_synthetic, shown)
    return copies
