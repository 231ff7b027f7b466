"""A release appears at once, with items that were inserted before where nobody sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from labeling.domain.matching.similarity import Ruler
from labeling.models import (
    Annotation,
    Comment,
    GoldDraft,
    GoldItem,
    GoldRelease,
    LintFinding,
    Project,
)
from labeling.services import comments, guidelines, pseudonyms
from labeling.services.gold import disputes, gold, lint, publishing
from labeling.services.gold.staging import FrozenItem
from labeling.services.gold.verification import verify
from labeling.services.settling import adjudications
from labeling.services.work import annotations, locking
from tests import factories
from tests.fakes import WordOverlap


class Killed(BaseException):
    """The process ends without cleaning up."""


def freeze(project: Project, **options: Any) -> GoldRelease:
    ruler = Ruler(WordOverlap())
    return gold.freeze(project=project, layer="extraction", ruler=ruler, **options)


@pytest.fixture
def answered(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Three conversations with all their answers; items are inserted one at a time."""
    monkeypatch.setattr(publishing, "ROWS", 1)
    factories.answer_all(factories.open_full(project, 3))
    return project


def kill_while_inserting(project: Project) -> None:
    """Between two batches. What a context manager does at the end, a killed process doesn't."""
    insert, inserted = GoldItem.objects.bulk_create, []

    def die(rows: list[GoldItem]) -> None:
        if inserted:
            raise Killed
        inserted.append(insert(rows))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GoldItem.objects, "bulk_create", die)
        patch.setattr(publishing.ItemDraft, "__exit__", lambda *failure: None)
        with pytest.raises(Killed):
            freeze(project)


def test_a_process_that_dies_between_two_batches_leaves_nothing_to_be_seen(
    answered: Project, signed_in: Any, rita: User
) -> None:
    kill_while_inserting(answered)

    assert GoldItem.objects.count() == 1  # else this tests nothing
    assert not GoldItem.objects.published().exists()
    assert not GoldRelease.objects.exists()
    for address in ("/projects/orders/gold/", "/projects/orders/progress/", "/projects/orders/"):
        assert signed_in(rita).get(address).status_code == 200
    assert signed_in(rita).get("/api/gold/").json()["results"] == []

    release = freeze(answered)
    assert (str(release), release.items.count(), verify(release)) == ("orders@1", 3, [])


def test_what_a_dead_process_left_is_swept_and_nothing_else(answered: Project) -> None:
    kill_while_inserting(answered)
    release = freeze(answered)
    publishing.sweep()
    assert GoldItem.objects.count() == 4  # its process may still be alive

    GoldDraft.objects.update(alive_at="2026-01-01T00:00Z")
    publishing.sweep()

    assert not GoldDraft.objects.exists()
    assert GoldItem.objects.count() == release.items.count() == 3
    with pytest.raises(DatabaseError, match="frozen"), transaction.atomic():
        release.items.all().delete()


def test_a_process_that_was_given_up_publishes_nothing(
    answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = publishing.ItemDraft.insert

    def sleep_afterwards(draft: publishing.ItemDraft, items: Any) -> None:
        insert(draft, items)
        GoldDraft.objects.update(alive_at="2026-01-01T00:00Z")
        publishing.sweep()

    monkeypatch.setattr(publishing.ItemDraft, "insert", sleep_afterwards)

    with pytest.raises(publishing.DraftGivenUp):
        freeze(answered)

    assert not GoldRelease.objects.exists()
    assert not GoldItem.objects.exists()


def test_what_fails_while_items_are_inserted_takes_them_back(
    transactional_db: None, answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise Killed

    monkeypatch.setattr(gold, "_publish", fail)

    with pytest.raises(Killed):
        freeze(answered)

    assert not GoldItem.objects.exists()
    assert not GoldDraft.objects.exists()


def test_what_is_decided_while_items_are_inserted_leaves_its_item_out(
    answered: Project, rita: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = answered.conversations.order_by("external_id")
    insert = publishing.ItemDraft.insert

    def decide_afterwards(draft: publishing.ItemDraft, items: Any) -> None:
        insert(draft, items)
        adjudications.decide(
            conversation=second,
            layer="extraction",
            payload=factories.labels([1]),
            reason="Message 1 says it",
            by=rita,
        )

    monkeypatch.setattr(publishing.ItemDraft, "insert", decide_afterwards)
    release = freeze(answered)
    monkeypatch.undo()

    names = [item.item_id for item in release.items.all()]
    assert names == [first.external_id, third.external_id]
    (row,) = release.left_out
    assert (row["conversation"], row["reason"]["code"]) == (
        second.external_id,
        "gold.changed_just_now",
    )
    assert verify(release) == []
    assert freeze(answered).items.get(item_id=second.external_id).how == "adjudicated"


def test_an_answer_is_locked_from_the_moment_of_publication(
    answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "finish", lambda key: None)  # it dies before it locks them
        freeze(answered)
    annotation = Annotation.objects.first()
    assert annotation
    assert annotation.locked_at is None
    fast = timezone.now() + timedelta(seconds=5)  # the clock of the machine that stored the answer
    Annotation.objects.filter(pk=annotation.pk).update(submitted_at=fast)

    with pytest.raises(locking.Locked):
        annotations.reopen(annotation.assignment)

    GoldDraft.objects.update(alive_at="2026-01-01T00:00Z")
    publishing.sweep()
    assert not Annotation.objects.filter(locked_at=None).exists()
    assert not GoldDraft.objects.exists()


def test_another_writer_is_let_in_between_two_batches(
    transactional_db: None, answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items of one transaction are few, and SQLite gets a pause to serve somebody else."""
    paused = []
    monkeypatch.setattr("time.sleep", paused.append)

    freeze(answered)

    batches = 3 + 3  # items, and the answers behind them
    assert len(paused) == (batches if connection.vendor == "sqlite" else 0)


def test_who_answers_for_the_first_time_during_a_freeze_gets_a_pseudonym(
    answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assign, before = pseudonyms.assign, [{"ana": "annotator-1"}]
    monkeypatch.setattr(
        pseudonyms, "assign", lambda project: before.pop() if before else assign(project)
    )

    release = freeze(answered)

    assert not before
    assert not [item for item in release.items.all() if '"ben"' in item.canonical]
    assert '"ben"' not in release.header


@pytest.fixture
def corrected(answered: Project, rita: User) -> GoldRelease:
    """A release; one label was decided differently since, which makes a patch."""
    release = freeze(answered)
    adjudications.decide(
        conversation=release.items.all()[1].conversation,
        layer="extraction",
        payload=factories.labels([1]),
        reason="Message 1 says it",
        by=rita,
    )
    return release


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], list[int]]:
    """Have something happen once, after the items were inserted; returns the drafts inserted."""

    def happens(what: Callable[[], Any]) -> list[int]:
        insert, drafts = publishing.ItemDraft.insert, []

        def insert_first(draft: publishing.ItemDraft, items: Any) -> None:
            insert(draft, items)
            drafts.append(draft.pk)
            if len(drafts) == 1:
                what()

        monkeypatch.setattr(publishing.ItemDraft, "insert", insert_first)
        return drafts

    return happens


def test_a_release_holds_against_the_guidelines_that_it_states(
    corrected: GoldRelease, rita: User, meanwhile: Any
) -> None:
    project = corrected.project
    meanwhile(
        lambda: guidelines.add_version(
            project=project, body="# Other words", summary="", by=rita, base_version=1
        )
    )

    release = freeze(project, waive={"superseded": "It asks for the same."})

    assert release.guideline
    assert (release.guideline.version, release.meaning) == (2, "2.0.0")
    assert [(row["kind"], row["findings"]) for row in release.waivers] == [("superseded", 3)]


def dispute(item: GoldItem, by: User) -> Any:
    label = item.content["gold"]["requirements"][0]
    disputes.open_dispute(
        item=item, layer="extraction", uid=label["uid"], proposal=None, reason="None.", by=by
    )


def comment(item: GoldItem, by: User) -> Any:
    comments.post(comments.place_for_lead(item.conversation), body="Really?", author=by)


@pytest.mark.parametrize(("say", "kind"), [(dispute, "open_dispute"), (comment, "open_comment")])
def test_what_is_said_while_items_are_inserted_blocks_the_release(
    transactional_db: None,
    corrected: GoldRelease,
    rita: User,
    meanwhile: Any,
    say: Callable[[GoldItem, User], Any],
    kind: str,
) -> None:
    meanwhile(lambda: say(corrected.items.all()[0], rita))

    with pytest.raises(lint.LintOpen):
        freeze(corrected.project)

    assert list(LintFinding.objects.values_list("kind", flat=True)) == [kind]
    assert GoldRelease.objects.get() == corrected
    assert not GoldDraft.objects.exists()


def test_a_comment_that_was_resolved_meanwhile_is_not_stated_as_waived(
    corrected: GoldRelease, rita: User, meanwhile: Any
) -> None:
    comment(corrected.items.all()[0], rita)
    meanwhile(lambda: comments.resolve(Comment.objects.get(), by=rita))

    assert freeze(corrected.project, waive={"open_comment": "It is small talk."}).waivers == []


def test_an_import_meanwhile_makes_nothing_again(answered: Project, meanwhile: Any) -> None:
    drafts = meanwhile(lambda: factories.make_conversations(answered, 2, split="train"))

    assert freeze(answered).items.count() == 3
    assert len(drafts) == 1


def test_a_split_that_was_given_meanwhile_is_in_the_items(
    answered: Project, meanwhile: Any
) -> None:
    drafts = meanwhile(lambda: answered.conversations.update(split="test"))

    assert {*freeze(answered).items.values_list("split", flat=True)} == {"test"}
    assert len(drafts) == 2


def test_who_comes_back_after_the_sweep_does_not_insert_into_the_draft_of_another(
    answered: Project,
) -> None:
    items = freeze(answered).items.all()
    (row,) = [
        FrozenItem(*(getattr(item, name) for name in FrozenItem._fields)) for item in items[:1]
    ]
    asleep = publishing.ItemDraft()
    GoldDraft.objects.update(alive_at="2026-01-01T00:00Z")
    publishing.sweep()
    awake = publishing.ItemDraft()

    with pytest.raises(publishing.DraftGivenUp):
        asleep.insert([row])

    awake.insert([row])
    assert GoldItem.objects.filter(release=awake.pk).count() == 1
