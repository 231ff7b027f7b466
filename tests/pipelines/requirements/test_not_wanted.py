"""Complaints are no bans; code, markup and talk about the talk are no requirements."""

import pytest

from pipelines.requirements.extraction.built import Said
from pipelines.requirements.extraction.phrasing import phrased
from pipelines.requirements.text import sentences
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import actions, analyst, extract, user


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the list like?", "I can't sort them by distance."),
        ("What is the list like?", "We cannot export the orders to a table."),
        ("What is the list like?", "I couldn't find the settings."),
        ("What is the list like?", "I can't find the thing I want."),
        ("What is the list like?", "The app doesn't show the price of an order."),
        ("What is the list like?", "The drivers can't see the orders at the moment."),
        ("What bothers people most?", "Customers can't cancel an order."),
    ],
)
def test_what_somebody_cannot_do_today_is_no_ban(question: str, text: str) -> None:
    made = phrased(Said(text, question))

    assert isinstance(made, str) or all(phrase.quoted for phrase in made)


@pytest.mark.parametrize(
    "text",
    [
        "Customers can't cancel an order after Friday.",
        "We don't want anyone to see the prices.",
        "The drivers must not see the prices today.",
    ],
)
def test_a_rule_stays_a_ban(text: str) -> None:
    (phrase,) = phrased(Said(text, "What are the rules?"))

    assert not phrase.quoted


def test_a_complaint_that_is_read_back_is_no_ban(pipeline: Pipeline) -> None:
    found = extract(pipeline, analyst("So you can't sort the flats by distance?"), user("Yes."))

    assert not [one for one in actions(found) if one.startswith(("Prevent", "Never"))]


@pytest.mark.parametrize(
    "code",
    [
        "SELECT name FROM users WHERE age > 30 LIMIT 5 days;",
        "select id, total from orders",
        "if (total > 100) {",
        "return sendMail(user);",
        "const limit = 5;",
        '<div class="row">Add notes</div>',
        '"retries": 5,',
        "```\nThe limit must be 5 days.\n```",
    ],
)
def test_code_and_markup_are_not_read(code: str) -> None:
    said = ["It must be fast.", "The list should open."]

    assert sentences(f"{said[0]}\n{code}\n{said[1]}") == said


@pytest.mark.parametrize(
    "text",
    [
        "Select the date from the calendar;",
        "- the price (net);",
        '"Status": the state of an order',
        "OR we could print it.",
        "$ 5 per month must be enough.",
        "<b>only</b> open orders",
        "Show the name(s);",
    ],
)
def test_what_only_looks_like_code_is_read(text: str) -> None:
    assert sentences(text)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Could you share any stories that you haven't had a chance to mention?", "Yes, sure."),
        ("Can you hear me?", "Yes, I can."),
        ("And then?", "I should mention that I have to leave at five."),
        ("And then?", "I need to get a coffee."),
        ("And then?", "We should schedule another meeting next week."),
        ("Should I send you the minutes?", "Yes please."),
    ],
)
def test_talk_about_the_talk_is_no_requirement(pipeline: Pipeline, asked: str, said: str) -> None:
    assert extract(pipeline, analyst(asked), user(said)) == []
