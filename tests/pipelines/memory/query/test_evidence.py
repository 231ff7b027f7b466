import json

import numpy as np
import pytest

from pipelines.memory.query.candidates import Search, search
from pipelines.memory.query.evidence import (
    FEATURES,
    WEIGHTS,
    Weights,
    features,
    from_json,
    trained,
    weigh,
)
from pipelines.memory.query.intent import read_intent
from pipelines.memory.training import query
from tests.pipelines.memory.talking import a_talk


def weights_on(name: str) -> Weights:
    """A model that looks at one feature alone."""
    size = len(FEATURES)
    only = np.array([float(one == name) for one in FEATURES])
    return Weights(np.zeros(size), np.ones(size), only, 0.0)


def column(question: str, name: str, searches=None) -> dict[int, float]:
    talk = a_talk()
    result = searches or [search(talk, question, why="asked", limit=10)]
    positions, rows = features(talk, read_intent(question, talk), result)
    return dict(zip(positions, rows[:, FEATURES.index(name)], strict=True))


def test_what_was_found_first_is_first_in_rank():
    ranks = column("Who bought the bicycle in Oslo?", "rank")

    assert min(ranks, key=ranks.get) == 3
    assert ranks[3] == 0.0


def test_days_asked_for_and_the_days_beside_them_are_inside():
    inside = column("What was there on 5 January 2024?", "in_days")

    assert {at for at, value in inside.items() if value} == {3, 4, 5}


def test_a_message_beside_a_likely_one_knows_it():
    after = column("Who bought the bicycle in Oslo?", "after")

    assert max(after, key=after.get) == 2


def test_the_rest_of_a_topic_does_not_count_the_message_itself():
    searches = [Search("q", "asked", (3, 4, 5), (0.9, 0.2, 0.1))]
    node = column("q", "node", searches)

    assert node[3] < node[4] == node[5]


def test_other_searches_say_nothing_where_there_were_none():
    assert set(column("Who bought the bicycle?", "topic").values()) == {0.0}


def test_the_weights_decide():
    talk = a_talk()
    searches = [Search("q", "asked", (3, 4), (0.9, 0.2))]
    intent = read_intent("q", talk)

    assert weigh(talk, intent, searches, weights_on("asked"))[3] == pytest.approx(0.9)
    assert weigh(talk, intent, [], None) == {}


def test_weights_of_other_features_are_refused():
    stored = {"features": ["asked"], "mean": [0], "scale": [1], "weights": [1], "bias": 0}

    with pytest.raises(ValueError, match="train them again"):
        from_json(stored)


@pytest.mark.parametrize("explored", [True, False])
def test_the_shipped_weights_fit_the_features(explored):
    assert trained(explored=explored).weights.shape == (len(FEATURES),)


def test_a_talk_that_taught_is_weighed_by_weights_made_without_it():
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    key, own = next(iter(stored["without"].items()))

    result = trained(explored=False, talk=key)

    assert result.weights.tolist() == own["first"]["weights"] != stored["first"]["weights"]
    assert trained(explored=False, talk="another").bias == stored["first"]["bias"]


def test_figures_of_answers_are_means_over_questions():
    results = [
        ([1, 2], [1, 2, 3], frozenset({2})),  # recall 1, precision 1/2, first hit at rank 2
        ([5], [4, 5, 6], frozenset({6, 7})),  # recall 0, precision 0, first hit at rank 3
    ]

    figures = query.figures(results)

    assert figures["recall"] == 0.5
    assert figures["precision"] == 0.25
    assert figures["returned"] == 1.5
    assert figures["MRR"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert figures["recall@3"] == 0.75


def test_gold_is_read_without_questions_that_cannot_be_scored():
    line = (
        '{"item_id": "a", "conversation": [{"index": 0, "role": "speaker", "speaker": "Ann",'
        ' "content": "Hi", "time": null}], "gold": {"questions": ['
        '{"question": "Who?", "evidence": [0]}, {"question": "Why?", "evidence": []}]}}'
    )

    (told,) = query.read_gold([line, ""])

    assert told.questions == [("Who?", frozenset({0}))]
