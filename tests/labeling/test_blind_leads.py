"""A lead who labels in a blind round is blind there; the staff read test answers for a reason."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import RequestFactory
from django.urls import reverse

from labeling.models import Assignment, Membership
from tests.labeling.comments import of, readers, say

pytestmark = pytest.mark.django_db


def test_a_lead_who_labels_in_a_blind_round_reads_no_comment_of_others(
    people, blind, ana, rita, signed_in
):
    said = say(of(blind, ana))
    assert readers(people, said) == ["ana", "rita", "admin"]

    Membership.objects.create(project=blind.project, user=rita, role=Membership.Role.ANNOTATOR)
    own = of(blind, ana)
    Assignment.objects.create(round=blind, conversation=own.conversation, annotator=rita)

    assert readers(people, said) == ["ana", "admin"]
    page = reverse("conversation", args=[blind.project.slug, own.conversation_id])
    assert "Is this one?" not in signed_in(rita).get(page).content.decode()


@pytest.mark.parametrize("model", [m for m, a in admin.site._registry.items()])
def test_the_admin_takes_only_the_lookups_of_its_filters(model, people, signed_in):
    client = signed_in(people["admin"])
    page = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    text = next(
        (f.name for f in model._meta.fields if f.get_internal_type() in ("CharField", "TextField")),
        "id",
    )
    for asked in (
        {f"{text}__regex": "^(a+)+$"},
        {f"{text}__contains": "a"},
        {"pk__range": "1"},
        {"id__in": "1,x"},
        {"pk": "x"},
        {"nothing__at__all": "1"},
    ):
        assert client.get(page, asked).status_code == 400, asked
    for name in admin.site._registry[model].get_list_filter(_request(client)):
        path = (
            name
            if isinstance(name, str)
            else getattr(name, "parameter_name", name[0] if isinstance(name, tuple) else "")
        )
        for value in ("x", "9" * 40):
            for end in ("", "__exact", "__id__exact"):
                assert client.get(page, {path + end: value}).status_code in (200, 302, 400)


def _request(client: Any) -> Any:
    request = RequestFactory().get("/")
    request.user = User.objects.get(pk=client.session["_auth_user_id"])
    return request
