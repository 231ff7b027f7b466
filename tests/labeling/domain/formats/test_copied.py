"""Chats and transcripts as pages and programs write them: the same two people, in many forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.labeling.domain.formats.test_conversations import everything, problems, records

ANA, BEN = "I want to book online.", "When would you do that?"


def said(data: Any, name: str = "talk") -> list[tuple[str, str]]:
    text = data if isinstance(data, str) else json.dumps(data)
    (record,) = records(text, name=name)
    return [(turn.speaker or turn.role, turn.content) for turn in record.turns]


@pytest.mark.parametrize(
    "text",
    [
        f"Ana Costa\n  2:05 PM\n{ANA}\n\nBen Lee\n  2:06 PM\n{BEN}\n",
        f"Ana Costa\n{ANA}\n\nBen Lee\n\n{BEN}\n\nAna Costa\nHi\n\nBen Lee\nHi\n",
        f"00:05\nAna Costa\n{ANA}\n\n00:12\nBen Lee\n{BEN}\n\n"
        "00:13\nAna Costa\nHi\n\n00:14\nBen Lee\nHi\n",
        f"Ana Costa: {ANA}\nBen Lee: {BEN}\nAna Costa (cont'd): Hi\nBen Lee (CONT\u2019D): Hi\n",
    ],
)
def test_names_above_and_times_below(text: str) -> None:
    both = [("Ana Costa", ANA), ("Ben Lee", BEN)]
    assert said(text) in (both, [*both, ("Ana Costa", "Hi"), ("Ben Lee", "Hi")])


def test_words_that_come_back_in_a_text_without_speakers_are_no_names() -> None:
    text = "Minutes\n\nBudget\nwe have 5000\n\nBudget\nagain\n\nTime\nlate\n\nTime\nlater\n"
    assert problems(text, "auto") == [(None, "file.no_speaker_lines")]


@pytest.mark.parametrize(
    "text",
    [
        f"[00:00:05.000 --> 00:00:09.000]  {ANA}\n[00:00:12.000 --> 00:00:15.000]  {BEN}\n",
        f"0:05\n{ANA}\n0:12\n{BEN}\n",
        f"0:05 {ANA}\n0:12 {BEN}\n",
    ],
)
def test_where_nobody_is_named_each_time_begins_a_message(text: str) -> None:
    assert said(text) == [("speaker", ANA), ("speaker", BEN)]
    (record,) = records(text)
    assert [turn.time and turn.time.second for turn in record.turns] == [5, 12]


def test_subtitles_of_substation_alpha_stand_in_the_order_of_their_times() -> None:
    text = (
        "[Script Info]\n[Events]\nFormat: Start, End, Name, Text\n"
        f"Dialogue: 0:00:12.00,0:00:14.00,Ben,{BEN}\n"
        "Comment: 0:00:01.00,0:00:02.00,,check, please\n"
        "Dialogue: 0:00:05.00,0:00:09.00,Ana,I want to {\\an8\\c&H00&}book,\\Nonline, yes\n"
    )
    assert said(text) == [("Ana", "I want to book, online, yes"), ("Ben", BEN)]
    (entry,) = everything(text)
    left = [left.text for left in entry[1].left_out]
    assert "Comment: 0:00:01.00,0:00:02.00,,check, please" in left
    assert problems(text.replace("0:00:12.00", "soon"), "ass") == [(4, "file.bad_cue_time")]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [("talk", "<?xml version='1.0'?><tt/>", "it is XML"), ("a.eml", "From: Ana", "it is mail")],
)
def test_a_file_of_another_kind_is_told_what_to_do(name: str, text: str, why: str) -> None:
    (found,) = everything(text, name=name)
    assert found.reason.code.startswith(why)


AT = ("2026-01-31T14:05:00Z", "2026-01-31T14:06:00Z")


@pytest.mark.parametrize(
    "document",
    [
        {
            "messages": [
                {
                    "creator": {"name": "Ana"},
                    "created_date": "Saturday, January 31, 2026 at 2:05:10 PM UTC",
                    "text": ANA,
                },
                {
                    "creator": {"name": "Ben"},
                    "created_date": "Saturday, January 31, 2026 at 2:06:10 PM UTC",
                    "text": BEN,
                },
            ]
        },
        {
            "conversations": [
                {
                    "id": "1",
                    "MessageList": [
                        {"originalarrivaltime": AT[1], "content": BEN, "from": "Ben"},
                        {"originalarrivaltime": AT[0], "content": ANA, "from": "Ana"},
                    ],
                }
            ]
        },
        [
            {
                "dmConversation": {
                    "messages": [
                        {"messageCreate": {"senderId": "Ben", "text": BEN, "createdAt": AT[1]}},
                        {"messageCreate": {"senderId": "Ana", "text": ANA, "createdAt": AT[0]}},
                    ]
                }
            }
        ],
        {
            "ticket": {
                "comments": [{"author_id": "Ana", "body": ANA}, {"author_id": "Ben", "body": BEN}]
            }
        },
    ],
    ids=["google chat", "skype", "x", "zendesk"],
)
def test_chats_of_other_programs_the_oldest_first(document: Any) -> None:
    assert said(document) == [("Ana", ANA), ("Ben", BEN)]


@pytest.mark.parametrize(
    "document",
    [
        {
            "input": {"messages": [{"role": "user", "content": ANA}]},
            "output": {"role": "assistant", "content": BEN},
        },
        {"input": [{"role": "user", "content": ANA}], "output": BEN},
        {"input": [{"role": "user", "content": ANA}], "output": {"content": BEN}},
        {
            "input": [{"role": "user", "content": ANA}],
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": BEN}],
                }
            ],
        },
        {
            "messages": [
                {"role": "user", "parts": [{"type": "text", "content": ANA}]},
                {"role": "assistant", "parts": [{"type": "text", "content": BEN}]},
            ]
        },
    ],
)
def test_what_a_model_was_asked_and_said(document: Any) -> None:
    assert said(document) == [("user", ANA), ("assistant", BEN)]
