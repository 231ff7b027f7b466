"""The gate on rounds: its value, its interval, and its time."""

import time

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from labeling.domain.agreement.agreement import Excluded, agreement, cohen_kappa, pair_agreement
from labeling.domain.facts import Fact
from labeling.words import in_english
from tests.labeling.domain.agreement.two_raters import A, B

NAMED_KEYS = [
    "a",
    "b",
    "kappa",
    "band",
    "n",
    "raw",
    "positive_f1",
    "ac1",
    "ci_low",
    "ci_high",
    "undefined",
]


def round_of(units_by_person, conversations=4):
    """The same units for everybody, cut into conversations of equal length."""
    return {
        person: {f"c{k}": part for k, part in enumerate(np.array_split(units, conversations))}
        for person, units in units_by_person.items()
    }


class TestGate:
    def test_json_has_the_promised_shape(self):
        found = agreement(round_of({"ben": B, "ana": A})).as_json()

        assert list(found)[:7] == [
            "statistic",
            "value",
            "threshold",
            "passed",
            "pairs",
            "fleiss_kappa",
            "krippendorff_alpha",
        ]
        assert list(found["pairs"][0])[: len(NAMED_KEYS)] == NAMED_KEYS
        assert (found["statistic"], found["threshold"], found["passed"]) == ("min", 0.75, False)
        assert found["value"] == found["pairs"][0]["kappa"] == 7 / 15

    def test_everything_beside_kappa_by_hand(self):
        [pair] = agreement(round_of({"ana": A, "ben": B})).pairs

        assert (pair.a, pair.b, pair.n, pair.conversations) == ("ana", "ben", 8, 4)
        assert pair.band == "moderate"
        assert pair.raw == 6 / 8
        assert pair.positive_f1 == 8 / 10  # both 4, ana 5, ben 5
        assert pair.ac1 == pytest.approx(18 / 34)
        assert pair.prevalence == 10 / 16
        assert pair.bias == 0.0
        assert pair.ci_low < pair.kappa < pair.ci_high
        assert pair.undefined is None

    def test_bias_has_a_sign(self):
        [pair] = agreement({"ana": {"c": [1, 1, 1, 0]}, "ben": {"c": [1, 0, 0, 0]}}).pairs

        assert pair.bias == 0.5  # 3/4 − 1/4

    def test_minimum_and_mean(self):
        labels = {"ana": A, "ben": B, "cleo": A}  # κ = 7/15, 1, 7/15

        assert agreement(round_of(labels)).value == 7 / 15
        assert agreement(round_of(labels), statistic="mean").value == pytest.approx(29 / 45)

    def test_the_threshold_itself_does_not_pass(self):
        rated = round_of({"ana": A, "ben": B})

        assert not agreement(rated, threshold=7 / 15).passed
        assert agreement(rated, threshold=0.46).passed

    @pytest.mark.parametrize("statistic", ["min", "mean"])
    def test_one_undefined_pair_stops_the_gate_and_is_named(self, statistic):
        rated = round_of({"ana": [0] * 8, "ben": [0] * 8, "cleo": A})

        found = agreement(rated, threshold=-1, statistic=statistic)

        assert found.value is None
        assert not found.passed
        assert in_english(found.reasons["value"]) == (
            "ana and ben: both used one and the same label throughout, "
            "so chance alone explains the agreement"
        )
        assert (found.pairs[0].kappa, found.pairs[0].band) == (None, None)
        assert (found.pairs[0].raw, found.pairs[0].ac1) == (1.0, 1.0)
        assert found.pairs[0].positive_f1 is None

    def test_a_reason_that_pairs_share_is_told_once(self):
        rated = round_of({"ana": [0] * 8, "ben": [0] * 8, "cleo": [0] * 8})

        found = agreement(rated)

        assert in_english(found.reasons["value"]) == (
            "ana and ben, ana and cleo, ben and cleo: both used one and the same label throughout, "
            "so chance alone explains the agreement"
        )

    def test_alone_there_is_no_agreement(self):
        for ratings in ({}, {"ana": {"c": [1, 0]}}):
            found = agreement(ratings)
            assert (found.value, found.passed, found.pairs) == (None, False, [])
            assert found.reasons["value"] == Fact("agreement.too_few_annotators")
            assert found.reasons["fleiss_kappa"] == Fact("agreement.no_unit_labelled_by_two")

    def test_one_label_from_everybody_leaves_the_overall_figures_without_value(self):
        found = agreement(round_of({"ana": [0] * 8, "ben": [0] * 8}))

        assert (found.fleiss_kappa, found.krippendorff_alpha) == (None, None)
        why = Fact("agreement.one_label_of_all")
        assert found.reasons["fleiss_kappa"] == found.reasons["krippendorff_alpha"] == why

    def test_only_what_both_submitted_counts(self):
        ratings = {"ana": {"c1": A, "c2": [1] * 9}, "ben": {"c1": B, "c3": [0] * 3}}

        found = agreement(ratings)

        assert (found.pairs[0].n, found.pairs[0].kappa) == (8, 7 / 15)
        alone = Fact("agreement.submitted_alone")
        assert found.excluded == [
            Excluded("c2", "ana", alone),
            Excluded("c3", "ben", alone),
        ]

    def test_skipped_samples_are_listed_with_their_reason(self):
        why = Fact("agreement.skipped", why="too long")

        found = agreement({"ana": {"c1": A}, "ben": {"c1": B}}, excluded={"ben": {"c0": why}})

        assert found.excluded == [Excluded("c0", "ben", why)]

    def test_nothing_in_common_is_said(self):
        [pair] = agreement({"ana": {"c1": [1]}, "ben": {"c2": [1]}}).pairs

        assert (pair.n, pair.kappa) == (0, None)
        assert pair.undefined == Fact("agreement.nothing_in_common")

    def test_common_samples_without_units_are_said(self):
        [pair] = agreement({"ana": {"c1": [None]}, "ben": {"c1": [1]}}).pairs

        assert pair.undefined == Fact("agreement.no_common_unit")

    def test_uneven_units_are_refused_by_name(self):
        with pytest.raises(ValueError, match="conversation c1 has 2 units from ana and 3 from ben"):
            agreement({"ana": {"c1": [1, 0]}, "ben": {"c1": [1, 0, 1]}})

    def test_an_unknown_statistic_is_refused(self):
        with pytest.raises(ValueError, match="must be min or mean"):
            agreement({}, statistic="max")

    def test_any_nominal_labels_and_missing_ones(self):
        ratings = {"ana": {"c": ["x", "y", None, "z"]}, "ben": {"c": ["x", "z", "y", None]}}

        found = agreement(ratings)

        assert found.pairs[0].kappa == cohen_kappa("xy", "xz") == pytest.approx(1 / 3)
        assert (found.pairs[0].n, found.pairs[0].positive_f1) == (2, None)
        assert found.krippendorff_alpha == pytest.approx(
            krippendorff.alpha(
                value_counts=[[2, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]],
                level_of_measurement="nominal",
                value_domain=[0, 1, 2],
            )
        )

    def test_one_pair_alone_gives_the_same_figures(self):
        rated = round_of({"ana": A, "ben": B})

        assert pair_agreement("ana", "ben", rated["ana"], rated["ben"]) == agreement(rated).pairs[0]

    def test_overall_statistics_agree_with_their_definitions(self):
        units = np.random.default_rng(3).integers(0, 2, size=(3, 40))
        rated = round_of(dict(zip(["ana", "ben", "cleo"], units, strict=True)))

        found = agreement(rated)

        ones = units.sum(axis=0)
        counts = np.stack([3 - ones, ones], axis=1)
        assert found.fleiss_kappa == pytest.approx(statsmodels_fleiss(counts))
        assert found.krippendorff_alpha == pytest.approx(
            krippendorff.alpha(units, level_of_measurement="nominal")
        )


class TestInterval:
    def test_the_seed_repeats_it_and_the_order_of_people_does_not_matter(self):
        units = np.random.default_rng(1).integers(0, 2, size=(2, 100))
        ana, ben = round_of({"ana": units[0], "ben": units[1]}, conversations=10).values()

        first = agreement({"ana": ana, "ben": ben}, seed=5)

        assert first == agreement({"ben": ben, "ana": dict(reversed(ana.items()))}, seed=5)
        assert first != agreement({"ana": ana, "ben": ben}, seed=6)

    def test_whole_conversations_are_drawn(self):
        # All disagreement sits in one conversation of five: some draws miss it (κ = 1),
        # some have it twice or more. Drawn by message, 40 in 50 would be far narrower.
        agreed, opposed = [1, 0] * 5, ([1, 0] * 5, [0, 1] * 5)
        ana = {f"c{k}": agreed for k in range(4)} | {"c4": opposed[0]}
        ben = {f"c{k}": agreed for k in range(4)} | {"c4": opposed[1]}

        [pair] = agreement({"ana": ana, "ben": ben}).pairs

        # κ of a draw with k bad conversations of 5 is 1 − 2k/5: 1, 0.6, 0.2, −0.2, …
        assert pair.kappa == pytest.approx(0.6)
        assert pair.ci_low == pytest.approx(-0.2)
        assert pair.ci_high == pytest.approx(1.0)

    def test_one_conversation_has_none(self):
        [pair] = agreement({"ana": {"c": A}, "ben": {"c": B}}).pairs

        assert (pair.ci_low, pair.ci_high) == (None, None)

    def test_it_covers_the_truth_about_as_often_as_it_says(self):
        # Errors of 10 % on balanced labels: κ = 1 − 0.1/0.5 = 0.8. 60 rounds of 60
        # conversations; 57 are expected to cover it, fewer than 50 has p < 0.001.
        covered = 0
        for seed in range(60):
            random = np.random.default_rng(seed)
            truth = random.integers(0, 2, size=600)
            other = truth ^ (random.random(600) < 0.1)
            [pair] = agreement(round_of({"a": truth, "b": other}, conversations=60)).pairs
            covered += pair.ci_low <= 0.8 <= pair.ci_high
        assert covered >= 50


def test_ten_annotators_of_a_hundred_thousand_messages_take_seconds():
    random = np.random.default_rng(0)
    truth = random.random(100_000) < 0.3
    noisy = {f"a{k}": (truth ^ (random.random(100_000) < 0.05)).astype(int) for k in range(10)}
    ratings = {
        person: {f"c{k}": part.tolist() for k, part in enumerate(units.reshape(5000, 20))}
        for person, units in noisy.items()
    }
    started = time.perf_counter()

    found = agreement(ratings)

    assert time.perf_counter() - started < 60  # takes about 1 s on a quiet machine
    assert len(found.pairs) == 45
