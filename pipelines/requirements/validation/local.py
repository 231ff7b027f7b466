"""Validation without a language model: every rule on every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.requirements.labels import Issue, Requirement, name_of
from pipelines.requirements.validation import wording
from pipelines.requirements.validation.conflicts import contradictions
from pipelines.requirements.validation.pii import personal_data
from pipelines.types import Encoder

RULES: tuple[Callable[[Requirement], Iterator[Issue]], ...] = (
    wording.missing_actor,
    wording.ambiguous_verbs,
    wording.too_broad,
    wording.untestable,
    personal_data,
)


def validate(
    requirements: Sequence[Requirement], *, encoder: Encoder | None, conflict_above: float
) -> list[Issue]:
    """Issues in the order of the requirements."""
    issues = [issue for label in requirements for rule in RULES for issue in rule(label)]
    issues += contradictions(requirements, encoder=encoder, conflict_above=conflict_above)
    place = {name_of(label): at for at, label in enumerate(requirements)}
    issues.sort(key=lambda issue: place[issue["requirement"]])
    return issues
