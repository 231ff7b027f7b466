"""Runs on inferred requirements and issues: input, figures and pages."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from evaluation.models import Rating, Run, Yardstick
from evaluation.services.run import execution, results
from evaluation.services.run.comparisons import NotComparable, compare_runs
from evaluation.services.work import steering
from labeling.models import Project
from pipelines.types import Case, Output
from tests.evaluation.conftest import requirement
from tests.evaluation.figures import aggregate, mean, value
from tests.evaluation.requirement_releases import inferred, issue, make_release, pii
from tests.refusals import refused

# --- what a pipeline gets ---


@pytest.mark.parametrize("layer", ["inference", "validation"])
def test_it_gets_the_requirements_that_labels_refer_to_and_no_label(
    project, script, finished, layer
):
    seen: list[Case] = []

    def look(case: Case) -> Output:
        seen.append(case)
        return {"inferred_requirements": [], "issues": []}

    script(look)
    gold = {"inferred_requirements": [inferred("Lock")], "issues": [issue()]}
    key = {"inference": "inferred_requirements", "validation": "issues"}[layer]
    finished(release=make_release(project, layer, {key: gold[key]}))

    (case,) = seen
    assert [requirement["uid"] for requirement in case.requirements or ()] == ["u1"]
    assert case.task == layer
    assert "Say less" not in repr(case)
    assert "necessity" not in repr(case)


def test_the_whole_way_starts_from_the_conversation_alone(project, script, finished):
    seen: list[Case] = []

    def look(case: Case) -> Output:
        seen.append(case)
        return {"requirements": []}

    script(look)
    finished(release=make_release(project, "end_to_end", {"requirements": [requirement(1)]}))

    assert seen[0].requirements is None
    assert seen[0].task == "end_to_end"


@pytest.mark.parametrize("layer", ["extraction", "inference", "validation", "end_to_end"])
def test_the_agent_runs_on_every_requirement_layer(project, finished, layer, no_encoder):
    gold = {
        "requirements": [requirement(1)],
        "inferred_requirements": [inferred("Lock")],
        "issues": [issue()],
    }

    run = finished(release=make_release(project, layer, gold), pipeline="requirements-agent")

    assert (run.status, run.n_failed) == ("finished", 0)
    assert not Yardstick.objects.exclude(failure=None).exists()  # nor does a floor fail
    assert all(row.mean is not None or row.reason for row in results.aggregates_of(run))


# --- inference ---


@pytest.fixture
def inference_run(project: Project, script: Any, finished: Any) -> Run:
    """Two cases: of two inferences one is in gold; of one none."""

    def behave(case: Case) -> Output:
        titles = ["Lock", "Dance"] if case.case_id == "case-1" else ["Sing"]
        return {"inferred_requirements": [inferred(title, confidence=0.9) for title in titles]}

    script(behave)
    golds = [{"inferred_requirements": [inferred("Lock")]}, {"inferred_requirements": []}]
    return finished(release=make_release(project, "inference", *golds))


def test_gold_judges_while_nobody_rates(inference_run: Run) -> None:
    assert mean(inference_run, "inference_relevance") == (0.5 + 0.0) / 2
    assert mean(inference_run, "false_inference_rate") == (0.5 + 1.0) / 2
    assert mean(inference_run, "brier") == pytest.approx((0.01 + 0.81 + 0.81) / 3)
    detail = aggregate(inference_run, "inference_relevance").detail
    assert detail["basis"] == "gold"
    assert detail["micro"] == {"matches": 1, "gold": 1, "predicted": 3}


def rate(run: Run, judge: User, **scores: list[int]) -> None:
    for case_id, given in scores.items():
        case = next(case for case in run.cases.all() if case.case_id == case_id.replace("_", "-"))
        for position, score in enumerate(given):
            Rating.objects.create(
                case=case, kind="need", position=position, rater=judge, score=score, frozen=True
            )


def rescored(run: Run) -> Run:
    steering.CONTROLS["rescore"](run, by=run.requested_by)
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().get(pk=run.pk)


def test_what_people_rated_is_not_compared_with_what_gold_judged(inference_run, finished, people):
    by_gold = finished(release=inference_run.release)
    rate(inference_run, people["ana"], case_1=[2, 2], case_2=[1])

    with refused(NotComparable, match="rated by people"):
        compare_runs(by_gold, rescored(inference_run))


def test_a_judge_who_is_not_done_does_not_count_yet(inference_run, people):
    rate(inference_run, people["ana"], case_1=[2, 2])
    rate(inference_run, people["ben"], case_1=[0])

    run = rescored(inference_run)

    assert value(run, "case-1", "inference_relevance") == 1.0
    assert value(run, "case-2", "inference_relevance") is None
    result = aggregate(run, "inference_relevance")
    assert (result.mean, result.n, result.n_undefined) == (1.0, 1, 1)


# --- validation ---


@pytest.fixture
def validation_run(project: Project, script: Any, finished: Any) -> Run:
    """Micro: 1 of 2 texts found and 1 invented in the first case, none on either side after."""

    def behave(case: Case) -> Output:
        if case.case_id == "case-1":
            result = [issue(severity="error"), pii("Ana"), pii("Ben", requirement="u2")]
            return {"issues": result}
        return {"issues": [issue("untestable")]}

    script(behave)
    golds = [
        {"issues": [issue(), pii("Ana"), pii("Cleo", field="title")]},
        {"issues": [issue("untestable"), issue("missing_actor", field="actor")]},
    ]
    return finished(release=make_release(project, "validation", *golds))


def test_issues_and_personal_data_are_counted(validation_run: Run) -> None:
    run = validation_run

    assert value(run, "case-1", "issue_recall") == 2 / 3
    assert value(run, "case-1", "issue_precision") == 2 / 3
    assert value(run, "case-1", "severity_accuracy") == 0.5
    assert mean(run, "issue_recall") == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert [mean(run, f"pii_{name}") for name in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    assert aggregate(run, "pii_f1").n_undefined == 1
    detail = aggregate(run, "issue_f1").detail
    assert (detail["micro"]["matches"], detail["micro"]["gold"]) == (3, 5)
    by_type = next(
        breakdown for breakdown in detail["breakdowns"] if breakdown["title"] == "Issue type"
    )
    assert {row["group"]: (row["mean"], row["n"]) for row in by_type["rows"]} == {
        "missing_actor": (0.0, 1),
        "pii": (0.5, 2),
        "too_broad": (1.0, 1),
        "untestable": (1.0, 1),
    }


@pytest.mark.parametrize("layer", ["extraction", "validation"])
def test_crashing_raises_no_figure_over_all_cases_together(layer, project, script, finished):
    key, label = ("requirements", requirement(1)) if layer == "extraction" else ("issues", issue())

    def first_only(case: Case) -> Output:
        if case.case_id != "case-1":
            raise ValueError("no")
        return {key: [label], "model": None}

    script(first_only)
    golds: list[dict[str, Any]] = [{key: [label]}, {key: []}, {key: [label, label]}]

    run = finished(release=make_release(project, layer, *golds))

    # of a failed case as much as gold holds, at least one, is taken for returned and wrong
    micro = next(row.detail["micro"] for row in results.aggregates_of(run) if row.detail)
    assert (micro["matches"], micro["gold"], micro["predicted"]) == (1, 3, 1 + 1 + 2)
    assert (micro["recall"], micro["precision"]) == (1 / 3, 1 / 4)
