"""Which split an imported conversation gets: that of the same conversation, whatever it is called.

Files, ``--split`` and the numbers in the names of published chats propose a split. What is stored
already decides: a copy of a test conversation is test, in every project and under every name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.fingerprints import Fingerprint, is_same
from labeling.models import Conversation, GoldItem, GoldRelease, Project
from labeling.services import near_duplicates
from labeling.services.exchange import staging


class NotFingerprinted(RuleError):
    """Copies of what is stored cannot be recognised yet: a worker has to compute fingerprints."""

    code = "not_fingerprinted"


class Proposal(NamedTuple):
    """A conversation on its way in. ``is_demanded``: only in this split, or not at all."""

    name: str
    sketch: Fingerprint
    split: str
    is_demanded: bool
    is_synthetic: bool
    shared: staging.Shared


class Decision(NamedTuple):
    """``why`` is given where something else than the proposal decided, or refused it."""

    split: str
    why: Fact | None = None
    is_refused: bool = False


class _Copy(NamedTuple):
    """Another conversation with the same text, and how the reader may have it named."""

    split: str
    is_synthetic: bool
    title: str | Fact


def require_fingerprints() -> None:
    """For requests, in which nothing is computed; commands and workers catch up instead."""
    if near_duplicates.are_missing():
        raise NotFingerprinted("import.not_fingerprinted")


def decide(
    proposals: Sequence[Proposal],
    *,
    project: Project,
    actor: Any,
    before: Sequence[Sequence[staging.Copy]],
    given: Mapping[int, str],
) -> list[Decision]:
    """The split of each, by what is stored and by those before it.

    ``before`` are candidates for copies of each that were decided earlier, ``given`` splits that
    stored conversations will have.

    Two synthetic conversations decide nothing about each other: they share what their templates
    say. The freeze names such copies (:mod:`labeling.services.near_duplicates` finds them).
    """
    found = near_duplicates.find([proposal.sketch for proposal in proposals])
    others = {match.conversation for matches in found for match in matches}
    stored = _copies(others, project, actor, given)
    decided = _Decided()
    decisions = []
    for proposal, matches, earlier in zip(proposals, found, before, strict=True):
        copies = [stored[match.conversation] for match in matches if match.conversation in stored]
        decision = _decision(
            proposal.split,
            proposal.is_synthetic,
            [*copies, *_same(proposal, earlier), *decided.copies_of(proposal)],
            is_demanded=proposal.is_demanded,
        )
        decided.add(proposal, decision)
        decisions.append(decision)
    return decisions


def _same(proposal: Proposal, earlier: Iterable[staging.Copy]) -> Iterator[_Copy]:
    return (
        _Copy(copy.split, copy.is_synthetic, copy.id)
        for copy in earlier
        if is_same(proposal.sketch, copy.sketch)
    )


def refusals_to_give(
    wishes: Mapping[int, str], *, project: Project, actor: Any, given: Mapping[int, str]
) -> dict[int, Fact]:
    """Why stored conversations without a split cannot get one now, by their ids."""
    refusals = {}
    found = dict(near_duplicates.of_conversations(wishes))
    others = {match.conversation for matches in found.values() for match in matches}
    stored = _copies({*wishes, *others}, project, actor, given)
    for pk, matches in found.items():
        copies = [stored[match.conversation] for match in matches if match.conversation in stored]
        decision = _decision(wishes[pk], stored[pk].is_synthetic, copies, is_demanded=True)
        if decision.is_refused and decision.why:
            refusals[pk] = decision.why
    return refusals | are_frozen(wishes)


def are_frozen(conversations: Iterable[int]) -> dict[int, Fact]:
    """Those whose split a release states."""
    refusals = {}
    for part in batches(conversations, 500):
        frozen = GoldItem.objects.filter(conversation__in=part).select_related("release")
        documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
        for item in frozen.defer("canonical", *documents).order_by("pk"):
            why = Fact("import.split_is_frozen", release=str(item.release))
            refusals[item.conversation_id] = why
    return refusals


def is_held_by_copies(conversation: Conversation) -> bool:
    """Whether the same conversation is stored elsewhere with the same split, and with no other."""
    ((_, matches),) = near_duplicates.of_conversations([conversation.pk])
    rows = Conversation.objects.filter(pk__in=[match.conversation for match in matches])
    return set(rows.exclude(split="").values_list("split", flat=True)) == {conversation.split}


def _decision(
    wanted: str, is_synthetic: bool, copies: Iterable[_Copy], *, is_demanded: bool
) -> Decision:
    deciding: dict[str, _Copy] = {}
    for copy in copies:  # the most alike is the one that is named
        if copy.split and not (copy.is_synthetic and is_synthetic):
            deciding.setdefault(copy.split, copy)
    if not deciding or set(deciding) == {wanted}:
        return Decision(wanted)
    named = [Fact("import.copy", same=each.title, split=each.split) for each in deciding.values()]
    if len(deciding) > 1:
        return Decision("", Fact("import.copies_in_two_splits", copies=named), is_refused=True)
    ((split, copy),) = deciding.items()
    if wanted and is_demanded:
        why = Fact("import.copy_of_other_split", copy=named[0], wanted=wanted)
        return Decision("", why, is_refused=True)
    return Decision(split, Fact("import.inherits_split", same=copy.title, split=split))


def _copies(
    conversations: Collection[int], project: Project, actor: Any, given: Mapping[int, str]
) -> dict[int, _Copy]:
    """What may be named of them: a stranger's project stays unnamed."""
    if not conversations:
        return {}
    rows = Conversation.objects.filter(pk__in=conversations)
    named = rows if actor is None else rows.visible_to(actor)
    visible = set(named.values_list("pk", flat=True))
    columns = ("pk", "split", "origin", "external_id", "project_id", "project__slug")
    copies = {}
    for pk, split, origin, name, project_id, slug in rows.values_list(*columns):
        title = (
            name if project_id == project.pk else Fact("import.of_project", name=name, project=slug)
        )
        shown = title if pk in visible else Fact("import.of_a_project")
        split = given.get(pk, split)
        copies[pk] = _Copy(split, origin == Conversation.Origin.SYNTHETIC, shown)
    return copies


class _Decided:
    """The conversations of one batch that have been decided, found by the keys of their text."""

    def __init__(self) -> None:
        self._by_key: dict[int, list[int]] = defaultdict(list)
        self._entries: list[tuple[Fingerprint, _Copy]] = []

    def add(self, proposal: Proposal, decision: Decision) -> None:
        if decision.is_refused:
            return
        for key in proposal.shared.keys:
            self._by_key[key].append(len(self._entries))
        copy = _Copy(decision.split, proposal.is_synthetic, proposal.name)
        self._entries.append((proposal.sketch, copy))

    def copies_of(self, proposal: Proposal) -> Iterator[_Copy]:
        """Of each split the first is enough."""
        positions = dict.fromkeys(
            position for value in proposal.shared.asked for position in self._by_key.get(value, ())
        )
        splits: set[str] = set()
        for position in sorted(positions):
            other, copy = self._entries[position]
            if copy.split not in splits and is_same(proposal.sketch, other):
                splits.add(copy.split)
                yield copy
