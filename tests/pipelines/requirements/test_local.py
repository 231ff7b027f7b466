"""Which requirements ``requirements-local`` finds in a conversation, and how they are put down."""

import pytest

from benchmarks import train_requirements as train
from pipelines.encoder import MiniLM
from pipelines.registry import build
from pipelines.requirements.extraction import shapes
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import analyst, case, extract, user

TALK = (
    analyst("What should the system do for the clinic?"),
    user("Book an appointment online. The system must send an invoice."),
    analyst("Should the app remind people of their appointment?"),
    user("Yes, please, that would help."),
    analyst("How long should we keep the records?"),
    user("Ten years."),
)


def test_wishes_offers_and_answers_are_found_with_their_messages(pipeline: Pipeline) -> None:
    found = extract(pipeline, *TALK)

    said = {one["action"]: one["source_messages"] for one in found}
    assert said == {
        "Book an appointment online.": [1],
        "Send an invoice.": [1],
        "The app should remind people of their appointment.": [2, 3],
        "The system should keep the records: ten years.": [4, 5],
    }
    assert all(0 <= one["wanted"] == one["confidence"] <= 1 for one in found)


def test_the_same_talk_gives_the_same(pipeline: Pipeline) -> None:
    again = build("requirements-local", {"merge_duplicates": False})

    assert extract(pipeline, *TALK) == extract(again, *TALK)


def test_a_higher_bar_lets_less_through() -> None:
    strict = build("requirements-local", {"min_keep": 0.999, "merge_duplicates": False})

    assert extract(strict, *TALK) == []


@pytest.mark.parametrize(
    ("first", "later", "sources"),
    [
        ("Guests must see the bill.", "Guests must see the bill.", [[0, 2]]),
        ("Only admins can delete bills.", "Customers can delete bills.", [[0], [2]]),
    ],
)
def test_words_alike_are_merged_unless_they_conflict_or_speak_of_other_people(
    first: str, later: str, sources: list[list[int]]
) -> None:
    merging = build("requirements-local", {"min_keep": 0.0})

    requirements = extract(merging, user(first), analyst("I see."), user(later))

    cited = [one["source_messages"] for one in requirements]
    assert [each for each in cited if 1 not in each] == sources


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("The app should remind members.", "The app should remind members."),
        ("I'd like to see my old orders.", "Users should be able to see their old orders."),
        ("We need to keep our bills.", "Users need to keep their bills."),
        ("I want the nurses to sign the sheet.", "The nurses should sign the sheet."),
        ("I'd need it to send me a list.", "The system should send the user a list."),
        ("And I want a list of late orders.", "There should be a list of late orders."),
        ("want a checklist per room", "There should be a checklist per room."),
        ("We need a map, you know.", "There must be a map."),
        ("I want it quiet.", "It should be quiet."),
        ("It would be great if members could pay online.", "Members should pay online."),
        ("If it could print a list, that would be great.", "It should print a list."),
        ("Could it please show the price?", "The system should show the price."),
        (
            "Send me the list every Monday.",
            "The system should send the user the list every Monday.",
        ),
        ("Never show prices to guests.", "The system should never show prices to guests."),
        ("I must see my shifts.", "Users must see their shifts."),
        (
            "Um, so, members should, should see the, the list, uh, then.",
            "Members should see the list.",
        ),
        ("Guests should see prices because they ask.", "Guests should see prices."),
        ("Only nurses can change the dose, right?", "Only nurses can change the dose."),
        ("The prices are in a book.", "The prices are in a book."),
    ],
)
def test_a_plain_shape_is_put_down_as_a_rule_and_all_else_word_for_word(
    said: str, text: str
) -> None:
    assert shapes.of_statement(said).text == text


def test_the_subject_of_the_question_stands_for_the_pronoun_of_the_answer() -> None:
    told = shapes.of_statement("It must be silent.", "Should the alarm beep?")

    assert told.text == "The alarm must be silent."
    assert shapes.of_statement("It must be silent.", "Should it beep?").text == "It must be silent."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Should the app remind members?", "The app should remind members."),
        ("Should you be able to export a report?", "Users should be able to export a report."),
        ("Do you want the members to pay online?", "The members should pay online."),
        ("Would you like to see the prices?", "Users should be able to see the prices."),
        ("Do you want a weekly report?", "There should be a weekly report."),
        (
            "When it is late, should the app call you?",
            "When it is late: the app should call the user.",
        ),
        ("Could customers move a slot?", "Customers should be able to move a slot."),
        ("Could we print a label?", "The system should print a label."),
        ("Should the order list show prices?", "The order list should show prices."),
        ("And a waiting list?", "There should be a waiting list."),
        ("So patients order on a page.", "Patients order on a page."),
    ],
)
def test_an_offer_is_put_down_as_a_statement(question: str, text: str) -> None:
    told = shapes.of_offer(question)

    assert told is not None
    assert told.text == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Yes, but only by mail.", "The app should remind them, only by mail."),
        ("Sure, as long as it's free.", "The app should remind them, as long as it's free."),
        ("Yes, that would save me an hour.", "The app should remind them."),
    ],
)
def test_an_offer_keeps_the_limit_under_which_it_was_accepted(answer: str, text: str) -> None:
    offer = shapes.of_offer("Should the app remind them?")

    assert offer is not None
    assert shapes.with_limit(offer, answer).text == text


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("What should the customer see?", "The place", "The customer should see the place."),
        (
            "How long should we keep the data?",
            "Two years",
            "The system should keep the data: two years.",
        ),
        ("Who may change the price?", "Only the head", "Only the head may change the price."),
        ("Should there be a limit?", "Five a day", "There should be a limit: five a day."),
        ("Response time?", "200 ms", "There should be response time: 200 ms."),
        ("Which languages?", "Dutch and English", "Which languages? – Dutch and English."),
    ],
)
def test_a_short_answer_is_joined_to_its_question(question: str, answer: str, text: str) -> None:
    told = shapes.of_answer(answer, question)

    assert told is not None
    assert told.text == text


@pytest.mark.parametrize(
    ("said", "alone"),
    [("Two years", True), ("By text, at night", True), ("It must ring", False), ("We do", False)],
)
def test_a_fragment_has_no_verb(said: str, alone: bool) -> None:
    assert shapes.is_fragment(said) is alone


MARKED = """A head that says what the marks mean.

# 1-boats | harbor | terse
A: Shall it list the boats?
C: {yes} Yes. {now} We have nine. {want} And the berths, too.
== wanted
R: The app should list boats and berths. [0, 1]
== unwanted
N(today): Nine boats [1]

# 2-none | harbor | terse
A: A map?
C: {no} No.
== wanted
== unwanted
N(refused): A map [0, 1]
"""


def test_marked_talks_are_read_with_what_is_wanted_and_what_is_not(tmp_path) -> None:
    path = tmp_path / "marked.txt"
    path.write_text(MARKED)

    first, second = train.read_marked(path)
    assert first.case.messages[1].content == "Yes. We have nine. And the berths, too."
    assert [mark for mark, _ in first.pieces[1]] == ["yes", "now", "want"]
    assert (first.wanted[0].text, first.wanted[0].messages) == (
        "The app should list boats and berths.",
        frozenset({0, 1}),
    )
    assert (first.writer, second.writer, second.wanted) == ("1", "2", [])
    sentences, truth = train.examples([first])
    assert truth == ["yes", "now", "want"]
    assert {each.asked.text for each in sentences if each.asked} == {"Shall it list the boats?"}


def test_what_is_found_counts_what_rests_on_a_common_message() -> None:
    (talk,) = [each for each in train.read_marked() if each.case.case_id == "1-noreen-surgery"]
    said = {"action": talk.wanted[0].text, "source_messages": [3]}
    elsewhere = {"action": talk.wanted[1].text, "source_messages": [1]}
    unwanted = {"action": talk.unwanted[0].text, "source_messages": [10]}

    found = train.figures([talk], {talk.case.case_id: [said, elsewhere, unwanted]}, MiniLM())
    assert (found["outputs"], found["near"], found["unwanted"]) == (3, pytest.approx(1 / 3), 1)
    assert found["recall"] == pytest.approx(1 / len(talk.wanted))


def test_each_writer_is_read_by_models_that_have_not_seen_the_writer(monkeypatch) -> None:
    read = train.read_marked()
    talks = [each for name in "12" for each in read if each.writer == name][::7]
    fit, seen = train.fit_marks, []
    monkeypatch.setattr(
        train, "fit_marks", lambda of, by: seen.append({one.writer for one in of}) or fit(of, by)
    )

    right, everything, nothing = train.evaluate(talks, MiniLM(), (0.0, 1.0))
    assert seen == [{"1", "2"}, {"2"}, {"1"}]
    assert 0 < float(right.removeprefix("marks right ")) < 1
    assert not everything.startswith("from 0.0: 0 put out")
    assert nothing.startswith("from 1.0: 0 put out")


def test_a_copy_of_a_talk_is_left_out_with_it() -> None:
    talks = train.read_marked()
    longest = max(talks, key=lambda talk: len(talk.case.messages))
    copy = case(*((each.role, each.content) for each in longest.case.messages))

    assert train.without(talks, copy) == [each for each in talks if each is not longest]
