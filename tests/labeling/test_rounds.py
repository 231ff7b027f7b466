from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from labeling.models import Event, Project, Round
from labeling.work import rounds
from tests import factories

pytestmark = pytest.mark.postgres


def test_full_labeling_is_locked_until_a_calibration_passes_but_for_a_recorded_reason(
    project, rita
):
    for nothing in ("  ", "\u2060\ufeff"):
        with pytest.raises(rounds.GateLocked, match="gate_locked"):
            factories.open_full(project, override_reason=nothing)

    recorded = factories.open_full(project, override_reason="Pilot for the workshop")
    assert recorded.override_reason == "Pilot for the workshop"
    opened = Event.objects.get(verb="round.opened").data
    assert (opened["override_reason"], opened["conversations"]) == (recorded.override_reason, 4)
    factories.pass_gate(project)
    opened = factories.open_full(project, override_reason="not needed any more")
    assert opened.override_reason == ""


def test_one_calibration_round_at_a_time(project):
    first = factories.open_calibration(project)

    with pytest.raises(rounds.RoundImpossible, match="calibration_open"):
        factories.open_calibration(project)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.create(
            project=project,
            number=9,
            kind="calibration",
            guideline=first.guideline,
            overlap=3,
        )


def test_a_round_needs_conversations_people_and_guidelines(project):
    kind = Round.Kind.CALIBRATION
    with pytest.raises(rounds.RoundImpossible, match="no_conversations"):
        rounds.open_round(project=project, kind=kind, by=None, conversations=[])
    batch = factories.make_conversations(project, 2)
    with pytest.raises(rounds.RoundImpossible, match="no_annotators"):
        rounds.open_round(project=project, kind=kind, by=None, conversations=batch, annotators=[])
    bare = Project.objects.create(slug="bare", name="Bare")
    people = rounds.annotators_of(project)
    with pytest.raises(rounds.RoundImpossible, match="no_guidelines"):
        rounds.open_round(
            project=bare,
            kind=kind,
            by=None,
            conversations=factories.make_conversations(bare, 2),
            annotators=people,
        )


@pytest.mark.django_db(transaction=True)
def test_two_leads_who_open_a_round_at_the_same_moment_get_one_round_and_one_sentence():
    factories.make_people()
    project = factories.make_project()
    batch = factories.make_conversations(project, 4)

    def open_one(number: int) -> str:
        try:
            half = batch[2 * number : 2 * number + 2]
            rounds.open_round(
                project=project, kind=Round.Kind.CALIBRATION, by=None, conversations=half
            )
        except rounds.RoundImpossible as refused:
            return refused.fact.code
        finally:
            connection.close()
        return "opened"

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(open_one, range(2)))

    assert answers == ["opened", "round.calibration_open"]
    assert Round.objects.count() == 1
