"""Synthetic questions: verified, linked to their messages, and never taken for people's."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import Run
from evaluation.services.run import execution, results
from evaluation.synthetic import questions
from evaluation.synthetic.questions import Talk, TalkMessage, content_words
from labeling.conversations import conversations
from labeling.gold import gold
from labeling.gold.gold import NameTaken
from labeling.gold.verification import verify
from labeling.models import GoldRelease, Project
from tests.fakes import WordOverlap
from tests.llm_server import MODEL
from tests.refusals import refused

TEXTS = [
    "Morning! The cooking course at Brunello starts tomorrow evening.",
    "Lovely. I bought saffron and a copper kettle there last winter.",
    "My brother Anton wants to learn sailing near Trieste.",
    "Sailing frightens me since the storm with your cousin.",
    "Do you still paint watercolours of lighthouses?",
    "Rarely. The gallery in Bologna returned seven pictures.",
]


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("generate", "questions", *arguments, stdout=out)
    return out.getvalue()


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


# --- out of words ---------------------------------------------------------------------------------


def talk(*texts: str, day: str = "") -> Talk:
    people = ("Emi", "Elise")
    return Talk("t", [TalkMessage(at, people[at % 2], text, day) for at, text in enumerate(texts)])


def test_a_question_is_answered_by_its_messages_and_by_no_other():
    for seed in range(20):
        given = talk(*TEXTS, day="1 March 2024")
        for asked in questions.out_of_words(given, seed):
            named = [word for word in content_words(asked.question) if word in given.places]
            assert given.holding(named) == list(asked.evidence) or asked.category == "multi-hop"
            for index in asked.evidence:
                assert set(named) & given.stems[index]


def test_every_kind_of_question_is_made():
    result = [
        question
        for seed in range(30)
        for question in questions.out_of_words(talk(*TEXTS, day="May"), seed)
    ]

    assert {one.category for one in result} == {"single-hop", "temporal", "multi-hop"}
    (both,) = {one for one in result if one.category == "multi-hop"}
    assert (both.question, both.evidence) == ("What did Emi and Elise say about “sailing”?", (2, 3))


def test_words_that_stand_elsewhere_too_ask_nothing():
    assert list(questions.out_of_words(talk(*["The same words again and again"] * 3), 0)) == []
    assert list(questions.out_of_words(talk("Hi", "😀", ""), 0)) == []


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_synthetic_questions_are_marked_everywhere_and_measured_by_every_mode(
    chats: Project, signed_in: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = command("--project", chats.slug, "--count", "6", "--seed", "3")

    assert "6 synthetic questions about 2 conversations (words/" in said
    release = GoldRelease.objects.get()
    assert str(release) == f"{chats.slug}-synthetic-questions@1"
    assert json.loads(release.header)["generated"] == 2
    assert "synthetic" not in json.loads(release.header)
    assert [(item.how, len(item.content["gold"]["questions"])) for item in release.items.all()] == [
        ("generated", 3),
        ("generated", 3),
    ]
    assert not list(verify(release))
    again = command("--project", chats.slug, "--count", "6", "--seed", "3")
    assert "Nothing is new" in again

    monkeypatch.setattr(execution, "MiniLM", lambda *_: WordOverlap())
    for mode in ("lexical", "semantic", "hybrid"):
        path, out = tmp_path / f"{mode}.yaml", StringIO()
        path.write_text(f"mode: {mode}\n")
        given = {"gold": str(release), "pipeline": "retrieval", "config": path}
        call_command("evaluate", stdout=out, **given)
        assert "6 of 6 cases are synthetic." in out.getvalue()
        run = Run.objects.order_by("-pk")[0]
        means = {row.metric: row.mean for row in results.aggregates_of(run)}
        assert {f"{name}_at_{k}" for name in ("recall", "precision", "hit_rate", "all")
                for k in (1, 3, 5, 10)} | {"mrr"} <= set(means)  # fmt: skip
        assert means["recall_at_10"] == means["hit_rate_at_10"] == 1.0  # of six messages

    client = signed_in("noor")
    page = client.get(release.get_absolute_url()).content.decode()
    assert "items with questions that nobody has asked" in page
    assert page.count(">synthetic<") == 2
    item = release.items.all()[0]
    asked = item.content["gold"]["questions"][0]
    text = client.get(f"{release.get_absolute_url()}items/{item.item_id}/").content.decode()
    assert f'href="#m{asked["evidence"][0]}"' in text
    assert "nobody: a program created them" in text
    assert "6 synthetic cases" in client.get(run.get_absolute_url()).content.decode()
    case = client.get(run.cases.all()[0].get_absolute_url()).content.decode()
    assert ">synthetic<" in case
    assert f'href="#message-{asked["evidence"][0] + 1}"' in case


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--count", "0"], "Between 1 and 10,000"),
        (["--count", "1", "--budget", "5"], "give a budget only with --model"),
        (["--count", "1", "--model"], "set LLM_MODEL"),
        (["--count", "1", "--split", "test"], "No conversation in the split “test”"),
        (["--count", "1", "--project", "none"], "There is no project “none”"),
    ],
)
def test_what_cannot_be_made_is_refused(
    chats: Project, arguments: list[str], sentence: str, settings: Any
) -> None:
    settings.LLM_MODEL = ""
    with pytest.raises(CommandError, match=sentence):
        command("--project", chats.slug, *arguments)
    assert not GoldRelease.objects.exists()


@pytest.mark.django_db
def test_generated_gold_never_mixes_with_other_gold(chats: Project, tmp_path: Path) -> None:
    chats.layers = ["qa"]
    command("--project", chats.slug, "--count", "2", "--gold", "asked")
    release = GoldRelease.objects.get()
    lines = [item.canonical for item in release.items.all()]

    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(lines))
    given = {"project": chats.slug, "layer": "qa", "name": "asked", "format": "native"}
    with pytest.raises(CommandError, match="the two are never mixed"):
        call_command("import_gold", str(path), stdout=StringIO(), **given)
    with refused(NameTaken, match="gold that a program made"):
        gold.check_name(chats, "qa", "asked")


@pytest.mark.django_db
def test_what_the_conversations_do_not_give_is_said(chats: Project) -> None:
    with pytest.raises(CommandError, match=r"Only \d+ of 500 were made\. The conversations give"):
        command("--project", chats.slug, "--count", "500")

    assert GoldRelease.objects.get().items.count() == 2


# --- by a language model --------------------------------------------------------------------------


def asking(question: str) -> Any:
    reply = {"question": question, "answer": "In Trieste", "category": "single-hop"}
    return partial(_said, json.dumps(reply))


def looking(**wrong: bool) -> Any:
    told = {"answerable": True, "right": True, "all_needed": True} | wrong
    return partial(_said, json.dumps(told))


def _said(text: str, _body: Any) -> str:
    return text


@pytest.mark.django_db
def test_only_questions_that_a_second_look_confirms_become_gold(
    chats: Project, server: Any
) -> None:
    server.plan(
        *(asking("Where?"), looking(), asking("Who?"), looking(answerable=False)),
        *(asking("Whose?"), looking(right=False, all_needed=False), asking("When?"), looking()),
    )

    said = command("--project", chats.slug, "--count", "2", "--model", "--seed", "1")

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
    assert item["provenance"]["source"]["file"].startswith(f"test/{MODEL} {questions.ASK}/")
    # the second look sees the chosen messages alone, the first one also those around them
    first, second = (json.dumps(request) for request in server.requests[:2])
    assert sum(text[:20] in first for text in TEXTS) > sum(text[:20] in second for text in TEXTS)


def test_pairs_share_a_word_and_every_message_is_chosen_once():
    for seed in range(10):
        chosen = list(questions.choices(talk(*TEXTS), seed))
        places = [one.index for group in chosen for one in group]
        assert sorted(places) == sorted(set(places))
        assert {len(group) for group in chosen} <= {1, 2}
