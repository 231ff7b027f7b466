"""What people do all day stays cheap: how many statements it costs, and no message too many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
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

from labeling.api.annotations import AnnotationOut, SaveIn, _plain_save, annotation_out
from labeling.models import (
    Adjudication,
    Annotation,
    Assignment,
    Conversation,
    ConversationState,
    Merge,
    Project,
    Round,
    RoundConversation,
    counting,
)
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
    for body in (least, {**least, "empty": True, "active_seconds": 7}):
        described = SaveIn(data=body)
        described.is_valid(raise_exception=True)
        assert _plain_save(body) == annotations.Save(**described.validated_data)
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
        *(row.pk for row in Assignment.objects.select_related("annotation") if not fits(row)),
        *(talk for talk in Conversation.objects.all() if standing(talk) != counted(talk)),
    ]


def fits(assignment: Assignment) -> bool:
    """Whether what is stored of its answer is what the answer says."""
    stored = (assignment.status, assignment.active_seconds, assignment.answered_at)
    answer = getattr(assignment, "annotation", None)
    if answer is None or answer.status == "draft":
        return stored == ("draft" if answer else "pending", None, None)
    seconds = answer.active_seconds if answer.status == "submitted" else None
    return stored == (answer.status, seconds, answer.updated_at)


def standing(talk: Conversation) -> tuple[Any, ...]:
    state = ConversationState.objects.get(conversation=talk)
    assert (state.project_id, state.difficulty) == (talk.project_id, talk.difficulty)
    return state.stage, state.newest_round_id, state.answers, state.is_complete


def counted(talk: Conversation) -> tuple[Any, ...]:
    """The same from everything that is known of the conversation."""
    work = Assignment.objects.filter(conversation=talk, purpose="labelling").select_related("round")
    statuses: dict[Round, list[str]] = {}
    finished: Counter[Round] = Counter()
    for one in work.with_answered():
        answer = getattr(one, "annotation", None)
        statuses.setdefault(one.round, []).append(answer.status if answer else "pending")
        finished[one.round] += one.is_answer
    complete = any(finished[each] >= each.overlap for each in statuses)
    newest = max(statuses, key=lambda each: each.number, default=None)
    answers = ""
    if newest is not None:
        enough = finished[newest] >= newest.overlap
        answers = "open" if not enough else "all" if "submitted" in statuses[newest] else "skipped"
    reached = {
        "unplanned": True,
        "waiting": talk.places.exists(),
        "begun": any(status != "pending" for each in statuses.values() for status in each),
        "labelled": complete,
        "disputed": talk.merges.filter(state="disputed").exists(),
        "decided": talk.adjudications.exists(),
    }
    stage = [name for name, is_reached in reached.items() if is_reached][-1]
    return stage, newest.pk if newest else None, answers, complete


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

    single = factories.open_full(project, 1, overlap=1)
    place = single.assignments.get()
    factories.skip(place)
    for slot in (None, 0, None):  # a skip counts as long as it has a place
        Assignment.objects.filter(pk=place.pk).update(slot=slot)
        assert miscounted() == []


LEVELS = ("", "easy", "hard")
STEPS = 30


class Anything:
    """What may happen to a project, in whatever order, also by hand."""

    def __init__(self, project: Project, people: dict[str, User], rng: random.Random) -> None:
        self.project, self.rng = project, rng
        self.people = [people[name] for name in ("ana", "ben", "cleo")]
        factories.open_full(project, 4, overlap=2)
        self.pool = factories.open_full(project, 3, pool=True, overlap=2)
        self.talks = list(Conversation.objects.all())

    def some(self, rows: Any) -> Any:
        return self.rng.choice(list(rows)) if rows else None

    def answer(self) -> None:
        if open_work := self.some(Assignment.objects.filter(answered=False, round__state="open")):
            done = factories.answer if self.rng.random() < 0.7 else factories.skip
            with suppress(assignments.PlaceTaken):
                done(open_work)

    def reopen(self) -> None:
        rows = Assignment.objects.filter(status="submitted", round__state="open")
        if answered := self.some(rows):
            annotations.reopen(answered)

    def take(self) -> None:
        assignments.take(self.rng.choice(self.people))

    def spend(self) -> None:
        Annotation.objects.filter(status=self.rng.choice(["draft", "submitted"])).update(
            active_seconds=self.rng.randrange(900), updated_at=timezone.now()
        )

    def give_back(self) -> None:
        if waiting := self.some(Assignment.objects.filter(annotation=None)):
            waiting.delete()
        skipped = Assignment.objects.filter(status="skipped", slot__isnull=False)
        if lost := self.some(skipped or Assignment.objects.all()):
            Assignment.objects.filter(pk=lost.pk).update(slot=None)

    def forget(self) -> None:
        Annotation.objects.filter(status="draft", revisions=None).delete()

    def close(self) -> None:
        if self.rng.random() < 0.3:
            Round.objects.filter(kind="full").update(state="closed", closed_at=timezone.now())
            factories.open_full(self.project, 2, overlap=self.rng.choice([1, 2]))

    def widen(self) -> None:
        Round.objects.filter(pk=self.pool.pk).update(overlap=self.rng.choice([1, 2, 3]))

    def move(self) -> None:
        """To a new round, as an import of answers does; the place first or last."""
        if not (place := self.some(RoundConversation.objects.all())):
            return
        last = Round.objects.order_by("number").last()
        there, talk = place.round, place.conversation
        to = Round.objects.create(
            project=self.project,
            number=last.number + 1 if last else 1,
            kind="full",
            state="closed",
            guideline=there.guideline,
            overlap=self.rng.choice([1, 2]),
            closed_at=timezone.now(),
            override_reason="A test of what moves.",
        )
        work = Assignment.objects.filter(round=there, conversation=talk)
        for moved in self.rng.sample([RoundConversation.objects.filter(pk=place.pk), work], 2):
            moved.update(round=to)

    def merge(self) -> None:
        state = self.rng.choice(["disputed", "majority"])
        figures = {"agreement": 0.5, "n_agreed": 0, "n_disputed": 1, "clusters": []}
        Merge.objects.update_or_create(
            conversation=self.rng.choice(self.talks),
            layer="extraction",
            defaults={"round": self.pool, "answers_sha256": "", "state": state, **figures},
        )

    def decide(self) -> None:
        decision = {"payload": {}, "decided_by": self.people[0], "version": 1}
        Adjudication.objects.get_or_create(
            conversation=self.rng.choice(self.talks),
            layer="extraction",
            defaults={"guideline": self.project.guidelines.all()[0], **decision},
        )

    def change(self) -> None:
        talk = self.rng.choice(self.talks)
        Conversation.objects.filter(pk=talk.pk).update(difficulty=self.rng.choice(LEVELS))
        Merge.objects.filter(conversation=self.rng.choice(self.talks)).delete()


@pytest.mark.parametrize("seed", [1, 2])
def test_what_triggers_keep_is_what_counting_from_scratch_says(
    project: Project, people: dict[str, User], seed: int
) -> None:
    rng = random.Random(seed)
    that = Anything(project, people, rng)
    often = [that.answer, that.answer, that.answer, that.reopen, that.take, that.take, that.spend]
    seldom = [
        that.give_back,
        that.give_back,
        that.forget,
        that.close,
        that.widen,
        that.move,
        that.merge,
        that.change,
    ]
    for at in range(STEPS):
        step = that.decide if at % 20 == 19 else rng.choice([*often, *seldom])
        step()
        assert miscounted() == [], step.__name__


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
    stand_still("stand_conversation_new")
    taken = assignments.take(ana)
    assert taken
    factories.answer(taken)
    ConversationState.objects.filter(conversation=taken.conversation).delete()
    assert len(counting.errors(["default"])) == 3
    assert not fits(Assignment.objects.select_related("annotation").get(pk=taken.pk))

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
