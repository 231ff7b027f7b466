"""Test items are shown for a reason, which is asked once and written down for good."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from labeling.gold import looks, reopenings
from labeling.gold.looks import ReasonNeeded, Sight
from labeling.models import Annotation, Conversation, Event, GoldRelease, Look, Project
from tests import factories
from tests.looks import WHY, say_why
from tests.pages import page, text_of

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
LABELS, EXPORT, RUN, RESULTS = "labels", "export", "run", "results"
GOLD = "/projects/orders/gold/orders/1/"


@pytest.fixture
def release(project: Project) -> GoldRelease:
    """Three items: one of the test split, two of dev."""
    factories.make_conversations(project, 3)
    Conversation.objects.filter(external_id="c-001").update(split="test")
    return factories.make_release(project, items=3)


def another_version(release: GoldRelease) -> GoldRelease:
    """The same test items in the next version."""
    changed = Conversation.objects.get(external_id="c-002")
    changed.domain = "another domain"
    changed.save(update_fields=["domain"])
    return factories.make_release(release.project, items=1)


# --- who is asked ---------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["items/c-001/", "export/", "compare/?with=orders@2"])
def test_a_page_with_test_labels_asks_why_and_then_leads_there(noor, release, address, researcher):
    another_version(release)

    between = researcher.get(GOLD + address, follow=True)
    assert "These are test items: why do you look?" in text_of(between)
    assert not Look.objects.exists()

    there = researcher.post(between.redirect_chain[-1][0], {"reason": " Final figures "})
    assert there.status_code == 302
    assert there.url == GOLD + address
    assert researcher.get(there.url).status_code == 200
    look = Look.objects.last()
    assert look is not None
    assert (look.user, look.reason) == (noor, "Final figures")


def test_what_people_answered_on_a_test_item_is_asked_of_researchers_alone(
    release, lead, researcher
):
    tested, other = (Conversation.objects.get(external_id=name) for name in ("c-001", "c-002"))
    pages = [
        reverse("conversation", args=["orders", tested.pk]),
        reverse("adjudicate", args=[tested.pk]),
        reverse("review", args=[Annotation.objects.filter(assignment__conversation=tested)[0].pk]),
    ]
    for address in pages:
        asked = researcher.get(address)
        assert (asked.status_code, "/look/" in asked["Location"]) == (302, True)
        assert lead.get(address).status_code == 200
    assert researcher.get(f"/api/adjudications/{tested.pk}/extraction/").status_code == 403
    assert researcher.get(reverse("conversation", args=["orders", other.pk])).status_code == 200


def test_the_list_of_items_keeps_what_test_labels_say_to_itself(noor, release, researcher):
    assert page(researcher, GOLD).count("sealed: say why you look") == 1

    say_why(release, noor, purposes=(LABELS,))

    assert "sealed" not in page(researcher, GOLD)


def test_one_question_for_each_person_and_purpose(noor, release, lead, researcher):
    say_why(release, noor, purposes=(LABELS,))

    assert researcher.get(f"{GOLD}items/c-001/").status_code == 200
    assert lead.get(f"{GOLD}items/c-002/").status_code == 200  # of dev
    assert researcher.get(f"{GOLD}export/").status_code == 302
    assert lead.get(f"{GOLD}items/c-001/").status_code == 302
    assert lead.get(f"{GOLD}look/?for=forged").status_code == 404


def test_a_reason_is_written_down_once(noor, release):
    with pytest.raises(ReasonNeeded):
        looks.state(noor, [release], Sight(LABELS), "\u200b")
    for _ in range(2):
        looks.state(noor, [release], Sight(LABELS), "Once")

    assert Look.objects.count() == 1
    event = Event.objects.get(verb="gold.looked_at")
    assert (event.actor, event.data["reason"]) == (noor, "Once")


def test_who_measures_is_not_asked_again_when_reading_results(noor, release):
    looks.record(noor, release, Sight(RUN), reason="Final", n_items=1)

    assert not looks.sealed(noor, RESULTS).exists()
    assert looks.sealed(noor, LABELS).get() == release
    assert looks.reason_of(noor, release, RUN) == "Final"


def test_a_part_of_a_page_sends_the_whole_page_to_the_question(release, researcher):
    around = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": f"http://testserver{GOLD}?x=1"}

    asked = researcher.get(f"{GOLD}items/c-001/", **around)
    assert researcher.post(asked["HX-Redirect"], {"reason": WHY}).url == f"{GOLD}?x=1"


# --- the next version -----------------------------------------------------------------------------


def test_the_next_version_asks_again_and_its_looks_count_with_those_before(noor, release):
    say_why(release, noor, purposes=(LABELS,))
    newer = another_version(release)
    assert looks.sealed(noor, LABELS, [newer.pk]).exists()

    say_why(newer, noor, purposes=(LABELS,))

    assert [looks.number(look) for look in Look.objects.order_by("pk")] == [1, 2]
    assert looks.looks_at(release).count() == looks.looks_at(newer).count() == 2


# --- the ledger -----------------------------------------------------------------------------------


def test_the_page_lists_every_look_with_its_reason(noor, release, lead):
    looks.state(noor, [release], Sight(LABELS, "item", "c-001"), "<b>Is it right?</b>")
    looks.record(None, release, Sight(RUN, "run", "7"), reason="", n_items=1)

    shown = page(lead, "/projects/orders/looks/")

    assert "noor orders@1 Read the labels: item c-001 <b>Is it right?</b> 1" in shown
    assert "command line orders@1 Measure a pipeline: run 7 none stated 1" in shown


# --- the API and the commands ---------------------------------------------------------------------


def test_the_api_takes_a_reason(noor, release, researcher):
    url = reverse("api-looks")
    sent = {"gold": "orders@1", "purpose": LABELS, "reason": "Checking labels"}

    answer = researcher.post(url, sent, content_type="application/json")
    assert (answer.status_code, answer.json()) == (
        201,
        {"gold": "orders@1", "looks": 1},
    )
    look = Look.objects.get()
    assert (look.user, look.purpose, look.reason) == (noor, LABELS, "Checking labels")


def test_an_export_by_command_takes_a_reason(release, tmp_path):
    with pytest.raises(CommandError, match="why do you look"):
        call_command("export_gold", "orders", output=tmp_path)
    assert not list(tmp_path.iterdir())

    notes = io.StringIO()
    for _ in range(2):  # a script that is run again says the same
        call_command("export_gold", "orders", output=tmp_path, reason="Final", stderr=notes)

    assert "Looks at the test items of orders@1: 1." in notes.getvalue()
    look = Look.objects.get()
    assert (look.user, look.purpose, look.reason) == (None, EXPORT, "Final")


def test_labels_of_a_project_with_a_test_set_leave_for_a_reason(
    noor, release, tmp_path, researcher
):
    url = "/projects/orders/labels/export/"
    with pytest.raises(CommandError, match="Say --reason"):
        call_command("export_labels", project="orders", output=tmp_path)
    assert researcher.get(url).status_code == 302

    say_why(release, noor, purposes=(EXPORT,))

    assert researcher.get(url).status_code == 200


def test_the_admin_leaves_test_items_out_until_their_reader_says_why(signed_in, admin, release):
    url, client = reverse("admin:labeling_golditem_changelist"), signed_in(admin)
    assert "c-001" not in client.get(url).content.decode()

    say_why(release, admin, purposes=(LABELS,))

    assert "c-001" in client.get(url).content.decode()


def test_the_admin_shows_doubts_when_they_are_settled_and_test_labels_for_a_reason(
    signed_in, people, release
):
    admin, rita = people["admin"], people["rita"]
    doubts = []
    for item in release.items.order_by("item_id"):
        doubt = reopenings.ask(item=item, layer="extraction", reason="Wrong.", by=people["noor"])
        doubts.append(doubt.pk)
        if item.item_id in ("c-001", "c-002"):
            reopenings.withdraw(doubt, reason="It is not.", by=rita)
    client, url = signed_in(admin), reverse("admin:labeling_reopening_changelist")

    def listed() -> list[int]:
        return [row.pk for row in client.get(url).context["cl"].queryset.order_by("pk")]

    assert len(listed()) == 1
    say_why(release, admin, purposes=(LABELS,))
    assert listed() == doubts[:2]
    unsettled = reverse("admin:labeling_reopening_change", args=[doubts[-1]])
    assert client.get(unsettled).status_code == 302


@pytest.mark.parametrize(
    "elsewhere",
    ["////evil.example/x", "//evil.example", "http://testserver////x.example", "/\\x.example"],
)
@pytest.mark.parametrize("header", ["HTTP_HX_CURRENT_URL", "HTTP_REFERER"])
def test_no_header_leads_to_another_server(header, elsewhere, release, researcher):
    part = f"{GOLD}items/c-001/"
    asked = researcher.get(part, HTTP_HX_REQUEST="true", **{header: elsewhere})["HX-Redirect"]

    answer = researcher.post(asked, {"reason": WHY})

    assert answer.status_code == 302
    assert answer["Location"].startswith("/projects/")
