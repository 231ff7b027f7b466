"""The whole answer decides what becomes of an offer, and its last stance wins."""

from __future__ import annotations

import pytest

from pipelines.requirements.extraction.state import Commitment
from tests.pipelines.requirements.talks import Turn, analyst, user
from tests.pipelines.requirements.test_acts import heard

REFUSED = """
Do you want us only to focus on songs?
    Uh-huh. I don't want to focus on songs, I want texts in general.
Should the app send a reminder by text message?
    Yes, well, I don't want text messages.
Would you like push notifications?
    Uh-huh, I want an email instead.
Should customers pay by card?
    Yeah, no.
    Yes. Actually, no.
    Sure... hmm, on second thought, leave it out.
Should we add a chat window?
    That could be nice, but we don't need it.
Should the system show ratings of other buyers?
    Yes, I see. But no, we don't want ratings.
    Mm-hm. I wouldn't want ratings of other buyers.
Do you want a weekly report?
    Yes yes, I understand. We don't want a weekly report though.
    Well, sure, maybe. No. Definitely not.
Should guests be able to book without an account?
    Okay, I get it. I would prefer an account for everyone instead.
Would a dark mode be useful?
    It would be, I guess, but I don't want a dark mode.
    Yes... wait, no, sorry.
Should the app read out the messages?
    Uh, yeah, I mean, nah.
    Yes. Hmm. Let's not do that.
Should the app remember the last search?
    Aha. No, thank you.
Shall we sort the list by price?
    Yes, people ask for it. But no, sort it by distance.
Do you want to scan the tickets with a phone?
    True, true. But we won't scan tickets with a phone.
    Okay, that is possible. It's not necessary.
Do you want us to store the card number?
    Sure, everybody does that. I do not want you to store the card number.
    I understand why. No.
Should members see each other's names?
    Uh-huh, uh-huh, but they should not see each other's names.
Should we allow posts to be deleted?
    I would say yes. My boss says no. So no.
Do you want the data in the cloud?
    Yes but our lawyers said no.
    Sure, I get the appeal; however I'd much rather keep it on our own server.
Should guests be able to bring friends?
    Yes, up to three. Wait, our insurance. So no friends.
    Over my dead body.
    Please no.
    I'd rather you didn't, it gets too loud.
"""
ACCEPTED = """
Should customers pay by card?
    Yes, no problem.
    No, no, they should pay by card, yes.
    No... well, actually yes.
    Yes. I don't want to handle cash any more.
Should the app fill in the address automatically?
    Yes, I don't want to type it by hand.
Do you want a weekly report?
    No? Of course, yes.
    Yeah, no, that's fine.
    Yes, but only for managers.
Should the app remember the last search?
    Yes. No need to log in again.
Should it play music?
    I don't know. Yes, I think so.
    omg yes thats what i want most
    Very much, they ask for it every year.
    i guess, would be nice for long evenings
    They do, at least at night.
Should members see each other's names?
    Yes, I don't see why not.
Should we add a chat window?
    Yes! We don't have anything like that today.
    Not today, but yes, add it.
Do you want to scan the tickets with a phone?
    Yes, not with a scanner.
Should guests be able to book without an account?
    Yes, I don't think they need one.
Should users be able to delete their posts?
    Of course. What I don't want is that they delete posts of others.
"""
UNDECIDED = [
    "I'd say yes? Or maybe not.",
    "Yes. Let me ask our lawyer first.",
    "Sure, but I'll ask.",
]


def pairs(table: str) -> list[tuple[str, str]]:
    """The questions of a table, each with the answers below it."""
    rows, question = [], ""
    for line in table.strip().splitlines():
        if line.startswith(" "):
            rows.append((question, line.strip()))
        else:
            question = line
    return rows


def offers(*turns: Turn) -> list[Commitment]:
    return [each for each in heard(*turns).commitments if each.sentence.message == 0]


def wishes(*turns: Turn) -> list[str]:
    return [each.text.rstrip(".") for each in heard(*turns).commitments if each.wanted]


@pytest.mark.parametrize(("question", "answer"), pairs(REFUSED))
def test_an_offer_that_the_answer_ends_by_refusing_is_refused(question: str, answer: str) -> None:
    (offer,) = offers(analyst(question), user(answer))

    assert offer.state in {"refused", "replaced"}
    assert not offer.wanted


@pytest.mark.parametrize("answer", UNDECIDED)
def test_an_offer_that_the_answer_ends_by_leaving_open_is_open(answer: str) -> None:
    (offer,) = offers(analyst("Should trainers see medical data?"), user(answer))

    assert offer.state == "open"


def test_two_questions_about_one_thing_are_refused_at_once() -> None:
    asked = analyst("And paging? Should the tool page people itself?")

    assert wishes(asked, user("we have another program for that, never mind")) == []


@pytest.mark.parametrize(("question", "answer"), pairs(ACCEPTED))
def test_an_offer_that_the_answer_ends_by_accepting_is_accepted(question: str, answer: str) -> None:
    (offer,) = offers(analyst(question), user(answer))

    assert offer.wanted


@pytest.mark.parametrize(
    ("answer", "wish"),
    [
        ("Uh-huh, I want an email instead.", ["I want an email instead"]),
        ("Yes, I see. But no, we don't want push notifications.", []),
        ("Mm-hm. I don't want push notifications.", []),
        ("Okay. No, a letter must be sent.", ["a letter must be sent"]),
    ],
)
def test_a_refusal_is_neither_a_wish_nor_a_ban(answer: str, wish: list[str]) -> None:
    assert wishes(analyst("Would you like push notifications?"), user(answer)) == wish


@pytest.mark.parametrize(
    "turns",
    [
        (user("Yes."), user("Wait, no.")),
        (user("Yes."), analyst("Okay."), user("Actually no, I don't want push notifications.")),
    ],
)
def test_a_yes_may_be_taken_back_in_the_next_message(turns: tuple[Turn, ...]) -> None:
    asked = analyst("Would you like push notifications?")

    assert wishes(asked, turns[0]) == ["Would you like push notifications"]
    assert wishes(asked, *turns) == []


def test_a_no_to_the_next_question_takes_nothing_back() -> None:
    said = wishes(
        analyst("Should the app keep each payment?"),
        user("Yes."),
        analyst("Do you record the weights of the trucks?"),
        user("No, I record only the quantity."),
    )

    assert "Should the app keep each payment" in said


def test_a_sum_up_of_one_thing_is_refused_by_the_end_of_the_answer() -> None:
    said = analyst("So the shop sends invoices by mail. Is that right?")

    assert wishes(said, user("Yes... no, sorry, that's wrong.")) == []
