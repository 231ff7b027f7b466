"""The model as judge: what it is asked, word for word, and what its replies are worth.

A prompt names its data in one of two forms: instructions, a line ``---`` and data with ``$answer``;
or one text with ``{question}``, ``{chunks}`` and ``{answer}``, as other products write them.

A judge is a model and how it is asked, a prompt and a parser. Its hash is of all of them, so that
nothing that was found out about one judge is taken for another.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from evaluation.metrics.answers import PARSER_VERSION
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from pipelines.llm import ChatMessage
from pipelines.types import JsonSchema

FOLDER = Path(__file__).parent / "prompts"
ANSWER = "answer"
CURRENT = {
    ANSWER: "answer.v1",
    "faithfulness": "faithfulness.v2",
    "relevance": "relevance.v2",
    "completeness": "completeness.v2",
    "correctness": "correctness.v2",
}
KINDS = tuple(kind for kind in CURRENT if kind != ANSWER)
NEEDED = {
    "faithfulness": {"messages", "answer"},
    "relevance": {"question", "answer"},
    "completeness": {"question", "answer"},
    "correctness": {"reference", "answer"},
}
"""What a prompt of a kind cannot do without."""

SLOTS = frozenset({"question", "messages", "answer", "reference"})

NOT_ASKED = frozenset({"name", "input_price", "cached_price", "output_price", "currency"})
"""What a model's description says that changes nothing in a reply."""
LINE = "\n---\n"
BRACED = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")
"""Data in the other form of prompt, as ``{answer}``; ``{"score": 0}`` is none, and ``${answer}`` is
``$answer``."""
CHUNKS = "chunks"
"""What that form may call the messages."""
VERDICT: JsonSchema = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "number"}},
    "required": ["reasoning", "score"],
}
"""The reason first. No bounds: a number outside 0 to 10 is clamped and counted."""
OWN = "edited"
MOST_CHARACTERS = 20_000


class PromptRefused(RuleError, code="prompt_refused"):
    """A judge's prompt that lacks a required field, or has an unknown one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """``name`` is that of the file, or ``edited``; the hash identifies the wording."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def messages(self, **values: Any) -> list[ChatMessage]:
        """What is given is put in as JSON: no text of it can pass for an instruction of ours.

        The instructions come first, the same for every case, so that servers keep what they have
        read of them.
        """
        filled = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
        instructions, data = _parts(self.text)
        if _names_in_braces(self.text):
            said = BRACED.sub(lambda name: filled[_unbraced(name[1])], data)
        else:
            said = Template(data).substitute(filled)
        system = [ChatMessage("system", instructions)] if instructions else []
        return [*system, ChatMessage("user", said)]


def _parts(text: str) -> tuple[str, str]:
    """Instructions and data; in braces the data may be named in one text with no line."""
    instructions, line, data = text.partition(LINE)
    return (instructions.strip(), data.strip()) if line else ("", text.strip())


def _names_in_braces(text: str) -> bool:
    """Whether the prompt is written with ``{answer}`` where ours is with ``$answer``."""
    data = _parts(text)[1]
    known = {*SLOTS, CHUNKS}
    return not known.isdisjoint(BRACED.findall(data)) and not _with_dollar(data) & SLOTS


def _with_dollar(data: str) -> set[str]:
    matches = Template.pattern.finditer(data)
    return {name for match in matches if (name := match["named"] or match["braced"])}


def _unbraced(name: str) -> str:
    return "messages" if name == CHUNKS else name


@cache
def shipped(kind: str) -> Prompt:
    name = CURRENT[kind]
    return Prompt(name, (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip())


def prompts(edited: Mapping[str, str] | None = None) -> dict[str, Prompt]:
    """A prompt for every kind: those given, checked, and the shipped ones for the rest."""
    texts = edited or {}
    unknown = sorted(texts.keys() - set(KINDS))
    if unknown:
        raise PromptRefused(
            "prompt.unknown_kind", kind=unknown[0], known=KINDS, details={"kind": unknown[0]}
        )
    return {kind: checked(kind, texts[kind]) if kind in texts else shipped(kind) for kind in KINDS}


def checked(kind: str, text: str) -> Prompt:
    """The prompt as it will be sent, or ``PromptRefused``; unchanged, it is the shipped one."""
    plain = text.replace("\r\n", "\n").strip()  # browsers and files end lines in different ways
    if plain == shipped(kind).text:
        return shipped(kind)
    problem = _problem_with(kind, plain)
    if problem:
        raise PromptRefused("prompt.unusable", kind=kind, problem=problem, details={"kind": kind})
    return Prompt(OWN, plain)


def _problem_with(kind: str, text: str) -> Fact | None:
    if len(text) > MOST_CHARACTERS:
        return Fact("prompt.too_long", most=MOST_CHARACTERS)
    if "\x00" in text:
        return Fact("prompt.nul")
    known = {"question", "messages", "answer"} | NEEDED[kind]
    data = _parts(text)[1]
    in_braces = {*BRACED.findall(data)}
    if in_braces & {*SLOTS, CHUNKS} and _with_dollar(data) & SLOTS:
        return Fact("prompt.two_forms")
    if _names_in_braces(text):
        return _problem_in_braces(kind, in_braces, known)
    if LINE not in text:
        return Fact("prompt.no_line")
    template = Template(text.split(LINE, 1)[1])
    if not template.is_valid():
        return Fact("prompt.dollar")
    named = set(template.get_identifiers())
    if missing := sorted(NEEDED[kind] - named):
        return Fact("prompt.missing", name=missing[0])
    if unknown := sorted(named - known):
        names = [f"${name}" for name in sorted(known)]
        return Fact("prompt.unknown_name", name=unknown[0], known=names)
    return None


def _problem_in_braces(kind: str, named: set[str], known: set[str]) -> Fact | None:
    shown = {name: f"{{{CHUNKS if name == 'messages' else name}}}" for name in sorted(known)}
    if missing := sorted(NEEDED[kind] - {_unbraced(name) for name in named}):
        return Fact("prompt.missing_in_braces", name=shown[missing[0]])
    if unknown := sorted(name for name in named if _unbraced(name) not in known):
        names = [*shown.values()]
        return Fact("prompt.unknown_in_braces", name=f"{{{unknown[0]}}}", known=names)
    return None


def judge_sha256(model: Mapping[str, Any], prompt_sha256: str, parser: str = PARSER_VERSION) -> str:
    """The hash of one judge of one kind.

    ``model`` is its description: the id, and every parameter that it is asked with. A price is
    none, because it changes nothing that a judge says.
    """
    return _hash({"model": how_asked(model), "prompt": prompt_sha256, "parser": parser})


def how_asked(model: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in model.items() if name not in NOT_ASKED}


def panel_sha256(judges: dict[str, str]) -> str:
    """Of the judges of all kinds together: the same only if nothing differs."""
    return _hash(judges)


def _hash(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
