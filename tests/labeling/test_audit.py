import csv
import re

import pytest
from django.utils.translation import override

from labeling.core import events, members
from labeling.models import Event
from labeling.overview.views import activity
from tests import factories
from tests.pages import page

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
URL = "/projects/orders/audit/"
CSV = "/projects/orders/tables/audit.csv"


def shown(client, query=""):
    return re.findall(r"<code>([\w.]+)</code>", client.get(f"{URL}{query}").content.decode())


@pytest.fixture
def lead(signed_in, project, rita, ana):
    """Three events: of Rita, of Ana about c-001, and of nobody."""
    members.add_member(project=project, username="olga", role="researcher", by=rita)
    mine = factories.make_conversations(project, 1)[0]
    events.record("annotation.submitted", mine, project=project, actor=ana, conversation="c-001")
    events.record("round.passed", project, project=project, kappa=0.8)
    return signed_in(rita)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["round.passed", "annotation.submitted", "member.added"]),
        ("?actor=ana", ["annotation.submitted"]),
        ("?actor=nobody", []),
        ("?verb=member.added", ["member.added"]),
        ("?about=c-001", ["annotation.submitted"]),
        ("?actor=rita&verb=member.added", ["member.added"]),
        ("?actor=rita&verb=round.passed", []),
    ],
)
def test_the_log_is_narrowed_by_person_event_and_object(lead, query, found):
    assert shown(lead, query) == found


def test_the_log_of_one_object_is_asked_for_as_it_is_shown(lead, project):
    assert shown(lead, f"?about=project {project.pk}") == ["round.passed"]


def test_an_event_is_told_in_words(lead):
    assert "rita gave olga the role of researcher member.added membership" in page(lead, URL)


def test_the_file_holds_what_the_page_shows(lead):
    response = lead.get(f"{CSV}?actor=rita")

    rows = list(csv.DictReader(response.getvalue().decode().splitlines()))
    assert [(row["actor"], row["words"]) for row in rows] == [
        ("rita", "gave olga the role of researcher")
    ]


def test_a_long_log_goes_on_page_by_page(signed_in, project, rita):
    Event.objects.bulk_create(
        Event(project=project, verb="round.closed", object_type="round", object_id=str(number))
        for number in range(250)
    )
    client, seen, after = signed_in(rita), [], ""
    while after is not None:
        content = client.get(f"{URL}?verb=round.closed{after}").content.decode()
        seen += re.findall(r">round (\d+)<", content)
        following = re.search(r'after=(\d+)" rel="next"', content)
        after = f"&after={following[1]}" if following else None

    assert seen == [str(number) for number in reversed(range(250))]


def test_words_of_the_product_in_an_event_are_said_in_the_language_of_the_reader(project):
    event = events.record("round.opened", project, project=project, kind="full", conversations=2)

    with override("de"):
        assert "(Vollannotation)" in activity.words(event)


def test_a_figure_without_a_value_is_said_in_the_language_of_the_reader(project):
    event = events.record("round.failed", project, project=project, kappa=None)

    with override("de"):
        assert "κ ohne Wert" in activity.words(event)
