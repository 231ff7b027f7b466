from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.urls import reverse

from evaluation.metrics.calibration import NO_PREDICTION
from evaluation.metrics.registry import METRICS
from evaluation.models import CaseRun
from evaluation.services.run import results
from labeling.domain.facts import Fact
from tests.evaluation.conftest import fails

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


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


def test_an_undefined_value_is_null_with_its_reason_in_results_json(finished, signed_in):
    run = finished(pipeline="nothing")

    case = signed_in("noor").get(reverse("run-report", args=[run.pk, "json"])).json()["cases"][0]

    assert case["metrics"]["type_accuracy"] is None
    assert "similar text" in case["undefined"]["type_accuracy"]


def test_a_run_whose_cases_all_failed_has_no_calibration_error_but_the_reason(
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


def test_cases_csv_cannot_run_a_formula(finished: Any, script: Any, signed_in: Any) -> None:
    script(fails(ValueError()))
    run = finished()
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


def test_the_table_goes_on_after_a_chunk(finished: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished(pipeline="everything")
    whole = list(results.case_table(run))

    monkeypatch.setattr(results, "CHUNK", 2)

    assert list(results.case_table(run)) == whole
    assert len(whole) == 1 + 3


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
