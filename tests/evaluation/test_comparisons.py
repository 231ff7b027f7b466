"""Two runs side by side, and the log of experiments."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.report.content import Report
from evaluation.services.run import baselines, conclusions, planning, primary_metrics
from evaluation.services.run.baselines import BaselineRefused, baseline_of, choice_on
from evaluation.services.run.comparisons import NotComparable, compare_runs
from labeling.models import Event
from pipelines.types import Case, Output
from tests.evaluation.conftest import nothing, nothing_in_every, perfect, requirement
from tests.evaluation.screens import queries, text
from tests.refusals import refused


def only_the_first(case: Case) -> Output:
    return perfect(case) if case.case_id == "case-000" else nothing(case)


@pytest.fixture
def pair(script: Any, finished: Any, make_release: Any) -> tuple[Run, Run]:
    release = make_release(6, name="pair")
    script(only_the_first)
    before = finished(release=release, name="cautious")
    script(perfect)
    return before, finished(release=release, config={"confidence": 0.9}, name="bold")


def address(before: Run, after: Run) -> str:
    return reverse("run-compare") + f"?baseline={before.pk}&run={after.pk}"


def row(found: Any, metric: str) -> Any:
    return next(row for row in found.rows if row.metric.id == metric)


def test_a_run_that_is_the_best_of_several_is_tested_against_chance_among_all_of_them(pair, launch):
    """Five of six cases gained: t = 5 with 5 degrees of freedom, p = 0.0041, for each of three
    main metrics alike."""
    from scipy.stats import ttest_1samp

    release = pair[0].release

    def others(count: int, pipeline: str = "requirements-local") -> None:
        runs = [launch(pipeline=pipeline, release=release).pk for _ in range(count)]
        Run.objects.filter(pk__in=runs).update(scored_at=timezone.now())

    def said() -> tuple[str, Any]:
        [of_run] = conclusions.document(pair[0], [compare_runs(*pair)])["runs"]
        return of_run["sentence"], of_run["selection"]

    p_value = ttest_1samp([0, 1, 1, 1, 1, 1], 0).pvalue
    others(3, "nothing")  # floors compete with none, and what is not finished does not either
    launch(pipeline="requirements-local", release=release)

    sentence, selection = said()
    assert "counted" not in sentence
    assert selection == {"runs": 1, "p_value": pytest.approx(3 * p_value)}

    others(10)
    sentence, selection = said()
    assert "11 runs were measured" in sentence
    assert "The verdict holds even if this one was chosen" in sentence
    assert selection == {"runs": 11, "p_value": pytest.approx(11 * p_value)}

    others(10)
    sentence, selection = said()
    assert "better than" in sentence
    assert "nothing is decided (p = 0.086, all of them counted)" in sentence
    assert selection["runs"] == 21


def test_an_identical_rerun_is_said_to_be_identical_without_a_test(
    pair, finished, signed_in, capsys
):
    again = finished(release=pair[1].release)
    result = compare_runs(pair[1], again)
    page = signed_in("noor").get(address(pair[1], again)).content.decode()
    call_command("compare", str(pair[1].pk), str(again.pk))
    said = f"Every output of run {again.pk} is the same as that of run {pair[1].pk}, in 6 cases"

    assert {each.verdict for each in result.rows} == {"identical", "exploratory"}
    assert [each.comparison.ci_low for each in result.rows] == [None] * len(result.rows)
    assert "undecided" not in page
    assert said in page
    assert said in capsys.readouterr().out


def test_runs_that_score_alike_and_answer_otherwise_are_not_identical(pair, finished, script):
    def surer(case: Case) -> Output:
        rows = [{**each, "rationale": "Said twice."} for each in perfect(case)["requirements"]]
        return {"requirements": rows, "model": None}

    script(surer)
    again = finished(release=pair[1].release)

    assert compare_runs(pair[1], again).verdict == "undecided"


def test_runs_without_a_shared_case_are_refused_with_that_reason(pair: tuple[Run, Run]) -> None:
    CaseRun.objects.filter(run=pair[1]).update(part="another")

    with refused(NotComparable, match="have no case in common"):
        compare_runs(*pair)


def test_a_certain_regression_of_another_main_metric_leads(
    script, finished, make_release, signed_in
):
    """Recall rises as far as precision falls: F1 is the same, and still precision is worse."""
    release = make_release(12, name="traded")
    extra = requirement(9, title="Dance", action="Dance")
    script(perfect)
    before = finished(release=release)
    script(lambda case: {"requirements": [*perfect(case)["requirements"], extra], "model": None})
    after = finished(release=release)
    primary_metrics.declare(release.project, "extraction", "requirement_recall", 0.03, by=None)

    result = compare_runs(before, after)
    page = signed_in("noor").get(address(before, after)).content.decode()
    document = conclusions.document(before, [result])["runs"][0]

    assert (result.primary.verdict, result.verdict) == ("undecided", "worse")
    assert ">Requirement recall: undecided<" in page
    assert ">Requirement precision: worse<" in page
    assert document["verdict"] == "worse"
    assert "is worse than" in document["sentence"]


def test_what_is_no_main_metric_is_not_tested(pair: tuple[Run, Run]) -> None:
    result = compare_runs(*pair)
    completeness = row(result, "criteria_completeness")

    assert [(row.metric.id, row.role) for row in result.rows[:4]] == [
        ("requirement_f1", "primary"),
        ("requirement_recall", "main"),
        ("requirement_precision", "main"),
        ("type_accuracy", "exploratory"),
    ]
    assert (completeness.corrected_p, completeness.verdict) == (None, "exploratory")
    assert completeness.comparison.p_value is not None


def test_figures_of_different_gold_are_not_compared(script, finished, make_release):
    script(perfect)
    runs = [finished(release=make_release(2, name=name)) for name in ("one", "two")]

    with refused(NotComparable, match="different gold"):
        compare_runs(*runs)


def test_figures_by_different_thresholds_are_not_compared(script, finished, make_release):
    release = make_release(2, name="pair")
    script(perfect)
    before = finished(release=release)
    release.project.match_threshold = 0.5
    release.project.save()

    with refused(NotComparable, match="different thresholds"):
        compare_runs(before, finished(release=release))


def test_cases_of_only_one_run_are_counted(script: Any, finished: Any, make_release: Any) -> None:
    release = make_release(4, name="split", splits=("dev", "train"))
    script(perfect)

    result = compare_runs(finished(release=release), finished(release=release, split="dev"))

    assert (result.only_before, result.only_after) == (2, 0)
    assert row(result, "requirement_f1").comparison.n == 2


def test_the_page_shows_the_verdict_and_costs_no_more_with_more_cases(
    pair, signed_in, script, finished, make_release
):
    client = signed_in("noor")

    few = queries(client, address(*pair))
    page = client.get(address(*pair)).content.decode()
    script(only_the_first)
    before = finished(release=make_release(12, name="larger"))
    script(perfect)
    after = finished(release=before.release)

    assert ">Requirement F1: better<" in page
    assert "+0.833" in page
    assert queries(client, address(before, after)) == few


def test_of_ticked_runs_the_chosen_one_is_the_baseline_else_the_oldest(
    pair, finished, launch, signed_in
):
    noor, url = signed_in("noor"), reverse("run-compare")
    third, waiting = finished(release=pair[0].release), launch(name="waiting")

    def shown(*runs: Run) -> tuple[Run | None, list[Run]]:
        context = noor.get(url, {"run": [run.pk for run in runs]}).context
        return context["baseline"], context["runs"]

    assert shown(third, pair[1], pair[0]) == (pair[0], [pair[1], third])
    assert shown(third) == (baseline_of(third).run, [third])
    assert shown(waiting) == (None, [waiting])
    assert shown() == (None, [])
    noor.post(reverse("run-baseline", args=[third.pk]))
    assert shown(pair[0], third) == (third, [pair[0]])
    listed = noor.get(reverse("runs")).content.decode()
    assert f'name="run" value="{third.pk}"' in listed
    assert f'name="run" value="{waiting.pk}"' not in listed


# --- a baseline that people choose ---


@pytest.fixture
def runs(script: Any, finished: Any, make_release: Any) -> list[Run]:
    """Three on the same cases, each of which fails in others."""
    release = make_release(8, name="base")
    scored = []
    for missed in (2, 3, 4):
        script(nothing_in_every(missed))
        scored.append(finished(release=release, config={"confidence": 0.5 + missed / 10}))
    return scored


def test_the_chosen_run_is_what_others_are_measured_against(runs, signed_in, people):
    weak, middle, newest = runs
    noor = signed_in("noor")
    assert baseline_of(newest) == (middle, [])

    noor.post(reverse("run-baseline", args=[weak.pk]))

    baseline = baseline_of(newest)
    assert baseline.run == weak
    assert baseline.said
    verdict = text(noor.get(reverse("run-verdict", args=[newest.pk])))
    compared = text(noor.get(reverse("run-compare"), {"baseline": weak.pk, "run": newest.pk}))
    for said in (verdict, compared):
        assert f"Run {weak.pk} has been the baseline of this gold and split since" in said
        assert "chosen by noor" in said
        assert f"It was chosen after run {newest.pk} was scored" in said
    marked = noor.get(reverse("runs")).context["runs"]
    assert [row.run.pk for row in marked if row.is_baseline] == [weak.pk]
    own = noor.get(weak.get_absolute_url())
    assert "No longer the baseline" in text(own)
    assert own.context["baseline"] is None  # nothing was before it
    basis = planning.plan(newest.release).basis
    pair = [basis.why.values[name] for name in ("run", "run2")]
    assert pair == [weak.pk, middle.pk]  # no pair differs by more
    compared = Report(Run.objects.with_progress().get(pk=newest.pk)).compared
    assert compared.before == weak


def test_a_choice_keeps_its_date_and_stays_on_record(runs, people, launch, finished, script):
    first, second, _ = runs
    baselines.choose(first, by=people["noor"])
    before = choice_on(first.release_id, first.split)
    baselines.choose(first, by=people["rita"])
    assert choice_on(first.release_id, first.split) == before

    baselines.choose(second, by=people["rita"])
    now = choice_on(first.release_id, first.split)
    assert (now.run_id, now.by, now.number) == (second.pk, "rita", 2)
    script(perfect)
    later = finished(release=first.release)
    assert now.after([first, later]) == [first.pk]  # scored when it was the baseline already

    baselines.take_back(first, by=people["rita"])  # it is not the baseline any more
    assert choice_on(first.release_id, first.split) == now
    baselines.take_back(second, by=people["rita"])
    assert choice_on(first.release_id, first.split) is None
    assert baselines.of_releases([first.release_id]) == {}
    log = Event.objects.filter(verb__startswith="baseline.").order_by("pk")
    assert [(event.verb, event.data.get("before")) for event in log] == [
        ("baseline.chosen", None),
        ("baseline.chosen", first.pk),
        ("baseline.taken_back", None),
    ]
    with refused(BaselineRefused, match="no figures yet"):
        baselines.choose(launch(), by=people["noor"])


def test_a_run_on_other_cases_is_not_measured_against_it(runs, finished, people):
    baselines.choose(runs[0], by=people["noor"])

    fewer = finished(release=runs[0].release, size=3)

    assert baseline_of(fewer) is None
