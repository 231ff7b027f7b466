"""Input that nobody types: it is answered with a sentence and never breaks a page."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from labeling.models import Annotation, Project
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

LONG = "1" * 5000


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


WITH_NUL = [
    "/projects/orders/gold/%00/1/",
    "/projects/orders/gold/orders/1/items/a%00b/",
    "/api/gold/%00/1/",
    "/runs/?pipeline=%00",
    "/admin/evaluation/run/?pipeline=%00",
]


def test_a_nul_in_an_address_is_a_bad_request(project, admin):
    for address in WITH_NUL:
        assert client_of(admin).get(address).status_code == 400


TOO_DEEP = [
    "[" * 100_000,
    '{"a":' * 50_000,
    # a depth that Python reads, and on which something later would give up
    *('{"predictions": ' + "[" * depth + "]" * depth + "}" for depth in (150, 500, 700, 900)),
]


def test_json_that_is_nested_too_deeply_is_refused(admin):
    for body in TOO_DEEP:
        response = client_of(admin).post(reverse("api-runs"), body, content_type="application/json")

        assert response.status_code == 400
        assert response.json()["message"] == "This JSON is nested too deeply."


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1" * 5000])
def test_a_number_that_no_program_can_hold_is_refused_in_words(admin: User, number: str) -> None:
    body = f'{{"gold": {number}}}'
    response = client_of(admin).post(reverse("api-runs"), body, content_type="application/json")

    assert response.status_code == 400
    said = "This JSON holds NaN, an infinity, or a number of thousands of digits."
    assert response.json()["message"] == said


def test_half_of_a_surrogate_pair_can_be_named_in_an_error(admin: User) -> None:
    body = {"gold": "demo", "pipeline": "nothing", "split": "\ud800"}

    response = client_of(admin).post(reverse("api-runs"), body, content_type="application/json")

    assert response.status_code == 400
    assert response.json()["code"] == "invalid"


def test_a_release_with_a_version_of_5000_digits_is_unknown(admin: User) -> None:
    body = {"gold": f"demo@{LONG}", "pipeline": "nothing"}

    response = client_of(admin).post(reverse("api-runs"), body, content_type="application/json")

    assert response.json()["code"] == "unknown_release"


def test_a_round_for_a_person_whose_number_is_too_large_is_refused(project, rita):
    sent = {"kind": "calibration", "batch": 1, "seed": 0, "seen": 0, "annotators": "9" * 25}

    response = client_of(rita).post(reverse("round-new", args=[project.slug]), sent)

    assert response.status_code == 400
    assert "Choose people of the list." in response.content.decode()


def test_a_save_with_a_count_that_no_column_holds_is_refused(project: Project, ana: User) -> None:
    assignment = factories.open_full(project, 1).assignments.get(annotator=ana)
    save: dict[str, Any] = {"base_version": 0, "client": str(uuid4()), "payload": {}}

    response = client_of(ana).put(
        reverse("api-annotation", args=[assignment.pk]),
        json.dumps(save | {"seq": 10**30}),
        content_type="application/json",
    )

    assert response.status_code == 400
    assert "seq" in response.json()["details"]["fields"]
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(("method", "page"), [("put", ""), ("post", "submit/")])
@pytest.mark.parametrize("number", ["9" * 20, "1" * 4000])
def test_an_answer_whose_number_is_too_large_is_unknown(ana, method, page, number):
    save = {"base_version": 0, "client": str(uuid4()), "seq": 1, "payload": {}}

    response = getattr(client_of(ana), method)(
        f"/api/annotations/{number}/{page}", json.dumps(save), content_type="application/json"
    )

    assert response.status_code == 404


def test_a_post_without_its_last_slash_stays_a_post(project: Project, admin: User) -> None:
    response = client_of(admin).post(
        "/api/projects", {"name": "Second"}, content_type="application/json", follow=True
    )

    assert response.redirect_chain == [("/api/projects/", 308)]
    assert (response.status_code, response.json()["slug"]) == (201, "second")
