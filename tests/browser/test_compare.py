"""Compare in a browser: the pick list, the cases by keyboard, and the rules of accessibility."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Run
from tests.browser.test_run_tables import floors

__all__ = ["floors"]

pytestmark = pytest.mark.django_db(transaction=True)

OPEN_CASE = "a[data-compared][aria-current]"


@pytest.fixture
def compared(
    floors: list[Run], page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> Page:
    sign_in(User.objects.get(username="noor"))
    page.goto(f"{live_server.url}{reverse('run-compare')}?baseline={floors[0].pk}")
    page.get_by_label("Number, name or pipeline").fill("every")
    page.get_by_role("link", name=f"Add run {floors[1].pk}").click()
    expect(page.get_by_role("heading", name="Conclusion")).to_be_visible()
    page.wait_for_load_state()  # by when its script listens
    return page


def test_cases_are_gone_through_by_keyboard(compared: Page) -> None:
    links = compared.locator("a[data-compared]")
    names = links.all_inner_texts()
    case = compared.locator("#compared-case")

    compared.keyboard.press("j")
    expect(compared.locator(OPEN_CASE)).to_have_text(names[0])
    expect(case).to_contain_text("Open a case")
    compared.keyboard.press("Enter")
    expect(case.get_by_role("heading", name=names[0])).to_be_visible()
    compared.keyboard.press("j")
    expect(case.get_by_role("heading", name=names[1])).to_be_visible()
    expect(compared.locator(OPEN_CASE)).to_be_focused()
    compared.keyboard.press("k")
    expect(case.get_by_role("heading", name=names[0])).to_be_visible()
    compared.keyboard.press("Escape")
    expect(case).to_be_empty()
    expect(compared.locator(OPEN_CASE)).to_be_focused()

    compared.get_by_text("Keys", exact=True).click()
    compared.get_by_label("Single keys work on this device").uncheck()
    compared.keyboard.press("j")
    expect(compared.locator(OPEN_CASE)).to_have_text(names[0])
