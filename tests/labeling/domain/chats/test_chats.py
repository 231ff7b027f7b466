"""Published chats are read as they are; what is odd is kept as a fault with its place."""

import json

import pytest

from labeling.conversations.published.cases import (
    arc_labels,
    question_labels,
    read_arc_cases,
)
from labeling.conversations.published.chats import Chat, ChatRefused, read_chat
from labeling.conversations.published.splits import BadSplits, read_splits
from labeling.words import in_english
from tests.chat_files import locomo, message, question, realtalk


def chat_of(document: object, *, format: str = "realtalk", name: str = "Chat_3_A_B.json") -> Chat:
    return read_chat(name, json.dumps(document).encode(), format=format)


def kinds(chat: Chat) -> list[tuple[str, str, str]]:
    return [tuple(fault) for fault in chat.faults]


# --- REALTALK -----------------------------------------------------------------------------------


def test_sessions_are_merged_in_stable_time_order():
    late, early = "02.01.2024, 10:00:00", "01.01.2024, 10:00:00"
    chat = chat_of(
        realtalk([message("D1:1", late), message("D1:2", late)], [message("D2:1", early)])
    )

    assert chat.dia_ids == ["D2:1", "D1:1", "D1:2"]


def test_session_ten_comes_after_session_nine():
    sessions = [[message(f"D{n}:1", "01.01.2024, 10:00:00")] for n in range(1, 11)]

    assert chat_of(realtalk(*sessions)).dia_ids[-2:] == ["D9:1", "D10:1"]


def test_a_message_without_a_time_keeps_its_place():
    chat = chat_of(
        realtalk([message("D1:1", "01.01.2024, 10:00:00"), message("D1:2", ""), message("D1:3")])
    )

    assert chat.dia_ids == ["D1:1", "D1:2", "D1:3"]
    assert chat.turns[1].time is None
    assert kinds(chat) == [("no_time", "session_1[1] (D1:2)", "")]


def test_a_picture_is_the_last_line_of_its_message():
    pictured = message("D1:1", text="Look", img_file=["1.jpg"], blip_caption="a  dog\nin snow")
    bare = message("D1:2", text="", img_url=["2.jpg"])

    assert [turn.content for turn in chat_of(realtalk([pictured, bare])).turns] == [
        "Look\n[image: a dog in snow]",
        "[image]",
    ]


def test_missing_numbers_are_reported_with_the_picture_beside_them():
    chat = chat_of(
        realtalk([message("D1:2", img_file=["1.jpg"]), message("D1:5"), message("D2:2")])
    )

    assert kinds(chat) == [
        ("picture_gap", "before D1:2", "D1:1"),
        ("picture_gap", "between D1:2 and D1:5", "D1:3, D1:4"),
        ("gap", "between D1:5 and D2:2", "D2:1"),
    ]


def test_an_id_that_names_no_message_says_why():
    asked = question(evidence=["D1:1", "D1:3", "D1:9", "D7:1", "D2:1"])
    lines = [message("D1:1"), message("D1:2", img_file=["1.jpg"]), message("D1:4")]
    chat = chat_of(realtalk(lines, [message("D2:2")], qa=[asked]))

    labels = question_labels(chat, chat.questions)

    (origin,) = labels.origins.values()
    assert labels.labels[0]["evidence"] == [0]
    assert [(one["text"], one["kind"]) for one in origin["unresolved"]] == [
        ("D1:3", "picture_only"),
        ("D1:9", "past_end"),
        ("D7:1", "absent"),
        ("D2:1", "absent"),
    ]
    assert origin["unscorable"] is None


@pytest.mark.parametrize(
    ("evidence", "why", "kind"),
    [
        (["D9:9"], "none of its evidence names a message of the conversation", "unscorable"),
        ([""], "none of its evidence names a message of the conversation", "unscorable"),
        ([], "it was published without evidence", "no_evidence"),
    ],
)
def test_a_question_without_findable_evidence_is_kept_and_marked(evidence, why, kind):
    chat = chat_of(realtalk([message("D1:1"), message("D1:2")], qa=[question(evidence=evidence)]))

    labels = question_labels(chat, chat.questions)

    assert labels.labels[0]["evidence"] == []
    assert labels.origins[labels.labels[0]["uid"]]["unscorable"] == why
    assert kind in [fault.kind for fault in labels.faults]


def test_uids_stay_when_evidence_is_corrected_and_questions_move():
    lines = [message("D1:1"), message("D1:2")]
    first, twice = question("Who?", evidence=["D1:1"]), question("When?", evidence=["D1:2"])
    before = chat_of(realtalk(lines, qa=[first, twice, twice]))
    after = chat_of(realtalk(lines, qa=[twice, twice, question("Who?", evidence=["D1:2"])]))

    uids = [label["uid"] for label in question_labels(before, before.questions).labels]

    assert len(set(uids)) == 3
    moved = [label["uid"] for label in question_labels(after, after.questions).labels]
    assert moved == [uids[1], uids[2], uids[0]]


def test_a_speaker_whom_questions_call_otherwise_is_noted():
    asked = [question("What does Kate like?", evidence=["D1:1"]) for _ in range(5)]
    chat = chat_of(realtalk([message("D1:1", speaker="Emi"), message("D1:2")], qa=asked))

    noted = [fault for fault in kinds(chat) if fault[0] == "other_name" and fault[1] == "Emi"]
    assert noted == [("other_name", "Emi", "named in 0 of 5 questions; they name Kate in 5")]


def test_a_speaker_written_differently_in_the_messages_is_noted():
    chat = chat_of(realtalk([message("D1:1", speaker="A Khan"), message("D1:2", speaker="B")]))

    assert ("speaker_name", "A Khan", "the head of the file names A, B") in kinds(chat)


# --- LoCoMo -------------------------------------------------------------------------------------


def test_locomo_messages_get_their_sessions_time_and_a_second_each():
    chat = chat_of(
        locomo(("1:56 pm on 8 May, 2023", ["Hi", "Hello"]), ("12:09 am on 9 May, 2023", ["Bye"])),
        format="locomo",
    )

    assert [turn.time.isoformat() for turn in chat.turns if turn.time] == [
        "2023-05-08T13:56:00+00:00",
        "2023-05-08T13:56:01+00:00",
        "2023-05-09T00:09:00+00:00",
    ]


def test_a_number_as_answer_and_an_adversarial_question_are_kept():
    document = locomo(("1:56 pm on 8 May, 2023", ["Hi", "Hello"]))
    document["qa"] = [
        {"question": "How many?", "answer": 3, "evidence": ["D1:1"], "category": 1},
        {"question": "Why?", "adversarial_answer": "Rain", "evidence": ["D1:2"], "category": 5},
    ]
    chat = chat_of(document, format="locomo")

    labels = question_labels(chat, chat.questions)

    assert [(label["answer"], label["category"]) for label in labels.labels] == [
        ("3", "multi-hop"),
        ("", "adversarial"),
    ]
    assert labels.origins[labels.labels[1]["uid"]]["adversarial_answer"] == "Rain"
    assert [fault[:2] for fault in kinds(chat) if fault[0] != "made_time"] == [
        ("answer_number", "qa[0]"),
        ("no_answer", "qa[1]"),
    ]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (realtalk([message("D1:1"), message("D1:1")]), "the id D1:1 is in the file twice"),
        (realtalk([message("D1:1")]), "at least 2 messages, not 1"),
        (realtalk([message("1:1"), message("D1:2")]), "session_1[0]: \"dia_id\" is '1:1'"),
        (realtalk([message("D1:1", "1.1.24"), message("D1:2")]), "session_1[0]"),
        (
            realtalk([message("D1:1", text=""), message("D1:2")]),
            '"clean_text" must be text and not',
        ),
        (realtalk([message("D1:1", text="\0"), message("D1:2")]), "cannot be stored"),
        (realtalk([message("D1:1"), "no message"]), "session_1[1] must be an object"),
        (realtalk([message("D1:1"), message("D1:2")], qa=[{"answer": "x"}]), "qa[0]"),
        (realtalk([message("D1:1"), message("D1:2")], qa=[question(category=9)]), "known are 1"),
        ({"sessions": []}, "this is not a realtalk chat"),
        ([{"question": "?"}], "import it with import_gold --layer arc"),
    ],
)
def test_what_is_no_chat_is_refused_with_its_place(document, reason):
    with pytest.raises(ChatRefused) as refused:
        chat_of(document)

    assert reason in in_english(refused.value.fact)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_what_is_no_json_is_refused(raw):
    with pytest.raises(ChatRefused):
        read_chat("a.json", raw, format="realtalk")


# --- arcs and splits ----------------------------------------------------------------------------


def test_an_arc_keeps_its_phases_and_marks_those_that_cannot_be_found():
    chat = chat_of(realtalk([message("D1:1"), message("D1:2")]))
    phases = [
        {"title": "Start", "time_range": "Dec 29", "evidence_dia_ids": ["D1:2", "D1:1"]},
        {"title": "End", "evidence_dia_ids": ["D9:9"]},
    ]
    cases = read_arc_cases([{"question": "How?", "expected_phases": phases}], faults=[])

    result = arc_labels(chat, cases)

    (label,) = result.labels
    assert [
        (phase["title"], phase["time_range"], phase["evidence"]) for phase in label["phases"]
    ] == [
        ("Start", "Dec 29", [0, 1]),
        ("End", None, []),
    ]
    assert result.origins[label["uid"]]["unscorable"] is None
    assert [fault.kind for fault in result.faults] == ["absent", "phase_unscorable"]


def test_ranges_that_overlap_are_refused():
    with pytest.raises(BadSplits, match="chat_in_two chat=7 first=train second=test"):
        read_splits({"train": "1-7", "test": "7-10"})


@pytest.mark.parametrize("text", ["a-b", "7-1", "1--2", "1-99999"])
def test_a_range_that_cannot_be_read_is_refused(text):
    with pytest.raises(BadSplits, match="cannot be read"):
        read_splits({"train": text})


def test_splits_take_lists_of_ranges():
    splits = read_splits({"train": "1-4, 6", "dev": "", "test": "8-10"})

    assert [splits.of(number) for number in (4, 5, 6, 10, None)] == [
        "train",
        "",
        "train",
        "test",
        "",
    ]
