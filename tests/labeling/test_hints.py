"""Notes on the wording of labels: who gets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from labeling.core import project_settings
from labeling.models import Assignment, Project
from tests import factories

pytestmark = pytest.mark.django_db


def requirement(**fields: Any) -> dict[str, Any]:
    return factories.requirement(uid="a", **fields)


@pytest.fixture
def save(signed_in: Callable[[User], Client], ana: User) -> Callable[..., Any]:
    client = signed_in(ana)
    seq = iter(range(1, 100))

    def saved(mine: Assignment, *labels: dict[str, Any]) -> Any:
        body = {"base_version": 0, "client": str(UUID(int=1)), "seq": next(seq)}
        response = client.put(
            f"/api/annotations/{mine.pk}/",
            body | {"payload": {"requirements": list(labels)}},
            content_type="application/json",
        )
        assert response.status_code == 200, response.content
        return response.json()["hints"]

    return saved


def test_a_save_is_answered_with_notes_in_words(mine, save):
    (hint,) = save(mine, requirement(title="Users"))

    assert (hint["uid"], hint["field"], hint["kind"]) == ("a", "title", "noun_phrase")
    assert "noun phrase" in hint["text"]
    assert save(mine, requirement(title="User Accounts")) == []


def test_a_kind_that_is_off_is_not_shown(project, mine, save):
    Project.objects.filter(pk=project.pk).update(hints=["modal"])

    (hint,) = save(mine, requirement(title="Users", action="Users should pay"))

    assert hint["kind"] == "modal"


def test_nobody_is_helped_where_agreement_without_help_is_measured(project, ana, save):
    blind = factories.open_calibration(project, 1).assignments.get(annotator=ana)

    assert save(blind, requirement(title="Users")) == []
    Project.objects.filter(pk=project.pk).update(hints_in_calibration=True)
    assert save(blind, requirement(title="Users"))


def test_what_an_open_calibration_round_measures_does_not_change(project, rita):
    factories.open_calibration(project, 1)

    with pytest.raises(project_settings.SettingsRefused):
        project_settings.change(project, settings={"hints_in_calibration": True}, by=rita)
    project_settings.change(project, settings={"hints": []}, by=rita)
