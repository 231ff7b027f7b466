"""What was put forward, and how each of it stands at the end of a talk."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipelines.encoder import MiniLM
from pipelines.requirements.extraction import marks, settle, turns
from pipelines.requirements.extraction.settle import Settled
from pipelines.requirements.extraction.state import Commitment, Utterance
from pipelines.types import Message
from tests.pipelines.requirements.talks import Turn, analyst, user


def heard(*said: Turn) -> Settled:
    spoken = turns.read_sentences(
        [Message(at, role, "", text) for at, (role, text) in enumerate(said)]
    )
    encoder = MiniLM()
    return settle.settled(marks.marked(spoken, encoder, marks.shipped()), encoder)


def offers(*said: Turn) -> list[Commitment]:
    return [each for each in heard(*said).commitments if each.sentence.side == "analyst"]


REFUSED = """
Do you want us only to focus on songs?
    No, I don't want to focus on songs, I want texts in general.
Would you like push notifications?
    No, I want an email instead.
Should we add a chat window?
    That could be nice, but we don't need it.
Do you want a weekly report?
    Well, sure, maybe. No. Definitely not.
Should the app read out the messages?
    Yes. Hmm. Let's not do that.
    Nobody would listen to it.
Should the app remember the last search?
    No, thank you.
Should guests be able to bring friends?
    Over my dead body.
    Please no.
Should the program rate the drivers?
    That is for the works council to decide.
    Leave that for next year.
"""
ACCEPTED = """
Should customers pay by card?
    Yes, no problem.
Should the app fill in the address automatically?
    Oh yes, please.
Do you want a weekly report?
    Yes, please, every Monday.
Should the app remember the last search?
    That would save me an hour a day.
Should members see each other's names?
    Of course.
Should the app warn the driver?
    Yes, that would be a great help.
    Absolutely.
"""


def pairs(table: str) -> list[tuple[str, str]]:
    """The questions of a table, each with the answers below it."""
    rows, question = [], ""
    for line in table.strip().splitlines():
        if line.startswith(" "):
            rows.append((question, line.strip()))
        else:
            question = line
    return rows


@pytest.mark.parametrize(("question", "answer"), pairs(REFUSED))
def test_an_offer_that_the_answer_refuses_or_puts_off_does_not_stand(
    question: str, answer: str
) -> None:
    (offer,) = offers(analyst(question), user(answer))

    assert not offer.wanted


@pytest.mark.parametrize(("question", "answer"), pairs(ACCEPTED))
def test_an_offer_that_the_answer_accepts_stands_on_both_messages(
    question: str, answer: str
) -> None:
    (offer,) = offers(analyst(question), user(answer))

    assert offer.wanted
    assert offer.messages == (0, 1)


def sentence(at: int, text: str, **likely: float) -> Utterance:
    return Utterance(1, text, "client", False, at=at, of=2, marks=likely)


@pytest.mark.parametrize(
    ("first", "second", "accepted"),
    [
        ({"yes": 0.9}, {"now": 0.9}, True),
        ({"yes": 0.9}, {"no": 0.9}, False),
        ({"no": 0.9}, {"yes": 0.9}, True),
        ({"yes": 0.9}, {"later": 0.9}, False),
        ({"yes": 0.9}, {"undo": 0.9}, False),
    ],
)
def test_the_whole_answer_decides_and_its_last_stance_wins(
    first: Mapping[str, float], second: Mapping[str, float], accepted: bool
) -> None:
    answer = [sentence(0, "Well.", **first), sentence(1, "Hm.", **second)]

    assert (settle.acceptance(answer) > settle.ACCEPTED) is accepted


def test_a_no_at_the_head_is_overcome_by_a_sure_yes_alone() -> None:
    no = sentence(0, "No, no.", yes=0.9)

    assert settle.acceptance([no]) == 0
    assert settle.acceptance([no, sentence(1, "Fine.", yes=0.4)]) == 0
    assert settle.acceptance([no, sentence(1, "Fine, then.", yes=0.9)]) == 0.9


@pytest.mark.parametrize(
    ("text", "correction", "result"),
    [
        ("Send it within 5 minutes.", "No, make that ten.", "Send it within ten minutes."),
        ("Wait ten minutes.", "Ten is long, make it five.", "Wait five minutes."),
        ("Wait ten minutes.", "After five minutes, not ten.", "Wait five minutes."),
        ("Take 5 coins in 3 days.", "Make it four.", None),
        ("Send a list.", "Make it 3.", None),
    ],
)
def test_a_correction_exchanges_the_one_figure(
    text: str, correction: str, result: str | None
) -> None:
    assert settle.amended(text, correction) == result


def test_what_was_accepted_can_be_corrected_and_taken_back() -> None:
    talk = (
        analyst("Should the gate stay open for 30 seconds?"),
        user("Yes, please."),
        analyst("Should the kiosk take coupons?"),
        user("Yes."),
        analyst("Anything else?"),
    )
    correction = heard(*talk, user("Wait, make it 45 seconds for the gate, I said 30."))
    withdrawn = heard(*talk, user("Actually, scrap the coupons, please."))

    gate = next(each for each in correction.commitments if each.sentence.message == 0)
    assert (gate.text, gate.state) == ("The gate should stay open for 45 seconds.", "corrected")
    assert gate.messages == (0, 1, 5)
    coupons = next(each for each in withdrawn.commitments if each.sentence.message == 2)
    assert (coupons.state, coupons.ended_by and coupons.ended_by.message) == ("withdrawn", 5)
    assert [each.outcome for each in correction.decisions] == ["accepted", "accepted", "changed"]
    assert [each.outcome for each in withdrawn.decisions] == ["accepted", "accepted", "withdrawn"]


def test_to_leave_something_out_is_no_offer() -> None:
    (offer,) = offers(analyst("Should the app leave out the chat?"), user("Yes."))

    assert offer.accepted == 0


def test_refused_and_unanswered_offers_are_kept_with_their_reason() -> None:
    found = heard(
        analyst("Should the bus show adverts?"),
        user("No, never."),
        analyst("Should the driver see the next stop? Should the doors beep?"),
    )

    refused = found.commitments[0]
    states = [each.state for each in found.commitments if each.sentence.side == "analyst"]
    assert states == ["refused", "open", "open"]
    assert refused.ended_by is not None
    assert (refused.ended_by.message, refused.ended_by.words) == (1, "No, never.")
    assert [each.question.message for each in found.open_questions] == [2, 2]
    assert [(each.outcome, each.answer.message) for each in found.decisions] == [("refused", 1)]


@pytest.mark.parametrize(
    ("asking", "answering"), [("user", "analyst"), ("Speaker 1", "Speaker 2"), ("Bo", "Ana")]
)
def test_who_asks_is_known_where_the_roles_are_swapped_or_say_nothing(
    asking: str, answering: str
) -> None:
    said = [
        (asking, "What should the pump do?"),
        (answering, "It must stop at night."),
        (asking, "Should it text the owner?"),
        (answering, "Yes."),
    ] * 2
    spoken = turns.read_sentences(
        [Message(at, role, "", text) for at, (role, text) in enumerate(said)]
    )

    assert {each.side for each in spoken if each.message % 2 == 0} == {"analyst"}
    assert {each.side for each in spoken if each.message % 2} == {"client"}


def test_the_chances_of_the_marks_are_chances() -> None:
    spoken = turns.read_sentences(
        [Message(0, "analyst", "", "What do you need?"), Message(1, "user", "", "I need a map.")]
    )

    asked, said = marks.marked(spoken, MiniLM(), marks.shipped())
    assert asked.marks == {}
    assert set(said.marks) == set(marks.MARKS)
    assert sum(said.marks.values()) == pytest.approx(1)
    assert max(said.marks, key=lambda name: said.marks[name]) == "want"
