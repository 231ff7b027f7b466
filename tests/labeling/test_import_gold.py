"""Gold that was made elsewhere is frozen with its file, all of it or nothing."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from labeling.exchange.export import export
from labeling.gold import signing
from labeling.gold.verification import verify
from labeling.models import Conversation, GoldItem, GoldRelease, ImportReport, Project, Pseudonym
from labeling.schema import LAYERS
from tests import factories
from tests.chat_files import message, question, realtalk
from tests.labeling import imports
from tests.labeling.imports import stored
from tests.layers import inferred, issue
from tests.pages import page

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

Write = Callable[..., Path]
PHASES = [
    {"title": "Start", "time_range": "Dec 29", "evidence_dia_ids": ["D1:1"]},
    {"title": "End", "evidence_dia_ids": ["D1:2", "D9:9"]},
]
CASES = [{"question": "How?", "query_type": "arc_narrative", "expected_phases": PHASES}]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *lines: Any) -> Path:
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def chats(write: Write) -> Project:
    """Two stored chats, Emi with Elise and Emi with Paola."""
    files = [
        write(name, realtalk([message("D1:1"), message("D1:2")], qa=[question()]))
        for name in ("Chat_1_Emi_Elise.json", "Chat_4_Emi_Paola.json")
    ]
    imports.run("import_conversations", *files, project="talks", format="realtalk")
    return Project.objects.get()


run, refused = (
    partial(does, "import_gold", project="talks", layer="arc")
    for does in (imports.run, imports.refused)
)


def arc_items() -> list[GoldItem]:
    return list(GoldItem.objects.filter(release__layer="arc").order_by("pk"))


# --- cases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arc_cases_emi_elise.json", "realtalk_Emi_Elise_arc_cases.json"])
def test_arc_cases_join_the_chat_whose_people_the_file_names(name, write, chats):
    said = run(write(name, CASES))
    (item,) = arc_items()
    (arc,) = item.content["gold"]["arcs"]
    assert item.item_id == "Chat_1_Emi_Elise"
    assert [phase["evidence"] for phase in arc["phases"]] == [[0], [1]]
    assert verify(GoldRelease.objects.get(name="talks-arc")) == []
    assert "case[0].expected_phases[1]: Cites a message that is not in the file: D9:9" in said
    assert [fault["kind"] for fault in ImportReport.objects.order_by("-pk")[0].faults] == ["absent"]


def test_a_file_that_names_no_chat_asks_for_one(write, chats):
    path = write("cases.json", CASES)

    assert "say it with --conversation ID" in refused(path)[0]
    run(path, conversation="Chat_4_Emi_Paola")
    assert arc_items()[0].item_id == "Chat_4_Emi_Paola"


def test_two_files_about_one_chat_are_refused(write, chats):
    files = [write(f"arc_cases_{n}_emi_elise.json", CASES) for n in "ab"]

    assert "a second set of labels for Chat_1_Emi_Elise" in refused(*files)[0]


def test_questions_of_a_list_are_gold_of_their_layer(write, chats):
    cases = [{"question": "Who?", "expected_answer": "Emi", "evidence_dia_ids": ["D1:2"]}]
    path = write("qa_emi_paola.json", [{**cases[0], "category": 2}])

    run(path, layer="qa", name="more")

    (item,) = GoldRelease.objects.get(name="more").items.all()
    (label,) = item.content["gold"]["questions"]
    assert (item.item_id, label["answer"], label["evidence"]) == ("Chat_4_Emi_Paola", "Emi", [1])


def test_a_dry_run_stores_nothing(write, chats):
    before = stored()

    assert "Dry run" in run(write("arc_cases_emi_elise.json", CASES), dry_run=True)
    assert stored() == before


# --- native lines -------------------------------------------------------------------------------


def test_an_export_comes_back_in_another_project(people, tmp_path):
    release = factories.make_release(name="demo")
    export(release, format="native", folder=tmp_path)

    said = run(tmp_path / "items.jsonl", project="elsewhere", layer="extraction")

    back = GoldRelease.objects.get(project__slug="elsewhere")
    assert "Project elsewhere was created." in said
    assert "Project further would be created.\n" in run(
        tmp_path / "items.jsonl", project="further", layer="extraction", dry_run=True
    )
    assert str(back) == "elsewhere-extraction@1"
    assert [item.content["gold"] for item in back.items.all()] == [
        item.content["gold"] for item in release.items.all()
    ]
    published = back.items.all()[0].content["provenance"]["published"]
    names = {person["username"] for person in published["annotators"]}
    assert names == {"annotator-1", "annotator-2", "annotator-3"}
    assert verify(back) == []


def test_an_export_of_published_questions_comes_back_with_its_marks(chats, tmp_path):
    export(GoldRelease.objects.get(name="talks-qa"), format="native", folder=tmp_path)

    run(tmp_path / "items.jsonl", project="elsewhere", layer="qa")

    back, before = (
        GoldItem.objects.filter(release__name=name)[0].content["provenance"]["labels"]
        for name in ("elsewhere-qa", "talks-qa")
    )
    for uid, origin in back.items():
        assert origin["cited"] == before[uid]["cited"]
        assert origin["unscorable"] == before[uid]["unscorable"]


def line(**keys: Any) -> dict[str, Any]:
    gold = {"requirements": [factories.requirement(sources=[0])]}
    talk = [{"index": 0, "role": "user", "speaker": "", "content": "Track it.", "time": None}]
    return {"item_id": "a", "layer": "extraction", "conversation": talk, "gold": gold, **keys}


@pytest.mark.parametrize(
    ("layer", "label"),
    [
        ("inference", inferred("Encrypt", triggered_by=["r-1"], uid="i-1")),
        ("validation", issue("r-1", uid="v-1")),
    ],
)
def test_what_labels_refer_to_comes_with_them(layer, label, write, db):
    given = {"requirements": [factories.requirement(sources=[0], uid="r-1")]}
    gold = {LAYERS[layer].key: [label]}

    run(
        write("lines.jsonl", line(layer=layer, gold=gold, given=given)),
        project="elsewhere",
        layer=layer,
    )

    (item,) = GoldItem.objects.filter(release__project__slug="elsewhere")
    assert item.content["gold"] == gold
    assert item.content["given"] == given
    assert verify(item.release) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"given": {"issues": []}}, "to which extraction does not refer"),
        ({"layer": "events"}, "extraction was asked for"),
        ({"item_id": ""}, '"item_id" must be text and not empty'),
        ({"conversation": []}, '"conversation" has no message'),
        ({"gold": {}}, 'has no list "requirements"'),
        ({"gold": {"requirements": [{"uid": "x"}]}}, "gold.requirements.0"),
        (
            {"gold": {"requirements": [factories.requirement(sources=[7])]}},
            "There is no message 7",
        ),
        ({"split": "all"}, '"split" must be one of'),
    ],
)
def test_a_wrong_line_is_refused_with_file_line_and_reason(change, reason, write, db):
    path = write("gold.jsonl", line(item_id="fine"), line(**change))

    said = refused(path, layer="extraction", project="new")[0]

    assert said.startswith("gold.jsonl:2: ")
    assert reason in said


def test_gold_about_other_text_than_the_stored_one_is_refused(write, db):
    run(write("gold.jsonl", line()), layer="extraction", project="new")
    other = line(conversation=[{"role": "user", "content": "Something else."}])

    said = refused(write("other.jsonl", other), layer="extraction", project="new")[0]

    assert "is known with other text" in said


def test_nothing_here_is_an_answer(write, db):
    run(write("gold.jsonl", line(gold={"requirements": []})), layer="extraction", project="new")

    assert GoldItem.objects.get().content["gold"] == {"requirements": []}


def test_imported_gold_never_takes_the_name_of_gold_made_here(people, write):
    factories.make_release(name="demo")
    path = write("gold.jsonl", line())

    with pytest.raises(CommandError, match="labeled here"):
        run(path, layer="extraction", project="orders", name="demo")


# --- event lines --------------------------------------------------------------------------------

DUEE = {
    "id": "doc-1",
    "text": "Acme bought Initech in May.",
    "event_list": [
        {
            "event_type": "Acquisition",
            "trigger": "bought",
            "arguments": [
                {"role": "buyer", "argument": "Acme"},
                {"role": "price", "argument": "3 dollars"},
            ],
        }
    ],
}


def test_event_lines_become_gold_with_the_place_of_each_word(write, people, signed_in):
    said = run(write("events.jsonl", DUEE), layer="events", project="news")

    (item,) = GoldItem.objects.all()
    (event,) = item.content["gold"]["events"]
    assert event["trigger"] == {"message": 0, "start": 5, "end": 11, "text": "bought"}
    assert [argument["span"]["start"] for argument in event["arguments"]] == [0, None]
    assert "1: event_list[0].arguments[1]: Words that are not in the text" in said
    url = reverse("gold-item", args=["news", "news-events", 1, "doc-1"])
    assert "3 dollars" in page(signed_in(people["admin"]), url)


@pytest.mark.parametrize(
    "change", [{"text": ""}, {"event_list": None}, {"event_list": [{"trigger": "x"}]}]
)
def test_a_wrong_event_line_is_refused(change, write, db):
    path = write("events.jsonl", {**DUEE, **change})

    assert refused(path, layer="events", project="news")[0].startswith("events.jsonl:1: ")


# --- exports of this product -------------------------------------------------------------------


@pytest.fixture
def exported(people: dict[str, User]) -> GoldRelease:
    return factories.make_release(name="demo", items=2)


def taken(folder: Path, exported: GoldRelease) -> GoldRelease:
    export(exported, format="native", folder=folder)
    run(folder, project="elsewhere", layer=exported.layer)
    return GoldRelease.objects.get(project__slug="elsewhere")


def test_the_release_says_where_its_items_were_taken_from(exported, tmp_path):
    back = taken(tmp_path / "export", exported)

    (source,) = json.loads(back.header)["imported_from"]
    assert source["file"] == "export/items.jsonl"
    assert (source["release"], source["release_sha256"]) == (str(exported), exported.sha256)
    assert {item.how for item in back.items.all()} == {"imported"}
    assert source["signed_by"] == signing.fingerprint()
    assert back.listing == exported.listing


def test_pseudonyms_of_another_project_name_nobody_here(exported, tmp_path, signed_in, people):
    back = taken(tmp_path / "export", exported)
    Pseudonym.objects.create(project=back.project, user=people["noor"], number=1)

    shown = page(signed_in(people["admin"]), f"{back.get_absolute_url()}items/c-001/")

    assert "annotator-1" in shown
    assert "held by annotator-1, annotator-2, annotator-3" in shown


def test_a_split_that_only_the_conversation_has_refuses_the_item(project, tmp_path):
    """The item says what it says: it cannot be taken over and get a split at the same time."""
    factories.make_conversations(project, 1)
    Conversation.objects.update(split="")
    export(factories.make_release(project, items=1), format="native", folder=tmp_path / "export")
    document = json.loads((tmp_path / "export" / "items.jsonl").read_text("utf-8"))
    messages = [
        {"role": row["role"], "content": row["content"], "speaker": row["speaker"]}
        for row in document["conversation"]
    ]
    named = {key: document[key] for key in ("domain", "difficulty") if document[key]}
    stored = {"id": document["item_id"], "split": "test", **named, "messages": messages}
    (tmp_path / "texts.jsonl").write_text(json.dumps(stored), encoding="utf-8")
    call_command("import_conversations", tmp_path / "texts.jsonl", project="elsewhere")

    (said,) = refused(tmp_path / "export", project="elsewhere", layer="extraction")

    assert "its split is “” in the export and “test” here" in said
