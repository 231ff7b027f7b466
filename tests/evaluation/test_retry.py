"""Trying again what failed, and launching a run again with changes."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from evaluation import judge
from evaluation.models import Aggregate, Answer, CachedReply, Judgement, Run, Score
from evaluation.services.judging import answers, judgings
from evaluation.services.launch import cloning, launch
from evaluation.services.run import results
from evaluation.services.work import steering
from labeling.domain.facts import Fact
from labeling.models import Event
from tests.evaluation import answers as asked
from tests.evaluation.conftest import fails, perfect, work
from tests.evaluation.launching import launch as launch_run

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def mean(run: Run) -> float | None:
    return Aggregate.objects.get(run=run, metric="requirement_f1").mean


def broken_then_repaired(script: Any, finished: Any) -> tuple[Run, Any]:
    """A finished run of three cases, one of which failed; and its pipeline, which works by now."""
    pipeline = script(fails(RuntimeError("not today"), at="case-001"))
    run = finished()
    pipeline.behave = perfect
    pipeline.seen.clear()
    return run, pipeline


def test_only_what_failed_is_tried_again_and_the_run_is_scored_again(script, finished, people):
    run, pipeline = broken_then_repaired(script, finished)
    before, first_scored = mean(run), run.first_scored_at
    failed = run.cases.get(state="failed")

    steering.retry(run, by=people["rita"])
    assert Run.objects.with_progress().get(pk=run.pk).status == "running"
    run = work(run)

    assert pipeline.seen == ["case-001"]
    assert (run.status, run.cases.filter(state="done").count()) == ("finished", 3)
    assert before is not None
    assert mean(run) == pytest.approx(1.0)
    assert before < 1.0
    assert run.first_scored_at == first_scored  # its figures were seen by then
    assert Score.objects.filter(case=failed, metric="requirement_f1").count() == 1
    failed.refresh_from_db()
    [earlier] = failed.earlier_failures
    assert Fact.from_json(earlier["error"]) == Fact(
        "error.unforeseen", kind="RuntimeError", said="not today"
    )
    assert (earlier["attempts"], earlier["error_class"]) == (1, "permanent")
    event = Event.objects.get(verb="run.retried")
    assert (event.actor, event.data["cases"], event.data["failure"]) == (people["rita"], 1, None)
    assert results.results_document(run)["retried_cases"] == 1


def test_a_run_that_could_not_begin_goes_on_where_it_stopped(launch: Any, script: Any) -> None:
    script(perfect)
    run = launch()
    Run.objects.filter(pk=run.pk).update(failure=Fact("run.cannot_build", text="no file"))

    steering.retry(run, by=None)

    assert work(run).status == "finished"
    assert Event.objects.get(verb="run.retried").data["failure"]["code"] == "run.cannot_build"


def test_what_has_not_failed_or_cannot_be_tried_is_refused(script, finished, launch, people):
    script(perfect)
    cancelled = launch()
    steering.cancel(cancelled, by=people["rita"])
    whole = finished()
    carried = launch()
    Run.objects.filter(pk=carried.pk).update(carried_from=whole)
    carried.refresh_from_db()

    for run, code in (
        (whole, "run.nothing_failed"),
        (cancelled, "run.cannot_retry"),
        (carried, "run.no_pipeline_to_retry"),
    ):
        with pytest.raises(steering.RunRefused) as refused:
            steering.retry(run, by=people["rita"])
        assert refused.value.fact.code == code
    with pytest.raises(steering.RunRefused):
        cloning.request(carried, by=people["rita"])


def test_judgements_that_failed_are_asked_for_again_and_never_by_what_nobody_can_read(
    server, project, no_encoder
):
    kinds = 0

    def garbled(body: Any) -> str:
        nonlocal kinds
        kind = asked.kind_of(body)
        kinds += kind == "relevance"
        return "I would say fine." if kind == "relevance" else asked.speak(body)

    server.default = garbled
    run = launch_run(asked.questions(project, chats=1), pipeline="lexical", evaluate_answers=True)
    run = work(run)
    assert not CachedReply.objects.filter(reply__text="I would say fine.").exists()
    failed = Judgement.objects.filter(judging__run=run, state="failed")
    n_failed = failed.count()
    assert 2 * n_failed == kinds > 0  # each was asked for once more

    server.default = asked.speak
    server.requests.clear()
    steering.retry(run, by=None)
    run = work(run)

    assert not failed.exists()
    assert asked.kinds_asked(server) == ["relevance"] * n_failed
    assert not Answer.objects.filter(case__run=run, state="failed").exists()
    judging = judgings.counting(run)
    assert judging.judgements.filter(kind="relevance", score__isnull=False).count() == n_failed


def test_a_clone_has_everything_of_its_run_but_the_changes(launch, people, make_release):
    run = launch(name="first", size=2, repetitions=2, concurrency=3, seed=7)
    other = make_release(4, name="other")

    clone = launch_again(run, people, name="second")
    moved = launch_again(run, people, release=other, size=None, repetitions=1)

    same = ("release_id", "pipeline", "config", "split", "repetitions", "seed", "concurrency")
    assert [getattr(clone, name) for name in same] == [getattr(run, name) for name in same]
    assert (clone.name, clone.spec.size, clone.requested_by) == ("second", 2, people["noor"])
    assert (moved.release_id, moved.cases.count()) == (other.pk, 4)
    launched = Event.objects.filter(verb="run.launched").order_by("pk").last()
    assert launched.data["cloned_from"] == str(run.pk)


def launch_again(run: Run, people: Any, **changes: Any) -> Run:
    return launch.launch(cloning.request(run, changes, by=people["noor"]), queue=False)


def test_retry_by_api(script, finished, people):
    run, pipeline = broken_then_repaired(script, finished)
    client = APIClient()
    client.force_login(people["noor"])

    reply = client.post(f"/api/runs/{run.pk}/control/", {"action": "retry"}, format="json")
    assert (reply.status_code, reply.json()["status"]) == (200, "running")
    call_command("evaluate", "--resume", str(run.pk))
    assert pipeline.seen == ["case-001"]


def test_a_clone_asks_the_prompts_of_its_run_alone_where_it_judges(
    server, project, people, no_encoder, release
):
    questions, own = asked.questions(project, chats=1), own_prompt("relevance")
    run = launch_run(
        questions, pipeline="lexical", evaluate_answers=True, judge_prompts={"relevance": own}
    )

    assert cloning.request(run, by=None).judge_prompts == {"relevance": own}
    changed: dict[str, Any]
    for changed in ({"evaluate_answers": False}, {"release": release, "pipeline": "everything"}):
        without = cloning.request(run, {**changed, "config": {}}, by=people["noor"])
        assert (without.evaluate_answers, without.judge_prompts) == (False, {})
        assert launch.check(without) == []
    other = {
        "judge_prompts": {"completeness": own_prompt("completeness")},
        "thresholds": {"mrr": 0.25},
    }
    clone = launch.launch(cloning.request(run, other, by=people["noor"]))
    assert list(answers.judge_prompts_of(clone)) == ["completeness"]
    assert clone.spec.thresholds == {"mrr": 0.25}


def own_prompt(kind: str) -> str:
    return f"Be strict. {judge.shipped(kind).text}"
