"""How work is shared out, and for how long; and that a crowd loses nothing."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection

from labeling.core import members
from labeling.models import Assignment, Membership
from labeling.work import annotations, assignments
from tests import factories
from tests.labeling.places import of, places

pytestmark = pytest.mark.postgres

# --- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", [True, False])
def test_the_highest_priority_comes_first(project, ana, pool):
    for number, one in enumerate(factories.make_conversations(project, 6)):
        one.priority = {2: 9, 4: 5}.get(number, 0)
        one.save()
    factories.open_full(project, 6, pool=pool)

    seen = []
    for _ in range(2):
        mine = assignments.next_for(ana)
        seen.append(mine.conversation.external_id)
        factories.answer(mine)

    assert seen == ["c-003", "c-005"]


# --- leases -------------------------------------------------------------------------------------


def test_an_answer_ends_its_lease_and_keeps_its_place(project, ana):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assert mine.lease_expires_at is not None

    factories.answer(mine)

    mine.refresh_from_db()
    assert (mine.lease_expires_at, mine.slot) == (None, 0)
    annotations.reopen(mine)
    mine.refresh_from_db()
    assert mine.lease_expires_at is not None  # work in progress again: it may run out


def test_a_place_given_back_behind_somebody_comes_to_them_after_the_rest(project, ana, ben):
    pool = factories.open_full(project, 4, pool=True, overlap=1)
    assignments.take(ana)
    returned = assignments.take(ben)
    assignments.take(ana)
    assignments.give_back(returned)

    rest = [assignments.take(ana), assignments.take(ana)]

    assert rest[-1].conversation == returned.conversation
    assert list(places(pool).values()) == [1, 1, 1, 1]
    assert assignments.take(ana) is assignments.take(ben) is None


@pytest.mark.parametrize("begun", [True, False])
def test_what_one_gave_back_comes_again_at_once_if_begun_and_else_after_the_rest(
    project, ana, begun
):
    factories.open_full(project, 3, pool=True, overlap=1)
    mine = assignments.take(ana)
    if begun:
        annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    assignments.give_back(mine)

    taken = [assignments.take(ana) for _ in range(3)]

    assert taken.index(mine) == (0 if begun else 2)
    assert taken[taken.index(mine)].slot == 0
    assert assignments.take(ana) is None


def test_an_answer_and_planned_work_cannot_be_given_back(project, ana):
    factories.open_full(project, 1, pool=True, overlap=1)
    answered = assignments.take(ana)
    factories.answer(answered)
    planned = of(ana, factories.open_full(project, 1))[0]

    assert not assignments.give_back(answered)
    assert not assignments.give_back(planned)
    assert Assignment.objects.filter(slot__isnull=True).count() == 0


def test_who_left_the_project_takes_no_place_again(project, ana, rita):
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assignments.give_back(mine)
    membership = Membership.objects.get(project=project, user=ana)
    members.remove_member(membership=membership, by=rita)

    with pytest.raises(assignments.PlaceTaken):
        factories.answer(Assignment.objects.get(pk=mine.pk))


# --- a crowd ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wanted", [20, pytest.param(120, marks=pytest.mark.slow)])
def test_sixteen_annotators_at_once_lose_nothing_and_fill_every_place_exactly_once(wanted):
    users = [User.objects.create_user(f"annotator{n:02}") for n in range(16)]
    project = factories.make_project("crowd")
    for user in users:
        Membership.objects.create(project=project, user=user, role="annotator")
    factories.make_conversations(project, wanted)
    factories.open_full(project, wanted, pool=True, overlap=3)

    with ThreadPoolExecutor(16) as pool:
        accepted = sum(pool.map(label_everything, users))

    submitted = Assignment.objects.filter(annotation__status="submitted")
    by_conversation = Counter(submitted.values_list("conversation", flat=True))
    assert accepted == submitted.count() == 3 * wanted
    assert by_conversation == dict.fromkeys(by_conversation, 3)
    assert len(by_conversation) == wanted
    assert len(set(submitted.values_list("conversation", "annotator"))) == 3 * wanted


def label_everything(user: User) -> int:
    """Take and submit until nothing is left; the number of accepted submissions."""
    done = 0
    try:
        while (mine := assignments.next_for(user)) is not None:
            factories.answer(mine)
            done += 1
    finally:
        connection.close()
    return done
