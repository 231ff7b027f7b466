"""The page of one conversation, and the part of it that takes the place of the last one."""

from __future__ import annotations

import re

import pytest

from labeling.work import comments
from tests import factories
from tests.pages import queries

pytestmark = pytest.mark.django_db

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


def test_a_script_gets_the_next_conversation_as_the_content_of_its_page(signed_in, ana, queue):
    client = signed_in(ana)
    first, second = queue
    full = client.get(second.get_absolute_url()).content.decode()

    part = client.post(f"/label/next/?after={first.pk}", headers={"HX-Request": "true"})

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


def test_a_script_is_sent_to_the_queue_when_nothing_is_left(signed_in, ana, queue):
    for assignment in queue:
        factories.answer(assignment)
    client = signed_in(ana)

    answer = client.post("/label/next/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.url) == (302, "/")
    assert "Nothing is left to label" in client.get("/").content.decode()
