"""What people do all day stays cheap: how many statements it costs, and no message too many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import connection
from django.db.migrations import Migration
from django.db.models import Count, F, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labeling.api.annotations import AnnotationOut, _checked_save, _plain_save, annotation_out
from labeling.models import Annotation, Assignment, Project, Round, RoundConversation, counting
from labeling.services import pending
from labeling.services.work import annotations, assignments, handovers
from tests import factories

pytestmark = pytest.mark.django_db


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


def test_the_label_path_keeps_to_its_statements(
    project: Project, ana: User, ben: User, statements: Callable[..., int]
) -> None:
    """Who is signed in costs two of them; PostgreSQL locks a place, and asks which are free."""
    factories.open_full(project, 3, pool=True, overlap=2)
    locks = 0 if connection.vendor == "sqlite" else 1

    assert statements("post", "/api/queue/next/") <= 11
    mine = Assignment.objects.get()
    url = f"/api/annotations/{mine.pk}/"
    assert statements("put", url, sent(1)) <= 9
    assert statements("put", url, sent(2)) <= 8
    assert statements("post", f"/api/queue/{mine.pk}/lease/") <= 5
    assert statements("post", f"{url}submit/", sent(3)) <= 11 + locks

    assert statements("post", "/api/queue/next/") <= 11
    mine = Assignment.objects.exclude(pk=mine.pk).get()
    assert statements("post", f"/api/annotations/{mine.pk}/submit/", sent(1)) <= 12 + locks


def test_nothing_is_checked_while_others_wait(
    project: Project, ana: User, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
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


def test_an_answer_that_changed_since_it_was_opened_is_read_again(
    project: Project, ana: User
) -> None:
    factories.open_full(project, 1)
    pk = Assignment.objects.get(annotator=ana).pk
    before, page = annotations.opened(ana, pk), UUID(int=1)
    assert before is not None
    first = factories.save_of(factories.labels([0]), client=page, seq=1)
    annotations.save_draft(Assignment.objects.get(pk=pk), first)

    second = factories.save_of(factories.labels([1]), client=page, seq=2)
    stored = annotations.save_draft(before, second, as_opened=True)

    assert (stored.version, Annotation.objects.get().version) == (2, 2)
    assert [row.version for row in stored.revisions.all()] == [1, 2]


@pytest.mark.one_database
def test_the_short_way_in_and_out_says_what_the_described_one_says(
    project: Project, ana: User
) -> None:
    factories.open_full(project, 1)
    annotation = factories.answer(Assignment.objects.get(annotator=ana))
    assert annotation_out(annotation) == AnnotationOut(annotation).data
    assert annotation_out(Annotation()).keys() == AnnotationOut(Annotation()).data.keys()

    least = sent(1)
    assert _plain_save(least) == _checked_save(least)
    everything = {**least, "empty": True, "active_seconds": 7}
    assert _plain_save(everything) == _checked_save(everything)
    for wrong in ({"seq": 0}, {"seq": True}, {"client": "x"}, {"empty": 1}, {"payload": []}):
        assert _plain_save({**sent(1), **wrong}) is None
    assert _plain_save([]) is None
    assert _plain_save({**sent(1), "base_version": "0"}) is None  # the serializer takes it


# --- what triggers count --------------------------------------------------------------------------


def miscounted() -> list[Any]:
    """Places and assignments whose stored count is not what the rows say."""
    taken = Count(
        "round__assignments",
        filter=Q(
            round__assignments__conversation=F("conversation"),
            round__assignments__purpose="labelling",
            round__assignments__slot__isnull=False,
        ),
    )
    places = RoundConversation.objects.order_by().annotate(taken=taken)
    finished = Q(annotation__isnull=False) & ~Q(annotation__status="draft")
    return [
        *places.exclude(free=F("round__overlap") - F("taken")),
        *Assignment.objects.filter(finished, answered=False),
        *Assignment.objects.exclude(finished).filter(answered=True),
    ]


def test_free_places_and_answers_are_counted_however_they_change(
    project: Project, people: dict[str, User]
) -> None:
    ana, ben, rita = (people[name] for name in ("ana", "ben", "rita"))
    pool = factories.open_full(project, 4, pool=True, overlap=2)
    assert set(pool.places.values_list("free", flat=True)) == {2}
    answered, given_back, kept = (assignments.take(ana) for _ in range(3))
    skipped = assignments.take(ben)
    assert None not in (answered, given_back, kept, skipped)
    assert miscounted() == []

    factories.answer(answered)
    factories.skip(skipped)
    assignments.give_back(given_back)
    assert miscounted() == []
    assert pool.places.filter(free=1).count() == 2

    annotations.reopen(answered)
    handovers.move_open_work(project=project, person=ana, by=rita, to=people["cleo"])
    assert miscounted() == []
    factories.open_full(project, 2)
    Round.objects.filter(pk=pool.pk).update(overlap=3)
    Assignment.objects.filter(pk=kept.pk, annotation__isnull=True).delete()
    assert miscounted() == []


def stand_still(trigger: str) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"DROP TRIGGER {trigger}")
        else:
            cursor.execute(f"DROP FUNCTION {trigger}() CASCADE")


def before(*migrations: Migration) -> None:
    plan = [(migration, False) for migration in migrations]
    emit_pre_migrate_signal(0, False, "default", plan=plan)


def migrate(*migrations: Migration) -> None:
    before(*migrations)
    emit_post_migrate_signal(0, False, "default")


def test_what_happened_while_a_count_stood_still_is_counted_by_the_next_migrate(
    project: Project, ana: User
) -> None:
    factories.open_full(project, 2, pool=True, overlap=1)
    stand_still("count_place_taken")
    stand_still("count_answer_new")
    taken = assignments.take(ana)
    assert taken
    factories.answer(taken)
    assert len(counting.errors(["default"])) == 2
    assert miscounted() != []

    migrate()

    assert counting.missing(connection) == []
    assert miscounted() == []


def test_only_a_migration_makes_the_counts_stand_still() -> None:
    migration = Migration("0001_anything", "labeling")
    before()
    assert counting.missing(connection) == []
    before(migration)
    assert len(counting.missing(connection)) == len(counting.COUNTS)
    migrate(migration)
    assert counting.missing(connection) == []


def test_a_place_that_is_free_by_mistake_keeps_nobody_from_the_next_one(
    project: Project, ana: User, ben: User, cleo: User
) -> None:
    pool = factories.open_full(project, 8, pool=True, overlap=1)
    stand_still("count_place_taken")
    full = [assignments.take(person) for person in (ana, ben) for _ in range(3)]
    assert None not in full
    migrate()
    RoundConversation.objects.filter(round=pool).update(free=1)

    others = [assignments.take(cleo) for _ in range(3)]

    assert len({taken.conversation_id for taken in [*full, *others] if taken}) == 8
    assert others[-1] is None
    assert miscounted() == []


@pytest.mark.parametrize(
    ("order", "index"), [(Round.Order.SEED, "place_free"), (Round.Order.LEAST, "place_emptiest")]
)
def test_the_end_of_a_pool_costs_as_much_as_its_beginning(
    project: Project, ana: User, order: Round.Order, index: str
) -> None:
    """Only what is free is looked at, in order: the index of free places holds nothing else."""
    pool = factories.open_full(project, 30, pool=True, overlap=1)
    for place in pool.places.all()[:29]:
        Assignment.objects.create(
            round=pool, conversation=place.conversation, annotator=ana, slot=0
        )
    assert pool.places.filter(free__gt=0).count() == 1
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
        cursor.execute(explain + assignments.free_sql(order), [pool.pk, ana.pk])
        plan = " ".join(str(row) for row in cursor.fetchall())

    assert index in plan, plan
    assert "TEMP B-TREE" not in plan, plan


# --- wake-ups -------------------------------------------------------------------------------------


def test_many_submissions_wake_a_worker_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent_messages: list[Any] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda *what: sent_messages.append(what))
    pending._messages._sent_at.clear()
    opened = factories.open_full(project, 3)

    with django_capture_on_commit_callbacks(execute=True):
        for assignment in opened.assignments.all():
            factories.answer(assignment)
    pending._messages._sent_at.clear()  # another process
    with django_capture_on_commit_callbacks(execute=True):
        pending.request(project)

    assert project.pending_updates.count() == 4
    assert sent_messages == [("labeling.tasks.process_answers", [project.pk])]


# --- who is signed in -----------------------------------------------------------------------------


def test_a_session_counts_until_it_ends_also_one_from_before(client: Client, ana: User) -> None:
    client.force_login(ana, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/").status_code == 200

    Session.objects.update(expire_date=timezone.now())

    assert client.get("/").url.startswith("/sign-in/")


def test_who_may_no_longer_sign_in_is_out_at_once(client: Client, ana: User) -> None:
    client.force_login(ana)
    assert client.get("/").status_code == 200

    User.objects.filter(pk=ana.pk).update(is_active=False)

    assert client.get("/").status_code == 302


@pytest.mark.one_database
def test_a_wrong_password_is_tried_once(ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    ana.set_password("right")
    ana.save()
    tried: list[str] = []
    check = User.check_password

    def counted(user: User, password: str) -> bool:
        tried.append(password)
        return check(user, password)

    monkeypatch.setattr(User, "check_password", counted)

    assert authenticate(username="ana", password="wrong") is None
    assert authenticate(username="ana", password="right") == ana
    assert tried == ["wrong", "right"]
