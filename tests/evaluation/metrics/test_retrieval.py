"""Ranked figures against two independent implementations."""

import random

import ir_measures
import pytest
import pytrec_eval
from ir_measures import RR, P, R, Success

from evaluation.metrics.retrieval import CUTS, score_ranking


def values(expected, ranked):
    return {name: value.value for name, value in score_ranking(expected, ranked).items()}


@pytest.mark.parametrize("seed", range(200))
def test_figures_equal_ir_measures_and_pytrec_eval(seed):
    draw = random.Random(seed)
    expected = set(draw.sample(range(1, 40), draw.randint(1, 6)))
    ranked = draw.sample(range(1, 40), draw.randint(1, 30))
    relevant = {"q": {str(one): 1 for one in expected}}
    run = {"q": {str(one): float(100 - rank) for rank, one in enumerate(ranked)}}

    found = values(expected, ranked)

    measures = [RR, *(kind @ cut for kind in (R, P, Success) for cut in CUTS)]
    by_ir = ir_measures.calc_aggregate(measures, relevant, run)
    assert found["mrr"] == pytest.approx(by_ir[RR], abs=1e-9)
    for cut in CUTS:
        assert found[f"recall_at_{cut}"] == pytest.approx(by_ir[R @ cut], abs=1e-9)
        assert found[f"precision_at_{cut}"] == pytest.approx(by_ir[P @ cut], abs=1e-9)
        assert found[f"hit_rate_at_{cut}"] == pytest.approx(by_ir[Success @ cut], abs=1e-9)
    wanted = {"recip_rank", *(f"{name}_{cut}" for name in ("recall", "P") for cut in CUTS)}
    by_trec = pytrec_eval.RelevanceEvaluator(relevant, wanted).evaluate(run)["q"]
    assert found["mrr"] == pytest.approx(by_trec["recip_rank"], abs=1e-9)
    for cut in CUTS:
        assert found[f"recall_at_{cut}"] == pytest.approx(by_trec[f"recall_{cut}"], abs=1e-9)
        assert found[f"precision_at_{cut}"] == pytest.approx(by_trec[f"P_{cut}"], abs=1e-9)


def test_all_at_asks_for_every_expected_message():
    found = values({1, 2}, [1, 9, 2])

    assert (found["all_at_1"], found["all_at_3"]) == (0.0, 1.0)
    assert (found["hit_rate_at_1"], found["hit_rate_at_3"]) == (1.0, 1.0)


def test_duplicates_collapse_to_their_first_rank():
    assert values({2}, [7, 7, 7, 2])["mrr"] == 1 / 2


def test_precision_is_divided_by_the_cut_even_when_less_was_ranked():
    assert values({2}, [2])["precision_at_10"] == 0.1


def test_nothing_ranked_finds_nothing():
    assert set(values({2}, []).values()) == {0.0}


def test_a_pipeline_that_does_not_rank_has_no_figures():
    found = score_ranking({2}, None)

    assert {value.value for value in found.values()} == {None}
    assert {value.reason for value in found.values()} == {"the pipeline returns no ranking"}


def test_without_relevant_ids_there_is_nothing_to_score():
    with pytest.raises(ValueError, match="without relevant ids"):
        score_ranking(set(), [1])
