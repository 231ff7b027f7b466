"""Agreement of every layer: matched in the worker, shown, and reported by the command."""

from __future__ import annotations

import io
import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from labeling import tasks
from labeling.agreement.matching.similarity import MINILM_ID
from labeling.jobs import pending
from labeling.models import Job, Round
from labeling.work import annotations
from tests import factories
from tests.fakes import WordOverlap
from tests.labeling.agreement import URL
from tests.layers import inferred, question, rating
from tests.pages import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def layered(people):
    """Ana and Ben agree on the requirement, and not on what it triggers."""
    project = factories.make_project(layers=["extraction", "inference", "qa"])
    opened = factories.open_calibration(project, 2, annotators=[people["ana"], people["ben"]])
    for assignment in opened.assignments.select_related("annotator"):
        labels = factories.labels([0, 1])
        trigger = labels["requirements"][assignment.annotator.username == "ana"]
        labels["inferred_requirements"] = [
            inferred(trigger["title"], action=trigger["action"], triggered_by=[trigger["uid"]])
        ]
        labels["questions"] = [question("When?")]
        annotations.submit(assignment, factories.save_of(labels))
    opened.refresh_from_db()
    return opened


@pytest.fixture
def worker(monkeypatch):
    """The worker, with an encoder that counts words under the real one's name."""
    encoder = WordOverlap()
    encoder.id = MINILM_ID
    monkeypatch.setattr("labeling.agreement.vectors.load_minilm", lambda: encoder)

    def work(pk):
        measured = Round.objects.select_related("project").get(pk=pk)
        pending.request(measured.project, measure=measured)
        tasks.process_answers(measured.project_id)

    return work


def test_a_complete_calibration_round_is_measured_and_closed_by_the_worker(layered, worker, lead):
    assert layered.state == "open"
    assert "All have answered" in page(lead, URL)

    worker(layered.pk)

    layered.refresh_from_db()
    assert layered.state == "failed"
    assert layered.agreement["layer"] == "inference"
    # two requirements in two conversations; Ana marks one of each, Ben the other
    assert layered.agreement["layers"]["inference"]["value"] == -1.0
    assert layered.agreement["layers"]["extraction"]["value"] == 1.0
    assert layered.agreement["layers"]["qa"]["passed"]
    shown = page(lead, URL)
    assert "Requirements : reached κ 1.00 (lowest pair ana–ben), more than 0.75" in shown
    assert "Inferred requirements : reached κ −1.00" in shown
    assert "ana – ben −1.00" in page(lead, f"{URL}?layer=inference")
    gate = page(lead, "/projects/orders/")
    assert "reached κ 1.00 on requirements (lowest pair ana–ben), κ −1.00 on inferred" in gate
    assert "more than 0.75 is needed on each" in gate


def test_what_only_one_has_rated_counts_for_nobody_and_says_so(people, worker, lead):
    project = factories.make_project(layers=["extraction", "relevance"])
    opened = factories.open_calibration(project, 1, annotators=[people["ana"], people["ben"]])
    for assignment in opened.assignments.select_related("annotator"):
        labels = factories.labels([0, 1])
        rated = 1 if assignment.annotator.username == "ana" else 2
        labels["ratings"] = [rating(label["uid"], 2) for label in labels["requirements"][:rated]]
        factories.answer_with(assignment, labels)
    worker(opened.pk)

    shown = page(lead, f"{URL}?layer=relevance")

    assert "“Order Tracking 2” is a label that they do not have or did not rate" in shown


def test_labels_are_matched_in_the_worker_and_shown(example, worker, lead):
    before = Round.objects.get(pk=example.pk).agreement
    example.measurements.all().delete()
    assert "Being computed: a worker matches the labels" in page(lead, URL)

    worker(example.pk)

    assert Round.objects.get(pk=example.pk).agreement == before
    measurement = example.measurements.get()
    (pair,) = measurement.records
    # requirements 1 to 5 of each read alike, two of them on other messages
    assert (pair["record_f1"], pair["matches"]) == (0.6, 3)
    shown = page(lead, URL)
    assert "ana – ben 0.60 0.60 3 5 + 5 1.00 1.00 1.00 0.60" in shown
    assert f"measured {measurement.measured_at:%-d %b %Y %H:%M} UTC" in shown


def test_the_worker_never_touches_a_blind_round(project, worker):
    opened = factories.open_calibration(project, 1)

    worker(opened.pk)

    opened.refresh_from_db()
    assert (opened.state, opened.agreement) == ("open", None)


def test_a_complete_round_has_a_worker_measure(project, django_capture_on_commit_callbacks):
    *others, last = factories.open_calibration(project, 1).assignments.all()

    with django_capture_on_commit_callbacks(execute=True):
        for assignment in others:
            annotations.submit(assignment, factories.save_of(factories.labels([0])))
    assert not Job.objects.exists()

    with django_capture_on_commit_callbacks(execute=True):
        annotations.submit(last, factories.save_of(factories.labels([0])))

    assert str(Job.objects.get()) == f"answers {project.pk}"


def test_events_are_compared_by_f1(people, lead):
    project = factories.make_project(layers=["events"], event_schema={"order": []})
    opened = factories.open_calibration(project, 1, annotators=[people["ana"], people["ben"]])
    others = {"ana": event(0, 2), "ben": event(8, 10)}
    factories.answer_each(opened, lambda who: {"events": [event(0, 7), others[who]]})

    assert opened.agreement["measure"] == "f1"
    # Message and Me against Message and 0: only Message is marked by both, 2·1/4
    figures = page(lead, URL)
    assert "reached F1 0.50 (lowest pair ana–ben)" in figures
    assert "1 conversation answered by two or more" in figures


def event(start: int, end: int) -> dict[str, Any]:
    text = "Message 0 of c-001"[start:end]
    span = {"message": 0, "start": start, "end": end, "text": text}
    return {"uid": uuid4().hex, "type": "order", "trigger": span, "arguments": []}


class TestCommand:
    def run(self, *options: str) -> str:
        out = io.StringIO()
        call_command("agreement", "--project", "orders", *options, stdout=out)
        return out.getvalue()

    def test_a_blind_round_is_refused(self, project):
        factories.open_calibration(project, 1)

        with pytest.raises(CommandError, match="blind"):
            self.run()

    def test_a_layer_can_be_chosen(self, layered, worker):
        worker(layered.pk)

        assert json.loads(self.run("--layer", "inference", "--format", "json"))["value"] == -1.0
        with pytest.raises(CommandError, match="labels extraction, inference, qa"):
            self.run("--layer", "arc")

    def test_what_did_not_count_is_listed(self, rita, project):
        opened = factories.open_full(project, 1)
        factories.answer(opened.assignments.order_by("annotator__username").first())

        assert "not counted: c-001, ben: not submitted" in self.run()
