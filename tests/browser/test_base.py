"""What every page shares: the theme, the menu, signing in and out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.factories import PASSWORD, make_conversations, make_people, make_project

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
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_escape_closes_the_menu(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None], ana: User
) -> None:
    sign_in(ana)
    page.goto(f"{live_server.url}/")
    page.locator(".menu summary").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(page.locator(".menu summary")).to_be_focused()


def test_the_page_of_the_api_breaks_no_rule_of_the_browser(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None], ana: User
) -> None:
    sign_in(ana)

    page.goto(f"{live_server.url}/api/docs/")  # ``page`` looks at the errors

    expect(page.get_by_role("heading", name="Assay")).to_be_visible()
    expect(page.locator("body")).to_have_css("margin", "0px")


def test_the_pages_of_a_project_are_one_menu_on_a_phone(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    people = make_people()
    make_project()
    sign_in(people["rita"])
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{live_server.url}/projects/orders/audit/")
    menu = page.get_by_role("button", name="Settings › Audit log")
    gold = page.locator("summary", has_text="Gold")
    lint = page.get_by_role("link", name="Lint")

    expect(gold).to_be_hidden()
    menu.focus()
    page.keyboard.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    gold.focus()
    page.keyboard.press("Enter")
    expect(lint).to_be_visible()
    page.keyboard.press("Escape")  # closes the group, then the menu, and the focus stays
    expect(lint).to_be_hidden()
    expect(gold).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(gold).to_be_hidden()

    page.set_viewport_size({"width": 1440, "height": 900})
    gold.click()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Releases")).to_be_focused()
    page.get_by_role("link", name="Runs").last.focus()  # who leaves a menu closes it
    expect(lint).to_be_hidden()


def test_on_a_phone_a_list_shows_its_rows_one_below_the_other(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    people = make_people()
    make_conversations(make_project(), 3)
    sign_in(people["rita"])
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{live_server.url}/projects/orders/conversations/")

    table = page.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(4)  # still a table to screen readers
    expect(table.get_by_role("columnheader")).to_have_count(6)
    cell = table.get_by_role("row").nth(1).get_by_role("cell").nth(2)
    expect(cell).to_have_attribute("data-label", "Split")
    sideways = "box => box.scrollWidth > box.clientWidth"
    assert not page.locator(".table-wrap").evaluate(sideways)

    page.set_viewport_size({"width": 1440, "height": 900})
    expect(cell).to_have_css("display", "table-cell")
