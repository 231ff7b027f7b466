"""Agreement brought up to date is the agreement measured from scratch."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet

from labeling.agreement import conversations as service
from labeling.agreement import measurements
from labeling.agreement.rules.agreement import agreement as compute
from labeling.agreement.rules.units import marks
from labeling.models import Annotation, ConversationAgreement, Measurement, Project, Round
from labeling.work import annotations
from tests import factories
from tests.fakes import record_agreement

pytestmark = pytest.mark.django_db


def measured(opened: Round) -> tuple[Any, ...]:
    measurements.measure(opened, ruler=factories.ruler)
    row = opened.measurements.get()
    splits = list(service.splits_in(opened, "extraction"))
    return row.answers_sha256, row.figures, row.records, row.n_compared, row.n_splits, splits


@pytest.fixture
def opened(project: Project, people: dict[str, User]) -> Round:
    names = ("ana", "ben", "cleo")
    factories.make_conversations(project, 5)
    return factories.open_full(project, 5, annotators=[people[name] for name in names], overlap=3)


def change(assignment: Any, rng: random.Random) -> None:
    """Answered, answered again, skipped or opened again: whatever may happen to it."""
    answer = Annotation.objects.filter(assignment=assignment).first()
    if answer is not None and answer.status != "draft":
        annotations.reopen(assignment)
    if rng.random() < 0.2:
        return
    labels = [rng.randrange(3) for _ in range(rng.randrange(3))]
    factories.answer(assignment, sorted(set(labels)))


@pytest.mark.parametrize("seed", range(3))
def test_figures_of_what_is_new_are_those_from_scratch(opened, seed):
    rng = random.Random(seed)
    assignments = list(opened.assignments.all())
    for _ in range(4):
        for assignment in rng.sample(assignments, 5):
            change(assignment, rng)
        brought_up_to_date = measured(opened)

        ConversationAgreement.objects.all().delete()
        Measurement.objects.all().delete()

        assert measured(opened) == brought_up_to_date


def test_figures_of_rows_are_those_of_the_answers(opened):
    for n, assignment in enumerate(opened.assignments.order_by("pk")):
        factories.answer(assignment, [n % 3] if n % 4 else [0, 2])
    rows = Annotation.objects.select_related("assignment__annotator")
    labels: dict[str, dict[str, Any]] = {}
    for row in rows.order_by("assignment__annotator__username"):
        name = row.assignment.conversation.external_id
        labels.setdefault(row.assignment.annotator.username, {})[name] = row.payload
    size = opened.conversations.first().n_messages
    marked = {
        who: {name: marks("extraction", payload, size) for name, payload in own.items()}
        for who, own in labels.items()
    }
    requirements = {
        who: {name: payload["requirements"] for name, payload in own.items()}
        for who, own in labels.items()
    }

    _, figures, records, *_ = measured(opened)

    expected = compute(marked, threshold=0.75).as_json()
    for name in ("pairs", "fleiss_kappa", "krippendorff_alpha", "intervals", "outlook"):
        plain = figures[name]
        assert plain == json.loads(json.dumps(expected[name])), name
    matched = record_agreement(requirements, ruler=factories.ruler())
    assert records == json.loads(json.dumps([pair.as_json() for pair in matched]))


def test_two_workers_may_measure_the_same_round(opened, monkeypatch):
    """The second has removed what it replaces when the first stores its rows."""
    for assignment in opened.assignments.all():
        factories.answer(assignment, [1])
    bulk_create, first = QuerySet.bulk_create, []

    def overtaken(self: Any, rows: Any, **options: Any) -> Any:
        if self.model is ConversationAgreement and not first:
            first.append(True)
            bulk_create(ConversationAgreement.objects.all(), copy.deepcopy(rows))
        return bulk_create(self, rows, **options)

    monkeypatch.setattr(QuerySet, "bulk_create", overtaken)
    of_second = measured(opened)

    assert first == [True]
    assert opened.agreed_conversations.count() == 5
    ConversationAgreement.objects.all().delete()
    Measurement.objects.all().delete()
    assert measured(opened) == of_second
