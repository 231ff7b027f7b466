"""Complaints are no bans; code, markup and talk about the talk are no requirements."""

import pytest

from pipelines.registry import build
from pipelines.requirements.text import sentences
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import Turn, analyst, extract, user


@pytest.mark.parametrize(
    "text",
    ["We don't want anyone to see the prices.", "The drivers must not see the prices today."],
)
def test_a_rule_stays_a_ban(pipeline: Pipeline, text: str) -> None:
    assert extract(pipeline, analyst("What are the rules?"), user(text))


def test_a_complaint_that_is_read_back_is_no_ban(pipeline: Pipeline) -> None:
    talk = analyst("So you can't sort the flats by distance?"), user("Yes.")

    assert extract(pipeline, *talk) == []


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
    ("turns", "figure", "old"),
    [
        (
            (
                user("Every change must sound an alarm within ten minutes."),
                analyst("Good. Anything else?"),
                user(
                    "I must correct my message: the alarm must sound after five minutes, not ten."
                ),
            ),
            "five minutes",
            "ten minutes",
        ),
        (
            (
                analyst("Deposit?"),
                user("50€ when the date is fixed, only online."),
                analyst("And the reminders?"),
                user("The day before. Oh and the deposit, make it 80."),
            ),
            "80€",
            "50€",
        ),
    ],
)
def test_a_figure_that_is_put_right_later_holds_in_what_was_said_before(
    pipeline: Pipeline, turns: tuple[Turn, ...], figure: str, old: str
) -> None:
    found = extract(pipeline, analyst("What do you need?"), user("A list."), *turns)

    said = " ".join(one["action"] for one in found)
    assert figure in said
    assert old not in said


OFFER = "Should the app show the weather of the next day?"


@pytest.mark.parametrize(
    "answer",
    [
        "We tried that once. Nobody looked at it. We don't need it.",
        "Yes, three days. Hmm, thinking about it, skip that for now, I have only 30 boats.",
        "They'd only complain about it. No.",
        "Yes. Wait, no, the captain listens to the radio. Skip the weather.",
        "Nice idea, put it on the list for later. Not in this version.",
        "please dont. a list and thats it",
        "I'd love it, but there's no budget till the roof's done. Keep it in your drawer.",
        "Ideally, yes. The port is still deliberating. We should return to the subject later.",
        "That was Tom's idea. I've gone off it. Cross it out.",
        "It is printed by the port's office, over which we have no say.",
    ],
)
def test_what_is_refused_in_whatever_sentence_of_the_answer_is_left_out(
    pipeline: Pipeline, answer: str
) -> None:
    talk = analyst("What do you need?"), user("The app must list all boats."), analyst(OFFER)

    found = extract(pipeline, *talk, user(answer))

    assert [one["action"] for one in found] == ["List all boats"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What do you wash, and for whom?", "Tablecloths, napkins, whites."),
        ("Hi! So how many rooms do you run?", "5 rooms, 2 sites"),
        ("How long before must it be told?", "Dear Ms Oduya,\n\nKind regards,"),
        ("Anything on staff?", "One thing at a time. Ask me again when this is running."),
        ("What happens today?", "People use a shared sheet. Anyone can delete anything."),
        ("How do you do it at the moment?", "The captain writes every trip in a book."),
        ("What annoys you?", "It logs everybody out after two minutes."),
        ("What brings you to us?", "Half of the crew never gets the message."),
        ("So what is the problem?", "You can't see who is on board."),
        ("And then?", "I had to call everybody by phone."),
        ("And then?", "It is tedious. I need to run three scripts for each order."),
        ("And then?", "We already have a search and it works fine."),
        ("What else?", "Oh, I just love how it shows the map in landscape only."),
        ("", "The tool we have is a joke. You upload a bill and it logs you out. Great job."),
        ("", "We plan weddings, about 40 a year, and we drown in spreadsheets."),
        ("What else?", "Dark mode, just kidding, nobody needs dark mode."),
        ("What else?", "It should bark at the neighbors. Just kidding about the neighbors."),
        ("Where did you live?", "I didn't want to live with people I didn't know."),
        ("Walk me through a typical day.", "Sometimes fuel is not written down, only paper."),
        ("What do you look at?", "Typically, if you lose a key, you have to pay for a new one."),
        ("What do you look at?", "At some clinics, the prices are high, but some might be low."),
        ("How do you sign up?", "Well, let me clarify."),
        ("What else?", "Automatically add such words to the list of words."),
        ("What else?", "The list must contain a [inaudible] that the user wants."),
        ("What do you look up?", "If there's any online map for the park at the website."),
        ("What else?", "The dentist wanted a price list. No price list."),
        ("A robot could learn from plans of past years...", "With respect, no."),
        ("Done in time.", "See, I like this."),
        ("What is the list like?", "I can't sort them by distance."),
        ("What is the list like?", "We cannot export the orders to a table."),
        ("What is the list like?", "The app doesn't show the price of an order."),
        ("What is the list like?", "The drivers can't see the orders at the moment."),
        ("What bothers people most?", "Customers can't cancel an order."),
        ("Could you share any stories that you haven't had a chance to mention?", "Yes, sure."),
        ("Can you hear me?", "Yes, I can."),
        ("And then?", "I should mention that I have to leave at five."),
        ("And then?", "We should schedule another meeting next week."),
        ("Should I send you the minutes?", "Yes please."),
        ("Shall we meet again next week?", "Yes, Tuesday. I should bring my colleague."),
        ("Shall I draw a mock-up for next week?", "Please do."),
        ("How was the trip?", "Long, I need a coffee."),
        ("Should we stop here for today?", "Yes, please."),
        ("Can we use the last ten minutes for another question?", "Of course."),
    ],
)
def test_a_complaint_a_courtesy_or_talk_about_the_talk_is_neither_a_wish_nor_a_ban(
    pipeline: Pipeline, question: str, said: str
) -> None:
    asked = [analyst(question)] if question else []

    assert extract(pipeline, *asked, user(said)) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What do you look at?", "Sometimes there is no dryer; you have to share it with others."),
        ("What do you look at?", "Someone who is loud, that wouldn't be good for me."),
        ("What is it about?", "I listen to songs every day, so I wanted to learn their words."),
        ("What else?", "I'd like to talk there, but the music was so loud, nobody could."),
        ("Do you consider local food when you decide?", "They have never thought about that."),
        ("What do you know?", "I know my average time, so I know how long it will take."),
        ("Do you take fees?", "I'd love fees for guests, but let's leave that for next year."),
        ("What else?", "A map of the shelves would be handy, but there are so many other things."),
        (
            "What else?",
            "Guests asked for photos of the hosts but that's creepy, we only show names.",
        ),
        (
            "And news?",
            "I was going to say yes, but the mayor wants to keep that with her own site.",
        ),
        (
            "How fast must a bill be paid?",
            "Within 5 days. That's accounting's job, not the tool's.",
        ),
        ("What else?", "An export to Excel would be nice. Not this year."),
        ("android and ios?", "android first. ios later if someone pays"),
        (
            "Ready?",
            "They get slips of paper, walk around, and at the end somebody types it into Excel.",
        ),
        (
            "What is broken?",
            "Everything. Excel template, print, sign, scan, mail. Takes me 40 minutes.",
        ),
        (
            "I understand that you own much music.",
            "The catalogue is on index cards, and whoever wrote them is dead.",
        ),
        ("So the app will choose a meaning, maybe or maybe not the right one.", "Right."),
    ],
)
def test_however_likely_it_seems_a_remark_is_no_requirement(asked: str, said: str) -> None:
    certain = build("requirements-local", {"min_keep": 0.0})

    found = extract(certain, user("The app must be fast."), analyst(asked), user(said))

    assert [one["action"] for one in found] == ["The app must be fast."]


@pytest.mark.parametrize(
    "said",
    [
        "Members must renew a loan by phone. A map would be nice, but we'll park that until May.",
        "Members must renew a loan by phone. That's the app's job.",
        "Members must renew a loan by phone or on paper. That's up to them.",
    ],
)
def test_what_only_sounds_put_off_stays(pipeline: Pipeline, said: str) -> None:
    (found,) = extract(pipeline, analyst("What do you need?"), user(said))

    assert found["action"].startswith("Renew a loan by phone")


def test_what_the_same_message_puts_off_is_left_out(pipeline: Pipeline) -> None:
    said = (
        "There should be a switch for the context of a sentence. Or the user can choose the "
        "sentence and its context. So maybe we can postpone this feature right now. The app must "
        "list all decks."
    )

    found = extract(pipeline, analyst("Should a word be enough?"), user(said))

    assert [one["action"] for one in found] == ["List all decks"]


@pytest.mark.parametrize(
    ("asked", "said", "action"),
    [
        ("Should there be a free trial?", "Two weeks. No, make that one week.", "one week"),
        ("Should guests see the driver?", "When he is close, yes.", "when he is close"),
        ("And reminders for deadlines?", "Yes please.", "Provide reminders for deadlines"),
    ],
)
def test_an_answer_keeps_what_it_says_besides_its_yes_or_no(
    pipeline: Pipeline, asked: str, said: str, action: str
) -> None:
    (found,) = extract(pipeline, analyst(asked), user(said))

    assert action in found["action"]


@pytest.mark.parametrize(
    ("asked", "said", "actions"),
    [
        ("What about a rating for dogs?", "Ha, tempting. But the owners would lynch me.", []),
        ("Want to see who else writes with her?", "eh that feels stalky", []),
        ("Should it charge a fee?", "I would let sleeping dogs lie.", []),
        ("How is it planned?", "The dispatchers plan by gut feeling.", []),
        ("Can students change the title?", "once, if the supervisor says ok", ["Change the title"]),
        ("Reminders of the deadline?", "two weeks before", ["Provide reminders of the deadline"]),
    ],
)
def test_a_stance_that_no_word_tells_is_read_by_its_meaning(
    pipeline: Pipeline, asked: str, said: str, actions: list[str]
) -> None:
    found = extract(pipeline, analyst(asked), user(said))

    assert [one["action"] for one in found][:1] == actions
