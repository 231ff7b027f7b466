"""Arc figures and the losses of a trace, by hand."""

from itertools import combinations, product

import pytest

from evaluation.metrics.narrative import score_narrative
from evaluation.metrics.trace import dropped, effective, losses


def values(expected, phases):
    return {name: value.value for name, value in score_narrative(expected, phases).items()}


NAMES = ("global_recall", "phase_coverage", "phase_recall", "best_match_phase_recall")
BY_HAND = {
    "seven of ten": ([range(1, 5), range(5, 8), range(8, 11)], [range(1, 8)], {NAMES[0]: 0.7}),
    "three of four phases are touched": (
        [[1, 2], [3], [4, 5], [6]],
        [[1, 3], [4]],
        {"phase_coverage": 0.75, "phase_recall": (1 / 2 + 1 + 1 / 2 + 0) / 4},
    ),
    "all in one covers every phase": ([[1], [2], [3]], [[1, 2, 3]], dict.fromkeys(NAMES, 1.0)),
    "the best match is one returned phase": (
        [[1, 2, 3, 4]],
        [[1], [2, 3], [4]],
        {"phase_recall": 1.0, "best_match_phase_recall": 0.5},
    ),
    "nothing returned is worth nothing": ([[1], [2]], [], dict.fromkeys(NAMES, 0.0)),
}


@pytest.mark.parametrize(("expected", "phases", "figures"), BY_HAND.values(), ids=BY_HAND)
def test_figures_by_hand(expected, phases, figures):
    found = values(expected, phases)

    assert set(found) == set(NAMES)
    assert found | figures == found


def test_what_was_returned_beside_the_phases_counts_where_no_phase_is_meant():
    scores = score_narrative([[1, 2], [3]], [[1]], [1, 2, 3])

    assert [scores[name].value for name in ("global_recall", "phase_coverage", "phase_recall")] == [
        1.0,
        1.0,
        1.0,
    ]
    assert scores["best_match_phase_recall"].value == 0.25  # of two phases, half of one


def test_an_unresolvable_phase_is_left_out_and_counted():
    scores = score_narrative([[1], []], [[1]])

    assert scores["phase_coverage"].value == 1.0
    assert scores["phase_coverage"].detail == {"phases": 1, "unresolvable_phases": 1}


def test_without_any_resolvable_phase_a_case_is_not_scorable():
    with pytest.raises(ValueError, match="no expected phase"):
        score_narrative([[], []], [[1]])


@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 2), (2, 2), (6, 1)])
@pytest.mark.parametrize("expected", [[{1, 2}], [{1, 2, 3}, {6}], [{1, 2}, {2, 5}]])
def test_the_best_match_by_chance_is_the_mean_over_all_draws(expected, sizes):
    draws = [list(combinations(range(1, 7), drawn)) for drawn in sizes]
    result = [values(expected, phases)["best_match_phase_recall"] for phases in product(*draws)]

    answer = [range(1, drawn + 1) for drawn in sizes]
    chance = score_narrative(expected, answer, size=6)["best_match_phase_recall"].chance

    assert chance == pytest.approx(sum(result) / len(result))


@pytest.mark.parametrize("name", ["global_recall", "phase_coverage", "phase_recall"])
@pytest.mark.parametrize("drawn", [0, 1, 3, 6])
def test_other_arc_figures_by_chance_are_the_mean_over_all_draws(name, drawn):
    expected = [{1, 2, 3}, {3, 6}]
    result = [values(expected, [draw])[name] for draw in combinations(range(1, 7), drawn)]

    chance = score_narrative(expected, [range(1, drawn + 1)], size=6)[name].chance

    assert chance == pytest.approx(sum(result) / len(result))


@pytest.mark.parametrize(
    ("one", "fate"),
    [(1, "found"), (2, "not_selected"), (3, "lost_in_reranking"), (4, "never_retrieved")],
)
def test_every_expected_message_has_one_fate(one, fate):
    checkpoints = {"candidates": [1, 2, 3], "reranked": [2, 1], "selected": [1]}

    assert losses([one], checkpoints) == {one: fate}


def test_what_was_returned_is_found_however_it_came_there():
    checkpoints = {"candidates": [], "reranked": [], "selected": [5]}

    assert losses([5], checkpoints) == {5: "found"}


def test_without_re_ranking_nothing_is_lost_in_it():
    checkpoints = effective({"candidates": [1, 2], "reranked": [1, 2], "selected": [1]})

    assert "reranked" not in checkpoints
    assert losses([2, 3], checkpoints) == {2: "not_selected", 3: "never_retrieved"}
    assert dropped([checkpoints]) is None


def test_what_re_ranking_left_out_is_counted():
    moved = {"candidates": [1, 2, 3, 4, 5], "reranked": [5, 1, 2, 3], "selected": [5, 1]}

    assert dropped([moved, {"candidates": [1, 2], "selected": [1]}]) == 1
