"""Each command of README and documents works as it stands, on a demo that was just loaded.

Commands that only name something (``assay judge RUN``) have to parse as far as they go.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests import databases
from tests.docs_commands import ROOT, SERVERS, arguments_of, pages
from tests.processes import free_port

NOT_HERE = {
    "deploying": "done as root on a server: tests/project/test_deploy.py reads its files",
    "retrieval": "on the published chats, which are not part of the project",
}
"""Pages whose commands are not run, and why."""

EXCEPTIONS = {
    "realtalk": "the published chats are not part of the project",
    "Chat_*.json": "the published chats are not part of the project",
    "dev.jsonl": "a published data set, which is not part of the project",
    "arc_cases_emi_elise.json": "about a published chat",
    "samples/*.json": "files of another tool, which somebody brings",
    "--project pilot": "files of another tool, which somebody brings",
    "freeze_gold --project demo": "the demo has one release, and nothing new to freeze",
    " --model": "asks a language model",
    "/var/lib/": "a folder of a server",
    "restore before-upgrade.zip": "into an empty database: tests/labeling/test_backup.py",
    '"$': "within a script",
}
"""What a command may hold so that it is not run, and why."""

ENDS_WITH = {"assay check": 1, "manage.py check --deploy --database default": 1}
"""A demo on one machine is no server for a team, and a check of it says so."""

PLACEHOLDER = re.compile(r"\b(?!NAME)[A-Z]+\b|[…\[]")
LOG_LINE = re.compile(r"^\d{4}-\d\d-\d\dT\S+ [A-Z]+ \S+ \d+", re.MULTILINE)


def is_run(page: str, command: str) -> bool:
    only_options = all(word.startswith("--") for word in command.split()[2:])
    is_mention = only_options and command not in ENDS_WITH
    excepted = any(text in command for text in EXCEPTIONS)
    return not (page in NOT_HERE or is_mention or excepted or PLACEHOLDER.search(bare(command)))


def bare(command: str) -> str:
    """Without its comment and what stands in quotes."""
    return re.sub(r'"[^"]*"', "", command.partition(" #")[0])


def name_of(command: str) -> str:
    return command.split()[1].replace("-", "_")


COMMANDS = [(page, command) for page, commands in pages().items() for command in commands]


def to_run() -> Iterator[list[str]]:
    """Of each page; what an earlier page has runs there."""
    known: set[str] = set()
    for page, commands in pages().items():
        runs = [each for each in commands if is_run(page, each) and name_of(each) not in SERVERS]
        yield [each for each in runs if bare(each) not in known]
        known |= set(map(bare, runs))


RUN = list(to_run())


def environment(folder: Path) -> dict[str, str]:
    (folder / "work").mkdir()
    (folder / "work" / "fixtures").symlink_to(ROOT / "fixtures")
    own = {"ASSAY_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT), "DATABASE_URL": ""}
    return {**os.environ, **own, "ASSAY_CASE_PROCESSES": "false", "ASSAY_PORT": str(free_port())}


def test_every_command_of_readme_and_documents_works_on_a_fresh_demo(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs_commands", str(tmp_path / "outcomes.json")],
        input=json.dumps(RUN),
        text=True,
        cwd=tmp_path / "work" if (env := environment(tmp_path)) else None,
        env=env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes = [
        outcome for each in json.loads((tmp_path / "outcomes.json").read_text()) for outcome in each
    ]

    assert len(outcomes) == sum(map(len, RUN)) > 25
    wrong = [
        (each["command"], each["code"], (each["err"] or each["out"])[-300:])
        for each in outcomes
        if each["code"] != ENDS_WITH.get(each["command"].partition(" #")[0].strip(), 0)
    ]
    assert wrong == []
    logged = [each["command"] for each in outcomes if LOG_LINE.search(each["out"] + each["err"])]
    assert logged == []


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_that_is_named_exists_with_its_options(page: str, command: str) -> None:
    name, words = name_of(command), arguments_of(command)
    if name not in get_commands():
        assert name in {*SERVERS, "check", "COMMAND", "__help", "__version"}
        return
    parser = load_command_class(get_commands()[name], name).create_parser("assay", name)
    known = {option for action in parser._actions for option in action.option_strings}
    assert {word for word in words if re.match(r"--[a-z]", word)} <= known


def test_the_web_server_alone_answers_until_it_is_stopped(tmp_path, migrated_databases) -> None:
    env = environment(tmp_path) | {"ASSAY_WEB_PROCESSES": "1"}
    (tmp_path / "data").mkdir()
    databases.copy_sqlite(migrated_databases, tmp_path / "data/assay.sqlite3")
    command = [sys.executable, "-m", "config.command", "web"]
    server = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        until = time.monotonic() + 90
        while server.poll() is None and not answers(env["ASSAY_PORT"]):
            assert time.monotonic() < until
            time.sleep(0.3)
        assert answers(env["ASSAY_PORT"])
    finally:
        server.send_signal(signal.SIGTERM)
        said, _ = server.communicate(timeout=60)
    assert server.returncode == 0, said


def answers(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_every_exception_is_needed() -> None:
    assert set(NOT_HERE) <= set(pages())
    commands = [command for _, command in COMMANDS]
    assert [text for text in EXCEPTIONS if not any(text in each for each in commands)] == []
