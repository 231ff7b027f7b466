"""Complaints are no bans; code, markup and talk about the talk are no requirements."""

import pytest

from pipelines.requirements.text import sentences
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import analyst, extract, user


def test_a_block_of_code_is_not_read() -> None:
    said = "It must be fast.\n```\nThe limit must be 5 days.\n```\nThe list should open."

    assert sentences(said) == ["It must be fast.", "The list should open."]


OFFER = "Should the app show the weather of the next day?"


@pytest.mark.parametrize(
    "answer",
    [
        "We tried that once. Nobody looked at it. We don't need it.",
        "They'd only complain about it. No.",
        "Yes. Wait, no, the captain listens to the radio. Skip the weather.",
        "Nice idea, put it on the list for later. Not in this version.",
        "please dont. a list and thats it",
        "That was Tom's idea. I've gone off it. Cross it out.",
        "It is printed by the port's office, over which we have no say.",
    ],
)
def test_what_is_refused_in_whatever_sentence_of_the_answer_is_left_out(
    pipeline: Pipeline, answer: str
) -> None:
    talk = analyst("What do you need?"), user("The app must list all boats."), analyst(OFFER)

    found = extract(pipeline, *talk, user(answer))

    assert not [one for one in found if "weather" in one["action"].lower()]


@pytest.mark.parametrize(
    "said",
    [
        "Actually, forget the coupons, scratch what I said.",
        "Scrap the coupons.",
        "Actually no, we don't need the coupons after all.",
        "Drop the coupons.",
        "I changed my mind about the coupons, leave them out.",
        "Hm, the coupons: I take that back, no coupons.",
        "About the coupons I said yes to: forget that, we don't take any.",
    ],
)
def test_what_is_taken_back_in_plain_words_is_left_out(pipeline: Pipeline, said: str) -> None:
    offers = (
        *(analyst("Should the gate stay open for 30 seconds?"), user("Yes, please.")),
        *(analyst("Should the kiosk take coupons?"), user("Yes."), analyst("Anything else?")),
    )

    (kept,) = extract(pipeline, *offers, user(said))

    assert kept["action"] == "The gate should stay open for 30 seconds."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How long before must it be told?", "Dear Ms Oduya,\n\nKind regards,"),
        ("How does it work today?", "We print the list and hang it on the wall."),
        ("What annoys you?", "It logs everybody out after two minutes."),
        ("And then?", "I had to call everybody by phone."),
        ("And then?", "We already have a search. It works fine."),
        ("", "The tool we have is a joke. You upload a bill and it logs you out. Great job."),
        ("Tell me about your shop.", "We have two shops and nine people."),
        ("What is the list like?", "I can't sort them by distance."),
        ("What is the list like?", "We cannot export the orders to a table."),
        ("What bothers people most?", "Customers can't cancel an order."),
        ("Could you share any stories?", "Yes, sure."),
        ("Can you hear me?", "Yes, I can."),
        ("And then?", "I should mention that I have to leave at five."),
        ("Should I send you the minutes?", "Yes please."),
        ("Shall we meet again next week?", "Yes, Tuesday. I should bring my colleague."),
        ("How was the trip?", "Long, I need a coffee."),
        ("Should we stop here for today?", "Yes, please."),
    ],
)
def test_a_complaint_a_courtesy_or_talk_about_the_talk_is_neither_a_wish_nor_a_ban(
    pipeline: Pipeline, question: str, said: str
) -> None:
    asked = [analyst(question)] if question else []

    assert extract(pipeline, *asked, user(said)) == []
