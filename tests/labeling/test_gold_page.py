import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from labeling.core import events
from labeling.exchange.export import FORMATS, export
from labeling.gold.rules.release import item_sha256
from labeling.models import Conversation, Event, GoldItem, GoldRelease
from labeling.settling import adjudications
from tests import factories
from tests.looks import say_why
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/gold/"
RELEASE = f"{URL}orders/1/"


def ask(client, **fields):
    return client.post(f"{URL}freeze/", {"layer": "extraction", "name": "orders", **fields})


def test_a_lead_asks_for_a_release_and_sees_that_it_is_on_its_way_or_why_not(rita, project, lead):
    assert ask(lead, message="First").url == URL

    asked = Event.objects.get()
    assert (asked.verb, asked.actor) == ("gold.freeze_requested", rita)
    shown = lead.get(URL)
    assert "A release of requirements is being frozen" in text_of(shown)
    assert 'hx-trigger="every 3s"' in shown.content.decode()  # until it is there
    events.record(
        "gold.freeze_refused", project, project=project, actor=rita, message="Nothing is settled."
    )
    refused = page(lead, URL)
    assert "The last freeze was refused: Nothing is settled." in refused
    assert "is being frozen" not in refused
    assert "every 3s" not in lead.get(URL).content.decode()


def test_a_release_shows_what_proves_it(release, researcher):
    shown = page(researcher, RELEASE)

    assert release.sha256 in shown
    assert "3 (3 unanimous)" in shown
    assert "c-001 dev Unanimous " in shown
    assert "none, the first version" in shown
    assert "1 · Full 1.00 1.00 1.00 v1" in shown


@pytest.mark.parametrize("format", FORMATS)
def test_the_page_offers_what_the_command_writes(release, tmp_path, format, researcher):
    address = f"{RELEASE}export/?format={format}"
    assert f'href="{address}"' in researcher.get(RELEASE).content.decode()

    packed = b"".join(researcher.get(address).streaming_content)
    again = b"".join(researcher.get(address).streaming_content)

    written = export(release, format=format, folder=tmp_path / "out")
    expected = {str(path.relative_to(tmp_path / "out")): path.read_bytes() for path in written}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == expected
    assert packed == again


def test_the_export_is_the_text_that_was_hashed(release, researcher):
    response = researcher.get(f"{RELEASE}export/")

    lines = response.getvalue().decode().splitlines()
    hashes = list(release.items.values_list("sha256", flat=True))
    assert [item_sha256(json.loads(line)) for line in lines] == hashes
    assert 'filename="orders@1.jsonl"' in response["Content-Disposition"]


def test_an_item_says_who_labeled_it_under_which_guidelines_to_leads_by_name(
    release, lead, researcher
):
    assert "Labeled by annotator-1" in page(researcher, f"{RELEASE}items/c-001/")
    shown = page(lead, f"{RELEASE}items/c-001/")

    assert "Labeled by ana (guidelines v1), ben (guidelines v1), cleo (guidelines v1)" in shown
    assert "in round 1 Guidelines version 1" in shown
    assert "unanimous held by ana, ben, cleo" in shown
    assert "[0] user REQ-001 Message 0 of c-001" in shown


def test_a_decided_item_names_who_decided(project, people, lead):
    opened = factories.open_full(project, 1)
    factories.answer_all(opened)
    adjudications.decide(
        conversation=opened.conversations.get(),
        layer="extraction",
        payload=factories.labels([2]),
        reason="The user takes it back.",
        by=people["rita"],
    )
    factories.freeze(project)

    shown = page(lead, f"{RELEASE}items/c-001/")

    assert "Decided by rita (guidelines v1): The user takes it back." in shown
    assert "c-001 dev Adjudicated" in page(lead, RELEASE)


def test_an_item_with_a_slash_in_its_id_has_a_page(project, researcher):
    factories.make_conversations(project, 1)
    Conversation.objects.update(external_id="chats/2024/a b")
    factories.make_release(project, items=1)

    link = f"{RELEASE}items/chats/2024/a%20b/"
    assert link in researcher.get(RELEASE).content.decode()
    assert "chats/2024/a b" in page(researcher, link)


@pytest.mark.parametrize(
    "path", ["orders/2/", "other/1/", "orders/1/items/c-009/", "orders/1/export/?format=xml"]
)
def test_what_does_not_exist_is_not_found(release, path, researcher):
    assert researcher.get(f"{URL}{path}").status_code == 404


# --- two releases ------------------------------------------------------------------------------


NEWER = "/projects/orders/gold/orders/2/"
COMPARED = f"{NEWER}compare/"


def following(release: GoldRelease, change: Callable[[dict[str, Any]], None]) -> GoldRelease:
    """The next version, with the first item changed; the hashes need not be true here."""
    items = list(release.items.order_by("position"))
    parent = release.pk
    newer = GoldRelease.objects.get(pk=parent)
    newer.pk, newer.version, newer.parent_id = None, release.version + 1, parent
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


def test_the_page_says_how_much_changed_and_what(release, lead):
    following(release, another_title)

    shown = page(lead, COMPARED)

    assert "orders@1 → orders@2" in shown
    assert "dev 0 0 1 2" in shown  # added, removed, changed, unchanged
    assert "changed “Pay by card” Source messages 0 , 2 Title Order Pay Tracking by 1 card" in shown
    assert "<del>Order</del>" in lead.get(COMPARED).content.decode()
    assert "added “Refund <b>orders</b>”" in shown
    assert 'href="/projects/orders/gold/orders/2/items/' in lead.get(COMPARED).content.decode()
    assert "orders@1 → orders@2" in page(lead, COMPARED.replace("/2/", "/1/"))
    assert "Compare with…" in page(lead, NEWER)


def test_an_item_that_moved_to_another_split_is_a_change(rita, release, lead):
    say_why(following(release, lambda document: document.update(split="test")), rita)

    shown = page(lead, COMPARED)

    assert "Split: dev → test" in shown
    assert "test 0 0 1 0" in shown


def test_items_that_only_one_release_holds_can_be_opened_there(release, lead):
    newer = GoldRelease.objects.get(pk=release.pk)
    newer.pk, newer.version = None, 2
    newer.save(force_insert=True)

    answer = lead.get(f"{COMPARED}?with=orders@1")

    assert "only in orders@1" in answer.content.decode()
    assert 'href="/projects/orders/gold/orders/1/items/' in answer.content.decode()


def test_a_release_without_another_says_what_to_do(release, lead):
    assert "Nothing to compare with" in page(lead, COMPARED.replace("/2/", "/1/"))
    assert "Compare with…" not in page(lead, NEWER.replace("/2/", "/1/"))


def test_only_releases_of_the_project_and_the_layer_are_offered(release, lead):
    factories.make_release(factories.make_project("other"), name="foreign")
    following(release, another_title)

    assert "foreign" not in page(lead, COMPARED)
    for name in ("foreign@1", "orders@2", "orders@9", ""):
        assert lead.get(COMPARED, {"with": name}).status_code == 404, name
