"""Evidence figures by hand, and chance levels against counting every possible draw."""

from itertools import combinations, product

import pytest

from evaluation.metrics.chance import over_chance
from evaluation.metrics.evidence import (
    Corpus,
    ReturnedEvidence,
    fuzzy_chance,
    fuzzy_recall,
    score_evidence,
)
from evaluation.metrics.registry import METRICS
from labeling.domain.facts import Fact

HOUR = 3600.0


def values(expected, answer, corpus):
    return {name: v.value for name, v in score_evidence(expected, answer, corpus).items()}


def reason(name, expected, answer, corpus):
    return score_evidence(expected, answer, corpus)[name].reason


def hourly(size):
    return Corpus(size, {local_id: local_id * HOUR for local_id in range(1, size + 1)})


@pytest.mark.parametrize(
    ("expected", "returned", "recall", "precision"),
    [
        ({4, 14}, [4, 28], 1 / 2, 1 / 2),
        ({1, 2}, [1, 1, 1, 9], 1 / 2, 1 / 2),  # a repeated id counts once
        ({1, 2, 3}, [1, 2, 7, 8, 9], 2 / 3, 2 / 5),
    ],
)
def test_recall_and_precision_by_hand(expected, returned, recall, precision):
    figures = values(expected, ReturnedEvidence(returned), Corpus(30))

    assert (figures["evidence_recall"], figures["evidence_precision"]) == (recall, precision)


@pytest.mark.parametrize(("returned", "near"), [(6, 1.0), (7, 1.0), (8, 0.0), (1, 1.0), (4, 1.0)])
def test_fuzzy_recall_reaches_three_messages(returned, near):
    assert fuzzy_recall([4], [returned]) == near


@pytest.mark.parametrize("budget", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("expected", [[1], [5], [9], [1, 5, 9], [2, 3]])
def test_chance_is_the_mean_over_all_draws(expected, budget):
    draws = list(combinations(range(1, 10), budget))
    mean = sum(fuzzy_recall(expected, draw) for draw in draws) / len(draws)

    assert fuzzy_chance(expected, budget, 9) == pytest.approx(mean)


# --- chance levels ------------------------------------------------------------------------------

SIZE = 6
UNEVEN = Corpus(SIZE, {1: 0.0, 2: 10.0, 3: 10.0, 4: 25.0, 5: 31.0, 6: 60.0})
UNTIMED = Corpus(SIZE, {1: 0.0, 3: 10.0, 4: 25.0, 6: 60.0})  # two messages without a time


def random_answers(sizes, **fields):
    """Every way to fill phases of these sizes, each drawn by itself."""
    draws = [list(combinations(range(1, SIZE + 1), drawn)) for drawn in sizes]
    for phases in product(*draws):
        together = sorted({local_id for phase in phases for local_id in phase})
        yield ReturnedEvidence(together, phases, **fields)


def mean_of(name, expected, answers, corpus):
    result = [score_evidence(expected, answer, corpus)[name].value for answer in answers]
    return sum(result) / len(result)


def first(sizes, **fields):
    return next(random_answers(sizes, **fields))


@pytest.mark.parametrize("corpus", [UNEVEN, UNTIMED], ids=["uneven", "untimed"])
@pytest.mark.parametrize("expected", [{1, 6}, {3, 4}, {1, 3, 4}, {4}, {3}])
@pytest.mark.parametrize("sizes", [(1,), (2,), (4,), (6,), (1, 2), (2, 3)])
def test_timeline_coverage_by_chance_is_the_mean_over_all_draws(corpus, expected, sizes):
    mean = mean_of("timeline_coverage", expected, random_answers(sizes), corpus)

    chance = score_evidence(expected, first(sizes), corpus)["timeline_coverage"].chance

    assert chance == pytest.approx(mean)


@pytest.mark.parametrize("shown", [None, {1, 2, 3}, {1, 2, 3, 4, 5, 99}])
@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 2), (2, 2)])
def test_groundedness_by_chance_is_the_mean_over_all_draws(shown, sizes):
    mean = mean_of("groundedness", {1}, random_answers(sizes, shown=shown), Corpus(SIZE))

    chance = score_evidence({1}, first(sizes, shown=shown), Corpus(SIZE))["groundedness"].chance

    assert chance == pytest.approx(mean)


@pytest.mark.parametrize("name", ["evidence_recall", "evidence_precision", "fuzzy_recall"])
@pytest.mark.parametrize("drawn", [1, 2, 5])
def test_plain_figures_by_chance_are_the_mean_over_all_draws(name, drawn):
    mean = mean_of(name, {1, 5}, random_answers((drawn,)), Corpus(SIZE))

    assert score_evidence({1, 5}, first((drawn,)), Corpus(SIZE))[name].chance == pytest.approx(mean)


def test_everything_is_no_better_than_chance():
    scores = score_evidence({1, 5}, ReturnedEvidence([*range(1, 7)], shown=range(1, 7)), UNEVEN)

    levels = [scores[name].chance for name in ("timeline_coverage", "groundedness", "fuzzy_recall")]
    assert levels == pytest.approx([1.0, 1.0, 1.0])
    assert (
        over_chance(scores["timeline_coverage"].value, scores["timeline_coverage"].chance) is None
    )


def test_invented_messages_make_an_answer_no_larger():
    invented = score_evidence({1}, ReturnedEvidence([2, 98, 99]), UNEVEN)
    plain = score_evidence({1}, ReturnedEvidence([2]), UNEVEN)

    for name in ("evidence_recall", "fuzzy_recall", "timeline_coverage"):
        assert invented[name].chance == plain[name].chance > 0


def test_what_a_judge_would_say_of_a_random_phase_is_unknown():
    judged = ReturnedEvidence([1], [[1]], accepted=[True])

    assert score_evidence({1}, judged, Corpus(SIZE))["groundedness"].chance is None


def test_values_have_a_chance_level_exactly_where_their_metric_declares_it():
    scores = score_evidence({1, 5}, ReturnedEvidence([2], shown=[2, 3]), UNEVEN)

    with_level = {name for name, value in scores.items() if value.chance is not None}
    assert with_level == {name for name in scores if METRICS[name].chance}


def test_fuzzy_recall_is_corrected_for_the_number_of_ids_returned():
    figures = values({5}, ReturnedEvidence([6]), Corpus(10))

    assert figures["fuzzy_recall_chance"] == pytest.approx(0.7)
    assert figures["fuzzy_recall_corrected"] == pytest.approx((1 - 0.7) / (1 - 0.7))
    assert values({5}, ReturnedEvidence([10]), Corpus(10))["fuzzy_recall_corrected"] < 0


def test_where_every_draw_hits_there_is_nothing_over_chance():
    everything = ReturnedEvidence(list(range(1, 11)))

    assert values({5}, everything, Corpus(10))["fuzzy_recall_corrected"] is None
    why = reason("fuzzy_recall_corrected", {5}, everything, Corpus(10))
    assert why == Fact("metric.chance_reaches_all")


def test_nothing_returned_is_no_recall_and_no_precision_at_all():
    figures = values({4}, ReturnedEvidence([]), hourly(10))

    assert figures["evidence_recall"] == 0.0
    assert figures["fuzzy_recall"] == 0.0
    assert figures["timeline_coverage"] == 0.0
    for name in ("evidence_precision", "groundedness", "hallucinated_id_rate"):
        assert figures[name] is None
        assert reason(name, {4}, ReturnedEvidence([]), hourly(10)) == Fact(
            "metric.nothing_returned"
        )


def test_a_case_without_expected_evidence_is_never_scored():
    with pytest.raises(ValueError, match="not scorable"):
        score_evidence(set(), ReturnedEvidence([1]), Corpus(10))


def test_an_expected_message_must_exist():
    with pytest.raises(ValueError, match="expected message 11 of 10"):
        score_evidence({11}, ReturnedEvidence([1]), Corpus(10))


@pytest.mark.parametrize(
    ("phases", "covered"),
    [
        ([[2, 6]], 1.0),
        ([[1, 9]], 1.0),  # clipped to the expected span
        ([[2, 4]], 0.5),
        ([[2, 3], [5, 6]], 0.5),
        ([[2, 4], [3, 5]], 0.75),  # an overlap counts once
        ([[2]], 0.0),  # a moment has no length
        ([[8, 9]], 0.0),
        ([[4, 99]], 0.0),  # what does not exist has no time
    ],
)
def test_timeline_coverage_is_a_union_of_spans(phases, covered):
    answer = ReturnedEvidence([one for phase in phases for one in phase], phases)

    assert values({2, 6}, answer, hourly(10))["timeline_coverage"] == pytest.approx(covered)


@pytest.mark.parametrize(("phases", "covered"), [([[3, 5]], 1.0), ([[4]], 1.0), ([[5, 9]], 0.0)])
def test_one_expected_moment_is_covered_or_not(phases, covered):
    answer = ReturnedEvidence([one for phase in phases for one in phase], phases)

    assert values({4}, answer, hourly(10))["timeline_coverage"] == covered


@pytest.mark.parametrize(
    ("answer", "grounded", "basis"),
    [
        (ReturnedEvidence([1, 2], [[1], [2]], shown={1, 2}), 1.0, "existence"),
        (ReturnedEvidence([1, 3], [[1], [3]], shown={1, 2}), 0.5, "existence"),
        (ReturnedEvidence([1, 99], [[1], [99]]), 0.5, "existence"),
        (ReturnedEvidence([1, 2], [[1], []]), 0.5, "existence"),
        (ReturnedEvidence([1, 2], [[1], [2]], accepted=[True, False]), 0.5, "judge"),
    ],
)
def test_a_phase_is_grounded_if_its_ids_exist_and_were_shown(answer, grounded, basis):
    result = score_evidence({1}, answer, Corpus(10))["groundedness"]

    assert (result.value, result.detail["basis"]) == (grounded, basis)


def test_invented_ids_are_counted():
    result = score_evidence({1}, ReturnedEvidence([1, 0, 11, 11]), Corpus(10))[
        "hallucinated_id_rate"
    ]

    assert result.value == 2 / 3
    assert result.detail == {"invented": [0, 11]}
