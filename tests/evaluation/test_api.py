from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Run

pytestmark = pytest.mark.django_db


def post(client: Any, name: str, body: dict[str, Any], *arguments: int) -> Any:
    return client.post(reverse(name, args=arguments), body, content_type="application/json")


def test_a_run_is_launched_and_read(release: Any, signed_in: Any) -> None:
    noor = signed_in("noor")

    response = post(noor, "api-runs", {"gold": "demo", "pipeline": "everything", "seed": 5})

    assert response.status_code == 201
    run = response.json()
    assert run["status"] == "queued"
    assert run["n_cases"] == 3
    assert run["spec"]["seed"] == 5
    assert noor.get(reverse("api-run", args=[run["id"]])).json() == run
    assert [result["id"] for result in noor.get(reverse("api-runs")).json()["results"]] == [
        run["id"]
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"gold": "nowhere", "pipeline": "nothing"}, "unknown_release"),
        ({"gold": "demo", "pipeline": "nothin"}, "pipeline_refused"),
        ({"gold": "demo", "pipeline": "nothing", "split": "test"}, "look_reason_needed"),
        ({"gold": "demo", "pipeline": "nothing", "split": "train"}, "split_refused"),
        ({"gold": "demo"}, "invalid"),
    ],
)
def test_a_bad_launch_is_refused_in_the_one_error_shape(release, signed_in, body, code):
    response = post(signed_in("noor"), "api-runs", body)

    assert response.status_code == (403 if code == "look_reason_needed" else 400)
    assert set(response.json()) == {"code", "message", "details"}
    assert response.json()["code"] == code
    assert not Run.objects.exists()


def test_a_run_is_steered(launch: Any, signed_in: Any) -> None:
    run, noor = launch(), signed_in("noor")

    assert post(noor, "api-run-control", {"action": "pause"}, run.pk).json()["status"] == "paused"
    assert post(noor, "api-run-control", {"action": "resume"}, run.pk).json()["status"] == "queued"
    cancelled = post(noor, "api-run-control", {"action": "cancel"}, run.pk)
    assert cancelled.json()["status"] == "cancelled"
    refused = post(noor, "api-run-control", {"action": "resume"}, run.pk)
    assert (refused.status_code, refused.json()["code"]) == (400, "run_refused")
