"""A dispute about gold in a browser: opened on a case, judged by keyboard, and seen in Compare."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import CaseRun, Run
from evaluation.services.run import execution
from labeling.domain.matching.similarity import Ruler
from labeling.models import DisputeReading, GoldRelease
from labeling.services.gold import gold
from tests.browser.test_run_tables import floors
from tests.evaluation import launching
from tests.fakes import WordOverlap

__all__ = ["floors"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_dispute_is_carried_from_a_case_to_the_split_of_a_difference(
    floors: list[Run], page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    _, run = floors
    case = CaseRun.objects.filter(run=run).first()
    assert case is not None
    sign_in(User.objects.get(username="noor"))
    page.goto(live_server.url + case.get_absolute_url())
    page.get_by_role("link", name="The gold looks wrong").first.click()
    page.get_by_label("Reason").fill("It is said in message 2.")
    page.locator("#id_label-source_messages").fill("2")
    page.get_by_role("button", name="Open the dispute").click()
    expect(page.get_by_text("somebody else judges it blind")).to_be_visible()
    expect(page.get_by_text("waits for judges")).to_be_visible()

    sign_in(User.objects.get(username="rita"))
    page.goto(live_server.url + reverse("disputes", args=["orders"]))
    expect(page.locator("main")).not_to_contain_text("It is said in message 2.")
    page.get_by_role("link", name="Judge the next one").click()
    expect(page.locator("main")).not_to_contain_text("noor")
    cited = page.locator("#turns .cited")
    expect(cited.first).to_be_focused()  # the first message that a side cites
    page.keyboard.press("j")
    expect(cited.last).to_be_focused()
    page.keyboard.press("b" if DisputeReading.objects.get().gold_is_a else "a")
    page.keyboard.type("Message 2 says it.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("No dispute is left for you to judge.")).to_be_visible()

    newer = gold.freeze(
        project=run.release.project,
        layer="extraction",
        name=run.release.name,
        ruler=Ruler(WordOverlap()),
    )
    better = launching.launch(newer, pipeline="nothing", requested_by=None, queue=False)
    execution.work(better.pk, uuid4())
    page.goto(f"{live_server.url}{reverse('run-compare')}?baseline={run.pk}&run={better.pk}")
    page.get_by_role("button", name=f"Score run {run.pk} on {newer}").click()
    expect(page.get_by_text(f"Carried over from run {run.pk}")).to_be_visible()
    execution.work(Run.objects.get(carried_from=run).pk, uuid4())

    page.goto(f"{live_server.url}{reverse('run-compare')}?baseline={run.pk}&run={better.pk}")
    expect(page.get_by_role("columnheader", name="Gold changed")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Pipeline changed")).to_be_visible()
    assert GoldRelease.objects.count() == 2
