"""Ranked figures against two independent implementations."""

import random
from itertools import permutations

import pytest

from evaluation.metrics.registry import METRICS
from evaluation.metrics.retrieval import CUTS, metric_ids, score_ranking
from labeling.domain.facts import Fact


def values(expected, ranked):
    return {name: value.value for name, value in score_ranking(expected, ranked).items()}


@pytest.mark.parametrize("seed", range(200))
def test_figures_equal_ir_measures_and_pytrec_eval(seed):
    """Lists shorter and longer than the cuts, with ids said twice and with tied scores."""
    import ir_measures
    import pytrec_eval
    from ir_measures import RR, P, R, Success

    draw = random.Random(seed)
    expected = set(draw.sample(range(1, 40), draw.randint(1, 6)))
    scored = [
        (choice, draw.randint(1, 5)) for choice in draw.choices(range(1, 40), k=draw.randint(1, 30))
    ]
    ranked = [
        one for one, _ in sorted(scored, key=lambda pair: -pair[1])
    ]  # stable: ties keep order
    relevant = {"q": {str(one): 1 for one in expected}}
    # both break ties by the name of a document, so the order that we keep is given as scores
    run = {"q": {str(one): 100.0 - rank for rank, one in enumerate(dict.fromkeys(ranked))}}

    figures = values(expected, ranked)

    measures = [RR, *(kind @ cut for kind in (R, P, Success) for cut in CUTS)]
    by_ir = ir_measures.calc_aggregate(measures, relevant, run)
    kinds = ("recall", "P", "success")
    wanted = {f"{kind}.{','.join(map(str, CUTS))}" for kind in kinds} | {"recip_rank"}
    by_trec = pytrec_eval.RelevanceEvaluator(relevant, wanted).evaluate(run)["q"]
    pairs = [("mrr", RR, "recip_rank")]
    for cut in CUTS:
        pairs += [
            (f"recall_at_{cut}", R @ cut, f"recall_{cut}"),
            (f"precision_at_{cut}", P @ cut, f"P_{cut}"),
            (f"hit_rate_at_{cut}", Success @ cut, f"success_{cut}"),
        ]
    for ours, measure, theirs in pairs:
        assert figures[ours] == pytest.approx(by_ir[measure], abs=1e-9)
        assert figures[ours] == pytest.approx(by_trec[theirs], abs=1e-9)
    for cut in CUTS:
        assert figures[f"all_at_{cut}"] == (by_ir[R @ cut] == 1)


def test_a_pipeline_that_does_not_rank_has_no_figures():
    scores = score_ranking({2}, None)

    assert {value.value for value in scores.values()} == {None}
    assert {value.reason for value in scores.values()} == {Fact("metric.no_ranking")}


def test_without_relevant_ids_there_is_nothing_to_score():
    with pytest.raises(ValueError, match="without relevant ids"):
        score_ranking(set(), [1])


@pytest.mark.parametrize("ranked", [0, 1, 2, 4, 6])
@pytest.mark.parametrize("expected", [{1}, {2, 5}, {1, 3, 6}])
def test_chance_is_the_mean_over_all_rankings(expected, ranked):
    rankings = list(permutations(range(1, 7), ranked))
    scored = [values(expected, ranking) for ranking in rankings]

    by_chance = score_ranking(expected, list(range(1, ranked + 1)), size=6)

    for name, value in by_chance.items():
        mean = sum(found[name] for found in scored) / len(rankings)
        assert value.chance == pytest.approx(mean), name


def test_ids_said_twice_make_a_ranking_no_longer_by_chance():
    assert score_ranking({2}, [7, 7, 7, 3], size=10)["hit_rate_at_10"].chance == pytest.approx(0.2)


def test_every_ranked_figure_declares_its_chance_level():
    assert all(METRICS[name].chance for name in metric_ids())
    assert {value.chance for value in score_ranking({2}, [2]).values()} == {None}  # size unknown
