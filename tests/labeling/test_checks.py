"""Hidden checks: found by nobody, counted nowhere, compared with gold."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from labeling.agreement.matching.similarity import Ruler
from labeling.domain.errors import RuleError
from labeling.exchange import label_exports
from labeling.gold import gold
from labeling.models import (
    Annotation,
    Assignment,
    Event,
    GoldItem,
    Membership,
    Pause,
)
from labeling.overview import progress
from labeling.screening import check_scores, check_turns
from labeling.settling import merges, reviews
from labeling.work import admission, annotations, assignments, handovers
from tests import factories
from tests.labeling.checked import HONEYPOT, check_by, hidden_of, take_hidden


def taken(user: User, number: int) -> list[Assignment]:
    """So many taken conversations, answered alike."""
    result = []
    for _ in range(number):
        mine = assignments.next_for(user)
        factories.answer_with(mine, factories.labels([0]))
        result.append(mine)
    return result


def test_one_in_so_many_taken_conversations_is_a_check(project, rita, newcomer):
    check_by(project, rita, every=3)
    factories.open_full(project, 20, pool=True, overlap=1)

    purposes = [one.purpose for one in taken(newcomer, 12)]

    blocks = [purposes[start : start + 3].count(HONEYPOT) for start in range(0, 12, 3)]
    assert blocks == [1, 1, 1, 1]


def test_nobody_gets_a_check_twice_or_one_that_they_know(project, rita, ana, newcomer):
    check_by(project, rita)
    factories.open_full(project, 20, pool=True, overlap=2)

    taken(newcomer, 16)
    taken(ana, 6)

    names = [one.conversation_id for one in hidden_of(newcomer)]
    assert len(names) == len(set(names)) == 6  # then none is left, and ordinary work goes on
    assert hidden_of(ana) == []  # who labeled what gold was made of


def test_who_is_named_by_imported_gold_is_not_checked_by_it(project, newcomer):
    item = project.gold_releases.get().items.first()
    assert not check_turns.made_by(newcomer, project, item.conversation_id)

    newcomer.username = "ana"

    assert check_turns.made_by(newcomer, project, item.conversation_id)


def test_planned_work_has_checks_among_it(project, rita, newcomer):
    check_by(project, rita, every=4)

    factories.open_full(project, 9, annotators=[newcomer], overlap=1)

    mine = list(assignments.queue(newcomer))
    purposes = [one.purpose for one in mine]
    assert [purposes[at : at + 4].count(HONEYPOT) for at in (0, 4)] == [1, 1]
    assert purposes.count("labelling") == 9
    numbers = [one.pk for one in mine]
    assert numbers == sorted(numbers)  # they stand in the addresses of the pages


@pytest.mark.parametrize("role", ["lead", "researcher"])
def test_who_may_read_gold_gets_no_checks(project, rita, newcomer, role):
    Membership.objects.create(project=project, user=newcomer, role=role)
    check_by(project, rita)

    factories.open_full(project, 6, annotators=[newcomer], overlap=1)
    factories.open_full(project, 6, pool=True, overlap=1)

    taken(newcomer, 12)
    assert hidden_of(newcomer) == []


def test_a_check_counts_for_nothing(project, rita, newcomer, ruler):
    check_by(project, rita)
    round_ = factories.open_full(project, 4, pool=True, overlap=1)
    hidden = take_hidden(newcomer)

    def figures() -> list[object]:
        return [
            assignments.progress(project),
            factories.measure(round_),
            progress.by_state(project),
            merges.ready(project, "extraction"),
            list(reviews.listed(project, viewer=rita)),
            [one.annotator for one in label_exports.finished(project)],
        ]

    before = figures()
    factories.answer_with(hidden, factories.labels([1, 2, 3]))

    assert figures() == before
    assert not Annotation.objects.filter(assignment=hidden).exists()
    newest = GoldItem.objects.filter(release__project=project).values_list("canonical", flat=True)
    assert "dan" not in str(list(newest))
    with pytest.raises(gold.NothingChanged):
        gold.freeze(project=project, layer="extraction", ruler=ruler)


def test_the_staff_are_not_shown_who_is_checked(project, rita, newcomer, admin_client):
    check_by(project, rita)
    factories.open_full(project, 4, pool=True, overlap=1)
    hidden = take_hidden(newcomer)
    answer = factories.answer_with(hidden, factories.labels([1]))

    for row in (hidden, answer):
        name = f"admin:labeling_{row._meta.model_name}"
        listed = admin_client.get(reverse(f"{name}_changelist")).context["cl"].queryset
        assert not listed.filter(pk=row.pk).exists()
        assert admin_client.get(reverse(f"{name}_change", args=[row.pk])).status_code == 302


def test_moving_open_work_takes_the_checks_back_too(project, rita, newcomer):
    check_by(project, rita)
    factories.open_full(project, 6, annotators=[newcomer], overlap=1)
    assert hidden_of(newcomer)

    handovers.hand_on(project=project, person=newcomer, by=rita)

    assert not assignments.queue(newcomer).filter(slot__isnull=False).exists()


def test_an_answer_is_scored_against_gold(project, rita, newcomer, ruler):
    check_by(project, rita)
    factories.open_full(project, 4, annotators=[newcomer], overlap=1)
    mine = hidden_of(newcomer)[0]
    labels = factories.labels([0, 2])
    labels["requirements"][1] |= {"title": "Invoices", "action": "Pay by card", "actor": "Clerk"}
    factories.answer_with(mine, labels)

    check = check_scores.score(mine.pk, ruler=ruler)

    # gold holds one requirement from message 0; found with one more from message 2: F1 = 2/3
    assert check.value == pytest.approx(2 / 3)
    figures = check.layers["extraction"]
    assert (figures["matched"], figures["missed"]) == (1, [])
    assert [one["heading"] for one in figures["extra"]] == ["Invoices"]
    assert check.releases == {"extraction": "orders@1"}
    assert check.version == Annotation.of(mine).get().version
    assert check_scores.score(mine.pk, ruler=ruler) == check
    assert check_scores.by_person(project)[newcomer.pk] == (pytest.approx(2 / 3), 1)


def test_the_sweep_finds_what_was_not_compared(project, rita, newcomer, ruler):
    check_by(project, rita)
    factories.open_full(project, 4, annotators=[newcomer], overlap=1)
    compared, lost = hidden_of(newcomer)[:2]
    for mine in (compared, lost, Assignment.objects.filter(annotator=newcomer)[0]):
        factories.answer_with(mine, factories.labels([0]))
    check_scores.score(compared.pk, ruler=ruler)
    assert list(check_turns.due()) == [lost.pk]


def test_checks_need_conversations_with_gold(project, rita):
    factories.make_conversations(project, 1)

    with pytest.raises(RuleError, match="no_conversations"):
        check_turns.set_plan(project, by=rita, every=5)


# --- pauses ------------------------------------------------------------------------------------


def miss(user: User, number: int, ruler: Ruler) -> None:
    for mine in hidden_of(user)[:number]:
        annotations.submit(mine, factories.save_of({"requirements": []}))
        check_scores.score(mine.pk, ruler=ruler)


def test_who_misses_too_much_is_paused_until_a_lead_lifts_it(project, rita, newcomer, ruler):
    check_by(project, rita, pause_below=0.5, pause_after=2)
    factories.open_full(project, 8, annotators=[newcomer], overlap=1)

    miss(newcomer, 1, ruler)
    assert not admission.shut_to(newcomer)
    miss_next = hidden_of(newcomer)[1]
    annotations.submit(miss_next, factories.save_of({"requirements": []}))
    check_scores.score(miss_next.pk, ruler=ruler)

    with pytest.raises(admission.Paused, match="leads=rita"):
        assignments.next_for(newcomer)
    waiting = Assignment.objects.filter(annotator=newcomer).first()
    with pytest.raises(admission.Paused):
        annotations.save_draft(waiting, factories.save_of(factories.labels([0])))
    assert not Annotation.objects.filter(assignment=waiting).exists()

    assert check_scores.resume(project, newcomer, by=rita)
    assert assignments.next_for(newcomer) is not None
    assert check_scores.pause_if_due(project, newcomer) is None  # what was before is settled
    verbs = Event.objects.filter(verb__startswith="annotator.").values_list("verb", flat=True)
    assert sorted(verbs) == ["annotator.paused", "annotator.resumed"]


def test_what_was_begun_may_be_finished_while_paused(project, rita, newcomer, ruler):
    check_by(project, rita, pause_below=0.5, pause_after=1)
    factories.open_full(project, 4, annotators=[newcomer], overlap=1)
    begun = Assignment.objects.filter(annotator=newcomer).first()
    annotations.save_draft(begun, factories.save_of(factories.labels([0])))
    miss(newcomer, 1, ruler)

    assert assignments.next_for(newcomer) == begun
    factories.answer_with(begun, factories.labels([0]))


def test_begun_work_whose_reservation_ran_out_may_be_finished_while_paused(project, rita, newcomer):
    factories.open_full(project, 2, pool=True, overlap=1)
    begun = assignments.take(newcomer)
    annotations.save_draft(begun, factories.save_of(factories.labels([0])))
    assignments.give_back(begun)
    Pause.objects.create(project=project, user=newcomer, value=0.1, checks=5)

    factories.answer_with(begun, factories.labels([0]))

    assert Assignment.objects.get(pk=begun.pk).slot == 0
