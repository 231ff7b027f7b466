"""What ``requirements-local`` promises about a conversation."""

import doctest
from typing import Any

import pytest

from labeling.domain.schema import check_payload
from pipelines.registry import build
from pipelines.requirements.extraction import measures
from pipelines.types import Case, Message, Pipeline

Turn = tuple[str, str]
REQUIREMENTS = "requirements"


def case(*turns: Turn) -> Case:
    messages = (Message(at, role, "", text) for at, (role, text) in enumerate(turns))
    return Case(case_id="talk", domain="shop", messages=tuple(messages))


def user(text: str) -> Turn:
    return ("user", text)


def analyst(text: str) -> Turn:
    return ("analyst", text)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return build("requirements-local", {"merge_duplicates": False})


def extract(pipeline: Pipeline, *turns: Turn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pipeline.run(case(*turns))[REQUIREMENTS]
    return found


def actions(found: list[dict[str, Any]]) -> list[str]:
    return [one["action"] for one in found]


def test_the_example_of_the_labeling_guide_is_found(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        user("We need a way for customers to track their orders"),
        analyst("Should they receive notifications?"),
        user("Yes, email them when status changes"),
    )

    tracking, notice = found
    assert (tracking["title"], tracking["actor"]) == ("Order Tracking", "Customer")
    assert (tracking["action"], tracking["source_messages"]) == ("Track their orders", [0])
    assert tracking["rationale"] == "Stated with “need” in message 0"
    assert (notice["actor"], notice["source_messages"]) == ("System", [2])
    assert notice["condition"] == "When status changes"


@pytest.mark.parametrize(
    "taken_back",
    [
        "Actually, forget the report.",
        "Let's drop the report.",
        "On second thought, we don't need the report.",
        "Scrap the report.",
    ],
)
def test_a_withdrawn_wish_is_left_out(pipeline: Pipeline, taken_back: str) -> None:
    wishes = user("I want to pay by card. I also need a monthly report by e-mail.")

    assert len(extract(pipeline, wishes)) == 2
    left = extract(pipeline, wishes, analyst("Anything else?"), user(taken_back))
    assert actions(left) == ["Pay by card"]


def test_never_mind_takes_back_the_last_wish(pipeline: Pipeline) -> None:
    found = extract(
        pipeline, user("I want to pay by card."), analyst("Fine."), user("Never mind that.")
    )

    assert found == []


@pytest.mark.parametrize("answer", ["Yes, exactly.", "Yes please.", "Absolutely.", "Correct, yes."])
def test_an_accepted_proposal_cites_question_and_answer(pipeline: Pipeline, answer: str) -> None:
    found = extract(
        pipeline,
        user("Hello."),
        analyst("Should the system lock the account after five failed attempts?"),
        user(answer),
    )

    assert actions(found) == ["Lock the account after five failed attempts"]
    assert found[0]["source_messages"] == [1, 2]
    assert found[0]["type"] == "security"
    assert found[0]["rationale"] == "Proposed in message 1 and accepted in message 2"


@pytest.mark.parametrize("answer", ["No.", "Not really.", "No, thanks.", "Maybe later."])
def test_a_refused_proposal_is_no_requirement(pipeline: Pipeline, answer: str) -> None:
    found = extract(
        pipeline,
        user("Hello."),
        analyst("Should the system lock the account after five failed attempts?"),
        user(answer),
    )

    assert found == []


def test_a_recap_adds_nothing(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        user("The system must send an invoice after each order."),
        analyst("So the system must send an invoice after each order."),
        user("Yes, exactly."),
    )

    assert [one["source_messages"] for one in found] == [[0]]


@pytest.mark.parametrize(
    "talk",
    [
        "We already have a search and it works fine.",
        "Today we send letters.",
        "Right now the staff write everything on paper.",
        "The current system already handles vouchers.",
    ],
)
def test_what_exists_already_is_left_out(pipeline: Pipeline, talk: str) -> None:
    assert extract(pipeline, user(talk)) == []


def test_a_change_to_what_exists_is_a_requirement(pipeline: Pipeline) -> None:
    found = extract(pipeline, user("We already have a search, but it must find misspelt words."))

    assert [one["priority"] for one in found] == ["must"]


def test_small_talk_holds_no_requirement(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        user("Hi there!"),
        analyst("Nice weather today."),
        user("Yes, thanks. See you tomorrow."),
        analyst("Goodbye."),
    )

    assert found == []


def test_a_denied_need_is_no_requirement(pipeline: Pipeline) -> None:
    assert extract(pipeline, user("We don't need a mobile app.")) == []


@pytest.mark.parametrize(
    ("said", "priority"),
    [
        ("The system must send an invoice.", "must"),
        ("The system should send an invoice.", "should"),
        ("It would be nice if the system could send an invoice.", "could"),
    ],
)
def test_priority_follows_the_wording(pipeline: Pipeline, said: str, priority: str) -> None:
    (found,) = extract(pipeline, user(said))

    assert (found["priority"], found["actor"]) == (priority, "System")
    assert found["action"] == "Send an invoice"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Customers need to see their orders.", "functional"),
        ("The page must load within two seconds.", "non-functional"),
        ("Passwords must be encrypted.", "security"),
        ("We have to keep the invoices for ten years.", "data"),
        ("The dashboard should have big buttons.", "interface"),
        ("It has to run on our existing tablets.", "constraint"),
    ],
)
def test_type_follows_what_is_asked_for(pipeline: Pipeline, said: str, kind: str) -> None:
    (found,) = extract(pipeline, user(said))

    assert found["type"] == kind


@pytest.mark.parametrize(
    ("said", "actor"),
    [
        ("Warehouse managers need to approve orders.", "Warehouse Manager"),
        ("Only nurses can change the dose.", "Nurse"),
        ("The app must show the price.", "System"),
        ("Passwords must be encrypted.", "System"),
        ("I want to pay by card.", "User"),
        ("Our drivers are late. They need to see the route.", "Driver"),
    ],
)
def test_the_actor_is_specific_and_singular(pipeline: Pipeline, said: str, actor: str) -> None:
    found = extract(pipeline, user(said))

    assert found[-1]["actor"] == actor


def test_a_sentence_with_two_wishes_gives_two(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        user("The list has to load within two seconds, and the admin should delete accounts."),
    )

    assert [one["actor"] for one in found] == ["System", "Admin"]


def test_list_items_are_read_one_by_one(pipeline: Pipeline) -> None:
    found = extract(
        pipeline, user("1. Users must log in.\n2. Users must see a map.\n- Users must print it.")
    )

    assert actions(found) == ["Log in", "See a map", "Print the map"]


def test_numbers_and_conditions_become_checks(pipeline: Pipeline) -> None:
    (found,) = extract(
        pipeline, user("When a payment fails, the system must retry within five minutes.")
    )

    assert found["condition"] == "When a payment fails"
    assert found["acceptance_criteria"][:3] == [
        "The limit is five minutes",
        "Happens when a payment fails",
        "Does not happen in other cases",
    ]


@pytest.mark.parametrize(
    ("said", "check"),
    [
        ("The first person has thirty minutes to take it", "The time is thirty minutes"),
        ("Keep records for ten years for the auditor", "The period is ten years"),
        ("Members pay one euro per item", "The amount is one euro"),
        ("Never take more than two gigabytes", "The limit is two gigabytes"),
        ("Nobody over ten hours a day", "The limit is ten hours"),
        ("Wait at least 2.5 seconds", "The minimum is 2.5 seconds"),
        ("Look at it after three days", "It happens after three days"),
        ("More than 200 MB must be supported", "The value is more than 200 MB"),
        ("It costs 1,000.50 euros", "The amount is 1,000.50 euros"),
        ("It costs 1 000 euros", None),
        ("It takes 10-15 minutes, or five to ten minutes", None),
        ("We need 24-hour support", None),
        ("1," * 10_000, None),
        ("One calendar for all of us", None),
        ("Never give it to two patients at once", None),
        ("It was one of our days", None),
        ("More than three times in a month", None),
        ("Everything one might expect", None),
    ],
)
def test_only_amounts_become_checks_and_as_sentences(said: str, check: str | None) -> None:
    assert measures.amounts(said) == ([check] if check else [])


@pytest.mark.parametrize(
    ("condition", "when"),
    [
        ("If a member switches it on, he can delete it", "Happens if a member switches it on"),
        ("When I'm hiking because it is fun", "Happens when I'm hiking"),
        ("Above that", None),
        (None, None),
    ],
)
def test_a_condition_becomes_a_check_where_it_stands_by_itself(
    condition: str | None, when: str | None
) -> None:
    assert measures.conditions(condition)[:1] == ([when] if when else [])


def test_the_examples_say_what_happens() -> None:
    assert doctest.testmod(measures).failed == 0


@pytest.mark.parametrize(
    "put_right",
    ["No, sorry, make that ten minutes.", "I meant ten minutes.", "Ten minutes is better."],
)
def test_a_figure_put_right_later_is_the_one_that_holds(pipeline: Pipeline, put_right: str) -> None:
    found = extract(
        pipeline,
        user("The app must send a receipt within five minutes. Only two people may see it."),
        analyst("Five minutes, really?"),
        user(put_right),
    )

    assert actions(found)[0].lower() == "send a receipt within ten minutes"
    assert found[0]["source_messages"] == [0, 2]


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("Users must see a map. They should print it later.", "Print the map later"),
        ("Staff should approve orders. They must archive them.", "Archive the orders"),
        ("Staff should approve orders. They must sign it.", "Sign it"),
    ],
)
def test_it_and_them_are_named_where_one_thing_fits(
    pipeline: Pipeline, said: str, action: str
) -> None:
    assert actions(extract(pipeline, user(said)))[-1] == action


def test_two_that_conflict_both_stay_and_the_later_says_so() -> None:
    found = extract(
        build("requirements-local", {}),
        user("The system must keep invoices for 5 years."),
        analyst("Noted."),
        user("Hold on, the system must keep invoices for 10 years."),
    )

    assert [one["source_messages"] for one in found] == [[0], [2]]
    assert "conflicts with" not in found[0]["rationale"]
    assert found[1]["rationale"].endswith(
        "; conflicts with REQ-001: they name other figures (5 and 10 years)"
    )


@pytest.mark.parametrize(
    ("who", "actor"),
    [("Customers", "Customer"), ("All users", "User"), ("Everybody", "User")],
)
def test_what_other_people_may_do_is_a_requirement_of_its_own(who: str, actor: str) -> None:
    found = extract(
        build("requirements-local", {}),
        user("Only admins can delete invoices."),
        analyst("I see."),
        user(f"{who} must be able to delete invoices."),
    )

    assert [(one["actor"], one["source_messages"]) for one in found] == [
        ("Admin", [0]),
        (actor, [2]),
    ]


def test_words_alike_are_merged_and_keep_both_sources() -> None:
    merging = build("requirements-local", {})

    found = extract(
        merging,
        user("Customers must be able to track their orders."),
        analyst("I see."),
        user("As I said, customers must be able to track their orders."),
    )

    assert [one["source_messages"] for one in found] == [[0, 2]]


def test_confidence_differs_with_the_wording(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        user("Users must log in. Add a map."),
        analyst("How long should we keep the records?"),
        user("Ten years."),
    )

    assert len({one["confidence"] for one in found}) > 1
    assert all(0 < one["confidence"] < 1 for one in found)


WISHES = ("We need a map.", "Only staff can see prices!", "Maybe a list would be nice?", "Yes.")
ODD_TALKS = {
    "nothing": [],
    "empty messages": [user(""), analyst("  "), user("\n")],
    "only punctuation": [user("..."), analyst("?!"), user("— … •")],
    "other scripts": [
        user("我们需要一个地图。"),
        user("Нам нужна карта! 🗺️"),
        user("İ must ŞHOW it"),
    ],
    "lone surrogate": [user("We need \ud800 a map.")],
    "control characters": [user("We need\x00 a\u200b map.\u2028Users must\tlog in.")],
    "no spaces": [user("must" * 5000)],
    "one long sentence": [user("we need a map and the admin must see it " * 500)],
    "many quotes": [user("'" * 3000 + '"' * 3000)],
    "unknown roles": [("", "We need a map."), ("SYSTEM", "x"), ("moderator", "Should we?")],
    "a thousand messages": [
        (("analyst", "user")[at % 2], WISHES[at % len(WISHES)]) for at in range(1000)
    ],
}


@pytest.mark.parametrize("name", ODD_TALKS)
def test_every_output_is_a_complete_label(pipeline: Pipeline, name: str) -> None:
    turns = ODD_TALKS[name]

    found = extract(pipeline, *turns)

    labels = [{"uid": one["id"], **one} for one in found]
    problems = check_payload(
        {REQUIREMENTS: labels},
        layers=["extraction"],
        message_count=len(turns),
        complete=True,
        empty=not found,
    )
    assert problems == []
    assert [one["id"] for one in found] == [f"REQ-{at:03d}" for at in range(1, len(found) + 1)]


def test_the_same_conversation_gives_the_same_output(pipeline: Pipeline) -> None:
    turns = ODD_TALKS["a thousand messages"]

    once = extract(pipeline, *turns)
    again = extract(build("requirements-local", {"merge_duplicates": False}), *turns)

    assert once == again
    assert once


def test_a_higher_bar_lets_less_through() -> None:
    strict = build("requirements-local", {"min_keep": 0.99, "merge_duplicates": False})

    assert extract(strict, user("Add a map.")) == []
