"""Judges that answer on another scale, or nothing that can be used: what every door says of it."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from evaluation.metrics.answers import Unreadable, read_verdict
from evaluation.metrics.registry import METRICS
from evaluation.models import Answer, Judging, Run
from evaluation.report import junit
from evaluation.report.content import Report
from evaluation.services.judging import judgings
from evaluation.services.run import results
from evaluation.services.work import steering
from labeling.domain.facts import Fact
from labeling.words import in_english
from pipelines.types import Case, Output
from tests.evaluation import answers as asked
from tests.evaluation.answers import kind_of, verdict
from tests.evaluation.conftest import work
from tests.evaluation.figures import aggregate
from tests.evaluation.judging.conftest import CALLS

pytestmark = pytest.mark.django_db

CLAMPED = "Relevance: 3 numbers of the judge lie outside 0 to 10 and count as 0 or 10 (3 cases)."
UNUSABLE = "Relevance: 3 replies of the judge cannot be used and count for nothing (3 cases)."


def for_relevance(reply: str) -> Any:
    return lambda body: reply if kind_of(body) == "relevance" else asked.speak(body)


def everywhere(reply: str) -> Any:
    """A judge that always says the same; the author writes as ever."""
    return lambda body: asked.speak(body) if kind_of(body) == "answer" else reply


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (verdict(10.0001), 10),
        (verdict(85), 10),
        (verdict(-1), 0),
        ('{"score": 1e999, "reasoning": "Much."}', 10),
        ('{"score": -1e999, "reasoning": "Little."}', 0),
        ('{"score": 1' + "0" * 400 + ', "reasoning": "Much."}', 10),
    ],
)
def test_a_number_outside_the_scale_is_the_nearest_end_and_flagged(reply, score):
    found = read_verdict(reply)

    assert (found.score, found.clamped) == (score, True)


@pytest.mark.parametrize(
    "reply",
    [
        '{"score": NaN, "reasoning": "None."}',
        '{"score": Infinity, "reasoning": "Much."}',
        verdict("8/10"),
        verdict("eight"),
        verdict(True),
        verdict(None),
        verdict({"value": 8}),
        '{"score": 8.5/10, "reasoning": "Good."}',
        '{"score": 8, "score": 3, "reasoning": "Either."}',
        '{"rating": 8, "reasoning": "Good."}',
        '[{"score": 8, "reasoning": "Good."}]',
        "Score: 8",
        "<think>Is it 8?</think>",
        "<think>It may be 8, or even 9",
    ],
)
def test_anything_but_a_number_is_a_failure_of_the_judge(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_verdict(reply)


def test_reasoning_without_an_answer_is_called_that() -> None:
    with pytest.raises(Unreadable) as caught:
        read_verdict("<think>Perhaps 8.</think>\n")

    assert "nothing but reasoning" in in_english(caught.value.fact)


@pytest.mark.parametrize(("reply", "said"), [(verdict(14), CLAMPED), (verdict("8/10"), UNUSABLE)])
def test_what_was_clamped_or_unusable_is_beside_the_figure_at_every_door(
    server, start, signed_in, capsys, reply, said
):
    server.default = for_relevance(reply)
    run = work(start())

    report = Report(run)
    assert said in [in_english(fact) for fact in report.limits]
    assert said in junit.render(report, METRICS["relevance"])
    assert said not in junit.render(report, METRICS["completeness"])
    page = signed_in("noor").get(reverse("run", args=[run.pk])).content.decode()
    assert said in page
    rows = list(csv.DictReader(StringIO("".join(results.case_table(run)))))
    column = "clamped" if said == CLAMPED else "judge_failed"
    assert [row[column] for row in rows] == ["relevance"] * 3
    call_command("judge", run.pk)
    assert said in capsys.readouterr().out


def test_a_judging_without_a_usable_reply_keeps_the_earlier_scores_and_ends_with_2(
    server, start, settings, capsys
):
    run = work(start())
    first = Judging.objects.get(run=run)
    settings.LLM_TEMPERATURE = 0.7  # another judge, so nothing comes from the cache
    server.default = lambda body: "<think>Let me see: an 8, perhaps.</think>"

    with pytest.raises(CommandError, match="nothing but reasoning") as caught:
        call_command("judge", run.pk)

    assert caught.value.returncode == 2
    assert "earlier scores stay" in str(caught.value)
    assert judgings.counting(run) == first
    assert aggregate(run, "faithfulness").mean == 8


# --- a pipeline's own answer ---


def tells(case: Case) -> Output:
    """A pipeline that answers two of three questions itself."""
    own = {"Where?": "Rome", "When?": " In June "}
    return {**asked.retrieve(case), "answer": own.get(case.question.partition(" (")[0])}


def test_a_pipelines_own_answer_is_measured_without_anybody_asking_for_answers(
    server, start, script
):
    run = start(evaluate_answers=False)
    script(tells)

    run = work(run)

    values = {
        case.part: {score.metric: score.value for score in case.scores.all()}
        for case in results.cases_with_scores(run)
    }
    assert [values[part]["answer_token_f1"] for part in ("q1", "q2", "q3")] == [1.0, 0.5, None]
    assert aggregate(run, "faithfulness").mean is None
    assert server.requests == []
    assert work(_rescored(run)).spec.has_answers
    assert Answer.objects.filter(case__run=run).count() == 2


def _rescored(run: Run) -> Run:
    steering.rescore(run, by=run.requested_by)
    return run


def test_a_pipelines_own_answer_is_judged_as_it_is_and_only_a_missing_one_is_written(
    server, start, script
):
    run = start()
    script(tells)

    run = work(run)

    texts = dict(Answer.objects.order_by("case").values_list("case__part", "text"))
    assert texts == {"q1": "Rome", "q2": "In June", "q3": "It was Rome, and it rained."}
    assert asked.kinds_asked(server).count("answer") == 1
    judged = [asked.data_of(body) for body in server.requests if kind_of(body) == "relevance"]
    assert ['"Rome"' in judged[0], '"In June"' in judged[1]] == [True, True]
    lines = [json.loads(line)["output"]["answer"] for line in results.prediction_lines(run)]
    assert lines == ["Rome", " In June ", "It was Rome, and it rained."]
    assert aggregate(run, "relevance").detail["answers"] == {"own": 2, "written": 1}
    remarks = [in_english(fact) for fact in results.remarks(run, results.aggregates_of(run))]
    assert any("1 answer was written by a language model" in remark for remark in remarks)
    cases = results.results_document(run)["cases"]
    assert [case["answer"]["written_by"] for case in cases] == ["pipeline", "pipeline", "model"]


def test_an_own_answer_is_no_request_for_answers_when_the_run_is_launched_again(
    server, start, script
):
    script(tells)
    run = work(start(evaluate_answers=False))

    assert run.spec.has_answers
    assert not run.spec.asks_for_answers


# --- what was not counted ---


def test_estimated_tokens_and_costs_are_marked_at_every_door(server, start, signed_in, capsys):
    server.counts_tokens = False
    run = work(start())

    said = in_english(Fact("remark.estimated", n=CALLS))
    assert f"for {CALLS} pieces" in said
    assert said in junit.render(Report(run), METRICS["relevance"])
    page = signed_in("noor").get(reverse("run", args=[run.pk])).content.decode()
    assert said in page
    assert results.run_document(run)["usage"]["estimated"] == CALLS
    call_command("judge", run.pk)
    out = capsys.readouterr().out
    assert said in out
    assert "(partly estimated)" in out
