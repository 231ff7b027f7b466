"""Predictions of every layer, from the command line and from the page, without any pipeline."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.layers import GOLD_LAYERS, gold_layer
from evaluation.models import Run
from evaluation.services.run import execution, results
from labeling.models import GoldRelease, Project
from tests.evaluation.conftest import requirement
from tests.evaluation.releases import freeze, item, said
from tests.evaluation.requirement_releases import inferred, issue

PHASES = [{"uid": "p1", "title": "Start", "evidence": [0]}]
SOLD = {"role": "Buyer", "span": {"message": 0, "start": 0, "end": 4, "text": "Acme"}}
LABELS: dict[str, dict[str, Any]] = {
    "extraction": requirement(1),
    "inference": inferred("Lock"),
    "validation": issue(),
    "end_to_end": requirement(1),
    "qa": {"uid": "q1", "question": "Who?", "answer": "Acme", "evidence": [0, 1]},
    "arc": {"uid": "a1", "question": "How did it go?", "phases": PHASES},
    "events": {"uid": "e1", "type": "Sale", "trigger": None, "arguments": [SOLD]},
}
FIGURES = {
    "extraction": "requirement_f1",
    "inference": "inference_relevance",
    "validation": "issue_f1",
    "end_to_end": "rd_coverage",
    "qa": "evidence_recall",
    "arc": "global_recall",
    "events": "strict_f1",
}
SUFFIX = {"qa": ":QA-001", "arc": ":ARC-001"}


@pytest.fixture(params=list(GOLD_LAYERS))
def gold(request: Any, project: Project) -> GoldRelease:
    """Two items of a layer, with equal labels."""
    layer = request.param
    labels, given = {gold_layer(layer).key: [LABELS[layer]]}, {"requirements": [requirement(1)]}
    talk = said(("Acme bought the mill.", "Really?"), roles=("user",))
    contents = [item(name, layer, labels, talk, given=given) for name in ("one", "two")]
    return freeze(project, layer, name="gold", contents=contents)


@pytest.fixture
def file(gold: GoldRelease, tmp_path: Path) -> Path:
    """The first item predicted as gold has it, the second one not at all, and one of no item."""
    output = gold_layer(gold.layer).as_output([LABELS[gold.layer]])
    lines = [
        {"case_id": f"{name}{SUFFIX.get(gold.layer, '')}", "output": output}
        for name in ("one", "elsewhere")
    ]
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def figures(run: Run) -> dict[str, float | None]:
    return {row.metric: row.mean for row in results.aggregates_of(run)}


def test_the_command_and_the_page_measure_them_alike_and_report_the_ids(
    gold, file, signed_in, django_capture_on_commit_callbacks, monkeypatch
):
    monkeypatch.setattr("pipelines.registry.build", None)
    suffix, out, client = SUFFIX.get(gold.layer, ""), StringIO(), signed_in("noor")

    call_command("evaluate", gold="gold", predictions=file, stdout=out)
    with file.open("rb") as sent, django_capture_on_commit_callbacks(execute=False):
        client.post(reverse("run-predictions"), {"release": gold.pk, "file": sent})
    by_command, by_page = Run.objects.order_by("pk")
    execution.work(by_page.pk, uuid4())

    assert figures(by_command)[FIGURES[gold.layer]] == 0.5  # right and missing
    assert figures(by_page) == figures(by_command)
    counted = Run.objects.with_progress().get(pk=by_page.pk)
    report = results.results_document(counted)["predictions"]
    assert (report["missing"], report["extra"]) == ([f"two{suffix}"], [f"elsewhere{suffix}"])
    assert "1 of 2 cases are predicted." in out.getvalue()
    assert f"Missing, counted as failed: two{suffix}." in out.getvalue()
    assert f"Extra, left aside: elsewhere{suffix}." in out.getvalue()
    page = client.get(f"{by_page.get_absolute_url()}?tab=provenance").content.decode()
    assert "1 case has no prediction and counts as failed" in page
    assert "1 id of the file is not a case of this run and was left out" in page
    assert f"elsewhere{suffix}" in page
    for case in by_page.cases.all():
        assert client.get(case.get_absolute_url()).status_code == 200
