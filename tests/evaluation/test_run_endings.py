"""The end of a run is an event: once, with the figures or not at all, and sent to webhooks."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from evaluation.models import Aggregate, Run, Score
from evaluation.services.run import execution, gates, scoring
from evaluation.services.work import steering
from evaluation.services.work.endings import fail
from evaluation.services.work.leases import ScoringLease
from labeling.domain.facts import Fact
from labeling.models import Event, Project, Webhook, WebhookDelivery
from pipelines import registry
from tests.evaluation.conftest import perfect, work
from tests.evaluation.launching import launch as launched


@pytest.fixture
def webhook(project: Project, people: Any) -> Webhook:
    return Webhook.objects.create(
        project=project,
        url="https://ci.example/hook",
        verbs=["run.finished", "run.failed", "gate.failed"],
        secret="whsec_",
        created_by=people["rita"],
    )


def endings(run: Run) -> list[str]:
    verbs = ["run.finished", "run.failed", "gate.failed"]
    own = Event.objects.filter(object_type="run", object_id=str(run.pk), verb__in=verbs)
    return list(own.order_by("pk").values_list("verb", flat=True))


def test_a_run_finishes_once_even_if_it_is_worked_on_again(launch, script, webhook):
    script(perfect)
    run = work(launch())
    work(run)

    assert endings(run) == ["run.finished"]
    assert [row.event.verb for row in WebhookDelivery.objects.all()] == ["run.finished"]

    steering.rescore(run, by=None)
    work(run)

    assert endings(run) == ["run.finished"] * 2


def test_a_worker_that_dies_while_it_stores_figures_has_finished_nothing(
    launch, script, webhook, monkeypatch
):
    """What it had scored stays, and the next worker goes on behind it."""
    script(perfect)
    run = launch()
    measured: list[Any] = []
    values_of = scoring.values_of

    def values_once(example: Any, *rest: Any, **named: Any) -> Any:
        measured.append(example)
        return values_of(example, *rest, **named)

    monkeypatch.setattr(scoring, "values_of", values_once)
    monkeypatch.setattr(scoring, "AT_ONCE", 2)

    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(scoring.Aggregate.objects, "bulk_create", die)
        with pytest.raises(KeyboardInterrupt):
            execution.work(run.pk, uuid4())

    assert endings(run) == []
    assert not Aggregate.objects.filter(run=run).exists()
    n_cases, n_scores = run.cases.count(), Score.objects.filter(case__run=run).count()
    run.refresh_from_db()
    assert run.scored_cases == len(measured) == n_cases > scoring.AT_ONCE
    Run.objects.filter(pk=run.pk).update(scoring_owner=None, scoring_expires_at=None)
    run = work(run)
    assert endings(run) == ["run.finished"]
    assert run.scored_cases == 0
    assert len(measured) == n_cases
    assert Score.objects.filter(case__run=run).count() == n_scores
    assert WebhookDelivery.objects.count() == 1


def test_scoring_begins_again_where_what_is_stored_is_of_other_metrics(launch, script):
    script(perfect)
    run = work(launch())
    n_scores = Score.objects.filter(case__run=run).update(metric_version=99)
    n_cases = run.cases.count()
    Run.objects.filter(pk=run.pk).update(scored_at=None, scored_cases=n_cases)

    assert work(run).status == "finished"
    assert Score.objects.filter(case__run=run).exclude(metric_version=99).count() == n_scores


def test_a_run_that_cannot_be_carried_out_fails_once(launch, webhook, monkeypatch):
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("no weights")

    monkeypatch.setattr(registry, "build", broken)
    run = work(work(launch()))

    assert run.status == Run.Status.FAILED
    assert endings(run) == ["run.failed"]
    assert WebhookDelivery.objects.count() == 1


def test_only_the_worker_that_scores_a_run_fails_it_for_taking_too_long(launch: Any) -> None:
    run, owner = launch(), uuid4()
    Run.objects.filter(pk=run.pk).update(scoring_owner=owner)

    ScoringLease(run.pk, uuid4()).end_late()
    assert endings(run) == []
    ScoringLease(run.pk, owner).end_late()
    ScoringLease(run.pk, owner).end_late()

    assert endings(run) == ["run.failed"]


@pytest.mark.parametrize("ending", ["cancelled", "finished", "lost"])
def test_a_straggler_fails_no_run_that_has_ended(launch, script, monkeypatch, ending):
    script(perfect)
    score, run = scoring.score, launch()
    rows = Run.objects.filter(pk=run.pk)

    def overtaken(run_id: int, owner: UUID) -> None:
        other = uuid4()
        if ending == "cancelled":
            rows.update(cancelled=True)
        else:
            rows.update(scoring_owner=other)
        if ending == "finished":
            score(run_id, other)
        raise ValueError("too late")

    monkeypatch.setattr(scoring, "score", overtaken)
    run = work(run)

    expected = {"cancelled": "cancelled", "finished": "finished", "lost": "scoring"}
    assert run.status == expected[ending]
    assert "run.failed" not in endings(run)
    fail(run.pk, Fact("run.cannot_build", text="no file"))
    run = Run.objects.with_progress().get(pk=run.pk)
    assert run.status == (expected | {"lost": "failed"})[ending]


def test_a_gate_that_fails_is_an_event_unless_it_is_about_test_items(
    finished, make_release, people, webhook
):
    run = finished(pipeline="nothing")
    sealed = work(
        launched(
            make_release(2, name="test", splits=("test",)),
            pipeline="nothing",
            requested_by=people["noor"],
            reason="Final",
        )
    )

    for each in (run, sealed):
        assert not gates.ask(Run.objects.with_progress().get(pk=each.pk)).passed

    assert endings(run) == ["run.finished", "gate.failed"]
    assert endings(sealed) == ["run.finished"]
