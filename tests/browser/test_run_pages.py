"""The page of a run follows the run, and the page of a case leads on by keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Run
from tests.evaluation import launching
from tests.factories import make_people, make_release

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    make_people()
    return launching.launch(make_release(name="release"), pipeline="nothing", requested_by=None)


def test_a_run_is_followed_without_loading_its_page_again(
    run: Run, page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    sign_in(User.objects.get(username="noor"))
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{live_server.url}{run.get_absolute_url()}?tab=cases")
    expect(page.locator("#run-badge")).to_have_text("queued")
    first = run.cases.order_by("pk")[0]
    page.locator(f"#case-{first.pk} a").focus()
    loaded = len(asked)

    end = timezone.now() + timedelta(hours=1)
    run.cases.filter(pk=first.pk).update(state="running", lease_expires_at=end)
    page.clock.fast_forward(2000)

    expect(page.locator("#run-badge")).to_have_text("running")
    expect(page.locator(f"#case-{first.pk}")).to_contain_text("running")
    expect(page.locator("#run-said")).to_contain_text("running")
    expect(page).to_have_title(f"0/{run.cases.count()} · Run {run.pk}: nothing · Assay")
    expect(page.locator(f"#case-{first.pk} a")).to_be_focused()
    page.evaluate("""Object.defineProperty(document, "hidden", { get: () => true })""")
    page.clock.fast_forward(10_000)
    assert len(asked) == loaded + 1  # one request, and none while nobody sees the page


def test_keys_lead_from_case_to_case(
    run: Run, page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    sign_in(User.objects.get(username="noor"))
    first, second = run.cases.order_by("pk")[:2]
    page.goto(live_server.url + first.get_absolute_url())

    page.keyboard.press("j")
    page.wait_for_url(f"**{second.get_absolute_url()}")
    page.keyboard.press("k")
    page.wait_for_url(f"**{first.get_absolute_url()}")
