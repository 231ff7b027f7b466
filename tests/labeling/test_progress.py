import csv
from io import StringIO

import pytest
from django.core.management import call_command

from labeling.overview import progress
from labeling.work import annotations, handovers
from tests import factories
from tests.pages import page

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
URL = "/projects/orders/progress/"


def table(client, name, query=""):
    response = client.get(f"/projects/orders/tables/{name}.csv{query}")
    assert response.status_code == 200
    return list(csv.DictReader(response.getvalue().decode().splitlines()))


def states(project):
    return {share.name: share.number for share in progress.by_state(project) if share.number}


def person(project, name):
    return next(person for person in progress.people(project) if person.username == name)


def test_progress_counts_each_annotators_work(signed_in, project, rita, ana):
    opened = factories.open_calibration(project, 4)
    first, second, third, _ = opened.assignments.filter(annotator=ana)
    save = factories.save_of(factories.labels([0]), active_seconds=90)
    annotations.submit(first, save)
    annotations.save_draft(second, factories.save_of(factories.labels([0])))
    annotations.skip(third, factories.save_of({"requirements": []}), reason="Not in English.")

    shown = page(signed_in(rita), URL)

    # assigned, pending, draft, submitted, skipped, returned, minutes
    assert "ana Move work of ana 4 1 1 1 1 0 1.5 none answered yet" in shown
    assert "ben Move work of ben 4 4 0 0 0 0 – none answered yet never" in shown


def test_an_annotator_without_work_has_a_row(project):
    assert [person.username for person in progress.people(project)] == ["ana", "ben", "cleo"]
    assert person(project, "cleo").assigned == 0


def test_every_return_is_counted(project, rita, ana):
    mine = factories.open_full(project, 1).assignments.get(annotator=ana)
    for _ in range(2):
        factories.answer(mine)
        handovers.return_to(mine, reason="Look again.", by=rita)

    assert person(project, "ana").returned == 2
    assert person(project, "ana").draft == 1


def test_a_conversation_is_in_the_last_state_that_it_reached(project):
    factories.make_release(project, items=1)
    factories.answer_all(factories.open_full(project, 1), [1])
    begun = factories.open_full(project, 1)
    annotations.save_draft(begun.assignments.all()[0], factories.save_of(factories.labels([0])))
    factories.open_full(project, 1)
    factories.make_conversations(project, 2)

    assert states(project) == {"gold": 1, "labeled": 1, "begun": 1, "waiting": 1, "unplanned": 2}


def test_generated_gold_hides_no_gold_of_people(signed_in, project, rita):
    release = factories.make_release(project, items=2)
    call_command("generate", "conversations", project="orders", count=4, stdout=StringIO())
    assert project.gold_releases.count() == 2

    assert states(project)["gold"] == 2
    assert f"2 items in {release}" in page(signed_in(rita), "/projects/orders/")


def test_tables_are_files_that_no_spreadsheet_runs(signed_in, project, rita, ana):
    ana.username = "=cmd()"
    ana.save()
    factories.answer_all(factories.open_full(project, 1))
    client = signed_in(rita)

    assert "'=cmd()" in [row["annotator"] for row in table(client, "people")]
    assert client.get("/projects/orders/tables/secrets.csv").status_code == 404
