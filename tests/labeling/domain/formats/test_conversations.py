"""Conversations of other kinds of files: each as it is documented, and what of it is refused."""

from __future__ import annotations

import json
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from labeling.conversations.formats import tables
from labeling.conversations.formats.conversations import READERS, read
from labeling.conversations.formats.talks import HowToRead, time_in
from labeling.conversations.rules.importing import Problem, Record
from labeling.domain.errors import FileFault

PAGE = Path(__file__).parents[4] / "templates" / "docs" / "formats.md"
SAID = ["I want to book online.", "When would you do that?", "In the evening.\nAfter work."]
CHATS = ("openai", "sharegpt", "chatgpt", "whatsapp")
NEW = ("sample", *CHATS, "csv", "tsv", "parquet", "transcript", "vtt", "srt", "ass")


def records(
    data: bytes | str, format: str = "auto", name: str = "talk", **how: Any
) -> list[Record]:
    entries = everything(data, format, name, **how)
    assert not [entry for entry in entries if isinstance(entry, Problem)]
    return [entry[1] for entry in entries if not isinstance(entry, Problem)]


def everything(
    data: bytes | str, format: str = "auto", name: str = "talk", **how: Any
) -> list[Any]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read(BytesIO(raw), format=format, name=name, how=HowToRead(**how)))


def problems(data: bytes | str, format: str, **how: Any) -> list[tuple[int | None, str]]:
    entries = everything(data, format, **how)
    return [(entry.line, entry.reason.code) for entry in entries if isinstance(entry, Problem)]


def examples() -> Iterator[tuple[str, str]]:
    """The code after each heading that names a format."""
    for match in re.finditer(r"^### (\w+)\n.*?^```\w+\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        yield match[1], match[2]


EXAMPLES = dict(examples())


@pytest.mark.parametrize("format", EXAMPLES)
def test_each_example_of_the_docs_is_the_same_conversation(format):
    endings = {"openai": "jsonl", "transcript": "txt", "whatsapp": "txt"}
    endings |= dict.fromkeys(("sample", "sharegpt", "chatgpt"), "json")
    ending = endings.get(format, format)

    [record] = records(EXAMPLES[format], name=f"talk.{ending}")  # guessed by name and content

    said = [turn.content.replace("evening. After", "evening.\nAfter") for turn in record.turns]
    assert said == SAID
    roles = [turn.role for turn in record.turns]
    assert roles[0] == roles[2] == "user"
    assert roles[1] in ("analyst", "assistant")
    assert record.id.startswith("talk")
    assert {turn.speaker for turn in record.turns} == {""}


def test_a_chat_of_instagram_is_read_from_its_first_message_in_its_own_letters():
    messages = [
        {
            "sender_name": "Zo\u00c3\u00ab",
            "timestamp_ms": 1700000003000,
            "content": "Gr\u00c3\u00bc\u00c3\u009fe!",
        },
        {"sender_name": "Max", "timestamp_ms": 1700000002000, "photos": [{"uri": "a.jpg"}]},
        {
            "sender_name": "Max",
            "timestamp_ms": 1700000001000,
            "content": "Hi Zo\u00c3\u00ab \u00f0\u009f\u0098\u0080",
        },
    ]
    people = [{"name": "Max"}, {"name": "Zo\u00c3\u00ab K"}]

    [record] = records(json.dumps({"participants": people, "messages": messages}), "openai")

    said = [(turn.speaker, turn.content) for turn in record.turns]
    assert said == [("Max", "Hi Zo\u00eb \U0001f600"), ("Zo\u00eb", "Gr\u00fc\u00dfe!")]
    assert [left.text for left in record.left_out] == ["a.jpg"]


FOUND = {
    "Fireflies": [
        {"sentence": "What?", "speaker_name": "Ana"},
        {"sentence": "This.", "speaker_name": "Ben"},
    ],
    "Deepgram": {
        "results": {
            "utterances": [
                {"speaker": 0, "transcript": "What?", "start": 0.1},
                {"speaker": 1, "transcript": "This.", "start": 2.2},
            ]
        }
    },
    "Amazon Transcribe": {
        "jobName": "call",
        "results": {
            "audio_segments": [
                {"speaker_label": "spk_0", "transcript": "What?", "start_time": "0.0"},
                {"speaker_label": "spk_1", "transcript": "This.", "start_time": "2.1"},
            ]
        },
    },
    "WhisperX": {"segments": [{"start": 0.0, "text": "What?"}, {"start": 1.0, "text": "This."}]},
    "LangChain": [
        {"type": "human", "data": {"content": "What?"}},
        {"type": "ai", "data": {"content": "This."}},
    ],
    "Claude Code": [
        {"type": "user", "message": {"role": "user", "content": "What?"}, "sessionId": "s"},
        {"type": "assistant", "message": {"role": "model", "content": "This."}, "sessionId": "s"},
    ],
    "a dialogue system": {
        "dialogue_id": "d",
        "turns": [
            {"speaker": "USER", "utterance": "What?"},
            {"speaker": "SYSTEM", "utterance": "This."},
        ],
    },
    "a call of a model": {
        "model": "m",
        "input": [{"role": "user", "message": "What?"}, {"role": "bot", "text": "This."}],
    },
    "Rev": {
        "monologues": [
            {
                "speaker": 0,
                "elements": [{"value": "What", "ts": 0.5}, {"value": "?"}, {"value": " "}],
            },
            {"speaker": 1, "elements": [{"value": "This.", "ts": 2.5}]},
        ]
    },
    "Google": {
        "results": [
            {"alternatives": [{"transcript": "What? This.", "words": [{"word": "What?"}]}]},
            {
                "alternatives": [
                    {
                        "words": [
                            {"startTime": "1.500s", "word": "What?", "speakerTag": 1},
                            {"startTime": "2s", "word": "This.", "speakerTag": 2},
                        ]
                    }
                ]
            },
        ]
    },
    "Google, without speakers": {
        "results": [
            {"alternatives": [{"transcript": "What?"}, {"transcript": "Watt?"}]},
            {"alternatives": [{"transcript": " This."}]},
        ]
    },
    "Azure": {
        "combinedRecognizedPhrases": [{"display": "What? This."}],
        "recognizedPhrases": [
            {"speaker": 1, "offsetInTicks": 7e5, "nBest": [{"display": "What?", "itn": "what"}]},
            {"speaker": 2, "offsetInTicks": 2e7, "nBest": [{"display": "This."}]},
        ],
    },
    "Amazon Transcribe, in words": {
        "results": {
            "items": [
                {"speaker_label": "spk_0", "alternatives": [{"content": "What"}]},
                {
                    "speaker_label": "spk_0",
                    "type": "punctuation",
                    "alternatives": [{"content": "?"}],
                },
                {"speaker_label": "spk_1", "alternatives": [{"content": "This."}]},
            ]
        }
    },
    "Intercom": {
        "type": "conversation",
        "id": "1",
        "source": {"body": "<p>What?</p>", "author": {"type": "user", "name": "Ana"}},
        "conversation_parts": {
            "conversation_parts": [{"body": "This.", "author": {"type": "admin", "name": "Ben"}}]
        },
    },
    "a log of prompts": {"prompt": "What?", "response": "This."},
    "Slack": [
        {"type": "message", "user": "U1", "ts": "1767225600.1", "text": "What?"},
        {"type": "message", "user": "U2", "ts": "1767225601.1", "text": "This."},
    ],
}


@pytest.mark.parametrize("program", FOUND)
def test_what_programs_write_of_a_talk_is_found_by_its_keys(program):
    [record] = records(json.dumps(FOUND[program]), name="talk.json")

    assert [turn.content for turn in record.turns] == ["What?", "This."]
    assert not record.left_out


def test_words_are_messages_of_those_who_say_them_in_a_row():
    words = [("A", "Can", 61.25), ("A", "we?", 62), ("B", "Yes.", 63), ("A", "Good.", 64)]
    said = [{"speaker": who, "text": text, "start": start} for who, text, start in words]

    [record] = records(json.dumps({"words": said}), name="talk.json")

    assert [turn.content for turn in record.turns] == ["Can we?", "Yes.", "Good."]
    assert [turn.time.timestamp() for turn in record.turns if turn.time] == [61.25, 63, 64]


def test_a_part_of_no_known_kind_is_read_by_its_text():
    parts = ["a", {"type": ["b"], "text": "b"}]
    messages = [{"role": role, "content": parts} for role in ("user", "assistant")]

    [record] = records(json.dumps(messages), "openai")

    assert [turn.content for turn in record.turns] == ["a\nb"] * 2


def test_a_note_of_a_team_is_no_message_of_intercom():
    parts = [
        {"part_type": kind, "body": f"<p>a &amp; b</p><p>{kind}</p>", "author": {"type": "admin"}}
        for kind in ("comment", "note", "comment")
    ]
    document = {"source": {}, "conversation_parts": {"conversation_parts": parts}}

    [record] = records(json.dumps(document), name="talk.json")

    assert [turn.content for turn in record.turns] == ["a & b\ncomment"] * 2
    assert len(record.left_out) == 2


def test_what_stands_beside_a_prompt_and_its_answer_is_listed():
    row = {"instruction": "Sum up.", "input": "A long text.", "output": "Text."}

    [record] = records(json.dumps(row), "openai")

    assert [left.text for left in record.left_out] == ["A long text."]


def test_signs_that_slack_writes_in_another_way_are_read():
    messages = [
        {"type": "message", "user": "U1", "ts": f"17672256{at}.1", "text": "a &lt; b &amp; c"}
        for at in (10, 11)
    ]

    [record] = records(json.dumps(messages), "openai")

    assert {turn.content for turn in record.turns} == {"a < b & c"}


@pytest.mark.parametrize("times", [(1, 2), (2, 2), (2, None)])
def test_a_chat_is_turned_round_only_if_all_its_times_fall(times):
    written = [time and 1_700_000_000 + time for time in times]
    messages = [{"role": "user", "content": f"m{at}", "ts": ts} for at, ts in enumerate(written)]
    [record] = records(json.dumps(messages), "openai")
    assert [turn.content for turn in record.turns] == ["m0", "m1"]


@pytest.mark.parametrize(
    ("dates", "month"),
    [(("1/2/24", "13/2/24"), 2), (("1/2/24", "1/13/24"), 1), (("1/2/24", "2/1/24"), 1)],
)
def test_whether_the_month_comes_first_is_found_from_all_dates(dates, month):
    text = "\n".join(f"{date}, 09:15 - Ana: Hi" for date in dates)

    [record] = records(text, "whatsapp")

    assert record.turns[0].time is not None
    assert record.turns[0].time.month == month


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("<Media omitted>", "[file]"),
        ("\u200eimage omitted", "[image]"),
        ("\u200eSprachnachricht weggelassen", "[audio]"),
        ("IMG-20240312-WA0001.jpg (file attached)\nLook", "[image]\nLook"),
        ("\u200e<attached: 00000012-AUDIO-2024.opus>", "[audio]"),
        ("Price list.pdf (Datei angehängt)", "[file]"),
        ("See you \u200e<This message was edited>", "See you"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("I omitted it", "I omitted it"),
    ],
)
def test_an_attachment_of_whatsapp_stands_there_by_its_kind(written, read_as):
    lines = [f"12.03.24, 09:15 - {name}: {text}" for name, text in (("Ana", written), ("Bo", "OK"))]

    [record] = records("\n".join(lines), "whatsapp")

    assert record.turns[0].content == read_as


def test_exports_of_an_iphone_have_one_name_and_different_ids():
    texts = [
        "[12.03.24, 09:15:22] Ana: Hi\n[12.03.24, 09:15:25] Bo: " + said for said in ("a", "b")
    ]

    ids = {record.id for text in texts for record in records(text, name="_chat.txt")}

    assert len(ids) == 2


def chatgpt(*messages: dict[str, Any] | None, **keys: Any) -> str:
    """Each message answers the one before."""
    nodes = {
        str(at): {"parent": str(at - 1) if at else None, "message": message}
        for at, message in enumerate((None, *messages))
    }
    chat = {"title": "A plan", "id": "abcdefghij", "mapping": nodes}
    return json.dumps([{**chat, "current_node": str(len(messages)), **keys}])


def says(role: str, *parts: Any, kind: str = "text", **keys: Any) -> dict[str, Any]:
    return {
        "author": {"role": role},
        "content": {"content_type": kind, "parts": list(parts)},
        **keys,
    }


def test_of_a_chat_of_chatgpt_only_what_its_page_shows_is_read():
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    text = chatgpt(
        says("system", ""),
        says("user", "Secret", metadata={"is_visually_hidden_from_conversation": True}),
        says("user", image, "What is it?", kind="multimodal_text"),
        says("assistant", "Let me think", kind="thoughts"),
        says("assistant", "search()", recipient="browser"),
        says("tool", "found"),
        says("assistant", "A cat.", recipient="all", create_time=1767225600.25),
    )

    [record] = records(text, name="conversations.json")

    assert record.id == "A plan abcdefgh"
    assert [(turn.role, turn.content) for turn in record.turns] == [
        ("user", "[image]\nWhat is it?"),
        ("assistant", "A cat."),
    ]
    assert len(record.left_out) == 6


@pytest.mark.parametrize(
    ("title", "id"),
    [
        ("Plan v2.0", "Plan v2.0 abcdefgh"),
        ("Rooms / halls\\ x", "Rooms halls x abcdefgh"),
        (" ", "conversation abcdefgh"),
        (None, "abcdefghij"),
    ],
)
def test_a_chat_is_called_by_its_title_whatever_it_is(title, id):
    text = chatgpt(says("user", "Hi"), says("assistant", "Yes"), title=title)

    assert [record.id for record in records(text, "chatgpt")] == [id]


def test_a_chat_longer_than_what_a_format_is_guessed_from_is_recognised():
    text = chatgpt(says("user", "Hi " * 30_000), says("assistant", "Yes"))

    assert len(records(text, name="conversations.json")) == 1


@pytest.mark.parametrize("current", ["gone", None, 3])
def test_a_chat_whose_last_message_is_not_named_is_refused(current):
    text = chatgpt(says("user", "Hi"), says("assistant", "Yes"), current_node=current)

    assert problems(text, "chatgpt") == [(1, "file.no_current_node")]


def test_messages_that_answer_each_other_in_a_circle_are_read_once():
    circle = {
        "a": {"parent": "b", "message": says("user", "Hi")},
        "b": {"parent": "a", "message": says("assistant", "Yes")},
    }

    [record] = records(chatgpt(mapping=circle, current_node="b"), "chatgpt")

    assert len(record.turns) == 2


def test_the_docs_have_an_example_of_each_new_format():
    assert set(EXAMPLES) | {"tsv", "parquet"} == set(NEW)
    assert set(READERS) - set(NEW) == {"native", "labelstudio", "doccano"}


def test_times_are_dates_or_how_far_into_a_recording():
    for format, first in (("csv", "2026-01-31T14:05"), ("vtt", "1970-01-01T00:00:05")):
        [record] = records(EXAMPLES[format], format)
        assert record.turns[0].time is not None
        assert record.turns[0].time.isoformat().startswith(first)
    [record] = records(EXAMPLES["transcript"], "transcript")
    assert [turn.time.second for turn in record.turns if turn.time] == [5, 12, 20]


def test_an_id_that_is_made_stays_the_same_and_tells_texts_apart():
    first, other = (EXAMPLES["openai"].replace("online", word) for word in ("online", "here"))

    ids = [record.id for record in records(first + other + first, "openai", "chats.jsonl")]

    assert ids[0] == ids[2] != ids[1]
    assert re.fullmatch(r"chats-[0-9a-f]{10}", ids[0])


def test_rows_of_a_conversation_may_lie_apart_and_be_ordered_by_a_column():
    rows = [
        ("b", "Ana", "b2", "10"),
        ("a", "Ana", "a1", "1"),
        ("b", "Ben", "b1", "9"),
        ("a", "Ben", "a2", "2"),
    ]
    text = "chat_id\tspeaker\ttext\tturn\n" + "\n".join("\t".join(row) for row in rows)

    got = {record.id: [turn.content for turn in record.turns] for record in records(text, "tsv")}

    assert got == {"b": ["b1", "b2"], "a": ["a1", "a2"]}
    unordered = records(text, "tsv", columns={"order": tables.NO_COLUMN})
    assert [turn.content for turn in unordered[0].turns] == ["b2", "b1"]


TIMED = [("Ana", "1", "{}T21:15:00Z"), ("Ben", "2", "{}T22:15:00Z"), ("Ana", "3", "{}T23:15:00Z")]


def test_times_put_rows_in_order_where_no_column_does():
    rows = [",".join(row).format("2024-03-12") for row in TIMED]
    texts = lambda lines, **columns: [  # noqa: E731
        turn.content
        for turn in records("\n".join(["speaker,text,time", *lines]), "csv", columns=columns)[
            0
        ].turns
    ]

    assert texts([*reversed(rows)]) == ["1", "2", "3"]
    assert texts([*reversed(rows)], order=tables.NO_COLUMN) == ["3", "2", "1"]
    assert texts([*reversed(rows), "Ben,4,"]) == ["3", "2", "1", "4"]
    assert texts(["Ana,1,23:59", "Ben,2,00:01"]) == ["1", "2"]


def test_early_dates_put_rows_in_order():
    text = "speaker,text,order\nA,3,0001-01-02\nB,2,0001-01-01T00:00\nB,1,0001-01-01T00:00+14:00"

    [record] = records(text, "csv")

    assert [turn.content for turn in record.turns] == ["1", "2", "3"]


def test_parquet_holds_messages_or_whole_chats():
    messages = {"role": ["user", "assistant"], "text": ["Hi", "Yes?"], "n": [1, 2]}
    chats = {
        "messages": [[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]]
    }
    for content in (messages, chats):
        written = BytesIO()
        parquet.write_table(pyarrow.table(content), written)

        [record] = records(written.getvalue(), name="a.bin")

        assert [(turn.role, turn.content) for turn in record.turns] == [
            ("user", "Hi"), ("assistant", "Yes?"),
        ]  # fmt: skip


def test_parquet_with_nothing_in_places_is_read():
    chats = {
        "id": ["a", None],
        "messages": [
            [{"role": "user", "content": "Hi"}, None],
            [{"role": "user", "content": "Hi"}, {"role": "user", "content": None}],
        ],
    }
    written = BytesIO()
    parquet.write_table(pyarrow.table(chats), written)

    assert problems(written.getvalue(), "parquet") == [
        (1, "file.must_be_object"), (2, "file.few_messages"),
    ]  # fmt: skip


def test_a_text_that_a_small_parquet_file_repeats_is_refused_before_it_is_held(monkeypatch):
    text, rows = "a" * 600_000, 200
    messages = {"speaker": ["A"] * rows, "text": [text] * rows}
    chats = {"messages": [[{"role": "user", "content": text}] * rows]}
    files = []
    for content in (messages, chats):
        written = BytesIO()
        parquet.write_table(pyarrow.table(content), written, compression="zstd")
        files.append(written.getvalue())
    assert max(map(len, files)) < 30_000
    monkeypatch.setattr(tables, "TABLE_CHARACTERS", 10_000_000)

    assert problems(files[0], "parquet") == [(None, "file.too_long")]
    assert problems(files[1], "parquet") == [(1, "file.conversation_too_long")]


def test_a_parquet_file_that_unpacks_to_gigabytes_is_refused_in_a_process_of_its_own():
    text = pyarrow.array(["a" * 100_000_000] * 12)
    written = BytesIO()
    table = pyarrow.table({"speaker": ["A"] * 12, "text": text})
    parquet.write_table(table, written, compression="zstd", use_dictionary=False)
    del text, table
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(written.getvalue()) < 150_000

    assert [code for _, code in problems(written.getvalue(), "parquet")] in (
        ["file.not_parquet"],
        ["file.row_too_long"] * 12,
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_parquet_is_read_in_every_encoding_of_texts(encoding):
    table = pyarrow.table({"speaker": ["A", "B"] * 20, "text": ["Hi", "Hi there"] * 20})
    written = BytesIO()
    kinds = {"speaker": encoding, "text": encoding}
    parquet.write_table(table, written, use_dictionary=False, column_encoding=kinds)

    [record] = records(written.getvalue(), name="a.parquet")

    assert [turn.content for turn in record.turns] == ["Hi", "Hi there"] * 20


def test_a_row_of_parquet_has_the_limit_of_every_row():
    written = BytesIO()
    parquet.write_table(
        pyarrow.table({"speaker": ["A"] * 3, "text": ["a", "b" * 1_100_000, "c"]}), written
    )

    assert problems(written.getvalue(), "parquet") == [(2, "file.row_too_long")]


def test_who_is_who_can_be_said_by_name_and_for_everybody_else():
    text = "Note: all of it\nDana: Hello\nZoé: Hi\nNote: that\nمنى: نعم\n"

    [record] = records(text, "transcript", roles={"Note": "text", "Dana": "analyst", "*": "user"})

    assert [(turn.role, turn.speaker, turn.content) for turn in record.turns] == [
        ("analyst", "Dana", "Hello"),
        ("user", "Zoé", "Hi\nNote: that"),
        ("user", "منى", "نعم"),
    ]
    [before] = record.left_out
    assert before.reason.code == "left_out.before_anybody"
    [other] = records(text, "transcript", roles={"Note": "-"})
    assert [turn.content for turn in other.turns] == ["Hello", "Hi", "نعم"]


def test_roles_hold_for_native_files_too():
    line = {"id": "a", "messages": [{"role": "x", "content": "1"}, {"role": "y", "content": "2"}]}

    [record] = records(json.dumps(line), "native", roles={"x": "user"})

    assert [turn.role for turn in record.turns] == ["user", "y"]


def test_what_machines_read_is_left_out_unless_it_is_asked_for():
    messages = [
        {"role": "user", "content": "Look", "name": "Dana"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "{}"},
        {
            "role": "assistant",
            "content": [{"type": "image_url"}, {"type": "text", "text": "A cat"}],
        },
    ]
    line = json.dumps({"messages": messages})

    [record], [asked] = records(line, "openai"), records(line, "openai", roles={"tool": "tool"})

    assert [turn.content for turn in record.turns] == ["Look", "[image]\nA cat"]
    assert (record.turns[0].role, record.turns[0].speaker, len(record.left_out)) == (
        "user",
        "Dana",
        3,
    )
    assert [turn.role for turn in asked.turns] == ["user", "tool", "assistant"]


def test_a_dash_before_a_line_of_a_cue_is_somebody_else():
    cue = "00:00:01,000 --> 00:00:02,000\n"

    [record] = records(f"{cue}- Hi there\n<i>-Hello</i>\nyou\n\n{cue}From 3\n-5 degrees", "srt")
    [named] = records(f"{cue}Ana: So?\n- Yes\n\n{cue}- Ben: No\n- Ana: Oh\nwell", "srt")

    assert [turn.content for turn in record.turns] == [
        "Hi there", "Hello you", "From 3 -5 degrees",
    ]  # fmt: skip
    assert [(turn.speaker or turn.role, turn.content) for turn in named.turns] == [
        ("Ana", "So?"), ("speaker", "Yes"), ("Ben", "No"), ("Ana", "Oh well"),
    ]  # fmt: skip


def test_names_that_cannot_be_stored_are_refused_and_not_counted():
    names: Counter[str] = Counter()
    messages = [{"role": "user", "content": "Hi"}, {"role": "\ud83d", "content": "b"}]

    assert problems(json.dumps({"messages": messages}), "openai", names=names)

    assert names == {"user": 1}


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("202601311405", "2026-01-31T14:05:00"),
        ("20260131140559", "2026-01-31T14:05:59"),
        ("1769868300000", "2026-01-31T14:05:00+00:00"),
    ],
)
def test_digits_alone_are_a_date_or_count_from_1970(written, read_as):
    assert time_in(written) == read_as


@pytest.mark.parametrize("written", ["20261331140500", "99999999999", "100000000", "4102444800"])
def test_digits_that_make_no_likely_time_are_refused(written):
    with pytest.raises(FileFault, match="no_time_known"):
        time_in(written)


@pytest.mark.parametrize(
    ("format", "data", "line", "code"),
    [
        ("openai", '{"messages": [{"role": "user", "content": 5}]}', 1, "file.must_be_text"),
        ("openai", '{"messages": [{"content": "Hi"}]}', 1, "file.missing"),
        ("openai", '\n{"rows": []}', 2, "file.no_messages"),
        ("openai", '{"messages": []}', 1, "file.few_messages"),
        ("openai", '[{"messages": [', 1, "file.not_json"),
        ("whatsapp", "Ana: Hi", None, "file.no_whatsapp_lines"),
        ("whatsapp", "1.2.24, 9:15 - A: b\n32.13.24, 09:15 - A: b", 2, "file.no_time_known"),
        ("chatgpt", '[{"mapping": {"a": 1}, "current_node": "a"}]', 1, "file.must_be_object"),
        ("sharegpt", "[" * 100_000, 1, "file.not_json"),
        ("csv", "", None, "file.empty"),
        ("csv", "speaker,words\nA,b", 1, "file.column_not_guessed"),
        ("csv", "text,text,speaker\nA,b,c", 1, "file.column_twice"),
        ("csv", "speaker,text\nA,b,c", 2, "file.other_width"),
        ("csv", 'speaker,text\nA,"b\n' + "x\n" * 600_000, None, "file.line_is_no_row"),
        ("csv", "speaker,text,time\nA,b,yesterday", 2, "file.no_time_known"),
        ("csv", "speaker,text,turn\nA,b,first", 2, "file.no_order"),
        ("csv", "chat_id,speaker,text\n,A,b", 2, "file.row_of_no_conversation"),
        ("csv", b"speaker,text\nA,\xff", None, "file.line_no_utf8"),
        ("parquet", b"PAR1 and no more PAR1", None, "file.not_parquet"),
        ("transcript", "No one\nspeaks here.", None, "file.no_speaker_lines"),
        ("transcript", "Ana: alone", 1, "file.few_messages"),
        ("vtt", "00:01.000 --> 00:02.000\nHi", None, "file.not_webvtt"),
        ("vtt", "WEBVTT\n\nsoon --> later\nHi", None, "file.bad_cue_time"),
        ("srt", "1\nHello", None, "file.no_cues"),
        ("srt", b"\xff1", None, "file.not_utf8_at"),
        ("csv", b"\xff\xfe\x00\xd8", 1, "file.line_no_utf8"),  # marked as UTF-16, and breaks off
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(format, data, line, code):
    assert (line, code) in problems(data, format)


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-8"])
@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("csv", "conversation;speaker;text\nc;Jörg;Für 5 € – „gut“\nc;Ben;Hi\n"),
        ("transcript", "Jörg: Für 5 € – „gut“\nBen: Hi\n"),
        (
            "srt",
            "1\n00:00:01,000 --> 00:00:02,000\nJörg: Für 5 € – „gut“\n\n"
            "2\n00:00:03,000 --> 00:00:04,000\nBen: Hi\n",
        ),
        (
            "openai",
            '{"messages": [{"role": "user", "content": "Für 5 € – „gut“"},'
            ' {"role": "assistant", "content": "Hi"}]}',
        ),
    ],
)
def test_only_text_that_is_not_utf_8_is_read_as_windows_1252(format, text, encoding):
    (record,) = records(text.encode(encoding), format, encoding="windows-1252")

    assert [turn.content for turn in record.turns] == ["Für 5 € – „gut“", "Hi"]


def test_bytes_that_windows_1252_does_not_have_are_refused():
    raw = b"Ana: \x81\nBen: Hi"

    assert problems(raw, "transcript", encoding="windows-1252") == [(None, "file.not_utf8_at")]


@pytest.mark.parametrize("format", ["csv", "transcript", "openai", "native"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_windows_calls_unicode_is_read_like_utf_8(format, encoding):
    said = [{"role": "user", "content": "Grüß dich 😀"}, {"role": "analyst", "content": "Hi"}]
    text = {
        "csv": "conversation;speaker;text\r\nc;Jörg;Grüß dich 😀\r\nc;Ben;Hi\r\n",
        "transcript": "Jörg: Grüß dich 😀\r\nBen: Hi\r\n",
        "openai": json.dumps([{"messages": said}], ensure_ascii=False),
        "native": json.dumps({"id": "c", "messages": said}, ensure_ascii=False),
    }[format]

    (record,) = records(("\ufeff" + text).encode(encoding), format)

    assert [turn.content for turn in record.turns] == ["Grüß dich 😀", "Hi"]


def test_the_line_that_tells_excel_the_separator_is_no_header():
    (record,) = records("\ufeffsep=;\r\nid;speaker;text\r\n1;Ana;One, two\r\n1;Ben;Hi\r\n", "csv")

    assert [turn.content for turn in record.turns] == ["One, two", "Hi"]


def test_a_column_that_is_not_there_is_refused():
    assert problems("speaker,text\nA,b", "csv", columns={"time": "When"}) == [
        (1, "file.no_such_column")
    ]


@pytest.mark.parametrize("format", [*NEW, "auto"])
def test_no_file_makes_a_reader_fail(format):
    """Pieces of files, shuffled: problems or conversations, and never an exception."""
    draw = random.Random(17)
    pieces = [text.encode() for text in EXAMPLES.values()]
    pieces += [
        b"\0",
        b"\xff",
        b'"',
        b"{",
        b"]",
        b"-->",
        b"PAR1",
        b"WEBVTT\n\n",
        b"<v ",
        b"\r",
        b",",
    ]
    for _ in range(60):
        parts = [draw.choice(pieces) for _ in range(draw.randint(1, 4))]
        data = b"".join(part[draw.randint(0, len(part)) :] for part in parts)
        for entry in everything(data, format):
            assert isinstance(entry, Problem | tuple)
