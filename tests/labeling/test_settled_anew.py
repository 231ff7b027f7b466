"""A release after the rule has changed says which items it settles otherwise."""

import pytest

from labeling.agreement.matching import consensus
from labeling.agreement.matching.agreed import AgreedLabel
from labeling.gold.verification import verify
from labeling.models import Merge
from labeling.settling import merges
from tests import factories

pytestmark = pytest.mark.django_db

PRIORITIES = {
    "c-001": ("must", "must", "must"),
    "c-002": ("must", "should", "must"),
    "c-003": ("must", "should", "could"),
    "c-004": ("must", "should", "could"),
}


@pytest.fixture
def first(project, monkeypatch):
    """A release by the rule before: the chosen holder's label, and everybody counts as for it."""
    opened = factories.open_full(project, len(PRIORITIES))
    for assignment in opened.assignments.select_related("annotator", "conversation"):
        at = ["ana", "ben", "cleo"].index(assignment.annotator.username)
        priority = PRIORITIES[assignment.conversation.external_id][at]
        label = factories.requirement(priority=priority)
        factories.answer_with(assignment, {"requirements": [label]})
    with monkeypatch.context() as before:
        before.setattr(merges, "VERSION", 1)
        before.setattr(
            consensus,
            "agreed_label",
            lambda layer, holders, chosen, rules: AgreedLabel(dict(holders[chosen]), {}, []),
        )
        release = factories.freeze(project)
    assert {item.how for item in release.items.all()} == {"unanimous"}
    return release


def test_merges_of_the_older_rule_are_made_again_and_the_release_stays_as_it_is(first):
    project, before = first.project, [item.sha256 for item in first.items.all()]
    assert merges.due(project, "extraction")  # until then they are not shown

    second = factories.freeze(project)

    states = Merge.objects.order_by("conversation__external_id").values_list("state", flat=True)
    assert list(states) == ["unanimous", "majority", "disputed", "disputed"]
    assert verify(first) == verify(second) == []
    assert [item.sha256 for item in first.items.all()] == before
