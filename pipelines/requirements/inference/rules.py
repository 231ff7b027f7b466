"""The rule base: read once and checked, so that a slip in the file is found when it is loaded."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

FILE = Path(__file__).parent / "rules.yaml"
_DENIED = re.compile(
    r"(?<!\w)(?:no|not|never|without|cannot|can't|don't|doesn't|needn't|instead of|rather than)"
    r"(?:[^\w.,;]+\w+){0,3}[^\w.,;]*\Z",
    re.I,
)
"""A denial at most three words before."""


class Rule(BaseModel):
    """If a stated requirement touches this, and none says it already, that is needed too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    touches: tuple[str, ...] = Field(min_length=1)
    unless: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    """Rules whose need is part of this one's: where both hold, this one stands for both."""
    title: str
    type: Literal["functional", "non-functional", "security", "data", "interface", "constraint"]
    inference_type: Literal["security", "performance", "scalability", "compliance", "usability"]
    actor: str
    action: str
    priority: Literal["must", "should", "could"]
    necessity: Literal["necessary", "recommended", "optional"]
    rationale: str
    ask: str = Field(pattern=r"\?$")
    """What nobody has said and somebody has to find out; the rule itself names no figure."""
    confidence: float = Field(ge=0, le=1)


class RuleBase(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    touches: dict[str, re.Pattern[str]]
    rules: tuple[Rule, ...]

    def touched(self, text: str) -> set[str]:
        """What the text asks for. What it only denies ("without a login") it does not."""
        return {
            name
            for name, pattern in self.touches.items()
            if any(not _DENIED.search(text, 0, match.start()) for match in pattern.finditer(text))
        }

    def spoken_of(self, text: str) -> set[str]:
        """What the text speaks of, whether it asks for it or not."""
        return {name for name, pattern in self.touches.items() if pattern.search(text)}


@cache
def rule_base() -> RuleBase:
    read: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    read["touches"] = {name: _words(patterns) for name, patterns in read["touches"].items()}
    base = RuleBase.model_validate(read)
    _check(base)
    return base


def _words(patterns: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.I)


def _check(base: RuleBase) -> None:
    ids = {rule.id for rule in base.rules}
    for rule in base.rules:
        unknown = {*rule.touches, *rule.unless} - base.touches.keys()
        unknown |= {*rule.covers} - ids
        if unknown:
            raise ValueError(f"rules.yaml: rule {rule.id} names {sorted(unknown)}, unknown there")
