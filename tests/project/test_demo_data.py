"""The demo data keep the rules that the product teaches: completeness, agreement, decisions."""

import json
from pathlib import Path
from typing import Any

import pytest

from labeling.schema import check_payload

Row = dict[str, Any]

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
ANNOTATORS = ("ana", "ben", "cleo")


def lines(name: str) -> list[Row]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


CONVERSATIONS = {row["id"]: row for row in lines("conversations.jsonl")}
LABELS = {name: {row["id"]: row for row in lines(f"labels/{name}.jsonl")} for name in ANNOTATORS}
DECIDED = {row["id"]: row for row in lines("adjudicated.jsonl")}
PROJECT = json.loads((DEMO / "project.json").read_text("utf-8"))


def problems(row: Row, requirements: list[Row]) -> list[Any]:
    return check_payload(
        {"requirements": requirements},
        layers=PROJECT["layers"],
        message_count=len(CONVERSATIONS[row["id"]]["messages"]),
        complete=True,
        empty=not requirements,
    )


def test_the_rounds_hand_out_each_conversation_once_and_labels_belong_to_their_round() -> None:
    rounds = {row["number"]: row["conversations"] for row in PROJECT["rounds"]}

    assert sorted(name for names in rounds.values() for name in names) == sorted(CONVERSATIONS)
    for rows in (*LABELS.values(), DECIDED):
        assert all(name in rounds[row["round"]] for name, row in rows.items())


@pytest.mark.parametrize("name", ANNOTATORS)
def test_an_answer_is_complete_under_the_schema(name: str) -> None:
    for row in LABELS[name].values():
        if "skipped" in row:
            assert row["skipped"].strip()
            continue
        assert problems(row, row["requirements"]) == [], row["id"]
        assert row["empty"] == (not row["requirements"])
        assert row["active_seconds"] > 0


def test_a_decision_is_complete_gives_its_reason_and_names_whose_label_it_adopts() -> None:
    def content(label: Row, *others: str) -> Row:
        """The label without what changes when somebody else adopts it."""
        return {key: value for key, value in label.items() if key not in ("adopted_from", *others)}

    for row in DECIDED.values():
        assert problems(row, [content(label) for label in row["requirements"]]) == []
        assert row["reason"].strip()
        for label in row["requirements"]:
            holders = {
                name
                for name in ANNOTATORS
                for other in LABELS[name][row["id"]]["requirements"]
                if content(other, "uid", "id") == content(label, "uid", "id")
            }
            adopted = label["adopted_from"]
            assert adopted in holders if adopted else not holders, label["uid"]
