"""What people do all day stays cheap: how many statements it costs, and no message too many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labeling.agreement import discussions
from labeling.jobs import pending
from labeling.models import (
    Annotation,
    Assignment,
    Job,
    Membership,
    Project,
)
from labeling.work import annotations, guidelines
from tests import factories
from tests.pages import queries

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def statements(signed_in: Callable[[User], Client], ana: User) -> Callable[..., int]:
    """How many statements a request of ana's needs, without those that only frame others."""
    client = signed_in(ana)

    def counted(method: str, url: str, body: dict[str, Any] | None = None) -> int:
        call = getattr(client, method)
        with CaptureQueriesContext(connection) as captured:
            response = call(url, body or {}, content_type="application/json")
        assert response.status_code == 200, response.content
        framing = ("BEGIN", "SAVEPOINT", "RELEASE", "COMMIT")
        return len([row for row in captured if not row["sql"].startswith(framing)])

    return counted


def sent(seq: int) -> dict[str, Any]:
    payload = factories.labels([0])
    return {"base_version": 0, "client": str(UUID(int=1)), "seq": seq, "payload": payload}


def test_the_label_path_keeps_to_its_statements(project, ana, ben, statements):
    """Who is signed in costs two of them; PostgreSQL locks a place and a round, too."""
    factories.open_full(project, 3, pool=True, overlap=2)
    locks = 0 if connection.vendor == "sqlite" else 1

    assert statements("post", "/api/queue/next/") <= 11
    mine = Assignment.objects.get()
    url = f"/api/annotations/{mine.pk}/"
    assert statements("put", url, sent(1)) <= 10 + locks
    assert statements("put", url, sent(2)) <= 9 + locks
    assert statements("post", f"{url}submit/", sent(3)) <= 12 + 2 * locks

    assert statements("post", "/api/queue/next/") <= 11
    mine = Assignment.objects.exclude(pk=mine.pk).get()
    assert statements("post", f"/api/annotations/{mine.pk}/submit/", sent(1)) <= 13 + 2 * locks


def test_nothing_is_checked_while_others_wait(project, ana, monkeypatch, transactional_db):
    factories.open_full(project, 1)
    mine = Assignment.objects.get(annotator=ana)
    check = annotations.problems_of

    def outside(*args: Any, **kwargs: Any) -> Any:
        assert not connection.in_atomic_block
        return check(*args, **kwargs)

    monkeypatch.setattr(annotations, "problems_of", outside)

    annotations.save_draft(mine, factories.save_of(factories.labels([0]), seq=1))
    annotations.submit(mine, factories.save_of(factories.labels([0]), base_version=1))

    assert Annotation.objects.get().status == "submitted"


def test_an_answer_that_changed_since_it_was_opened_is_read_again(project, ana):
    factories.open_full(project, 1)
    pk = Assignment.objects.get(annotator=ana).pk
    before, page = annotations.opened(ana, pk), UUID(int=1)
    first = factories.save_of(factories.labels([0]), client=page, seq=1)
    annotations.save_draft(Assignment.objects.get(pk=pk), first)

    second = factories.save_of(factories.labels([1]), client=page, seq=2)
    stored = annotations.save_draft(before, second)

    assert (stored.version, Annotation.objects.get().version) == (2, 2)
    assert [row.version for row in stored.revisions.all()] == [1, 2]


# --- pages ----------------------------------------------------------------------------------------

HERE = "/projects/orders/"
LISTS = {
    **dict.fromkeys(["/", "/projects/", HERE], 0),
    **{f"{HERE}{name}/": 0 for name in ("progress", "members", "audit", "calibration", "gold")},
    **{f"{HERE}{name}/": 0 for name in ("adjudication", "guidelines", "guidelines/worklist")},
    f"{HERE}conversations/": 9,
    f"{HERE}review/": 0,
}
"""Of a lead, each with the most statements that it may need; 0 where none were counted out."""
PARTS = {  # of the newest of each
    "round": "{here}rounds/{round}/agreement/",
    "talk": "{here}rounds/{round}/disagreements/",
    "gold": "{here}gold/orders/{release}/",
    "conversation": "{here}conversations/{conversation}/",
}


def more(project: Project, people: dict[str, User], number: int) -> dict[str, str]:
    """So many more rows of every kind; the addresses of what is as large as that."""
    ana, rita = people["ana"], people["rita"]
    with_gold = {"items": number, "by": rita, "waive": {"superseded": "A test."}}
    release = factories.make_release(project, **with_gold)
    factories.make_conversations(project, number, messages=number + 3)
    calibration = factories.open_calibration(project, number)
    for assignment in calibration.assignments.select_related("annotator"):
        factories.answer(assignment, [0, 2] if assignment.annotator == ana else [0])
    calibration.refresh_from_db()
    for place in discussions.found_in(calibration):
        discussions.say(calibration, place, body="@rita one.", by=ana)
        discussions.decide(calibration, place, outcome="edge_case", by=rita)
    newest = project.guidelines.count()
    for version in range(newest, newest + number):
        new = {"body": f"# {version}", "summary": "New", "base_version": version}
        guidelines.add_version(project=project, by=rita, **new)
        user = User.objects.create_user(f"person-{version}")
        Membership.objects.create(project=project, user=user, role="researcher")
        other = factories.make_project(f"other-{version}")
        factories.open_full(other, number)
        factories.work(other)
    factories.open_full(project, number)
    factories.work(project)
    at = {"round": calibration.number, "release": release.version}
    at["conversation"] = calibration.conversations.all()[0].pk
    return {name: url.format(here=HERE, **at) for name, url in PARTS.items()}


def test_more_of_everything_costs_no_page_more_statements(project, people, signed_in):
    lead, annotator = signed_in(people["rita"]), signed_in(people["ana"])

    def asked(parts: dict[str, str]) -> dict[str, list[str]]:
        addresses = {url: url for url in LISTS} | parts
        found = {name: queries(lead, url) for name, url in addresses.items()}
        return found | {"queue": queries(annotator, "/")}

    more(project, people, 1)
    few = asked(more(project, people, 1))
    more(project, people, 2)
    many = asked(more(project, people, 4))

    cost = {name: len(statements) for name, statements in few.items()}
    assert {name: len(many[name]) for name in many if len(many[name]) > cost[name]} == {}
    most = LISTS | {"queue": 16}
    assert {name: cost[name] for name in most if cost[name] > (most[name] or 999)} == {}
    large = ('"payload"', '"canonical"', '"clusters"')
    reads = [(name, sql) for name in LISTS for sql in many[name] if any(x in sql for x in large)]
    assert reads == []


# --- jobs -----------------------------------------------------------------------------------------


def test_many_submissions_are_one_job(project, django_capture_on_commit_callbacks):
    opened = factories.open_full(project, 3)

    with django_capture_on_commit_callbacks(execute=True):
        for assignment in opened.assignments.all():
            factories.answer(assignment)
        pending.request(project)

    assert project.pending_updates.count() == 4
    assert str(Job.objects.get()) == f"answers {project.pk}"
