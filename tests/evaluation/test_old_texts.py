"""What was stored as an English sentence becomes a fact with its values."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from labeling.domain.facts import Fact
from labeling.words import WORDS, in_english

migration: Any = import_module("evaluation.migrations.0008_facts")
violations: Any = import_module("evaluation.migrations.0012_violations_as_facts")

SAMPLES = {
    None: "some text",
    "n": "12",
    "w": "ValueError",
    "l": "one, two",
    "f": "nothing was inferred",
}
OTHERWISE = ("gate.", "pair.", "memory.topics_unfit", "money.with_fractions", "output.no_list")
"""Shown with other decimals, or said in another way; see the examples below."""

DROPPED = "ceiling."
"""Of a table that a later migration drops."""

AS_BEFORE = [
    (text, code) for text, code in migration.TEXTS if not code.startswith((*OTHERWISE, DROPPED))
]


def sample(text: str) -> str:
    return str(migration.PLACE.sub(lambda place: SAMPLES[place[2]], text))


@pytest.mark.parametrize(("text", "code"), AS_BEFORE)
def test_a_stored_sentence_becomes_a_fact_that_can_be_worded(text: str, code: str) -> None:
    told = sample(text)

    fact = Fact.from_json(migration.fact_of(told))

    assert fact.code == code
    assert in_english(fact) != str(fact)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("0.799 is below 0.8", Fact("gate.below", value=0.799, limit=0.8, digits=3)),
        (
            "worse than the baseline by 0.0312, more than 0.03, and not by chance",
            Fact("gate.drifted", drop=0.0312, limit=0.03, digits=4),
        ),
        (
            "undefined: nothing was inferred",
            Fact("gate.undefined", reason=Fact("metric.nothing_inferred")),
        ),
        (
            "The budget of 1,000 tokens is used up (1,200 are used).",
            Fact("budget.tokens_used_up", tokens=1000, used=1200),
        ),
        (
            "The budget of 0.5000 USD is used up (0.6000 USD are spent).",
            Fact(
                "budget.money_used_up",
                money=Fact("money.with_fractions", amount=0.5, currency="USD"),
                spent=Fact("money.with_fractions", amount=0.6, currency="USD"),
            ),
        ),
        (
            "burst 3: 2 of 5 topics fit",  # two did not
            Fact("memory.topics_unfit", burst=3, fit=3, topics=5),
        ),
        (
            "similarity 0.71 ≤ 0.85",
            Fact("pair.not_similar", similarity=0.71, threshold=0.85),
        ),
        (
            "MalformedOutput: requirements.0 is no JSON object.",
            Fact("output.malformed", problem=Fact("output.no_object", path="requirements.0")),
        ),
        (
            "The pipeline cannot be built: OSError: gone",
            Fact("run.cannot_build", text=Fact("error.unforeseen", kind="OSError", said="gone")),
        ),
        ("Something else", Fact("legacy.text", text="Something else")),
        ("a; " * 3000, Fact("legacy.text", text="a; " * 3000)),
    ],
)
def test_values_come_out_of_the_sentence(told: str, expected: Fact) -> None:
    assert Fact.from_json(migration.fact_of(told)) == expected


def test_a_sentence_with_its_values_becomes_a_fact() -> None:
    stored = {
        "pattern": "the judge passed {held} of {asked} probes, and failed on an answer that is "
        "“{trick}”",
        "values": {"held": 3, "asked": 4, "trick": {"pattern": "empty", "values": {}}},
    }

    fact = Fact.from_json(migration.from_sentence(stored))

    assert fact == Fact("certificate.probes_failed", held=3, asked=4, trick=Fact("probe.empty"))


def test_a_fact_is_left_alone_when_the_migration_is_tried_again() -> None:
    stored = json.dumps(Fact("metric.no_claims").as_json(), sort_keys=True)

    assert migration.is_fact(stored)
    assert migration.fact_text("The answer claims nothing.") == stored


def test_every_code_of_an_old_sentence_has_words() -> None:
    codes = {code for _text, code in migration.TEXTS if not code.startswith(DROPPED)}

    assert codes <= set(WORDS)


@pytest.mark.parametrize(
    "fact",
    [
        Fact("metric.not_parsed"),
        Fact("violation.not_a_list"),
        Fact("violation.event_not_an_object"),
        Fact("violation.no_event_type"),
        Fact("violation.no_arguments", type="Hire."),
        Fact("violation.unknown_type", type="Hire. Fire"),
        Fact("violation.argument_not_an_object", type="Hire"),
        Fact("violation.no_role", type="Hire"),
        Fact("violation.no_argument", role="who", type="Hire"),
        Fact("violation.unknown_role", type="Hire", role="wh\no"),
    ],
    ids=lambda fact: fact.code,
)
def test_an_old_violation_becomes_a_fact(fact: Fact) -> None:
    old = "The reply did not parse." if fact.code == "metric.not_parsed" else in_english(fact)

    (of_case,) = violations.of_case({"violation": old}).values()
    of_run = violations.of_run({"parsed": 3, "violations": {old: 2, "unknown": 1}})

    assert Fact.from_json(of_case) == fact
    assert of_run["violations"] == [
        {"reason": fact.as_json(), "count": 2},
        {"reason": Fact("legacy.text", text="unknown").as_json(), "count": 1},
    ]
    assert violations.of_run(of_run) == of_run
    assert violations.of_case({"violation": of_case}) == {"violation": of_case}


def test_every_violation_of_an_old_sentence_has_words() -> None:
    assert {code for _pattern, code in violations.SENTENCES} <= set(WORDS)
