"""Two gold releases side by side, on a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from labeling.models import GoldItem, GoldRelease, Project
from tests import factories
from tests.looks import say_why
from tests.pages import page

pytestmark = pytest.mark.django_db
RELEASE = "/projects/orders/gold/orders/2/"
URL = f"{RELEASE}compare/"


@pytest.fixture
def first(project: Project) -> GoldRelease:
    return factories.make_release(project, items=3)


def following(release: GoldRelease, change: Callable[[dict[str, Any]], None]) -> GoldRelease:
    """The next version, with the first item changed; the hashes need not be true here."""
    items = list(release.items.order_by("position"))
    parent = release.pk
    newer = GoldRelease.objects.get(pk=parent)
    newer.pk, newer.version, newer.parent_id = None, release.version + 1, parent
    newer.meaning = f"{newer.version}.0.0"
    newer.save(force_insert=True)
    for item in items:
        document = item.content
        if item is items[0]:
            change(document)
        item.pk, item.release, item.split = None, newer, document["split"]
        item.sha256 = item.sha256 if document == item.content else "0" * 64
        item.canonical = json.dumps(document)
    GoldItem.objects.bulk_create(items)
    return newer


def another_title(document: dict[str, Any]) -> None:
    label = document["gold"]["requirements"][0]
    document["gold"]["requirements"] = [
        {**label, "title": "Pay by card", "source_messages": [0, 2]},
        {**label, "uid": "new", "title": "Refund <b>orders</b>"},
    ]


def test_the_page_says_how_much_changed_and_what(signed_in, rita, first):
    following(first, another_title)
    client = signed_in(rita)

    shown = page(client, URL)

    assert "orders@1 → orders@2" in shown
    assert "dev 0 0 1 2" in shown  # added, removed, changed, unchanged
    assert "changed “Pay by card” Source messages 0 , 2 Title Order Pay Tracking by 1 card" in shown
    assert "<del>Order</del>" in client.get(URL).content.decode()
    assert "added “Refund <b>orders</b>”" in shown
    assert 'href="/projects/orders/gold/orders/2/items/' in client.get(URL).content.decode()
    assert "orders@1 → orders@2" in page(client, URL.replace("/2/", "/1/"))
    assert "Compare with…" in page(client, RELEASE)


def test_an_item_that_moved_to_another_split_is_a_change(signed_in, rita, first):
    say_why(following(first, lambda document: document.update(split="test")), rita)

    shown = page(signed_in(rita), URL)

    assert "Split: dev → test" in shown
    assert "test 0 0 1 0" in shown


def test_items_that_only_one_release_holds_can_be_opened_there(signed_in, rita, first):
    newer = GoldRelease.objects.get(pk=first.pk)
    newer.pk, newer.version, newer.meaning = None, 2, "2.0.0"
    newer.save(force_insert=True)

    answer = signed_in(rita).get(f"{URL}?with=orders@1")

    assert "only in orders@1" in answer.content.decode()
    assert 'href="/projects/orders/gold/orders/1/items/' in answer.content.decode()


def test_a_release_without_another_says_what_to_do(signed_in, rita, first):
    client = signed_in(rita)

    assert "Nothing to compare with" in page(client, URL.replace("/2/", "/1/"))
    assert "Compare with…" not in page(client, RELEASE.replace("/2/", "/1/"))


def test_only_releases_of_the_project_and_the_layer_are_offered(signed_in, rita, first):
    factories.make_release(factories.make_project("other"), name="foreign")
    following(first, another_title)
    client = signed_in(rita)

    assert "foreign" not in page(client, URL)
    for name in ("foreign@1", "orders@2", "orders@9", ""):
        assert client.get(URL, {"with": name}).status_code == 404, name
