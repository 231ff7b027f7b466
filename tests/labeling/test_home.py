import re

import pytest

from labeling.models import Assignment
from labeling.work import annotations, assignments, comments, rounds
from tests import factories
from tests.pages import page, queries

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(project):
    return factories.open_calibration(project, 4)


def of(person, **fields):
    return list(Assignment.objects.filter(annotator=person, **fields).order_by("position"))


def test_the_queue_counts_and_each_tab_lists_its_own(ana, round_, annotator):
    first, second, third, _ = of(ana)
    factories.answer(first)
    annotations.save_draft(second, factories.save_of(factories.labels([0])))
    factories.skip(third, "Not in English.")
    shown, submitted = page(annotator, "/"), page(annotator, "/?tab=submitted")
    assert "Pending 1 Draft 1 Submitted 1 Skipped 1" in shown
    assert "Continue" in shown
    assert first.conversation.external_id in submitted
    assert third.conversation.external_id not in submitted
    assert "Calibration orders easy Not in English." in page(annotator, "/?tab=skipped")


def test_the_queue_begins_with_what_the_button_opens(project, ana, annotator):
    factories.open_full(project, 2)
    factories.open_calibration(project, 2)
    first = ana.assignments.get(round__kind="calibration", position=0)

    rows = annotator.get("/").context["page"].rows

    assert [row.round.kind for row in rows] == ["calibration"] * 2 + ["full"] * 2
    assert rows[0].get_absolute_url() == annotator.post("/label/next/").url
    assert rows[0] == first


def test_a_free_place_in_a_pool_is_offered(project, annotator):
    factories.open_full(project, 2, pool=True, overlap=1)

    shown = page(annotator, "/")

    assert "there is work to take" in shown
    assert "Understood, start" in shown


def test_what_can_no_longer_be_answered_is_not_pending(project, rita, annotator):
    rounds.close(factories.open_full(project, 2), by=rita)

    assert "Pending 0" in page(annotator, "/")


def test_a_lead_sees_where_each_project_stands_and_an_annotator_no_gate(round_, lead, annotator):
    factories.answer(of(round_.assignments.first().annotator)[0])

    shown = page(lead, "/")

    assert "Gate measuring" in shown
    assert "Calibration round 1 is open: 1 of 12 assignments are answered." in shown
    assert "1 of 12 assignments answered (8 %)" in shown  # 100 / 12 rounded down
    assert "Gate" not in page(annotator, "/")


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


def test_what_was_returned_is_listed_with_what_has_to_change(ana, rita, project, annotator):
    factories.open_full(project, 2)
    first = of(ana)[0]
    factories.answer(first)
    annotations.send_back(first, by=rita, reason="Message 2 is missing.")

    assert "Pending 1 Draft 0 Submitted 0 Skipped 0 Returned 1" in page(annotator, "/")
    assert "Message 2 is missing." in page(annotator, "/?tab=returned")
    shown = page(annotator, f"/label/{first.pk}/")
    assert "Returned to you: Message 2 is missing." in shown
    assert shown.count("Message 2 is missing.") == 1


def test_a_reservation_is_given_back_from_the_queue(ana, project, annotator):
    factories.open_full(project, 1, pool=True, overlap=1)
    taken = assignments.take(ana)

    assert "Give back c-001" in page(annotator, "/")
    annotator.post(f"/label/{taken.pk}/give-back/")
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


def test_only_a_queue_with_nothing_to_begin_looks_by_itself(project, annotator):
    assert 'id="queue" hx-get="/"' in annotator.get("/").content.decode()

    factories.open_calibration(project, 4)

    assert 'id="queue" hx-get' not in annotator.get("/").content.decode()


# --- the page of one conversation --------------------------------------------------------------


MOST_QUERIES = (
    12  # session, user, assignment, answer, admission, text, comments, suggestions, places
)


@pytest.fixture
def queue(project, ana):
    round_ = factories.open_full(project, 2)
    return list(round_.assignments.filter(annotator=ana).order_by("position"))


def test_a_page_costs_few_queries_whatever_the_conversation_is_long(signed_in, ana, project):
    client = signed_in(ana)
    costs = []
    for messages in (2, 30):
        factories.make_conversations(project, 1, messages=messages)
        mine = factories.open_full(project, 1).assignments.get(annotator=ana)
        client.get(mine.get_absolute_url())
        costs.append(len(queries(client, mine.get_absolute_url())))

    assert costs[0] == costs[1] <= MOST_QUERIES


def test_comments_that_one_may_read_come_with_the_page_and_no_others(signed_in, ana, ben, queue):
    first, _ = queue
    place = comments.place_of(first)
    mine = comments.post(place, body="Meant?", author=ana, pin=comments.Pin(message_index=1))
    comments.reply(mine, body="@ana: yes", author=ben)
    blind = factories.open_calibration(first.round.project, 1).assignments
    theirs = comments.place_of(blind.get(annotator=ben))
    comments.post(theirs, body="Not for ana before the round is closed", author=ben)

    html = signed_in(ana).get(first.get_absolute_url()).content.decode()
    assert re.findall(r'"comment-body" dir="auto">(.*?)</p>', html) == ["Meant?", "@ana: yes"]
    assert 'class="thread" data-about="1"' in html
    html = signed_in(ana).get(blind.get(annotator=ana).get_absolute_url()).content.decode()
    assert "comment-body" not in html


def test_a_script_gets_the_next_conversation_as_the_content_of_its_page(queue, annotator):
    first, second = queue
    full = annotator.get(second.get_absolute_url()).content.decode()

    part = annotator.post(f"/label/next/?after={first.pk}", headers={"HX-Request": "true"})

    html = part.content.decode()
    title, main = re.compile("<title>.*?</title>", re.S), re.compile("<main.*?>(.*)</main>", re.S)
    assert title.search(html)[0] == title.search(full)[0]
    assert without_token(main.search(html)[1]) == without_token(main.search(full)[1])
    sources = re.compile(r'(?:src|rel="stylesheet" href)="(/static/[^"]+)"')
    assert set(sources.findall(html)) <= set(sources.findall(full))
    assert "site-header" not in html
    assert 'id="texts"' not in html


def without_token(html: str) -> str:
    """The same but for white space and the token of the form, which differs from page to page."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"|\s+', "", html)


def test_a_script_is_sent_to_the_queue_when_nothing_is_left(queue, annotator):
    for assignment in queue:
        factories.answer(assignment)

    answer = annotator.post("/label/next/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.url) == (302, "/")
    assert "Nothing is left to label" in annotator.get("/").content.decode()
