"""Copies among conversations are found, and the split of one follows its text, not its name."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from labeling.conversations import conversations, near_duplicates
from labeling.conversations.conversations import ImportRefused, import_files
from labeling.conversations.near_duplicates import COMMON, MOST
from labeling.domain.fingerprints import fingerprint
from labeling.models import Conversation, Event, Project
from labeling.words import in_english
from tests import factories
from tests.talks import Line, copies, talk, texts

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

CHAT = talk(8)


def native(*rows: tuple[str, list[Line], str]) -> BytesIO:
    lines = []
    for name, talk_lines, split in rows:
        messages = [
            {"role": "user", "speaker": line.speaker, "content": line.text} for line in talk_lines
        ]
        lines.append(json.dumps({"id": name, "messages": messages, "split": split or None}))
    return BytesIO("\n".join(lines).encode())


def load(project: str, *rows: tuple[str, list[Line], str], **options: Any) -> Any:
    return import_files(project_slug=project, files=[("talks.jsonl", native(*rows))], **options)


def refusal(project: str, *rows: tuple[str, list[Line], str], **options: Any) -> str:
    with pytest.raises(ImportRefused) as refused:
        load(project, *rows, **options)
    return "\n".join(in_english(problem) for problem in refused.value.problems)


def split_of(name: str) -> str:
    return Conversation.objects.get(external_id=name).split


@pytest.mark.parametrize("change", list(copies(CHAT)))
def test_a_copy_is_in_the_split_of_the_original_in_every_project(change):
    load("one", ("Chat_8", CHAT, "test"))
    other = ("other", talk(9, messages=40), "train")
    assert refusal("two", other, ("Chat_3_x", copies(CHAT)[change], "train")) == (
        'talks.jsonl:2: conversation "Chat_3_x" is the same conversation as Chat_8 of project one '
        "(test), so it cannot be train; nothing was stored"
    )
    assert Conversation.objects.count() == 1
    report = load("two", ("akib", copies(CHAT)[change], ""))
    assert (split_of("akib"), report.inherited) == ("test", {"akib": "test"})
    assert [in_english(note) for note in report.notes] == [
        'talks.jsonl:1: conversation "akib" is test: it is the same conversation as Chat_8 of '
        "project one"
    ]


def test_copies_within_one_file_are_in_one_split():
    same = load("one", ("a", CHAT, "test"), ("b", CHAT[:400], ""), ("c", talk(9), "train"))

    assert (same.inherited, split_of("c")) == ({"b": "test"}, "train")
    said = refusal("two", ("d", talk(10), "dev"), ("e", copies(talk(10))["a mark"], "train"))
    assert "talks.jsonl:2" in said
    assert "as d (dev), so it cannot be train" in said


def test_what_many_say_in_one_import_is_not_compared_with_all_of_them():
    sketch, unstored = fingerprint(texts(talk(10))), near_duplicates.Unstored()
    for number in range(COMMON + 51):
        unstored.add(number, sketch)

    assert unstored.find(sketch) == [*range(MOST)]
    assert max(map(len, unstored._holders.values())) == COMMON


def test_what_comes_in_after_the_decision_is_recognised(monkeypatch):
    """Decided once while nothing is locked, and once more if another import was first."""
    decide = conversations.Plan._decide
    locked: list[bool] = []
    opened = len(connection.savepoint_ids)

    def overtaken(self: Any, *args: Any, **options: Any) -> None:
        locked.append(len(connection.savepoint_ids) > opened)
        decide(self, *args, **options)
        if len(locked) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(conversations.Plan, "_decide", decide)
                load("one", ("a", CHAT, "test"))

    monkeypatch.setattr(conversations.Plan, "_decide", overtaken)
    load("two", ("b", CHAT, ""))
    load("three", ("c", talk(9), ""))

    assert locked == [False, True, False]
    assert split_of("b") == "test"


def test_an_import_whose_fingerprints_cannot_be_stored_stores_nothing(monkeypatch):
    def fail(prints: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(near_duplicates, "store", fail)
    with pytest.raises(OperationalError):
        load("one", ("a", CHAT, "test"))

    assert not Conversation.objects.exists()
    assert not Project.objects.exists()


def test_a_copy_of_what_is_already_in_two_splits_is_refused():
    load("one", ("a", CHAT, "test"))
    load("one", ("b", talk(9), "train"))
    Conversation.objects.filter(external_id="b").update(external_id="was-b")
    half = [*CHAT[:300], *talk(9)[:300]]

    said = refusal("one", ("c", half, ""))

    assert "(test)" in said
    assert "(train)" in said
    assert "undecided" in said


def test_a_project_that_one_may_not_see_is_not_named(people):
    load("secret", ("Chat_8", CHAT, "test"))
    project = factories.make_project("mine")

    report = load("mine", ("copy", CHAT, ""), actor=people["rita"])

    (note,) = report.notes
    assert in_english(note).endswith("it is the same conversation as one of another project")
    assert project.conversations.get().split == "test"


def test_synthetic_conversations_share_templates_and_decide_nothing_about_each_other():
    def line(name: str, split: str, **keys: str) -> BytesIO:
        row = json.loads(native((name, CHAT[:20], split)).read())
        return BytesIO(json.dumps({**row, **keys}).encode())

    made = {"origin": "synthetic"}
    for name, split in [("a", "train"), ("b", "test")]:
        import_files(project_slug="one", files=[("f", line(name, split, **made))])
    with pytest.raises(ImportRefused):
        import_files(project_slug="one", files=[("f", line("c", "train"))])


def test_a_stored_conversation_without_a_split_gets_the_one_of_the_file_again():
    load("one", ("a", CHAT, ""), ("b", talk(9), "dev"))

    report = load("one", ("a", CHAT, "train"), ("b", talk(9), "dev"))

    assert (report.new, report.given, report.unchanged) == (0, {"a": "train"}, 1)
    assert split_of("a") == "train"
    event = Event.objects.filter(verb="conversations.imported").first()
    assert event is not None
    assert event.data["given"] == {"a": "train"}
    assert "is known with split" in refusal("one", ("a", CHAT, "test"))


def test_no_split_is_given_against_a_copy_or_a_release(people):
    load("one", ("a", CHAT, ""))
    load("two", ("b", CHAT[:400], "test"))
    project = factories.make_project()
    release = factories.make_release(project, items=1)
    frozen = release.items.get().conversation
    Conversation.objects.filter(pk=frozen.pk).update(split="")
    row = {
        "id": frozen.external_id,
        "split": "train",
        "messages": [{"role": line.role, "content": line.content} for line in frozen.messages],
    }

    assert "as b of project two (test)" in refusal("one", ("a", CHAT, "dev"))
    with pytest.raises(ImportRefused) as refused:
        import_files(project_slug="orders", files=[("f", BytesIO(json.dumps(row).encode()))])
    (problem,) = refused.value.problems
    assert f"is in {release} without a split, so it cannot get one now" in in_english(problem)
    assert split_of("a") == ""


def test_imports_into_different_projects_publish_one_after_the_other():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    with transaction.atomic(), connection.cursor() as cursor:
        conversations.open_project("one", None)
        cursor.execute(
            "SELECT granted FROM pg_locks WHERE locktype = 'advisory'"
            " AND objid = %s AND pid = pg_backend_pid()",
            [conversations.ADVISORY_LOCK],
        )
        assert cursor.fetchall() == [(True,)]


# --- copies ---------------------------------------------------------------------------------------


def load_all(project: str, talks: dict[str, list[Line]]) -> None:
    load(project, *((name, lines, "") for name, lines in talks.items()))


def same_as(name: str) -> list[tuple[str, str]]:
    conversation = Conversation.objects.get(external_id=name)
    ((pk, matches),) = near_duplicates.of_conversations([conversation.pk])
    assert pk == conversation.pk
    others = Conversation.objects.select_related("project").in_bulk(
        [m.conversation for m in matches]
    )
    return [
        (others[m.conversation].project.slug, others[m.conversation].external_id) for m in matches
    ]


def test_a_copy_is_found_in_every_project_under_every_name():
    chat = talk(1, messages=120)
    load_all("one", {"chat": chat, "other": talk(2, messages=120)})
    load_all("two", {"excerpt": chat[:70], "another": talk(3, messages=20)})

    assert same_as("chat") == [("two", "excerpt")]
    assert same_as("excerpt") == [("one", "chat")]
    assert same_as("other") == []


def test_a_search_asks_a_constant_number_of_queries(django_assert_num_queries):
    load_all("one", {f"chat {seed}": talk(seed, messages=30) for seed in range(12)})
    prints = [fingerprint(texts(talk(seed, messages=30))) for seed in range(12)]

    with django_assert_num_queries(2):
        matches = near_duplicates.find(prints)

    assert [len(each) for each in matches] == [1] * 12


def test_a_phrase_of_many_conversations_hides_no_copy(monkeypatch):
    monkeypatch.setattr(near_duplicates, "COMMON", 3)
    greeting = Line("shop", " ".join(f"welcome{n}" for n in range(20)))
    load_all("one", {f"chat {seed}": [greeting, *talk(seed, messages=6)] for seed in range(10)})

    assert same_as("chat 4") == []

    load_all("two", {f"copy {n}": talk(50, messages=40) for n in range(6)})
    assert len(same_as("copy 5")) == 3
