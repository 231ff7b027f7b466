"""Laws for every model in the admin: its pages open, and what must not change cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from labeling.admin import readable, way
from labeling.models import Conversation, Project
from tests import factories
from tests.evaluation import launching


def our_models() -> list[Any]:
    return [
        model
        for model in admin.site._registry
        if model._meta.app_label in ("labeling", "evaluation")
    ]


@pytest.fixture
def staff(project: Project, admin: User, noor: User) -> Client:
    release = factories.make_release(project, items=2)
    launching.launch(release, pipeline="nothing", requested_by=noor)
    client = Client()
    client.force_login(admin)
    return client


def test_every_list_and_every_object_opens(staff: Client) -> None:
    for model in our_models():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert staff.get(reverse(f"{name}_changelist")).status_code == 200, model
        assert staff.get(reverse(f"{name}_changelist"), {"q": "x"}).status_code == 200, model
        result = model._default_manager.first()
        if result is not None:
            response = staff.get(reverse(f"{name}_change", args=[result.pk]))
            assert response.status_code == 200, model
            assert str(result)


def to_conversation(model: type[Model], *passed: type[Model]) -> Iterator[str]:
    """The ways by which a row leads to what it is about."""
    for field in model._meta.concrete_fields:
        related: Any = field.related_model
        if related is Conversation:
            yield field.name
        elif related is not None and related not in (model, *passed):
            ways = to_conversation(related, model, *passed)
            yield from (f"{field.name}__{way}" for way in ways)


def test_what_is_about_a_conversation_is_kept_from_those_who_label_it() -> None:
    about = [model for model in our_models() if model is not Conversation]
    shown = {model: set(to_conversation(model)) for model in about}

    assert sum(map(bool, shown.values())) >= 15
    for model, ways in shown.items():
        found = way(model, Conversation)
        assert (found is None) == (not ways), model
        assert found is None or found.removesuffix("__") in ways, model


def test_nothing_can_be_changed_there(staff: Client) -> None:
    for model in our_models():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert staff.get(reverse(f"{name}_add")).status_code == 403, model
        result = model._default_manager.first()
        if result is not None:
            assert staff.post(reverse(f"{name}_delete", args=[result.pk])).status_code == 403, model
            assert staff.post(reverse(f"{name}_change", args=[result.pk]), {}).status_code == 403


def test_what_people_wrote_is_never_markup() -> None:
    shown = readable({"<b>": ["<i>", {"<u>": "<script>"}], "text": "<a>"})

    assert "&lt;script&gt;" in shown
    assert not re.search("<(b|i|u|a|script)>", shown)


@pytest.mark.parametrize("name", ["ana", "rita", "olga"])
def test_the_admin_is_for_staff(people: dict[str, User], name: str) -> None:
    client = Client()
    client.force_login(people[name])

    assert client.get("/admin/").status_code == 302
    assert client.get("/admin/labeling/goldrelease/").status_code == 302


def test_staff_are_blind_too_while_a_calibration_round_is_open(staff, project):
    round_ = factories.open_calibration(project, 2)
    hidden = factories.answer(round_.assignments.all()[0])

    address = reverse("admin:labeling_annotation_change", args=[hidden.pk])
    assert staff.get(address).status_code == 302  # "does not exist"
    listed = staff.get(reverse("admin:labeling_annotation_changelist"))
    assert hidden not in listed.context["cl"].queryset
