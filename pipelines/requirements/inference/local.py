"""Inference without a language model: what follows, by rules, from what was stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipelines.requirements.inference.rules import Rule, rule_base
from pipelines.requirements.labels import Requirement, field_text, name_of, text_of
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
) -> list[Requirement]:
    """What follows from the requirements, the surest first.

    What a stated requirement says already is left out, whether by the rule's own words or because
    its text is more similar than ``stated_above``.
    """
    sure = [rule for rule in fire(requirements, domain=domain) if rule.confidence >= infer_above]
    new = _unstated(sure, requirements, encoder, stated_above)
    new.sort(key=lambda fired: -fired.confidence)
    return [_inferred(fired, number) for number, fired in enumerate(new, start=1)]


def fire(requirements: Sequence[Requirement], *, domain: str) -> list[Fired]:
    """Every rule that holds here, in the order of the rule base."""
    base = rule_base()
    texts = [" ".join(field_text(stated, name) for name in READ) for stated in requirements]
    touched = [base.touched(text) for text in texts]
    all_touched = set().union(*touched) if touched else set()
    domains = base.domains_of(domain) or base.domains_of(" ".join(texts))
    fired = []
    for rule in base.rules:
        triggers = [
            name_of(stated)
            for stated, about in zip(requirements, touched, strict=True)
            if about & set(rule.touches)
        ]
        if triggers and not all_touched & set(rule.unless) and _holds_in(rule, domains):
            fired.append(Fired(rule, triggers, _confidence(rule, triggers, domains)))
    return fired


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
    texts = [f"{rule.title} {rule.action}" for rule, _, _ in fired]
    vectors = encoder.encode([*texts, *map(text_of, requirements)])
    nearest = (vectors[: len(fired)] @ vectors[len(fired) :].T).max(axis=1)
    return [rule for rule, near in zip(fired, nearest, strict=True) if near <= stated_above]


def _inferred(fired: Fired, number: int) -> Requirement:
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
