"""``events-local``: triggers by word lists, arguments by patterns and by where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pipelines.events.mentions import Mention, lexicon, mentions
from pipelines.fingerprint import fingerprint
from pipelines.types import Case, Message, Output

NAME = "events-local"
_SENTENCE = re.compile(
    r"[^。！？!?；;\n]+?(?:[。！？!?；;\n]|(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bDr)(?<!\bInc)(?<!\bLtd)"
    r"(?<!\bCo)(?<!\bCorp)\.(?=\s|$)|$)"
)
_TOWARDS = re.compile(r"(?:\bto|\bwith|向|给|予|至)\s?$", re.IGNORECASE)
_FROM = re.compile(r"(?:\bfrom|从|自)\s?$", re.IGNORECASE)
_BY = re.compile(r"(?:\bby|被|由|获)\s?$", re.IGNORECASE)
_WITHIN = {"person": ("party", "person"), "party": ("party", "person"), "place": ("place",)}


class EventsLocalConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    merge: bool = Field(
        default=True,
        description="Put events of one type in one message together unless they contradict.",
    )


@dataclass(frozen=True, slots=True)
class _Trigger:
    type: str
    start: int
    end: int
    direction: str


class EventsLocal:
    name = NAME

    def __init__(self, config: EventsLocalConfig) -> None:
        self._merge = config.merge
        self.config: dict[str, Any] = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent)}"

    def run(self, case: Case) -> Output:
        schema = case.event_schema or {}
        found = [event for message in case.messages for event in self._events(message, schema)]
        return {"events": found, "model": None}

    def _events(
        self, message: Message, schema: Mapping[str, Sequence[str]]
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for sentence in _SENTENCE.finditer(message.content):
            for event in _in_sentence(message, sentence.start(), sentence[0], schema):
                other = next((one for one in found if self._merge and _fits(one, event)), None)
                if other is None:
                    found.append(event)
                else:
                    known = {one["role"] for one in other["arguments"]}
                    other["arguments"] += [
                        one for one in event["arguments"] if one["role"] not in known
                    ]
        return found


def _fits(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same type, and no role with two fillers."""
    if one["type"] != other["type"]:
        return False
    known = {argument["role"]: argument["span"]["text"] for argument in one["arguments"]}
    return all(
        known.get(argument["role"], argument["span"]["text"]) == argument["span"]["text"]
        for argument in other["arguments"]
    )


def _in_sentence(
    message: Message, offset: int, text: str, schema: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    triggers = _triggers(text, schema)
    around = mentions(_without(text, triggers)) if triggers else []
    for trigger in triggers:
        free = [one for one in around if one.end <= trigger.start or one.start >= trigger.end]
        chosen = _arguments(text, trigger, free, schema[trigger.type])
        yield {
            "type": trigger.type,
            "trigger": _span(message, offset + trigger.start, offset + trigger.end),
            "arguments": [
                {"role": role, "span": _span(message, offset + one.start, offset + one.end)}
                for role, one in chosen
            ],
        }


def _without(text: str, triggers: Sequence[_Trigger]) -> str:
    """Commas in place of the triggers, so that no name reaches across one."""
    for one in triggers:
        text = text[: one.start] + "，" * _size(one) + text[one.end :]
    return text


def _span(message: Message, start: int, end: int) -> dict[str, Any]:
    return {
        "message": message.index,
        "start": start,
        "end": end,
        "text": message.content[start:end],
    }


def _triggers(text: str, schema: Mapping[str, Sequence[str]]) -> list[_Trigger]:
    """The first trigger of each type; a longer word hides the shorter one inside of it."""
    found: list[_Trigger] = []
    for kind in _in_script(schema, text):
        words, direction = _words_of(kind)
        hit = re.search("|".join(map(_as_pattern, words)), text, re.IGNORECASE)
        if hit:
            found.append(_Trigger(kind, *hit.span(), direction))
    return [
        one
        for one in found
        if not any(
            other.start <= one.start and one.end <= other.end and _size(other) > _size(one)
            for other in found
        )
    ]


def _in_script(schema: Mapping[str, Sequence[str]], text: str) -> list[str]:
    """All types; in a schema of two languages those of the text's, so that none is said twice."""
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
    wishes = sorted(
        (
            (-_worth(text, trigger, one, role), number, one.start, role, one)
            for number, role in enumerate(roles)
            for one in free
            if _worth(text, trigger, one, role) > 0
        ),
        key=lambda wish: wish[:3],
    )
    given: dict[str, Mention] = {}
    for *_, role, one in wishes:
        if role not in given and one not in given.values():
            given[role] = one
    return [(role, given[role]) for role in roles if role in given]


def _worth(text: str, trigger: _Trigger, one: Mention, role: str) -> float:
    """How well a mention fills a role; 0 if it cannot."""
    kind = _kind_of(role)
    if one.kind not in _WITHIN.get(kind, (kind,)):
        return 0.0
    near = 1 / (1 + _distance(trigger, one) / 20)
    exact = 0.5 if one.kind == kind else 0.0
    if kind not in ("party", "person"):
        return near + exact
    fits = _side_fits(text, trigger, one, _side_of(role))
    return 0.0 if fits < 0 else near + exact + fits


def _distance(trigger: _Trigger, one: Mention) -> int:
    return max(trigger.start - one.end, one.start - trigger.end, 0)


def _side_fits(text: str, trigger: _Trigger, one: Mention, side: str) -> float:
    """2 where the wording says so, −1 where it says otherwise, 0.2 where it says nothing."""
    told = _told_side(text, trigger, one)
    if not side:
        return 0.2
    return 2.0 if side == told else -1.0


def _told_side(text: str, trigger: _Trigger, one: Mention) -> str:
    before = text[: one.start]
    if _TOWARDS.search(before):
        return "taker"
    if _FROM.search(before):
        return "giver"
    first = "giver" if trigger.direction == "out" else "taker"
    if _BY.search(before):
        return "agent" if _side_is_rare(trigger) else first
    if one.end <= trigger.start:
        return "target" if "被" in text[one.end : trigger.start] else first
    return "target"


def _side_is_rare(trigger: _Trigger) -> bool:
    """Events in which somebody outside of the deal acts: summons, awards, investments."""
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
    """A Latin word has to be one of the role's words; a Chinese one may stand anywhere."""
    return f" {name} " in f" {plain} " if name.isascii() else name in plain


def _plain(role: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_.:/\-\s]+", " ", role).lower().strip()
