"""What may be wrong with labels that are to become gold, told before they are frozen.

Each rule looks at one item, or gathers from item to item what can only be told of all of them. A
finding has a key that names its subject and stays the same as long as the fault does, so that a
person can accept it once. Findings hold no word of a message or of a label: who reads them may not
be allowed to read those.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labeling.agreement.matching.places import cited_by
from labeling.agreement.matching.references import unresolved
from labeling.domain.canonical import canonical_json
from labeling.domain.facts import Fact, Value
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import Decided, GoldContent
from labeling.schema import LAYERS
from labeling.schema.labels import Payload, StoredLabel
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
        "dangling",
        msgid("Labels that refer to something missing"),
        msgid("Decide the conversation again in adjudication, or correct the file."),
    ),
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
    "open_comment": msgid("Unresolved comments"),
    "small_split": msgid("Too few conversations for the difference that was declared"),
    "target_missed": msgid("Targets that are not met"),
}
"""With those of kinds that earlier releases state."""


class Finding(NamedTuple):
    """Something that is wrong, or may be. ``conversation`` is where to look, if it is one place."""

    kind: str
    key: str
    fact: Fact
    conversation: int | None = None
    other: int | None = None
    """A second conversation, which not every reader may know of."""


def finding(
    kind: str,
    subject: Sequence[Any],
    fact: Fact,
    *,
    conversation: int | None = None,
    other: int | None = None,
) -> Finding:
    """The finding of this kind about this subject.

    Examples
    --------
    >>> one = finding("empty", ["a"], Fact("lint.empty", item="a"))
    >>> one.key == finding("empty", ["a"], Fact("lint.empty", item="b")).key
    True
    >>> one.key == finding("doubled", ["a"], one.fact).key
    False
    """
    digest = hashlib.sha256(canonical_json([kind, *subject]).encode()).hexdigest()
    return Finding(kind, digest[:20], fact, conversation, other)


# --- one item -------------------------------------------------------------------------------------


class PersonalPiece(NamedTuple):
    """Personal data in a text: its place in code points, and what it is (``mail``, ``iban`` …)."""

    start: int
    end: int
    what: str


PersonalData = Callable[[str], Sequence[PersonalPiece]]
"""Finds only what can be validated: a year, a price or an order number is never among it."""


class LintName(NamedTuple):
    """What remains of an item when it has been looked at."""

    conversation: int
    name: str
    split: str


class LintItem(NamedTuple):
    """An item that is to be frozen, and the conversation it is about."""

    conversation: int
    content: GoldContent

    @property
    def name(self) -> str:
        return self.content["item_id"]

    @property
    def label(self) -> LintName:
        return LintName(self.conversation, self.name, self.content["split"])


def item_findings(item: LintItem, personal_data: PersonalData) -> Iterator[Finding]:
    """What can be told from the item alone."""
    yield from _dangling(item)
    yield from _doubled(item)
    yield from _empty(item)
    yield from _personal(item, personal_data)


def _layers_of(content: GoldContent) -> Iterator[tuple[str, list[StoredLabel]]]:
    for name, layer in LAYERS.items():
        if layer.key in content["gold"]:
            yield name, content["gold"][layer.key]


def _dangling(item: LintItem) -> Iterator[Finding]:
    content = item.content
    texts = [message["content"] for message in content["conversation"]]
    known = _uids(content)
    for layer, labels in _layers_of(content):
        for number, label in enumerate(labels, start=1):
            uid = str(label.get("uid"))
            place: dict[str, Value] = {"item": item.name, "label": _label(layer, number)}
            for index in sorted(set(cited_by(label))):
                if not 0 <= index < len(texts):
                    fact = Fact("lint.no_message", message=index + 1, **place)
                    yield _of(item, "dangling", [layer, uid, "message", index], fact)
            for lost in unresolved(layer, [label], known):
                fact = Fact("lint.no_label", **place)
                yield _of(item, "dangling", [layer, uid, "label", lost], fact)
            for span in _message_spans(label):
                if not _is_quoted(span, texts):
                    fact = Fact("lint.no_such_words", message=int(span["message"]) + 1, **place)
                    subject = [layer, uid, "span", span["message"], span["start"], span["end"]]
                    yield _of(item, "dangling", subject, fact)


def _uids(content: GoldContent) -> set[str]:
    payloads: tuple[Payload, ...] = (content["gold"], content.get("given", {}))
    return {
        str(label.get("uid"))
        for payload in payloads
        for labels in payload.values()
        for label in labels
    }


def _message_spans(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every piece of a message that the label quotes; published words may be without a place."""
    if isinstance(value, Mapping):
        if {"message", "start", "end", "text"} <= value.keys() and value["message"] is not None:
            yield value
        for inner in value.values():
            yield from _message_spans(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _message_spans(inner)


def _is_quoted(span: Mapping[str, Any], texts: Sequence[str]) -> bool:
    index = span["message"]
    return (
        isinstance(index, int)
        and 0 <= index < len(texts)
        and texts[index][span["start"] : span["end"]] == span["text"]
    )


def _doubled(item: LintItem) -> Iterator[Finding]:
    for layer, labels in _layers_of(item.content):
        first: dict[str, int] = {}
        for number, label in enumerate(labels, start=1):
            said = canonical_json(_without_names(label))
            if said in first:
                fact = Fact(
                    "lint.doubled",
                    item=item.name,
                    label=_label(layer, number),
                    other=_label(layer, first[said]),
                )
                yield _of(item, "doubled", [layer, said, number], fact)
            first.setdefault(said, number)


_NAMES = frozenset({"uid", "id", "origin", "suggestion"})
"""What names a label or says where it comes from, and not what it says."""


def _without_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_names(inner) for key, inner in value.items() if key not in _NAMES}
    return [_without_names(inner) for inner in value] if isinstance(value, list) else value


def _empty(item: LintItem) -> Iterator[Finding]:
    """“Nothing here” is an answer of people. Not having any labels for another reason is not."""
    content = item.content
    if any(content["gold"].values()):
        return
    parts = decided_parts(content)
    if any(part.get("without_reference") for part in parts):
        fact = Fact("lint.emptied", item=item.name)
    elif _is_said_by_people(content):
        return
    else:
        fact = Fact("lint.empty", item=item.name)
    yield _of(item, "empty", [], fact)


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
            fact = Fact(
                "lint.personal_message",
                item=item.name,
                message=message["index"] + 1,
                what=Fact(f"personal.{piece.what}"),
            )
            subject = ["message", message["index"], piece.start, piece.end, piece.what]
            yield _of(item, "personal_data", subject, fact)
    for layer, labels in _layers_of(item.content):
        for number, label in enumerate(labels, start=1):
            for text in _texts(_without_names(label)):
                for piece in personal_data(text):
                    fact = Fact(
                        "lint.personal_label",
                        item=item.name,
                        label=_label(layer, number),
                        what=Fact(f"personal.{piece.what}"),
                    )
                    subject = [layer, str(label.get("uid")), text, piece.start, piece.what]
                    yield _of(item, "personal_data", subject, fact)


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


def _of(item: LintItem, kind: str, subject: Sequence[Any], fact: Fact) -> Finding:
    return finding(kind, [item.name, *subject], fact, conversation=item.conversation)


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
            first, second = (heard.places[split] for split in splits[:2])
            yield finding(
                "speaker_in_splits", [name, *splits], fact, conversation=first, other=second
            )

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


def copy_of(item: LintName, copy: Copy) -> Finding:
    """One finding for a pair: two splits are worse than a copy. Other projects stay unnamed."""
    kind, fact = "duplicate", Fact("lint.same_words", item=item.name, other=copy.name)
    if not copy.is_here:
        kind, fact = "split_twice", Fact("lint.split_twice_elsewhere", item=item.name)
    elif in_two_splits(item, copy):
        kind, fact = "split_twice", Fact("lint.split_twice", item=item.name, other=copy.name)
    elif not copy.is_same:
        nearly = Fact("lint.nearly_same_words", item=item.name, other=copy.name)
        kind, fact = "near_duplicate", nearly
    pair = sorted([item.name, copy.name]) if copy.is_here else [item.name, copy.conversation]
    return finding(kind, [*pair], fact, conversation=item.conversation, other=copy.conversation)


def in_two_splits(item: LintName, copy: Copy) -> bool:
    return bool(item.split and copy.split and item.split != copy.split)
