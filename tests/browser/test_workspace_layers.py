"""Every layer is labeled in one workspace, and what is stored is what the schema asks for."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from labeling.conversations.rules.importing import Turn
from labeling.models import Assignment
from labeling.schema import LAYERS
from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import make_project, make_talk, open_full, save_of
from tests.factories import requirement as make_requirement

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = [
    "👩‍💻🙂 Please ship the order to Berlin",  # each emoji is several UTF-16 units
    "注文番号を送ってください。",  # no blanks between words
    "I paid on Monday, it broke on Friday.",
    "Thanks, resolved on Sunday.",
]
# in the order in which PostgreSQL keeps the keys of an object: the shortest first
EVENT_SCHEMA = {"pay": ["payer", "amount"], "ship": ["item", "place"]}


@pytest.fixture
def queue(ana: User) -> list[Assignment]:
    """All layers over a conversation of the texts above; one requirement is there already."""
    project = make_project(layers=list(LAYERS), event_schema=EVENT_SCHEMA)
    make_talk(project, "c-001", [Turn("user", text) for text in TEXTS])
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    annotations.save_draft(assignment, save_of({"requirements": [make_requirement()]}))
    return [assignment]


def go_to_layer(workspace: Workspace, name: str) -> Workspace:
    workspace.press(*["]"] * list(LAYERS).index(name))
    expect(workspace.page.locator(f"#tab-{name}")).to_have_attribute("aria-selected", "true")
    return workspace


def saved(workspace: Workspace, key: str) -> list[dict[str, Any]]:
    workspace.press("Control+s")
    expect(workspace.state).to_have_attribute("data-state", "saved")
    assert workspace.stored is not None
    labels: list[dict[str, Any]] = workspace.stored.payload[key]
    return labels


def test_layers_are_tabs_with_counts(workspace: Workspace) -> None:
    workspace.open()

    tabs = workspace.page.get_by_role("tab")
    expect(tabs).to_have_count(len(LAYERS))
    expect(tabs.first).to_have_text("Requirements 1")
    workspace.press("[")  # round the corner to the last one

    expect(tabs.last).to_have_attribute("aria-selected", "true")
    expect(workspace.labels).to_have_count(0)
    tabs.first.click()
    expect(workspace.labels).to_have_count(1)


def test_words_are_selected_with_the_mouse(workspace: Workspace) -> None:
    go_to_layer(workspace.open(), "events")

    text = workspace.message(0).locator(".message-text")
    place = text.evaluate(
        """(element) => {
            const range = document.createRange();
            const at = element.firstChild.data.indexOf("ship");
            range.setStart(element.firstChild, at);
            range.setEnd(element.firstChild, at + 14);
            const box = range.getBoundingClientRect();
            return [box.left, box.right, (box.top + box.bottom) / 2];
        }"""
    )
    mouse = workspace.page.mouse
    mouse.move(place[0], place[2])
    mouse.down()
    mouse.move(place[1], place[2], steps=5)
    mouse.up()
    workspace.page.get_by_role("button", name="Take these words").click()

    (event,) = saved(workspace, "events")
    assert event["trigger"] == {"message": 0, "start": 12, "end": 26, "text": "ship the order"}


def test_an_event_gets_words_by_keyboard_and_arguments_with_roles(workspace: Workspace) -> None:
    go_to_layer(workspace.open(), "events")
    workspace.press("x", "ArrowRight", "ArrowRight", "ArrowRight", "Enter", "2")

    workspace.press("x", "End", "Enter")  # the last word becomes the first argument
    workspace.page.get_by_label("Role of argument 1").select_option("place")

    (event,) = saved(workspace, "events")
    assert event["trigger"] == {"message": 0, "start": 12, "end": 16, "text": "ship"}
    assert TEXTS[0][12:16] == "ship"  # places are counted in code points
    assert event["type"] == "ship"
    (argument,) = event["arguments"]
    assert argument["role"] == "place"
    assert argument["span"]["text"] == "Berlin"
    workspace.press("Control+z")  # the role
    expect(workspace.page.get_by_label("Role of argument 1")).to_have_value("item")


def test_phases_are_ordered_and_get_their_evidence_by_key(workspace: Workspace) -> None:
    go_to_layer(workspace.open(), "arc")

    workspace.press("j", "j", "m")  # an arc whose first phase cites message 2
    page = workspace.page
    page.get_by_role("button", name="Add phase").focus()
    workspace.press("Enter").type("Broken")
    workspace.press("Escape", "j", "m", "k", "k", "m")
    page.get_by_role("button", name="Move this phase up").nth(1).click()

    (arc,) = saved(workspace, "arcs")
    assert [phase.get("title") for phase in arc["phases"]] == ["Broken", None]
    assert [phase["evidence"] for phase in arc["phases"]] == [[1, 3], [2]]
    expect(page.locator(".message.linked")).to_have_count(2)  # of the phase in hand


def test_a_label_points_to_others_by_key(workspace: Workspace) -> None:
    go_to_layer(workspace.open(), "inference")

    workspace.press("n").type("Encryption")
    workspace.page.get_by_role("checkbox", name="REQ-001").focus()
    workspace.press("Space")

    (inferred,) = saved(workspace, "inferred_requirements")
    assert workspace.requirements[0]["uid"] == inferred["triggered_by"][0]
    assert inferred["id"] == "INF-001"


def test_an_issue_marks_words_in_a_field_of_its_requirement(workspace: Workspace) -> None:
    go_to_layer(workspace.open(), "validation")
    workspace.press("n", "Space", "Tab", "1")
    page = workspace.page
    page.get_by_role("radio", name="action", exact=True).focus()
    workspace.press("Space")
    expect(page.locator(".field-text")).to_have_text("Track order number 1")

    workspace.press("x", "ArrowRight", "Shift+ArrowRight", "Enter")

    (issue,) = saved(workspace, "issues")
    assert issue["issue_type"] == "ambiguous_verb"
    assert issue["span"] == {"start": 6, "end": 18, "text": "order number"}
