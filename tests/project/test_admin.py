"""Laws for every model in the admin: its pages open, and what must not change cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from labeling.admin import PROJECT_OF
from labeling.models import (
    Conversation,
    Event,
    Project,
)
from tests import factories
from tests.evaluation import launching

CHANGEABLE = {Project}


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


def test_what_shows_labels_or_figures_of_a_conversation_is_kept_from_those_who_label_it() -> None:
    shown: dict[type[Model], str] = {}
    registered: Any
    for model, registered in admin.site._registry.items():
        shows = model in PROJECT_OF or getattr(registered, "sealed_by", None)
        if shows and any(to_conversation(model)):
            shown[model] = registered.about

    assert len(shown) >= 9
    for model, about in shown.items():
        assert about in [*to_conversation(model)], model


def test_only_set_up_can_be_changed_there(staff: Client) -> None:
    for model in set(our_models()) - CHANGEABLE:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert staff.get(reverse(f"{name}_add")).status_code == 403, model
        result = model._default_manager.first()
        if result is not None:
            assert staff.post(reverse(f"{name}_delete", args=[result.pk])).status_code == 403, model
            assert staff.post(reverse(f"{name}_change", args=[result.pk]), {}).status_code == 403


@pytest.mark.parametrize("name", ["ana", "rita", "olga"])
def test_the_admin_is_for_staff(people: dict[str, User], name: str) -> None:
    client = Client()
    client.force_login(people[name])

    assert client.get("/admin/").status_code == 302
    assert client.get("/admin/labeling/goldrelease/").status_code == 302


DOCUMENTS = {"actor_synonyms": "[]", "event_schema": "{}", "targets": "{}"}


def sent(project: Project, **changed: Any) -> dict[str, Any]:
    page = {
        "slug": project.slug,
        "name": project.name,
        "layers": '["extraction"]',
        "kappa_threshold": "0.75",
        "kappa_statistic": "min",
        "label_f1_threshold": "0.5",
        "overlap": "3",
        "match_threshold": "0.85",
        **DOCUMENTS,
        "review_rate": "0",
        "dispute_judges": "1",
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
    }
    before = {
        f"initial-{name}": page[name] for name in ("layers", *DOCUMENTS)
    }  # hidden on the page
    return page | before | changed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layers", "5"),
        ("layers", "[]"),
        ("layers", '["nope"]'),
        ("layers", "[[]]"),
        ("actor_synonyms", "[1]"),
        ("actor_synonyms", '{"a": 1}'),
        ("actor_synonyms", "[[1]]"),
        ("match_threshold", "7"),
        ("match_threshold", "1"),
        ("event_schema", "[1]"),
    ],
)
def test_a_project_cannot_be_set_up_so_that_its_pages_break(
    project: Project, admin_client: Client, field: str, value: str
) -> None:
    address = reverse("admin:labeling_project_change", args=[project.pk])

    response = admin_client.post(address, sent(project, **{field: value}))

    assert response.context["adminform"].form.errors.keys() == {field}
    assert Project.objects.get(pk=project.pk).layers == ["extraction"]


def test_what_the_admin_changes_in_a_project_is_in_the_audit_log(
    project: Project, admin_client: Client, ana: User
) -> None:
    address = reverse("admin:labeling_project_change", args=[project.pk])
    member = project.memberships.get(user=ana)
    members = {
        "memberships-TOTAL_FORMS": "2",
        "memberships-INITIAL_FORMS": "1",
        "memberships-0-id": str(member.pk),
        "memberships-0-project": str(project.pk),
        "memberships-0-user": str(ana.pk),
        "memberships-0-role": member.role,
        "memberships-0-DELETE": "on",
        "memberships-1-project": str(project.pk),
        "memberships-1-user": str(ana.pk),
        "memberships-1-role": "lead",
    }

    response = admin_client.post(address, sent(project, kappa_threshold="0.6", **members))

    assert response.status_code == 302
    written = {event.verb: event.data for event in Event.objects.filter(project=project)}
    assert written["project.changed"] == {"fields": ["kappa_threshold"]}
    assert written["member.removed"] == {"user": "ana", "role": "annotator"}
    assert written["member.added"] == {"user": "ana", "role": "lead"}


def test_the_admin_refuses_what_the_page_settings_refuses(
    project: Project, admin_client: Client
) -> None:
    factories.open_calibration(project, 2)
    address = reverse("admin:labeling_project_change", args=[project.pk])

    response = admin_client.post(address, sent(project, kappa_threshold="0.6"))

    assert response.context["adminform"].form.errors.keys() == {"kappa_threshold"}


def test_staff_are_blind_too_while_a_calibration_round_is_open(
    staff: Client, project: Project
) -> None:
    round_ = factories.open_calibration(project, 2)
    hidden = factories.answer(round_.assignments.all()[0])

    address = reverse("admin:labeling_annotation_change", args=[hidden.pk])
    assert staff.get(address).status_code == 302  # "does not exist"
    listed = staff.get(reverse("admin:labeling_annotation_changelist"))
    assert hidden not in listed.context["cl"].queryset
