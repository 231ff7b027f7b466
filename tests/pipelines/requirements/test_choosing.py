"""What ``requirements-local`` finds where somebody tells how something is chosen."""

from typing import Any

import pytest

from pipelines.registry import build
from pipelines.types import Case, Message, Pipeline
from tests.pipelines.requirements.talks import lacking, likely

Found = list[dict[str, Any]]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return build("requirements-local", {"merge_duplicates": False})


def listen(pipeline: Pipeline, *said: str, domain: str = "gym finding") -> Found:
    """A talk that the analyst begins and in which both take turns."""
    roles = ("analyst", "user")
    messages = tuple(Message(at, roles[at % 2], "", text) for at, text in enumerate(said))
    found: Found = pipeline.run(Case(case_id="talk", domain=domain, messages=messages))[
        "requirements"
    ]
    return found


def wanted(found: Found) -> list[tuple[str, str]]:
    return [(one["title"], one["action"]) for one in found]


def test_each_thing_of_a_list_is_a_requirement(pipeline: Pipeline) -> None:
    received = listen(
        pipeline, "What do you look for in a gym?", "Price, free lockers, and how clean it is."
    )

    assert wanted(received) == [
        ("Gym Price", "Find an affordable gym"),
        ("Free Lockers", "Find a gym with free lockers"),
        ("Gym Cleanliness", "See how clean the gym is"),
    ]
    assert {(one["type"], one["actor"]) for one in received} == {("functional", "User")}
    assert [one["source_messages"] for one in received] == [[1], [1], [1]]


@pytest.mark.parametrize(
    ("said", "title", "action"),
    [
        ("Parking is the most important thing.", "Gym Parking", "Find a gym with parking"),
        ("I also look at the opening hours.", "Opening Hours", "See the opening hours of the gym"),
        ("The second one would be the rating.", "Gym Rating", "See the rating of the gym"),
        ("I'd like big windows because I get bored.", "Big Windows", "Find a gym with big windows"),
        ("I go by how many machines they have.", "Gym Machines", "See how many machines they have"),
        ("It has to be close to my office.", "Gym Proximity", "Find a gym that is close to office"),
        ("There should be a sauna.", "Gym Sauna", "Find a gym with sauna"),
        ("If the coach is friendly, then I'd sign up.", "Gym Coach", "Choose a gym by its coach"),
        ("I don't want loud music.", "No Loud Music", "Find a gym without loud music"),
        ("I prefer one that is closer.", "Gym Proximity", "Find a gym that is closer"),
        ("I want to train alone at home.", "Train Alone At Home", "Train alone at home"),
    ],
)
def test_a_criterion_is_read_from_many_wordings(
    pipeline: Pipeline, said: str, title: str, action: str
) -> None:
    received = listen(pipeline, "How do you choose a gym?", said)

    assert wanted(received) == [(title, action)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("How was your last visit to a gym?", "It was great, the coach was funny."),
        ("Are you happy with your gym?", "Yes. I have never had any trouble with it."),
        ("Does the brand play a role?", "Not really, no."),
        ("What do you look for in a gym?", "I don't really care about a sauna."),
        ("Anything else?", "No, that's about it."),
    ],
)
def test_experience_and_small_talk_hold_no_criterion(
    pipeline: Pipeline, asked: str, answer: str
) -> None:
    assert listen(pipeline, asked, answer) == []


def test_it_points_to_what_was_named_before(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "What do you check when you look for a gym?",
        "First of all, I check the showers. I need to make sure they are clean. "
        "That is really important.",
        "What about the price?",
        "It's a deal breaker for me.",
    )

    assert wanted(received) == [
        ("Gym Showers", "Find a gym with clean showers"),
        ("Gym Price", "Find an affordable gym"),
    ]
    assert [one["source_messages"] for one in received] == [[1], [3]]


def test_only_the_answers_to_such_questions_are_read_like_that(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "What do you look for in a gym?",
        "Free lockers.",
        "Should the app send a reminder before each class?",
        "Yes, please.",
        domain="gym finding",
    )

    assert [one["action"] for one in received] == [
        "Find a gym with free lockers",
        "Send a reminder before each class",
    ]
    unasked = listen(pipeline, "What brings you here?", "The lockers are free.")
    assert likely(unasked) == []


def test_what_is_named_again_keeps_all_its_messages(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "What is most important when choosing a gym for your family?",
        "Parking and the price.",
        "And if you had to rank them?",
        "The first one is parking.",
    )

    assert ("Gym Parking", [1, 3]) in [(one["title"], one["source_messages"]) for one in received]


def test_a_limit_said_about_a_criterion_becomes_a_check(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "How do you choose a gym? What about the price?",
        "Yes, the price matters. If it's more than forty euros a month, I won't sign up.",
    )
    (found,) = likely(received)

    checks = found["acceptance_criteria"]
    assert "Leave out a gym that is more than forty euros a month" in checks
    assert not [check for check in checks if "The limit" in check]


def test_a_case_that_was_named_is_the_condition(pipeline: Pipeline) -> None:
    (found,) = listen(
        pipeline, "How do you choose?", "When my knee hurts, I look for a gym with a pool."
    )

    assert found["condition"] == "When the knee hurts"


def test_a_question_alone_can_show_that_something_is_chosen(pipeline: Pipeline) -> None:
    asked = "What do you consider when you are looking for a school?"

    received = listen(pipeline, asked, "Small classes and the way there.", domain="talks")

    assert received[0]["title"] == "Small Classes"


def test_to_do_without_the_thing_just_named_takes_nothing_else_back(pipeline: Pipeline) -> None:
    answer = "I look for parking. A sauna would be nice, but I can live without it."

    received = listen(pipeline, "What do you look for in a gym?", answer)

    assert [(one["title"], one["priority"]) for one in received] == [
        ("Gym Parking", "should"),
        ("Gym Sauna", "could"),
    ]


def test_a_criterion_may_be_taken_back(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "What do you look for in a gym?",
        "I look for parking. I also look at the rating.",
        "Both?",
        "Actually, forget the parking.",
    )

    assert [one["title"] for one in received] == ["Gym Rating"]


@pytest.mark.parametrize(
    "said",
    ["price, " * 2000, "if it is " * 800, "I look for " * 500, "how big " * 900, "’ — , and", "İ"],
)
def test_odd_answers_give_complete_labels(pipeline: Pipeline, said: str) -> None:
    received = listen(pipeline, "What do you look for in a gym?", said)

    assert lacking(received, message_count=2) <= {"schema.few_criteria"}


@pytest.mark.parametrize(
    ("earlier", "domain", "action"),
    [
        ("What kind of things do you look for in a tutor?", "", "Find a tutor that is close"),
        ("How was your week?", "tutor finding", "Find a tutor that is close"),
        ("How was your week?", "", ""),
    ],
)
def test_what_is_chosen_has_a_name(
    pipeline: Pipeline, earlier: str, domain: str, action: str
) -> None:
    asked = "OK, you also did mention proximity. How big of a factor is proximity?"
    said = (earlier, "It was long.", asked, "I believe proximity is a major factor.")

    received = listen(pipeline, *said, domain=domain)

    assert [one["action"] for one in received] == ([action] if action else [])
    assert {one["title"] for one in received} <= {"Tutor Proximity"}
    assert all(one["acceptance_criteria"] == [] for one in received)  # nobody said any


def test_a_choice_of_the_product_is_not_one_of_the_client(pipeline: Pipeline) -> None:
    """What staff choose in the app does not turn the talk into one about choosing."""
    received = listen(
        pipeline,
        "Should staff choose a room by hand?",
        "Yes.",
        "How would you prefer to sign in: by e-mail and password, or by a code?",
        "E-mail and password.",
        domain="hotel",
    )

    assert not any("Find a" in found["action"] for found in received)


def test_what_names_nothing_is_not_chosen_by(pipeline: Pipeline) -> None:
    received = listen(
        pipeline,
        "What factors do you consider important when choosing a dentist?",
        "The first thing when it comes to choosing a dentist is whether the ratings are good. "
        "Based on that, I'll make my decision. "
        "Maybe the way there, but that is the least important.",
        domain="",
    )

    assert [found["action"] for found in received][:1] == ["See whether the ratings are good"]
    assert not any("important" in found["title"].lower() for found in received)
    assert not any("decision" in found["action"] for found in received)
