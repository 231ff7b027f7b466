"""Rating what a run inferred by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import CaseRun, Rating, RatingPanel, Run
from evaluation.services.judging import samples
from evaluation.views.ratings import PAGE
from tests.evaluation import launching
from tests.evaluation.requirement_releases import inferred, make_release
from tests.factories import make_people, make_project

pytestmark = pytest.mark.django_db(transaction=True)
SIZE = PAGE + 1


def make_panel(judge: User) -> RatingPanel:
    labels = [inferred(f"Rule {number}") for number in range(1, SIZE + 1)]
    release = make_release(make_project(), "inference", {"inferred_requirements": labels})
    run = launching.launch(release, pipeline="nothing", requested_by=judge, queue=False)
    case = CaseRun.objects.get(run=run)
    case.state, case.output = CaseRun.State.DONE, {"inferred_requirements": labels}
    case.save()
    Run.objects.filter(pk=run.pk).update(scored_at=timezone.now())
    (sample,) = samples.draw(Run.objects.get(pk=run.pk), by=judge)
    return sample.panel


def test_a_note_is_sent_by_keyboard_and_at_the_end_of_a_page_a_digit_changes_no_rating(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    noor = make_people()["noor"]
    panel = make_panel(noor)
    sign_in(noor)
    page.goto(live_server.url + panel.get_absolute_url())

    page.keyboard.press("t")
    page.keyboard.type("Rule 2 says it.")
    page.keyboard.press("Escape")
    for number in range(1, PAGE + 1):
        page.keyboard.press("2")
        expect(page.locator(f"#label-{number}")).to_contain_text("rated 2")
    expect(page.locator("#next-page")).to_be_focused()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    page.wait_for_url("**after=25")
    page.keyboard.press("1")

    expect(page.locator(f"#label-{SIZE}")).to_contain_text("rated 1")
    given = Rating.objects.order_by("position")
    assert [rating.score for rating in given] == [2] * PAGE + [1]
    assert given[0].note == "Rule 2 says it."
