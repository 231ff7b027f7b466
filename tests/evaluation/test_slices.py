"""A figure by groups of cases or labels: with the interval that it has over all cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from evaluation.layers.base import Example, Scored
from evaluation.layers.breakdown import Counted, by_label, rows
from evaluation.metrics.metric import Share, Value
from evaluation.metrics.registry import METRICS
from evaluation.models import Run
from evaluation.services.run import results
from labeling.models import Project
from pipelines.types import Case, Output
from tests.evaluation.figures import aggregate
from tests.evaluation.requirement_releases import issue, make_release
from tests.labeling.domain.test_uncertainty import cr2_of_matrices
from tests.pages import text_of

F1 = METRICS["issue_f1"]


def groups_of(sizes: dict[str, list[int]], seed: int) -> dict[str, list[list[float]]]:
    random = np.random.default_rng(seed)
    return {
        group: [list(random.uniform(0.2, 0.8, size)) for size in each]
        for group, each in sizes.items()
    }


@pytest.mark.parametrize("seed", range(3))
def test_each_group_has_the_interval_of_an_independent_computation(seed: int) -> None:
    from scipy import stats

    """CR2 and Satterthwaite by matrices, the t of scipy, on the logit scale by the delta method."""
    values = groups_of({"easy": [3, 5, 1, 4], "hard": [6, 2, 2], "other": [1] * 9}, seed)
    counted = [
        Counted(group, Share(value, 1.0), (group, number))
        for group, conversations in values.items()
        for number, cases in enumerate(conversations)
        for value in cases
    ]

    shown = {row["group"]: row for row in rows(reversed(counted))}

    for group, conversations in values.items():
        std_error, df = cr2_of_matrices([np.array(cases) for cases in conversations])
        mean = float(np.mean([value for cases in conversations for value in cases]))
        reach = stats.t.ppf(0.975, max(1.0, df)) * std_error / (mean * (1 - mean))
        ends = [
            1 / (1 + math.exp(-(math.log(mean / (1 - mean)) + side))) for side in (-reach, reach)
        ]
        row = shown[group]
        assert [row["mean"], row["ci_low"], row["ci_high"]] == pytest.approx([mean, *ends])
        assert (row["n"], row["conversations"]) == (
            sum(map(len, conversations)),
            len(conversations),
        )
        assert row["reason"] is None


def test_labels_of_one_conversation_count_together() -> None:
    """Ten labels of two conversations: found in one, missed in the other, say nothing of others."""

    def case(conversation: str, *, found: bool) -> Scored:
        alignment = [{"gold": number, "predicted": number, "matched": found} for number in range(5)]
        value = Value(float(found), detail={"alignment": alignment})
        gold: Any = [{"type": "rule"}] * 5
        return Scored(Example({}, gold, {}), {"f1": value}, False, conversation)

    [row] = by_label([case("a", found=True), case("b", found=False)], "f1", "type")

    assert (row["mean"], row["n"], row["conversations"]) == (0.5, 10, 2)
    assert row["ci_low"] is not None
    assert row["ci_low"] < 0.01
    assert row["ci_high"] is not None
    assert row["ci_high"] > 0.99


def test_what_is_undefined_says_why() -> None:
    counted = [
        Counted("alone", Share(1.0, 1.0), "a"),
        Counted("alone", Share(0.0, 1.0), "a"),
        Counted("none", None, "b"),
    ]

    alone, none = rows(counted)

    assert (alone["mean"], alone["ci_low"], alone["ci_high"], alone["n"]) == (0.5, None, None, 2)
    assert alone["reason"] == {"code": "yardstick.one_conversation", "values": {}}
    assert (none["mean"], none["ci_low"], none["n"], none["conversations"]) == (None, None, 0, 0)
    assert none["reason"] == {"code": "breakdown.no_value", "values": {}}


@pytest.fixture
def sliced(project: Project, script: Any, finished: Any) -> Run:
    """Three cases of each of two domains; of each, two are found."""

    def behave(case: Case) -> Output:
        return {"issues": [] if case.case_id in ("case-1", "case-2") else [issue()]}

    script(behave)
    run: Run = finished(release=make_release(project, "validation", *[{"issues": [issue()]}] * 6))
    return run


def test_page_report_and_files_show_the_same_interval(sliced: Run, signed_in: Any) -> None:
    stored = aggregate(sliced, "issue_f1").detail["breakdowns"][1]["rows"][0]
    interval = f"{stored['ci_low']:.3f} – {stored['ci_high']:.3f}"
    client = signed_in("noor")

    page = text_of(client.get(f"{sliced.get_absolute_url()}?tab=slices"))
    html = client.get(reverse("run-report", args=[sliced.pk, "html"])).content.decode()

    assert f"clinic 0.667 {interval} 3" in page
    assert f">{interval}</td>" in html
    figures = results.run_document(sliced)["metrics"]["issue_f1"]
    assert figures["breakdowns"][1]["rows"][0] == stored
