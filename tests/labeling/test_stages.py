"""How far a conversation is follows from its rows, however they came to be."""

from __future__ import annotations

import pytest

from labeling.models import Adjudication, Assignment, Conversation, Merge, Round
from labeling.work import annotations
from labeling.work.stages import is_complete, with_stage
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_a_conversation_is_in_the_last_stage_that_it_has_reached(project, people):
    (talk,) = factories.make_conversations(project, 1)

    def stage() -> str:
        return str(with_stage(Conversation.objects.filter(pk=talk.pk)).get().stage)  # type: ignore[attr-defined]

    assert stage() == "unplanned"
    pool = factories.open_full(project, 1, pool=True, overlap=1)
    assert stage() == "waiting"
    hidden = Assignment(conversation=talk, round=pool, annotator=people["ben"], slot=0)
    hidden.purpose = Assignment.Purpose.HONEYPOT
    hidden.save()
    factories.answer(hidden)
    assert stage() == "waiting"  # a hidden check is no work on it
    place = pool.assignments.create(conversation=talk, annotator=people["ana"], slot=0)
    assert stage() == "waiting"
    annotations.save_draft(place, factories.save_of(factories.labels([0])))
    assert stage() == "begun"
    factories.answer(place)
    assert stage() == "labeled"
    figures = {"agreement": 0.5, "n_agreed": 0, "n_disputed": 1, "clusters": []}
    Merge.objects.create(
        conversation=talk, layer="extraction", round=pool, state="disputed", **figures
    )
    assert stage() == "disputed"
    guideline = project.guidelines.all()[0]
    decision = {"payload": {}, "decided_by": people["rita"], "version": 1, "guideline": guideline}
    Adjudication.objects.create(conversation=talk, layer="extraction", **decision)
    assert stage() == "decided"


def test_a_skip_that_gave_its_place_away_counts_once_its_round_has_ended(project):
    single = factories.open_full(project, 1, overlap=1)
    place = single.assignments.get()
    factories.skip(place)

    def complete() -> int:
        return Conversation.objects.filter(is_complete()).count()

    for slot, state, expected in ((0, "open", 1), (None, "open", 0), (None, "closed", 1)):
        Assignment.objects.filter(pk=place.pk).update(slot=slot)
        closed_at = None if state == "open" else place.taken_at
        Round.objects.filter(pk=single.pk).update(state=state, closed_at=closed_at)
        assert complete() == expected
