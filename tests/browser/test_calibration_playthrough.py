"""Calibration as its people live through it: fail, discuss, change the guidelines, pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation, Assignment, Project, Round
from labeling.work import annotations
from tests.browser.conftest import PATIENCE, REPORT_VIOLATIONS, error_text
from tests.factories import labels, make_conversations, make_people, make_project, save_of, work

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLES = 20
ANNOTATORS = ("ana", "ben", "cleo")

# Every conversation has eight messages. All three mark message 0; in the first round Ana marks
# the analyst's recap, message 5, as well in twelve of the twenty conversations.
DIFFERENCES = 12


SEEN = """box => {
    const { top, bottom, height } = box.getBoundingClientRect();
    return bottom <= innerHeight && (top >= 0 || height > innerHeight);
}"""
"""All of it, or its end if it is higher than the window."""


@contextmanager
def signed_in_page(browser: Browser, live_server: LiveServer, user: User) -> Iterator[Page]:
    """A browser of one person's own, which fails the test when a page logged an error."""
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=live_server.url)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(REPORT_VIOLATIONS)
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )
    errors: list[str] = []
    context.on("console", lambda message: errors.extend(error_text(message)))
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context.new_page()
    context.close()
    refused = "the server responded with a status of 400"
    assert [text for text in errors if refused not in text] == []


@pytest.fixture
def project() -> Project:
    make_people()
    project = make_project()
    make_conversations(project, SAMPLES, messages=8)
    make_conversations(project, 5, messages=8, split="train")  # for full labeling
    return project


@pytest.fixture
def pages(browser: Browser, live_server: LiveServer, project: Project) -> Iterator[dict[str, Page]]:
    people = {user.username: user for user in User.objects.all()}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(signed_in_page(browser, live_server, people[name]))
            for name in ("ana", "rita")
        }


def label(name: str, *, recaps: bool = False) -> int:
    """Answers the queue of one person."""
    queue = Assignment.objects.filter(annotator__username=name, annotation=None)
    for assignment in queue.select_related("conversation"):
        differs = recaps and int(assignment.conversation.external_id[2:]) <= DIFFERENCES
        annotations.submit(assignment, save_of(labels([0, 5] if differs else [0])))
    return Annotation.objects.filter(assignment__annotator__username=name).count()


def test_a_calibration_fails_is_discussed_and_passes(
    pages: dict[str, Page], project: Project
) -> None:
    rita = pages["rita"]
    lead_opens_calibration(rita)
    full_labeling_is_refused(rita)
    first_round_fails(pages)
    full_labeling_is_refused(rita)
    people_discuss(pages)
    lead_changes_the_guidelines(rita)
    second_round_passes(pages)
    full_labeling_opens(pages)


@contextmanager
def preview(page: Page) -> Iterator[None]:
    """Waits for the preview of a round; a page left in the middle of it logs an error."""
    with page.expect_response(lambda reply: "preview=1" in (reply.request.post_data or "")) as got:
        yield
    got.value.finished()


def lead_opens_calibration(rita: Page) -> None:
    rita.goto("/projects/orders/calibration/")
    expect(rita.locator("[aria-current='step']")).to_contain_text("Open a calibration round")
    with preview(rita):
        rita.get_by_role("link", name="Open a calibration round").click()
    expect(rita.get_by_label("How many")).to_have_value(str(SAMPLES))
    with preview(rita):
        rita.get_by_label("Split").select_option("dev")
    expect(rita.locator("#preview")).to_contain_text(str(SAMPLES * 3))  # 20 samples by 3 people
    rita.get_by_role("button", name="Open the round").click()
    expect(rita.get_by_text("Round 1 is open.")).to_be_visible()


def full_labeling_is_refused(rita: Page) -> None:
    rounds = Round.objects.count()
    with preview(rita):
        rita.goto("/projects/orders/rounds/new/")
    with preview(rita):
        rita.get_by_label("Full labeling", exact=True).check()
    rita.get_by_role("button", name="Open the round").click()
    expect(rita.get_by_role("alert")).to_contain_text("Full labeling is locked")
    assert Round.objects.count() == rounds


def first_round_fails(pages: dict[str, Page]) -> None:
    rita = pages["rita"]
    assert label("ana", recaps=True) == label("ben") == SAMPLES
    pages["ana"].goto("/projects/orders/rounds/1/disagreements/")
    expect(pages["ana"].get_by_text("This round is open.")).to_be_visible()
    rita.goto("/projects/orders/calibration/")
    expect(rita.locator("[aria-current='step']")).to_contain_text(f"cleo ({SAMPLES} left)")
    assert label("cleo") == SAMPLES
    work(Round.objects.get(number=1).project)

    # Ana marks 32 of 160 messages, Ben 20, all of them among Ana's: p_o = 148/160 = 0.925,
    # p_e = (32·20 + 128·140)/160² = 0.725, κ = (0.925 − 0.725)/0.275 = 0.727
    first = Round.objects.get(number=1)
    assert round(first.agreement["value"], 3) == 0.727
    assert first.state == Round.State.FAILED
    rita.goto("/projects/orders/calibration/")
    expect(rita.locator(".edge")).to_contain_text("Round 1 reached κ 0.73 (lowest pair ana–ben)")


def people_discuss(pages: dict[str, Page]) -> None:
    rita, ana = pages["rita"], pages["ana"]
    rita.goto("/projects/orders/calibration/")
    rita.get_by_role("link", name="Discuss the disagreements").first.click()
    rita.get_by_role("button", name="Show letters instead of names").click()
    expect(rita.locator(".disagreement > p .mark.on").first).to_have_text(re.compile("^[ABC]$"))

    ana.goto("/projects/orders/guidelines/")
    ana.get_by_role("link", name="Disagreements of round 1").click()
    ana.wait_for_url("**/disagreements/", wait_until="load")
    expect(ana.locator(".disagreement")).to_be_focused()
    ana.keyboard.press("t")
    ana.keyboard.type("The analyst repeats a wish: is that a source?")
    ana.keyboard.press("Escape")
    expect(ana.locator(".disagreement").first).to_be_focused()
    ana.keyboard.press("j")  # what is written is not lost: it has to be sent first
    expect(ana.get_by_role("alert")).to_have_text("Send or clear what you wrote first.")
    ana.keyboard.press("Control+Enter")
    expect(ana.locator("#progress")).to_contain_text(f"1 of {DIFFERENCES} discussed, 0 decided")
    expect(ana.locator(".disagreement")).to_be_focused()
    assert ana.locator(".disagreement").evaluate(SEEN)

    rita.reload()
    expect(rita.locator(".disagreement ol.list")).to_contain_text("The analyst repeats a wish")
    held: list[Route] = []
    for number in range(1, DIFFERENCES + 1):
        expect(rita.locator("nav.row > p")).to_have_text(f"{number} of {DIFFERENCES}")
        expect(rita.locator(".disagreement")).to_be_focused()
        if number == 1:
            rita.route("**/decide/", lambda route: held.append(route))
        rita.keyboard.press("1" if number == 1 else "2")
        rita.keyboard.press("j")  # waits for what is being stored
        if number == 1:
            rita.wait_for_timeout(200)
            expect(rita.locator("nav.row > p")).to_have_text(f"1 of {DIFFERENCES}")
            held.pop().continue_()
            rita.unroute("**/decide/")
    expect(rita.locator("#progress")).to_contain_text(f"{DIFFERENCES} of {DIFFERENCES} discussed")


def lead_changes_the_guidelines(rita: Page) -> None:
    rita.goto("/projects/orders/rounds/1/disagreements/?outcome=guideline")
    expect(rita.locator(".disagreement")).to_be_focused()
    rita.keyboard.press("g")
    text = rita.get_by_label("Guidelines", exact=True)
    expect(text).to_have_value(re.compile("> Message 5 of c-0"))
    text.fill(text.input_value().replace("Write the rule here.", "A recap is no source."))
    rita.get_by_label("What changed, in one line").fill("A recap by the analyst is no source")
    rita.get_by_role("button", name="Save as a new version").click()
    expect(rita.get_by_role("heading", name="Guidelines version 2")).to_be_visible()


def second_round_passes(pages: dict[str, Page]) -> None:
    rita = pages["rita"]
    rita.goto("/projects/orders/calibration/")
    expect(rita.locator("[aria-current='step']")).to_contain_text("Open the next calibration round")
    with preview(rita):
        rita.get_by_role("link", name="Same batch").click()
    expect(rita.get_by_label("Conversations", exact=True)).to_have_value("1")
    rita.get_by_role("button", name="Open the round").click()
    expect(rita.get_by_text("Round 2 is open.")).to_be_visible()
    pages["ana"].goto("/projects/orders/rounds/1/disagreements/")
    expect(pages["ana"].locator(".notice")).to_contain_text("again in round 2, which is blind")

    for name in ANNOTATORS:
        assert label(name) == 2 * SAMPLES
    work(Round.objects.get(number=2).project)

    rita.goto("/projects/orders/calibration/")
    expect(rita.locator(".edge")).to_contain_text("Round 2 reached κ 1.00")
    second = Round.objects.get(number=2)
    assert (second.state, second.guideline.version) == (Round.State.PASSED, 2)


def full_labeling_opens(pages: dict[str, Page]) -> None:
    rita = pages["rita"]
    with preview(rita):
        rita.get_by_role("link", name="Open full labeling").click()
    rita.get_by_role("button", name="Open the round").click()
    expect(rita.get_by_text("Round 3 is open.")).to_be_visible()
    full = Round.objects.get(number=3)
    assert (full.kind, full.override_reason) == (Round.Kind.FULL, "")

    pages["ana"].goto("/")
    pages["ana"].get_by_role("button", name="Start next").click()
    expect(pages["ana"].locator(".message").first).to_be_visible()
    assert Annotation.objects.filter(status="submitted").count() == 2 * 3 * SAMPLES
