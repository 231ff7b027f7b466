"""The floors of qa and arc find without understanding."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from pipelines.memory.retrieval import floors, pipeline
from pipelines.registry import build
from pipelines.types import Case, Message
from tests.fakes import WordOverlap

SAID = ("Hi Bob!", "I went skiing in Aspen.", "Nice.", "My dog is called Rex.", "Bye")
TALK = Case(
    case_id="talk",
    domain="chat",
    messages=tuple(
        Message(index=at, role="speaker", speaker="AB"[at % 2], content=said)
        for at, said in enumerate(SAID)
    ),
    question="What is the dog called?",
    task="qa",
)


@pytest.mark.parametrize("task", ["qa", "arc"])
@pytest.mark.parametrize(("name", "found"), [("nothing", []), ("everything", [1, 2, 3, 4, 5])])
def test_nothing_finds_nothing_and_everything_every_message_counted_from_one(
    task: str, name: str, found: list[int]
) -> None:
    output = build(name, {}).run(replace(TALK, task=task))

    assert output["evidence"] == output["ranked"] == found
    assert [phase["evidence"] for phase in output["phases"]] == [found] * bool(found)


@pytest.mark.parametrize(("name", "home"), [("lexical", floors), ("retrieval", pipeline)])
def test_the_version_stands_on_everything_that_reads_a_question(
    name: str, home: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []
    monkeypatch.setattr(home, "fingerprint", lambda folder, *others: folders.append(folder))

    assert build(name, {}).version

    assert (folders[0] / "dates.py").is_file()  # a day in a question is a condition


def test_random_keeps_to_its_budget_and_draws_otherwise_only_for_another_lot() -> None:
    long = replace(TALK, messages=TALK.messages * 40)
    drawn = build("random", {"budget": 2}).run(long)

    assert build("random", {"budget": 2}).run(long) == drawn
    assert drawn["evidence"] == drawn["ranked"][:2]
    assert sorted(drawn["ranked"]) == list(range(1, 201))
    for other in (replace(long, repetition=2), replace(long, question="Who?")):
        assert build("random", {}).run(other)["ranked"] != drawn["ranked"]
    assert build("random", {"seed": 1}).run(long)["ranked"] != drawn["ranked"]


def test_lexical_returns_what_shares_words_within_its_budget_and_no_more() -> None:
    output = build("lexical", {"budget": 3}).run(TALK)

    assert output["evidence"] == [4]
    assert output["ranked"][0] == 4
    assert output["trace"]["selected"]["ids"] == [4]
    assert output["trace"]["corpus_size"] == 5


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "late", "learned"])
def test_every_mode_of_retrieval_answers_with_its_first_messages(mode: str) -> None:
    nothing = build("retrieval", {"mode": mode}, encoder=WordOverlap())
    assert nothing.run(replace(TALK, messages=()))["ranked"] == []
    pipeline = build("retrieval", {"mode": mode, "budget": 2}, encoder=WordOverlap())

    output = pipeline.run(TALK)

    assert 4 in output["evidence"]  # “My dog is called Rex.”
    assert output["evidence"] == output["ranked"][:2]
    assert sorted(output["ranked"]) == [1, 2, 3, 4, 5]
