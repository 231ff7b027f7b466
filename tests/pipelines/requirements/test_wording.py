"""From what was said to the words of a requirement: built, quoted, or nothing."""

import doctest
import random

import pytest

from pipelines.registry import build
from pipelines.requirements import train
from pipelines.requirements.extraction import (
    measures,
    phrases,
    phrasing,
    speech,
    titles,
    wellformed,
)
from pipelines.requirements.extraction.actors import resolve
from pipelines.requirements.extraction.built import Said as Sentence
from pipelines.requirements.extraction.quoting import MOST_WORDS
from pipelines.requirements.extraction.wellformed import flaw
from tests.pipelines.requirements.talks import analyst, extract, user
from tests.pipelines.requirements.wordings import (
    ACCEPTED_OR_RUN_TOGETHER,
    AFTER_THE_RULES,
    BEFORE_THE_RULES,
    IN_THEIR_OWN_WORDS,
    MORE_THAN_QUOTED,
    NOTHING,
    QUOTED,
    Said,
)

QUOTING = {"min_keep_quoted": 0, "min_usable": 0, "merge_duplicates": False}
PAIRS = (
    *BEFORE_THE_RULES,
    *AFTER_THE_RULES,
    *ACCEPTED_OR_RUN_TOGETHER,
    *IN_THEIR_OWN_WORDS,
    *MORE_THAN_QUOTED,
)


def phrases_of(said: Said) -> list[phrasing.Phrase]:
    sentence = Sentence(said.text, said.question, said.before)
    phrased = phrasing.phrased(sentence, asked_back=not said.analyst)
    return [] if isinstance(phrased, str) else phrased


@pytest.mark.parametrize("said", PAIRS, ids=lambda said: said.text[:40])
def test_words_are_built_or_quoted_or_left_out(said: Said) -> None:
    made = phrases_of(said)

    assert [QUOTED if phrase.quoted else phrase.action for phrase in made] == (
        [] if said.becomes == NOTHING else [said.becomes, *said.also]
    )
    if said.title:
        assert made[0].title == said.title
    if said.condition:
        assert made[0].condition == said.condition
    if said.actor:
        assert resolve(made[0].subject, earlier=[]) == said.actor


@pytest.mark.parametrize(
    ("action", "wrong"),
    [
        ("Add notes to an order", None),
        ("Ensure that just like the others say it of the hall", "no_noun"),
        ("Log in", None),
        ("Work offline", None),
        ("Scan the form and attach it to the case", None),
        ("Ensure that those who pay late get a letter", None),
        ("See how clean the gym is", None),
        ("", "empty"),
        ("**Reminders** for members", "markup"),
        ("Send a reminder?", "question"),
        ("Provide " + "a very long list of orders " * 10, "too_long"),
        ("The report every Monday", "no_verb"),
        ("Want a list of orders", "no_verb"),
        ("Provide with", "unfinished"),
        ("Provide quickly", "no_noun"),
        ("Provide it", "dangling"),
        ("Send them to the manager", "dangling"),
        ("Call the plumber and he comes", "dangling"),
        ("Send a list of the", "unfinished"),
        ("Provide yeah a map", "discourse_word"),
        ("Show my orders", "first_or_second_person"),
        ("Tell you the price", "first_or_second_person"),
        ("Show the the price", "said_twice"),
    ],
)
def test_an_action_that_reads_badly_says_why(action: str, wrong: str | None) -> None:
    assert flaw(action) == wrong


def test_whatever_is_said_nothing_leaves_that_reads_badly() -> None:
    chance = random.Random(7)
    words = " ".join(said.text for said in PAIRS).split()
    starts = ("I want", "We need to", "The system should", "Yes, and", "Only", "no", "Make sure")
    for _ in range(400):
        text = " ".join([chance.choice(starts), *chance.choices(words, k=chance.randint(1, 14))])
        question = chance.choice(PAIRS).question
        for phrase in phrases_of(Said(text, QUOTED, question=question)):
            assert phrase.quoted or flaw(phrase.action) is None, (text, phrase)
            assert phrase.title
            assert len(phrase.action.split()) <= MOST_WORDS + 15 or not phrase.quoted


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Customers must not see the margin.", "Prevent customers from seeing"),
        ("Never send more than 3 letters per week.", "Never send more than 3 letters per week"),
        ("No more than two visitors may enter at once.", "no more than two visitors"),
        ("Only managers may delete orders.", "nobody else may"),
        ("At least 2 people have to sign the order.", "at least 2 people"),
    ],
)
def test_a_rule_is_never_turned_round(said: str, kept: str) -> None:
    requirements = extract(build("requirements-local", QUOTING), user(said))

    assert kept.lower() in requirements[0]["action"].lower()


def test_criteria_come_from_what_was_said_or_not_at_all() -> None:
    plain, measured = extract(
        build("requirements-local", {"merge_duplicates": False}),
        user("Customers must be able to see their orders."),
        analyst("Good."),
        user("The system must export the orders as CSV within ten minutes every Monday."),
    )

    assert plain["acceptance_criteria"] == []
    assert measured["acceptance_criteria"] == [
        "The limit is ten minutes",
        "It happens every Monday",
        "The format is CSV",
    ]


def test_a_quotation_says_so_and_a_built_action_too() -> None:
    built, quoted = extract(
        build("requirements-local", QUOTING),
        user("Customers must see their orders."),
        analyst("And?"),
        user("They should also be able to see the old ones."),
    )

    assert (built["quoted"], quoted["quoted"]) == (False, True)
    assert quoted["action"] == "“They should also be able to see the old ones.”"


def test_reliability_holds_what_was_stated_against_what_matched() -> None:
    points = [(0.1, False), (0.1, False), (0.7, True), (0.7, False)]

    assert train.reliability(points, bins=2) == [
        "   2 requirements  stated 0.10  matched 0.00",
        "   2 requirements  stated 0.70  matched 0.50",
        "ECE 0.150 over 4 requirements, AUC 0.83",
    ]


@pytest.mark.parametrize("module", [measures, phrases, speech, titles, wellformed])
def test_the_examples_say_what_happens(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
