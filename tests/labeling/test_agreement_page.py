from __future__ import annotations

import csv
import io
import json
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling import tasks
from labeling.agreement import measurements
from labeling.agreement.matching.similarity import MINILM_ID
from labeling.jobs import pending
from labeling.models import Round
from labeling.schema import LAYERS
from labeling.work import annotations
from tests import factories
from tests.fakes import WordOverlap
from tests.labeling.agreement import ANA, BEN, URL
from tests.layers import arc, event, inferred, issue, phase, question, rating
from tests.pages import page

pytestmark = pytest.mark.django_db
CSV = "/projects/orders/rounds/1/agreement.csv"


def test_the_worked_example_shows_every_figure_and_its_ratings(example, lead, researcher):
    shown = page(lead, URL)

    assert "Not passed" in shown
    assert "Round 1 reached κ 0.47 (lowest pair ana–ben), more than 0.75 is needed." in shown
    # κ = (6/8 − 34/64)/(1 − 34/64) = 7/15; one conversation gives no interval; raw = 6/8;
    # positive F1 = 2·4/10; prevalence = 10/16; bias = 0;
    # AC1: chance = 2·(5/8)(3/8) = 30/64, (48 − 30)/(64 − 30) = 0.53
    assert "ana – ben 0.47 – – moderate 8 0.75 0.80 0.62 0.00 0.53" in shown
    response = researcher.get(CSV)
    rows = list(csv.reader(io.StringIO(response.getvalue().decode())))
    assert rows[0][:4] == ["item", "unit", "annotator", "label"]
    marked = [row[1] for row in rows[1:] if row[2] == "ana" and row[3] == "1"]
    assert [int(unit) for unit in marked] == ANA
    assert "orders-round-1-ratings.csv" in response["Content-Disposition"]


def test_a_figure_near_the_threshold_has_the_decimals_that_tell_them_apart(project, people, lead):
    project.kappa_threshold = 0.47  # and κ is 7/15 = 0.4666…
    project.save()
    factories.make_conversations(project, 1, messages=8)
    opened = factories.open_calibration(project, 1, annotators=[people["ana"], people["ben"]])
    factories.answer_each(opened, lambda who: ANA if who == "ana" else BEN)
    told = io.StringIO()
    call_command("agreement", "--project", "orders", "--round", "1", stdout=told)

    shown = page(lead, URL)

    assert "Round 1 reached κ 0.467 (lowest pair ana–ben), more than 0.47 is needed." in shown
    assert "0.467 more than 0.47 is needed" in shown
    assert "0.467 – more than 0.47" in page(lead, "/projects/orders/calibration/")
    assert "κ 0.4667, more than 0.47 needed: not passed" in told.getvalue()


def test_an_undefined_kappa_is_a_dash_with_its_reason(project, lead):
    factories.answer_all(factories.open_calibration(project, 2), [0, 1, 2, 3])

    shown = page(lead, URL)

    pairs = "ana and ben, ana and cleo, ben and cleo"
    assert f"Round 1 reached no κ ({pairs}: both used one and the same label" in shown
    assert "ana – ben – – – undefined both used one and the same label" in shown
    assert "nan" not in shown.lower().split()


def test_nobody_sees_labels_or_figures_of_an_open_calibration(signed_in, project, people):
    opened = factories.open_calibration(project, 2)
    for assignment in opened.assignments.all()[:5]:
        factories.answer(assignment)

    for who in ("rita", "noor", "admin"):
        shown = page(signed_in(people[who]), URL)
        assert "This round is blind while it is open." in shown
        assert "κ" not in shown
        assert signed_in(people[who]).get(CSV).status_code == 403


def test_full_labeling_is_measured_as_it_stands(project, lead):
    opened = factories.open_full(project, 2)
    for assignment in opened.assignments.filter(annotator__username__in=["ana", "ben"]):
        factories.answer(assignment)

    before = page(lead, URL)
    factories.work(project)
    shown = page(lead, URL)

    assert "A worker measures the agreement in the background" in before
    assert "is being measured" not in shown
    assert "ana – ben 1.00" in shown
    assert "c-001 cleo not submitted" in shown


def test_what_was_skipped_is_listed_with_its_reason(project, ana, lead):
    opened = factories.open_calibration(project, 2)
    for assignment in opened.assignments.exclude(annotator=ana):
        factories.answer(assignment)
    first, second = opened.assignments.filter(annotator=ana)
    factories.answer(first)
    factories.skip(second, "Not in English.")

    shown = page(lead, URL)

    assert f"{second.conversation.external_id} ana skipped: Not in English." in shown


def test_a_measurement_reads_what_is_new_since_the_last_one(project):
    first, *others = factories.open_full(project, 2).assignments.all()
    for assignment in others:
        factories.answer(assignment)
    opened = project.rounds.get()

    def read() -> list[str]:
        with CaptureQueriesContext(connection) as asked:
            measurements.measure(opened, ruler=factories.ruler)
        queries = [query["sql"] for query in asked.captured_queries]
        return [sql for sql in queries if "SELECT" in sql and '"payload"' in sql]

    assert len(read()) == 1
    assert read() == []
    factories.answer(first)
    [sql] = read()
    assert f'"conversation_id" IN ({first.conversation_id})' in sql
    assert read() == []


# --- every layer -------------------------------------------------------------------------------


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


def test_events_are_compared_by_f1(people, lead):
    project = factories.make_project(layers=["events"], event_schema={"order": []})
    opened = factories.open_calibration(project, 1, annotators=[people["ana"], people["ben"]])
    others = {"ana": event_at(0, 2), "ben": event_at(8, 10)}
    factories.answer_each(opened, lambda who: {"events": [event_at(0, 7), others[who]]})

    assert opened.agreement["measure"] == "f1"
    # Message and Me against Message and 0: only Message is marked by both, 2·1/4
    figures = page(lead, URL)
    assert "reached F1 0.50 (lowest pair ana–ben)" in figures
    assert "1 conversation answered by two or more" in figures


def event_at(start: int, end: int) -> dict[str, Any]:
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


# --- ratings as a file -------------------------------------------------------------------------


PAGE = "/projects/orders/rounds/1/agreement/"
NEEDS = {"inference": ["extraction"], "validation": ["extraction"], "relevance": ["extraction"]}


def given(layer: str, who: str, random: Random) -> dict[str, Any]:
    """What one person says: mostly the same as the others."""
    often = random.random() < 0.8
    own = [factories.requirement(n, uid=f"{who}-{n}", sources=[n % 3]) for n in (1, 2)]
    some = [label["uid"] for label in own if random.random() < 0.7]
    cited = [0, 1] if often else [1, 2]
    match layer:
        case "extraction":
            return factories.labels(cited)
        case "inference":
            labels = [
                inferred(f"Encrypt {uid[-1]}", triggered_by=[uid], id=f"INF-00{uid[-1]}")
                for uid in some
            ]
            return {"requirements": own, "inferred_requirements": labels}
        case "validation":
            return {"requirements": own, "issues": [issue(uid) for uid in some]}
        case "qa":
            return {"questions": [question("What do they track", evidence=cited)]}
        case "arc":
            return {"arcs": [arc("How it went", phase("Start", cited[:1]), phase("End", [3]))]}
    scores = [rating(uid, int(uid[-1]) if often else random.randrange(3)) for uid in some]
    return {"requirements": own, "ratings": scores}


def measured(layer: str) -> Round:
    random = Random(3)
    layers = [*NEEDS.get(layer, []), layer]
    project = factories.make_project(layers=layers)
    User.objects.filter(username="cleo").update(username="+cleo")
    opened = factories.open_calibration(project, 8)
    for assignment in opened.assignments.select_related("annotator", "conversation"):
        if assignment.position == 5 and assignment.annotator.username == "ben":
            annotations.skip(assignment, factories.save_of({}), reason="Not in English.")
            factories.work(project)
        else:
            payload = given(layer, assignment.annotator.username, random)
            factories.answer_with(assignment, payload)
    opened.refresh_from_db()
    return opened


def of_file(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("agreement", "--from-csv", str(path), "--format", "json", *options, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "events"])
def test_the_download_of_a_page_gives_its_figures(people, tmp_path, layer, lead):
    shown = measurements.figures_of(measured(layer), layer)
    assert shown is not None
    assert shown["value"] is not None
    content = lead.get(CSV, {"layer": layer}).getvalue().decode()
    path = tmp_path / "ratings.csv"
    statistic = "interval" if layer == "relevance" else "nominal"
    for separator in ",;":  # as a spreadsheet may save it again
        path.write_text(content.replace(",", separator))
        again = of_file(path, "--statistic", statistic)
        for name in ("value", "threshold", "statistic", "fleiss_kappa", "krippendorff_alpha"):
            assert again[name] == shown[name], name
        assert again["intervals"] == {name: list(pair) for name, pair in shown["intervals"].items()}
        compared = ("a", "b", "kappa", "n", "raw", "ac1", "ci_low", "ci_high", "conversations")
        assert [[pair[name] for name in compared] for pair in again["pairs"]] == [
            [pair[name] for name in compared] for pair in shown["pairs"]
        ]
        assert again["file"]["statistic"] == statistic


def test_events_have_no_ratings_to_download_and_say_so(people, lead):
    project = factories.make_project(layers=["events"], event_schema={"tracking": ["what"]})
    for assignment in factories.open_calibration(project, 1).assignments.all():
        factories.answer_with(assignment, {"events": [event(0, ("what", "order 0"))]})

    response = lead.get(CSV)

    assert response.status_code == 409
    assert "compared by F1" in response.content.decode()
    assert "Ratings, long" not in page(lead, PAGE)


class TestFile:
    def run(self, tmp_path: Path, content: str, *options: str) -> str:
        path, out = tmp_path / "a.csv", StringIO()
        path.write_text(content)
        call_command("agreement", "--from-csv", str(path), *options, stdout=out, stderr=out)
        return out.getvalue()

    def test_an_undefined_figure_has_not_passed(self, tmp_path):
        rows = "item,unit,annotator,label\nc,1,ana,x\nc,1,ben,x\n"

        assert "undefined, so not passed" in self.run(tmp_path, rows)
        assert not json.loads(self.run(tmp_path, rows, "--format", "json"))["passed"]

    def test_what_was_read_is_said_in_every_format(self, tmp_path):
        rows = "item,unit,annotator,label\nc,1,ana,1\nc,1,ben,1.0\nc,2,ana,2\nc,2,ben,\nc,3,ben,5\n"

        for format in ("table", "json"):
            said = self.run(tmp_path, rows, "--format", format)
            assert "Missing labels: 1." in said
            assert "use --statistic interval" in said

    @pytest.mark.parametrize("options", [["--layer", "qa"], ["--round", "1"]])
    def test_what_a_file_does_not_know_is_refused(self, tmp_path, options):
        rows = "item,unit,annotator,label\nc,1,ana,x\nc,1,ben,y\n"

        with pytest.raises(CommandError, match=f"{options[0]} does not go with --from-csv"):
            self.run(tmp_path, rows, *options)
