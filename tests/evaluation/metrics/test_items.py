from itertools import permutations

import pytest

from evaluation.metrics.items import criteria_share, curve_rows, score_extraction, threshold_curve
from labeling.domain.facts import Fact
from labeling.words import words_of
from tests.fakes import requirement

LOGIN, EXPORT, DELETE = "Log in with a password", "Export the report", "Delete my account"
FIELDS = ["type_accuracy", "actor_accuracy", "priority_accuracy", "source_overlap"]
MAIN = ["requirement_recall", "requirement_precision", "requirement_f1"]


def scores(gold, predicted, ruler):
    return {name: v.value for name, v in score_extraction(gold, predicted, ruler=ruler).items()}


def test_recall_precision_and_f1_by_hand(ruler):
    gold = [requirement(LOGIN), requirement(EXPORT), requirement(DELETE)]
    predicted = [requirement(LOGIN), requirement("Print a page")]

    result = scores(gold, predicted, ruler)

    assert [result[name] for name in MAIN] == [1 / 3, 1 / 2, 2 / 5]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [([], [], 1.0), ([LOGIN], [], 0.0), ([], [LOGIN], 0.0), ([LOGIN], [EXPORT], 0.0)],
)
def test_a_correct_nothing_here_is_right_and_one_empty_side_is_wrong(
    ruler, gold, predicted, expected
):
    result = scores([*map(requirement, gold)], [*map(requirement, predicted)], ruler)

    assert [result[name] for name in MAIN] == [expected] * 3


def test_fields_are_undefined_without_similar_texts_and_completeness_is_zero(ruler):
    result = score_extraction([requirement(LOGIN)], [requirement(EXPORT)], ruler=ruler)

    for name in FIELDS:
        assert result[name].value is None
        assert result[name].reason == Fact("metric.no_similar_text")
    assert result["criteria_completeness"].value == 0.0


def test_fields_are_judged_where_the_text_alone_matches(ruler):
    gold = [requirement(LOGIN, source_messages=[1, 2]), requirement(EXPORT)]
    predicted = [
        requirement(LOGIN, type="security", priority="could", source_messages=[2, 3]),
        requirement(EXPORT, actor="Customer"),
    ]

    result = scores(gold, predicted, ruler)

    assert result["requirement_recall"] == 0.5  # the type keeps LOGIN apart
    assert result["type_accuracy"] == 0.5
    assert result["actor_accuracy"] == 1.0  # a customer is a user
    assert result["priority_accuracy"] == 0.5
    assert result["source_overlap"] == pytest.approx((1 / 3 + 1) / 2)


def test_of_two_equal_texts_the_one_that_fits_is_taken(ruler):
    gold = [requirement(LOGIN, type="security"), requirement(LOGIN, priority="could")]

    result = scores(gold, gold[::-1], ruler)

    assert [result[name] for name in FIELDS] == [1.0] * 4


def points(gold, predicted, ruler):
    return sorted(score_extraction(gold, predicted, ruler=ruler)["requirement_f1"].detail["points"])


def test_of_equal_predictions_the_most_confident_one_is_matched(ruler):
    """In any order and under any ids: calibration must not depend on them."""
    confidences = (0.3, 0.9, 0.5)
    gold = [requirement(LOGIN)]

    result = [
        points(
            gold,
            [requirement(LOGIN, id=f"R{at}", confidence=c) for at, c in enumerate(said)],
            ruler,
        )
        for said in permutations(confidences)
    ]

    assert result == [[(0.3, 0), (0.5, 0), (0.9, 1)]] * 6


def test_a_better_fit_goes_before_confidence(ruler):
    gold = [requirement(LOGIN, priority="must")]
    predicted = [
        requirement(LOGIN, priority="must", confidence=0.2),
        requirement(LOGIN, priority="could", confidence=0.9),
    ]

    assert points(gold, predicted, ruler) == [(0.2, 1), (0.9, 0)]


@pytest.mark.parametrize(
    ("gold", "predicted", "share"),
    [
        (["a b", "c d"], ["c d"], 1 / 2),
        (["a b", "c d"], ["c d", "a b", "e f"], 1.0),
        (["a b", "a b"], ["a b"], 1 / 2),  # one-to-one
        (["a b"], [], 0.0),
        ([], ["a b"], 1.0),
        ([" "], [], 1.0),
        (["a b c d"], ["a b c"], 1.0),  # 3/√12 = 0.866
        (["a b c d"], ["a b x y"], 0.0),  # 2/4
    ],
)
def test_criteria_by_hand(ruler, gold, predicted, share):
    result = criteria_share(
        requirement(LOGIN, acceptance_criteria=gold),
        requirement(LOGIN, acceptance_criteria=predicted),
        ruler=ruler,
    )

    assert result == share


def test_completeness_is_the_mean_over_matches(ruler):
    gold = [requirement(LOGIN), requirement(EXPORT), requirement(DELETE)]
    predicted = [requirement(LOGIN), requirement(EXPORT, acceptance_criteria=[])]

    assert scores(gold, predicted, ruler)["criteria_completeness"] == 0.5  # (1 + 0)/2


def test_missing_fields_never_crash(ruler):
    bare = {"title": LOGIN}

    result = scores([requirement(LOGIN)], [bare, {}], ruler)

    assert result["requirement_recall"] == 0.0
    assert result["actor_accuracy"] == 0.0
    assert result["source_overlap"] == 0.0


def test_the_detail_explains_the_case(ruler):
    gold = [requirement(LOGIN), requirement(EXPORT), requirement(DELETE)]
    predicted = [
        requirement("Print a page", confidence=0.2),
        requirement(EXPORT, type="data", confidence=None),
        requirement(LOGIN, confidence=0.8),
    ]

    detail = score_extraction(gold, predicted, ruler=ruler)["requirement_f1"].detail

    assert (detail["matches"], detail["gold"], detail["predicted"]) == (1, 3, 3)
    assert detail["points"] == [(0.2, 0), (0.8, 1)]
    by_gold = {row["gold"]: row for row in detail["alignment"] if row["gold"] is not None}
    assert by_gold[0] == {
        "gold": 0,
        "predicted": 2,
        "similarity": 1.0,
        "matched": True,
        "text_only": True,
        "why_not": None,
    }
    assert (by_gold[1]["predicted"], by_gold[1]["why_not"]) == (
        1,
        Fact("pair.type_differs").as_json(),
    )
    assert (by_gold[2]["predicted"], by_gold[2]["why_not"]) == (None, None)
    assert [row["predicted"] for row in detail["alignment"]] == [2, 1, None, 0]


@pytest.mark.parametrize(
    ("predicted", "said"),
    [
        (requirement(LOGIN, actor="admin"), "actor differs"),
        (requirement(LOGIN, actor="admin", type="data"), "type differs"),
        # 5 words of 5 and 10: 5/√50
        (requirement(f"{LOGIN} or else some secret key"), "similarity 0.71 ≤ 0.85"),
        (requirement(EXPORT), ""),  # 0 words in common: not the same row
    ],
)
def test_a_row_says_why_it_is_no_match(ruler, predicted, said):
    detail = score_extraction([requirement(LOGIN)], [predicted], ruler=ruler)[
        "requirement_f1"
    ].detail

    row = detail["alignment"][0]
    assert (row["matched"], words_of(row["why_not"])) == (False, said)
    assert row["text_only"] == (said in ("actor differs", "type differs"))


def test_the_curve_falls_with_the_threshold(ruler):
    gold = [requirement("a b c d"), requirement("e f g h")]
    predicted = [requirement("a b c d"), requirement("e f g")]  # 1.0 and 3/√12 = 0.866

    rows = curve_rows([threshold_curve(gold, predicted, ruler=ruler)])

    assert [row["threshold"] for row in rows] == [step / 20 for step in range(10, 20)]
    assert [row["matches"] for row in rows] == [2] * 8 + [1] * 2
    assert [row["recall"] for row in rows] == [1.0] * 8 + [0.5] * 2
