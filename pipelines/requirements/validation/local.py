"""Validation without a language model: every rule on every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.requirements.validation import wording
from pipelines.requirements.validation.conflicts import contradictions
from pipelines.requirements.validation.issues import Issue
from pipelines.requirements.validation.pii import personal_data
from pipelines.requirements.wording import Requirement, name_of
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
    found = [found for one in requirements for rule in RULES for found in rule(one)]
    found += contradictions(requirements, encoder=encoder, conflict_above=conflict_above)
    place = {name_of(one): at for at, one in enumerate(requirements)}
    found.sort(key=lambda one: place[one["requirement"]])
    return found
