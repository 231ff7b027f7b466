"""A retry that is cancelled, runs judged twice that are tried again, and what stays called off."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Aggregate, Answer, Judgement, Judging, Run
from evaluation.services.judging import judgings
from evaluation.services.work import steering
from evaluation.services.work.calling_off import GIVEN_UP, JUDGED_LATER
from evaluation.views.live import progress_of
from labeling.domain.facts import Fact
from labeling.models import Event
from tests.evaluation.conftest import fails, perfect, work
from tests.pages import text_of
from tests.refusals import refused

LATE = Fact("case.too_long", limit=3)


@pytest.fixture
def run(script: Any, finished: Any) -> Run:
    """Finished, and one of its three cases has failed."""

    pipeline = script(fails(RuntimeError("not today"), at="case-001"))
    run: Run = finished()
    pipeline.behave = perfect
    return run


def judged(run: Run, model: str) -> Judging:
    """A judging in which everything is judged that has an answer."""
    judging = Judging.objects.create(
        run=run, model=model, parser_version="1", judge_sha256="x" * 64, spec={"prompts": {}}
    )
    for answer in Answer.objects.filter(case__run=run):
        over = {"state": "done", "score": 5} if answer.state == "done" else {}
        Judgement.objects.create(judging=judging, answer=answer, kind="relevance", **over)
    return judging


def answered(run: Run) -> tuple[Answer, Answer]:
    """The answer of a case that is done, and that of the failed one."""
    done, failed = run.cases.filter(state="done")[0], run.cases.get(state="failed")
    return (
        Answer.objects.create(case=done, state="done", text="Rome."),
        Answer.objects.create(case=failed),
    )


def status(run: Run) -> str:
    return Run.objects.with_progress().get(pk=run.pk).status


def test_only_the_newest_judging_goes_on_after_a_retry(run: Run) -> None:
    """The other judge may be gone, and the run would wait for it."""
    _written, late = answered(run)
    old, new = judged(run, "old"), judged(run, "new")

    steering.retry(run, by=None)

    assert list(judgings.open_judgings(run.pk)) == [new]
    assert old.judgements.get(answer=late).error == JUDGED_LATER
    steering.cancel(run, by=None)
    assert judgings.counting(run) == new
    assert status(run) == "scoring"


def test_a_cancelled_retry_leaves_a_finished_run_as_it_was(run, people, signed_in):
    figures = list(Aggregate.objects.filter(run=run).order_by("metric").values_list("mean"))
    [failed] = run.cases.filter(state="failed").values("pk", "error", "attempts", "finished_at")

    steering.retry(run, by=people["rita"])
    page, asked = reverse("run", args=[run.pk]), signed_in("rita")
    assert "The figures on this page are from before" in text_of(asked.get(page))
    assert "stammen von vorher" in text_of(asked.get(page, headers={"accept-language": "de"}))
    steering.cancel(run, by=people["rita"])

    assert run.cases.filter(earlier_failures=[], **failed).exists()
    assert Event.objects.get(verb="run.retry_called_off").actor == people["rita"]
    with refused(steering.RunRefused, match="nothing left to cancel"):
        steering.cancel(run, by=people["rita"])
    assert work(run).status == "finished"
    assert list(Aggregate.objects.filter(run=run).order_by("metric").values_list("mean")) == figures
    steering.retry(run, by=people["rita"])
    assert work(run).n_done == 3


def test_a_cancelled_retry_of_judgements_keeps_those_that_were_made(run: Run) -> None:
    answered(run)
    judging = judged(run, "judge")
    run = finished_again(run)
    failed = judging.judgements.filter(state="done")
    failed.update(state="failed", score=None, error=LATE)

    steering.retry(run, by=None)
    run.cases.filter(state="queued").update(state="failed", error=LATE)
    assert status(run) == "judging"
    steering.cancel(run, by=None)

    assert judgings.counting(run) == judging
    assert judging.judgements.get(state="failed").error == GIVEN_UP
    run = finished_again(run)
    run.spec = run.spec.with_values(answers={"elsewhere": True})
    assert progress_of(run)["can_retry"]
    new = judged(run, "another")
    Judgement.objects.filter(judging=new).update(state="queued", score=None)
    Run.objects.filter(pk=run.pk).update(**steering.UNSCORED)
    steering.cancel(run, by=None)
    new.refresh_from_db()
    assert new.cancelled  # it has never counted
    assert judgings.counting(run) == judging


def finished_again(run: Run) -> Run:
    Run.objects.filter(pk=run.pk).update(**steering.UNSCORED)
    return work(run)


def test_what_was_called_off_before_the_first_figures_is_not_tried_again(launch, script):
    script(perfect)
    run = launch()
    run.cases.update(state="done", output={"requirements": [], "model": None})
    first, second = run.cases.all()[:2]
    run.cases.filter(pk=second.pk).update(state="failed", output=None, error=LATE)
    answers = [Answer.objects.create(case=case) for case in (first, second)]
    judged(run, "judge")

    steering.cancel(run, by=None)
    steering.retry(work(run), by=None)  # of the case that failed

    assert status(run) == "queued" or status(run) == "running"
    for answer in answers:
        answer.refresh_from_db()
        assert (answer.state, answer.error) == ("failed", Fact("answer.called_off"))
    run.cases.update(state="done", output={"requirements": [], "model": None}, error=None)
    with refused(steering.RunRefused, match="Nothing of this run has failed"):
        steering.retry(work(run), by=None)
