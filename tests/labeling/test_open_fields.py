"""Fields that a project does without: a round keeps what held when it was opened."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.models import Project, Round
from labeling.work import annotations
from tests import factories

pytestmark = pytest.mark.django_db
OPEN = {"extraction": ["acceptance_criteria", "confidence", "priority", "rationale"]}


def short(number: int) -> dict[str, Any]:
    whole = factories.requirement(number)
    return {name: value for name, value in whole.items() if name not in OPEN["extraction"]}


def test_a_round_judges_submissions_by_what_held_when_it_was_opened(project):
    before = factories.open_full(project, 1)
    Project.objects.filter(pk=project.pk).update(open_fields=OPEN)
    project.refresh_from_db()
    factories.make_conversations(project, 2)
    after = factories.open_full(project, 1)
    Project.objects.filter(pk=project.pk).update(open_fields={})
    strict, lenient = (round_.assignments.all()[0] for round_ in (before, after))

    with pytest.raises(annotations.InvalidPayload) as refused:
        factories.answer_with(strict, {"requirements": [short(1)]})
    wrong = {problem["path"] for problem in refused.value.details["problems"]}
    assert wrong == {f"requirements.0.{name}" for name in OPEN["extraction"]}

    assert factories.answer_with(lenient, {"requirements": [short(1)]}).status == "submitted"


def test_short_labels_become_gold(project):
    Project.objects.filter(pk=project.pk).update(open_fields=OPEN)
    project.refresh_from_db()
    round_ = factories.open_full(project, 1)
    for assignment in round_.assignments.all():
        factories.answer_with(assignment, {"requirements": [short(1)]})
    factories.work(project)

    release = factories.freeze(project)

    (item,) = release.items.all()
    (label,) = item.content["gold"]["requirements"]
    assert "priority" not in label
    assert label["title"] == short(1)["title"]
    assert Round.objects.get().open_fields == OPEN
