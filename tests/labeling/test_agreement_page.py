from __future__ import annotations

import csv
import io

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.agreement import measurements
from tests import factories
from tests.labeling.agreement import ANA, BEN, URL
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
