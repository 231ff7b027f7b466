import pytest

from labeling.models import Assignment
from labeling.work import annotations, assignments, rounds
from tests import factories
from tests.pages import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(project):
    return factories.open_calibration(project, 4)


def of(person, **fields):
    return list(Assignment.objects.filter(annotator=person, **fields).order_by("position"))


def test_the_queue_counts_and_each_tab_lists_its_own(signed_in, ana, round_):
    first, second, third, _ = of(ana)
    factories.answer(first)
    annotations.save_draft(second, factories.save_of(factories.labels([0])))
    factories.skip(third, "Not in English.")
    client = signed_in(ana)
    shown, submitted = page(client, "/"), page(client, "/?tab=submitted")
    assert "Pending 1 Draft 1 Submitted 1 Skipped 1" in shown
    assert "Continue" in shown
    assert first.conversation.external_id in submitted
    assert third.conversation.external_id not in submitted
    assert "Calibration orders easy Not in English." in page(client, "/?tab=skipped")


def test_who_has_answered_everything_is_told_so(signed_in, ana, round_):
    for assignment in of(ana):
        factories.answer(assignment)

    shown = page(signed_in(ana), "/")

    assert "All done" in shown
    assert "Start next" not in shown
    assert "Understood, start" not in shown


def test_the_queue_begins_with_what_the_button_opens(signed_in, project, ana):
    factories.open_full(project, 2)
    factories.open_calibration(project, 2)
    first = ana.assignments.get(round__kind="calibration", position=0)
    client = signed_in(ana)

    rows = client.get("/").context["page"].rows

    assert [row.round.kind for row in rows] == ["calibration"] * 2 + ["full"] * 2
    assert rows[0].get_absolute_url() == client.post("/label/next/").url
    assert rows[0] == first


def test_a_free_place_in_a_pool_is_offered(signed_in, project, ana):
    factories.open_full(project, 2, pool=True, overlap=1)

    shown = page(signed_in(ana), "/")

    assert "there is work to take" in shown
    assert "Understood, start" in shown


def test_what_can_no_longer_be_answered_is_not_pending(signed_in, project, ana, rita):
    rounds.close(factories.open_full(project, 2), by=rita)

    assert "Pending 0" in page(signed_in(ana), "/")


def test_a_lead_sees_where_each_project_stands(signed_in, rita, round_):
    factories.answer(of(round_.assignments.first().annotator)[0])

    shown = page(signed_in(rita), "/")

    assert "Gate measuring" in shown
    assert "Calibration round 1 is open: 1 of 12 assignments are answered." in shown
    assert "1 of 12 assignments answered (8 %)" in shown  # 100 / 12 rounded down


def test_an_annotator_sees_no_gate_and_no_figures(signed_in, ana, round_):
    shown = page(signed_in(ana), "/")

    assert "Gate" not in shown
    assert "Read the guidelines" in shown


def test_a_long_queue_is_turned_page_by_page_without_gaps(signed_in, project, ana):
    factories.open_calibration(project, 60)
    factories.open_full(project, 145)  # the same positions again, in a later round
    client, url, seen = signed_in(ana), "/?tab=pending", []
    while url:
        response = client.get(url)
        result = response.context["page"]
        seen += [row.pk for row in result.rows]
        url = f"/?tab=pending&after={result.after}" if result.after else ""

    expected = Assignment.objects.filter(annotator=ana).order_by("round__number", "position")
    assert seen == [assignment.pk for assignment in expected]


def test_what_was_returned_is_listed_with_what_has_to_change(signed_in, ana, rita, project):
    factories.open_full(project, 2)
    first = of(ana)[0]
    factories.answer(first)
    annotations.send_back(first, by=rita, reason="Message 2 is missing.")
    client = signed_in(ana)

    assert "Pending 1 Draft 0 Submitted 0 Skipped 0 Returned 1" in page(client, "/")
    assert "Message 2 is missing." in page(client, "/?tab=returned")
    shown = page(client, f"/label/{first.pk}/")
    assert "Returned to you: Message 2 is missing." in shown
    assert shown.count("Message 2 is missing.") == 1


def test_a_reservation_is_given_back_from_the_queue(signed_in, ana, project):
    factories.open_full(project, 1, pool=True, overlap=1)
    taken = assignments.take(ana)
    client = signed_in(ana)

    assert "Give back c-001" in page(client, "/")
    client.post(f"/label/{taken.pk}/give-back/")
    taken.refresh_from_db()
    assert (taken.slot, taken.lease_expires_at) == (None, None)


def test_a_newcomer_reads_the_guidelines_before_the_first_conversation(
    signed_in, project, ana, rita
):
    client = signed_in(ana)
    project.guidelines.create(version=2, body="# Only wishes count")
    waiting = page(client, "/")
    assert "Read this before you start" in waiting
    assert "Only wishes count" in waiting
    assert "Understood, start" not in waiting  # nothing waits yet

    opened = factories.open_calibration(project, 4)
    project.guidelines.create(version=3, body="# Newer than the round")
    shown = page(client, "/")
    assert "Only wishes count" in shown  # what the round follows
    assert "Newer than the round" not in shown
    assert ("Understood, start" in shown, "Start next" in shown) == (True, False)

    factories.answer(opened.assignments.filter(annotator=ana).first())
    shown = page(client, "/")
    assert ("Only wishes count" in shown, "Start next" in shown) == (False, True)


def test_only_a_queue_with_nothing_to_begin_looks_by_itself(signed_in, project, ana):
    client = signed_in(ana)
    assert 'id="queue" hx-get="/"' in client.get("/").content.decode()

    factories.open_calibration(project, 4)

    assert 'id="queue" hx-get' not in client.get("/").content.decode()
