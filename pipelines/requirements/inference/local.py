"""Inference without a language model: what rules say follows from what was stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.requirements.inference.rules import Rule, rule_base
from pipelines.requirements.wording import Requirement, field_text, name_of, text_of
from pipelines.types import Encoder

SURER = 0.1
"""What a fitting domain, or a second requirement that sets the rule off, adds to confidence."""
MOST_CONFIDENCE = 0.95
READ = ("title", "action", "condition")


class Fired(NamedTuple):
    """A rule, and what set it off."""

    rule: Rule
    triggers: list[str]
    confidence: float


def infer(
    requirements: Sequence[Requirement],
    *,
    domain: str,
    encoder: Encoder | None,
    infer_above: float,
    stated_above: float,
) -> list[dict[str, Any]]:
    """What follows from the requirements, the surest first.

    What a stated requirement says already is left out, whether by the rule's own words or because
    its text is more similar than ``stated_above``.
    """
    fired = [one for one in fire(requirements, domain=domain) if one.confidence >= infer_above]
    fired = _unstated(fired, requirements, encoder, stated_above)
    fired.sort(key=lambda one: -one.confidence)
    return [_inferred(one, number) for number, one in enumerate(fired, start=1)]


def fire(requirements: Sequence[Requirement], *, domain: str) -> list[Fired]:
    """Every rule that holds here, in the order of the rule base."""
    base = rule_base()
    texts = [" ".join(field_text(one, name) for name in READ) for one in requirements]
    touched = [base.touched(text) for text in texts]
    said = set().union(*touched) if touched else set()
    domains = base.domains_of(domain) or base.domains_of(" ".join(texts))
    found = []
    for rule in base.rules:
        triggers = [
            name_of(one)
            for one, about in zip(requirements, touched, strict=True)
            if about & set(rule.touches)
        ]
        if triggers and not said & set(rule.unless) and _holds_in(rule, domains):
            found.append(Fired(rule, triggers, _confidence(rule, triggers, domains)))
    return found


def _holds_in(rule: Rule, domains: set[str]) -> bool:
    return not rule.domains or bool(domains & set(rule.domains))


def _confidence(rule: Rule, triggers: Sequence[str], domains: set[str]) -> float:
    surer = SURER * (bool(domains & set(rule.more_likely)) + (len(triggers) > 1))
    return round(min(MOST_CONFIDENCE, rule.confidence + surer), 2)


def _unstated(
    fired: list[Fired],
    requirements: Sequence[Requirement],
    encoder: Encoder | None,
    stated_above: float,
) -> list[Fired]:
    if encoder is None or not fired or not requirements:
        return fired
    texts = [f"{one.rule.title} {one.rule.action}" for one in fired]
    vectors = encoder.encode([*texts, *map(text_of, requirements)])
    nearest = (vectors[: len(fired)] @ vectors[len(fired) :].T).max(axis=1)
    return [one for one, near in zip(fired, nearest, strict=True) if near <= stated_above]


def _inferred(fired: Fired, number: int) -> dict[str, Any]:
    rule = fired.rule
    return {
        "id": f"INF-{number:03d}",
        "title": rule.title,
        "type": rule.type,
        "actor": rule.actor,
        "action": rule.action,
        "condition": None,
        "acceptance_criteria": list(rule.acceptance_criteria),
        "priority": rule.priority,
        "inference_type": rule.inference_type,
        "triggered_by": fired.triggers,
        "necessity": rule.necessity,
        "rationale": rule.rationale,
        "confidence": fired.confidence,
    }
