"""The tables of runs fit on a screen: nothing of them is looked for beyond an edge."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Run
from evaluation.services.run import execution
from labeling.agreement import vectors
from labeling.agreement.matching.similarity import Ruler
from tests.evaluation import launching
from tests.factories import make_people, make_release
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db(transaction=True)

CUT_OFF = """() => [...document.querySelectorAll(".table-wrap")]
    .filter((one) => Math.max(one.scrollWidth - one.clientWidth,
                              one.scrollHeight - one.clientHeight) > 20)
    .map((one) => one.textContent.trim().slice(0, 40))"""
"""Other fonts may take a few pixels more."""


@pytest.fixture
def floors(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Two runs on gold that several people labeled, so that floors and people stand beside."""
    monkeypatch.setattr(vectors, "ruler", lambda: Ruler(WordOverlap()))
    make_people()
    release, made = make_release(name="release"), []
    for pipeline in ("nothing", "everything"):
        run = launching.launch(release, pipeline=pipeline, requested_by=None, queue=False)
        execution.work(run.pk, uuid4())
        made.append(run)
    return made


def test_the_tables_of_a_run_and_of_two_fit_in_german(
    floors: list[Run], page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    before, after = floors
    sign_in(User.objects.get(username="noor"))
    page.set_viewport_size({"width": 1440, "height": 2400})  # only the width is looked at
    page.set_extra_http_headers({"Accept-Language": "de"})

    page.goto(live_server.url + after.get_absolute_url())
    expect(page.locator(".close thead").first).to_contain_text("Können")
    expect(page.locator(".close thead").first).to_contain_text("Untergrenze: nothing")
    for closed in page.locator("details:has(table)").all():
        closed.evaluate("(one) => one.open = true")

    assert page.evaluate(CUT_OFF) == []
    page.set_viewport_size({"width": 390, "height": 2400})
    assert page.evaluate(CUT_OFF) == []
    page.set_viewport_size({"width": 1440, "height": 2400})
    url = f"{reverse('run-compare')}?baseline={before.pk}&run={after.pk}"
    page.goto(live_server.url + url)
    expect(page.get_by_role("columnheader", name="Gewonnen / verloren / gleich")).to_be_visible()
    assert page.evaluate(CUT_OFF) == []
