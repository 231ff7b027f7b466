"""Validation without a language model: every rule on every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.requirements.labels import Issue, Requirement, issue, name_of
from pipelines.requirements.validation import reading, wording
from pipelines.requirements.validation.conflicts import contradictions
from pipelines.requirements.validation.pii import personal_data
from pipelines.types import Encoder, Message

RULES: tuple[Callable[[Requirement], Iterator[Issue]], ...] = (
    wording.missing_actor,
    wording.ambiguous_verbs,
    wording.too_broad,
    wording.untestable,
    personal_data,
)

EACH = ("pii", "contradictory")


def validate(
    requirements: Sequence[Requirement],
    *,
    messages: Sequence[Message] = (),
    encoder: Encoder | None,
    conflict_above: float,
) -> list[Issue]:
    """Issues in the order of the requirements; of a type at most one at a field.

    What a reader stumbles over comes first: it says more than the word that is vague in it.
    """
    by_name = {name_of(label): label for label in requirements}
    remarks = reading.remarks(requirements, messages)
    issues = [
        issue
        for remark in remarks
        if (issue := _issue(by_name[remark.requirement], remark.fault)) is not None
    ]
    issues += [issue for label in requirements for rule in RULES for issue in rule(label)]
    issues += contradictions(requirements, encoder=encoder, conflict_above=conflict_above)
    place = {name: at for at, name in enumerate(by_name)}
    issues.sort(key=lambda issue: place[issue["requirement"]])
    return list(_first_of_each(issues))


def _issue(requirement: Requirement, fault: reading.Fault) -> Issue | None:
    """As an issue of people's labels; ``None`` where they have no type for it."""
    kind = reading.KINDS[fault.kind]
    if kind.issue_type is None:
        return None
    return issue(
        requirement,
        kind.issue_type,
        fault.field,
        message=kind.message,
        fix=kind.fix,
        place=fault.place,
    )


def _first_of_each(issues: Sequence[Issue]) -> Iterator[Issue]:
    """Several pieces of personal data are several issues; whatever else is said once."""
    seen = set()
    for label in issues:
        key = (label["requirement"], label["issue_type"], label["field"])
        if label["issue_type"] in EACH or key not in seen:
            yield label
        seen.add(key)
