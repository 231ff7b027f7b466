"""Relevance and false inferences, from ratings and from gold, by hand."""

import pytest

from evaluation.metrics.calibration import calibration
from evaluation.metrics.inference import NOBODY_YET, by_judges, score_inference
from tests.fakes import requirement


def needed(title, necessity="necessary", **fields):
    return requirement(title, necessity=necessity, **fields)


def scored(gold, predicted, ruler, ratings=None):
    return score_inference(gold, predicted, ratings=ratings, ruler=ruler)


def values(found):
    return {name: value.value for name, value in found.items()}


def test_gold_gives_two_one_one_and_nothing(ruler):
    gold = [needed("a"), needed("b", "recommended"), needed("c", "optional"), needed("missed")]
    predicted = [needed("a"), needed("b"), needed("c"), needed("invented")]

    score = scored(gold, predicted, ruler)

    assert score["inference_relevance"].value == (2 + 1 + 1 + 0) / (2 * 4)
    assert score["false_inference_rate"].value == 1 / 4
    detail = score["inference_relevance"].detail
    assert (detail["basis"], detail["scores"]) == ("gold", [2, 1, 1, 0])
    assert (detail["matches"], detail["gold"], detail["predicted"]) == (3, 4, 4)


A, B = needed("a"), needed("b")
BY_HAND = {
    "gold lists it as no need": ([needed("a", "false")], [A], None, 0.0, 1.0),
    "one gold label serves one prediction": ([A], [A, A], None, 0.5, 0.5),
    "where gold has none all are false": ([], [A, B], None, 0.0, 1.0),
    "gold knows the first alone, the judge wants the second": ([A], [A, B], [[0, 2]], 0.5, 0.5),
}


@pytest.mark.parametrize(
    ("gold", "predicted", "ratings", "relevance", "false"), BY_HAND.values(), ids=BY_HAND
)
def test_figures_by_hand(ruler, gold, predicted, ratings, relevance, false):
    score = scored(gold, predicted, ruler, ratings)

    assert values(score) == {"inference_relevance": relevance, "false_inference_rate": false}
    assert score["inference_relevance"].detail["basis"] == ("human" if ratings else "gold")


@pytest.mark.parametrize("ratings", [None, [], [[]]])
@pytest.mark.parametrize("gold", [[], [needed("a")]])
def test_nothing_inferred_is_nothing_wrong(ruler, gold, ratings):
    score = scored(gold, [], ruler, ratings)

    assert values(score) == {"inference_relevance": 1.0, "false_inference_rate": 0.0}


def test_several_judges_give_the_mean_and_the_majority(ruler):
    """Means 4/3, 2/3 and 1/2 · 3/3 …: (4/3 + 2/3 + 1)/(2·3) = 1/2; only b is rated 0 by most."""
    ratings = [[2, 0, 1], [2, 0, 1], [0, 2, 1]]

    score = scored([], [needed("a"), needed("b"), needed("c")], ruler, ratings)

    assert score["inference_relevance"].value == pytest.approx(0.5)
    assert score["false_inference_rate"].value == pytest.approx(1 / 3)


def test_half_of_the_judges_are_no_majority():
    assert [judge.is_false for judge in by_judges(1, [[0], [2]])] == [False]
    assert [judge.is_false for judge in by_judges(1, [[0], [0], [2]])] == [True]


@pytest.mark.parametrize("ratings", [[[2]], [[2, 1, 0]], [[2, 1], [1]]])
def test_as_many_ratings_as_items_or_no_figure(ruler, ratings):
    with pytest.raises(ValueError, match="ratings for 2 inferred requirements"):
        scored([], [needed("a"), needed("b")], ruler, ratings)


@pytest.mark.parametrize("rating", [3, -1, 0.5])
def test_a_rating_is_nothing_else(ruler, rating):
    with pytest.raises(ValueError, match="a rating is 0, 1 or 2"):
        scored([], [needed("a")], ruler, [[rating]])


def test_nobody_done_is_undefined_with_a_reason(ruler):
    score = scored([needed("a")], [needed("a")], ruler, [])

    assert values(score) == {"inference_relevance": None, "false_inference_rate": None}
    assert {value.reason for value in score.values()} == {NOBODY_YET}
    assert score["inference_relevance"].detail["points"] == []


def test_correct_is_a_score_of_at_least_one(ruler):
    """Means 1, 0.5 and 2: correct, not, correct. ECE by hand over the bins of 0.9 and 0.2."""
    predicted = [
        needed("a", confidence=0.9),
        needed("b", confidence=0.9),
        needed("c", confidence=0.2),
    ]

    detail = scored([], predicted, ruler, [[1, 1, 2], [1, 0, 2]])["inference_relevance"].detail

    assert detail["points"] == [(0.9, 1), (0.9, 0), (0.2, 1)]
    result = calibration([c for c, _ in detail["points"]], [r for _, r in detail["points"]])
    assert result.ece == pytest.approx((2 * abs(0.5 - 0.9) + 1 * abs(1 - 0.2)) / 3)
    assert result.mce == pytest.approx(0.8)
    assert result.brier == pytest.approx((0.01 + 0.81 + 0.64) / 3)
