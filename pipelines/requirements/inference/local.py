"""Inference without a language model: what follows, by rules, from what was stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipelines.requirements.inference.rules import Rule, RuleBase, rule_base
from pipelines.requirements.labels import Requirement, field_text, name_of, sureness_of

SURER = 0.1
"""What a second requirement that sets the rule off adds to confidence."""
MOST_CONFIDENCE = 0.95
LIKELY = 0.5
READ = ("title", "action", "condition")
SAID = (*READ, "acceptance_criteria")
"""Where a need may be stated already."""


class Fired(NamedTuple):
    """A rule, and what set it off."""

    rule: Rule
    triggers: list[str]
    confidence: float


def infer(
    requirements: Sequence[Requirement],
    *,
    refused: Sequence[str] = (),
    infer_above: float,
) -> list[Requirement]:
    """What follows from the requirements, the surest first.

    Parameters
    ----------
    requirements
        Those stated. One that is not itself likely wanted sets nothing off.
    refused
        What was refused or taken back in the talk: it is not inferred again.
    infer_above
        The least confidence of what is inferred. It never exceeds how surely that is wanted from
        which it follows; whether the wording of that matches a label has no part in it.
    """
    sure = [rule for rule in fire(requirements, refused=refused) if rule.confidence >= infer_above]
    sure.sort(key=lambda fired: -fired.confidence)
    return [_inferred(fired, number) for number, fired in enumerate(sure, start=1)]


def fire(
    requirements: Sequence[Requirement],
    *,
    refused: Sequence[str] = (),
) -> list[Fired]:
    """Every rule that holds here, in the order of the rule base, once with all its triggers."""
    base = rule_base()
    spoken_of = _spoken_of(base, requirements, refused)
    touched = [
        (stated, base.touched(_text(stated, READ)))
        for stated in requirements
        if sureness(stated) >= LIKELY
    ]
    setting_off = {
        rule.id: [stated for stated, about in touched if about & set(rule.touches)]
        for rule in base.rules
        if not spoken_of & set(rule.unless)
    }
    for rule in base.rules:
        if setting_off.get(rule.id):
            for covered in rule.covers:
                setting_off[rule.id] += setting_off.pop(covered, [])
    return [
        _fired(rule, requirements, setting_off[rule.id])
        for rule in base.rules
        if setting_off.get(rule.id)
    ]


def sureness(requirement: Requirement) -> float:
    """1 of one that says none: people wrote it."""
    known = sureness_of(requirement)
    return 1.0 if known is None else known


def _spoken_of(
    base: RuleBase, requirements: Sequence[Requirement], refused: Sequence[str]
) -> set[str]:
    texts = [*(_text(stated, SAID) for stated in requirements), *refused]
    return set().union(*map(base.spoken_of, texts))


def _text(requirement: Requirement, fields: Sequence[str]) -> str:
    return ". ".join(field_text(requirement, name) for name in fields)


def _fired(rule: Rule, requirements: Sequence[Requirement], by: Sequence[Requirement]) -> Fired:
    names = {name_of(stated) for stated in by}
    triggers = [name for stated in requirements if (name := name_of(stated)) in names]
    own = min(MOST_CONFIDENCE, rule.confidence + SURER * (len(triggers) > 1))
    return Fired(rule, triggers, round(min(own, max(map(sureness, by))), 4))


def _inferred(fired: Fired, number: int) -> Requirement:
    """Without criteria: nobody has said by what it is tested, so its rationale asks."""
    rule = fired.rule
    return {
        "id": f"INF-{number:03d}",
        "title": rule.title,
        "type": rule.type,
        "actor": rule.actor,
        "action": rule.action,
        "condition": None,
        "acceptance_criteria": [],
        "priority": rule.priority,
        "inference_type": rule.inference_type,
        "triggered_by": fired.triggers,
        "necessity": rule.necessity,
        "rationale": f"{rule.rationale} To be asked: {rule.ask}",
        "confidence": fired.confidence,
    }
