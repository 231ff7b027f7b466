"""The history panel: what was stored, and a way back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from labeling.models import AnnotationRevision
from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import requirement, save_of

pytestmark = pytest.mark.django_db(transaction=True)


def panel(workspace: Workspace) -> Locator:
    return workspace.page.locator("#panel-history")


def revision(workspace: Workspace, number: int) -> Locator:
    return panel(workspace).get_by_role("button", name=f"rev {number} ")


def two_versions(workspace: Workspace) -> None:
    """Revision 1 has the label "Order Tracking", revision 2 calls it "Parcel Tracking"."""
    label = requirement(1, title="Order Tracking")
    for version, title in enumerate(["Order Tracking", "Parcel Tracking"]):
        save = save_of({"requirements": [label | {"title": title}]}, base_version=version)
        annotations.save_draft(workspace.assignment, save)
    workspace.open()


def test_a_version_is_shown_and_restored_and_the_restoring_undone(workspace: Workspace) -> None:
    two_versions(workspace)
    workspace.press("r")
    revision(workspace, 1).click()
    label = panel(workspace).locator(".revision-changes summary")
    expect(label).to_have_text("REQ-001 Order Trackingchanged")
    panel(workspace).get_by_role("button", name="Restore this").click()
    workspace.expect_saved(3)
    assert workspace.titles == ["Order Tracking"]
    assert AnnotationRevision.objects.get(version=3).kind == "restored"
    expect(workspace.labels.first.locator(".label-title")).to_have_text("Order Tracking")
    workspace.notices.get_by_role("button", name="Undo").click()

    workspace.expect_saved(4)
    assert workspace.titles == ["Parcel Tracking"]


def test_what_is_not_saved_yet_is_saved_before_it_is_compared(workspace: Workspace) -> None:
    workspace.open().start_label("Order Tracking").press("r")

    expect(revision(workspace, 1)).to_contain_text("1 label")
