"""What a reader stumbles over in a list of requirements, and what is fine."""

import json
from pathlib import Path

import pytest

from pipelines.requirements.validation import reading
from pipelines.requirements.validation.local import validate

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
        ("Log in", ""),
        ("Print this week's list", ""),
        ("See where the vans are", ""),
        ("Never show prices to guests", ""),
        ("Show the slots that are free", ""),
        ("Switch the heating on and delete the plan at any time", ""),
        ("Only the head waiter may cancel a table", ""),
        ("The oven sends a message when the bread is done", ""),
        ("Ship orders to the US", ""),
        ("Automatically update the prices", ""),
        ("Automatically recalculate the prices", ""),
        ("The oven recharges the lamp", ""),
        ("Scan a part", ""),
        ("Never offer anything that breaks the diet", ""),
        ("Ensure that there is a bin in each room", ""),
        ("Ensure that every plan keeps its date", ""),
    ],
)
def test_a_reader_stumbles_over_what_is_named_and_over_nothing_that_reads_well(action, kind):
    assert kinds(action) == ([kind] if kind else [])


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


def test_a_quotation_may_speak_as_people_do():
    assert kinds("I want it on one page", quoted=True) == []


def test_a_field_gets_one_issue_of_a_type_however_many_words_are_vague():
    (one,) = validate([stated("See it soon")], encoder=None)

    assert (one["issue_type"], one["field"], one["span"]["text"]) == ("untestable", "action", "it")
