"""What every page shares: the theme, the menu, signing in and out."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_chosen_theme_is_remembered(page: Page, live_server: LiveServer) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{live_server.url}/sign-in/")

    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()

    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 18, 14)")


def test_one_signs_in_and_out_by_keyboard(page: Page, live_server: LiveServer, ana: User) -> None:
    page.goto(f"{live_server.url}/")
    expect(page.get_by_label("User name")).to_be_focused()

    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Home")).to_have_attribute("aria-current", "page")
    page.locator(".menu summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(page.locator(".menu summary")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
