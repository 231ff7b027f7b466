"""A test before work: who has not passed is given nothing else, and what they answer counts not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from labeling.models import (
    Assignment,
    Membership,
    Project,
    Qualification,
    Round,
)
from labeling.overview import progress
from labeling.screening import check_scores, check_turns, tries
from labeling.work import admission, annotations, assignments, rounds
from labeling.work.locking import Locked
from tests import factories
from tests.labeling.checked import do_try
from tests.pages import page

TEST = Assignment.Purpose.QUALIFICATION
State = Qualification.State


@pytest.fixture
def dan(project: Project, rita: User) -> User:
    """A newcomer, in a project whose test has two conversations with one requirement each."""
    factories.make_release(project, items=2)
    check_turns.set_plan(project, by=rita, test=True, pass_at=0.9, tries=2)
    user = User.objects.create_user("dan", password=factories.PASSWORD)
    Membership.objects.create(project=project, user=user, role="annotator")
    return user


def test_a_calibration_round_waits_for_the_test_too(project, dan, ana):
    opened = factories.open_calibration(project, 1)

    for person in (dan, ana):  # members of earlier rounds are exempt by waiver alone
        with pytest.raises(admission.NotQualified):
            factories.answer(opened.assignments.get(annotator=person))


def test_a_test_without_anything_to_compare_has_no_value(project, dan, rita):
    tries.begin(project, dan)
    project.layers = ["events"]
    project.save()
    for part in tries.parts_of(dan, project):
        annotations.submit(part, factories.save_of({"events": []}))
        check_scores.score(part.pk, ruler=factories.ruler())

    result = Qualification.objects.get(user=dan)
    assert (result.state, result.value) == (State.BETWEEN, None)


def test_an_answer_of_the_test_stands_and_who_made_the_gold_cannot_be_tested(project, dan, ana):
    do_try(dan, project)

    with pytest.raises(Locked):
        annotations.reopen(tries.parts_of(dan, project)[0])
    with pytest.raises(tries.TryImpossible, match="nothing_left"):
        tries.begin(project, ana)
    assert not Qualification.objects.filter(user=ana).exists()


def test_the_test_is_no_round_of_the_project(project, dan, lead):
    before = progress.by_state(project), assignments.progress(project)
    do_try(dan, project, ())

    assert Round.with_checks.filter(kind=Round.Kind.QUALIFYING).count() == 1
    told = lead.get(f"/api/projects/{project.slug}/").json()
    assert 0 not in [round["number"] for round in told["rounds"]]
    assert (progress.by_state(project), assignments.progress(project)) == before
    assert "dan" not in [person.username for person in progress.people(project) if person.assigned]
    assert not rounds.gate_is_open(project)


# --- over HTTP ----------------------------------------------------------------------------------


def test_the_api_says_what_has_to_come_first(project, dan, signed_in):
    planned = factories.open_full(project, 1, annotators=[dan], overlap=1)
    client = signed_in(dan)

    refused = client.post("/api/queue/next/")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_qualified")
    waiting = planned.assignments.get()
    save = {"base_version": 0, "client": "9" * 32, "seq": 1, "payload": {}, "empty": False}
    url = f"/api/annotations/{waiting.pk}/"
    answer = client.put(url, save, content_type="application/json")
    assert answer.json()["code"] == "not_qualified"
    assert client.get(waiting.get_absolute_url()).status_code == 302


def test_a_newcomer_finds_the_test_on_the_first_page(project, dan, rita, signed_in):
    client = signed_in(dan)
    first = page(client, "/")
    assert "Start the test" in first
    assert "A test comes before the work." in first
    assert "All done" not in first

    begun = client.post("/projects/orders/screening/")

    assert begun.url == tries.parts_of(dan, project)[0].get_absolute_url()
    assert "round 0" not in page(client, begun.url)
    assert "0 of 2 conversations are answered" in page(client, "/")
    do_try(dan, project, ())
    assert "Try again (1 try left)" in page(client, "/")
    told = page(client, "/projects/orders/screening/")
    assert "0 of 1 found" in told
    assert "Order Tracking 1" not in told  # the right labels would give the next try away


def test_a_lead_sets_checks_and_sees_who_passed(project, dan, rita, signed_in):
    do_try(dan, project)
    lead = signed_in(rita)

    shown = page(lead, "/projects/orders/checks/")
    assert "dan Passed 1.00" in shown
    plan = {"every": "1", "pause_after": "3", "pass_at": "0.5", "tries": "1"}
    plan["test_on"] = "3"
    assert lead.post("/projects/orders/checks/", plan).status_code == 400
    assert lead.post("/projects/orders/checks/", {**plan, "every": "4"}).status_code == 302
    assert check_turns.plan_of(project).every == 4
    waived = lead.post(
        f"/projects/orders/checks/people/{dan.pk}/", {"what": "waive", "reason": "No"}
    )
    assert waived.status_code == 400  # who has passed needs none
    assert "dan" in page(lead, f"/projects/orders/checks/people/{dan.pk}/")


def test_a_check_looks_like_ordinary_work(project, dan, rita, signed_in):
    check_turns.set_plan(project, by=rita, test=False)
    check_turns.set_plan(project, by=rita, every=2)
    factories.open_full(project, 6, pool=True, overlap=1)
    client = signed_in(dan)
    pages, answers, saved = {}, {}, {}
    for _ in range(2):
        pk = client.post("/api/queue/next/").json()["assignment"]
        purpose = Assignment.with_checks.get(pk=pk).purpose
        pages[purpose] = client.get(f"/label/{pk}/")
        url = f"/api/annotations/{pk}/"
        answers[purpose] = client.get(url).json()
        body = {"base_version": 0, "client": "9" * 32, "seq": 1, "active_seconds": 1}
        body |= {"payload": factories.labels([0]), "empty": False}
        sent = client.post(f"{url}submit/", body, content_type="application/json")
        saved[purpose] = sent.json()
        assert sent.status_code == 200
        assert client.get(f"{url}comments/").json() == client.get(f"{url}comments/").json()
    queue = {row["id"]: row for row in client.get("/api/queue/").json()["results"]}

    assert set(pages) == {"labelling", "honeypot"}
    one, other = (pages[name] for name in ("labelling", "honeypot"))
    assert one.status_code == other.status_code == 200
    assert one.context["annotation"].keys() == other.context["annotation"].keys()
    assert "honeypot" not in other.content.decode()
    places = [
        (shown.context["queue_position"], shown.context["queue_total"]) for shown in (one, other)
    ]
    assert sorted(places) == [(1, 1), (2, 2)]
    for found in (answers, saved):
        assert found["labelling"].keys() == found["honeypot"].keys()
    rows = list(queue.values())
    assert len(rows) == 2
    assert rows[0].keys() == rows[1].keys()
    assert rows[0]["round"] == rows[1]["round"]
    reopened = [client.post(f"/api/annotations/{pk}/reopen/") for pk in queue]
    assert [one.status_code for one in reopened] == [200, 200]
