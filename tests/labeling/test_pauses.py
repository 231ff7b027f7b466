"""Who misses too many checks gets no new work until a lead says so."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from labeling.agreement.matching.similarity import Ruler
from labeling.models import Annotation, Assignment, Event, Pause
from labeling.screening import check_scores
from labeling.work import admission, annotations, assignments
from tests import factories
from tests.labeling.checked import check_by, hidden_of


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
