"""Gold that looks wrong, in a browser: doubted on its page, reopened, and decided by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.gold import reopenings
from labeling.models import Project, Reopening
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_doubt_is_reopened_and_decided_blind_by_keyboard(
    project: Project,
    people: dict[str, User],
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
) -> None:
    release = factories.make_release(project, items=2)
    item = release.items.order_by("position")[0]
    label = item.content["gold"]["requirements"][0]
    reopenings.ask(
        item=item,
        layer="extraction",
        uid=label["uid"],
        proposal={**label, "source_messages": [2]},
        reason="It is said later.",
        by=people["noor"],
    )
    sign_in(people["rita"])
    page.goto(f"{live_server.url}/projects/{project.slug}/reopened/")
    page.get_by_role("link", name=item.item_id).click()
    expect(page.get_by_text("It is said later.")).to_be_visible()
    page.get_by_role("button", name="Reopen the item").click()

    page.get_by_role("link", name=item.item_id).click()
    main = page.locator("main")
    expect(main).to_contain_text("Which is which was drawn for you.")
    expect(main).not_to_contain_text("It is said later.")
    expect(main).not_to_contain_text("noor")
    desk = reopenings.desk(item.conversation, "extraction", people["rita"])
    assert desk is not None
    sides = desk.clusters[0].sides
    expect(page.get_by_role("button", name="Take the label of A")).to_be_visible()
    page.keyboard.press("a" if (sides[0].label or {})["source_messages"] == [2] else "b")
    page.locator("#kind").select_option("error")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="Reopened items")).to_be_visible()
    expect(page.get_by_text("Nothing is doubted")).to_be_visible()
    row = Reopening.objects.get()
    assert (row.state, row.decision and row.decision.decided_by) == ("corrected", people["rita"])
