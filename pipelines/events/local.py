"""``events-local``: triggers by word lists, arguments by patterns and positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

from pipelines.events.mentions import Mention, lexicon, mentions
from pipelines.fingerprint import fingerprint
from pipelines.types import Case, Config, Message, Output, Settings

NAME = "events-local"
MAX_SENTENCE = 600  # characters
_SENTENCE = re.compile(
    r"[^。！？!?；;\n]+?(?:[。！？!?；;\n]|(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bDr)(?<!\bInc)(?<!\bLtd)"
    r"(?<!\bCo)(?<!\bCorp)\.(?=\s|$)|$)"
)
_TOWARDS = re.compile(r"(?:\bto|\bwith|向|给|予|至)\s?$", re.IGNORECASE)
_BY = re.compile(r"(?:\bby|被|由|获)\s?$", re.IGNORECASE)
_PARTIES = ("party", "person")


class EventsLocalConfig(Settings):
    """It has none."""

    RETIRED = frozenset({"merge"})


class Span(TypedDict):
    """A piece of a message; ``end`` is exclusive."""

    message: int
    start: int
    end: int
    text: str


class Argument(TypedDict):
    role: str
    span: Span


class Event(TypedDict):
    type: str
    trigger: Span
    arguments: list[Argument]


@dataclass(frozen=True, slots=True)
class _Trigger:
    type: str
    start: int
    end: int
    direction: str


class EventsLocal:
    name = NAME

    def __init__(self, config: EventsLocalConfig) -> None:
        self.config: Config = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent)}"

    def run(self, case: Case) -> Output:
        schema = case.event_schema or {}
        events = [event for message in case.messages for event in _of_message(message, schema)]
        return {"events": events, "model": None}


def _of_message(message: Message, schema: Mapping[str, Sequence[str]]) -> list[Event]:
    """Events of one type are put together unless they contradict."""
    events: list[Event] = []
    for start, sentence in _sentences(message.content):
        for event in _in_sentence(message, start, sentence, schema):
            same = next((known for known in events if _fits(known, event)), None)
            if same is None:
                events.append(event)
            else:
                roles = {argument["role"] for argument in same["arguments"]}
                same["arguments"] += [one for one in event["arguments"] if one["role"] not in roles]
    return events


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each with its place. What goes on for very long is cut, because of patterns that look at
    each pair of places.
    """
    for sentence in _SENTENCE.finditer(text):
        for start in range(sentence.start(), sentence.end(), MAX_SENTENCE):
            yield start, text[start : min(start + MAX_SENTENCE, sentence.end())]


def _fits(known: Event, event: Event) -> bool:
    """The same type, and no role with different fillers."""
    if known["type"] != event["type"]:
        return False
    filled = {argument["role"]: argument["span"]["text"] for argument in known["arguments"]}
    return all(
        filled.get(argument["role"], argument["span"]["text"]) == argument["span"]["text"]
        for argument in event["arguments"]
    )


def _in_sentence(
    message: Message, offset: int, text: str, schema: Mapping[str, Sequence[str]]
) -> Iterator[Event]:
    triggers = _triggers(text, schema)
    around = mentions(_without(text, triggers)) if triggers else []
    for trigger in triggers:
        free = [
            mention
            for mention in around
            if mention.end <= trigger.start or mention.start >= trigger.end
        ]
        chosen = _arguments(text, trigger, free, schema[trigger.type])
        yield {
            "type": trigger.type,
            "trigger": _span(message, offset + trigger.start, offset + trigger.end),
            "arguments": [
                {"role": role, "span": _span(message, offset + mention.start, offset + mention.end)}
                for role, mention in chosen
            ],
        }


def _without(text: str, triggers: Sequence[_Trigger]) -> str:
    """Commas in place of the triggers, so that no name extends across a trigger."""
    for trigger in triggers:
        text = text[: trigger.start] + "，" * _size(trigger) + text[trigger.end :]
    return text


def _span(message: Message, start: int, end: int) -> Span:
    return {
        "message": message.index,
        "start": start,
        "end": end,
        "text": message.content[start:end],
    }


def _triggers(text: str, schema: Mapping[str, Sequence[str]]) -> list[_Trigger]:
    """The first trigger of each type; a longer word hides the shorter one within it."""
    triggers: list[_Trigger] = []
    for kind in _in_script(schema, text):
        words, direction = _words_of(kind)
        hit = re.search("|".join(map(_as_pattern, words)), text, re.IGNORECASE)
        if hit:
            triggers.append(_Trigger(kind, *hit.span(), direction))
    return [
        trigger
        for trigger in triggers
        if not any(
            other.start <= trigger.start
            and trigger.end <= other.end
            and _size(other) > _size(trigger)
            for other in triggers
        )
    ]


def _in_script(schema: Mapping[str, Sequence[str]], text: str) -> list[str]:
    """All types; in a bilingual schema those in the text's language, so that none comes twice."""
    chinese = [kind for kind in schema if not kind.isascii()]
    latin = [kind for kind in schema if kind.isascii()]
    if not chinese or not latin:
        return list(schema)
    return chinese if re.search(r"[\u4e00-\u9fff]", text) else latin


def _size(trigger: _Trigger) -> int:
    return trigger.end - trigger.start


def _as_pattern(word: str) -> str:
    bound = r"\b" if word.isascii() else ""
    return f"{bound}{re.escape(word)}{bound}"


@cache
def _words_of(kind: str) -> tuple[tuple[str, ...], str]:
    """Triggers of an event type, longest first, and who is named first in it."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[_.:/\-]+", " ", kind).lower()
    for entry in lexicon()["triggers"]:
        if any(name in plain or name == kind for name in entry["names"]):
            words = {*entry["words"], *([kind] if not kind.isascii() else [])}
            return tuple(sorted(words, key=lambda word: (-len(word), word))), entry["direction"]
    stem = plain.split()[-1] if plain.split() else kind
    return (kind, plain, stem, f"{stem}ed", f"{stem}s"), "out"


def _arguments(
    text: str, trigger: _Trigger, free: Sequence[Mention], roles: Sequence[str]
) -> list[tuple[str, Mention]]:
    """Each role gets the best mention of its kind that no surer role has taken."""
    pairs = sorted(
        (
            (-_fit(text, trigger, mention, role), number, mention.start, role, mention)
            for number, role in enumerate(roles)
            for mention in free
            if _fit(text, trigger, mention, role) > 0
        ),
        key=lambda pair: pair[:3],
    )
    filled: dict[str, Mention] = {}
    for *_, role, mention in pairs:
        if role not in filled and mention not in filled.values():
            filled[role] = mention
    return [(role, filled[role]) for role in roles if role in filled]


def _fit(text: str, trigger: _Trigger, mention: Mention, role: str) -> float:
    """How well a mention fills a role; 0 if it cannot."""
    kind = _kind_of(role)
    if mention.kind not in (_PARTIES if kind in _PARTIES else (kind,)):
        return 0.0
    near = 1 / (1 + _distance(trigger, mention) / 20)
    exact = 0.5 if mention.kind == kind else 0.0
    if kind not in _PARTIES:
        return near + exact
    side = _side_fit(text, trigger, mention, _side_of(role))
    return 0.0 if side < 0 else near + exact + side


def _distance(trigger: _Trigger, mention: Mention) -> int:
    return max(trigger.start - mention.end, mention.start - trigger.end, 0)


def _side_fit(text: str, trigger: _Trigger, mention: Mention, side: str) -> float:
    """2 where the wording says so, −1 where it says otherwise, 0.2 where it says nothing."""
    if not side:
        return 0.2
    return 2.0 if side == _side_by_wording(text, trigger, mention) else -1.0


def _side_by_wording(text: str, trigger: _Trigger, mention: Mention) -> str:
    before = text[: mention.start]
    if _TOWARDS.search(before):
        return "taker"
    first = "giver" if trigger.direction == "out" else "taker"
    if _BY.search(before):
        return "agent" if _side_is_rare(trigger) else first
    if mention.end <= trigger.start:
        return "target" if "被" in text[mention.end : trigger.start] else first
    return "target"


def _side_is_rare(trigger: _Trigger) -> bool:
    """Events in which somebody outside the deal acts: summons, awards, investments."""
    words = _words_of(trigger.type)[0]
    return any(word in words for word in ("约谈", "中标", "融资", "罚款", "was awarded", "raised"))


@cache
def _kind_of(role: str) -> str:
    plain = _plain(role)
    for entry in lexicon()["kinds"]:
        if any(_named(name, plain) for name in entry["names"]):
            return str(entry["kind"])
    return "party"


@cache
def _side_of(role: str) -> str:
    plain = _plain(role)
    for side in ("agent", "target", "giver", "taker"):
        if any(_named(name, plain) for name in lexicon()["sides"][side]):
            return side
    return ""


def _named(name: str, plain: str) -> bool:
    """A Latin word has to be one of the role's words; a Chinese one may be anywhere in it."""
    return f" {name} " in f" {plain} " if name.isascii() else name in plain


def _plain(role: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_.:/\-\s]+", " ", role).lower().strip()
