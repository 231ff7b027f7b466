import csv
from io import StringIO

import pytest
from django.core.management import call_command

from labeling.models import Adjudication, Assignment, Conversation, Merge, Round
from labeling.overview import progress
from labeling.work import annotations
from labeling.work.stages import is_complete, with_stage
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


def test_progress_counts_each_annotators_work(project, ana, lead):
    opened = factories.open_calibration(project, 4)
    first, second, third, _ = opened.assignments.filter(annotator=ana)
    save = factories.save_of(factories.labels([0]), active_seconds=90)
    annotations.submit(first, save)
    annotations.save_draft(second, factories.save_of(factories.labels([0])))
    annotations.skip(third, factories.save_of({"requirements": []}), reason="Not in English.")

    shown = page(lead, URL)

    # assigned, pending, draft, submitted, skipped, returned, minutes
    assert "ana Move work of ana 4 1 1 1 1 0 1.5 none answered yet" in shown
    assert "ben Move work of ben 4 4 0 0 0 0 – none answered yet never" in shown


def test_every_return_is_counted(project, rita, ana):
    mine = factories.open_full(project, 1).assignments.get(annotator=ana)
    for _ in range(2):
        factories.answer(mine)
        annotations.send_back(mine, by=rita, reason="Look again.")

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


def test_generated_gold_hides_no_gold_of_people(project, lead):
    release = factories.make_release(project, items=2)
    call_command("generate", "conversations", project="orders", count=4, stdout=StringIO())
    assert project.gold_releases.count() == 2

    assert states(project)["gold"] == 2
    assert f"2 items in {release}" in page(lead, "/projects/orders/")


def test_tables_are_files_that_no_spreadsheet_runs(project, ana, lead):
    ana.username = "=cmd()"
    ana.save()
    factories.answer_all(factories.open_full(project, 1))

    assert "'=cmd()" in [row["annotator"] for row in table(lead, "people")]
    assert lead.get("/projects/orders/tables/secrets.csv").status_code == 404


# --- stages ------------------------------------------------------------------------------------


def test_a_conversation_is_in_the_last_stage_that_it_has_reached(project, people):
    (talk,) = factories.make_conversations(project, 1)

    def stage() -> str:
        return str(with_stage(Conversation.objects.filter(pk=talk.pk)).get().stage)  # type: ignore[attr-defined]

    assert stage() == "unplanned"
    pool = factories.open_full(project, 1, pool=True, overlap=1)
    assert stage() == "waiting"
    hidden = Assignment(conversation=talk, round=pool, annotator=people["ben"], slot=0)
    hidden.purpose = Assignment.Purpose.HONEYPOT
    hidden.save()
    factories.answer(hidden)
    assert stage() == "waiting"  # a hidden check is no work on it
    place = pool.assignments.create(conversation=talk, annotator=people["ana"], slot=0)
    assert stage() == "waiting"
    annotations.save_draft(place, factories.save_of(factories.labels([0])))
    assert stage() == "begun"
    factories.answer(place)
    assert stage() == "labeled"
    figures = {"agreement": 0.5, "n_agreed": 0, "n_disputed": 1, "clusters": []}
    Merge.objects.create(
        conversation=talk, layer="extraction", round=pool, state="disputed", **figures
    )
    assert stage() == "disputed"
    guideline = project.guidelines.all()[0]
    decision = {"payload": {}, "decided_by": people["rita"], "version": 1, "guideline": guideline}
    Adjudication.objects.create(conversation=talk, layer="extraction", **decision)
    assert stage() == "decided"


def test_a_skip_that_gave_its_place_away_counts_once_its_round_has_ended(project):
    single = factories.open_full(project, 1, overlap=1)
    place = single.assignments.get()
    factories.skip(place)

    def complete() -> int:
        return Conversation.objects.filter(is_complete()).count()

    for slot, state, expected in ((0, "open", 1), (None, "open", 0), (None, "closed", 1)):
        Assignment.objects.filter(pk=place.pk).update(slot=slot)
        closed_at = None if state == "open" else place.taken_at
        Round.objects.filter(pk=single.pk).update(state=state, closed_at=closed_at)
        assert complete() == expected
