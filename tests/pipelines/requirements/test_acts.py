"""What people do in a talk, and what of it counts as wanted at its end."""

from __future__ import annotations

import pytest

from pipelines.requirements.extraction import acts, discourse, ledger, stances
from pipelines.requirements.extraction.ledger import Settled
from pipelines.requirements.extraction.state import Act, Commitment
from pipelines.types import Message
from tests.pipelines.requirements.talks import Turn, analyst, user


def heard(*turns: Turn) -> Settled:
    return ledger.settled(
        discourse.read_sentences(
            [Message(at, role, "", text) for at, (role, text) in enumerate(turns)]
        )
    )


def wanted(*turns: Turn) -> list[str]:
    return [each.text.rstrip(".") for each in heard(*turns).commitments if each.wanted]


def ended(*turns: Turn) -> list[tuple[str, str, int]]:
    return [
        (each.text.rstrip("."), each.ended_by.reason, each.ended_by.message)
        for each in heard(*turns).commitments
        if each.ended_by
    ]


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        *((yes, "yes") for yes in (
            "Yes", "yes!!", "yep", "ya", "yse", "yess", "Correct.", "corect",
            "Looks good to me", "perfect", "That works for us.", "sure go ahead", "ofcourse",
            "okay", "no problem", "No, that's right.", "no, nothing else", "Yes, both.",
            "I think that is fine", "all good", "sounds good, thanks", "why not",
        )),
        *((no, "no") for no in (
            "No", "nope", "nah", "no no need", "not really", "definitely not", "No, thanks.",
            "I don't think so.", "we don't need that", "maybe later", "That's wrong.",
        )),
        *((some, "partial") for some in (
            "Yes, but only for managers.", "ok except the last one", "Mostly, the name is missing",
            "yes with one change: blue", "Almost.",
        )),
        *((unsure, "unsure") for unsure in (
            "I don't know", "Good question.", "not sure", "i have to ask my boss", "It depends.",
        )),
        *((back, "clarify") for back in (
            "clarify", "can u clarify", "What do you mean by that?", "what is a token", "such as?",
            "sorry, I don't understand the question",
        )),
        *((back, "delegate") for back in ("what do you think", "up to you", "you decide please")),
        *((other, "none") for other in (
            "All orders must be printed.", "Right now we use paper.", "Nobody may delete it.",
            "It would be nice if it could print.", "Both clerks sign it.", "Good reports are rare.",
            "Everything is stored on paper.", "No one reads them.",
        )),
    ],
)  # fmt: skip
def test_answers_are_told_apart_however_they_are_written(text: str, stance: str) -> None:
    assert acts.reply_of(text).stance == stance


def test_each_sentence_has_its_acts_and_its_place() -> None:
    said = "Hi there! Should members log in by card?\nAnything else you need?"
    spoken = discourse.read_sentences(
        [
            Message(0, "analyst", "", said),
            Message(1, "user", "", "Yes, but only adults. Please add a map."),
            Message(2, "user", "", "Forget the map. What do you mean by log in?"),
        ]
    )

    kinds: list[tuple[Act, ...]] = [each.acts for each in spoken]
    assert kinds == [
        ("small_talk",),
        ("proposal", "question"),
        ("question",),
        ("answer", "statement"),
        ("statement",),
        ("withdrawal",),
        ("clarification",),
    ]
    assert [said[each.start : each.end] for each in spoken[:3]] == [
        each.text for each in spoken[:3]
    ]


@pytest.mark.parametrize("yes", ["Yes.", "looks good", "perfect, go ahead", "corect"])
def test_a_sum_up_is_accepted_item_by_item(yes: str) -> None:
    for recap in (
        "So, to sum up: the tool stores each sample, prints a label and warns about old ones. "
        "Is that right?",
        "Let me summarise:\n- The tool stores each sample\n- The tool prints a label\n"
        "- The tool warns about old ones\nDid I get that right?",
        "Quick recap. 1. The tool stores each sample. 2. The tool prints a label. "
        "3. The tool warns about old ones. Anything to add?",
    ):
        found = heard(analyst(recap), user(yes)).commitments
        assert [each.text.rstrip(".").lower() for each in found if each.wanted] == [
            "the tool stores each sample",
            "the tool prints a label",
            "the tool warns about old ones",
        ]
        assert {each.messages for each in found} == {(0, 1)}


def test_no_agrees_where_the_question_was_what_to_correct() -> None:
    recap = analyst("So the tool prints a label for each sample. Anything to correct?")

    assert wanted(recap, user("No.")) == ["the tool prints a label for each sample"]
    refused = analyst("So the tool prints a label for each sample. Is that right?")
    assert wanted(refused, user("No.")) == []


def test_the_words_that_put_an_item_right_hold_in_its_place_and_the_others_stand() -> None:
    talk = (
        analyst(
            "To recap: the kiosk prints tickets, the kiosk takes coins, and reports go out every "
            "Monday. Is this correct?"
        ),
        user("Almost, the reports should be on Friday."),
    )

    assert wanted(*talk) == [
        "the kiosk prints tickets",
        "the kiosk takes coins",
        "the reports should be on Friday",
    ]


@pytest.mark.parametrize(
    ("text", "correction", "result"),
    [
        ("send it within 5 minutes", "no, make that ten minutes", "send it within ten minutes"),
        ("allow 2 weeks", "no, make that one week", "allow one week"),
        ("take 5 coins", "within five minutes", None),
        ("send a list every week", "make it 3 euros a month", None),
    ],
)
def test_a_correction_exchanges_only_a_figure_of_the_same_unit(
    text: str, correction: str, result: str | None
) -> None:
    assert stances.amended(text, correction) == result


def test_a_later_correction_wins_over_an_accepted_proposal() -> None:
    talk = (
        analyst("Should the gate stay open for 30 seconds?"),
        user("yes"),
        analyst("And who may open it by hand?"),
        user("Guards. Actually, make it 45 seconds for the gate."),
    )

    assert wanted(*talk)[0] == "Should the gate stay open for 45 seconds"
    first = heard(*talk).commitments[0]
    assert (first.state, first.messages) == ("corrected", (0, 1, 3))


@pytest.mark.parametrize(
    "taken_back",
    [
        "Forget about the coupons.",
        "By the way, we don't need the coupons any more",
        "Let's leave the coupons out.",
        "coupons are no longer needed",
    ],
)
def test_what_was_accepted_can_be_taken_back(taken_back: str) -> None:
    talk = (
        analyst("Should the shop accept coupons at the till?"),
        user("yes please"),
        analyst("Anything else?"),
        user(taken_back),
    )

    assert wanted(*talk) == []
    assert ended(*talk) == [("Should the shop accept coupons at the till", "withdrawn", 3)]


@pytest.mark.parametrize(
    "told",
    [
        "Last year I had to copy the orders by hand, look for the ones that I don't want, and then "
        "remove them from the list of orders before the customers could see their orders.",
        "If we take it out of the list, the customer gets confused by the orders.",
        "We have to print each order of a customer, sort the list, and remove those that are old.",
    ],
)
def test_what_tells_of_work_or_supposes_takes_nothing_back(told: str) -> None:
    wishes = ("Customers should see their orders.", "The list should show each order.")
    talk = (analyst("What do you need?"), user(" ".join(wishes)), analyst("I see."), user(told))

    assert ended(*talk) == []
    assert {wish.rstrip(".") for wish in wishes} <= set(wanted(*talk))


def test_the_analyst_may_propose_to_leave_something_out() -> None:
    talk = (
        user("We need a chat with the vet."),
        analyst("So we leave out the chat with the vet for now, right?"),
    )

    assert wanted(*talk, user("Yes.")) == []
    assert wanted(*talk, user("No, keep it.")) == ["We need a chat with the vet"]


def test_refused_and_unanswered_proposals_are_kept_with_their_reason() -> None:
    talk = (
        analyst("Should the bus show adverts?"),
        user("nah"),
        analyst("Should the driver see the next stop? Should the doors beep?"),
    )

    assert ended(*talk) == [
        ("Should the bus show adverts", "refused", 1),
        ("Should the driver see the next stop", "unanswered", 2),
        ("Should the doors beep", "unanswered", 2),
    ]
    assert [each.question.message for each in heard(*talk).open_questions] == [2, 2]


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        ("Yes. No. Yes.", ["Should it print", "Should it save drafts"]),
        ("1. yes\n2. no\n3. sure", ["Should it print", "Should it save drafts"]),
        ("Yes to all of them.", ["Should it print", "Should it beep", "Should it save drafts"]),
    ],
)
def test_several_questions_get_their_own_answers(answer: str, held: list[str]) -> None:
    asked = "1. Should it print?\n2. Should it beep?\n3. Should it save drafts?"

    assert wanted(analyst(asked), user(answer)) == held


def test_open_questions_of_one_message_get_the_answers_that_name_them() -> None:
    found = heard(
        analyst("How long are videos kept? Who may watch the videos?"),
        user("Two wardens may watch. They are kept for nine days."),
    ).commitments

    answers = {each.text: each.question.text for each in found if each.question}
    assert answers["Two wardens may watch."] == "Who may watch the videos?"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("weekly", "Should the list come weekly"),
        ("the second one", "Should the list come weekly"),
        ("Daily please", "Should the list come daily"),
        ("both", "Should the list come daily and weekly"),
    ],
)
def test_a_choice_is_what_was_chosen(answer: str, text: str) -> None:
    assert wanted(analyst("Should the list come daily or weekly?"), user(answer))[0] == text


def test_a_bare_okay_to_one_or_the_other_decides_nothing() -> None:
    found = heard(analyst("Should the list come daily or weekly?"), user("okay"))

    assert [each.state for each in found.commitments] == ["open"]
    assert [each.reason for each in found.open_questions] == ["undecided"]


def test_a_question_that_was_explained_is_answered_once() -> None:
    talk = (
        analyst("Should we throttle the feed?"),
        user("what do you mean by throttle"),
        analyst("Should the feed send at most ten pictures a minute?"),
        user("yes ok"),
    )

    assert wanted(*talk) == ["Should the feed send at most ten pictures a minute"]
    assert heard(*talk).open_questions == []


def test_a_rule_that_is_pointed_to_is_what_is_accepted() -> None:
    talk = (
        analyst(
            "I agree with you. Each loan must be approved by two people. "
            "This keeps mistakes small. Should we use this rule?"
        ),
        user("yes"),
    )

    assert wanted(*talk) == ["Each loan must be approved by two people"]


def test_what_is_said_again_stays_once_and_a_sum_up_is_not_cited() -> None:
    talk = (
        user("The app must lock the bike after use."),
        analyst("So far: the app must lock the bike after use. Correct?"),
        user("Yes."),
    )

    (found,) = heard(*talk).commitments
    assert found.messages == (0,)
    assert [(each.message, each.act) for each in found.sources] == [(0, "stated"), (1, "repeated")]


def test_several_clients_decide_one_after_the_other() -> None:
    spoken = discourse.read_sentences(
        [
            Message(0, "analyst", "Kim", "Should the oven send an alarm to the phone?"),
            Message(1, "client", "Ida", "Yes."),
            Message(2, "client", "Leo", "Forget the alarm, we don't need it."),
        ]
    )

    (found,) = ledger.settled(spoken).commitments
    assert (found.state, found.ended_by and found.ended_by.message) == ("withdrawn", 2)


@pytest.mark.parametrize(
    ("asking", "answering"), [("user", "analyst"), ("Speaker 1", "Speaker 2"), ("Bo", "Ana")]
)
def test_who_asks_is_known_where_the_roles_are_swapped_or_say_nothing(
    asking: str, answering: str
) -> None:
    turns = [
        (asking, "What should the pump do?"),
        (answering, "It must stop at night."),
        (asking, "Should it text the owner?"),
        (answering, "Yes."),
    ] * 2
    spoken = discourse.read_sentences(
        [Message(at, role, "", text) for at, (role, text) in enumerate(turns)]
    )

    assert {each.side for each in spoken if each.message % 2 == 0} == {"analyst"}
    assert {each.side for each in spoken if each.message % 2} == {"client"}


def test_a_commitment_says_how_it_came_to_stand() -> None:
    found: list[Commitment] = heard(
        analyst("Should the lamp dim at ten?"), user("Yes."), user("I want a switch, too.")
    ).commitments

    assert [[source.act for source in each.sources] for each in found] == [
        ["proposed", "accepted"],
        ["stated"],
    ]
