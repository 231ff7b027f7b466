"""The focus is never lost, whatever a page takes away, closes, sends or replaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import labels, make_people, make_project, save_of
from tests.labeling.test_disagreements import answered

AS_POLLED = """
() => htmx.ajax("GET", location.href, {
    target: ".disagreement-list", select: ".disagreement-list", swap: "outerHTML",
})
"""
"""As pages replace a part of them that changes by itself."""

pytestmark = pytest.mark.django_db(transaction=True)


def test_labels_panels_and_answers_leave_it_where_one_goes_on(workspace: Workspace) -> None:
    annotations.save_draft(workspace.assignment, save_of(labels([0, 2])))
    page = workspace.page
    page.goto(workspace.url)
    main, here = page.locator("#main"), workspace.message(0)
    expect(main).to_be_focused()

    workspace.press("j", "k", "Shift+J", "Delete")
    expect(workspace.labels).to_have_count(1)
    expect(here).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".label-head:focus")).to_have_count(1)
    workspace.press("k", "r")
    expect(page.locator("#panel-history")).to_be_focused()
    workspace.press("r")
    expect(here).to_be_focused()
    page.locator("[data-action=skip]").click()
    page.keyboard.press("Escape")
    expect(page.locator("[data-action=skip]")).to_be_focused()
    workspace.press("Control+Enter")
    expect(page.get_by_text("c-001 submitted.", exact=True)).to_be_visible()
    expect(main).to_be_focused()
    workspace.press("Control+z")
    expect(page).to_have_url(workspace.url)
    expect(main).to_be_focused()


def test_a_decision_keeps_it_at_the_disagreement_and_breaks_no_rule_of_the_browser(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    people = make_people()
    answered(make_project())
    sign_in(people["rita"])
    page.goto(f"{live_server.url}/projects/orders/rounds/1/disagreements/")
    page.locator("[data-remark]").evaluate("(field) => { field.style.height = '9rem'; }")  # drawn

    page.get_by_role("button", name="Ambiguous text").click()

    expect(page.locator(".disagreement.decided")).to_be_focused()  # ``page`` looks at the errors

    link = page.locator(".disagreement-list a").first
    link.evaluate("(link) => { link.focus(); link.dataset.old = 'yes'; }")
    page.evaluate(AS_POLLED)
    expect(link).not_to_have_attribute("data-old", "yes")  # another one took its place
    expect(link).to_be_focused()
