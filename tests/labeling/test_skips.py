"""What is skipped goes to somebody else, or stays."""

import pytest

from labeling.work import assignments, rounds
from tests import factories
from tests.labeling.places import of, places


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
