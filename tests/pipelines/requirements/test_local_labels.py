"""What the labels of ``requirements-local`` say, and that they are complete whatever is said."""

import doctest

import pytest

from pipelines.registry import build
from pipelines.requirements.extraction import measures
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import analyst, extract, lacking, user


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    """Puts out all that is said, however likely."""
    return build("requirements-local", {"merge_duplicates": False, "min_keep": 0.0})


@pytest.mark.parametrize(
    ("said", "priority"),
    [
        ("The system must send an invoice.", "must"),
        ("The system should send an invoice.", "should"),
        ("It would be nice if the system could send an invoice.", "could"),
    ],
)
def test_priority_follows_the_wording(pipeline: Pipeline, said: str, priority: str) -> None:
    (found,) = extract(pipeline, user(said))

    assert (found["priority"], found["actor"]) == (priority, "System")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Customers need to see their orders.", "functional"),
        ("The page must load within two seconds.", "non-functional"),
        ("Passwords must be encrypted.", "security"),
        ("We have to keep the invoices for ten years.", "data"),
        ("The dashboard should have big buttons.", "interface"),
        ("It has to run on our existing tablets.", "constraint"),
        ("The system must record the driver's plate number.", "functional"),
        ("Authorized staff must be able to add a category.", "functional"),
    ],
)
def test_type_follows_what_is_asked_for(pipeline: Pipeline, said: str, kind: str) -> None:
    (found,) = extract(pipeline, user(said))

    assert found["type"] == kind


@pytest.mark.parametrize(
    ("said", "actor"),
    [
        ("Warehouse managers need to approve orders.", "Warehouse Manager"),
        ("Only nurses can change the dose.", "Nurse"),
        ("The app must show the price.", "System"),
        ("Passwords must be encrypted.", "System"),
        ("I want to pay by card.", "User"),
    ],
)
def test_the_actor_is_specific_and_singular(pipeline: Pipeline, said: str, actor: str) -> None:
    requirements = extract(pipeline, user(said))

    assert requirements[-1]["actor"] == actor


def test_numbers_become_checks_and_a_condition_stays_one(pipeline: Pipeline) -> None:
    (found,) = extract(
        pipeline, user("When a payment fails, the system must retry within five minutes.")
    )

    assert found["condition"] == "When a payment fails"
    assert found["acceptance_criteria"] == ["The limit is five minutes"]


@pytest.mark.parametrize(
    ("said", "check"),
    [
        ("The first person has thirty minutes to take it", "The time is thirty minutes"),
        ("Keep records for ten years for the auditor", "The period is ten years"),
        ("Members pay one euro per item", "The amount is one euro"),
        ("Never take more than two gigabytes", "The limit is two gigabytes"),
        ("Nobody over ten hours a day", "The limit is ten hours"),
        ("Wait at least 2.5 seconds", "The minimum is 2.5 seconds"),
        ("Look at it after three days", "It happens after three days"),
        ("More than 200 MB must be supported", "The value is more than 200 MB"),
        ("It costs 1,000.50 euros", "The amount is 1,000.50 euros"),
        ("It costs 1 000 euros", None),
        ("It takes 10-15 minutes, or five to ten minutes", None),
        ("We need 24-hour support", None),
        ("1," * 10_000, None),
        ("One calendar for all of us", None),
        ("Never give it to two patients at once", None),
        ("It was one of our days", None),
        ("More than three times in a month", None),
        ("Everything one might expect", None),
    ],
)
def test_only_amounts_become_checks_and_as_sentences(said: str, check: str | None) -> None:
    assert measures.amounts(said) == ([check] if check else [])


def test_the_examples_say_what_happens() -> None:
    assert doctest.testmod(measures).failed == 0


WISHES = ("We need a map.", "Only staff can see prices!", "Maybe a list would be nice?", "Yes.")
ODD_TALKS = {
    "nothing": [],
    "empty messages": [user(""), analyst("  "), user("\n")],
    "only punctuation": [user("..."), analyst("?!"), user("— … •")],
    "other scripts": [
        user("我们需要一个地图。"),
        user("Нам нужна карта! 🗺️"),
        user("İ must ŞHOW it"),
    ],
    "lone surrogate": [user("We need \ud800 a map.")],
    "control characters": [user("We need\x00 a\u200b map.\u2028Users must\tlog in.")],
    "no spaces": [user("must" * 5000)],
    "one long sentence": [user("we need a map and the admin must see it " * 500)],
    "many quotes": [user("'" * 3000 + '"' * 3000)],
    "unknown roles": [("", "We need a map."), ("SYSTEM", "x"), ("moderator", "Should we?")],
    "a thousand messages": [
        (("analyst", "user")[at % 2], WISHES[at % len(WISHES)]) for at in range(1000)
    ],
}


@pytest.mark.parametrize("name", ODD_TALKS)
def test_every_output_is_a_complete_label(pipeline: Pipeline, name: str) -> None:
    turns = ODD_TALKS[name]

    requirements = extract(pipeline, *turns)

    assert lacking(requirements, message_count=len(turns)) <= {"schema.few_criteria"}
    assert [one["id"] for one in requirements] == [
        f"REQ-{at:03d}" for at in range(1, len(requirements) + 1)
    ]
