"""What it takes to open full labeling: enough to stand on, and the newest round decides."""

from __future__ import annotations

import pytest

from labeling.agreement.rules.calibration import evidence
from labeling.models import Assignment, Round
from labeling.work import rounds
from tests import factories
from tests.pages import page
from tests.refusals import refused

pytestmark = pytest.mark.django_db
URL = "/projects/orders/calibration/"


def a_round(project, number, *, messages=4, marked=("ana", "ben", "cleo")):
    """Those marked cite message 0, and the others message 1."""
    opened = rounds.open_round(
        project=project,
        kind=Round.Kind.CALIBRATION,
        by=None,
        conversations=factories.make_conversations(project, number, messages=messages),
    )
    return factories.answer_each(opened, lambda who: [0 if who in marked else 1])


@pytest.mark.parametrize(
    ("conversations", "messages", "is_open"),
    [(1, 2, False), (9, 8, False), (10, 4, False), (10, 5, True), (13, 4, True)],
)
def test_a_round_opens_full_labeling_only_on_enough(project, conversations, messages, is_open):
    closed = a_round(project, conversations, messages=messages)

    assert (closed.state, closed.agreement["value"]) == (Round.State.PASSED, 1.0)
    assert rounds.gate_is_open(project) == is_open


def test_a_round_that_is_too_small_says_what_is_needed_and_a_reason_goes_past_it(
    signed_in, rita, project
):
    a_round(project, 1, messages=2)
    why = (
        "Round 1 passed, but it is too small to open full labeling: it needs at least 10 "
        "conversations and 50 units of each layer that every pair has answered, and has 1 and 2."
    )

    with refused(rounds.GateLocked, match=why):
        factories.open_full(project, 2, override_reason="")
    shown = page(signed_in(rita), URL)

    assert why in shown
    assert "It needs at least 10 conversations and 50 units of each used layer" in shown
    assert factories.open_full(project, 2, override_reason="Six talks are all.").override_reason


def test_what_only_one_of_a_pair_answered_is_no_evidence(project):
    opened = rounds.open_round(
        project=project,
        kind=Round.Kind.CALIBRATION,
        by=None,
        conversations=factories.make_conversations(project, 10, messages=6),
    )
    skipped, *others = opened.assignments.all()
    for assignment in others:
        factories.answer(assignment)
    factories.skip(skipped)
    opened.refresh_from_db()

    assert (opened.state, evidence(opened.agreement).conversations) == (Round.State.PASSED, 9)
    assert not rounds.gate_is_open(project)


def test_the_newest_completed_round_decides(project):
    factories.pass_gate(project)
    full = factories.open_full(project, 2)
    assert full.override_reason == ""

    under_way = factories.open_calibration(project, 4)
    assert rounds.gate_is_open(project)  # it says nothing before it has closed
    factories.answer_each(under_way, lambda who: [0] if who == "ana" else [1])

    assert not rounds.gate_is_open(project)
    with pytest.raises(rounds.GateLocked):
        factories.open_full(project, 2, override_reason="")
    with pytest.raises(rounds.GateLocked):
        rounds.add_batch(full, conversations=factories.make_conversations(project, 1), by=None)
    first: Assignment = full.assignments.all()[0]
    assert factories.answer(first).status == "submitted"  # work under way goes on

    factories.pass_gate(project)
    assert rounds.gate_is_open(project)
    assert rounds.add_batch(full, conversations=factories.make_conversations(project, 1), by=None)
