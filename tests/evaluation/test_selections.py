"""Who names no split measures everything but test items, at every door, and is told how many."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.launch import cloning
from evaluation.services.run import results
from labeling.words import in_english
from tests.evaluation import launching

SAID = "2 test items of demo@1 are left out."


@pytest.fixture
def release(make_release: Any) -> Any:
    return make_release(4, splits=("dev", "test"))


def evaluate(*arguments: str) -> str:
    out = StringIO()
    call_command("evaluate", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def measured() -> tuple[str, set[str]]:
    run = Run.objects.latest("pk")
    return run.split, set(run.cases.values_list("item__split", flat=True))


def test_a_file_of_predictions_is_measured_without_its_test_items(release, tmp_path):
    path = tmp_path / "p.jsonl"
    rows = [{"case_id": f"case-00{n}", "output": {"requirements": []}} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))

    said = evaluate("--gold", "demo", "--predictions", str(path))

    assert SAID in said
    assert "2 of 2 cases are predicted." in said
    assert measured() == ("open", {"dev"})


def test_the_api_and_the_page_measure_all_but_test_items(release: Any, signed_in: Any) -> None:
    fields = {"gold": "demo", "pipeline": "nothing"}
    sent = signed_in("noor").post(reverse("api-runs"), fields, content_type="application/json")
    assert (sent.status_code, measured()) == (201, ("open", {"dev"}))

    form = {"release": release.pk, "pipeline": "nothing", "split": ""}
    launched = signed_in("noor").post(reverse("run-new"), form)
    assert measured() == ("open", {"dev"})
    assert SAID in signed_in("noor").get(launched["Location"]).content.decode()


def test_gold_of_test_items_alone_is_refused_and_says_how_to_ask(make_release: Any) -> None:
    make_release(2, splits=("test",))

    with pytest.raises(CommandError, match=r"every item of demo@1 is one.*--test-only"):
        evaluate("--gold", "demo", "--pipeline", "nothing")
    assert not Run.objects.exists()


def test_a_run_launched_again_measures_what_it_did(release: Any, people: Any) -> None:
    for split, again in (("all", "all"), ("open", "open"), ("test", "test")):
        run = launching.launch(release, pipeline="nothing", split=split, reason="Final figures")
        request = cloning.request(run, by=people["noor"])
        assert request.split == again
        assert request.selection == run.split


def test_older_runs_on_every_split_stay_as_they_are(release: Any) -> None:
    run = launching.launch(release, pipeline="nothing", split="all", reason="Final figures")

    assert run.split == ""
    assert looks.left_out(release, run.split) is None
    document = results.run_document(Run.objects.with_progress().get(pk=run.pk))
    assert (document["split"], document["test_items_left_out"]) == (None, 0)
    assert in_english(looks.left_out(release, "open")) == SAID
