"""Gold that somebody doubts: opened, judged blind, decided, and in the next release."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from labeling.domain.gold.disputes import Correction, Vote, blind, corrected, ruling
from labeling.domain.matching.similarity import Ruler
from labeling.forms.disputes import LabelForm
from labeling.models import (
    Conversation,
    Dispute,
    DisputeOutcome,
    DisputeReading,
    DisputeVerdict,
    GoldItem,
    Membership,
    PendingUpdate,
)
from labeling.services import pseudonyms
from labeling.services.exchange.gold_files import import_gold
from labeling.services.gold import corrections, disputes, gold
from labeling.services.gold.verification import verify
from labeling.services.work import rounds
from tests import factories
from tests.fakes import WordOverlap
from tests.pages import page, queries

URL = "/projects/orders/disputes/"
PROPOSED: dict[str, Any] = {"uid": "q", "evidence": [2]}


@pytest.mark.parametrize(
    ("votes", "judges", "kind"),
    [
        ([], 1, None),
        ([Vote("gold")], 1, "kept"),
        ([Vote("both")], 1, "kept"),
        ([Vote("proposal")], 1, "corrected"),
        ([Vote("neither", {"uid": "q", "evidence": [3]})], 1, "corrected"),
        ([Vote("proposal")], 2, None),
        ([Vote("proposal"), Vote("gold")], 2, "tied"),
        ([Vote("proposal"), Vote("gold"), Vote("both")], 2, "kept"),
        ([Vote("neither", {"uid": "q"}), Vote("neither", None), Vote("gold")], 3, "tied"),
        # who writes what was proposed agrees with it
        ([Vote("neither", PROPOSED), Vote("proposal"), Vote("gold")], 3, "corrected"),
    ],
)
def test_the_strict_majority_of_the_judges_decides(votes, judges, kind):
    result = ruling(votes, PROPOSED, judges=judges)

    assert (result and result.kind) == kind


def test_a_correction_replaces_adds_or_removes_one_label():
    labels = [{"uid": "a", "x": 1}, {"uid": "b", "x": 1}]
    change = Correction(1, "qa", "a", {"uid": "a", "x": 2}, False, ("rita",), "", "g@1")

    assert corrected(labels, change) == [{"uid": "a", "x": 2}, {"uid": "b", "x": 1}]
    assert corrected(labels, change._replace(label=None)) == [{"uid": "b", "x": 1}]
    new = change._replace(uid="c", label={"uid": "c"}, is_new=True)
    assert corrected(labels, new) == [*labels, {"uid": "c"}]


# --- with a database ------------------------------------------------------------------------------


@pytest.fixture
def item(project) -> GoldItem:
    return factories.make_release(project, items=2).items.order_by("position")[0]


def label_in(item: GoldItem) -> dict[str, Any]:
    return dict(item.content["gold"]["requirements"][0])


def opened(item: GoldItem, by: Any, **fields: Any) -> Dispute:
    label = label_in(item)
    values: dict[str, Any] = {
        "layer": "extraction",
        "uid": label["uid"],
        "proposal": {**label, "source_messages": [2]},
        "reason": "It is said later.",
    }
    return disputes.open_dispute(item=item, by=by, **{**values, **fields})


def verdict(dispute: Dispute, judge: Any, side: str, **fields: Any) -> DisputeVerdict:
    """``side`` gold or proposal, whichever letter it has for this judge."""
    reading = disputes.reading_of(dispute, judge)
    letters = {"gold": "a" if reading.gold_is_a else "b"}
    letters["proposal"] = "b" if letters["gold"] == "a" else "a"
    return disputes.judge(
        reading, choice=letters.get(side, side), **{"reason": "Message 2 says so.", **fields}
    )


@pytest.mark.django_db
def test_a_judge_sees_two_letters_and_nothing_of_who_said_what(signed_in, rita, noor, item):
    dispute = opened(item, noor, origin="case", source={"run": 7})
    client = signed_in(rita)

    queue, shown = page(client, URL), page(client, f"{URL}{dispute.pk}/judge/")

    for text in (queue, shown):
        assert "It is said later." not in text
        assert "noor" not in text
        assert "case of a run" not in text
    assert client.get(f"{URL}{dispute.pk}/").url == f"{URL}{dispute.pk}/judge/"
    assert "A is right" in shown
    assert "B is right" in shown
    reading = DisputeReading.objects.get()
    mine = client.get(f"{URL}{dispute.pk}/judge/").context["sides"]
    sources = {side.letter: side.label[0].sources for side in mine}
    gold, proposal = ("A", "B") if reading.gold_is_a else ("B", "A")
    assert sources == {gold: [0], proposal: [2]}


@pytest.mark.django_db
def test_nothing_in_the_form_of_a_label_tells_gold_from_the_proposal(
    signed_in, rita, noor, item, monkeypatch
):
    """Two sides that say the same: the page must not change with the letters."""
    gold_label = {
        **label_in(item),
        "id": "REQ-007",
        "confidence": 0.9,
        "action": "One line.\nAnother.",
        "source_messages": [2, 0],
    }
    turned = dict(reversed(gold_label.items()))
    proposal = {
        **turned,
        "id": "REQ-001",
        "confidence": 0.4,
        "action": "One line.\r\nAnother.",
        "source_messages": [0, 2],
    }
    dispute = opened(item, noor, proposal={**label_in(item), "source_messages": [2]})
    drawn: dict[bool, str] = {}
    for gold_is_a in (True, False):
        sides = (gold_label, proposal) if gold_is_a else (proposal, gold_label)
        monkeypatch.setattr("labeling.views.disputes._sides", lambda *_, sides=sides: sides)
        text = signed_in(rita).get(f"{URL}{dispute.pk}/judge/").content.decode()
        drawn[gold_is_a] = re.sub(r"\w{64}", "", text)  # the tokens of forms

    assert drawn[True] == drawn[False]
    assert "0.9" not in drawn[True]


@pytest.mark.parametrize(
    ("layer", "gold_label", "proposal"),
    [
        (
            "arc",
            {"phases": [{"uid": "p", "evidence": [3, 1]}]},
            {"phases": [{"evidence": [1, 3], "uid": "p"}]},
        ),
        ("extraction", {"title": "A", "priority": None}, {"title": "A", "priority": ""}),
    ],
)
def test_the_blind_form_of_a_label_has_one_order_and_no_empty_fields(layer, gold_label, proposal):
    assert json.dumps(blind(layer, gold_label)) == json.dumps(blind(layer, proposal))


@pytest.mark.django_db
def test_a_judges_own_label_keeps_what_judges_are_not_shown(signed_in, rita, noor, item):
    dispute = opened(item, noor)
    client = signed_in(rita)
    form = client.get(f"{URL}{dispute.pk}/judge/").context["own"]
    fields = {f"label-{name}": form[name].value() for name in form.fields}
    sent = {name: "" if value is None else value for name, value in fields.items()}
    own = {"choice": "neither", "own": "label", "reason": "Message 1."}

    client.post(f"{URL}{dispute.pk}/judge/", {**sent, **own, "label-source_messages": "1"})

    label = DisputeVerdict.objects.get().label
    assert label == {**label_in(item), "source_messages": [1]}


@pytest.mark.django_db
def test_letters_are_drawn_for_each_judge_and_stay(people, project, item, monkeypatch):
    draws = iter([0, 1])
    monkeypatch.setattr("secrets.randbelow", lambda _: next(draws))
    dispute = opened(item, people["noor"])

    first = disputes.reading_of(dispute, people["rita"])
    again = disputes.reading_of(dispute, people["rita"])
    other = disputes.reading_of(dispute, people["admin"])

    assert (first.pk, first.gold_is_a, other.gold_is_a) == (again.pk, True, False)


@pytest.mark.django_db
def test_a_verdict_decides_and_the_next_release_holds_the_corrected_label(
    signed_in, rita, noor, project, item
):
    dispute = opened(item, noor)
    client = signed_in(rita)
    page(client, f"{URL}{dispute.pk}/judge/")
    letter = "b" if DisputeReading.objects.get().gold_is_a else "a"

    response = client.post(
        f"{URL}{dispute.pk}/judge/", {"choice": letter, "reason": "Message 2 says so."}
    )

    assert response.url == f"{URL}next/"
    outcome = DisputeOutcome.objects.get()
    assert (outcome.kind, outcome.label["source_messages"]) == ("corrected", [2])
    assert PendingUpdate.objects.filter(conversation=item.conversation_id).exists()
    newer = gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))
    content = newer.items.get(item_id=item.item_id).content
    assert content["gold"]["requirements"][0]["source_messages"] == [2]
    row = content["provenance"]["corrections"][0]
    assert row["before"]["source_messages"] == [0]
    assert (row["dispute"], row["release"]) == (dispute.pk, "orders@1")
    uid = label_in(item)["uid"]
    assert content["provenance"]["labels"][uid]["how"] == "disputed"
    assert content["provenance"]["how"] == "adjudicated"
    assert verify(newer) == []
    others = newer.items.exclude(item_id=item.item_id)
    assert [other.content["provenance"]["how"] for other in others] == ["unanimous"]


@pytest.mark.django_db
def test_a_decision_made_later_overrides_the_correction(rita, noor, project, item):
    from labeling.services.settling import adjudications

    verdict(opened(item, noor), rita, "proposal")
    adjudications.decide(
        conversation=item.conversation,
        layer="extraction",
        payload={"requirements": [label_in(item)]},
        reason="As it was.",
        by=rita,
    )

    newer = gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))

    content = newer.items.get(item_id=item.item_id).content
    assert content["gold"]["requirements"][0]["source_messages"] == [0]
    assert "corrections" not in content["provenance"]


@pytest.mark.django_db
def test_who_opened_it_or_has_judged_or_labelled_it_does_not_judge(people, project, item):
    dispute = opened(item, people["noor"])
    ana = people["ana"]
    Membership.objects.create(project=project, user=ana, role="researcher")

    refused = {
        name: disputes.standing(dispute, people[name]).why_not for name in ("noor", "ana", "rita")
    }
    verdict(dispute, people["rita"], "both")

    assert refused["noor"].code == "dispute.own"
    assert refused["ana"].code == "dispute.labelled_it"  # rita has not
    assert refused["rita"] is None
    assert disputes.standing(dispute, people["rita"]).why_not.code == "dispute.closed"
    with pytest.raises(disputes.NotTheJudge):
        disputes.reading_of(dispute, people["noor"])


@pytest.mark.django_db
def test_who_labelled_it_judges_when_nobody_else_is_left(people, project, item):
    """Neither a judge with a verdict nor a closed account can do it for them."""
    project.dispute_judges = 2
    project.save()
    ana, olga = people["ana"], people["olga"]
    for user in (ana, olga):
        Membership.objects.create(project=project, user=user, role="researcher")
    dispute = opened(item, people["noor"])
    verdict(dispute, people["rita"], "gold")
    assert disputes.standing(dispute, ana).why_not.code == "dispute.labelled_it"

    olga.is_active = False
    olga.save()

    assert disputes.standing(dispute, ana).why_not is None


@pytest.mark.django_db
def test_who_only_opened_a_test_dispute_says_why_before_seeing_its_sides(
    signed_in, people, project
):
    factories.make_conversations(project, 1)
    Conversation.objects.update(split="test")
    tested = factories.make_release(project, items=1).items.get()
    dispute = opened(tested, people["noor"])
    disputes.reading_of(dispute, people["admin"])
    Membership.objects.create(project=project, user=people["admin"], role="researcher")
    verdict(dispute, people["rita"], "gold")
    url = f"{URL}{dispute.pk}/"

    assert signed_in(people["rita"]).get(url).status_code == 200
    assert signed_in(people["admin"]).get(url).status_code == 302


@pytest.mark.django_db
def test_without_a_majority_a_lead_decides(signed_in, people, project, item):
    project.dispute_judges = 2
    project.save()
    rita, noor, admin = people["rita"], people["noor"], people["admin"]
    dispute = opened(item, admin)
    verdict(dispute, rita, "gold")
    assert disputes.standing(dispute, noor).state == "open"
    verdict(dispute, noor, "proposal")

    shown = page(signed_in(rita), f"{URL}{dispute.pk}/")
    response = signed_in(rita).post(
        f"{URL}{dispute.pk}/decide/", {"accept": "1", "reason": "The text says so."}
    )

    assert "no majority: a lead decides" in shown
    assert response.status_code == 302
    outcome = DisputeOutcome.objects.get()
    assert (outcome.kind, outcome.decided_by) == ("corrected", rita)
    assert signed_in(noor).post(f"{URL}{dispute.pk}/decide/").status_code == 403


@pytest.mark.django_db
def test_a_dispute_says_what_is_wrong_with_it(people, item):
    noor, label = people["noor"], label_in(item)

    def code(**fields: Any) -> str:
        with pytest.raises(disputes.DisputeRefused) as refused:
            opened(item, noor, **fields)
        return refused.value.fact.code

    assert code(reason=" ") == "dispute.no_reason"
    assert code(proposal=label) == "dispute.nothing_changed"
    assert code(uid="nobody") == "dispute.no_label"
    assert code(uid="", proposal=None) == "dispute.no_label"
    assert code(layer="qa") == "dispute.other_layer"
    assert code(proposal={**label, "source_messages": [99]}) == "dispute.broken_label"
    opened(item, noor)
    assert code() == "dispute.open_already"


@pytest.mark.django_db
def test_a_dispute_is_withdrawn_by_its_opener_or_a_lead(signed_in, people, item):
    dispute = opened(item, people["noor"])
    Membership.objects.create(project=item.release.project, user=people["olga"], role="researcher")

    signed_in(people["olga"]).post(f"{URL}{dispute.pk}/withdraw/")
    assert not DisputeOutcome.objects.exists()
    signed_in(people["noor"]).post(f"{URL}{dispute.pk}/withdraw/", {"reason": "My mistake."})

    assert DisputeOutcome.objects.get().kind == "withdrawn"
    opened(item, people["noor"])  # again


@pytest.mark.django_db
def test_who_labels_a_conversation_blind_sees_none_of_its_disputes(
    signed_in, people, project, item
):
    dispute = opened(item, people["noor"])
    rita = people["rita"]
    Membership.objects.create(project=project, user=rita, role="annotator")
    text = Conversation.objects.get(pk=item.conversation_id)
    rounds.open_round(project=project, kind="calibration", by=rita, conversations=[text])
    client = signed_in(rita)

    assert f"Dispute {dispute.pk}" not in page(client, URL)
    assert client.get(f"{URL}{dispute.pk}/judge/").status_code == 403
    assert client.get(f"{URL}next/").url == URL


@pytest.mark.django_db
def test_the_queue_costs_the_same_however_many_disputes_there_are(signed_in, rita, noor, project):
    release = factories.make_release(project, items=4)
    items = list(release.items.all())
    client = signed_in(rita)
    opened(items[0], noor)
    few = len(queries(client, URL))
    for item in items[1:]:
        opened(item, noor)

    assert len(queries(client, URL)) == few


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Dispute, DisputeReading, DisputeVerdict, DisputeOutcome])
def test_nothing_of_a_dispute_can_be_changed_or_deleted(rita, noor, item, model):
    verdict(opened(item, noor), rita, "proposal")
    table = model._meta.db_table

    for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
        with (
            pytest.raises(DatabaseError),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


# --- gold from elsewhere --------------------------------------------------------------------------


def imported(project, item: GoldItem, name: str = "published") -> GoldItem:
    line = json.dumps(item.content)
    outcome = import_gold(
        project_slug=project.slug,
        layer="extraction",
        files=[("published.jsonl", BytesIO(line.encode()))],
        name=name,
    )
    return outcome.release.items.get()


@pytest.mark.django_db
def test_imported_gold_is_copied_with_the_corrected_label(signed_in, rita, noor, project, item):
    published = imported(project, item)
    verdict(opened(published, noor), rita, "proposal")
    url = "/projects/orders/gold/published/1/"
    shown = page(signed_in(rita), url)

    response = signed_in(rita).post(f"{url}corrections/")

    assert "1 label was corrected after a dispute" in shown
    assert response.url == "/projects/orders/gold/published/2/"
    newer = published.release.children.get()
    content = newer.items.get().content
    assert content["gold"]["requirements"][0]["source_messages"] == [2]
    assert content["provenance"]["how"] == "imported"
    assert content["provenance"]["corrections"][0]["decided_by"] == ["annotator-4"]
    assert verify(newer) == []
    with pytest.raises(gold.NothingChanged):
        corrections.freeze_corrections(newer)
    # the release that was labelled here does not change with it
    with pytest.raises(gold.NothingChanged):
        gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))


@pytest.mark.django_db
def test_who_corrected_imported_gold_here_is_named_to_leads(signed_in, rita, noor, project, item):
    published = imported(project, item)
    verdict(opened(published, noor), rita, "proposal")
    newer = corrections.freeze_corrections(published.release).items.get()
    url = f"/projects/orders/gold/published/2/items/{newer.item_id}/"

    assert "decided by rita." in page(signed_in(rita), url)
    assert "decided by annotator-4." in page(signed_in(noor), url)

    taken_over = imported(project, item, name="elsewhere")
    taken_over.canonical = newer.canonical  # its dispute is one of another project
    content = pseudonyms.content_of(taken_over, pseudonyms.names_of(project))
    assert content["provenance"]["corrections"][0]["decided_by"] == ["annotator-4"]


@pytest.mark.django_db
def test_gold_that_was_labelled_here_is_not_copied(rita, noor, item):
    verdict(opened(item, noor), rita, "proposal")

    with pytest.raises(corrections.LabelledHere):
        corrections.freeze_corrections(item.release)


@pytest.mark.django_db
def test_a_reader_opens_a_dispute_from_the_page_of_an_item(signed_in, noor, item):
    label = label_in(item)
    client = signed_in(noor)
    items = f"/projects/orders/gold/orders/1/items/{item.item_id}/"
    shown = client.get(items).content.decode()
    address = f"/projects/orders/gold/orders/1/dispute/{item.item_id}/"
    address += f"?layer=extraction&label={label['uid']}"
    assert address.replace("&", "&amp;") in shown
    form = client.get(address).context["label_form"]
    fields = {f"label-{name}": form[name].value() for name in form.fields}
    sent = {name: "" if value is None else value for name, value in fields.items()}

    response = client.post(
        address,
        {**sent, "label-source_messages": "1, 3", "wish": "change", "reason": "See 3."},
    )

    dispute = Dispute.objects.get()
    assert response.url == f"{URL}{dispute.pk}/"
    assert dispute.proposal == {**label, "source_messages": [1, 3]}
    assert "disputed" in page(client, items)


@pytest.mark.parametrize("stored", ["One line.\nAnother.", "One line.\r\nAnother."])
def test_line_ends_of_a_browser_change_nothing(stored):
    label = {"uid": "a", "title": "T", "action": stored}
    form = LabelForm(
        "extraction",
        {"label-title": "T", "label-action": "One line.\r\nAnother."},
        label=label,
    )

    assert form.is_valid(), form.errors
    assert form.value() == label
    changed = LabelForm("extraction", {"label-action": "One\r\nMore"}, label=label)
    assert changed.is_valid()
    assert changed.value()["action"] == "One\nMore"
