"""Laws for every model in the admin: its pages open, and what must not change cannot."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from evaluation.services import runs
from labeling.models import (
    AnnotationRevision,
    Membership,
    Message,
    Project,
    RoundConversation,
    TextVector,
)
from tests import factories

NOT_ON_THEIR_OWN = {AnnotationRevision, Membership, Message, RoundConversation, TextVector}
CHANGEABLE = {Project}


def our_models() -> list[Any]:
    return [
        *apps.get_app_config("labeling").get_models(),
        *apps.get_app_config("evaluation").get_models(),
    ]


@pytest.fixture
def staff(project: Project, admin: User, noor: User) -> Client:
    release = factories.make_release(project, items=2)
    runs.launch(release, pipeline="nothing", requested_by=noor)
    client = Client()
    client.force_login(admin)
    return client


def test_every_model_of_ours_is_in_the_admin() -> None:
    assert set(our_models()) - set(admin.site._registry) == NOT_ON_THEIR_OWN


def test_every_list_and_every_object_opens(staff: Client) -> None:
    for model in set(our_models()) - NOT_ON_THEIR_OWN:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert staff.get(reverse(f"{name}_changelist")).status_code == 200, model
        assert staff.get(reverse(f"{name}_changelist"), {"q": "x"}).status_code == 200, model
        found = model._default_manager.first()
        if found is not None:
            response = staff.get(reverse(f"{name}_change", args=[found.pk]))
            assert response.status_code == 200, model
            assert str(found)


def test_only_set_up_can_be_changed_there(staff: Client) -> None:
    for model in set(our_models()) - NOT_ON_THEIR_OWN - CHANGEABLE:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert staff.get(reverse(f"{name}_add")).status_code == 403, model
        found = model._default_manager.first()
        if found is not None:
            assert staff.post(reverse(f"{name}_delete", args=[found.pk])).status_code == 403, model
            assert staff.post(reverse(f"{name}_change", args=[found.pk]), {}).status_code == 403


@pytest.mark.parametrize("name", ["ana", "rita", "olga"])
def test_the_admin_is_for_staff(people: dict[str, User], name: str) -> None:
    client = Client()
    client.force_login(people[name])

    assert client.get("/admin/").status_code == 302
    assert client.get("/admin/labeling/goldrelease/").status_code == 302
