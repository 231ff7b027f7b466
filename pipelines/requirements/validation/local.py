"""Validation without a language model: every rule on every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.requirements.labels import Flaw, Issue, Requirement, issue, name_of
from pipelines.requirements.validation import reading, wording
from pipelines.requirements.validation.conflicts import contradictions
from pipelines.requirements.validation.pii import personal_data
from pipelines.types import Encoder

EACH = ("pii", "contradictory")
RULES: tuple[Callable[[Requirement], Iterator[Flaw]], ...] = (
    reading.flaws,  # what a reader stumbles over says more than the word that is vague in it
    wording.missing_actor,
    wording.ambiguous_verbs,
    wording.too_broad,
    wording.untestable,
    personal_data,
)


def validate(requirements: Sequence[Requirement], *, encoder: Encoder | None) -> list[Issue]:
    """Issues in the order of the requirements; of a type at most one at a field."""
    issues = [issue(one, flaw) for one in requirements for rule in RULES for flaw in rule(one)]
    issues += contradictions(requirements, encoder=encoder)
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
