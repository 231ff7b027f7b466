"""Compare: several runs, what is said of each, the plot, and the cases one by one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from django.utils.translation import override

from evaluation.metrics.comparison import MARGIN, compare
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Run, Score
from evaluation.services.run.compared_cases import compared_cases
from evaluation.services.run.comparisons import (
    Compared,
    MetricComparison,
    NotComparable,
    compare_with,
)
from evaluation.services.run.conclusions import conclusion
from evaluation.services.run.primary_metrics import Primary
from evaluation.views.plots import forest
from labeling.words import in_english, words
from pipelines.errors import PipelineError
from pipelines.types import Case, Output
from tests.evaluation.conftest import perfect, requirement
from tests.pages import text_of
from tests.refusals import refused

pytestmark = pytest.mark.django_db

F1 = METRICS["requirement_f1"]


def mixed(case: Case) -> Output:
    """Worse on the first case, better on the second; the third fails, the rest is as before."""
    if case.case_id == "case-000":
        return {"requirements": [], "model": None}
    if case.case_id == "case-002":
        raise PipelineError("reply.empty")
    return perfect(case)


def before(case: Case) -> Output:
    return {"requirements": [], "model": None} if case.case_id == "case-001" else perfect(case)


@pytest.fixture
def pair(script: Any, finished: Any, make_release: Any) -> tuple[Run, Run]:
    release = make_release(5, name="pair")
    script(before)
    baseline = finished(release=release, name="old")
    script(mixed)
    return baseline, finished(release=release, name="new", config={"confidence": 0.9})


def comparison_of(
    metric: Metric, old: list[Share], new: list[Share], owners: list[str]
) -> Compared:
    """Of run 17 with run 9, by one metric."""
    result = compare(old, new, clusters=owners, metric=metric)
    return Compared(
        before=Run(pk=9),
        after=Run(pk=17),
        rows=[MetricComparison(metric, result, "primary", result.p_value, MARGIN)],
        declared=Primary(metric),
        declared_after=[],
        shared=len(old),
        only_before=0,
        only_after=0,
        changed={},
        judges_differ=[],
        together=1,
        tried=1,
    )


def address(baseline: Run, *runs: Run, **asked: Any) -> str:
    pairs = [("baseline", baseline.pk), *(("run", run.pk) for run in runs), *asked.items()]
    return f"{reverse('run-compare')}?{urlencode(pairs)}"


def case_address(baseline: Run, run: Run, number: int = 0) -> str:
    case = run.cases.order_by("pk")[number]
    return reverse("run-compare-case", args=[baseline.pk, run.pk, case.pk])


def shown_cases(client: Any, url: str) -> list[str]:
    response = client.get(url)
    assert response.status_code == 200
    return [row.case_id for row in response.context["page"]]


# --- which runs -----------------------------------------------------------------------------------


def test_a_run_that_cannot_be_compared_does_not_hide_the_others(pair, launch, signed_in):
    waiting = launch(release=pair[0].release)

    text = text_of(signed_in("noor").get(address(pair[0], waiting, pair[1])))

    assert f"Run {waiting.pk} cannot be compared." in text
    assert "no scores yet" in text
    assert f"Whether run {pair[1].pk} is better or worse than run {pair[0].pk}" in text


def test_neither_too_many_runs_nor_one_twice(pair: tuple[Run, Run]) -> None:
    with refused(NotComparable, match="at once"):
        compare_with(pair[0], [pair[1]] * 6)
    with refused(NotComparable, match="twice"):
        compare_with(pair[0], [pair[0]])
    with refused(NotComparable, match="at least one"):
        compare_with(pair[0], [])


# --- what is said ---------------------------------------------------------------------------------


def test_of_one_conversation_only_this_one_is_spoken_of(script, finished, make_release, signed_in):
    release = make_release(1, name="alone")
    script(perfect)
    baseline = finished(release=release)
    script(mixed)

    text = text_of(signed_in("noor").get(address(baseline, finished(release=release))))

    assert "no interval, primary metric, 1 conversation." in text
    assert "A single conversation says nothing about others" in text


def test_several_runs_are_corrected_together_and_the_sentence_says_so(
    pair, finished, script, signed_in
):
    baseline, run = pair
    script(perfect)
    third = finished(release=run.release)

    single = compare_with(baseline, [run])[0].primary
    alone = single.comparison
    together = compare_with(baseline, [run, third])
    text = text_of(signed_in("noor").get(address(baseline, run, third)))
    api = signed_in("noor").get(
        reverse("api-compare"), {"baseline": baseline.pk, "run": [run.pk, third.pk]}
    )

    wider = together[0].primary
    assert (single.level, wider.level) == (1 - 0.05 / 3, 1 - 0.05 / 6)
    assert (wider.comparison.p_value, alone.p_value) == (alone.p_value, alone.p_value)
    assert (together[0].primary.conversations_needed or 0) > (single.conversations_needed or 0)
    assert "primary metric, 2 runs corrected together, 5 conversations." in text
    assert [each["run"] for each in api.json()["runs"]] == [run.pk, third.pk]
    assert api.json()["runs"][0]["changed"] == {"confidence": [0.5, 0.9]}
    figures = api.json()["runs"][0]["metrics"]["requirement_f1"]
    assert (figures["direction"], figures["n"], figures["n_undefined"]) == ("higher", 5, 0)
    assert (figures["conversations"], figures["verdict"]) == (5, "undecided")
    assert figures["sentence"].startswith(f"Whether run {run.pk} is better or worse than run")


def test_what_few_conversations_show_is_kept_apart_from_what_new_ones_would() -> None:
    """140 questions of two chats, of which the run answers about twice as many."""
    metric = METRICS["evidence_recall"]
    old = [Share(float(at % 5 == 0), 1.0) for at in range(140)]
    new = [Share(float(at % 5 < (2 if at < 70 else 4)), 1.0) for at in range(140)]
    owners = ["chat 1"] * 70 + ["chat 2"] * 70
    compared = comparison_of(metric, old, new, owners)
    row = compared.primary

    said = [in_english(fact) for fact in conclusion(row, compared)]

    assert row.verdict == "undecided"
    assert said[0].startswith("Whether run 17 is better or worse than run 9 is undecided for new")
    assert said[1] == "On these 2 conversations run 17 is better (140 cases, p < 0.001)."
    assert said[2].startswith("For new conversations this cannot be decided with 2; at this spread")
    assert said[2].endswith("are needed.")
    with override("de"):
        assert words(conclusion(row, compared)[1]) == (
            "In diesen 2 Gesprächen ist Lauf 17 besser (140 Fälle, p < 0,001)."
        )


# --- the plot -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "right"),
    [
        ("requirement_f1", 0.2, True),
        ("requirement_f1", -0.2, False),
        ("false_inference_rate", 0.2, False),
        ("false_inference_rate", -0.2, True),
    ],
)
def test_the_plot_has_better_on_the_right_whichever_way_a_metric_goes(name, change, right):
    old = [Share(0.4 + 0.02 * (at % 3), 1.0) for at in range(8)]
    new = [Share(share.numerator + change, 1.0) for share in old]
    compared = comparison_of(METRICS[name], old, new, [str(at) for at in range(8)])

    plot = forest([(compared.primary, compared)])

    [(_, [mark])] = plot.lines
    assert (mark.place > 50) is right
    assert mark.low is not None
    assert mark.high is not None
    assert 0 <= mark.low < mark.place < mark.high <= 100
    assert plot.margin_low < 50 < plot.margin_low + plot.margin_width


# --- the cases ------------------------------------------------------------------------------------


FILTERED = [
    ({"outcome": "regression"}, ["case-000", "case-002"]),
    ({"outcome": "improvement"}, ["case-001"]),
    ({"outcome": "tie"}, ["case-003", "case-004"]),
    ({"outcome": "undefined"}, []),
    ({"outcome": "failed"}, ["case-002"]),
    ({"outcome": "nonsense"}, ["case-000", "case-002", "case-001", "case-003", "case-004"]),
]


def test_cases_are_filtered_by_what_changed(pair, signed_in):
    assert [row.change for row in compared_cases(*pair, F1)] == [-1.0, -1.0, 1.0, 0.0, 0.0]
    for asked, cases in FILTERED:
        assert shown_cases(signed_in("noor"), address(*pair, **asked)) == cases


def test_what_is_undefined_is_last_and_has_no_change(pair: tuple[Run, Run]) -> None:
    Score.objects.filter(case__run=pair[1], metric=F1.id, case__item__item_id="case-000").update(
        value=None, numerator=None, weight=None, reason={"code": "metric.no_events", "values": {}}
    )

    result = compared_cases(*pair, F1)

    assert (result[-1].case_id, result[-1].change) == ("case-000", None)
    assert [row.outcome for row in result].count("undefined") == 1


def test_a_case_shows_both_outputs_word_by_word_against_gold(
    script, finished, make_release, signed_in
):
    release, client = make_release(1, name="words"), signed_in("noor")
    script(perfect)
    baseline = finished(release=release)
    other = requirement(1, priority="should")
    script(lambda case: {"requirements": [other, requirement(7)], "model": None})
    run = finished(release=release)

    page = client.get(case_address(baseline, run))
    part = client.get(case_address(baseline, run), headers={"HX-Request": "true"})

    html = part.content.decode()
    assert "<html" not in html
    assert "Priority: <del>must</del><ins>should</ins>" in html
    assert "as in gold" in html
    assert "not in gold" in html
    assert "Open the case" in text_of(page)


def test_a_case_whose_pipeline_failed_says_so(pair: tuple[Run, Run], signed_in: Any) -> None:
    text = text_of(signed_in("noor").get(case_address(*pair, 2)))

    assert f"Run {pair[1].pk} failed:" in text
    assert "missed" in text
