"""Adjudication and review of layers with references, spans and evidence, by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.agreement.matching.similarity import Ruler
from labeling.models import Adjudication, Annotation, Conversation, Project, Review
from labeling.settling import merges
from tests.browser.test_adjudication import open_page, type_keys
from tests.factories import answer_with, make_people, make_project, open_full, requirement
from tests.fakes import WordOverlap
from tests.layers import issue, question

pytestmark = pytest.mark.django_db(transaction=True)

SCHEMA = {"tracking": ["what", "who"], "payment": ["amount"]}


def merged(project: Project) -> None:
    merges.merge(project, ruler=lambda: Ruler(WordOverlap()))


def conversation_with(layers: list[str], given: Callable[[str], dict[str, Any]]) -> Conversation:
    make_people()
    project = make_project(layers=layers, event_schema=SCHEMA if "events" in layers else {})
    round_ = open_full(project, 1)
    for assignment in round_.assignments.select_related("annotator"):
        answer_with(assignment, given(assignment.annotator.username))
    merged(project)
    return round_.places.get().conversation


def issues_of(who: str) -> dict[str, Any]:
    """All have one requirement, each under a uid of their own; Ana alone sees an issue in it."""
    labels = [issue(f"{who}-1", uid=f"{who}-issue")] if who == "ana" else []
    return {"requirements": [requirement(1, uid=f"{who}-1")], "issues": labels}


def test_an_issue_is_corrected_and_another_one_added_by_keyboard(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    conversation = conversation_with(["extraction", "validation"], issues_of)
    sign_in(User.objects.get(username="rita"))
    open_page(page, live_server, f"/adjudicate/{conversation.pk}/?layer=validation")
    expect(page.locator(".cluster")).to_have_count(1)
    expect(page.locator(".cluster .versions-table")).to_contain_text("REQ-001")

    type_keys(page, "e", "s")  # edit; words are selected in the field of the requirement
    expect(page.locator(".field-text")).to_be_visible()
    type_keys(page, "Shift+ArrowRight", "Enter")
    expect(page.locator(".span-slot")).to_contain_text("Track order")
    type_keys(page, "Escape", "Escape", "Shift+N")
    expect(page.locator(".cluster")).to_have_count(2)
    form = page.locator(".label-form")
    form.locator(".reference input").press("Space")
    form.get_by_role("radio", name="missing actor").press("Space")
    form.get_by_role("radio", name="warning").press("Space")
    form.get_by_role("radio", name="actor", exact=True).press("Space")
    form.get_by_role("textbox", name="Message").fill("Nobody is named")
    form.get_by_label("Suggested fix").fill("Name somebody")
    type_keys(page, "Escape", "Escape", "w", "t")
    page.keyboard.type("Checked against the guidelines")
    type_keys(page, "Control+Enter")

    page.wait_for_url("**/projects/orders/adjudication/**")
    edited, added = Adjudication.objects.get().payload["issues"]
    assert edited["span"]["text"] == "Track order"
    assert added["issue_type"] == "missing_actor"
    gold = (
        Conversation.objects.get(pk=conversation.pk)
        .merges.get(layer="extraction")
        .clusters[0]["label"]
    )
    assert {edited["requirement"], added["requirement"]} == {gold["uid"]}


def questions_of(who: str) -> dict[str, Any]:
    return {"questions": [question("What do they track", uid=f"{who}-q", evidence=[0])]}


def test_the_evidence_of_an_answer_is_corrected_in_review(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    conversation_with(["qa"], questions_of)
    sign_in(User.objects.get(username="rita"))
    answered = Annotation.objects.order_by("pk").first()
    assert answered
    open_page(page, live_server, f"/review/{answered.pk}/")

    type_keys(page, "e", "Escape", "ArrowDown", "ArrowDown", "m")
    expect(page.locator(".label-form [data-source]")).to_have_count(2)
    type_keys(page, "f")

    page.wait_for_url(lambda url: f"/review/{answered.pk}/" not in url)
    review = Review.objects.get()
    assert review.payload is not None
    assert review.payload["questions"][0]["evidence"] == [0, 2]
