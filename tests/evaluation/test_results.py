from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from evaluation.metrics.calibration import NO_PREDICTION
from evaluation.metrics.registry import METRICS
from evaluation.models import CaseRun, Run, RunSpec
from evaluation.services.run import results
from labeling.domain.facts import Fact
from tests.evaluation.conftest import fails

pytestmark = pytest.mark.django_db


def test_results_json_has_the_promised_shape(finished: Any, script: Any, signed_in: Any) -> None:
    script(fails(ValueError("no <b>luck</b>"), at="case-001"))
    run = finished()

    document = signed_in("noor").get(reverse("run-report", args=[run.pk, "json"])).json()

    promised = {"timestamp", "run", "gold", "pipeline", "config", "metrics_version",
                "protocol_version", "metrics", "cases"}  # fmt: skip
    assert promised <= set(document)
    assert document["gold"] == {"name": "demo", "version": 1, "sha256": run.release.sha256}
    figures = {"mean", "median", "std", "min", "max", "ci_low", "ci_high", "n", "n_undefined",
               "n_failed", "conversations"}  # fmt: skip
    assert figures <= set(document["metrics"]["requirement_f1"])
    good, bad = document["cases"][:2]
    assert good["metrics"]["requirement_f1"] == 1.0
    assert good["error"] is None
    assert bad["metrics"]["requirement_f1"] == 0.0
    assert bad["error"] == "ValueError: no <b>luck</b>"


def test_an_undefined_value_has_its_reason_and_the_table_goes_on_after_a_chunk(
    finished, signed_in, monkeypatch
):
    run = finished(pipeline="nothing")

    case = signed_in("noor").get(reverse("run-report", args=[run.pk, "json"])).json()["cases"][0]
    assert case["metrics"]["type_accuracy"] is None
    assert "similar text" in case["undefined"]["type_accuracy"]

    whole = list(results.case_table(run))
    monkeypatch.setattr(results, "CHUNK", 2)
    assert list(results.case_table(run)) == whole
    assert len(whole) == 1 + 3


def test_where_all_has_failed_there_is_no_calibration_error_and_no_cell_is_a_formula(
    finished, script, signed_in
):
    script(fails(ValueError()))
    run = finished()

    figures = signed_in("noor").get(reverse("run-report", args=[run.pk, "json"])).json()["metrics"]
    assert figures["requirement_f1"]["mean"] == 0.0
    for name in ("ece", "mce", "brier"):
        stored = run.aggregates.get(metric=name)
        assert (figures[name]["mean"], figures[name]["n"]) == (None, 0)
        assert stored.n_failed == stored.n_undefined > 0
        assert stored.reason == NO_PREDICTION

    CaseRun.objects.filter(run=run).update(
        error=Fact("legacy.text", text='=HYPERLINK("http://x","y")')
    )

    response = signed_in("noor").get(reverse("run-report", args=[run.pk, "csv"]))

    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert rows[0]["case_id"] == "case-000"
    assert rows[0]["error"].startswith("'=HYPERLINK")
    assert rows[0]["requirement_f1"] == "0.0"
    assert rows[0]["type_accuracy"] == "0.0"
    assert (rows[0]["expected_ids"], rows[0]["returned_ids"]) == ("0", "")


def test_the_spec_says_how_to_repeat_the_run_and_holds_no_secret(launch, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "sk-secret")

    spec = launch(seed=4).spec.as_json()

    assert spec["gold"]["name"] == "demo"
    assert spec["config"] == {"confidence": 0.5}
    assert spec["seed"] == 4
    assert spec["metrics"]["requirement_f1"] == METRICS["requirement_f1"].version
    assert spec["packages"]["django"]
    assert set(spec["git"] or {"commit": "", "dirty": False}) == {"commit", "dirty"}
    assert "sk-secret" not in json.dumps(spec)


OLD = {
    "gold": {"name": "demo", "version": 1, "sha256": "abc"},
    "layer": "extraction",
    "matching": {"threshold": 1, "synonyms": [["a", "b"]]},
    "of a later version": {"kept": True},
}


@pytest.mark.postgres
def test_an_older_row_is_read_with_defaults_and_kept_as_it_is(launch: Any) -> None:
    run = launch()
    Run.objects.filter(pk=run.pk).update(spec=RunSpec.model_validate(OLD))

    spec = Run.objects.get(pk=run.pk).spec

    assert (spec.gold.name, spec.matching.threshold, spec.layer) == ("demo", 1, "extraction")
    assert (spec.model, spec.has_answers, spec.predictions, spec.thresholds) == (
        None,
        False,
        None,
        {},
    )
    assert spec.as_json() == OLD
    assert spec.with_values(ruler="r").as_json() == OLD | {"ruler": "r"}


@pytest.mark.postgres
def test_the_column_holds_plain_json_that_can_be_searched(launch: Any) -> None:
    run = launch(seed=7)

    assert Run.objects.filter(spec__seed=7, spec__gold__name="demo").get() == run
    assert Run.objects.values_list("spec__gold__name", flat=True).get() == "demo"
    with connection.cursor() as cursor:
        cursor.execute("SELECT spec FROM evaluation_run")
        assert '"seed": 7' in str(cursor.fetchone()[0]).replace("'", '"')


def test_a_run_keeps_only_the_keys_that_it_has(launch: Any) -> None:
    stored = launch().spec.as_json()

    assert stored["model"] is None
    assert not {"answers", "predictions", "thresholds", "size", "configuration"} & stored.keys()
