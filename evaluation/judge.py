"""The model as judge: what it is asked, word for word, and what its replies are worth.

A judge is a model, a prompt and a parser. Its hash is of all three, so that nothing that was
found out about one judge is taken for another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from evaluation.metrics.answers import (
    PARSER_VERSION,
    claims_score,
    read_claims,
    read_verdict,
)
from labeling.domain.errors import RuleError
from pipelines.llm import ChatMessage

FOLDER = Path(__file__).parent / "prompts"
ANSWER = "answer"
CURRENT = {
    ANSWER: "answer.v1",
    "faithfulness": "faithfulness.v1",
    "relevance": "relevance.v1",
    "completeness": "completeness.v1",
    "correctness": "correctness.v1",
    "claims": "claims.v1",
}
KINDS = tuple(kind for kind in CURRENT if kind != ANSWER)
NEEDED = {
    "faithfulness": {"messages", "answer"},
    "relevance": {"question", "answer"},
    "completeness": {"question", "answer"},
    "correctness": {"reference", "answer"},
    "claims": {"messages", "answer"},
}
"""What a prompt of a kind cannot do without."""

LINE = "\n---\n"
OWN = "edited"
MOST_CHARACTERS = 20_000


class PromptRefused(RuleError):
    """A judge's prompt that lacks what has to be judged, or asks for what there is not."""

    code = "prompt_refused"


@dataclass(frozen=True, slots=True)
class Prompt:
    """``name`` is that of the file, or ``edited``; the hash tells any two wordings apart."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def messages(self, **given: Any) -> list[ChatMessage]:
        """What is given is put in as JSON: no text of it can pass for an instruction of ours."""
        filled = {key: json.dumps(value, ensure_ascii=False) for key, value in given.items()}
        system, user = self.text.split(LINE, 1)
        return [
            ChatMessage("system", system.strip()),
            ChatMessage("user", Template(user.strip()).substitute(filled)),
        ]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one reply comes to; without a score there is a reason."""

    score: float | None
    reason: str = ""
    reasoning: str = ""
    clamped: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


@cache
def shipped(kind: str) -> Prompt:
    name = CURRENT[kind]
    return Prompt(name, (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip())


def prompts(edited: dict[str, str] | None = None) -> dict[str, Prompt]:
    """A prompt for every kind: those given, checked, and the shipped ones for the rest."""
    given = edited or {}
    unknown = sorted(given.keys() - set(KINDS))
    if unknown:
        raise PromptRefused(
            f"There is no kind of judgement “{unknown[0]}”. Known are: {', '.join(KINDS)}.",
            kind=unknown[0],
        )
    return {kind: checked(kind, given[kind]) if kind in given else shipped(kind) for kind in KINDS}


def checked(kind: str, text: str) -> Prompt:
    """The prompt as it will be sent, or ``PromptRefused``; unchanged, it is the shipped one."""
    plain = text.replace("\r\n", "\n").strip()
    if plain == shipped(kind).text:
        return shipped(kind)
    problem = _problem_with(kind, plain)
    if problem:
        raise PromptRefused(f"The prompt for {kind} cannot be used: {problem}", kind=kind)
    return Prompt(OWN, plain)


def _problem_with(kind: str, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        return f"it has more than {MOST_CHARACTERS:,} characters."
    if "\x00" in text:
        return "it holds a NUL character."
    if LINE not in text:
        return "a line “---” has to stand between the instructions and the data."
    data = Template(text.split(LINE, 1)[1])
    if not data.is_valid():
        return "after “---”, write $$ for a dollar sign that names no data."
    named = set(data.get_identifiers())
    if missing := sorted(NEEDED[kind] - named):
        return f"${missing[0]} is missing after “---”: the judge would not see it."
    known = {"question", "messages", "answer"} | NEEDED[kind]
    if unknown := sorted(named - known):
        return f"there is no ${unknown[0]}. Known are: {', '.join(f'${n}' for n in sorted(known))}."
    return ""


def judge_sha256(model: str, prompt_sha256: str, parser: str = PARSER_VERSION) -> str:
    """The hash of one judge of one kind."""
    return _hash({"model": model, "prompt": prompt_sha256, "parser": parser})


def panel_sha256(judges: dict[str, str]) -> str:
    """Of the judges of all kinds together: the same only if nothing differs."""
    return _hash(judges)


def read(kind: str, reply: str, *, shown: Collection[int]) -> Finding:
    """What the judge said, or ``Unreadable``."""
    if kind != "claims":
        verdict = read_verdict(reply)
        return Finding(verdict.score, reasoning=verdict.reasoning, clamped=verdict.clamped)
    claims = read_claims(reply, shown=shown)
    found = claims_score(claims)
    detail = {"claims": [asdict(claim) for claim in claims]}
    return Finding(found.value, found.reason, detail=detail)


def _hash(document: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
