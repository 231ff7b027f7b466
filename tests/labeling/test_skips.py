"""What is skipped goes to somebody else, comes again, or stays."""

import pytest
from django.contrib.auth.models import User

from labeling.models import Annotation, Assignment, Event, Project, Round
from labeling.work import annotations, assignments, rounds
from tests import factories
from tests.labeling.places import of, places

Skip = Round.SkipPolicy


def skip(assignment: Assignment) -> Annotation:
    known = Annotation.objects.filter(assignment=assignment).first()
    save = factories.save_of({}, base_version=known.version if known else 0)
    return annotations.skip(assignment, save, reason="Not my language")


def test_a_skip_of_planned_work_goes_to_who_has_least_left(
    project: Project, ana: User, ben: User, cleo: User
) -> None:
    round_ = factories.open_full(project, 6, overlap=1)  # two for each
    factories.answer(of(cleo, round_)[0])
    mine = of(ana, round_)[0]

    skip(mine)

    moved = round_.assignments.get(conversation=mine.conversation, slot__isnull=False)
    assert (moved.annotator, moved.slot) == (cleo, 0)
    assert of(cleo, round_)[-1] == moved  # at the end of her queue
    assert set(places(round_).values()) == {1}


def test_a_skip_of_planned_work_that_everybody_has_stays_a_skip(
    project: Project, ana: User
) -> None:
    round_ = factories.open_full(project, 2, overlap=3)

    skip(of(ana, round_)[0])

    assert set(places(round_).values()) == {3}
    assert Annotation.objects.get().status == "skipped"


def test_a_skip_that_went_to_somebody_else_cannot_be_answered_any_more(
    project: Project, ana: User
) -> None:
    round_ = factories.open_full(project, 3, overlap=1)
    mine = of(ana, round_)[0]
    skip(mine)

    with pytest.raises(assignments.PlaceTaken):
        factories.answer(mine)
    assert set(places(round_).values()) == {1}


@pytest.mark.parametrize("pool", [True, False])
def test_a_skip_comes_again_to_the_same_person_once(
    project: Project, ana: User, pool: bool
) -> None:
    round_ = factories.open_full(project, 2, overlap=3, pool=pool, skip_policy=Skip.SAME)
    mine = assignments.next_for(ana)

    again = skip(mine)

    assert (again.status, again.skip_reason) == ("draft", "")
    assert Event.objects.get(verb="annotation.skipped").data["reason"] == "Not my language"
    other = assignments.next_for(ana)
    assert other != mine
    factories.answer(other)
    last = assignments.next_for(ana)
    assert last == mine
    assert skip(last).status == "skipped"
    assert assignments.next_for(ana) is None
    assert max(places(round_).values()) <= 3


def test_a_repeated_request_to_skip_counts_as_one_skip(project: Project, ana: User) -> None:
    round_ = factories.open_full(project, 2, overlap=3, skip_policy=Skip.SAME)
    mine, save = of(ana, round_)[0], factories.save_of({})
    annotations.skip(mine, save, reason="Too long")

    again = annotations.skip(Assignment.objects.get(pk=mine.pk), save, reason="Too long")

    assert again.status == "draft"
    assert Event.objects.filter(verb="annotation.skipped").count() == 1


@pytest.mark.parametrize("pool", [True, False])
def test_a_skip_that_is_left_keeps_its_place(
    project: Project, ana: User, ben: User, pool: bool
) -> None:
    round_ = factories.open_full(project, 1, overlap=1, pool=pool, skip_policy=Skip.NEVER)
    holder = round_.assignments.get().annotator if not pool else ana
    skip(assignments.next_for(holder))

    assert places(round_) == {round_.conversations.get().pk: 1}
    assert [assignments.next_for(user) for user in rounds.annotators_of(project)] == [None] * 3


@pytest.mark.parametrize("policy", Skip.values)
def test_a_skip_never_keeps_a_calibration_round_open(
    project: Project, ana: User, policy: str
) -> None:
    round_ = factories.open_calibration(project, 2, skip_policy=policy)
    for user in rounds.annotators_of(project):
        while (mine := assignments.next_for(user)) is not None:
            skip(mine) if user == ana else factories.answer(mine)

    round_.refresh_from_db()
    assert round_.state != "open"
