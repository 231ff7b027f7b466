"""Answers written from what was retrieved, judged and scored."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from evaluation import judge
from evaluation.models import Answer, Judgement, Run
from evaluation.services.language_models import budgets
from evaluation.services.run import execution, results
from labeling.words import in_english
from pipelines.types import Case, Output
from tests import llm_server
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.evaluation.answers import kind_of, kinds_asked
from tests.evaluation.conftest import work
from tests.evaluation.figures import aggregate
from tests.evaluation.judging.conftest import CALLS
from tests.llm_server import LanguageServer


def test_a_failed_case_without_a_reference_counts_nowhere_in_correctness(start, server, script):
    def fail_the_third(case: Case) -> Output:
        if "Who" in (case.question or ""):
            raise ValueError("no")
        return asked.retrieve(case)

    script(fail_the_third)

    run = work(start())

    correctness, relevance = aggregate(run, "correctness"), aggregate(run, "relevance")
    assert (correctness.mean, correctness.n, correctness.n_undefined) == (4, 2, 1)
    assert (relevance.mean, relevance.n, relevance.n_failed) == (6, 3, 1)  # (9 + 9 + 0)/3


def test_answers_are_written_from_what_was_retrieved_and_judged_by_the_same_messages(server, start):
    run = work(start())

    assert run.status == "finished", run.failure or run.pause_reason
    assert len(server.requests) == CALLS
    answer = Answer.objects.get(case__run=run, case__part="q1")
    assert answer.message_ids == [2, 3]  # once each, in the chat's order, and none that is not
    assert answer.text == "It was Rome, and it rained."
    assert answer.model == llm_server.SERVED
    assert answer.prompt_sha256 == judge.shipped("answer").sha256
    for body in server.requests:
        if kind_of(body) in ("answer", "faithfulness"):
            assert "Message 2 of" in asked.data_of(body)
            assert "Message 3 of" in asked.data_of(body)
            assert "Message 4 of" not in asked.data_of(body)
    references = [asked.data_of(body) for body in server.requests if kind_of(body) == "correctness"]
    assert ["Rome" in text.split("Reference answer")[1] for text in references] == [True, True]


def test_scores_have_reasons(server, start):
    run = work(start())

    means = asked.means(results.aggregates_of(run))
    assert [means[name] for name in ("faithfulness", "relevance", "completeness")] == [8, 9, 6.5]
    assert means["correctness"] == 4
    assert aggregate(run, "correctness").n == 2
    assert aggregate(run, "correctness").n_undefined == 1  # no reference: never asked, never 0
    judgement = Judgement.objects.get(answer__case__part="q1", kind="faithfulness")
    assert (judgement.score, judgement.reasoning) == (8, "As the messages say.")
    # "It was Rome, and it rained." -> it wa rome it rain; "Rome" -> rome: 2 x 1 / (5 + 1)
    case = next(score for score in results.cases_with_scores(run) if score.part == "q1")
    score = next(score for score in case.scores.all() if score.metric == "answer_token_f1")
    assert score.value == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("reply", "error", "times"),
    [
        ("I would give it an 8.", "JSON", 2),
        ('{"score": "8", "reasoning": "Good."}', "schema", 2),
        ('{"score": 8}', "schema", 2),
        ('Here: {"score": 8, "reasoning": "Good."}', "not JSON", 1),
    ],
)
def test_a_reply_that_is_no_verdict_is_a_failure_that_is_counted_and_never_a_score(
    server, start, reply, error, times
):
    server.default = lambda body: reply if kind_of(body) == "relevance" else asked.speak(body)

    run = work(start())

    row = aggregate(run, "relevance")
    assert (row.mean, row.n, row.n_undefined) == (None, 0, 3)
    assert row.detail["judge_failures"] == 3
    failed = Judgement.objects.filter(kind="relevance").first()
    assert (failed.state, failed.error_class, failed.raw) == ("failed", "parse", reply)
    assert error in in_english(failed.error)
    assert aggregate(run, "faithfulness").mean == 8
    assert len(server.requests) == CALLS + 3 * (times - 1)  # once more, not until it says a score


def test_a_case_that_failed_has_no_answer_and_counts_with_the_worst_value(server, start, script):
    def fails_once(case: Any) -> Any:
        if case.question.startswith("Where?"):
            raise ValueError("It broke.")
        return asked.retrieve(case)

    run = start()
    script(fails_once)
    run = work(run)

    assert run.status == "finished"
    row = aggregate(run, "faithfulness")
    assert (row.mean, row.n, row.n_failed) == (pytest.approx(16 / 3), 3, 1)  # (0 + 8 + 8) / 3
    assert kinds_asked(server).count("answer") == 2
    assert aggregate(run, "correctness").mean == 2  # (0 + 4) / 2


def test_a_run_without_answers_has_no_figure_of_them(start: Any) -> None:
    run = work(start(evaluate_answers=False))

    assert "faithfulness" not in asked.means(results.aggregates_of(run))
    assert "faithfulness" not in run.spec.metrics


def test_the_state_tells_the_phase(server: LanguageServer, start: Any) -> None:
    run = start()
    seen = set()

    def look() -> None:
        seen.add(Run.objects.with_progress().get(pk=run.pk).status)

    execution.work(run.pk, uuid4(), progress=look)

    assert seen == {"running", "answering", "judging", "scoring", "finished"}


def test_the_estimate_counts_answers_and_judgements(server: LanguageServer, start: Any) -> None:
    run = start()
    before = launching.estimate(run.release, pipeline="lexical", evaluate_answers=True)
    assert before.cases == 3
    assert before.prompt_tokens == 3 * 5 * budgets.ANSWER_PROMPT_TOKENS
    assert launching.estimate(run.release, pipeline="lexical") is None

    work(run)

    after = launching.estimate(run.release, pipeline="lexical", evaluate_answers=True)
    assert (after.prompt_tokens, after.completion_tokens) == (3 * 5 * 100, 3 * 5 * 10)


def test_results_hold_the_answers_with_what_the_judge_said(server, start):
    case = results.results_document(work(start()))["cases"][0]

    assert case["answer"]["message_ids"] == [2, 3]
    assert case["judgements"]["faithfulness"]["score"] == 8
    assert case["judgements"]["faithfulness"]["reasoning"] == "As the messages say."
