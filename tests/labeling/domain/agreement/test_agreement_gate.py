"""The gate on rounds: its value, its interval, and its time."""

import numpy as np
import pytest

from labeling.agreement.rules.agreement import Excluded, agreement
from labeling.domain.facts import Fact
from labeling.words import in_english
from tests.labeling.domain.agreement.two_raters import A, B, cohen_kappa


def round_of(units_by_person, conversations=4):
    """The same units for everybody, cut into conversations of equal length."""
    return {
        person: {f"c{k}": part for k, part in enumerate(np.array_split(units, conversations))}
        for person, units in units_by_person.items()
    }


class TestGate:
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

        result = agreement(rated, threshold=-1, statistic=statistic)

        assert result.value is None
        assert not result.passed
        assert in_english(result.reasons["value"]) == (
            "ana and ben: both used one and the same label throughout, "
            "so chance alone explains the agreement"
        )
        assert (result.pairs[0].kappa, result.pairs[0].band) == (None, None)
        assert (result.pairs[0].raw, result.pairs[0].ac1) == (1.0, 1.0)
        assert result.pairs[0].positive_f1 is None

    def test_alone_there_is_no_agreement(self):
        for ratings in ({}, {"ana": {"c": [1, 0]}}):
            result = agreement(ratings)
            assert (result.value, result.passed, result.pairs) == (None, False, [])
            assert result.reasons["value"] == Fact("agreement.too_few_annotators")
            assert result.reasons["fleiss_kappa"] == Fact("agreement.no_unit_labelled_by_two")

    def test_only_what_both_submitted_counts(self):
        ratings = {"ana": {"c1": A, "c2": [1] * 9}, "ben": {"c1": B, "c3": [0] * 3}}

        result = agreement(ratings)

        assert (result.pairs[0].n, result.pairs[0].kappa) == (8, 7 / 15)
        alone = Fact("agreement.submitted_alone")
        assert result.excluded == [
            Excluded("c2", "ana", alone),
            Excluded("c3", "ben", alone),
        ]

    def test_skipped_samples_are_listed_with_their_reason(self):
        why = Fact("agreement.skipped", why="too long")

        result = agreement({"ana": {"c1": A}, "ben": {"c1": B}}, excluded={"ben": {"c0": why}})

        assert result.excluded == [Excluded("c0", "ben", why)]

    def test_uneven_units_are_refused_by_name(self):
        with pytest.raises(ValueError, match="conversation c1 has 2 units from ana and 3 from ben"):
            agreement({"ana": {"c1": [1, 0]}, "ben": {"c1": [1, 0, 1]}})

    def test_an_unknown_statistic_is_refused(self):
        with pytest.raises(ValueError, match="must be min or mean"):
            agreement({}, statistic="max")


class TestInterval:
    def test_whole_conversations_are_left_out(self):
        # All disagreement is in one conversation of five, and without it there would be none:
        # leaving conversations out says nothing then, and units are counted. 50 units in tens are
        # worth 50/1.9 = 26.3; Wilson's interval of 40/50 on these is .613 to .910, and
        # κ = (p − .5)/.5.
        agreed, opposed = [1, 0] * 5, ([1, 0] * 5, [0, 1] * 5)
        ana = {f"c{k}": agreed for k in range(4)} | {"c4": opposed[0]}
        ben = {f"c{k}": agreed for k in range(4)} | {"c4": opposed[1]}

        [pair] = agreement({"ana": ana, "ben": ben}).pairs

        assert pair.kappa == pytest.approx(0.6)
        assert (pair.ci_low, pair.ci_high) == pytest.approx((0.227, 0.820), abs=0.001)

    def test_it_is_the_t_interval_of_the_pseudo_values_on_fishers_z(self):
        units = np.random.default_rng(2).integers(0, 2, size=(2, 60))
        rated = round_of({"ana": units[0], "ben": np.where(units[1], units[0], 1 - units[0])}, 6)

        [pair] = agreement(rated).pairs

        z = np.arctanh
        left_out = [
            z(cohen_kappa(*(_without(gone, own) for own in rated.values())))
            for gone in rated["ana"]
        ]
        pseudo = 6 * z(pair.kappa) - 5 * np.array(left_out)
        reach = 2.5706 * pseudo.std(ddof=1) / np.sqrt(6)  # t of 5 degrees of freedom
        expected = np.tanh([z(pair.kappa) - reach, z(pair.kappa) + reach])
        assert (pair.ci_low, pair.ci_high) == pytest.approx(tuple(expected), abs=1e-4)

    @pytest.mark.parametrize("conversations", [2, 4, 40])
    def test_agreement_throughout_is_not_certain(self, conversations):
        rated = round_of({"ana": [1, 0, 1] * 40, "ben": [1, 0, 1] * 40}, conversations)

        [pair] = agreement(rated).pairs

        assert (pair.kappa, pair.ci_high) == (1.0, 1.0)
        assert 0 < pair.ci_low < 1
        assert 0 < pair.chance_above < 1
        for low, high in pair.intervals.values():
            assert low < high

    def test_every_figure_has_one(self):
        result = agreement(_noisy(people=3))

        assert result.intervals.keys() == {"value", "mean", "fleiss_kappa", "krippendorff_alpha"}
        assert result.pairs[0].intervals.keys() == {"ac1", "positive_f1"}
        for name in ("fleiss_kappa", "krippendorff_alpha"):
            low, high = result.intervals[name]
            assert low < getattr(result, name) < high
        lowest = min(result.pairs, key=lambda pair: pair.kappa)
        assert result.intervals["value"] == (lowest.ci_low, lowest.ci_high)
        low, high = result.intervals["mean"]
        assert low < np.mean([pair.kappa for pair in result.pairs]) < high

    def test_a_pair_without_kappa_leaves_the_gate_without_chance(self):
        result = agreement(round_of({"ana": [0] * 8, "ben": [0] * 8, "cleo": A}))

        assert (result.chance_above, result.outlook, "value" in result.intervals) == (
            None,
            [],
            False,
        )


def _without(gone, own):
    return [label for name, labels in own.items() if name != gone for label in labels]


class TestChance:
    """How probable it is that the true figure is above the threshold."""

    def test_it_is_a_half_at_the_figure_and_975_at_the_lower_end(self):
        [pair] = agreement(_noisy()).pairs

        for threshold, chance in ((pair.kappa, 0.5), (pair.ci_low, 0.975), (pair.ci_high, 0.025)):
            again = agreement(_noisy(), threshold=threshold)
            assert again.pairs[0].chance_above == pytest.approx(chance, abs=1e-6)
            assert again.chance_above == pytest.approx(chance, abs=1e-6)

    def test_where_nobody_disagrees_it_is_that_of_the_same_wilson_interval(self):
        alike = round_of({"ana": [1, 0, 1] * 40, "ben": [1, 0, 1] * 40}, 8)
        low = agreement(alike).pairs[0].ci_low

        assert agreement(alike, threshold=low).chance_above == pytest.approx(0.975, abs=1e-6)

    def test_of_several_pairs_it_is_that_of_the_lowest_itself(self):
        rated = _noisy(people=3)
        lowest, mean = (agreement(rated, statistic=name) for name in ("min", "mean"))
        pair = min(lowest.pairs, key=lambda pair: pair.kappa)

        assert lowest.chance_above == pair.chance_above
        assert mean.chance_above > lowest.chance_above

    def test_the_outlook_is_what_passes_in_simulated_rounds(self):
        """20 conversations of 12 messages, three people: the lowest pair at true κ .80."""
        passed = [agreement(_true_kappa(0.80, seed)).passed for seed in range(150)]
        outlooks = [agreement(_true_kappa(0.80, seed)).outlook for seed in range(30)]

        expected = np.mean([rows[2].passes for rows in outlooks])
        assert [row.true for row in outlooks[0]] == [0.70, 0.75, 0.80]
        assert np.mean(passed) == pytest.approx(expected, abs=0.12)
        for low, middle, high in outlooks:
            assert low.passes < middle.passes < high.passes

    def test_one_conversation_says_nothing_of_others(self):
        result = agreement({"ana": {"c": A}, "ben": {"c": B}})

        assert (result.chance_above, result.pairs[0].chance_above, result.outlook) == (
            None,
            None,
            [],
        )


def _noisy(people=2):
    random = np.random.default_rng(7)
    truth = random.random(240) < 0.4
    labels = {
        name: (truth ^ (random.random(240) < 0.08)).astype(int)
        for name in ("ana", "ben", "cleo")[:people]
    }
    return round_of(labels, conversations=20)


def _true_kappa(kappa, seed):
    """Everybody shares a message's label with a chance of √κ, so that each pair has this κ."""
    random = np.random.default_rng([seed, int(100 * kappa)])
    truth = random.random(240) < 0.3
    labels = {
        name: np.where(random.random(240) < kappa**0.5, truth, random.random(240) < 0.3).astype(int)
        for name in ("ana", "ben", "cleo")
    }
    return round_of(labels, conversations=20)


def test_a_worse_disagreement_of_scores_is_less_agreement_of_all():
    near = {"ana": {"c": [0, 1, 2, 2]}, "ben": {"c": [0, 1, 2, 1]}}
    far = {"ana": {"c": [0, 1, 2, 2]}, "ben": {"c": [0, 1, 2, 0]}}
    nominal, weighted = (
        [agreement(rated, level=level).fleiss_kappa for rated in (near, far)]
        for level in ("nominal", "interval")
    )

    assert nominal[0] == nominal[1]
    assert weighted[0] > weighted[1]
