"""Talks as they are spoken: what was noted of them by hand, next to what the pipeline finds.

In ``spoken/`` a line is what an analyst (A) or a client (C) says; after it, behind a plus, what a
reader notes of it in a few words. Rules were mended on vet, tools and choir; of the others nothing
but the rates was looked at.
"""

from pathlib import Path

import pytest

from pipelines.registry import build
from pipelines.requirements.text import content_words
from pipelines.types import Pipeline
from tests.pipelines.requirements.talks import Turn, actions, analyst, case, extract, likely, user

SPOKEN = Path(__file__).parent / "spoken"
MENDED_ON, UNSEEN = ("vet", "tools", "choir"), ("foodbank", "bikes", "bees")
SAME = 0.5  # of the words of a note


def talk(name: str) -> tuple[list[Turn], list[tuple[int, set[str]]]]:
    turns: list[Turn] = []
    notes: list[tuple[int, set[str]]] = []
    for line in (SPOKEN / f"{name}.txt").read_text("utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "+":
            notes.append((len(turns) - 1, content_words(text)))
        else:
            turns.append(analyst(text) if mark == "A:" else user(text))
    return turns, notes


def rates(pipeline: Pipeline, names: tuple[str, ...]) -> tuple[float, float]:
    """Share of the notes that are found, and of what is found that was noted."""
    noted = found = matched = output = 0
    for name in names:
        turns, notes = talk(name)
        made = pipeline.run(case(*turns))["requirements"]
        pairs = {
            (at, to)
            for at, (message, words) in enumerate(notes)
            for to, one in enumerate(made)
            if {message, message - 1} & set(one["source_messages"])
            and len(words & content_words(said(one))) >= SAME * len(words)
        }
        noted, output = noted + len(notes), output + len(made)
        found += len({at for at, _ in pairs})
        matched += len({to for _, to in pairs})
    return found / noted, matched / output


def said(one: dict[str, object]) -> str:
    criteria = one["acceptance_criteria"]
    assert isinstance(criteria, list)
    return " ".join(map(str, [one["title"], one["action"], one["condition"] or "", *criteria]))


@pytest.mark.parametrize(
    ("names", "quoted_from", "recall", "precision"),
    [
        (MENDED_ON, 0.25, 0.55, 0.7),
        (UNSEEN, 0.25, 0.5, 0.7),
        (MENDED_ON, 1, 0.35, 0.65),
        (UNSEEN, 1, 0.32, 0.7),
    ],
)
def test_spoken_talks_are_read(
    names: tuple[str, ...], quoted_from: float, recall: float, precision: float
) -> None:
    config = {"min_keep_quoted": quoted_from, "merge_duplicates": False}
    found, right = rates(build("requirements-local", config), names)
    assert found >= recall
    assert right >= precision


def test_people_who_forget_take_nothing_back(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        analyst("What do you want?"),
        user("Visitors should book a tour on the web. Today many people forget to book a tour."),
    )
    assert [one["source_messages"] for one in found] == [[1]]


def test_a_question_in_the_order_of_a_statement_proposes(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        analyst("So the visitor picks a kind of tour and then the system shows all free guides?"),
        user("Yeah, exactly."),
    )
    assert any("free guides" in action for action in actions(found))


def test_a_paraphrase_without_a_question_is_accepted(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        analyst("What do you need?"),
        user("We need a list of the guides."),
        analyst("Okay, so the visitor can print the ticket at home."),
        user("Exactly."),
    )
    assert [one["source_messages"] for one in found][-1] == [2, 3]


@pytest.mark.parametrize("answer", ["Both.", "Yes, both."])
def test_both_of_two_that_exclude_each_other_settles_nothing(
    pipeline: Pipeline, answer: str
) -> None:
    found = extract(
        pipeline,
        analyst("Should the list of guests be public or private?"),
        user(answer),
    )
    assert found == []


def test_what_follows_on_how_it_is_today_is_no_wish(pipeline: Pipeline) -> None:
    found = extract(
        pipeline,
        analyst("How does it work?"),
        user(
            "Right now it is all on paper. When somebody calls we look in a big book, and "
            "sometimes two people write in the same slot."
        ),
    )
    assert likely(found) == []


QUESTIONED = (
    analyst("Hello, what is it about?"),
    user("Hello, it is about permits."),
    analyst("Must an applicant identify himself?"),
    user("Yes."),
)


def test_a_quoted_proposal_has_its_question_mark_and_the_yes_to_it() -> None:
    (quoted,) = extract(build("requirements-local", {"min_keep_quoted": 0.2}), *QUESTIONED)

    assert quoted["quoted"]
    assert quoted["action"] == "“Must an applicant identify himself?” – “Yes.”"
    assert quoted["source_messages"] == [2, 3]


def test_only_what_is_likely_listed_is_quoted() -> None:
    """By the model the first sentence is .345 likely, the second .37."""
    made = extract(
        build("requirements-local", {"min_keep_quoted": 0.35}),
        analyst("What do you need?"),
        user("The keeper should, as soon as a dog is fed, not be asked once more."),
        analyst("And what else?"),
        user("Only those with a licence should be let near the big dogs."),
    )

    assert [(one["quoted"], one["source_messages"]) for one in made] == [(True, [3])]


def test_a_sentence_that_was_put_right_is_not_quoted_before_another() -> None:
    config = {"min_keep_quoted": 0, "merge_duplicates": False}
    made = extract(
        build("requirements-local", config),
        user("The app must send a receipt within five minutes. Only two people may see it."),
        analyst("Five minutes, really?"),
        user("I meant ten minutes."),
    )

    assert not [one for one in made if "five" in one["action"]]
