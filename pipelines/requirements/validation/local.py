"""Validation without a language model: every rule on every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.requirements.labels import Issue, Requirement, issue, name_of
from pipelines.requirements.validation import reading, wording
from pipelines.requirements.validation.conflicts import contradictions
from pipelines.requirements.validation.pii import personal_data
from pipelines.types import Encoder

EACH = ("pii", "contradictory")


def unreadable(requirement: Requirement) -> Iterator[Issue]:
    """What a reader stumbles over says more than the word that is vague in it."""
    for fault in reading.of(requirement):
        kind = reading.KINDS[fault.kind]
        yield issue(
            requirement,
            "untestable",
            fault.field,
            message=kind.message,
            fix=kind.fix,
            place=fault.place,
        )


RULES: tuple[Callable[[Requirement], Iterator[Issue]], ...] = (
    unreadable,
    wording.missing_actor,
    wording.ambiguous_verbs,
    wording.too_broad,
    wording.untestable,
    personal_data,
)


def validate(
    requirements: Sequence[Requirement], *, encoder: Encoder | None, conflict_above: float
) -> list[Issue]:
    """Issues in the order of the requirements; of a type at most one at a field."""
    issues = [issue for label in requirements for rule in RULES for issue in rule(label)]
    issues += contradictions(requirements, encoder=encoder, conflict_above=conflict_above)
    place = {name_of(label): at for at, label in enumerate(requirements)}
    issues.sort(key=lambda issue: place[issue["requirement"]])
    return list(_first_of_each(issues))


def _first_of_each(issues: Sequence[Issue]) -> Iterator[Issue]:
    """Several pieces of personal data are several issues; whatever else is said once."""
    seen = set()
    for label in issues:
        key = (label["requirement"], label["issue_type"], label["field"])
        if label["issue_type"] in EACH or key not in seen:
            yield label
        seen.add(key)
