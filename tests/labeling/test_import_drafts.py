"""Imports in short transactions: seen as a whole or not at all."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from labeling.models import (
    Conversation,
    ConversationDraft,
    ConversationFingerprint,
    FingerprintKey,
    GoldItem,
    GoldRelease,
    Project,
    Transcript,
)
from labeling.services import keys, near_duplicates
from labeling.services.exchange import bulk, conversations, drafts, gold_files, gold_imports
from labeling.services.gold import lint
from tests import factories
from tests.concurrency import closing

pytestmark = pytest.mark.django_db


def said(name: str) -> list[dict[str, str]]:
    """No two names say the same."""
    return [
        {"role": "user", "content": " ".join(f"{name}{n}{word}" for word in range(9))}
        for n in range(4)
    ]


class Killed(BaseException):
    pass


def talks(*names: str) -> list[tuple[str, BytesIO]]:
    lines = [json.dumps({"id": name, "messages": said(name)}) for name in names]
    return [("talks.jsonl", BytesIO("\n".join(lines).encode()))]


def gold_lines(*names: str) -> list[tuple[str, BytesIO]]:
    lines = [
        json.dumps(
            {
                "item_id": name,
                "conversation": said(name),
                "layer": "extraction",
                "gold": {"requirements": [factories.requirement()]},
            }
        )
        for name in names
    ]
    return [("gold.jsonl", BytesIO("\n".join(lines).encode()))]


def load(*names: str) -> conversations.ImportReport:
    return conversations.import_files(project_slug="shop", files=talks(*names))


def load_gold(*names: str, **options: Any) -> gold_files.GoldOutcome:
    return gold_files.import_gold(
        project_slug="shop", layer="extraction", files=gold_lines(*names), **options
    )


def seen() -> tuple[int, ...]:
    items = GoldItem.objects.count()
    models = (Project, Conversation, GoldRelease)
    return (*(model.objects.count() for model in models), items)


def inserted() -> tuple[int, ...]:
    models = (Transcript, ConversationFingerprint, GoldItem, ConversationDraft)
    return (
        Conversation.with_drafts.count(),
        *(model.objects.count() for model in models),
    )


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A process that ends at its second batch, and cannot tidy up."""

    def kill(on: Any, name: str, action: Any) -> None:
        real, calls = getattr(on, name), []

        def second_time(*args: Any, **kwargs: Any) -> Any:
            calls.append(1)
            if len(calls) == 2:
                raise Killed
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(on, name, second_time)
            for module, limit in ((drafts, "ROWS"), (drafts, "SORTED")):
                patch.setattr(module, limit, 1)
            patch.setattr(drafts, "can_tidy_up", lambda kind: False)
            with pytest.raises(Killed):
                action()

    return kill


def test_an_import_that_is_killed_leaves_nothing_to_be_seen_and_is_swept(kill: Any) -> None:
    kill(drafts.Draft, "_insert_keys", lambda: load("a", "b", "c"))

    assert seen() == (0, 0, 0, 0)
    assert inserted()[0] > 0  # else this tests nothing
    drafts.sweep()
    with pytest.raises(drafts.ImportUnderWay):  # its process may still be alive
        load("a", "b", "c")

    ConversationDraft.objects.update(alive_at="2026-01-01T00:00Z")
    drafts.sweep()
    assert inserted() == (0, 0, 0, 0, 0)
    assert not FingerprintKey.objects.exists()
    assert load("a", "b", "c").new == 3
    assert seen() == (1, 3, 0, 0)


def test_gold_that_is_killed_leaves_neither_items_nor_conversations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(*args: Any, **options: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(GoldItem.objects, "bulk_create", die)
        with pytest.raises(Killed):
            load_gold("a", "b")

    assert seen() == (0, 0, 0, 0)
    assert str(load_gold("a", "b").release) == "shop-extraction@1"
    assert seen() == (1, 2, 1, 2)


def test_the_sweep_removes_nothing_of_another_project(kill: Any) -> None:
    """A row that came under a key of the draft in another way."""
    kill(drafts.Draft, "_insert_keys", lambda: load("a", "b", "c"))
    other = factories.make_project("other")
    last = ConversationDraft.objects.get().last
    Conversation.with_drafts.create(pk=last, project=other, external_id="theirs", n_messages=0)
    Transcript.objects.create(pk=last, messages="[]")
    assert not other.conversations.exists()  # the draft hides it

    ConversationDraft.objects.update(alive_at="2026-01-01T00:00Z")
    drafts.sweep()

    assert [talk.external_id for talk in other.conversations.all()] == ["theirs"]
    assert inserted()[:2] == (1, 1)


def test_nothing_is_published_before_its_project(kill: Any) -> None:
    kill(drafts.Draft, "_insert_keys", lambda: load("a", "b", "c"))
    with pytest.raises(IntegrityError, match="published with their project"), transaction.atomic():
        ConversationDraft.objects.all().delete()
    assert not Conversation.objects.exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_reserved_is_nobody_elses() -> None:
    """Reserved by several at once, between rows that get their keys from the database."""

    def reserved(number: int) -> set[int]:
        with transaction.atomic():
            first = keys.reserve(Project, number)
            return set(range(first, first + number))

    def made(name: str) -> set[int]:
        return {Project.objects.create(slug=name, name=name).pk}

    with ThreadPoolExecutor(6) as threads:
        ranges = [threads.submit(closing, partial(reserved, n)) for n in (7, 1, 3000) * 5]
        rows = [threads.submit(closing, partial(made, f"shop-{n}")) for n in range(15)]
    taken = [each.result() for each in (*ranges, *rows)]

    assert sum(map(len, taken)) == len(set[int]().union(*taken)) == 5 * 3008 + 15


def test_a_dry_run_of_gold_says_the_release_and_leaves_nothing() -> None:
    outcome = load_gold("a", "b", dry_run=True)

    assert (str(outcome.release), outcome.new) == ("shop-extraction@1", 2)
    assert seen() == (0, 0, 0, 0)
    assert inserted() == (0, 0, 0, 0, 0)


def test_an_import_that_was_given_up_publishes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = drafts.Draft.insert

    def sleep_afterwards(draft: drafts.Draft, *args: Any) -> None:
        insert(draft, *args)
        ConversationDraft.objects.update(alive_at="2026-01-01T00:00Z")
        drafts.sweep()

    monkeypatch.setattr(drafts.Draft, "insert", sleep_afterwards)
    with pytest.raises(drafts.DraftGivenUp):  # each time
        load("a")

    assert seen() == (0, 0, 0, 0)


def swept_by_a_worker() -> None:
    ConversationDraft.objects.update(alive_at="2026-01-01T00:00Z")
    drafts.sweep()


def test_an_import_that_was_swept_once_inserts_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is inserted, or while gold is looked at."""

    def first_time(on: Any, name: str) -> None:
        real = getattr(on, name)

        def swept(*args: Any, **kwargs: Any) -> Any:
            monkeypatch.setattr(on, name, real)
            swept_by_a_worker()
            return real(*args, **kwargs)

        monkeypatch.setattr(on, name, swept)

    first_time(drafts.Draft, "insert")
    first_time(conversations.Storing, "publish")
    assert load("a", "b").new == 2
    first_time(gold_imports.Freezing, "_looked_at")
    assert load_gold("c").release is not None

    assert seen() == (1, 3, 1, 1)
    assert inserted() == (3, 3, 3, 1, 0)


def test_an_import_gives_a_sign_with_each_batch_that_it_decides_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that no worker takes it for dead, however long all of them take."""
    insert = conversations.Importing.insert
    decide_batch = conversations.Importing._decide_batch
    swept: list[bool] = []

    def overtaken(importing: conversations.Importing, draft: drafts.Draft) -> None:
        insert(importing, draft)
        monkeypatch.setattr(conversations.Importing, "insert", insert)
        files = [("t", BytesIO(json.dumps({"id": "z", "messages": said("z")}).encode()))]
        conversations.import_files(project_slug="another", files=files)
        monkeypatch.setattr(conversations.Importing, "_decide_batch", slow)

    def slow(importing: conversations.Importing, *args: Any) -> None:
        ConversationDraft.objects.update(
            alive_at=F("alive_at") - drafts.DEAD_AFTER + timedelta(seconds=20)
        )
        drafts.sweep()
        swept.append(not ConversationDraft.objects.exists())
        decide_batch(importing, *args)

    monkeypatch.setattr(conversations, "BATCH_CONVERSATIONS", 1)
    monkeypatch.setattr(conversations.Importing, "insert", overtaken)
    assert load("a", "b", "c").new == 3

    assert swept == [False, False, False]


def test_nothing_is_computed_in_a_transaction_and_none_takes_many_rows(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So whoever saves waits for some rows of an import, however large it is."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(drafts, "ROWS", 2)
    monkeypatch.setattr(drafts, "KEYS", 2)
    computed: set[str] = set()
    stored: list[int] = []

    def outside(on: Any, name: str) -> None:
        real = getattr(on, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            assert not connection.in_atomic_block
            computed.add(name)
            return real(*args, **kwargs)

        monkeypatch.setattr(on, name, watched)

    for on, name in (
        (conversations.Importing, "take"),
        (conversations.Importing, "decide"),
        (conversations.Importing, "keep"),
        (gold_imports.Freezing, "_stage"),
        (lint.Linter, "look"),
        (lint.Linter, "findings"),
    ):
        outside(on, name)
    insert, create = bulk.insert, GoldItem.objects.bulk_create

    def counted(model: Any, rows: Any, **options: Any) -> None:
        rows = list(rows)
        if model is FingerprintKey:
            assert len(rows) <= drafts.KEYS
        elif model is Conversation:
            stored.append(len(rows))
        insert(model, rows, **options)

    monkeypatch.setattr(bulk, "insert", counted)

    def frozen(rows: Any) -> Any:
        stored.append(len(rows := list(rows)))
        return create(rows)

    monkeypatch.setattr(GoldItem.objects, "bulk_create", frozen)

    load("a", "b", "c")
    load_gold("d", "e", "f")

    assert stored == [2, 1, 2, 1, 3]
    assert computed == {"take", "decide", "keep", "_stage", "look", "findings"}
    assert seen() == (1, 6, 1, 3)
    assert inserted() == (6, 6, 6, 3, 0)


def test_what_another_import_publishes_meanwhile_is_inserted_no_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gold is decided and made once more when the conversation has come in, and got its split."""
    stage = gold_imports.Freezing._stage

    def overtaken(freezing: gold_imports.Freezing) -> None:
        stage(freezing)
        monkeypatch.setattr(gold_imports.Freezing, "_stage", stage)
        line = json.dumps({"id": "other", "messages": said("a")})
        files = [("t", BytesIO(line.encode()))]
        conversations.import_files(project_slug="another", files=files, split="test")

    monkeypatch.setattr(gold_imports.Freezing, "_stage", overtaken)
    outcome = load_gold("a")

    assert outcome.release is not None
    assert [item.split for item in outcome.release.items.all()] == ["test"]
    assert Conversation.objects.get(external_id="a").split == "test"
    assert inserted()[:3] == (2, 2, 2)


def alike(name: str, *, other: int = 0) -> dict[str, Any]:
    """Conversations that share all their words but the last ``other``."""
    words = [f"{'other' if n >= 400 - other else 'word'}{n}" for n in range(400)]
    messages = [{"role": "user", "content": " ".join(words[at : at + 200])} for at in (0, 200)]
    return {"id": name, "messages": messages}


def load_alike(slug: str, *rows: dict[str, Any], **options: Any) -> None:
    lines = "\n".join(json.dumps(row) for row in rows)
    files = [("talks.jsonl", BytesIO(lines.encode()))]
    conversations.import_files(project_slug=slug, files=files, **options)


@pytest.mark.parametrize("common", [near_duplicates.COMMON, 10])
def test_what_a_draft_hides_crowds_no_stored_copy_out(
    monkeypatch: pytest.MonkeyPatch, common: int
) -> None:
    """More near copies than a search names are inserted already when the import decides again."""
    insert = conversations.Importing.insert
    monkeypatch.setattr(near_duplicates, "COMMON", common)
    monkeypatch.setattr(near_duplicates, "FEW", 1)
    load_alike("old", alike("secret", other=70), split="test")

    def overtaken(importing: conversations.Importing, draft: drafts.Draft) -> None:
        insert(importing, draft)
        monkeypatch.setattr(conversations.Importing, "insert", insert)
        load("other")

    monkeypatch.setattr(conversations.Importing, "insert", overtaken)
    load_alike("new", *(alike(f"copy {n}") for n in range(near_duplicates.MOST + 8)))

    talks = Project.objects.get(slug="new").conversations
    assert set(talks.values_list("split", flat=True)) == {"test"}


def test_the_search_sees_of_all_drafts_only_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [alike("a"), alike("b")]
    load_alike("old", *rows)
    load_alike("mine", *rows)
    load_alike("theirs", *rows)
    keys = {
        slug: sorted(Project.objects.get(slug=slug).conversations.values_list("pk", flat=True))
        for slug in ("old", "mine", "theirs")
    }
    for slug in ("mine", "theirs"):
        first, last = keys[slug]
        ConversationDraft.objects.create(
            first=first, last=last, slug=slug, project=Project.objects.get(slug=slug)
        )

    def copies(drafted: int | None) -> set[int]:
        ((_, matches),) = near_duplicates.of_conversations(keys["mine"][:1], drafted=drafted)
        return {match.conversation for match in matches}

    assert copies(None) == {*keys["old"]}
    assert copies(keys["mine"][0]) == {*keys["old"], keys["mine"][1]}
