"""Every path through the graph: the fast one, and one, two and three rounds."""

import pytest

from pipelines.memory.agent.exploring import explore
from pipelines.memory.agent.nodes import after_grader, after_retriever
from pipelines.memory.config import MemoryConfig
from pipelines.memory.pipeline import Memory
from pipelines.memory.query.candidates import Search, search
from pipelines.memory.query.mind import Verdict
from pipelines.types import Case
from tests.pipelines.memory.talking import INTENT, Scripted, a_talk, grade, phases

FACT = "Who bought the bicycle in Oslo?"
MANY = "Which cities have both Ann and Bob been to?"


def ask(question, *, model=None, task="qa", factor=1.0, **config):
    talk = a_talk(factor=factor)
    settings = MemoryConfig(mode="agent", use_model=model is not None, **config)
    pipeline = Memory(settings, open_talk=lambda case: talk, model=model)
    output = pipeline.run(Case("c", "chat", tuple(talk.messages), question, "c", task))
    return output, [step["node"] for step in output["steps"]]


def test_a_sure_fact_takes_the_fast_path():
    output, path = ask(FACT)

    assert path == ["planner", "retriever", "generator"]
    assert output["evidence"][0] == 4
    assert output["mode"] == "agent"


def test_sufficient_evidence_needs_one_round():
    _, path = ask(MANY, model=Scripted(INTENT, grade(2, 4), phases(2, 4)))

    assert path == ["planner", "retriever", "grader", "generator"]


def test_what_is_missing_is_looked_for_in_a_second_round():
    model = Scripted(
        INTENT,
        grade(2, sufficient=False, missing=["Where did Bob buy a bicycle?"]),
        grade(2, 4),
        phases(2, 4),
    )

    output, path = ask(MANY, model=model)

    assert path == ["planner", "retriever", "grader", "explorer", "grader", "generator"]
    explored = next(step for step in output["steps"] if step["node"] == "explorer")
    assert "Where did Bob buy a bicycle?" in [search["question"] for search in explored["searches"]]


def test_after_three_rounds_it_answers_with_what_there_is():
    never = grade(2, sufficient=False, missing=["What else?"])

    output, path = ask(MANY, model=Scripted(INTENT, never, never, never, phases(2)))

    assert path.count("grader") == 3
    assert path[-3:] == ["explorer", "grader", "generator"]
    assert output["evidence"] == [2]


def test_without_a_model_thin_evidence_is_explored_and_still_answered():
    output, path = ask(FACT, factor=0.1)

    assert path.count("grader") == 3
    reasons = next(step for step in output["steps"] if step["node"] == "grader")["missing"]
    assert "a sure message" in reasons
    whys = [one["why"] for step in output["steps"] for one in step.get("searches", [])]
    assert {"asked", "topic", "neighbours", "thread", "reply"} <= set(whys)
    assert output["evidence"]


def test_the_number_of_rounds_is_a_setting():
    _, path = ask(FACT, factor=0.1, max_rounds=1)

    assert path == ["planner", "retriever", "grader", "generator"]


def test_a_question_about_two_people_is_retrieved_for_each():
    output, _ = ask(MANY)

    retrieved = next(step for step in output["steps"] if step["node"] == "retriever")
    assert [search["why"] for search in retrieved["searches"]] == ["asked", "person", "person"]


def test_a_story_has_phases_and_all_it_returns_was_a_candidate():
    output, _ = ask("How did the cake of Ann evolve throughout the talk?", task="arc")

    assert len(output["phases"]) > 1
    assert {1, 7, 9} <= set(output["evidence"])
    assert set(output["evidence"]) <= set(output["trace"]["candidates"]["ids"])


def test_the_steps_are_plain_json_and_hold_no_state_twice():
    import json

    output, _ = ask(MANY)

    assert json.loads(json.dumps(output, allow_nan=False)) == output
    assert "verdict" not in json.dumps(output["steps"])


@pytest.mark.parametrize(("fast", "best", "node"), [
    (True, 0.9, "generator"), (True, 0.1, "grader"), (False, 0.9, "grader"),
])  # fmt: skip
def test_the_fast_path_is_for_sure_facts_only(fast, best, node):
    from types import SimpleNamespace

    state = {"plan": SimpleNamespace(fast=fast), "searches": [Search("", "asked", (1,), (best,))]}

    assert after_retriever(state) == node


@pytest.mark.parametrize(("sufficient", "rounds", "node"), [
    (True, 1, "generator"), (False, 1, "explorer"), (False, 3, "generator"),
])  # fmt: skip
def test_the_grader_sends_on_or_back(sufficient, rounds, node):
    state = {"verdict": Verdict({}, (), sufficient), "rounds": rounds}

    assert after_grader(state, 3) == node


def explored(look):
    talk = a_talk()
    verdict = Verdict({0: 0.9}, (0,), sufficient=False)
    result = explore(
        "What cake?", talk, verdict, [search(talk, "What cake?", why="asked", limit=10)],
        look=look, limit=10,
    )  # fmt: skip
    return {one.why: set(one.indexes) for one in result}


def test_the_second_look_is_at_what_stands_beside_the_best():
    assert explored(1)["neighbours"] == {1, 2, 3}


def test_the_third_look_is_at_threads_and_replies():
    assert explored(2) == {"thread": {6, 7, 8, 9}, "reply": {1}}
