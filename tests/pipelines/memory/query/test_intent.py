from datetime import date

import pytest

from pipelines.memory.dates import Days, days_in
from pipelines.memory.query.intent import read_intent

JANUARY = Days(date(2023, 12, 28), date(2024, 1, 27))


@pytest.mark.parametrize(
    ("question", "kind", "mode"),
    [
        ("When did Bob go to Oslo?", "time_point", "fact"),
        ("What colour is the bicycle of Bob?", "event_retrieval", "fact"),
        ("How many cakes did Ann bake?", "event_retrieval", "summary"),
        ("Which cities have both Ann and Bob been to?", "event_retrieval", "summary"),
        ("How did the baking of Ann evolve throughout the talk?", "arc_narrative", "narrative"),
        ("What was Bob doing in the beginning?", "phase_query", "narrative"),
    ],
)
def test_a_question_tells_by_its_wording_what_it_wants(question, kind, mode):
    intent = read_intent(question)

    assert (intent.query_type, intent.output_mode) == (kind, mode)


def test_the_layer_asked_for_settles_that_it_is_a_story():
    intent = read_intent("What about the cakes of Ann?", task="arc")

    assert intent.query_type == "arc_narrative"


def test_the_signals_in_focus_are_read():
    intent = read_intent("Why was Bob upset with Ann, did they argue?")

    assert intent.focus_dimensions == ("emotional_tone", "conflict_intensity")


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened on 31 Dec 2023?", (2023, 12, 31), (2023, 12, 31)),
        ("What did he play on 21.01.2024?", (2024, 1, 21), (2024, 1, 21)),
        ("Who came on January 5th, 2024?", (2024, 1, 5), (2024, 1, 5)),
        ("Who came on January 5?", (2024, 1, 5), (2024, 1, 5)),
        ("Who came on 2024-01-05?", (2024, 1, 5), (2024, 1, 5)),
        ("What was there in December 2023?", (2023, 12, 1), (2023, 12, 31)),
        ("What was planned in January?", (2024, 1, 1), (2024, 1, 31)),
        ("What was seen before 7 Jan 2024?", (2023, 12, 28), (2024, 1, 7)),
        ("What was seen after 7 Jan 2024?", (2024, 1, 7), (2024, 1, 27)),
        ("What was between 3 Jan and 7 Jan?", (2024, 1, 3), (2024, 1, 7)),
        ("Where was the New Year celebrated?", (2024, 1, 1), (2024, 1, 1)),
    ],
)
def test_days_are_read_in_every_spelling(question, first, last):
    assert days_in(question, span=JANUARY) == Days(date(*first), date(*last))


@pytest.mark.parametrize("question", ["May I ask?", "On 31.02.2024?", "He may march", "", "1.2"])
def test_what_is_no_day_is_none(question):
    assert days_in(question, span=JANUARY) is None


def test_a_talk_without_times_still_has_days_in_its_questions():
    assert days_in("On 5 January 2024?", span=None) == Days(date(2024, 1, 5), date(2024, 1, 5))
