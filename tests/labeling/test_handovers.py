"""Answers are returned and open work is moved."""

import pytest
from django.contrib.auth.models import User

from labeling.core import members
from labeling.models import Annotation, Assignment, Event
from labeling.work import annotations, assignments, handovers, rounds
from labeling.work.annotations import ReasonMissing
from labeling.work.locking import Locked
from tests import factories
from tests.labeling.places import of, places

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("pool", [True, False])
def test_a_returned_conversation_goes_to_somebody_else_who_sees_nothing_of_it(
    project, ana, ben, cleo, rita, pool
):
    round_ = factories.open_full(project, 1, overlap=1, pool=pool)
    mine = assignments.next_for(ana) or round_.assignments.get()
    first = mine.annotator
    other = ben if first != ben else cleo
    factories.answer(mine)

    theirs = handovers.return_to(mine, reason="Not by the guidelines.", by=rita, to=other)

    assert (theirs.annotator, theirs.returned_reason) == (other, "")
    assert not Annotation.objects.filter(assignment=theirs).exists()
    assert set(places(round_).values()) == {1}
    with pytest.raises(assignments.PlaceTaken):
        factories.answer(Assignment.objects.get(pk=mine.pk))
    factories.answer(theirs)
    assert Event.objects.get(verb="assignment.handed_over").data["to"] == other.username


def test_what_cannot_be_returned_is_refused_in_words(project, ana, ben, olga, rita):
    round_ = factories.open_full(project, 2)
    mine = of(ana, round_)[0]
    factories.answer(mine)

    with pytest.raises(ReasonMissing):
        handovers.return_to(mine, reason=" ", by=rita)
    with pytest.raises(handovers.HandoverImpossible, match="not_an_annotator to=olga"):
        handovers.return_to(mine, reason="No", by=rita, to=olga)
    with pytest.raises(handovers.HandoverImpossible, match="has_it_already to=ben"):
        handovers.return_to(mine, reason="No", by=rita, to=ben)
    rounds.close(round_, by=rita)
    with pytest.raises(Locked):
        handovers.return_to(of(ana, round_)[0], reason="No", by=rita)
    calibration = factories.open_calibration(project, 2)
    with pytest.raises(handovers.HandoverImpossible, match="calibration"):
        handovers.return_to(of(ana, calibration)[0], reason="No", by=rita)
    assert Annotation.objects.get().status == "submitted"


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
