"""Pipelines, runs, cases and predictions of files, for programs."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import Run
from evaluation.services.launch import predictions
from labeling.models import Membership
from tests import factories
from tests.evaluation.conftest import perfect


def test_a_case_has_its_output_its_gold_and_every_score(finished, script, signed_in):
    script(perfect)
    run = finished()
    case = run.cases.order_by("pk")[0]

    shown = signed_in("noor").get(f"/api/runs/{run.pk}/cases/{case.pk}/").json()

    assert shown["output"] == case.output
    assert shown["gold"] == case.item.content["gold"]
    assert {score["metric"] for score in shown["scores"]} == set(
        case.scores.values_list("metric", flat=True)
    )
    assert any(score["detail"] for score in shown["scores"])
    assert shown["answer"] is None


def test_who_labels_a_conversation_blind_reads_no_gold_of_it_in_a_case(
    finished, script, signed_in, people
):
    script(perfect)
    run = finished()
    blind, other = (f"/api/runs/{run.pk}/cases/{case.pk}/" for case in run.cases.order_by("pk")[:2])
    project, talk = run.release.project, run.cases.order_by("pk")[0].item.conversation
    Membership.objects.create(project=project, user=people["noor"], role="annotator")
    annotators = [people["noor"], people["ana"]]
    factories.rounds.open_round(
        project=project, kind="calibration", by=None, conversations=[talk], annotators=annotators
    )
    noor = signed_in("noor")

    assert [noor.get(url).status_code for url in (blind, other)] == [403, 200]
    assert signed_in("rita").get(blind).status_code == 200


def test_runs_are_narrowed_as_on_the_page_and_steered(launch: Any, signed_in: Any) -> None:
    nothing, everything = launch(pipeline="nothing"), launch(pipeline="everything")
    noor = signed_in("noor")

    def shown(query: str) -> list[int]:
        return [row["id"] for row in noor.get(f"/api/runs/?{query}").json()["results"]]

    def steered(action: str) -> Any:
        url = f"/api/runs/{nothing.pk}/control/"
        return noor.post(url, {"action": action}, content_type="application/json")

    assert shown("pipeline=everything&gold=demo@1&split=all") == [everything.pk]
    assert shown(f"search={nothing.pk}&status=queued&mine=true") == [nothing.pk]
    statuses = [steered(action).json()["status"] for action in ("pause", "resume", "cancel")]
    assert statuses == ["paused", "queued", "cancelled"]
    assert (steered("resume").status_code, steered("resume").json()["code"]) == (400, "run_refused")


def test_predictions_of_a_file_become_a_run(release, signed_in, monkeypatch):
    items = release.items.order_by("position")
    lines = [{"case_id": item.item_id, "output": {"requirements": []}} for item in items]
    noor = signed_in("noor")

    def send(text: str) -> Any:
        file = SimpleUploadedFile("run.jsonl", text.encode())
        return noor.post("/api/runs/predictions/", {"file": file, "gold": "demo", "name": "Mine"})

    launched = send("\n".join(map(json.dumps, lines)))
    refused = send("{")
    monkeypatch.setattr(predictions, "MAX_BYTES", 10)
    too_large = send(" " * 11)

    assert launched.status_code == 201
    assert Run.objects.get().name == launched.json()["name"] == "Mine"
    assert (refused.status_code, refused.json()["code"]) == (400, "predictions_refused")
    assert "larger than 100 MB" in too_large.json()["details"]["fields"]["file"][0]
