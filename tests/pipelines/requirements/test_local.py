"""Which requirements ``requirements-local`` finds in a conversation."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import train_requirements as train
from pipelines.registry import build
from pipelines.requirements.extraction import neutral, plain_words
from pipelines.requirements.extraction.actors import resolve
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import actions, analyst, case, extract, user


def test_the_example_of_the_labeling_guide_is_found(pipeline: Pipeline) -> None:
    requirements = extract(
        pipeline,
        user("We need a way for customers to track their orders"),
        analyst("Should they receive notifications?"),
        user("Yes, email them when status changes"),
    )

    tracking, asked, notice = requirements
    assert (tracking["title"], tracking["actor"]) == ("Track their orders", "Customer")
    assert (tracking["action"], tracking["source_messages"]) == ("Track their orders", [0])
    assert tracking["rationale"] == "Stated with “need” in message 0"
    assert (asked["action"], asked["source_messages"]) == ("Receive notifications", [1, 2])
    assert asked["rationale"] == "Proposed in message 1 and accepted in message 2"
    assert (notice["actor"], notice["source_messages"]) == ("System", [2])
    assert notice["action"] == "Email them when status changes"


def test_a_change_to_what_exists_is_a_requirement(pipeline: Pipeline) -> None:
    requirements = extract(
        pipeline, user("We already have a search, but it must find misspelt words.")
    )

    assert [one["priority"] for one in requirements] == ["must"]


def test_a_sentence_with_two_wishes_gives_two(pipeline: Pipeline) -> None:
    requirements = extract(
        pipeline,
        user("The list has to load within two seconds, and the admin should delete accounts."),
    )

    assert [one["actor"] for one in requirements] == ["System", "Admin"]
    said = user("Tuners want to see the day's list, and type in the pitch before and after.")
    assert actions(extract(pipeline, said)) == [
        "See the day's list",
        "Type in the pitch before and after",
    ]


def test_list_items_are_read_one_by_one(pipeline: Pipeline) -> None:
    requirements = extract(
        pipeline, user("1. Users must log in.\n2. Users must see a map.\n- Users must print it.")
    )

    assert actions(requirements) == ["Log in", "See a map", "Print the map"]


@pytest.mark.parametrize(
    ("first", "later", "sources"),
    [
        ("Guests must see the bill.", "As I said, guests must see the bill.", [[0, 2]]),
        ("It must keep bills for 5 years.", "Hold on, keep bills for 10 years.", [[0], [2]]),
        ("Only admins can delete bills.", "Customers must be able to delete bills.", [[0], [2]]),
        ("Only admins can delete bills.", "Everybody must be able to delete bills.", [[0], [2]]),
    ],
)
def test_words_alike_are_merged_unless_they_conflict_or_speak_of_other_people(
    first: str, later: str, sources: list[list[int]]
) -> None:
    merging = build("requirements-local", {})

    requirements = extract(merging, user(first), analyst("I see."), user(later))

    assert [one["source_messages"] for one in requirements] == sources


def test_a_higher_bar_lets_less_through() -> None:
    strict = build("requirements-local", {"min_keep": 0.99, "merge_duplicates": False})

    assert extract(strict, user("Add a map.")) == []


@pytest.mark.parametrize(
    ("said", "who", "action", "condition"),
    [
        ("The app should remind members.", "System", "Remind members", None),
        ("I'd like to see my old orders.", "User", "See their old orders", None),
        ("I want the nurses to sign the sheet.", "Nurse", "Sign the sheet", None),
        ("Open orders should be shown in red.", "System", "Show open orders in red", None),
        ("If it rains, the app must warn me.", "System", "Warn the user", "If it rains"),
        ("I want to be able to sort them by distance.", "User", "Sort them by distance", None),
        ("I'd need it to send me a reminder.", "System", "Send the user a reminder", None),
        ("So, for my jobs I can keep it empty.", "User", "Keep it empty for their jobs", None),
        (
            "When I'm away, the app should call me.",
            "System",
            "Call the user",
            "When users are away",
        ),
        ("We don't want anyone to see it.", "System", "Never let anyone see it", None),
        (
            "Prices vary, so there should be a list of them.",
            "System",
            "Provide a list of them",
            None,
        ),
        ("I avoid steep trails because my knees hurt.", "User", "Avoid steep trails", None),
        ("Patients can book without calling us.", "Patient", "Book without calling the team", None),
        ("The price is the biggest factor for me.", "User", "Consider the price", None),
        ("Another point will be amenities.", "User", "Consider amenities", None),
        (
            "Reference is a big factor that's like the word of friends so that would hold weight.",
            "User",
            "Consider reference, like the word of friends",
            None,
        ),
        ("Note that guests, however, should see prices.", "Guest", "See prices", None),
        ("We should like the clerk to confirm the hours.", "Clerk", "Confirm the hours", None),
        (
            "The staff should, should see the, the list then 🙄",
            "Staff Member",
            "See the list",
            None,
        ),
        ("I go by how many miles it is.", "User", "Consider how many miles it is", None),
        (
            "If it is near, that plays a huge role for me.",
            "User",
            "Consider whether it is near",
            None,
        ),
        (
            "Towers are loud, but if the price is right, I think I would prefer a quiet house.",
            "User",
            "Prefer a quiet house",
            "If the price is right",
        ),
    ],
)
def test_plain_shapes_are_put_down_with_their_verb_first(
    said: str, who: str, action: str, condition: str | None
) -> None:
    put = plain_words.of_statement(said)

    assert put is not None
    assert not put.quoted
    assert (resolve(put.who, earlier=()), put.text, put.condition) == (who, action, condition)


@pytest.mark.parametrize(
    "said",
    [
        "Guests must not book rooms.",
        "Only nurses can change the dose.",
        "A closed ticket can't be opened again.",
        "The draft should stay in the trash.",
        "The prices should be changed by the manager.",
    ],
)
def test_what_would_lose_its_meaning_is_put_down_word_for_word(said: str) -> None:
    put = plain_words.of_statement(said)

    assert put is not None
    assert (put.text, put.quoted) == (said, True)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I don't want to focus on songs.", "Users don't want to focus on songs."),
        ("Not by phone, that costs us a lot.", "Not by phone, that costs the user a lot."),
        ("The price is not a big factor for me.", "The price is not a big factor for the user."),
        ("In the US my list must stay short.", "In the US the user's list must stay short."),
    ],
)
def test_what_has_no_plain_shape_still_names_no_speaker_and_keeps_its_denial(
    said: str, text: str
) -> None:
    put = plain_words.of_statement(said)

    assert put is not None
    assert put.text == text


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("What do you look at first?", "The price", "Look at the price first"),
        ("Which formats do you get?", "Word, PDF", "Get the formats Word, PDF"),
        ("What should the customer see?", "Where the courier is", "See where the courier is"),
        ("What is most important to you?", "The price", "Consider the price"),
        (
            "What factors are most important when you look for a flat?",
            "Safety, price, the size, and the look of the flat.",
            "Consider safety, price, the size, and the look of the flat",
        ),
        (
            "Besides the item, what details should be recorded for each delivery?",
            "Driver plate number",
            "Record driver plate number for each delivery",
        ),
        ("How long should we keep the data?", "Two years", "Keep the data for two years"),
        ("How should users be told?", "By push", "Users should be told by push."),
        ("Should there be a limit?", "5 a day", "Have a limit of 5 a day"),
        ("Should guests be able to cancel?", "Up to a day before", "Cancel up to a day before"),
        (
            "May staff change the order?",
            "Only the head",
            "Only the head may change the order.",
        ),
        ("How long is a loan?", "Four weeks", "A loan must last four weeks."),
        ("How long to keep the data?", "Ten years", "Keep the data for ten years"),
        ("How long until a session ends?", "10 minutes", "A session ends after 10 minutes."),
        ("How far ahead may one book?", "A month, no more", "One may book a month ahead, no more."),
        ("Who gets the report?", "The nurses, by mail", "Get the report, by mail"),
        ("Which languages?", "Dutch and English", "Provide Dutch and English as languages"),
        ("Calendar and dark mode?", "No, just the calendar", "Provide just the calendar"),
        ("What should change?", "Bigger buttons", "Provide bigger buttons"),
        (
            "Which particulars of the ship should the request contain?",
            "Length, beam, draught and whether the thruster is in order",
            "The request must contain length, beam, draught and whether the thruster is in order.",
        ),
        ("Which details are a must?", "Name, place, number", "Require name, place, number"),
        ("What determines the order?", "The certificate", "The certificate determines the order."),
        ("And a cut-off?", "Four in the morning", "The cut-off must be four in the morning."),
        (
            "Who may change the opening hours?",
            "Only Moira and me.",
            "Only Moira and the user may change the opening hours",
        ),
        (
            "Should codes be combinable?",
            "No, one per order",
            "Should codes be combinable? – No, one per order",
        ),
        ("Why?", "My boss", "Why? – The user's boss"),
    ],
)
def test_a_short_answer_takes_the_verb_of_its_question(
    question: str, answer: str, text: str
) -> None:
    put = plain_words.of_answer(answer, question)

    assert put is not None
    assert put.text == text


@pytest.mark.parametrize("answer", ["It depends", "Mm-hmm", "Whatever"])
def test_an_answer_that_says_nothing_is_none(answer: str) -> None:
    assert plain_words.of_answer(answer, "Which colors do you like?") is None


@pytest.mark.parametrize(
    ("text", "before", "named"),
    [
        (
            "Delete it after ten years",
            "How long do we keep the file?",
            "Delete the file after ten years",
        ),
        ("Print it", "The clerk checks the file.", "Print the file"),
        ("Print it", "The gate weighs the load.", "Print it"),
        ("Recover it", "If users delete a receipt or order", "Recover it"),
        ("Let them choose", "I see the words.", "Let them choose"),
        ("It should be a blue list", "I saw the car.", "It should be a blue list"),
    ],
)
def test_a_pronoun_gives_way_to_the_one_thing_that_was_named(
    text: str, before: str, named: str
) -> None:
    assert neutral.named(text, before) == named


@pytest.mark.parametrize(
    "said",
    [
        "Three months ago, a hiker fell here.",
        "I had to run the script twice.",
        "That would save us hours.",
        "There's a pond, too.",
    ],
)
def test_what_only_tells_is_no_requirement(pipeline: Pipeline, said: str) -> None:
    assert extract(pipeline, analyst("How was the trip?"), user(said)) == []
    assert neutral.narrates(said)
    assert not neutral.narrates("It should be there, as it was.")


@pytest.mark.parametrize(
    ("question", "action"),
    [
        ("Should the app remind members?", "Remind members"),
        ("Should you be able to export a report?", "Export a report"),
        ("Do you want the members to pay online?", "Pay online"),
        ("When a bill is late, should the app send a reminder?", "Send a reminder"),
        ("Should the app automatically save a draft?", "Automatically save a draft"),
        ("Want a checklist per room then?", "Have a checklist per room"),
        ("Would the family want to see the photos?", "The family should see the photos."),
        ("Should entries of guests stay visible?", "Entries of guests should stay visible."),
    ],
)
def test_an_accepted_question_is_put_down_as_a_statement(question: str, action: str) -> None:
    put = plain_words.of_offer(question)

    assert put is not None
    assert put.text == action


def test_weights_without_a_talk_have_not_read_its_copies_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = " ".join(f"word{at}" for at in range(80))
    talks = {"one": long, "a copy": f"{long} and more", "another": "The app must list all boats."}
    read = [
        train.Examples(replace(case(user(text)), case_id=name), np.full((1, 1), at), np.zeros(1))
        for at, (name, text) in enumerate(talks.items())
    ]
    monkeypatch.setattr(train, "solved", lambda rows, truth: rows[:, 0])

    assert list(train.fit(read)) == [0, 1, 2]
    assert list(train.fit(read, without=read[0].case)) == [2]
