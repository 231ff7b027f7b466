"""Accounts and tokens made at the server's console."""

from __future__ import annotations

import io
import os
import pwd
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, load_command_class
from django.test import Client

from labeling.core import acting, tokens
from labeling.management.base import AssayCommand
from labeling.models import Event, Guideline, Project

pytestmark = pytest.mark.django_db
NEW = "violet-harbour-61"


@pytest.fixture
def assay() -> Callable[..., str]:
    def call(*arguments: str) -> str:
        out = io.StringIO()
        call_command(*arguments, stdout=out, stderr=io.StringIO())
        return out.getvalue()

    return call


def test_an_account_gets_its_role_and_its_rights(assay, project):
    assay("create_user", "dora", "--project", project.slug, "--role", "lead")
    assay("create_user", "emil", "--admin")

    assert project.memberships.get(user__username="dora").role == "lead"
    emil = User.objects.get(username="emil")
    assert (emil.is_superuser, emil.is_staff) == (True, True)
    created = Event.objects.filter(verb="account.created").order_by("pk")
    assert [event.data["user"] for event in created] == ["dora", "emil"]


def test_a_link_lets_the_person_choose_a_password_once(assay, settings):
    settings.PUBLIC_URL = "https://assay.example.org"

    link = assay("create_user", "dora").strip()

    path = link.removeprefix("https://assay.example.org")
    browser = Client()
    form = browser.get(path).headers["Location"]
    passwords = {"new_password1": NEW, "new_password2": NEW}
    assert browser.post(form, passwords).status_code == 302
    assert Client().login(username="dora", password=NEW)
    assert "Location" not in Client().get(path).headers


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ANA"], "Somebody is called “ANA” already"),
        (["do ra"], "Enter a valid username"),
        (["dora", "--email", "at home"], "valid email"),
        (["dora", "--role", "lead"], "--project and --role belong together"),
        (["dora", "--role", "lead", "--project", "elsewhere"], "There is no project “elsewhere”"),
    ],
)
def test_what_is_refused_makes_no_account(assay, people, arguments, complaint):
    before = User.objects.count()

    with pytest.raises(CommandError, match=complaint):
        assay("create_user", *arguments)

    assert User.objects.count() == before


def test_a_token_of_the_command_has_the_scopes_projects_and_days_it_names(assay, people, project):
    narrow = ["--scope", "read", "--scope", "runs", "--project", "orders", "--days", "7"]
    secret = assay("create_token", "ana", "--name", "report", *narrow).strip()

    token = tokens.use(secret)
    assert (token.scopes, token.project_ids) == (["read", "runs"], [project.pk])
    assert (token.expires_at - token.created_at).days in (6, 7)
    for wrong in (["ana", "--days", "400"], ["ana", "--project", "nowhere"], ["nobody"]):
        with pytest.raises(CommandError):
            assay("create_token", "--name", "report", *wrong)


# --- in whose name -----------------------------------------------------------------------------


READING = {
    "agreement",  # computes and prints
    "verify",
    "backup",  # a copy of the database, which stays as it is
    "restore",  # into an empty database
    "seed_demo",  # in the names of the people of the demo
}


@pytest.fixture
def guidelines(tmp_path: Path) -> str:
    path = tmp_path / "guidelines.md"
    path.write_text("# Mark what the user wants\n")
    return str(path)


def add(project: Project, file: str, **options: Any) -> Guideline:
    call_command("add_guidelines", file, project=project.slug, summary="First", **options)
    return Guideline.objects.filter(project=project).latest("version")


def test_the_console_has_an_account_that_nobody_can_sign_in_with(project, guidelines, ana):
    added = add(project, guidelines)

    by = added.created_by
    assert by is not None
    assert by.get_username() == f"command line ({pwd.getpwuid(os.geteuid()).pw_name})"
    assert not by.is_active
    assert not by.has_usable_password()
    written = Event.objects.filter(verb="guideline.added").latest("pk")
    assert written.actor == by
    Path(guidelines).write_text("# Mark what the user needs\n")
    assert add(project, guidelines, acting_as="ana").created_by == ana


def test_a_name_that_nobody_has_is_refused_before_anything_is_written(project, guidelines, ana):
    before = Guideline.objects.count()

    with pytest.raises(CommandError, match="Did you mean ana"):
        add(project, guidelines, acting_as="anna")

    assert Guideline.objects.count() == before


def test_outside_of_commands_nobody_is_named_for_anyone(project, ana):
    with acting.acting("ana"):
        assert acting.person() == ana
        with acting.acting(""):
            assert acting.is_console(acting.person())
        assert acting.chosen() == ana

    assert acting.person() is None
    assert not acting.is_console(None)


def test_every_command_that_writes_says_who():
    commands = {
        path.stem: app
        for app in ("labeling", "evaluation")
        for path in Path(import_module(f"{app}.management.commands").__path__[0]).glob("[a-z]*.py")
    }

    loaded: dict[str, Any] = {name: load_command_class(app, name) for name, app in commands.items()}

    assert all(isinstance(each, AssayCommand) for each in loaded.values())
    assert {name for name, each in loaded.items() if not each.acts} == READING
    assert len(loaded) <= 24
