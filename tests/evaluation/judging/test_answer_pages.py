"""Answers and what was judged of them, on the pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluation import judge
from evaluation.models import Run
from evaluation.services.judging import judgings
from evaluation.services.run import gates
from evaluation.services.run.comparisons import compare_runs
from labeling.models import Project
from tests.evaluation import answers as asked
from tests.evaluation.answers import kind_of
from tests.evaluation.conftest import work
from tests.llm_server import LanguageServer


@pytest.mark.postgres
def test_the_page_of_a_run_names_its_judge_and_calls_it_uncalibrated(server, start, signed_in):
    run = work(start())

    text = signed_in("noor").get(f"{run.get_absolute_url()}?tab=answers").content.decode()

    assert "judge not certified" in text
    assert "Author and judge are the same model" in text
    assert "faithfulness.v2" in text


def test_a_case_shows_answer_messages_scores_reasons_and_failures(server, start, signed_in):
    reply = "<b>no verdict</b>"
    server.default = lambda body: reply if kind_of(body) == "relevance" else asked.speak(body)
    run = work(start())
    case = run.cases.get(part="q1")

    text = signed_in("noor").get(case.get_absolute_url()).content.decode()

    for said in ("It was Rome, and it rained.", "Message 2 of Chat_1", "As the messages say."):
        assert said in text
    assert "the judge failed" in text
    assert "&lt;b&gt;no verdict" in text


def test_the_run_form_offers_answers_where_a_model_can_write_and_judge_them(
    project, signed_in, settings
):
    release = asked.questions(project)
    noor, given = signed_in("noor"), {"release": release.pk, "pipeline": "lexical"}
    settings.LLM_MODEL, settings.LLM_API_KEY = "tiny", "key"
    page = noor.get(reverse("run-new")).content.decode()
    assert 'name="evaluate_answers"' in page

    settings.LLM_MODEL = ""
    page = noor.get(reverse("run-new")).content.decode()
    response = noor.post(reverse("run-new"), given | {"evaluate_answers": "on"})

    assert 'name="evaluate_answers"' not in page
    assert "no language model is set up" in page
    assert response.status_code == 422
    assert "set LLM_MODEL" in response.content.decode()
    assert not Run.objects.exists()


def test_judging_again_from_the_page_takes_the_prompt_as_it_is_written(server, start, signed_in):
    run = work(start())
    noor, url = signed_in("noor"), reverse("run-judge", args=[run.pk])
    prompts = {kind: judge.shipped(kind).text for kind in judge.KINDS}

    refused = noor.post(url, prompts | {"relevance": "Judge $answer"})
    hurried = prompts["relevance"].replace("You judge", "Hurriedly you judge")
    accepted = noor.post(url, prompts | {"relevance": hurried.replace("\n", "\r\n")})

    assert refused.status_code == 422
    assert "line “---”" in refused.content.decode()
    assert accepted.status_code == 302
    told = judgings.history(run)[0].spec["prompts"]
    assert told["relevance"]["text"] == hurried
    assert told["faithfulness"]["name"] == "faithfulness.v2"
    assert Run.objects.with_progress().get(pk=run.pk).status == "judging"


def test_a_run_that_ended_while_it_was_paused_is_judged_again_at_once(server, start):
    run = work(start())
    Run.objects.filter(pk=run.pk).update(paused=True)  # while it was scored

    judgings.request(run, by=None, queue=False)

    assert work(run).status == "finished"
    assert run.judgings.count() == 2


def test_comparing_runs_of_different_judges_warns(server, start, signed_in, people):
    before, after = work(start()), work(start())
    rita, url = signed_in("rita"), reverse("run-compare")
    both = {"baseline": before.pk, "run": after.pk}
    assert "The judges differ" not in rita.get(url, both).content.decode()

    prompt = judge.shipped("relevance").text + " "
    judgings.request(after, by=people["rita"], prompts={"relevance": f"x{prompt}"}, queue=False)
    work(after)

    assert compare_runs(before, Run.objects.get(pk=after.pk)).judges_differ == ["relevance"]
    assert "The judges differ" in rita.get(url, both).content.decode()


def test_a_run_with_answers_compares_with_one_without(server: LanguageServer, start: Any) -> None:
    plain, answered = work(start(evaluate_answers=False)), work(start())

    comparison = compare_runs(plain, answered)

    assert "mrr" in {row.metric.id for row in comparison.rows}
    assert "faithfulness" not in {row.metric.id for row in comparison.rows}


@pytest.mark.postgres
def test_a_lead_sets_thresholds_of_answers_and_they_hold_for_runs_that_have_answers(
    server, project, start, signed_in
):
    Project.objects.filter(pk=project.pk).update(layers=["extraction"])  # questions: only frozen
    rita, shown = signed_in("rita"), reverse("gate-thresholds", args=[project.slug])
    assert 'name="faithfulness"' in rita.get(shown).content.decode()
    data = {"faithfulness": "7", "evidence_recall": "0", "max_drop": "0.03"}
    assert rita.post(reverse("gate-thresholds-store", args=[project.slug]), data).status_code == 302

    answered, plain = work(start()), work(start(evaluate_answers=False))

    result = {
        run.pk: {check["metric"]: check["passed"] for check in gates.ask(run).checks}
        for run in (answered, plain)
    }
    assert result[plain.pk] == {"evidence_recall": True}
    assert result[answered.pk] == {"evidence_recall": True, "faithfulness": False}  # uncertified
