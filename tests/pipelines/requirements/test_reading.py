"""What a reader stumbles over in a list of requirements, and what is fine."""

import json
from pathlib import Path

import pytest

from pipelines.requirements.validation import reading
from pipelines.requirements.validation.local import validate
from pipelines.types import Message
from tests.pipelines.requirements.nonsense import NONSENSE

LABELS = Path(__file__).parents[3] / "fixtures" / "demo"
WORST_FALSE_ALARMS = 0.01
"""Share of the requirements that people wrote in which a reader would stumble."""


def stated(action, number=1, **fields):
    return {
        "id": f"REQ-{number:03d}",
        "title": f"Title {number}",
        "actor": "Clerk",
        "action": action,
        "acceptance_criteria": [f"One {number}", f"Two {number}"],
        **fields,
    }


def kinds(action, **fields):
    return [fault.kind for fault in reading.of(stated(action, **fields))]


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("What about the lockers", "question"),
        ("Print the list?", "question"),
        ("Print **the list**", "markup"),
        ("Print, you know, the list", "filler"),
        ("See it", "pointing"),
        ("They should know before", "pointing"),
        ("Talk about this with the chef", "pointing"),
        ("Print what we like", "speech"),
        ("Print our list", "person"),
        ("Send you a link", "person"),
        ("Have a better way", "no_object"),
        ("Print", "no_object"),
        ("On the shelf near the entrance", "fragment"),
        ("Print the list and", "fragment"),
        ("Lockers for the winter", "fragment"),
        ("Show what is make a list", "broken"),
        ("Print the the list", "broken"),
        ("Print the list (with names", "broken"),
    ],
)
def test_a_reader_stumbles(action, kind):
    assert kinds(action) == [kind]


@pytest.mark.parametrize(
    "action",
    [
        "Log in",
        "Print this week's list",
        "See where the vans are",
        "Never show prices to guests",
        "Show the slots that are free",
        "Switch the heating on and delete the plan at any time",
        "Only the head waiter may cancel a table",
        "The oven sends a message when the bread is done",
        "Ship orders to the US",
        "Automatically update the prices",
        "Automatically recalculate the prices",
        "The oven recharges the lamp",
        "Scan a part",
        "Never offer anything that breaks the diet",
        "Ensure that there is a bin in each room",
        "Ensure that every plan keeps its date",
    ],
)
def test_what_reads_well_gets_no_remark(action):
    assert kinds(action) == []


def test_nobody_could_use_the_nonsense_and_the_list_is_an_alarm():
    requirements = [
        {"id": f"REQ-{at:03d}", "title": title, "actor": actor, "action": action}
        for at, (title, actor, action) in enumerate(NONSENSE, start=1)
    ]

    found = reading.unusable(requirements)

    assert len(found) == len(NONSENSE) == 44
    assert reading.is_alarm(len(found), len(requirements))
    issues = validate(requirements, encoder=None, conflict_above=0.75)
    assert {one["requirement"] for one in issues if one["field"] == "action"} == set(found)


def test_what_people_wrote_is_hardly_ever_refused():
    total = refused = 0
    for path in (LABELS / "adjudicated.jsonl", *sorted((LABELS / "labels").iterdir())):
        for line in path.read_text().splitlines():
            requirements = json.loads(line).get("requirements") or []
            total += len(requirements)
            refused += len(reading.unusable(requirements))

    assert total > 200
    assert refused <= WORST_FALSE_ALARMS * total


def test_two_of_five_or_two_of_two_are_no_alarm():
    assert reading.is_alarm(3, 5)
    assert not reading.is_alarm(2, 5)
    assert not reading.is_alarm(2, 2)
    assert not reading.is_alarm(0, 0)


def remarked(*requirements, messages=()):
    return [
        (one.requirement, one.fault.kind, one.fault.other)
        for one in reading.remarks(requirements, messages)
    ]


def test_a_copied_sentence_is_named_unless_it_says_that_it_quotes():
    talk = (Message(0, "user", "user", "Hi. The bakers print the plan for tomorrow, always."),)
    copied = stated("The bakers print the plan for tomorrow, always")

    assert remarked(copied, messages=talk) == [("REQ-001", "copy", "0")]
    assert remarked(copied | {"quoted": True}, messages=talk) == []
    assert remarked(stated("Print the plan for tomorrow"), messages=talk) == []


def test_a_quotation_may_speak_but_must_say_something():
    assert remarked(stated("I want the plan on one page", quoted=True)) == []
    assert remarked(stated("“Yeah, definitely”", quoted=True)) == [("REQ-001", "fragment", "")]
    assert remarked(stated("“If it rains, should the app tell me”", quoted=True)) == []


def test_the_same_words_in_another_order_are_the_same_requirement():
    twice = [stated("Print the plan for bakers"), stated("For bakers, print the plan", 2)]

    assert remarked(*twice) == [("REQ-002", "repeated", "REQ-001")]
    assert remarked(stated("Print the plan"), stated("Never print the plan", 2)) == []
    assert remarked(stated("Print 2 plans"), stated("Print 3 plans", 2)) == []
    assert remarked(stated("Print the plan"), stated("Print the plan", 2, actor="Baker")) == []


def test_a_criterion_that_stands_everywhere_is_named_everywhere_but_once():
    same = [stated(f"Print plan {at}", at, acceptance_criteria=["It works"]) for at in range(4)]

    assert [one[1] for one in remarked(*same)] == ["same_criterion"] * 3
    assert remarked(*same[:3]) == []


def test_a_field_gets_one_issue_of_a_type_however_many_words_are_vague():
    (one,) = validate([stated("See it soon")], encoder=None, conflict_above=0.75)

    assert (one["issue_type"], one["field"], one["span"]["text"]) == ("untestable", "action", "it")
