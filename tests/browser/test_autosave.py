"""No keystroke is lost: what happens to work while connections fail, hang and cross."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation, AnnotationRevision
from tests.browser.workspace import SAVES, Workspace, held_back, wait_until
from tests.factories import make_project, open_full

pytestmark = pytest.mark.django_db(transaction=True)
QUIET_MS = 1_500  # longer than the debounce


@pytest.fixture
def open_page(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None], people: dict[str, User]
) -> Callable[[], Workspace]:
    """Opens Ana's one assignment, each time in a new page of her browser but the first."""
    assignment = open_full(make_project(), 1).assignments.get(annotator=people["ana"])
    sign_in(people["ana"])
    pages = [page]

    def opened() -> Workspace:
        used = pages.pop() if pages else page.context.new_page()
        return Workspace(used, live_server, assignment).open()

    return opened


def hang(page: Page) -> list[Route]:
    """The next save leaves the page and is not answered; the ones after it are."""
    held: list[Route] = []
    page.route(SAVES, lambda route: route.continue_() if held else held.append(route))
    return held


def test_loading_saves_nothing(open_page: Callable[[], Workspace]) -> None:
    requests: list[str] = []
    workspace = open_page()
    workspace.page.on("request", lambda request: requests.append(request.method))

    workspace.open().press("j", "g", "?", "Escape")
    workspace.page.wait_for_timeout(QUIET_MS)
    workspace.page.goto("about:blank")

    assert "PUT" not in requests
    assert not Annotation.objects.exists()


def test_saved_is_said_only_after_the_servers_answer(open_page: Callable[[], Workspace]) -> None:
    workspace = open_page()
    held = hang(workspace.page)
    workspace.press("0")
    wait_until(workspace.page, lambda: held)
    expect(workspace.state).to_have_text("Saving…")

    held[0].continue_()

    workspace.expect_saved(1)
    assert workspace.stored is not None
    assert workspace.stored.empty


def test_a_hung_save_is_given_up_and_tried_again(open_page: Callable[[], Workspace]) -> None:
    workspace = open_page()
    workspace.page.clock.install()
    workspace.open()
    with held_back(workspace.page) as held:  # the next try, too: it may come as soon as it can
        workspace.press("0")
        workspace.page.clock.run_for(1_000)
        wait_until(workspace.page, lambda: held)
        expect(workspace.state).to_have_text("Saving…")

        workspace.page.clock.run_for(10_000)
        expect(workspace.state).to_have_text("Not saved – retrying")
    workspace.page.clock.run_for(2_000)

    workspace.expect_saved(1)


def test_a_save_whose_answer_was_lost_is_one_revision(
    open_page: Callable[[], Workspace], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("net::ERR_FAILED")
    workspace = open_page()
    lost: list[Route] = []

    def lose_the_answer(route: Route) -> None:
        if lost:
            return route.continue_()
        lost.append(route)
        assert route.fetch().ok
        return route.abort()

    workspace.page.route(SAVES, lose_the_answer)
    workspace.press("0")

    workspace.expect_saved(1)
    assert AnnotationRevision.objects.count() == 1


def test_a_change_made_while_a_save_hangs_is_sent_on_leaving(
    open_page: Callable[[], Workspace],
) -> None:
    workspace = open_page()
    held = hang(workspace.page)
    workspace.start_label("First")
    wait_until(workspace.page, lambda: held)
    workspace.start_label("Second")

    workspace.page.goto("about:blank")
    wait_until(workspace.page, lambda: workspace.titles == ["First", "Second"])

    assert len(held) == 1


@pytest.mark.postgres
def test_a_late_save_does_not_undo_a_newer_one(open_page: Callable[[], Workspace]) -> None:
    workspace = open_page()
    held = hang(workspace.page)
    workspace.start_label("First")
    wait_until(workspace.page, lambda: held)
    workspace.start_label("Second")
    workspace.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    workspace.expect_saved(1)

    with workspace.page.expect_response(SAVES):
        held[0].continue_()

    assert workspace.titles == ["First", "Second"]
    assert AnnotationRevision.objects.count() == 1


def test_what_was_saved_on_hiding_is_saved_when_the_hung_save_is_given_up(
    open_page: Callable[[], Workspace], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("net::ERR_FAILED")
    workspace = open_page()
    held = hang(workspace.page)
    workspace.press("0")
    wait_until(workspace.page, lambda: held)
    workspace.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    workspace.expect_saved(1)

    with workspace.page.expect_event("requestfailed"):
        held[0].abort()
    workspace.page.wait_for_timeout(QUIET_MS)

    workspace.expect_saved(1)
    assert AnnotationRevision.objects.count() == 1


def test_a_skip_after_a_refused_submission_and_a_draft_is_stored(
    open_page: Callable[[], Workspace], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")
    workspace = open_page()
    workspace.press("n").type("Ship")
    workspace.press("Control+Enter")
    expect(workspace.notices).to_contain_text("complete")
    workspace.expect_saved(1)

    workspace.press("Escape", "s").type("Not in English").press("Control+Enter")

    expect(workspace.page.get_by_text("You have finished")).to_be_visible()
    assert workspace.stored is not None
    assert workspace.stored.status == "skipped"


def test_a_reload_shows_what_was_sent_on_leaving(open_page: Callable[[], Workspace]) -> None:
    workspace = open_page()

    workspace.start_label("Typed and reloaded")
    workspace.open()

    expect(workspace.labels).to_contain_text(["Typed and reloaded"])
    workspace.page.wait_for_timeout(QUIET_MS)
    stored = AnnotationRevision.objects.values_list("payload__requirements__0__title", flat=True)
    assert list(stored).count("Typed and reloaded") == 1


@pytest.mark.postgres
def test_nothing_is_overwritten_until_a_version_is_chosen_of_the_two(
    open_page: Callable[[], Workspace], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("409")
    first, second = open_page(), open_page()
    first.start_label("From the first page")
    first.expect_saved(1)
    with held_back(second.page):
        second.start_label("From the second page")
    mine, theirs = second.page.locator("#version-mine"), second.page.locator("#version-theirs")
    expect(mine).to_contain_text("From the second page")
    expect(theirs).to_contain_text("From the first page")
    second.press("Escape").start_label("Still typing")
    second.page.wait_for_timeout(QUIET_MS)
    assert second.titles == ["From the first page"]
    second.page.get_by_role("button", name="Compare versions").click()
    expect(mine).to_contain_text("Still typing")
    second.page.get_by_role("button", name="Keep mine").click()
    second.expect_saved(2)
    assert second.titles == ["From the second page", "Still typing"]


def cut(page: Page) -> None:
    """Nothing gets out until the next load, not even what a browser sends for a page it left."""
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('cut off')); }")


def leave_unsent_work(workspace: Workspace) -> None:
    cut(workspace.page)
    workspace.start_label("Never sent")
    expect(workspace.state).to_have_text("Not saved – retrying")
    workspace.page.goto("about:blank")


def test_unsent_work_is_offered_again_and_restored(
    open_page: Callable[[], Workspace],
) -> None:
    workspace = open_page()
    leave_unsent_work(workspace)

    workspace.open()
    expect(workspace.labels).to_have_count(0)
    workspace.page.get_by_role("button", name="Restore unsent work").click()

    workspace.expect_saved(1)
    assert workspace.titles == ["Never sent"]
    workspace.open()
    expect(workspace.page.get_by_role("button", name="Restore unsent work")).to_have_count(0)


def test_work_too_large_to_send_on_leaving_is_offered_again(
    open_page: Callable[[], Workspace],
) -> None:
    workspace = open_page()
    cut(workspace.page)
    workspace.press("n")
    workspace.field("Rationale").fill("é" * 40_000)  # 80,000 bytes: no browser keeps that alive
    expect(workspace.state).to_have_text("Not saved – retrying")
    workspace.page.goto("about:blank")

    workspace.open()

    expect(workspace.page.get_by_role("button", name="Restore unsent work")).to_be_visible()


def test_signed_out_keeps_the_work_until_one_signs_in_again(
    open_page: Callable[[], Workspace],
    sign_in: Callable[[User], None],
    people: dict[str, User],
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors += ["403", "401"]
    workspace = open_page()
    Session.objects.all().delete()

    workspace.start_label("Order Tracking")
    expect(workspace.notices).to_contain_text("You are signed out: sign in again in another tab")
    sign_in(people["ana"])
    workspace.page.get_by_role("button", name="Try again").click()

    workspace.expect_saved(1)
    expect(workspace.notices).not_to_contain_text("signed out")
    assert workspace.titles == ["Order Tracking"]


def test_a_submission_that_does_not_arrive_keeps_everything(
    open_page: Callable[[], Workspace], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("net::ERR_FAILED")
    workspace = open_page()
    workspace.page.route("**/submit/", lambda route: route.abort())
    workspace.press("0", "Control+Enter")
    expect(workspace.notices).to_contain_text("Not submitted")
    workspace.expect_saved(1)  # as a draft
    workspace.page.unroute("**/submit/")

    workspace.press("Control+Enter")

    expect(workspace.page.get_by_text("You have finished")).to_be_visible()
    assert workspace.stored is not None
    assert workspace.stored.status == "submitted"


def test_only_active_seconds_are_counted(open_page: Callable[[], Workspace]) -> None:
    workspace = open_page()
    workspace.page.clock.install()
    workspace.open().press("j")

    workspace.page.clock.run_for(50_000)  # 30 s after the last key the clock stops
    workspace.press("0")
    workspace.page.clock.run_for(1_000)

    workspace.expect_saved(1)
    assert workspace.stored is not None
    assert 28 <= workspace.stored.active_seconds <= 32
