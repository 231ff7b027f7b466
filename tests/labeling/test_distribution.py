"""How work is shared out, skipped, returned and moved; and that a crowd loses nothing."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection

from labeling.domain.planning import UnfairQuotas
from labeling.models import Annotation, Assignment, Event, Membership, Project, Round
from labeling.services import annotations, assignments, handovers, projects, rounds
from labeling.services.annotations import ReasonMissing
from labeling.services.locking import Locked
from tests import factories

Order, Skip = Round.Order, Round.SkipPolicy


def of(person: User, round_: Round) -> list[Assignment]:
    mine = round_.assignments.filter(annotator=person).select_related("round", "conversation")
    return list(mine.order_by("position"))


def skip(assignment: Assignment) -> Annotation:
    known = Annotation.objects.filter(assignment=assignment).first()
    save = factories.save_of({}, base_version=known.version if known else 0)
    return annotations.skip(assignment, save, reason="Not my language")


def places(round_: Round) -> Counter[int]:
    held = round_.assignments.filter(slot__isnull=False)
    return Counter(held.values_list("conversation", flat=True))


# --- order --------------------------------------------------------------------------------------


@pytest.fixture
def urgent(project: Project) -> list[str]:
    """Six conversations, two of them urgent; the names of the urgent ones, most urgent first."""
    for number, one in enumerate(factories.make_conversations(project, 6)):
        one.priority = {2: 9, 4: 5}.get(number, 0)
        one.save()
    return ["c-003", "c-005"]


@pytest.mark.parametrize("pool", [True, False])
def test_the_highest_priority_comes_first(
    project: Project, ana: User, urgent: list[str], pool: bool
) -> None:
    factories.open_full(project, 6, order=Order.PRIORITY, pool=pool)

    seen = []
    for _ in range(2):
        mine = assignments.next_for(ana)
        seen.append(mine.conversation.external_id)
        factories.answer(mine)

    assert seen == urgent


def test_priority_counts_across_batches(project: Project, ana: User, urgent: list[str]) -> None:
    everything = list(project.conversations.order_by("external_id"))
    round_ = rounds.open_round(
        project=project,
        kind="full",
        by=None,
        conversations=everything[:2],
        order=Order.PRIORITY,
        override_reason="A test.",
    )

    rounds.add_batch(round_, conversations=everything[2:], by=None)

    assert assignments.next_for(ana).conversation.external_id == urgent[0]


def test_least_labelled_first_fills_a_pool_in_breadth(
    project: Project, ana: User, ben: User
) -> None:
    factories.open_full(project, 2, pool=True, overlap=2, order=Order.LEAST)

    first, second = assignments.take(ana), assignments.take(ben)

    assert first.conversation != second.conversation


def test_least_labelled_first_leads_planned_work_to_what_nobody_has_answered(
    project: Project, ana: User, ben: User
) -> None:
    round_ = factories.open_full(project, 3, overlap=3, order=Order.LEAST)
    first, second, _ = of(ana, round_)
    factories.answer(of(ben, round_)[0])

    assert first.conversation == of(ben, round_)[0].conversation
    assert assignments.next_for(ana) == second


def test_begun_work_comes_before_the_order(project: Project, ana: User, urgent: list[str]) -> None:
    round_ = factories.open_full(project, 6, order=Order.PRIORITY)
    begun = of(ana, round_)[-1]
    annotations.save_draft(begun, factories.save_of({}))

    assert assignments.next_for(ana) == begun


# --- sharing ------------------------------------------------------------------------------------


def test_planned_work_is_shared_by_number(project: Project, ana: User, ben: User) -> None:
    people = rounds.annotators_of(project)
    quotas = {user.pk: number for user, number in zip(people, [6, 4, 2], strict=True)}

    round_ = factories.open_full(project, 6, overlap=2, quotas=quotas)

    assert Counter(round_.assignments.values_list("annotator", flat=True)) == Counter(quotas)
    assert set(places(round_).values()) == {2}


def test_numbers_that_do_not_add_up_open_nothing(project: Project, ana: User) -> None:
    with pytest.raises(UnfairQuotas, match="6 conversations by 2 are 12 assignments"):
        factories.open_full(project, 6, overlap=2, quotas={ana.pk: 6})

    assert not Round.objects.exists()


def test_numbers_make_no_sense_in_a_pool_or_a_calibration(project: Project, ana: User) -> None:
    with pytest.raises(rounds.RoundImpossible, match="take from a pool"):
        factories.open_full(project, 2, pool=True, quotas={ana.pk: 2})
    with pytest.raises(rounds.RoundImpossible, match="everybody labels everything"):
        factories.open_calibration(project, 2, quotas={ana.pk: 2})


@pytest.mark.parametrize("pool", [True, False])
def test_a_batch_comes_behind_what_is_there(project: Project, ana: User, pool: bool) -> None:
    round_ = factories.open_full(project, 3, pool=pool, overlap=3)
    before = [place.conversation_id for place in round_.places.all()]
    new = factories.make_conversations(project, 2)

    added = rounds.add_batch(round_, conversations=[*round_.conversations.all(), *new], by=None)

    assert added == 2
    positions = list(round_.places.values_list("position", flat=True))
    assert positions == [0, 1, 2, 3, 4]
    assert [place.conversation_id for place in round_.places.all()][:3] == before
    if not pool:
        assert {one.conversation for one in of(ana, round_)[3:]} == set(new)
        assert set(places(round_).values()) == {3}
    assert Event.objects.get(verb="round.extended").data == {"conversations": 2}


def test_a_batch_needs_an_open_round_of_full_labeling_and_something_new(
    project: Project, rita: User
) -> None:
    round_ = factories.open_full(project, 2)
    with pytest.raises(rounds.RoundImpossible, match="in the round already"):
        rounds.add_batch(round_, conversations=round_.conversations.all(), by=rita)
    new = factories.make_conversations(project, 2)
    with pytest.raises(rounds.RoundImpossible, match="Nobody is chosen"):
        rounds.add_batch(round_, conversations=new, by=rita, annotators=[])
    rounds.close(round_, by=rita)
    calibration = factories.open_calibration(project, 2)
    for shut in (round_, calibration):
        with pytest.raises(rounds.RoundImpossible, match="only to an open round"):
            rounds.add_batch(shut, conversations=factories.make_conversations(project, 1), by=rita)


# --- skipping -----------------------------------------------------------------------------------


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


# --- returning and moving -----------------------------------------------------------------------


def test_an_answer_is_returned_to_who_gave_it_with_the_reason(
    project: Project, ana: User, rita: User
) -> None:
    round_ = factories.open_full(project, 2)
    mine = of(ana, round_)[0]
    factories.answer(mine)

    returned = handovers.return_to(mine, reason="Message 2 is missing.", by=rita)

    assert (returned.annotator, returned.returned_reason) == (ana, "Message 2 is missing.")
    answer = Annotation.objects.get()
    assert (answer.status, answer.submitted_at) == ("draft", None)
    assert answer.payload["requirements"]
    assert assignments.next_for(ana) == mine
    factories.answer(mine)
    mine.refresh_from_db()
    assert mine.returned_reason == ""


@pytest.mark.parametrize("pool", [True, False])
def test_a_returned_conversation_goes_to_somebody_else_who_sees_nothing_of_it(
    project: Project, ana: User, ben: User, cleo: User, rita: User, pool: bool
) -> None:
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


def test_what_cannot_be_returned_is_refused_in_words(
    project: Project, ana: User, ben: User, olga: User, rita: User
) -> None:
    round_ = factories.open_full(project, 2)
    mine = of(ana, round_)[0]
    factories.answer(mine)

    with pytest.raises(ReasonMissing):
        handovers.return_to(mine, reason=" ", by=rita)
    with pytest.raises(handovers.HandoverImpossible, match="olga is no annotator"):
        handovers.return_to(mine, reason="No", by=rita, to=olga)
    with pytest.raises(handovers.HandoverImpossible, match="ben has this conversation already"):
        handovers.return_to(mine, reason="No", by=rita, to=ben)
    rounds.close(round_, by=rita)
    with pytest.raises(Locked):
        handovers.return_to(of(ana, round_)[0], reason="No", by=rita)
    calibration = factories.open_calibration(project, 2)
    with pytest.raises(handovers.HandoverImpossible, match="is blind"):
        handovers.return_to(of(ana, calibration)[0], reason="No", by=rita)
    assert Annotation.objects.get().status == "submitted"


def test_open_work_moves_and_a_calibration_round_no_longer_waits(
    project: Project, ana: User, rita: User
) -> None:
    dora = User.objects.create_user("dora")
    round_ = factories.open_calibration(project, 3)
    draft, *_ = of(ana, round_)
    annotations.save_draft(draft, factories.save_of(factories.labels([0])))
    projects.add_member(project=project, username="dora", role="annotator", by=rita)

    moved = handovers.move_open_work(project=project, person=ana, by=rita, to=dora)

    assert moved == (3, 0)
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


def test_work_that_is_taken_back_ends_a_round_that_waited_for_nothing_else(
    project: Project, ana: User, ben: User, cleo: User, rita: User
) -> None:
    round_ = factories.open_calibration(project, 2)
    for user in (ben, cleo):
        for one in of(user, round_):
            factories.answer(one)

    moved = handovers.move_open_work(project=project, person=ana, by=rita)

    round_.refresh_from_db()
    assert moved == (0, 2)
    assert round_.state == "passed"
    assert Event.objects.get(verb="assignment.moved").data["to"] == "nobody"


def test_what_the_other_has_already_is_only_taken_back(
    project: Project, ana: User, ben: User, rita: User
) -> None:
    round_ = factories.open_full(project, 3, overlap=2)

    moved = handovers.move_open_work(project=project, person=ana, by=rita, to=ben)

    both = {one.conversation_id for one in of(ana, round_)} & {
        one.conversation_id for one in of(ben, round_) if one.taken_at < round_.opened_at
    }
    assert sum(moved) == 2  # 3 conversations by 2 are 6 places, two for each
    assert moved.taken_back >= len(both)
    assert max(places(round_).values()) <= 2
    assert not handovers.open_work(project, ana).exists()


def test_work_moves_only_to_another_annotator(
    project: Project, ana: User, noor: User, rita: User
) -> None:
    factories.open_full(project, 2)
    for wrong in (ana, noor):
        with pytest.raises(handovers.HandoverImpossible, match="another annotator"):
            handovers.move_open_work(project=project, person=ana, by=rita, to=wrong)


# --- leases -------------------------------------------------------------------------------------


def test_an_answer_ends_its_lease_and_keeps_its_place(project: Project, ana: User) -> None:
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assert mine.lease_expires_at is not None

    factories.answer(mine)

    mine.refresh_from_db()
    assert (mine.lease_expires_at, mine.slot) == (None, 0)
    annotations.reopen(mine)
    mine.refresh_from_db()
    assert mine.lease_expires_at is not None  # work in progress again: it may run out


def test_a_place_that_is_given_back_goes_to_others_and_the_draft_is_kept(
    project: Project, ana: User, ben: User
) -> None:
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))

    assert assignments.give_back(mine)

    assert assignments.take(ben).conversation == mine.conversation
    assert Annotation.objects.get().payload["requirements"]


def test_an_answer_and_planned_work_cannot_be_given_back(project: Project, ana: User) -> None:
    factories.open_full(project, 1, pool=True, overlap=1)
    answered = assignments.take(ana)
    factories.answer(answered)
    planned = of(ana, factories.open_full(project, 1))[0]

    assert not assignments.give_back(answered)
    assert not assignments.give_back(planned)
    assert Assignment.objects.filter(slot__isnull=True).count() == 0


def test_who_left_the_project_takes_no_place_again(project: Project, ana: User, rita: User) -> None:
    factories.open_full(project, 1, pool=True, overlap=1)
    mine = assignments.take(ana)
    assignments.give_back(mine)
    membership = Membership.objects.get(project=project, user=ana)
    projects.remove_member(membership=membership, by=rita)

    with pytest.raises(assignments.PlaceTaken):
        factories.answer(Assignment.objects.get(pk=mine.pk))


# --- a crowd ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
@pytest.mark.parametrize("order", Order.values)
def test_sixteen_annotators_at_once_fill_every_place_exactly_once(order: str) -> None:
    users = [User.objects.create_user(f"annotator{n:02}") for n in range(16)]
    project = factories.make_project("crowd")
    for user in users:
        Membership.objects.create(project=project, user=user, role="annotator")
    wanted = 120 if order == Order.SEED else 30
    factories.make_conversations(project, wanted)
    factories.open_full(project, wanted, pool=True, overlap=3, order=order)

    with ThreadPoolExecutor(16) as pool:
        accepted = sum(pool.map(label_everything, users))

    submitted = Assignment.objects.filter(annotation__status="submitted")
    by_conversation = Counter(submitted.values_list("conversation", flat=True))
    assert accepted == 3 * wanted
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
