"""Answers are returned and open work is moved."""

import pytest
from django.contrib.auth.models import User

from labeling.core import members
from labeling.models import Annotation
from labeling.work import annotations, assignments, handovers, rounds
from tests import factories
from tests.labeling.places import of, places

pytestmark = pytest.mark.postgres


def test_open_work_moves_and_a_calibration_round_no_longer_waits(project, ana, rita):
    dora = User.objects.create_user("dora")
    round_ = factories.open_calibration(project, 3)
    draft, *_ = of(ana, round_)
    annotations.save_draft(draft, factories.save_of(factories.labels([0])))
    members.add_member(project=project, username="dora", role="annotator", by=rita)

    moved = handovers.hand_on(project=project, person=ana, by=rita, to=dora)

    assert moved == ({"dora": 3}, 0, 0)
    assert assignments.next_for(ana) is None
    assert [one.conversation for one in of(dora, round_)] == [
        one.conversation for one in of(ana, round_)
    ]
    assert Annotation.objects.get(assignment=draft).payload["requirements"]
    for user in User.objects.filter(username__in=["ben", "cleo", "dora"]):
        while (mine := assignments.next_for(user)) is not None:
            factories.answer(mine)
    round_.refresh_from_db()
    assert round_.state == "passed"


def test_work_that_nobody_can_take_ends_a_round_that_waited_for_nothing_else(
    project, ana, ben, cleo, rita
):
    round_ = factories.open_calibration(project, 2)
    for user in (ben, cleo):
        for one in of(user, round_):
            factories.answer(one)

    moved = handovers.hand_on(project=project, person=ana, by=rita)
    factories.work(project)

    round_.refresh_from_db()
    assert moved == ({}, 0, 2)
    assert round_.state == "passed"


def test_what_the_other_has_already_is_only_taken_back(project, ana, ben, rita):
    round_ = factories.open_full(project, 3, overlap=2)

    moved = handovers.hand_on(project=project, person=ana, by=rita, to=ben)

    both = {one.conversation_id for one in of(ana, round_)} & {
        one.conversation_id for one in of(ben, round_) if one.taken_at < round_.opened_at
    }
    assert moved.total == 2  # 3 conversations by 2 are 6 places, two for each
    assert moved.left_open >= len(both)
    assert max(places(round_).values()) <= 2
    assert not handovers.open_work(project, ana).exists()


def test_work_moves_only_to_another_annotator(project, ana, noor, rita):
    factories.open_full(project, 2)
    for wrong in (ana, noor):
        with pytest.raises(handovers.HandoverImpossible, match="same_annotator"):
            handovers.hand_on(project=project, person=ana, by=rita, to=wrong)


# --- skips -------------------------------------------------------------------------------------


def test_a_skip_of_planned_work_goes_to_who_has_least_left(project, ana, ben, cleo):
    round_ = factories.open_full(project, 6, overlap=1)  # two for each
    factories.answer(of(cleo, round_)[0])
    mine = of(ana, round_)[0]

    factories.skip(mine)

    moved = round_.assignments.get(conversation=mine.conversation, slot__isnull=False)
    assert (moved.annotator, moved.slot) == (cleo, 0)
    assert of(cleo, round_)[-1] == moved  # at the end of her queue
    assert set(places(round_).values()) == {1}


def test_a_skip_that_went_to_somebody_else_cannot_be_answered_any_more(project, ana):
    round_ = factories.open_full(project, 3, overlap=1)
    mine = of(ana, round_)[0]
    factories.skip(mine)

    with pytest.raises(assignments.PlaceTaken):
        factories.answer(mine)
    assert set(places(round_).values()) == {1}


def test_a_skip_never_keeps_a_calibration_round_open(project, ana):
    round_ = factories.open_calibration(project, 2)
    for user in rounds.annotators_of(project):
        while (mine := assignments.next_for(user)) is not None:
            factories.skip(mine) if user == ana else factories.answer(mine)

    round_.refresh_from_db()
    assert round_.state != "open"
