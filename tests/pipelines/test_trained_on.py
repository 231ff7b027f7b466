"""What weights have read, by the words of a conversation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open

from benchmarks import train_memory
from benchmarks import train_requirements as train
from benchmarks.kept_back import TestItems, TrainingText, refuse_test_items
from pipelines import registry, trained_on
from pipelines.memory.retrieval import adapter, ranker
from pipelines.requirements.extraction import wanted
from pipelines.trained_on import Exposure
from pipelines.types import Message
from tests import talks

CHAT, OTHER = talks.talk(1), talks.talk(2)
DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "conversations.jsonl"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Two chats have been read, and there are weights without each."""
    path = tmp_path / "weights.json"
    read = {"one": talks.texts(CHAT), "two": talks.texts(OTHER)}
    trained_on.write(path, read, leaves_out=True)
    return path


@pytest.mark.parametrize("change", list(talks.copies(CHAT)))
def test_a_copy_is_answered_by_the_weights_that_never_read_it(weights: Path, change: str) -> None:
    copy = talks.texts(talks.copies(CHAT)[change])

    assert trained_on.left_out(weights, copy) == "one"
    assert trained_on.exposure([weights], copy) == Exposure.LEFT_OUT


def test_what_nobody_has_read_is_unseen_and_so_is_everything_without_weights(weights: Path) -> None:
    assert trained_on.exposure([weights], talks.texts(talks.talk(3))) == Exposure.UNSEEN
    assert trained_on.left_out(weights, ["Hello"]) == ""
    assert trained_on.exposure([], talks.texts(CHAT)) == Exposure.UNSEEN


def test_what_two_training_chats_are_part_of_is_seen(weights: Path) -> None:
    both = talks.texts([*CHAT, *OTHER])

    assert trained_on.left_out(weights, both) == ""
    assert trained_on.exposure([weights], both) == Exposure.SEEN


def test_weights_without_a_second_set_have_seen_what_they_read(weights: Path) -> None:
    one_set = weights.with_name("one_set.json")
    trained_on.write(one_set, {"one": talks.texts(CHAT)}, leaves_out=False)

    assert trained_on.left_out(one_set, talks.texts(CHAT)) == ""
    assert trained_on.exposure([one_set], talks.texts(CHAT)) == Exposure.SEEN
    assert trained_on.exposure([weights, one_set], talks.texts(CHAT)) == Exposure.SEEN


def test_what_two_talks_of_one_set_are_part_of_is_left_out_by_it(weights: Path) -> None:
    read = {"1/one": talks.texts(CHAT), "1/two": talks.texts(OTHER)}
    trained_on.write(weights, read, leaves_out=True)

    assert trained_on.left_out(weights, talks.texts([*CHAT, *OTHER])) == "1"


def test_all_weights_of_the_tree_say_what_they_have_read() -> None:
    for path in (adapter.ADAPTERS, ranker.WEIGHTS):
        with safe_open(path, framework="numpy") as file:
            sets = {name.partition("/")[0] for name in file.keys()}  # noqa: SIM118 - no mapping
        assert {key.partition("/")[0] for key in trained_on.keys(path)} == sets - {adapter.EVERY}

    folder = Path(registry.__file__).parent
    with_weights = {*folder.rglob("weights.json"), *folder.rglob("*.safetensors")}
    assert with_weights == {adapter.ADAPTERS, ranker.WEIGHTS, wanted.WEIGHTS}


def messages_of(row: dict[str, Any]) -> list[Message]:
    return [
        Message(index, line["role"], "", line["content"])
        for index, line in enumerate(row["messages"])
    ]


def test_the_demos_training_conversations_are_seen_by_what_learned_from_them() -> None:
    rows = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
    seen = {
        row["id"]: row
        for row in rows
        if registry.exposure("requirements-local", {}, messages_of(row)) == "seen"
    }
    train_row = next(iter(seen.values()))

    assert {row["split"] for row in seen.values()} == {"train"}
    assert {f"trained on {name}" for name in seen} == {
        key for key in trained_on.keys(wanted.WEIGHTS) if key.startswith("trained on demo-")
    }
    assert registry.exposure("requirements-agent", {}, messages_of(train_row)) == "seen"
    for name in ("nothing", "requirements-model"):
        assert registry.exposure(name, {}, messages_of(train_row)) == "unseen"


@pytest.mark.parametrize(
    ("name", "config", "used"),
    [
        ("retrieval", {"mode": "lexical"}, []),
        ("retrieval", {"mode": "late"}, [adapter.ADAPTERS]),
        ("retrieval", {"mode": "learned"}, [adapter.ADAPTERS, ranker.WEIGHTS]),
        ("memory", {}, [adapter.ADAPTERS, ranker.WEIGHTS]),
        ("memory", {"encoder": "plain"}, [ranker.WEIGHTS]),
        ("memory", {"reranker": "none"}, [adapter.ADAPTERS]),
    ],
)
def test_a_pipeline_declares_the_weights_that_its_configuration_uses(
    name: str, config: dict[str, Any], used: list[Path]
) -> None:
    entry = registry.entry_for(name)
    full = registry.check_config(entry, config).model_dump(mode="json")

    assert list(entry.trained_on(full)) == used


# --- training -----------------------------------------------------------------------------------


def line(name: str, chat: list[talks.Line], split: str) -> TrainingText:
    return TrainingText(name, split, talks.texts(chat))


def test_test_items_and_copies_of_them_are_not_trained_on() -> None:
    refuse_test_items([line("a", CHAT, "train"), line("b", OTHER, "dev")])
    with pytest.raises(TestItems, match="a is of the split test"):
        refuse_test_items([line("a", CHAT, "test"), line("b", OTHER, "dev")])
    with pytest.raises(TestItems, match="Chat_3_x is the same conversation as Chat_8 of the split"):
        refuse_test_items(
            [line("Chat_3_x", CHAT[:400], "train")], kept_back=[line("Chat_8", CHAT, "test")]
        )


def item(name: str, chat: list[talks.Line], split: str) -> str:
    return json.dumps(
        {
            "item_id": name,
            "split": split,
            "conversation": [
                {
                    "index": index,
                    "role": "user",
                    "speaker": each.speaker,
                    "content": each.text,
                    "time": None,
                }
                for index, each in enumerate(chat)
            ],
            "gold": {"questions": [{"question": "Who swims?", "evidence": [1]}]},
        }
    )


def test_training_memory_on_a_test_item_ends_with_a_sentence_and_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test, copy = tmp_path / "test.jsonl", tmp_path / "copy.jsonl"
    test.write_text(item("Chat_8", CHAT[:60], "test"))
    copy.write_text(item("Chat_3", CHAT[:40], "train"))

    for arguments, said in (
        ([str(test)], "Chat_8 is of the split test"),
        ([str(copy), "--not", str(test)], "Chat_3 is the same conversation as Chat_8"),
    ):
        monkeypatch.setattr(sys, "argv", ["train", *arguments])
        with pytest.raises(SystemExit, match=said):
            train_memory.main()


def test_the_training_of_requirements_reads_no_copy_of_a_test_conversation(tmp_path: Path) -> None:
    path = tmp_path / "conversations.jsonl"
    rows = [
        {
            "id": name,
            "domain": "x",
            "split": split,
            "messages": [{"role": "user", "content": each.text} for each in chat],
        }
        for name, chat, split in (("a", CHAT[:50], "train"), ("b", CHAT[:20], "test"))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))

    with pytest.raises(SystemExit, match="a is the same conversation as b of the split test"):
        train.read_cases(path, "train")
    path.write_text(json.dumps(rows[0]))
    assert [case.case_id for case in train.read_cases(path, "train")] == ["a"]


def test_training_requirements_notes_what_it_read_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "weights.json"
    monkeypatch.setattr(train, "WEIGHTS", weights)
    first, second = train.read_cases(DEMO, "train")[:2]

    train.note_training([first, second], [first.case_id])
    assert trained_on.keys(weights) == {f"trained on {first.case_id}"}
    train.note_training([second], [second.case_id])
    assert trained_on.keys(weights) == {f"trained on {second.case_id}"}
