"""What may be wrong with labels that are to become gold, told before they are frozen.

Each rule looks at one item, or gathers from item to item what can only be told of all of them.
Findings hold no word of a message or of a label: who reads them may not be allowed to read those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labeling.domain.canonical import canonical_json
from labeling.domain.facts import Fact, Value
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import Decided, GoldContent
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.sameness import NAMES
from labeling.schema.targets import END_TO_END

# --- the kinds ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LintKind:
    """One kind of finding, and what ends it.

    ``stays_as_published``: gold that was published elsewhere keeps it. Who imports it can change
    neither its texts nor its labels, so an import states these findings and does not stop.
    """

    name: str
    title: str
    advice: str
    stays_as_published: bool = False


_KINDS = (
    LintKind(
        "doubled",
        msgid("The same label twice in one conversation"),
        msgid("Decide the conversation again in adjudication and drop one of the two."),
        stays_as_published=True,
    ),
    LintKind(
        "empty",
        msgid("No labels, and nobody said that there is nothing"),
        msgid("Have somebody answer “nothing here”, or leave the conversation out."),
        stays_as_published=True,
    ),
    LintKind(
        "duplicate",
        msgid("The same conversation twice"),
        msgid("Remove one of the two from the import; a copy counts twice in every figure."),
    ),
    LintKind(
        "near_duplicate",
        msgid("Nearly the same conversation twice"),
        msgid("Remove one of the two from the import, or accept the pair with a reason."),
        stays_as_published=True,
    ),
    LintKind(
        "split_twice",
        msgid("One conversation in two splits"),
        msgid("Give both copies the same split; otherwise test items are known from training."),
    ),
    LintKind(
        "speaker_in_splits",
        msgid("One speaker in two splits"),
        msgid("Put all conversations of a speaker in one split, or accept it with a reason."),
        stays_as_published=True,
    ),
    LintKind(
        "superseded",
        msgid("Labels under superseded guidelines"),
        msgid("Check them on the worklist of the guidelines, or have them labeled again."),
    ),
    LintKind(
        "open_dispute",
        msgid("Reopened items"),
        msgid("Answer, decide or withdraw them on the page of reopened items."),
    ),
    LintKind(
        "personal_data",
        msgid("Personal data"),
        msgid("Replace it in the source and import the conversation under another id."),
    ),
)
KINDS = {kind.name: kind for kind in _KINDS}

TITLES = {kind.name: kind.title for kind in _KINDS} | {
    "copy_elsewhere": msgid("A conversation that another project has, too"),
    "dangling": msgid("Labels that refer to something missing"),
    "open_comment": msgid("Unresolved comments"),
    "small_split": msgid("Too few conversations for the difference that was declared"),
    "target_missed": msgid("Targets that are not met"),
}
"""With those of kinds that earlier releases state."""


class Finding(NamedTuple):
    """Something that is wrong, or may be. ``conversation`` is where to look, if it is one place."""

    kind: str
    fact: Fact
    conversation: int | None = None


# --- one item -------------------------------------------------------------------------------------


class PersonalPiece(NamedTuple):
    """Personal data in a text: its place in code points, and what it is (``mail``, ``iban`` …)."""

    start: int
    end: int
    what: str


PersonalData = Callable[[str], Sequence[PersonalPiece]]
"""Finds only what can be validated: a year, a price or an order number is never among it."""


class LintItem(NamedTuple):
    """An item that is to be frozen, and the conversation it is about."""

    conversation: int
    content: GoldContent

    @property
    def name(self) -> str:
        return self.content["item_id"]

    @property
    def split(self) -> str:
        return self.content["split"]

    def finding(self, kind: str, code: str, **values: Value) -> Finding:
        return Finding(kind, Fact(code, item=self.name, **values), self.conversation)


def item_findings(item: LintItem, personal_data: PersonalData) -> Iterator[Finding]:
    """What can be told from the item alone."""
    yield from _doubled(item)
    yield from _empty(item)
    yield from _personal(item, personal_data)


def _layers_of(content: GoldContent) -> Iterator[tuple[str, list[StoredLabel]]]:
    for name, layer in LAYERS.items():
        if layer.key in content["gold"]:
            yield name, content["gold"][layer.key]


def _doubled(item: LintItem) -> Iterator[Finding]:
    for layer, labels in _layers_of(item.content):
        first: dict[str, int] = {}
        for number, label in enumerate(labels, start=1):
            said = canonical_json(_without_names(label))
            if said in first:
                both = {"label": _label(layer, number), "other": _label(layer, first[said])}
                yield item.finding("doubled", "lint.doubled", **both)
            first.setdefault(said, number)


def _without_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_names(inner) for key, inner in value.items() if key not in NAMES}
    return [_without_names(inner) for inner in value] if isinstance(value, list) else value


def _empty(item: LintItem) -> Iterator[Finding]:
    """“Nothing here” is an answer of people. Not having any labels for another reason is not."""
    content = item.content
    if any(content["gold"].values()):
        return
    if any(part.get("without_reference") for part in decided_parts(content)):
        yield item.finding("empty", "lint.emptied")
    elif not _is_said_by_people(content):
        yield item.finding("empty", "lint.empty")


def _is_said_by_people(content: GoldContent) -> bool:
    provenance = content["provenance"]
    published = provenance.get("published") or {}
    return bool(
        provenance["annotators"]
        or provenance["adjudicated_by"]
        or published.get("annotators")
        or published.get("adjudicated_by")
    )


def decided_parts(content: GoldContent) -> list[Decided]:
    """How the labels were settled: once, or stage by stage in an item of the whole."""
    provenance = content["provenance"]
    stages = provenance.get("stages")
    if content["layer"] == END_TO_END and stages:
        return list(stages.values())
    return [provenance]


def _personal(item: LintItem, personal_data: PersonalData) -> Iterator[Finding]:
    for message in item.content["conversation"]:
        for piece in personal_data(message["content"]):
            what = Fact(f"personal.{piece.what}")
            place: dict[str, Value] = {"message": message["index"] + 1, "what": what}
            yield item.finding("personal_data", "lint.personal_message", **place)
    for layer, labels in _layers_of(item.content):
        for number, label in enumerate(labels, start=1):
            for text in _texts(_without_names(label)):
                for piece in personal_data(text):
                    what = Fact(f"personal.{piece.what}")
                    at = _label(layer, number)
                    yield item.finding("personal_data", "lint.personal_label", label=at, what=what)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _label(layer: str, number: int) -> Fact:
    return Fact("lint.label", layer=Fact(f"layer_within.{layer}"), number=number)


# --- all items ------------------------------------------------------------------------------------

COMMON_FROM = 10
"""With at least this many conversations, a name in more than half of them is a role's."""


class _Heard(NamedTuple):
    """Where a name was first heard: by split, and in how many conversations."""

    number: int
    places: dict[str, int]


@dataclass(slots=True)
class Speakers:
    """Who speaks in which split. A name that every conversation has names a role, not a person."""

    conversations: int = 0
    roles: set[str] = field(default_factory=set)
    names: dict[str, _Heard] = field(default_factory=dict)

    def add(self, item: LintItem) -> None:
        content = item.content
        self.conversations += 1
        speakers = set()
        for message in content["conversation"]:
            self.roles.add(_plain_name(message["role"]))
            if message["speaker"].strip():
                speakers.add(message["speaker"].strip())
        for name in speakers:
            heard = self.names.get(name) or _Heard(0, {})
            if content["split"]:
                heard.places.setdefault(content["split"], item.conversation)
            self.names[name] = heard._replace(number=heard.number + 1)

    def findings(self) -> Iterator[Finding]:
        for name, heard in sorted(self.names.items()):
            if len(heard.places) < 2 or self._is_role(name, heard):
                continue
            splits = sorted(heard.places)
            fact = Fact("lint.speaker_in_splits", speaker=name, splits=splits)
            yield Finding("speaker_in_splits", fact, heard.places[splits[0]])

    def _is_role(self, name: str, heard: _Heard) -> bool:
        plain = _plain_name(name)
        if not plain or plain in self.roles or plain in GENERIC:
            return True
        return self.conversations >= COMMON_FROM and heard.number * 2 > self.conversations


GENERIC = frozenset(
    {
        *("agent", "analyst", "assistant", "bot", "caller", "client", "customer", "guest", "host"),
        *("interviewee", "interviewer", "moderator", "narrator", "participant", "patient"),
        *("speaker", "support", "system", "unknown", "user"),
    }
)
"""What people are called by the part that they play."""


def _plain_name(text: str) -> str:
    """Without numbers and signs: “Speaker 2” is a role as “speaker” is."""
    return re.sub(r"[\W\d_]+", "", text).casefold()


class Copy(NamedTuple):
    """Another conversation with the same words, or nearly; ``is_here`` in the same project."""

    conversation: int
    name: str
    split: str
    is_here: bool
    is_same: bool


def copy_of(item: LintItem, copy: Copy) -> Finding:
    """Of both the same: two splits are worse than a copy. Other projects stay unnamed."""
    if not copy.is_here:
        return item.finding("split_twice", "lint.split_twice_elsewhere")
    first, second = sorted([item.name, copy.name])
    kind, code = "duplicate", "lint.same_words"
    if in_two_splits(item, copy):
        kind, code = "split_twice", "lint.split_twice"
    elif not copy.is_same:
        kind, code = "near_duplicate", "lint.nearly_same_words"
    place = item.conversation if first == item.name else copy.conversation
    return Finding(kind, Fact(code, item=first, other=second), place)


def in_two_splits(item: LintItem, copy: Copy) -> bool:
    return bool(item.split and copy.split and item.split != copy.split)
