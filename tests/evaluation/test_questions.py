"""Synthetic questions: verified, linked to their messages, and never taken for people's."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO, StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Run
from evaluation.services.run import execution
from evaluation.synthetic import questions
from evaluation.synthetic.questions import Talk
from labeling.conversations import conversations
from labeling.conversations.rules.transcripts import Message
from labeling.gold import gold
from labeling.gold.gold import NameTaken
from labeling.gold.verification import verify
from labeling.models import GoldRelease, Project
from pipelines.chat.endpoint import Endpoint
from tests.evaluation.commands import said_by
from tests.fakes import WordOverlap
from tests.llm_server import MODEL
from tests.refusals import refused

command = partial(said_by, "generate", "questions")

TEXTS = [
    "Morning! The cooking course at Brunello starts tomorrow evening.",
    "Lovely. I bought saffron and a copper kettle there last winter.",
    "My brother Anton wants to learn sailing near Trieste.",
    "Sailing frightens me since the storm with your cousin.",
    "Do you still paint watercolours of lighthouses?",
    "Rarely. The gallery in Bologna returned seven pictures.",
]


@pytest.fixture
def chats(project: Project) -> Project:
    """Two chats with the same words."""
    start = datetime(2024, 3, 1, 9, tzinfo=UTC)
    messages = [
        {
            "role": "speaker",
            "speaker": ("Emi", "Elise")[index % 2],
            "content": text,
            "time": (start + timedelta(days=index)).isoformat(),
        }
        for index, text in enumerate(TEXTS)
    ]
    lines = [
        {"id": name, "domain": "chat", "split": "dev", "messages": messages}
        for name in ("chat-1", "chat-2")
    ]
    raw = "\n".join(map(json.dumps, lines)).encode()
    conversations.import_files(project_slug=project.slug, files=[("chats.jsonl", BytesIO(raw))])
    return project


def asking(question: str) -> Any:
    reply = {"question": question, "answer": "In Trieste", "category": "single-hop"}
    return partial(_said, json.dumps(reply))


def looking(**wrong: bool) -> Any:
    told = {"answerable": True, "right": True, "all_needed": True} | wrong
    return partial(_said, json.dumps(told))


def _said(text: str, _body: Any) -> str:
    return text


def test_synthetic_questions_are_marked_everywhere(chats, server, signed_in, monkeypatch, tmp_path):
    server.plan(*(asking("Where is the sailing?"), looking()) * 2)
    wish = ("--project", chats.slug, "--count", "2")
    assert "2 synthetic questions about 2 conversations (" in command(*wish)
    release = GoldRelease.objects.get()
    assert str(release) == f"{chats.slug}-synthetic-questions@1"
    assert json.loads(release.header)["generated"] == 2
    assert "synthetic" not in json.loads(release.header)
    assert [item.how for item in release.items.all()] == ["generated", "generated"]
    assert not list(verify(release))
    assert "Nothing is new" in command(*wish)  # out of the cache

    monkeypatch.setattr(execution, "MiniLM", lambda *_: WordOverlap())
    out = StringIO()
    call_command("evaluate", stdout=out, gold=str(release), pipeline="retrieval")
    assert "2 of 2 cases are synthetic." in out.getvalue()
    run = Run.objects.get()

    client = signed_in("noor")
    page = client.get(release.get_absolute_url()).content.decode()
    assert "Nobody labeled these items" in page
    assert page.count(">synthetic<") == 2
    item = release.items.all()[0]
    asked = item.content["gold"]["questions"][0]
    text = client.get(f"{release.get_absolute_url()}items/{item.item_id}/").content.decode()
    assert f'href="#m{asked["evidence"][0]}"' in text
    assert "nobody: a program created them" in text
    assert "2 synthetic cases" in client.get(run.get_absolute_url()).content.decode()
    case = client.get(run.cases.all()[0].get_absolute_url()).content.decode()
    assert ">synthetic<" in case

    path = tmp_path / "gold.jsonl"  # generated gold never mixes with other gold
    path.write_text("\n".join(item.canonical for item in release.items.all()))
    name, chats.layers = release.name, ["qa"]
    given = {"project": chats.slug, "layer": "qa", "name": name, "format": "native"}
    with pytest.raises(CommandError, match="the two are never mixed"):
        call_command("import_gold", str(path), stdout=StringIO(), **given)
    with refused(NameTaken, match="gold that a program made"):
        gold.check_name(chats, "qa", name)


REFUSED = [
    (["--count", "0"], "Between 1 and 10,000"),
    (["--count", "1", "--difficulty", "easy"], "does not go with questions"),
    (["--count", "1", "--split", "test"], "No conversation in the split “test”"),
    (["--count", "1", "--project", "none"], "There is no project “none”"),
    (["--count", "1", "--model", "other"], "No language model is named “other”"),
]


def test_what_cannot_be_made_is_refused(chats, server):
    for arguments, sentence in REFUSED:
        with pytest.raises(CommandError, match=sentence):
            command("--project", chats.slug, *arguments)
        assert not GoldRelease.objects.exists()


def test_only_questions_that_a_second_look_confirms_become_gold(chats, server, settings):
    server.plan(
        *(asking("Where?"), looking(), asking("Who?"), looking(answerable=False)),
        *(asking("Whose?"), looking(right=False, all_needed=False), asking("When?"), looking()),
    )
    small = Endpoint(
        name="small",
        model=MODEL,
        base_url=settings.LLM_BASE_URL,
        provider="another",
        key="",
        api_key=settings.LLM_API_KEY,
    )
    settings.MODELS = {"small": small}

    said = command("--project", chats.slug, "--count", "2", "--model", "small", "--seed", "1")

    assert "2 were thrown out" in said
    assert "the messages do not answer it (1)" in said
    assert "not every message is needed (1)" in said
    made = [
        label
        for item in GoldRelease.objects.get().items.all()
        for label in item.content["gold"]["questions"]
    ]
    assert sorted(one["question"] for one in made) == ["When?", "Where?"]
    item = GoldRelease.objects.get().items.all()[0].content
    assert item["provenance"]["source"]["file"].startswith(f"another/{MODEL} {questions.ASK}/")
    # the second look sees the chosen messages alone, the first one also those around them
    first, second = (json.dumps(request) for request in server.requests[:2])
    assert sum(text[:20] in first for text in TEXTS) > sum(text[:20] in second for text in TEXTS)


@pytest.mark.parametrize(
    ("key", "options", "why"),
    [
        ("", ["--count", "500"], "The conversations give"),
        ("another", ["--count", "5"], "The model.s server does not accept"),
        ("", ["--count", "5", "--budget-tokens", "5"], "The budget of 5 tokens"),
    ],
)
def test_why_there_are_fewer_is_said(chats: Project, server: Any, key, options, why) -> None:
    server.default, server.key = "prose", key or server.key
    with pytest.raises(CommandError, match=rf"Only 0 of {options[1]} were made\. {why}"):
        command("--project", chats.slug, *options)


def test_pairs_share_a_word_and_every_message_is_chosen_once() -> None:
    said = (*TEXTS, "Hi", "")
    talk = Talk("t", [Message(at, "user", "Emi", text, None) for at, text in enumerate(said)])
    groups = [group for seed in range(10) for group in questions.choices(talk, seed)]

    for seed in range(10):
        places = [one.index for group in questions.choices(talk, seed) for one in group]
        assert sorted(places) == list(range(len(TEXTS)))
    pairs = [group for group in groups if len(group) == 2]
    assert {len(group) for group in groups} == {1, 2}
    assert all(questions.stems_of(one) & questions.stems_of(other) for one, other in pairs)
