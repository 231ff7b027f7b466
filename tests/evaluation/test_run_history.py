"""The history of runs, and the form that launches one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.services.run import experiments, lists, notes
from evaluation.templatetags.runs import run_needs
from labeling.domain.facts import Fact
from labeling.models import Event
from tests.evaluation.events import make_events_release
from tests.evaluation.releases import following
from tests.evaluation.screens import text


def test_the_history_can_be_filtered(launch: Any, finished: Any, signed_in: Any) -> None:
    nothing, everything = finished(pipeline="nothing"), launch(pipeline="everything")
    noor = signed_in("noor")

    def shown(query: str) -> set[int]:
        rows = noor.get(reverse("runs") + query).context["runs"]
        return {row.run.pk for row in rows}

    assert shown("?pipeline=nothing") == {nothing.pk}
    assert shown("?status=queued") == {everything.pk}
    assert shown("?release=demo@1") == {nothing.pk, everything.pk}
    assert shown("?release=demo@2") == set()
    assert shown("?split=all") == {nothing.pk, everything.pk}
    assert shown("?split=dev") == set()
    assert shown("?mine=1") == {nothing.pk, everything.pk}
    assert shown("?q=every") == {everything.pk}
    assert shown(f"?q={nothing.pk}") == {nothing.pk}
    assert shown("?status=finished") == {nothing.pk}
    notes.write(everything, "paper", by=None)
    assert shown("?q=pap") == {everything.pk}
    assert shown(f"?before={everything.pk}") == {nothing.pk}


def measured(run: Run, mean: float | None) -> Run:
    """As if the run had been measured: only its primary figure counts in a list."""
    metric = METRICS[GOLD_LAYERS[run.release.layer].primary]
    reason = Fact("metric.no_claims") if mean is None else None
    Aggregate.objects.create(
        run=run, metric=metric.id, metric_version=metric.version, mean=mean, reason=reason,
        n=3, n_undefined=0, n_failed=0,
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(scored_at=timezone.now())
    return run


def shown_order(client: Any, sort: str) -> list[int]:
    """All pages in a row."""
    order: list[int] = []
    address = f"?sort={sort}"
    while address:
        context = client.get(reverse("runs") + address).context
        order += [row.run.pk for row in context["runs"]]
        address = context["next"] and f"?sort={sort}&before={context['next']}"
    return order


def test_runs_are_sorted_by_their_primary_figure_with_undefined_ones_last(
    launch, signed_in, monkeypatch
):
    monkeypatch.setattr(lists, "PAGE_SIZE", 2)
    half, none, high, same, low = (measured(launch(), mean) for mean in (0.5, None, 0.9, 0.5, 0.1))
    going_on = launch()
    noor = signed_in("noor")

    ends = [going_on.pk, none.pk]
    assert shown_order(noor, "-primary") == [high.pk, same.pk, half.pk, low.pk, *ends]
    assert shown_order(noor, "primary") == [low.pk, same.pk, half.pk, high.pk, *ends]
    assert shown_order(noor, "nonsense") == sorted([*ends, *shown_order(noor, "primary")[:4]])[::-1]


def test_sealed_figures_have_no_place_in_the_order(make_release, launch, people, signed_in):
    run = {
        "pipeline": "requirements-local",
        "release": make_release(6, name="split", splits=("dev", "test")),
        "requested_by": people["rita"],  # who has said why; noor has not
    }
    low, high = (measured(launch(**run, split="dev"), mean) for mean in (0.1, 0.2))
    test = [measured(launch(**run, split="test", reason="x"), mean) for mean in (0.9, 0.8)]

    rows = signed_in("noor").get(reverse("runs") + "?sort=-primary").context["runs"]

    assert [row.run.pk for row in rows] == [high.pk, low.pk, test[1].pk, test[0].pk]
    assert [row.sealed for row in rows] == [False, False, True, True]


def test_what_was_changed_is_said_in_words(launch: Any, signed_in: Any) -> None:
    measured(launch(pipeline="everything"), 0.1)
    for config, seed in (({"merge_above": 0.8}, 0), ({"merge_above": 0.85}, 3)):
        measured(launch(pipeline="requirements-local", config=config, seed=seed), 0.1)
    noor = signed_in("noor")

    assert [row.changed for row in noor.get(reverse("runs")).context["runs"]] == [
        ["merge_above 0.8 → 0.85", "seed 0 → 3"],
        ["requirements-local in place of everything"],
        None,
    ]


def test_the_log_says_what_a_run_changed_and_nothing_of_the_first(launch):
    for pipeline, config in (("everything", {"confidence": 0.5}), ("nothing", {})):
        measured(launch(pipeline=pipeline, config=config), 0.1)
    first, second = experiments.rows(Run.objects.all())
    assert first["config_changes"] == ""
    assert "confidence: 0.5 → –" in second["config_changes"]


def test_the_primary_metric_of_a_gold_is_drawn_over_time_by_lineage(
    make_release, launch, people, signed_in
):
    release = make_release(6, name="timed", splits=("dev", "test"))
    run = {"release": release, "requested_by": people["rita"]}
    for mean in (0.2, None, 0.4):
        measured(launch(**run, split="dev"), mean)
    measured(launch(**run, split="dev", pipeline="nothing"), 0.0)
    measured(launch(**run, split="test", reason="x"), 0.9)  # sealed to noor

    shown = signed_in("noor").get(reverse("runs"), {"release": str(release)})

    drawn = shown.context["timeline"]
    assert [(line.pipeline, len(line.dots)) for line in drawn.lines] == [
        ("everything", 2),
        ("nothing", 1),
    ]
    first, last = drawn.lines[0].dots
    assert first.x < last.x
    assert first.y > last.y  # downwards in a drawing
    assert "<circle" in text(shown)
    assert " style=" not in text(shown)


def test_a_note_is_written_with_its_history_and_searched_for(launch: Any, signed_in: Any) -> None:
    run, noor = launch(), signed_in("noor")
    at = reverse("run-note", args=[run.pk])

    noor.post(at, {"note": "First\r\nline <b>paper</b>"})
    noor.post(at, {"note": "Second"})
    refused = noor.post(at, {"note": "x" * 5001}, follow=True)

    assert Run.objects.get(pk=run.pk).note.text == "Second"
    assert "5,000 characters" in text(refused)
    events = Event.objects.filter(verb="run.noted").order_by("pk")
    assert [event.data["note"] for event in events] == ["First\nline <b>paper</b>", "Second"]
    for search, found in (("second", [run]), ("first", [])):
        rows = noor.get(reverse("runs"), {"q": search}).context["runs"]
        assert [row.run for row in rows] == found


def test_a_run_is_launched_from_the_form(
    release, signed_in, people, django_capture_on_commit_callbacks
):
    fields = {
        "release": release.pk,
        "pipeline": "everything",
        "everything.confidence": "0.7",
        "split": "",
        "repetitions": "2",
        "seed": "3",
    }

    response = signed_in("noor").post(reverse("run-new"), fields)

    run = Run.objects.get()
    assert response.status_code == 302
    assert response["Location"] == run.get_absolute_url()
    assert run.config == {"confidence": 0.7}
    assert (run.repetitions, run.seed, run.requested_by) == (2, 3, people["noor"])
    assert run.cases.count() == 6


def test_the_form_can_begin_with_everything_as_it_was_in_a_run(launch: Any, signed_in: Any) -> None:
    run = launch(pipeline="everything", config={"confidence": 0.7}, seed=3, name="Again")

    form = signed_in("noor").get(reverse("run-new"), {"like": run.pk}).context["form"]

    assert form.initial["everything.confidence"] == 0.7
    assert (form["seed"].value(), form["name"].value()) == (3, "Again")
    assert [row.unfold for row in form.settings if row.entry.name == "everything"] == [True]
    assert 'value="0.7"' in str(form["everything.confidence"])
    assert signed_in("ana").get(reverse("run-new"), {"like": run.pk}).status_code == 404


def test_what_the_form_has_no_field_for_is_kept_or_left_out(launch, project, signed_in):
    run = launch(
        release=make_events_release(project),
        pipeline="nothing",
        size=2,
        metrics={"relaxed": {"match_mode": "span_iou"}},
        thresholds={"hallucination_rate": 0.2},
    )
    noor, url = signed_in("noor"), reverse("run-new")

    posted = {"release": run.release_id, "pipeline": "nothing"}
    noor.post(url, posted | {"like": run.pk})
    noor.post(url, posted)

    same, part = Run.objects.order_by("pk")[1:]
    assert same.spec.metrics_config == run.spec.metrics_config != part.spec.metrics_config
    assert (same.spec.size, same.spec.thresholds) == (2, {"hallucination_rate": 0.2})
    assert (part.spec.size, part.spec.thresholds) == (None, {})


def test_a_setting_that_is_gone_is_left_out_and_named(launch: Any, signed_in: Any) -> None:
    run = launch(pipeline="everything", config={"confidence": 0.7})
    Run.objects.filter(pk=run.pk).update(config=run.config | {"old_switch": True})
    said = "everything has no such setting any more: old_switch"

    begun = signed_in("noor").get(reverse("run-new"), {"like": run.pk})
    assert said in text(begun)


@pytest.fixture
def run(launch: Callable[..., Run]) -> Run:
    return launch(pipeline="nothing")


def texts(user: User) -> list[str]:
    return [need.text for need in run_needs(user)]


def test_finished_and_failed_runs_of_the_last_days_are_named(run: Run) -> None:
    noor = run.requested_by
    assert noor
    assert texts(noor) == []

    Run.objects.update(scored_at=timezone.now())
    assert texts(noor) == [f"Run {run.pk} (nothing) has finished"]

    Run.objects.update(scored_at=None, failure=Fact("gate.no_shared_case"))
    assert texts(noor) == [f"Run {run.pk} (nothing) failed"]

    Run.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert texts(noor) == []


def test_a_run_on_older_gold_is_named_until_it_is_scored_on_the_new(
    run, people, django_assert_num_queries
):
    Run.objects.update(scored_at=timezone.now() - timedelta(days=9))
    following(run.release)
    noor = run.requested_by
    others = [user for user in people.values() if user != noor]

    with django_assert_num_queries(1):
        assert texts(noor) == [
            f"Run {run.pk} (nothing) was compared with {run.release}, and there is newer gold"
        ]
    assert not any(map(texts, others))
