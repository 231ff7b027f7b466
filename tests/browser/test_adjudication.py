"""What a lead lives through when they decide and review, by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.agreement.matching.similarity import Ruler
from labeling.models import Adjudication, Annotation, Conversation, Review
from labeling.settling import merges
from tests.factories import (
    answer_with,
    make_people,
    make_project,
    open_full,
    requirement,
)
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db(transaction=True)


WISHES = {"ana": "Window Seats", "ben": "Loyalty Points", "cleo": "Gift Wrapping"}


@pytest.fixture
def disputed() -> Conversation:
    """One label that all have, and one more of each person alone."""
    people = make_people()
    project = make_project()
    round_ = open_full(project, 1)
    for assignment in round_.assignments.select_related("annotator"):
        who = assignment.annotator.username
        shared = requirement(1, sources=[0], uid=f"{who}-1")
        wish = WISHES[who]
        own = requirement(2, sources=[2], uid=f"{who}-2", title=wish, action=wish)
        answer_with(assignment, {"requirements": [shared, own]})
    merges.merge(project, ruler=lambda: Ruler(WordOverlap()))
    assert people["rita"]
    return round_.places.get().conversation


@pytest.fixture
def lead(disputed: Conversation, sign_in: Callable[[User], None]) -> User:
    rita = User.objects.get(username="rita")
    sign_in(rita)
    return rita


def open_page(page: Page, live_server: LiveServer, address: str) -> None:
    page.goto(f"{live_server.url}{address}")
    expect(page.locator(".cluster.current")).to_have_count(1)


def type_keys(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_lead_settles_just_the_disputed_field_and_sees_what_will_be_frozen(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    people, project = make_people(), make_project()
    round_ = open_full(project, 1)
    said = {"ana": ("must", [0, 2]), "ben": ("should", [0]), "cleo": ("must", [0, 2])}
    for assignment in round_.assignments.select_related("annotator"):
        who = assignment.annotator.username
        priority, sources = said[who]
        shared = requirement(1, sources=sources, uid=f"{who}-1", priority=priority)
        tied = {"priority": {"ana": "must", "ben": "should", "cleo": "could"}[who]}
        second = requirement(2, sources=[3], uid=f"{who}-2", **tied)
        answer_with(assignment, {"requirements": [shared, second]})
    merges.merge(project, ruler=lambda: Ruler(WordOverlap()))
    sign_in(people["rita"])

    open_page(page, live_server, f"/adjudicate/{round_.places.get().conversation.pk}/")
    agreed, disputed = page.locator(".cluster").nth(0), page.locator(".cluster").nth(1)
    expect(disputed).to_contain_text("disputed")
    priority_row = disputed.get_by_role("row").filter(has_text="Priority")
    expect(priority_row.locator("td.gold")).to_have_text("disputed")
    expect(disputed.get_by_role("row").filter(has_text="Type").locator("td.gold")).to_have_text(
        "functional"
    )
    priority_row.get_by_role("button", name="Take Priority of").nth(1).click()
    expect(disputed).to_contain_text("→ ")
    expect(priority_row.locator("td.gold")).to_contain_text("as ")
    agreed.locator(".label-head").click()
    row = agreed.get_by_role("row").filter(has_text="Source messages")
    expect(row.locator("td.gold")).to_contain_text("as ")
    type_keys(page, "w", "Control+Enter")

    page.wait_for_url("**/projects/orders/adjudication/?layer=extraction")
    first, second = Adjudication.objects.get().payload["requirements"]
    assert (first["priority"], first["source_messages"]) == ("must", [0, 2])
    assert second["priority"] in ("must", "should", "could")
    assert Adjudication.objects.get().reason == ""  # each field is somebody's


def test_a_disputed_conversation_is_decided_by_keyboard_alone(
    page: Page, live_server: LiveServer, lead: User, disputed: Conversation
) -> None:
    open_page(page, live_server, "/projects/orders/adjudication/next/")
    clusters = page.locator(".cluster")
    expect(clusters).to_have_count(4)
    expect(clusters.nth(0)).to_contain_text("agreed")
    expect(clusters.nth(1)).to_contain_text("disputed")
    expect(clusters.nth(1)).to_contain_text("perhaps the same: ")
    expect(page.locator("main")).not_to_contain_text("cleo")  # letters, until asked for names

    # the first disputed label is taken from whoever has it, the second is edited, the third goes
    type_keys(page, *("a", "b", "c"))
    expect(clusters.nth(1)).to_contain_text("→ ")
    type_keys(page, "n", "e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Better Title")
    type_keys(page, "Escape", "Escape", "n", "x", "Control+Enter")
    expect(page.locator("#verdict-error")).to_have_text("Choose why they differed.")
    type_keys(page, "Escape", "w", "w", "Control+Enter")
    expect(page.locator("#verdict-error")).to_contain_text("Write a note")
    page.keyboard.type("Message 2 says it once")
    type_keys(page, "Escape", "f", "Control+Enter")

    page.wait_for_url("**/projects/orders/adjudication/?layer=extraction")
    decision = Adjudication.objects.get()
    titles = [label["title"] for label in decision.payload["requirements"]]
    assert titles[0] == "Order Tracking 1"
    assert titles[2] == "Better Title"
    assert len(titles) == 3
    adopted = [label["adopted_from"] for label in decision.payload["requirements"]]
    assert (adopted[0], len(adopted[1]), adopted[2]) == (["ana", "ben", "cleo"], 1, [])
    assert (decision.kind, decision.guideline_flag) == ("guideline", True)
    assert decision.reason == "Message 2 says it once"


def test_an_unsent_decision_is_there_again_after_a_reload(
    page: Page, live_server: LiveServer, lead: User, disputed: Conversation
) -> None:
    open_page(page, live_server, f"/adjudicate/{disputed.pk}/")
    type_keys(page, "x", "n", "x", "t")
    page.keyboard.type("Half a thought")
    expect(page.locator("#desk-state")).to_have_text("Draft kept in this browser")

    page.reload()

    expect(page.locator("#desk-state")).to_have_text("Your unsent decision is back.")
    expect(page.locator(".cluster.left-out")).to_have_count(2)
    expect(page.locator("#note")).to_have_value("Half a thought")
    expect(page.locator("#count")).to_have_text("1 to decide")
    assert not Adjudication.objects.exists()


def test_answers_are_reviewed_by_keyboard_alone(
    page: Page, live_server: LiveServer, lead: User, disputed: Conversation
) -> None:
    open_page(page, live_server, "/projects/orders/review/next/")

    type_keys(page, "f")  # nothing is corrected yet: the form opens
    page.keyboard.press("Control+a")
    page.keyboard.type("Parcel Tracking")
    with page.expect_navigation():
        type_keys(page, "Escape", "Escape", "f")
    expect(page.locator("#desk-state")).to_have_text("Not reviewed")
    type_keys(page, "x")
    page.keyboard.type("Message 1 is a wish too")
    with page.expect_navigation():
        type_keys(page, "Escape", "x")
    expect(page.locator("#verdict-error")).to_have_count(1)
    expect(page.locator("#note")).to_have_value("")
    type_keys(page, "a")

    page.wait_for_url("**/projects/orders/review/?*")
    assert list(Review.objects.values_list("verdict", flat=True)) == [
        "fixed",
        "returned",
        "accepted",
    ]
    fixed, returned, _ = Review.objects.all()
    assert fixed.payload["requirements"][0]["title"] == "Parcel Tracking"
    assert Annotation.objects.get(pk=returned.annotation_id).status == "draft"
    expect(page.locator("main")).to_contain_text("Nothing is left to review")
