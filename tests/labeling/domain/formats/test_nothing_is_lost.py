"""Every word of a file is in a message, or in the list of what was left out; no file crashes."""

from __future__ import annotations

import csv
import json
import re
from io import BytesIO, StringIO
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.conversations.formats import chatlogs
from labeling.conversations.formats.conversations import READERS, read
from labeling.conversations.formats.reading import json_lines, json_list, json_objects
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.formats.times import order_of
from labeling.conversations.rules.importing import Problem, Record

WORD = re.compile(r"w[0-9a-f]{8}")
counter = st.integers(0, 2**32 - 1).map(lambda number: f"w{number:08x}")
TEXTS = st.lists(counter, min_size=1, max_size=4).map(" ".join)
SAID_PARTS = st.one_of(
    TEXTS,
    st.builds(lambda t: {"type": "text", "text": t}, TEXTS),
    st.builds(lambda t: {"type": "text", "text": {"value": t, "annotations": []}}, TEXTS),
    st.builds(
        lambda t, kind: {"type": kind, "text": t},
        TEXTS,
        st.sampled_from(["input_text", "output_text"]),
    ),
    st.builds(lambda t: {"type": "refusal", "refusal": t}, TEXTS),
)
OTHER_PARTS = st.one_of(
    st.builds(lambda t: {"type": "thinking", "thinking": t}, TEXTS),
    st.builds(lambda t: {"type": "reasoning", "summary": [{"text": t}]}, TEXTS),
    st.builds(lambda t: {"type": "tool_use", "name": "find", "input": {"q": t}}, TEXTS),
    st.builds(lambda t: {"type": "tool_result", "content": [{"text": t}]}, TEXTS),
    st.builds(lambda t: {"type": "image_url", "image_url": {"url": t}}, TEXTS),
    st.builds(lambda t: {"type": "never heard of", "payload": t}, TEXTS),
)
MESSAGES = st.one_of(
    st.builds(lambda who, t: {"role": who, "content": t},
              st.sampled_from(["user", "assistant", "system", "tool", "Dana"]), TEXTS),
    st.builds(lambda who, parts: {"role": who, "content": parts},
              st.sampled_from(["user", "assistant"]),
              st.lists(st.one_of(SAID_PARTS, OTHER_PARTS), min_size=1, max_size=4)),
    st.builds(lambda t, call: {"role": "assistant", "content": t, "tool_calls": [
        {"function": {"name": "f", "arguments": call}}]}, st.one_of(st.none(), TEXTS), TEXTS),
    st.builds(lambda t: {"role": "assistant", "content": None, "refusal": t}, TEXTS),
    st.builds(lambda t, why: {"role": "assistant", "content": t, "reasoning_content": why},
              TEXTS, TEXTS),
    st.builds(lambda who, t: {"from": who, "value": t}, st.sampled_from(
        ["human", "gpt", "function_call", "observation", "system"]), TEXTS),
    st.builds(lambda t: {"type": "function_call", "arguments": t}, TEXTS),
    st.builds(lambda who, t: {"sender": who, "text": t, "content": [{"type": "text", "text": t}]},
              st.sampled_from(["human", "assistant"]), TEXTS),
    st.builds(lambda t, thought: {"role": "model", "parts": [
        {"text": t}, {"text": thought, "thought": True}]}, TEXTS, TEXTS),
)  # fmt: skip
GOOD = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]


def everything(raw: bytes, name: str, **how: Any) -> list[Any]:
    return list(read(BytesIO(raw), format="auto", name=name, how=HowToRead(**how)))


def accounted_for(entries: list[Any]) -> set[str]:
    """The words of stored messages and of the list; all of a conversation that is left out."""
    found: set[str] = set()
    for entry in entries:
        if isinstance(entry, Problem):
            found |= set(WORD.findall(f"{entry.title} {entry.reason}"))
            continue
        record = entry[1]
        assert isinstance(record, Record)
        for text in (turn.content for turn in record.turns):
            assert "[…]" not in text
            found |= set(WORD.findall(text))
        found |= {word for each in record.left_out for word in WORD.findall(each.text)}
    return found


@given(st.lists(MESSAGES, min_size=1, max_size=6), st.sampled_from(["messages", "conversations"]))
@settings(max_examples=150, deadline=None)
def test_every_word_of_a_chat_log_is_in_a_message_or_listed(messages, key):
    raw = json.dumps({"id": "a", key: [*GOOD, *messages]}).encode()

    assert accounted_for(everything(raw, "a.json")) == set(WORD.findall(raw.decode()))


@given(st.lists(MESSAGES, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_what_machines_say_is_in_nobodys_mouth(messages):
    raw = json.dumps({"id": "a", "messages": [*GOOD, *messages]}).encode()
    machines = {
        word
        for message in messages
        if message.get("role", message.get("from")) in chatlogs.MACHINES
        or ("role" not in message and message.get("type") == "function_call")
        for word in WORD.findall(json.dumps(message))
    }
    [(_, record)] = everything(raw, "a.json")

    said = {word for turn in record.turns for word in WORD.findall(turn.content)}
    people = {
        word
        for message in messages
        if message.get("role", message.get("from")) not in chatlogs.MACHINES
        for word in WORD.findall(json.dumps(message))
    }
    assert not said & (machines - people)


@given(st.lists(st.tuples(st.booleans(), TEXTS), min_size=2, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_every_version_of_a_message_of_chatgpt_is_in_a_message_or_listed(said, data):
    nodes: dict[str, Any] = {"root": {"parent": None, "message": None}}
    current = "root"
    for at, (is_tried_again, text) in enumerate(said):
        content = {"content_type": "text", "parts": [text]}
        role = data.draw(st.sampled_from(["user", "assistant", "tool", "system"]))
        message = {"author": {"role": role}, "content": content}
        nodes[str(at)] = {"parent": current, "message": message}
        current = current if is_tried_again else str(at)
    chat = {"title": "A plan", "id": "x", "mapping": nodes, "current_node": current}
    raw = json.dumps([chat]).encode()
    entries = everything(raw, "conversations.json")

    if isinstance(entries[0], Problem):
        assert (len(entries), entries[0].title[:6]) == (1, "A plan")
    else:
        assert accounted_for(entries) == set(WORD.findall(raw.decode()))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["Ana", "Ben"]), TEXTS, TEXTS),
             min_size=1, max_size=9),
    st.sampled_from(",;\t"),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_every_word_of_a_table_is_in_a_message_or_listed(rows, delimiter):
    written = StringIO()
    writer = csv.writer(written, delimiter=delimiter)
    writer.writerows([("chat_id", "speaker", "text", "remark"), *rows])
    entries = everything(written.getvalue().encode(), "a.csv")

    is_whole = not any(isinstance(entry, Problem) for entry in entries)
    kept = {entry[1].id for entry in entries if not isinstance(entry, Problem)}
    short = {entry.title for entry in entries if isinstance(entry, Problem)}
    assert kept | short == {row[0] for row in rows}
    wanted = {word for row in rows if row[0] in kept for word in WORD.findall(row[2])}
    if is_whole:
        wanted |= {word for row in rows for word in WORD.findall(row[3])}
    assert wanted <= accounted_for(entries)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from([*chatlogs.MESSAGES, *chatlogs.WHO, *chatlogs.WHAT, *chatlogs.TIMES,
                         "mapping", "current_node", "message", "parent", "type", "id", "title",
                         "chats", "list", "chunkedPrompt", "user_profile", "thought", "refusal"]),
        inner, max_size=5),
    max_leaves=30,
)  # fmt: skip


@pytest.mark.parametrize("format", ["auto", *(f for f in READERS if f != "parquet")])
def test_no_json_crashes_a_reader(format):
    @given(JSON)
    @settings(max_examples=80, deadline=None)
    def reads(document: Any) -> None:
        for raw in (json.dumps(document), json.dumps([document, document], indent=1)):
            for entry in read(BytesIO(raw.encode()), format=format, name="a.json"):
                assert isinstance(entry, Problem) or isinstance(entry[1], Record)

    reads()


@pytest.mark.parametrize("format", ["auto", *READERS])
def test_white_space_that_only_unicode_knows_crashes_no_reader(format):
    white = ["\u0085", "\u2028", "\x1c", "\u3000\n", "\ufeff\u0085"]
    names = ["a.jsonl", "a.csv", "a.txt", "a.yaml"]
    for first, name, rest in product(white, names, ["", "\n", '\n{"id": "a"}']):
        entries = list(read(BytesIO((first + rest).encode()), format=format, name=name))
        assert all(isinstance(entry, Problem) for entry in entries)


def test_messages_alone_stand_in_the_conversations_that_they_name():
    def row(id, parent, text, role, tree):
        keys = ("message_id", "parent_id", "text", "role", "message_tree_id")
        return dict(zip(keys, (id, parent, text, role, tree), strict=True))

    rows = [
        row("a", None, "Hi", "prompter", "a"),
        row("x", None, "So", "prompter", "x"),
        row("b", "a", "Hello", "assistant", "a"),
        row("c", "a", "Another answer", "assistant", "a"),
        row("d", "c", "To that one", "prompter", "a"),
        row("y", "x", "Yes", "assistant", "x"),
    ]
    text = "\n".join(json.dumps(row) for row in rows)

    entries = list(read(BytesIO(text.encode()), format="auto", name="t.jsonl"))

    got = {entry[1].id: entry[1] for entry in entries if isinstance(entry, tuple)}
    assert {id: [turn.content for turn in record.turns] for id, record in got.items()} == {
        "a": ["Hi", "Hello"],
        "x": ["So", "Yes"],
    }
    left = [left.text for left in got["a"].left_out if left.reason.code == "left_out.other_branch"]
    assert [any(word in text for text in left) for word in ("Another answer", "To that one")] == [
        True,
        True,
    ]


def test_unicode_text_of_excel_is_a_table():
    text = "conversation_id\tspeaker\ttext\r\n1\tAna\tSchön\r\n1\tBen\tJa\r\n"

    [entry] = read(BytesIO(text.encode("utf-16")), format="auto", name="t.txt")

    assert isinstance(entry, tuple)
    assert [turn.speaker for turn in entry[1].turns] == ["Ana", "Ben"]


@pytest.mark.parametrize("reader", [json_lines, json_list, json_objects])
def test_of_two_equal_keys_none_is_taken_in_silence(reader):
    text = b'[{"output": 1, "output": 2}]' if reader is json_list else b'{"output": 1, "output": 2}'

    [fault] = reader(BytesIO(text))

    assert "key_twice" in str(fault.reason.as_json())


@pytest.mark.parametrize(
    ("as_written", "sorted_so"),
    [
        (["1.9", "1.10", "2.1"], ["1.9", "1.10", "2.1"]),
        (["1.75", "1.5", "1.25"], ["1.25", "1.5", "1.75"]),
    ],
    ids=["parts", "decimals"],
)
def test_orders_of_parts_are_told_from_decimals(as_written, sorted_so):
    place = order_of(lambda: [("a", order) for order in as_written])

    assert sorted(as_written, key=place) == sorted_so
