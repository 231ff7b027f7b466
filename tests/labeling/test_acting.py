"""Whatever a command writes names somebody: the person of --as, or the account of the console."""

from __future__ import annotations

import os
import pwd
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, load_command_class

from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.models import Event, Guideline, Project

pytestmark = pytest.mark.django_db

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


def test_the_console_has_an_account_that_nobody_can_sign_in_with(project, guidelines):
    added = add(project, guidelines)

    by = added.created_by
    assert by is not None
    assert by.get_username() == f"command line ({pwd.getpwuid(os.geteuid()).pw_name})"
    assert not by.is_active
    assert not by.has_usable_password()
    written = Event.objects.filter(verb="guideline.added").latest("pk")
    assert written.actor == by


def test_a_command_may_be_given_in_somebodys_name(project, guidelines, ana):
    assert add(project, guidelines, acting_as="ana").created_by == ana
    assert not User.objects.filter(username__startswith="command line").exists()


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
