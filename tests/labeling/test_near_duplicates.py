"""Copies among the stored conversations."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from labeling.conversations import near_duplicates
from labeling.conversations.conversations import import_files
from labeling.domain.fingerprints import fingerprint
from labeling.models import Conversation
from tests.talks import Line, talk, texts

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def native(talks: dict[str, list[Line]]) -> BytesIO:
    rows = [
        {
            "id": name,
            "messages": [
                {"role": "user", "speaker": line.speaker, "content": line.text} for line in lines
            ],
        }
        for name, lines in talks.items()
    ]
    return BytesIO("\n".join(json.dumps(row) for row in rows).encode())


def load(project: str, talks: dict[str, list[Line]], **options: Any) -> None:
    import_files(project_slug=project, files=[("talks.jsonl", native(talks))], **options)


def same_as(name: str) -> list[tuple[str, str]]:
    conversation = Conversation.objects.get(external_id=name)
    ((pk, matches),) = near_duplicates.of_conversations([conversation.pk])
    assert pk == conversation.pk
    others = Conversation.objects.select_related("project").in_bulk(
        [m.conversation for m in matches]
    )
    return [
        (others[m.conversation].project.slug, others[m.conversation].external_id) for m in matches
    ]


def test_a_copy_is_found_in_every_project_under_every_name():
    chat = talk(1, messages=120)
    load("one", {"chat": chat, "other": talk(2, messages=120)})
    load("two", {"excerpt": chat[:70], "another": talk(3, messages=20)})

    assert same_as("chat") == [("two", "excerpt")]
    assert same_as("excerpt") == [("one", "chat")]
    assert same_as("other") == []


def test_a_search_asks_a_constant_number_of_queries(django_assert_num_queries):
    load("one", {f"chat {seed}": talk(seed, messages=30) for seed in range(12)})
    prints = [fingerprint(texts(talk(seed, messages=30))) for seed in range(12)]

    with django_assert_num_queries(2):
        matches = near_duplicates.find(prints)

    assert [len(each) for each in matches] == [1] * 12


def test_a_phrase_of_many_conversations_hides_no_copy(monkeypatch):
    monkeypatch.setattr(near_duplicates, "COMMON", 3)
    greeting = Line("shop", " ".join(f"welcome{n}" for n in range(20)))
    load("one", {f"chat {seed}": [greeting, *talk(seed, messages=6)] for seed in range(10)})

    assert same_as("chat 4") == []

    load("two", {f"copy {n}": talk(50, messages=40) for n in range(6)})
    assert len(same_as("copy 5")) == 3
