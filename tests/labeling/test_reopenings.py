"""Gold that somebody doubts: decided blind, and in the next release."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from labeling.domain.errors import RuleError
from labeling.exchange import correction_files
from labeling.exchange.gold_files import import_gold
from labeling.gold import corrections, gold, reopenings
from labeling.gold.gold import NothingChanged
from labeling.gold.rules.corrections import blind
from labeling.gold.verification import verify
from labeling.models import (
    Adjudication,
    Conversation,
    GoldItem,
    GoldRelease,
    Membership,
    PendingUpdate,
    Reopening,
)
from labeling.settling import adjudications
from labeling.settling.adjudications import Decision
from labeling.work import rounds
from tests import factories
from tests.chat_files import message, question, realtalk
from tests.pages import page

pytestmark = pytest.mark.django_db
URL = "/projects/orders/reopened/"


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


@pytest.fixture
def item(project) -> GoldItem:
    return factories.make_release(project, items=2).items.order_by("position")[0]


def label_in(item: GoldItem) -> dict[str, Any]:
    return dict(item.content["gold"]["requirements"][0])


def asked(item: GoldItem, by: Any, **fields: Any) -> Reopening:
    label = label_in(item)
    values: dict[str, Any] = {
        "layer": "extraction",
        "uid": label["uid"],
        "proposal": {**label, "source_messages": [2]},
        "reason": "It is said later.",
    }
    return reopenings.ask(item=item, by=by, **{**values, **fields})


def decided(row: Reopening, judge: Any, side: str, **fields: Any) -> Adjudication:
    """``side`` gold or proposal, whichever letter it has for this judge."""
    conversation = row.item.conversation
    desk = reopenings.desk(conversation, row.layer, judge)
    assert desk is not None
    labels = [cluster.label for cluster in desk.clusters]
    for at, pair in enumerate(desk.pairs):
        if desk.clusters[at].how == "disputed":
            sides = [each.label for each in desk.clusters[at].sides]
            wanted = getattr(pair, side)
            same = [
                label
                for label in sides
                if label and wanted and reopenings.says(row.layer, label, wanted)
            ]
            labels[at] = same[0] if same else None
    decision = Decision(desk.answers_sha256, labels, **{"kind": "error", **fields})
    return reopenings.decide(conversation, row.layer, decision, by=judge)


def clusters_for(client: Client, item: GoldItem) -> list[dict[str, Any]]:
    shown = client.get(f"/adjudicate/{item.conversation_id}/?layer=extraction")
    return list(shown.context["page"]["clusters"])


def test_a_doubt_is_decided_in_adjudication_by_somebody_who_does_not_read_it(
    signed_in, rita, noor, project, item
):
    address = f"/projects/orders/gold/orders/1/items/{item.item_id}/"
    doubt = f"/projects/orders/gold/orders/1/reopen/{item.item_id}/"
    doubt += f"?layer=extraction&label={label_in(item)['uid']}"
    researcher, lead = signed_in(noor), signed_in(rita)
    assert doubt.replace("&", "&amp;") in researcher.get(address).content.decode()

    researcher.post(doubt, {"reason": "It should go."})
    row = Reopening.objects.get()
    assert "It should go." in page(researcher, f"{URL}{row.pk}/")
    assert lead.get(f"{URL}{row.pk}/").url.startswith(f"/adjudicate/{item.conversation_id}/")
    desk = page(lead, f"/adjudicate/{item.conversation_id}/?layer=extraction")
    assert "It should go." not in desk
    assert "noor" not in desk
    (cluster,) = clusters_for(lead, item)
    assert sorted(side["letter"] for side in cluster["sides"]) == ["A", "B"]
    assert sum(side["label"] is None for side in cluster["sides"]) == 1
    sent = {"answers": reopenings.desk(item.conversation, "extraction", rita).answers_sha256}
    api = reverse("api-adjudication", args=[item.conversation_id, "extraction"])
    answered = lead.post(
        api, {**sent, "labels": [None], "kind": "error"}, content_type="application/json"
    )
    assert answered.status_code == 201, answered.content
    row.refresh_from_db()
    assert (row.state, row.decision.decided_by) == ("corrected", rita)
    newer = factories.freeze(project).items.get(item_id=item.item_id)
    assert newer.content["gold"]["requirements"] == []


def test_the_next_release_holds_what_was_decided_and_says_which_label_it_changed(
    rita, noor, project, item
):
    row = asked(item, noor)
    decided(row, rita, "proposal")

    assert PendingUpdate.objects.filter(conversation=item.conversation_id).exists()
    newer = factories.freeze(project)
    content = newer.items.get(item_id=item.item_id).content
    assert content["gold"]["requirements"] == [{**label_in(item), "source_messages": [2]}]
    (correction,) = content["provenance"]["corrections"]
    assert correction["before"]["source_messages"] == [0]
    assert (correction["dispute"], correction["release"]) == (row.pk, "orders@1")
    assert content["provenance"]["labels"][label_in(item)["uid"]]["how"] == "disputed"
    assert content["provenance"]["how"] == "adjudicated"
    assert verify(newer) == []
    others = newer.items.exclude(item_id=item.item_id)
    assert [other.content["provenance"]["how"] for other in others] == ["unanimous"]


def test_gold_that_stays_keeps_its_labels_and_who_gave_them(rita, noor, project, item):
    decision = decided(asked(item, noor), rita, "gold")

    (label,) = decision.payload["requirements"]
    assert sorted(label["adopted_from"]) == ["ana", "ben", "cleo"]
    content = factories.freeze(project).items.get(item_id=item.item_id).content
    assert content["gold"]["requirements"] == [label_in(item)]
    assert "corrections" not in content["provenance"]
    assert Reopening.objects.get().state == "kept"


def test_a_decision_made_later_overrides_it(rita, noor, project, item):
    decided(asked(item, noor), rita, "proposal")
    adjudications.decide(
        conversation=item.conversation,
        layer="extraction",
        payload={"requirements": [label_in(item)]},
        reason="As it was.",
        by=rita,
    )

    content = factories.freeze(project).items.get(item_id=item.item_id).content

    assert content["gold"]["requirements"][0]["source_messages"] == [0]
    assert "corrections" not in content["provenance"]


def test_a_missing_label_is_added_with_the_next_id_which_no_judge_sees(rita, noor, project, item):
    new = {**label_in(item), "id": "REQ-070", "title": "Another wish", "source_messages": [0]}
    row = asked(item, noor, uid="", proposal=new)
    desk = reopenings.desk(item.conversation, "extraction", rita)

    assert [cluster.label["id"] for cluster in desk.clusters] == ["REQ-001", "REQ-002"]
    decided(row, rita, "proposal")

    newer = factories.freeze(project).items.get(item_id=item.item_id)
    labels = newer.content["gold"]["requirements"]
    assert [label["title"] for label in labels] == [label_in(item)["title"], "Another wish"]
    assert labels[1]["id"] != labels[0]["id"]


def test_letters_are_drawn_for_each_judge_and_stay(people, item):
    asked(item, people["noor"])

    def letters(user) -> list[Any]:
        (cluster,) = reopenings.desk(item.conversation, "extraction", user).clusters
        return [side.label["source_messages"] for side in cluster.sides]

    seen = {tuple(map(tuple, letters(user))) for user in people.values() for _ in range(2)}
    assert letters(people["rita"]) == letters(people["rita"])
    assert len(seen) == 2


def test_a_judges_own_label_keeps_what_no_judge_is_shown_if_it_is_about_these_answers(
    rita, noor, project, item
):
    asked(item, noor)
    desk = reopenings.desk(item.conversation, "extraction", rita)
    with pytest.raises(adjudications.AnswersChanged):
        reopenings.decide(item.conversation, "extraction", Decision("0" * 64, [None]), by=rita)
    own = {**desk.clusters[0].label, "id": "REQ-009", "source_messages": [1]}
    decision = Decision(desk.answers_sha256, [own], kind="error", note="Message 1.")

    made = reopenings.decide(item.conversation, "extraction", decision, by=rita)

    (label,) = made.payload["requirements"]
    assert label["id"] == label_in(item)["id"]
    assert (label["source_messages"], label["adopted_from"]) == ([1], [])


def test_who_knows_gold_decides_only_where_nobody_else_is_left(people, project, item):
    noor, rita, ana = people["noor"], people["rita"], people["ana"]
    asked(item, noor)
    Membership.objects.create(project=project, user=ana, role="researcher")
    desk = reopenings.desk(item.conversation, "extraction", rita)

    def refusals() -> list[str | None]:
        found = (reopenings.refusal(desk, people[name]) for name in ("noor", "ana", "rita"))
        return [fact and fact.code for fact in found]

    assert refusals() == ["reopening.own", "reopening.knows_gold", None]
    rita.is_active = False
    rita.save()
    assert refusals() == ["reopening.own", None, None]
    with pytest.raises(reopenings.NotTheJudge):
        decided(Reopening.objects.get(), noor, "gold")


def test_a_doubt_says_what_is_wrong_with_it(people, item):
    noor, label = people["noor"], label_in(item)

    def code(**fields: Any) -> str:
        with pytest.raises(reopenings.ReopeningRefused) as refused:
            asked(item, noor, **fields)
        return refused.value.fact.code

    assert code(reason=" ") == "reopening.no_reason"
    assert code(proposal=label) == "reopening.nothing_changed"
    assert code(uid="nobody") == "reopening.no_label"
    assert code(layer="qa") == "reopening.other_layer"
    assert code(proposal={**label, "source_messages": [99]}) == "reopening.broken_label"
    asked(item, noor)
    assert code() == "reopening.open_already"


def test_who_doubted_or_a_lead_may_withdraw_it(signed_in, people, project, item):
    noor, rita, olga = people["noor"], people["rita"], people["olga"]
    Membership.objects.create(project=project, user=olga, role="researcher")
    row = asked(item, noor)
    with pytest.raises(reopenings.NotTheJudge):
        reopenings.withdraw(row, reason="", by=olga)

    signed_in(noor).post(f"{URL}{row.pk}/", {"reason": "Message 0 says so."})
    with pytest.raises(reopenings.ReopeningRefused):
        reopenings.withdraw(row, reason="", by=rita)
    reopenings.withdraw(asked(item, noor), reason="", by=rita)

    answered = Reopening.objects.values_list("state", "answer", "answered_by__username")
    assert list(answered) == [
        ("withdrawn", "Message 0 says so.", "noor"),
        ("withdrawn", "", "rita"),
    ]


def test_what_waited_for_a_lead_in_0_6_0_is_open(noor, item):
    row = asked(item, noor)
    Reopening.objects.update(state="asked")

    import_module("labeling.migrations.0010_doubts_are_open").open_what_was_asked(apps, None)

    row.refresh_from_db()
    assert row.state == "open"


def test_who_labels_a_conversation_blind_sees_none_of_its_doubts(signed_in, people, project, item):
    row = asked(item, people["noor"])
    rita = people["rita"]
    Membership.objects.create(project=project, user=rita, role="annotator")
    text = Conversation.objects.get(pk=item.conversation_id)
    rounds.open_round(project=project, kind="calibration", by=rita, conversations=[text])
    client = signed_in(rita)

    assert item.item_id not in page(client, URL)
    assert client.get(f"{URL}{row.pk}/").status_code == 403
    assert client.get(f"/adjudicate/{item.conversation_id}/").status_code == 403


def test_a_doubt_about_a_test_item_is_read_for_a_reason(people, project, researcher):
    factories.make_conversations(project, 1)
    Conversation.objects.update(split="test")
    tested = factories.make_release(project, items=1).items.get()
    row = asked(tested, people["noor"])

    assert researcher.get(f"{URL}{row.pk}/").status_code == 302


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


def test_imported_gold_is_copied_with_the_corrected_label(rita, noor, project, item, lead):
    published = imported(project, item)
    decided(asked(published, noor), rita, "proposal")
    url = "/projects/orders/gold/published/1/"
    shown = page(lead, url)

    response = lead.post(f"{url}corrections/")

    assert "1 label was decided anew" in shown
    assert response.url == "/projects/orders/gold/published/2/"
    newer = published.release.children.get()
    content = newer.items.get().content
    assert content["gold"]["requirements"][0]["source_messages"] == [2]
    assert content["provenance"]["how"] == "imported"
    assert content["provenance"]["corrections"][0]["decided_by"] == ["annotator-4"]
    assert verify(newer) == []
    with pytest.raises(gold.NothingChanged):
        corrections.freeze_corrections(newer)
    # the release that was labeled here does not change with it
    with pytest.raises(gold.NothingChanged):
        factories.freeze(project)


def test_gold_that_was_labeled_here_is_not_copied(rita, noor, item):
    decided(asked(item, noor), rita, "proposal")

    with pytest.raises(corrections.LabeledHere):
        corrections.freeze_corrections(item.release)


# --- corrections from a file of ids ------------------------------------------------------------


@pytest.fixture
def published_release(db: None, tmp_path: Path) -> GoldRelease:
    """Two questions, which cite D1:1."""
    messages = [message(f"D1:{number}") for number in (1, 2, 3)]
    document = realtalk(messages, qa=[question("What?"), question("Who?")])
    path = tmp_path / "Chat_2_A_B.json"
    path.write_text(json.dumps(document), "utf-8")
    call_command("import_conversations", str(path), format="realtalk", project="talks", verbosity=0)
    return GoldRelease.objects.get()


@pytest.fixture
def corrections_file(tmp_path: Path, published_release: GoldRelease) -> Callable[..., Path]:
    """Corrections of the first question; the second was looked at and stays."""
    first, second = published_release.items.get().content["gold"]["questions"]
    rows: list[dict[str, Any]] = [
        {"uid": first["uid"], "published": ["D1:1"], "corrected": ["D1:3"], "reason": "Later."},
        {"uid": second["uid"], "published": ["D1:1"]},
    ]

    def write(number: int = 0, **changed: Any) -> Path:
        rows[number] |= changed
        path = tmp_path / "corrections.json"
        document = {
            "format": "assay-corrections/1",
            "layer": "qa",
            "decided_by": "a second reader",
            "labels": [{"conversation": "Chat_2_A_B", "place": "qa[0]", **row} for row in rows],
        }
        path.write_text(json.dumps(document), "utf-8")
        return path

    return write


def test_corrected_labels_make_the_next_version(published_release, corrections_file, capsys):
    call_command("import_gold", str(corrections_file()), gold="talks-qa")

    newer = published_release.children.get()
    content = newer.items.get().content
    assert [label["evidence"] for label in content["gold"]["questions"]] == [[2], [0]]
    (row,) = content["provenance"]["corrections"]
    assert (row["decided_by"], row["reason"]) == (["a second reader"], "Later.")
    assert row["before"]["evidence"] == [0]
    assert row["file"]["file"] == "corrections.json"
    assert verify(newer) == []
    assert "talks-qa@2" in capsys.readouterr().out
    with pytest.raises(NothingChanged):
        correction_files.apply(corrections_file(), newer)


@pytest.mark.parametrize(
    ("number", "changed"),
    [
        (0, {"published": ["D1:2"]}),
        (1, {"published": ["D1:2"]}),  # also of what stays
        (0, {"corrected": ["D9:1"]}),
        (0, {"uid": "nobody"}),
        (0, {"conversation": "Chat_3_A_B"}),
    ],
)
def test_gold_that_is_not_what_the_file_expects_is_refused_whole(
    published_release, corrections_file, number, changed
):
    with pytest.raises(RuleError) as refused:
        correction_files.apply(corrections_file(number, **changed), published_release)

    assert refused.value.fact.code == "corrections.other_gold"
    assert GoldRelease.objects.count() == 1


def test_a_broken_file_and_an_older_version_are_refused(
    published_release, corrections_file, tmp_path
):
    broken = tmp_path / "broken.json"
    broken.write_text('{"labels": 3}')
    with pytest.raises(RuleError, match="broken"):
        correction_files.apply(broken, published_release)
    correction_files.apply(corrections_file(), published_release)

    with pytest.raises(RuleError, match="not_newest"):
        correction_files.apply(corrections_file(), published_release)


def test_the_file_of_the_audit_is_readable():
    read = correction_files.read(settings.BASE_DIR / "fixtures" / "realtalk" / "corrections.json")

    assert (len(read.labels), sum(row.corrected is not None for row in read.labels)) == (185, 19)
