"""Accounts and tokens made at the server's console."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from labeling.core import tokens
from labeling.models import Event

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
