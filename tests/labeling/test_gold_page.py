import io
import json
import zipfile

import pytest

from labeling.core import events
from labeling.exchange.export import FORMATS, export
from labeling.gold.rules.release import item_sha256
from labeling.models import Adjudication, Conversation, Event
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/gold/"
RELEASE = f"{URL}orders/1/"


@pytest.fixture
def release(project):
    return factories.make_release(project, items=3)


def ask(client, **fields):
    return client.post(f"{URL}freeze/", {"layer": "extraction", "name": "orders", **fields})


def test_a_lead_asks_for_a_release_and_sees_that_it_is_on_its_way(signed_in, rita, project):
    client = signed_in(rita)

    assert ask(client, message="First").url == URL

    asked = Event.objects.get()
    assert (asked.verb, asked.actor) == ("gold.freeze_requested", rita)
    shown = client.get(URL)
    assert "A release of requirements is being frozen" in text_of(shown)
    assert 'hx-trigger="every 3s"' in shown.content.decode()  # until it is there


def test_a_refused_freeze_says_why(signed_in, rita, project):
    client = signed_in(rita)
    ask(client)
    events.record(
        "gold.freeze_refused", project, project=project, actor=rita, message="Nothing is settled."
    )

    shown = page(client, URL)

    assert "The last freeze was refused: Nothing is settled." in shown
    assert "every 3s" not in client.get(URL).content.decode()
    assert "is being frozen" not in shown


def test_a_release_shows_what_proves_it(signed_in, noor, release):
    shown = page(signed_in(noor), RELEASE)

    assert release.sha256 in shown
    assert "3 (3 unanimous)" in shown
    assert "c-001 dev Unanimous " in shown
    assert "none, the first version" in shown
    assert "1 · Full 1.00 1.00 1.00 v1" in shown


@pytest.mark.parametrize("format", FORMATS)
def test_the_page_offers_what_the_command_writes(signed_in, noor, release, tmp_path, format):
    address = f"{RELEASE}export/?format={format}"
    assert f'href="{address}"' in signed_in(noor).get(RELEASE).content.decode()

    packed = b"".join(signed_in(noor).get(address).streaming_content)
    again = b"".join(signed_in(noor).get(address).streaming_content)

    written = export(release, format=format, folder=tmp_path / "out")
    expected = {str(path.relative_to(tmp_path / "out")): path.read_bytes() for path in written}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == expected
    assert packed == again


def test_the_export_is_the_text_that_was_hashed(signed_in, noor, release):
    response = signed_in(noor).get(f"{RELEASE}export/")

    lines = response.getvalue().decode().splitlines()
    hashes = list(release.items.values_list("sha256", flat=True))
    assert [item_sha256(json.loads(line)) for line in lines] == hashes
    assert 'filename="orders@1.jsonl"' in response["Content-Disposition"]


def test_an_item_says_who_labeled_it_under_which_guidelines_to_leads_by_name(
    signed_in, people, release
):
    assert "Labeled by annotator-1" in page(signed_in(people["noor"]), f"{RELEASE}items/c-001/")
    shown = page(signed_in(people["rita"]), f"{RELEASE}items/c-001/")

    assert "Labeled by ana (guidelines v1), ben (guidelines v1), cleo (guidelines v1)" in shown
    assert "in round 1 Guidelines version 1" in shown
    assert "unanimous held by ana, ben, cleo" in shown
    assert "[0] user REQ-001 Message 0 of c-001" in shown


def test_an_item_says_which_field_came_from_whom_where_nobody_gave_all_of_it(project):
    opened = factories.open_full(project, 1)
    said = {"ana": ("must", [0, 1]), "ben": ("should", [0]), "cleo": ("must", [0])}
    for assignment in opened.assignments.select_related("annotator"):
        priority, sources = said[assignment.annotator.username]
        labels = factories.labels([0])
        labels["requirements"][0] |= {"priority": priority, "source_messages": sources}
        if assignment.annotator.username == "cleo":
            labels["requirements"][0]["acceptance_criteria"] = ["one", "two"]
        factories.answer_with(assignment, labels)
    release = factories.freeze(project)

    (item,) = release.items.all()
    (label,) = item.content["gold"]["requirements"]
    (origin,) = factories.with_names(item)["provenance"]["labels"].values()

    assert (item.how, label["priority"], label["source_messages"]) == ("majority", "must", [0])
    assert origin["fields"] == {
        "acceptance_criteria": ["ana", "ben"],
        "priority": ["ana", "cleo"],
        "source_messages": ["ben", "cleo"],
    }


def test_a_decided_item_names_who_decided(signed_in, project, people):
    opened = factories.open_full(project, 1)
    for assignment in opened.assignments.all():
        factories.answer(assignment, [0])
    Adjudication.objects.create(
        conversation=opened.conversations.get(),
        layer="extraction",
        version=1,
        guideline=project.guidelines.get(),
        payload=factories.labels([2]),
        reason="The user takes it back.",
        decided_by=people["rita"],
    )
    factories.freeze(project)
    client = signed_in(people["rita"])

    shown = page(client, f"{RELEASE}items/c-001/")

    assert "Decided by rita (guidelines v1): The user takes it back." in shown
    assert "c-001 dev Adjudicated" in page(client, RELEASE)


def test_an_item_with_a_slash_in_its_id_has_a_page(signed_in, noor, project):
    factories.make_conversations(project, 1)
    Conversation.objects.update(external_id="chats/2024/a b")
    factories.make_release(project, items=1)
    client = signed_in(noor)

    link = f"{RELEASE}items/chats/2024/a%20b/"
    assert link in client.get(RELEASE).content.decode()
    assert "chats/2024/a b" in page(client, link)


@pytest.mark.parametrize(
    "path", ["orders/2/", "other/1/", "orders/1/items/c-009/", "orders/1/export/?format=xml"]
)
def test_what_does_not_exist_is_not_found(signed_in, noor, release, path):
    assert signed_in(noor).get(f"{URL}{path}").status_code == 404
