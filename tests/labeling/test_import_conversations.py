import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import checks
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labeling.conversations import conversations
from labeling.core import acting, planner
from labeling.models import Conversation, Event
from labeling.operation import preflight
from tests import databases, factories
from tests.labeling import imports
from tests.labeling.imports import stored

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

Write = Callable[..., Path]
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo" / "conversations.jsonl"


def talk(id_: str, text: str = "The report must show late orders.", **keys: Any) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": text},
        {"role": "analyst", "content": "Every day?"},
    ]
    return {"id": id_, "messages": messages, **keys}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*lines: dict[str, Any] | bytes, name: str = "talks.jsonl") -> Path:
        path = tmp_path / name
        raw = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
        path.write_bytes(b"\n".join(raw) + b"\n" if raw else b"")
        return path

    return write


refused = partial(imports.refused, "import_conversations", project="shop")


def run(*files: Path, project: str | None = "shop", **options: Any) -> str:
    said = imports.run("import_conversations", *files, project=project, **options)
    return re.sub(r"\d+\.\d s", "0.0 s", said)


def test_conversations_are_stored_and_what_was_done_is_said(write):
    said = run(write(talk("a", domain="retail", difficulty="easy", split="dev"), talk("b")))

    assert said == (
        "Project shop was created. An administrator sees it, adds people on its page Members, "
        "and chooses what is labeled on its page Settings.\n"
        "2 read, 2 new (4 messages), 0 unchanged, 0.0 s\n"
    )
    a = Conversation.objects.get(project__slug="shop", external_id="a")
    assert (a.domain, a.difficulty, a.split) == ("retail", "easy", "dev")
    assert a.speakers == ["user", "analyst"]
    assert len(a.content_sha256) == 64
    assert [(m.index, m.role, m.content) for m in a.messages] == [
        (0, "user", "The report must show late orders."),
        (1, "analyst", "Every day?"),
    ]


def test_a_second_import_changes_nothing(write):
    path = write(talk("a", split="dev"), talk("b"))
    run(path)
    before = stored()

    assert run(path) == "2 read, 0 new (0 messages), 2 unchanged, 0.0 s\n"
    assert stored() == before


def test_the_same_id_in_another_project_is_another_conversation(write):
    path = write(talk("a"))
    run(path, project="shop")
    run(path, project="bank")

    assert Conversation.objects.count() == 2


def test_the_audit_log_says_what_came_from_where(write):
    run(write(talk("a"), name="one.jsonl"), write(talk("b"), name="two.jsonl"))

    assert Event.objects.filter(verb="project.created").count() == 1
    event = Event.objects.get(verb="conversations.imported")
    assert (event.verb, event.project.slug) == ("conversations.imported", "shop")
    assert acting.is_console(event.actor)
    assert event.data == {
        "files": ["one.jsonl", "two.jsonl"],
        "read": 2,
        "new": 2,
        "unchanged": 0,
        "messages": 4,
        "refused": 0,
        "left_out": 0,
        "project_created": True,
        "inherited": {},
        "given": {},
    }


def test_a_split_is_given_to_conversations_that_name_none(write):
    run(write(talk("a"), talk("b", split="train")), split="train")

    assert set(Conversation.objects.values_list("split", flat=True)) == {"train"}


def test_a_split_that_contradicts_the_file_is_refused(write):
    assert refused(write(talk("a", split="test")), split="train") == [
        'talks.jsonl:1: conversation "a" names split "test", and "train" was asked for; '
        "nothing was stored"
    ]


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_other_text_under_an_id_of_the_same_input_is_refused(write, monkeypatch, batch):
    monkeypatch.setattr(conversations, "BATCH_CONVERSATIONS", batch)
    path = write(talk("a"), talk("b"), talk("a", text="Other."))

    (said,) = refused(path)

    assert said.startswith('talks.jsonl:3: conversation "a" is known with other text;')


def test_every_problem_is_named_in_the_order_of_the_files(write, monkeypatch):
    monkeypatch.setattr(conversations, "BATCH_CONVERSATIONS", 3)
    one = write(talk("a"), b"{", talk("a", text="x"), talk("b", split="x"), name="one.jsonl")
    two = write(b"[]", name="two.jsonl")
    three = write(name="three.jsonl")

    lines = refused(one, two, three, leave_out="nothing")
    assert [line.split(" ")[0].rstrip(":") + ":" for line in lines] == [
        "one.jsonl:2:",
        "one.jsonl:3:",
        "one.jsonl:4:",
        "two.jsonl:1:",
        "three.jsonl:",
    ]


def test_what_cannot_be_read_is_left_out_and_named_and_the_rest_is_stored(write):
    good = write(talk("a"), talk("b"), b'{"id": "d", "mess', name="good.jsonl")
    short = write(talk("short talk", messages=[{"role": "user", "content": "Hi"}]), name="s.jsonl")

    said = run(good, short)

    assert Conversation.objects.count() == 2
    assert "2 conversations or files left out:" in said
    assert "good.jsonl:3: not valid JSON" in said
    assert "s.jsonl:1: short talk: a conversation needs at least 2 messages, not 1" in said


def test_text_that_is_stored_otherwise_is_refused_unless_it_may_be_left_out(write):
    run(write(talk("a")))
    path = write(talk("a", text="else"), talk("b"), name="new.jsonl")

    assert "is known with other text" in refused(path)[0]
    said = run(path, leave_out="conflicts")

    assert "is known with other text" in said
    assert {stored.external_id for stored in Conversation.objects.all()} == {"a", "b"}


def test_reading_stops_after_twenty_problems(write):
    assert len(refused(write(*[b"{}"] * 500))) == 20


def test_a_missing_file_is_named(write, tmp_path):
    assert refused(write(talk("a")), tmp_path / "none.jsonl") == [
        "none.jsonl: cannot be read (No such file or directory); nothing was stored"
    ]


def test_an_unknown_format_is_refused_with_those_available(write):
    with pytest.raises(CommandError, match="“nope” cannot be read; available now: auto, native, "):
        run(write(talk("a")), format="nope")


def test_other_files_have_to_say_where_they_belong(write):
    with pytest.raises(CommandError, match="--project SLUG"):
        run(write(talk("a")), project=None)


@pytest.mark.parametrize("slug", ["two words", "x" * 51, ""])
def test_what_cannot_name_a_project_is_refused(write, slug):
    with pytest.raises(CommandError, match="cannot name a project"):
        run(write(talk("a")), project=slug)


def test_queries_grow_far_slower_than_conversations(write):
    def queries(count: int) -> int:
        path = write(*[talk(f"{count}-{i}") for i in range(count)])
        with CaptureQueriesContext(
            connection,
        ) as captured:
            run(path)
        return len(captured)

    run(write(talk("warm-up")))
    small, large = queries(10), queries(1000)

    assert small < 37  # who does it is asked for, too
    assert large < 112, large  # two batches, and five transactions to store them


def test_memory_does_not_grow_with_the_file(write, monkeypatch):
    monkeypatch.setattr(conversations, "BATCH_CONVERSATIONS", 20)
    path = write(*[talk(str(i), text="word " * 10_000) for i in range(250)])
    assert path.stat().st_size > 12_500_000

    tracemalloc.start()
    try:
        run(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 10_000_000  # a batch of 1 MB, a few times over while it is stored


def test_a_dry_run_writes_nothing_at_all(write):
    with CaptureQueriesContext(connection) as asked:
        run(write(talk("a", split="dev"), talk("b")), dry_run=True)

    assert {query["sql"].split()[0] for query in asked} == {"SELECT"}


@pytest.fixture
def manage(tmp_path, migrated_databases) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python with a database of its own."""
    environment = {
        **os.environ,
        "ASSAY_DATA_DIR": str(tmp_path),
        "ASSAY_ENV_FILE": os.devnull,
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    databases.copy_sqlite(migrated_databases, tmp_path / "assay.sqlite3")

    def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=DEMO.parents[2],
            capture_output=True,
            text=True,
            check=False,
        )

    return manage


KILLED = """
import os, signal
import django
django.setup()
from django.core.management import call_command
from labeling.conversations import conversations, near_duplicates

conversations.BATCH_CONVERSATIONS = 10
store, calls = near_duplicates.store, []
def killed(prints):
    store(prints)
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
near_duplicates.store = killed
call_command("import_conversations", "fixtures/demo/conversations.jsonl", project="shop")
"""


@pytest.mark.skipif(connection.vendor != "sqlite", reason="its process has a SQLite of its own")
def test_an_import_whose_process_is_killed_leaves_nothing_and_blocks_nothing(manage):
    assert manage("-c", KILLED).returncode == -signal.SIGKILL

    done = manage("manage.py", "import_conversations", str(DEMO), "--project", "shop")

    assert "Project shop was created." in done.stdout
    assert "28 read, 28 new (215 messages), 0 unchanged" in done.stdout


# --- how far SQLite goes -----------------------------------------------------------------------


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL takes more")
def test_a_larger_import_is_refused_and_says_where_to_go(project, monkeypatch):
    monkeypatch.setattr(conversations, "SQLITE_CONVERSATIONS", 1)
    said = ["The report must show late orders.", "Every day?"]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(["user", "analyst"], said, strict=True)
    ]
    lines = [json.dumps({"id": name, "messages": messages}) for name in "ab"]
    files = [("talks.jsonl", BytesIO("\n".join(lines).encode()))]

    with pytest.raises(conversations.TooManyForSqlite, match=r"on SQLite.* most=1"):
        conversations.import_files(project_slug=project.slug, files=files)
    assert not Conversation.objects.exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL takes more")
def test_a_project_that_is_too_large_is_named(project, signed_in, monkeypatch):
    factories.make_conversations(project, 2)
    admin = User.objects.create_superuser("root")
    shown = "SQLite serves projects"
    assert shown not in signed_in(admin).get("/status/").content.decode()

    monkeypatch.setattr(planner, "SQLITE_CONVERSATIONS", 1)

    assert planner.beyond_sqlite() == [project]
    assert "too large for SQLite" in str(
        checks.run_checks(tags=[preflight.TAG], include_deployment_checks=True)
    )
    assert shown in signed_in(admin).get("/status/").content.decode()
