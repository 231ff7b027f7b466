"""Which metric decides: declared by a lead, kept with its date, and named by every comparison."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from evaluation.models import PrimaryMetric, Run
from evaluation.services.run import conclusions, primary_metrics
from evaluation.services.run.comparisons import Compared, compare_runs, compare_with
from labeling.models import Event, Project
from tests.evaluation.conftest import perfect, requirement
from tests.refusals import refused


def half(case: Any) -> Any:
    """Each answer holds what is expected, and something else."""
    number = int(case.case_id[-3:])
    wrong = requirement(99, title="Sell", action="Ship it abroad", source_messages=[1])
    return {"requirements": [requirement(number), wrong], "model": None}


@pytest.fixture
def pair(script: Any, finished: Any, make_release: Any) -> tuple[Run, Run]:
    release = make_release(8, name="pair")
    script(half)
    before = finished(release=release)
    script(perfect)
    return before, finished(release=release)


def declare(project: Project, people: dict[str, User], metric: str, margin: float = 0.03) -> Any:
    return primary_metrics.declare(project, "extraction", metric, margin, by=people["rita"])


def verdicts(compared: Compared) -> dict[str, str]:
    return {row.metric.id: row.verdict for row in compared.rows if row.role != "exploratory"}


def test_what_a_project_declares_leads_and_hides_no_other_main_metric(project, people, pair):
    by_default = verdicts(compare_runs(*pair))
    assert by_default["requirement_precision"] == "better"

    declare(project, people, "requirement_recall", 0.5)  # the same in both runs
    compared = compare_runs(*pair)

    assert compared.primary.metric.id == "requirement_recall"
    assert compared.primary.margin == 0.5
    assert verdicts(compared) == by_default | {"requirement_recall": "no_difference"}


def test_a_choice_after_a_run_was_scored_is_named(project, people, pair, finished, launch):
    declared = declare(project, people, "requirement_recall")
    later = finished(release=pair[0].release)

    [of_run] = conclusions.document(pair[0], [compare_runs(*pair)])["runs"]
    told = of_run["primary"]
    assert (told["declared_by"], told["declared_at"]) == ("rita", declared.since.isoformat())
    assert told["declared_after_runs"] == [run.pk for run in pair]
    assert compare_runs(pair[0], later).declared_after == [pair[0].pk]
    last = finished(release=pair[0].release)
    assert [compared.declared_after for compared in compare_with(later, [last])] == [[]]


def test_only_main_metrics_and_shares_of_a_range_can_be_declared(project, people):
    with refused(primary_metrics.PrimaryRefused, match="not one of the main metrics"):
        declare(project, people, "type_accuracy")
    for margin in (0.0, 1.0, -0.1, float("nan"), float("inf")):
        with refused(primary_metrics.PrimaryRefused, match="between 0 and 1"):
            declare(project, people, "requirement_recall", margin)
    with refused(primary_metrics.PrimaryRefused, match="cannot be measured"):
        primary_metrics.declare(project, "relevance", "x", 0.1, by=people["rita"])
    assert not PrimaryMetric.objects.exists()


def test_declarations_stay_and_the_same_one_keeps_its_date(project, people):
    first = declare(project, people, "requirement_recall")
    assert declare(project, people, "requirement_recall") == first
    declare(project, people, "requirement_precision", 0.05)

    stored = project.primary_metrics.values_list("metric", flat=True)
    assert list(stored) == ["requirement_precision", "requirement_recall"]
    events = Event.objects.filter(project=project, verb="primary.declared").order_by("pk")
    assert [event.data["before"] for event in events] == ["requirement_f1", "requirement_recall"]
    with pytest.raises(IntegrityError), transaction.atomic():
        PrimaryMetric.objects.create(project=project, layer="extraction", metric="x", margin=0)


def test_a_lead_declares_on_the_page_and_readers_see_it(project, pair, signed_in):
    rita, shown = signed_in("rita"), reverse("gate-thresholds", args=[project.slug])
    address = reverse("primary-metric-store", args=[project.slug])
    data = {"layer": "extraction", "metric": "requirement_recall", "margin": "0,05"}

    assert rita.post(address, data).status_code == 302
    assert [(row.metric, row.margin) for row in project.primary_metrics.all()] == [
        ("requirement_recall", 0.05)
    ]
    wrong = rita.post(address, data | {"margin": "much"})
    assert wrong.status_code == 400
    assert 'value="much"' in wrong.content.decode()
    assert "declared by rita" in signed_in("noor").get(shown).content.decode()


def test_the_comparison_says_who_chose_and_when(project, people, pair, signed_in):
    declare(project, people, "requirement_recall")
    before, after = (run.pk for run in pair)
    address = reverse("run-compare") + f"?baseline={before}&run={after}"
    warning = f"It was declared after runs {before}, {after} were scored"

    assert warning in signed_in("noor").get(address).content.decode()
    printed = StringIO()
    call_command("compare", before, after, stdout=printed)
    assert "decides, declared by rita on" in printed.getvalue()
    assert f"runs {before}, {after}" in " ".join(printed.getvalue().split())
    Run.objects.update(first_scored_at=timezone.now() + timedelta(hours=1))
    assert "It was declared after" not in signed_in("noor").get(address).content.decode()
