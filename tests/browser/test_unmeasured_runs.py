"""What a pipeline returned is read next to the conversation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import CaseRun, Run, RunSpec
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.importing import Turn
from tests.factories import make_people, requirement

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = 300


@pytest.fixture
def case() -> CaseRun:
    run = Run.objects.create(
        requested_by=make_people()["admin"],
        name="Interview",
        pipeline="requirements-agent",
        spec=RunSpec(layer="end_to_end"),
        expires_at=timezone.now() + timedelta(days=1),
    )
    turns = [Turn("user", f"Message number {number}.") for number in range(MESSAGES)]
    talk = run.conversations.create(
        position=0,
        external_id="said",
        n_messages=MESSAGES,
        text=transcripts.written(turns),
    )
    labels = [
        requirement(1, sources=[0], confidence=0.2),
        requirement(2, sources=[280, 3], confidence=0.9),
    ]
    output = {"requirements": labels, "model": None}
    return run.cases.create(talk=talk, state="done", output=output)


def test_labels_lead_to_their_messages(
    case: CaseRun, page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    sign_in(User.objects.get(username="admin"))
    page.goto(live_server.url + case.get_absolute_url())
    pair = page.locator("#pair-2")
    pair.hover()
    expect(page.locator("#message-280")).to_have_class("cited lit")
    pair.get_by_role("link", name="280", exact=True).first.click()
    expect(page.locator("#message-280")).to_be_in_viewport()
