"""Suggestions in the workspace: nothing before the first pass, then decided by keys alone."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from labeling.models import Assignment
from tests import factories
from tests.browser.workspace import Workspace

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "Zebra Crossing Alarm"
OTHER = "Giraffe Feeding Plan"
THIRD = "Okapi Night Watch"


def suggested() -> list[dict[str, object]]:
    return [
        factories.requirement(number, sources=[number], title=title)
        for number, title in enumerate([SECRET, OTHER, THIRD], start=1)
    ]


@pytest.fixture
def assignment(ana: User) -> Assignment:
    result = factories.open_full(factories.make_project(), 1).assignments.get(annotator=ana)
    factories.suggest(result.conversation, suggested())
    return result


@pytest.fixture
def queue(assignment: Assignment) -> list[Assignment]:
    return [assignment]


def finish_first_pass(workspace: Workspace) -> None:
    workspace.start_label("Own Finding")
    workspace.press("h")
    expect(workspace.page.get_by_role("dialog")).to_contain_text("Is your first pass done?")
    workspace.press("Enter")
    expect(workspace.page.locator(".suggestion")).to_have_count(3)


def test_accept_edit_and_undo_by_keys_alone(workspace: Workspace, page: Page) -> None:
    finish_first_pass(workspace.open())
    expect(page.locator(".suggestion.current")).to_be_focused()
    expect(page.locator(".suggestion.current")).to_contain_text("Suggested by requirements-local 1")

    workspace.press("a")  # the first, as it is
    expect(workspace.labels).to_have_count(2)
    workspace.press("Control+z")  # which is offered again
    expect(workspace.labels).to_have_count(1)
    expect(page.locator(".suggestion")).to_have_count(3)
    workspace.press("a")
    expect(page.locator(".suggestion")).to_have_count(2)
    workspace.press("o")  # the second, edited
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    workspace.type("My ").press("Escape", "Escape")
    expect(page.locator(".suggestion")).to_have_count(1)

    expect(workspace.labels.nth(1)).to_contain_text("suggested, accepted")
    expect(workspace.labels.nth(2)).to_contain_text("suggested, edited")
    workspace.press("Control+s")
    expect(workspace.state).to_have_text(re.compile("Saved .* rev"))
    assert [requirement.get("origin", "typed") for requirement in workspace.requirements] == [
        "typed",
        "accepted",
        "edited",
    ]
    assert [
        requirement.get("suggestion", {}).get("uid") for requirement in workspace.requirements
    ] == [
        None,
        "s1",
        "s2",
    ]
