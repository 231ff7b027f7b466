"""Accounts and tokens made at the server's console."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from labeling.models import ApiToken, Event, Project

pytestmark = pytest.mark.django_db
NEW = "violet-harbour-61"


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def call(*arguments: str, stdin: str = "") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        out = io.StringIO()
        call_command(*arguments, stdout=out, stderr=io.StringIO())
        return out.getvalue()

    return call


def test_an_account_gets_its_role_and_its_password_from_a_file_or_stdin(
    assay: Any, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text(f"{NEW}\n")
    role = ["--project", project.slug, "--role", "lead"]

    assay("create_user", "dora", *role, "--password-file", str(tmp_path / "password"))
    assay("create_user", "emil", "--admin", "--password-file", "-", stdin=NEW)

    assert Client().login(username="dora", password=NEW)
    assert project.memberships.get(user__username="dora").role == "lead"
    assert Client().login(username="emil", password=NEW)
    emil = User.objects.get(username="emil")
    assert (emil.is_superuser, emil.is_staff) == (True, True)
    created = Event.objects.filter(verb="account.created").order_by("pk")
    assert [event.data["user"] for event in created] == ["dora", "emil"]


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_the_database_while_a_password_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def typed(prompt: str) -> str:
        assert not connection.in_atomic_block
        return NEW

    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("getpass.getpass", typed)
    call_command("create_user", "dora", stderr=io.StringIO())

    assert Client().login(username="dora", password=NEW)


def test_a_link_lets_the_person_choose_a_password_once(assay: Any, settings: Any) -> None:
    settings.PUBLIC_URL = "https://assay.example.org"

    link = assay("create_user", "dora", "--link").strip()

    path = link.removeprefix("https://assay.example.org")
    browser = Client()
    form = browser.get(path).headers["Location"]
    passwords = {"new_password1": NEW, "new_password2": NEW}
    assert browser.post(form, passwords).status_code == 302
    assert Client().login(username="dora", password=NEW)
    assert "Location" not in Client().get(path).headers


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        (["ANA", "--link"], "", "Somebody is called “ANA” already"),
        (["dora", "--password-file", "-"], "12345678", "too common"),
        (["dora", "--password-file", "-"], "\n", "its first line, the password, is empty"),
        (["dora", "--password-file", "/nowhere"], "", "/nowhere cannot be read"),
        (["dora"], "", "Nobody can be asked for a password"),
        (["do ra", "--link"], "", "Enter a valid username"),
        (["dora", "--link", "--email", "at home"], "", "valid email"),
        (["dora", "--link", "--role", "lead"], "", "--project and --role belong together"),
        (
            ["dora", "--link", "--role", "lead", "--project", "elsewhere"],
            "",
            "There is no project “elsewhere”",
        ),
    ],
)
def test_what_is_refused_makes_no_account(
    assay: Any, people: Any, arguments: list[str], stdin: str, complaint: str
) -> None:
    before = User.objects.count()

    with pytest.raises(CommandError, match=complaint):
        assay("create_user", *arguments, stdin=stdin)

    assert User.objects.count() == before


def test_a_token_is_printed_once_and_acts_as_its_account(assay: Any, people: Any) -> None:
    secret = assay("create_token", "ana", "--name", "nightly export").strip()

    answer = Client().get("/api/projects/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    with pytest.raises(CommandError, match="Nobody active is called “nobody”"):
        assay("create_token", "nobody", "--name", "nightly export")


def test_a_token_of_the_command_has_the_scopes_projects_and_days_it_names(
    assay: Any, people: Any, project: Project
) -> None:
    narrow = ["--scope", "read", "--scope", "runs", "--project", "orders", "--days", "7"]
    assay("create_token", "ana", "--name", "report", *narrow)

    token = ApiToken.objects.get()
    assert (token.scopes, token.project_ids) == (["read", "runs"], [project.pk])
    assert (token.expires_at - token.created_at).days in (6, 7)
    for wrong in (["--days", "400"], ["--project", "nowhere"]):
        with pytest.raises(CommandError):
            assay("create_token", "ana", "--name", "report", *wrong)
