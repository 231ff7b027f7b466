"""Published chats come in with their questions as gold: all of the files, once, or nothing."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.urls import reverse

from labeling.gold.verification import verify
from labeling.models import Conversation, GoldItem, GoldRelease, ImportReport
from tests import factories
from tests.chat_files import locomo, message, question, realtalk
from tests.labeling import imports
from tests.labeling.imports import stored
from tests.pages import page
from tests.talks import copies, talk

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def chat(**keys: Any) -> dict[str, Any]:
    """Three messages, one of them with a picture; three questions, one without any evidence."""
    lines = [message("D1:1"), message("D1:3", speaker="B", img_file=["1.jpg"]), message("D1:4")]
    asked = [
        question("Who?", evidence=["D1:1; D1:3"]),
        question("When?", evidence=["D1:4", "D1:2"], category=2),
        question("Why?", evidence=[], category=3),
    ]
    return realtalk(lines, **{"qa": asked, **keys})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, document: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return write


run, refused = (
    partial(does, "import_conversations", project="talks", format="realtalk")
    for does in (imports.run, imports.refused)
)


def test_a_chat_comes_in_with_its_questions_as_gold(write):
    said = run(write("Chat_2_A_B.json", chat()))

    one = Conversation.objects.get(external_id="Chat_2_A_B")
    assert (one.split, one.speakers, one.domain) == ("train", ["A", "B"], "realtalk")
    assert [turn.content for turn in one.messages][1] == "This is D1:3.\n[image]"
    release = GoldRelease.objects.get()
    assert (str(release), release.layer) == ("talks-qa@1", "qa")
    assert "talks-qa@1 was frozen" in said
    assert verify(release) == []
    assert ImportReport.objects.get().dia_ids == {"Chat_2_A_B": ["D1:1", "D1:3", "D1:4"]}
    item = GoldItem.objects.get()
    provenance, labels = item.content["provenance"], item.content["gold"]["questions"]
    assert item.how == provenance["how"] == "imported"
    assert provenance["origin"].startswith("imported from Chat_2_A_B.json sha256 ")
    assert (len(provenance["source"]["sha256"]), provenance["annotators"]) == (64, [])
    origins = [provenance["labels"][label["uid"]] for label in labels]
    assert [label["evidence"] for label in labels] == [[0, 1], [2], []]
    assert [label["category"] for label in labels] == ["multi-hop", "temporal", "commonsense"]
    assert [one["text"] for one in origins[1]["unresolved"]] == ["D1:2"]
    assert [bool(origin["unscorable"]) for origin in origins] == [False, False, True]


def test_published_chats_need_no_name_for_their_project(write):
    said = run(write("Chat_2_A_B.json", chat()), project=None)

    assert "Project realtalk was created." in said
    assert str(GoldRelease.objects.get()) == "realtalk-qa@1"


def test_a_dry_run_and_a_second_import_change_nothing(write):
    paths = [write("Chat_2_A_B.json", chat()), write("Chat_8_A_C.json", chat())]
    nothing, tried = stored(), run(*paths, dry_run=True)
    assert stored() == nothing
    assert "2 new (6 messages)" in tried
    assert "A question without any evidence" in tried
    run(*paths)
    before = stored()

    said = run(*reversed(paths))

    assert stored() == before
    assert "0 new (0 messages), 2 unchanged" in said
    assert "Gold: unchanged" in said


def test_more_chats_join_the_gold_that_is_there(write):
    run(write("Chat_10_A_B.json", chat()))
    run(write("Chat_9_A_C.json", chat()))

    newest = GoldRelease.objects.order_by("-version")[0]
    assert str(newest) == "talks-qa@2"
    assert list(newest.items.values_list("item_id", flat=True)) == ["Chat_9_A_C", "Chat_10_A_B"]
    assert verify(newest) == []


def test_corrected_evidence_is_a_new_version_with_the_same_uids(write):
    run(write("Chat_2_A_B.json", chat()))
    corrected = chat()
    corrected["qa"][2]["evidence"] = ["D1:1"]
    run(write("Chat_2_A_B.json", corrected))

    uids = [
        [label["uid"] for label in item.content["gold"]["questions"]]
        for item in GoldItem.objects.order_by("release__version")
    ]
    assert len(uids) == 2
    assert uids[0] == uids[1]


def test_what_is_no_chat_is_left_out_by_name_and_the_others_are_stored(write):
    bad = write("Chat_2_A_B.json", realtalk([message("D1:1"), message("D1:2", "yesterday")]))

    said = run(write("Chat_1_A_B.json", chat()), bad)

    assert Conversation.objects.get().external_id == "Chat_1_A_B"
    assert "1 conversations or files left out:\n  Chat_2_A_B.json: session_1[1]" in said


def test_the_published_list_of_locomo_is_a_conversation_for_each_sample(write):
    time = "1:56 pm on 8 May, 2023"
    samples = [
        locomo((time, [f"Hi from {name}", "Yes"]))
        | {"sample_id": name, "qa": [question(evidence=["D1:1"])]}
        for name in ("conv-26", "conv-30")
    ]

    said = run(write("locomo10.json", [*samples, {"sample_id": "no", "qa": []}]), format="locomo")

    assert {stored.external_id for stored in Conversation.objects.all()} == {"conv-26", "conv-30"}
    assert "locomo10.json: no: " in said
    assert "Gold: " in said
    assert GoldItem.objects.count() == 2


def test_the_number_in_a_name_only_proposes_the_split_of_a_copy(write):
    """A test chat under the name of a training chat, or under no number at all, stays test."""
    lines = talk(8, messages=60)

    def published(*talked):
        messages = [
            message(f"D1:{at}", text=line.text, speaker=line.speaker)
            for at, line in enumerate(talked, start=1)
        ]
        return realtalk(messages, qa=[question("Who?", evidence=["D1:1"])])

    run(write("Chat_8_A_B.json", published(*lines)))
    renamed = published(*copies(lines)["renamed speakers"][:40])

    copied = [write("Chat_3_x.json", renamed), write("akib.json", published(*lines[5:]))]
    said = run(*copied, waive=["duplicate=Their splits are what is tested"])
    again = run(write("Chat_3_x.json", renamed))

    splits = dict(Conversation.objects.values_list("external_id", "split"))
    assert splits == {"Chat_8_A_B": "test", "Chat_3_x": "test", "akib": "test"}
    assert 'conversation "Chat_3_x" is test: it is the same conversation as Chat_8_A_B' in said
    assert "1 unchanged" in again
    assert set(GoldItem.objects.values_list("split", flat=True)) == {"test"}
    reports = ImportReport.objects.all()
    assert {counts["split"] for report in reports for counts in report.counts} == {"test"}
    (refusal,) = refused(write("Chat_4_y.json", renamed), split="train")
    assert refusal.startswith("Chat_4_y.json: ")
    assert "(test), so it cannot be train" in refusal


def test_overlapping_ranges_are_refused_before_any_file_is_read(tmp_path, settings):
    settings.CHAT_SPLITS = {"train": "1-8", "test": "8-10"}
    path = tmp_path / "Chat_1_A_B.json"
    path.write_text("{")

    with pytest.raises(CommandError, match="Chat 8 is in the ranges of train and of test"):
        run(path)


def test_an_imported_item_shows_its_file_and_what_is_never_scored(write, researcher):
    factories.make_project("talks")
    run(write("Chat_2_A_B.json", chat()))
    text = page(researcher, reverse("gold-item", args=["talks", "talks-qa", 1, "Chat_2_A_B"]))

    assert "Imported from Chat_2_A_B.json sha256" in text
    assert "Never scored: it was published without evidence" in text
    assert "Not found: D1:2" in text
