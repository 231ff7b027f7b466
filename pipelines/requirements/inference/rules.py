"""The rule base: read once and checked, so that a slip in the file is found when it is loaded."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

FILE = Path(__file__).parent / "rules.yaml"


class Rule(BaseModel):
    """If a stated requirement touches this, and none says it already, that is needed too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    touches: tuple[str, ...] = Field(min_length=1)
    unless: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    """Where alone it holds; everywhere if none is named."""
    more_likely: tuple[str, ...] = ()
    title: str
    type: Literal["functional", "non-functional", "security", "data", "interface", "constraint"]
    inference_type: Literal["security", "performance", "scalability", "compliance", "usability"]
    actor: str
    action: str
    acceptance_criteria: tuple[str, ...] = Field(min_length=2)
    priority: Literal["must", "should", "could"]
    necessity: Literal["necessary", "recommended", "optional"]
    rationale: str
    confidence: float = Field(ge=0, le=1)


class RuleBase(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    touches: dict[str, re.Pattern[str]]
    domains: dict[str, re.Pattern[str]]
    rules: tuple[Rule, ...]

    def touched(self, text: str) -> set[str]:
        return {name for name, pattern in self.touches.items() if pattern.search(text)}

    def domains_of(self, text: str) -> set[str]:
        return {name for name, pattern in self.domains.items() if pattern.search(text)}


@cache
def rule_base() -> RuleBase:
    read: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for kind in ("touches", "domains"):
        read[kind] = {name: _words(patterns) for name, patterns in read[kind].items()}
    base = RuleBase.model_validate(read)
    _check(base)
    return base


def _words(patterns: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.I)


def _check(base: RuleBase) -> None:
    for rule in base.rules:
        unknown = {*rule.touches, *rule.unless} - base.touches.keys()
        unknown |= {*rule.domains, *rule.more_likely} - base.domains.keys()
        if unknown:
            raise ValueError(f"rules.yaml: rule {rule.id} names {sorted(unknown)}, unknown there")
