"""The reading test: what counts as found, the floor of sentences, the sheet and its judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import blind, reading
from labeling.agreement.matching.similarity import Ruler
from tests.fakes import WordOverlap, requirement

TALK = [
    {"role": "analyst", "content": "What should the library app do first?"},
    {"role": "user", "content": "Hello! Readers must find a book by its title. Nice day."},
    {"role": "analyst", "content": "Should the app remind readers by mail?"},
    {"role": "user", "content": "Yes please. What else would you need to know?"},
    {"role": "analyst", "content": "Should readers pay fines online?"},
    {"role": "user", "content": "no, at the desk"},
]


def said(title: str, sources: list[int], **fields):
    return requirement(title, action=title, source_messages=sources, **fields)


def compare(gold, output):
    row = reading.beside("talk", gold, output, ruler=Ruler(WordOverlap()))
    return row, reading.figures([row])


class TestBeside:
    def test_nearly_the_same_words_are_found_without_type_and_actor(self):
        gold = [said("Find a book by title", [1])]
        row, figures = compare(gold, [said("Find a book by title", [3], type="data")])
        assert [pair[:2] for pair in row.found] == [(0, 0)]
        assert (figures.recall.value, figures.strict_recall.value) == (1, 0)
        assert figures.source_overlap.value == 0

    def test_less_alike_is_found_only_from_the_same_message(self):
        gold = [said("find a book by title", [1])]
        same, _ = compare(gold, [said("find a book quickly", [0, 1])])
        other, _ = compare(gold, [said("find a book quickly", [4])])
        assert same.source_overlap == [0.5]
        assert other.found == []

    def test_one_requirement_finds_one(self):
        gold = [said("find a book by title", [1]), said("find a book by title fast", [1])]
        _, figures = compare(gold, [said("find a book by title", [1])])
        assert (figures.recall.value, figures.precision.value) == (0.5, 1)

    def test_nothing_to_take_a_share_of_is_no_figure(self):
        _, figures = compare([], [])
        assert (figures.recall, figures.precision, figures.source_overlap) == (None, None, None)


def test_the_floor_keeps_what_is_stated_and_what_is_accepted():
    kept = reading.sentences(TALK)
    assert [(each["action"], each["source_messages"]) for each in kept] == [
        ("Readers must find a book by its title.", [1]),
        ("Should the app remind readers by mail?", [2, 3]),
    ]


def outputs(prefix: str, number: int) -> blind.Outputs:
    return {"talk": [said(f"{prefix} {n}", [1]) for n in range(number)]}


def draw(sources: dict[str, blind.Outputs], size: int, seed: int) -> list[blind.Item]:
    return blind.draw(sources, size, seed, groups={"talk": "talks", "interview": "interviews"})


class TestSheet:
    def test_each_source_gives_as_many_and_one_seed_draws_one_sheet(self):
        sources = {"local": outputs("Local", 9), "reading": outputs("Reading", 9)}
        items = draw(sources, 8, seed=3)
        assert sorted(item["sources"][0] for item in items) == ["local"] * 4 + ["reading"] * 4
        assert [item["item"] for item in items] == list(range(1, 9))
        assert items == draw(sources, 8, seed=3)
        assert items != draw(sources, 8, seed=4)
        order = [item["sources"] for item in items]
        assert order != sorted(order)

    def test_the_same_words_of_two_sources_are_judged_once_for_both(self):
        (item,) = draw({"a": outputs("Same", 1), "b": outputs("Same", 1)}, 4, seed=1)
        assert item["sources"] == ["a", "b"]

    def test_it_shows_the_messages_around_and_nothing_of_the_source(self):
        label = said("Mail", [3], rationale="Accepted in 3", confidence=0.77, id="REQ-042")
        items = draw({"secret-source": {"talk": [label]}}, 1, seed=1)
        sheet = blind.sheet(items, {"talk": TALK})
        assert "> 2 analyst: Should the app remind readers by mail?" in sheet
        assert "> **3** user: Yes please." in sheet
        assert "Nice day" not in sheet
        for hidden in ("secret-source", "Accepted in 3", "0.77", "REQ-042"):
            assert hidden not in sheet


def judged(item: int, conversation: str, sources: list[str]) -> blind.Item:
    return blind.Item(
        item=item, group="talks", conversation=conversation, sources=sources, requirement={}
    )


class TestJudged:
    @pytest.fixture
    def items(self) -> list[blind.Item]:
        return [
            judged(1, "a", ["local"]),
            judged(2, "b", ["local"]),
            judged(3, "b", ["local", "reading"]),
        ]

    def file(self, folder: Path, name: str, verdicts: dict[int, str]) -> Path:
        rows = "".join(f"{number},{verdict}\n" for number, verdict in verdicts.items())
        path = folder / f"{name}.csv"
        path.write_text(f"item,verdict\n{rows}")
        return path

    def test_shares_are_over_both_judges_and_intervals_over_conversations(self, items):
        one = {1: "usable", 2: "useless", 3: "usable"}
        two = {1: "usable", 2: "repairable", 3: "useless"}
        rows = {(row.source, row.verdict): row for row in blind.shares(items, [one, two])}
        usable = rows["local", "usable"]
        assert usable.share.value == pytest.approx(0.5)
        assert (usable.share.conversations, usable.requirements) == (2, 3)
        assert rows["reading", "useless"].share.value == 0.5
        assert rows["reading", "useless"].share.low is None  # one conversation alone

    def test_the_agreement_of_judges(self, items, tmp_path):
        one, two = tmp_path / "one", tmp_path / "two"  # files of one name are two judges
        one.mkdir()
        two.mkdir()
        files = [
            self.file(one, "verdicts", {1: "usable", 2: "useless", 3: "usable"}),
            self.file(two, "verdicts", {1: "Usable", 2: "useless", 3: "repairable"}),
        ]
        key = tmp_path / "key.json"
        key.write_text(json.dumps(items))
        printed: list[str] = []
        reading.print_judged(key, files, printed.append)
        of = f"{files[0]} and {files[1]}"
        assert printed[-1] == f"{of}: 67% equal of 3, κ 0.50, with quadratic weights 0.80"
        assert printed[0].startswith("talks, local: usable 0.50 (")

    @pytest.mark.parametrize(
        ("verdicts", "why"),
        [
            ({1: "usable", 2: "fine", 3: "usable"}, "item 2: 'fine' is not a verdict"),
            ({"2": "usable", 2: "usable"}, "item 2 is judged twice"),
            ({1: "usable", 2: "usable"}, r"not judged, or not on the sheet: \[3\]"),
        ],
    )
    def test_what_is_not_judged_is_named(self, items, tmp_path, verdicts, why):
        with pytest.raises(ValueError, match=why):
            blind.read_verdicts(self.file(tmp_path, "one", verdicts), items)
