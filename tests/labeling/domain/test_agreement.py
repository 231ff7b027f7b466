import time

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from labeling.domain.agreement import (
    agreement,
    band,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pair_agreement,
)

A = [1, 1, 0, 1, 0, 1, 1, 0]
B = [1, 1, 0, 1, 1, 1, 0, 0]
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

pairs_of_labels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)
count_tables = st.lists(
    st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=20
).map(np.array)


def round_of(units_by_person, conversations=4):
    """The same units for everybody, cut into conversations of equal length."""
    return {
        person: {f"c{k}": part for k, part in enumerate(np.array_split(units, conversations))}
        for person, units in units_by_person.items()
    }


class TestKappa:
    def test_worked_example(self):
        # p_o = 6/8; p_e = (5·5 + 3·3)/64 = 34/64; (48 − 34)/(64 − 34) = 14/30 = 7/15
        assert cohen_kappa(A, B) == 7 / 15
        assert band(cohen_kappa(A, B)) == "moderate"

    @given(pairs_of_labels)
    def test_equals_scikit_learn(self, labels):
        a, b = zip(*labels, strict=True)

        found = cohen_kappa(a, b)

        if len({*a, *b}) == 1:
            assert found is None
        else:
            assert found == pytest.approx(cohen_kappa_score(a, b))

    @given(pairs_of_labels)
    def test_is_symmetric_and_blind_to_order(self, labels):
        a, b = zip(*labels, strict=True)

        assert cohen_kappa(a, b) == cohen_kappa(b, a) == cohen_kappa(a[::-1], b[::-1])

    @pytest.mark.parametrize("label", [0, 1])
    def test_one_label_throughout_leaves_nothing_to_correct(self, label):
        assert cohen_kappa([label] * 5, [label] * 5) is None

    def test_one_label_each_is_no_agreement(self):
        assert cohen_kappa([1, 1], [0, 0]) == 0.0  # p_o = p_e = 0

    def test_no_units(self):
        assert cohen_kappa([], []) is None

    def test_lengths_must_agree(self):
        with pytest.raises(ValueError, match="cohen_kappa: 1 labels against 2"):
            cohen_kappa([1], [1, 0])

    @pytest.mark.parametrize(
        ("kappa", "name"),
        [
            (-0.01, "poor"),
            (0.0, "slight"),
            (0.20, "slight"),
            (0.2001, "fair"),
            (0.40, "fair"),
            (0.4001, "moderate"),
            (0.60, "moderate"),
            (0.6001, "substantial"),
            (0.80, "substantial"),
            (0.8001, "almost perfect"),
            (1.0, "almost perfect"),
            (None, None),
        ],
    )
    def test_bands_are_contiguous(self, kappa, name):
        assert band(kappa) == name


class TestOtherStatistics:
    def test_ac1_by_hand(self):
        # shares of 1: 5/8 and 5/8, π = 5/8; p_e = 2·(5/8)(3/8) = 30/64; (48 − 30)/(64 − 30)
        assert gwet_ac1(A, B) == pytest.approx(18 / 34)

    def test_ac1_of_three_categories_by_hand(self):
        # p_o = 3/4; π = 2/8, 3/8, 3/8; Σπ(1−π) = (12 + 15 + 15)/64 = 42/64; p_e = 21/64
        assert gwet_ac1("abcb", "abcc") == pytest.approx((48 - 21) / (64 - 21))

    def test_ac1_stands_where_kappa_does_not(self):
        assert gwet_ac1([0] * 9, [0] * 9) == 1.0
        assert gwet_ac1([], []) is None

    @given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 30), st.integers(0, 2**32 - 1))
    def test_fleiss_equals_statsmodels(self, raters, categories, units, seed):
        random = np.random.default_rng(seed)
        counts = random.multinomial(raters, [1 / categories] * categories, size=units)

        found = fleiss_kappa(counts)

        if np.count_nonzero(counts.sum(axis=0)) < 2:
            assert found is None
        else:
            assert found == pytest.approx(statsmodels_fleiss(counts), abs=1e-9)

    @given(count_tables)
    def test_alpha_equals_krippendorff(self, counts):
        pairable = counts[counts.sum(axis=1) >= 2]

        found = krippendorff_alpha(counts)

        if np.count_nonzero(pairable.sum(axis=0)) < 2:
            assert found is None
        else:
            expected = krippendorff.alpha(
                value_counts=pairable, value_domain=[0, 1, 2], level_of_measurement="nominal"
            )
            assert found == pytest.approx(expected)

    def test_fleiss_with_missing_ratings_by_hand(self):
        # units (2,0), (1,2), (1,0): the last has one rating and is left out.
        # P = (1 + 2·1/6)/2 = 2/3; shares (1 + 1/3)/2 = 2/3 and 1/3; chance 5/9; (6−5)/(9−5)
        assert fleiss_kappa(np.array([[2, 0], [1, 2], [1, 0]])) == pytest.approx(1 / 4)

    @pytest.mark.parametrize("statistic", [fleiss_kappa, krippendorff_alpha])
    def test_nothing_to_compare(self, statistic):
        assert statistic(np.zeros((0, 2), dtype=int)) is None
        assert statistic(np.array([[1, 0], [0, 1]])) is None
        assert statistic(np.array([[2, 0], [2, 0]])) is None


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
        assert found.reasons["value"] == (
            "ana and ben: both used one and the same label throughout, "
            "so chance alone explains the agreement"
        )
        assert (found.pairs[0].kappa, found.pairs[0].band) == (None, None)
        assert (found.pairs[0].raw, found.pairs[0].ac1) == (1.0, 1.0)
        assert found.pairs[0].positive_f1 is None

    def test_alone_there_is_no_agreement(self):
        for ratings in ({}, {"ana": {"c": [1, 0]}}):
            found = agreement(ratings)
            assert (found.value, found.passed, found.pairs) == (None, False, [])
            assert "at least two annotators" in found.reasons["value"]
            assert found.reasons["fleiss_kappa"] == "no unit was labelled by two annotators"

    def test_one_label_from_everybody_leaves_the_overall_figures_without_value(self):
        found = agreement(round_of({"ana": [0] * 8, "ben": [0] * 8}))

        assert (found.fleiss_kappa, found.krippendorff_alpha) == (None, None)
        why = "all annotators used one and the same label throughout"
        assert found.reasons["fleiss_kappa"] == found.reasons["krippendorff_alpha"] == why

    def test_only_what_both_submitted_counts(self):
        ratings = {"ana": {"c1": A, "c2": [1] * 9}, "ben": {"c1": B, "c3": [0] * 3}}

        found = agreement(ratings)

        assert (found.pairs[0].n, found.pairs[0].kappa) == (8, 7 / 15)
        alone = "nobody else submitted it"
        assert found.excluded == [
            {"conversation": "c2", "annotator": "ana", "reason": alone},
            {"conversation": "c3", "annotator": "ben", "reason": alone},
        ]

    def test_skipped_samples_are_listed_with_their_reason(self):
        found = agreement({"ana": {"c1": A}, "ben": {"c1": B}}, excluded={"ben": {"c0": "skipped"}})

        assert found.excluded == [{"conversation": "c0", "annotator": "ben", "reason": "skipped"}]

    def test_nothing_in_common_is_said(self):
        [pair] = agreement({"ana": {"c1": [1]}, "ben": {"c2": [1]}}).pairs

        assert (pair.n, pair.kappa) == (0, None)
        assert pair.undefined == "they submitted no sample in common"

    def test_common_samples_without_units_are_said(self):
        [pair] = agreement({"ana": {"c1": [None]}, "ben": {"c1": [1]}}).pairs

        assert pair.undefined == "their common samples hold no unit that both labelled"

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


@pytest.mark.slow
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


def _random_table(random):
    """Labels of a few annotators for the same units; some missing, many tables one-sided."""
    raters, units = int(random.integers(2, 6)), int(random.integers(1, 25))
    categories = int(random.integers(1, 4))
    shares = random.dirichlet(np.full(categories, 0.4))
    table = random.choice(categories, size=(raters, units), p=shares).astype(float)
    missing = random.random(table.shape) < random.choice([0.0, 0.0, 0.3])
    return np.where(missing, np.nan, table)


def _counts(table):
    return np.stack([(table == label).sum(axis=0) for label in range(3)], axis=1)


def _or_none(value):
    return None if np.isnan(value) else float(value)


@pytest.mark.filterwarnings("ignore")  # the libraries warn where they have no value
def test_a_thousand_random_tables_equal_the_libraries():
    random = np.random.default_rng(20)
    undefined = 0
    for _ in range(1000):
        table = _random_table(random)
        ours = _pair_kappas(table)
        assert ours == pytest.approx(_library_kappas(table), abs=1e-9)
        counts = _counts(table)
        alpha, fleiss = krippendorff_alpha(counts), fleiss_kappa(counts)
        assert alpha == pytest.approx(_library_alpha(table), abs=1e-9)
        if not np.isnan(table).any():
            expected = _or_none(statsmodels_fleiss(counts)) if np.ptp(table) else None
            assert fleiss == pytest.approx(expected, abs=1e-9)
        undefined += alpha is None or None in ours
    assert 100 < undefined < 900  # both kinds are well covered


def _both(table):
    for a in range(len(table)):
        for b in range(a + 1, len(table)):
            kept = ~np.isnan(table[a]) & ~np.isnan(table[b])
            yield table[a][kept].astype(int), table[b][kept].astype(int)


def _pair_kappas(table):
    return [cohen_kappa(a.tolist(), b.tolist()) for a, b in _both(table)]


def _library_kappas(table):
    found = []
    for a, b in _both(table):
        one_label = len(set(a) | set(b)) < 2  # scikit-learn divides 0 by 0 here
        found.append(None if one_label else _or_none(cohen_kappa_score(a, b)))
    return found


def _library_alpha(table):
    rated = (~np.isnan(table)).sum(axis=0) >= 2
    if len(np.unique(table[:, rated][~np.isnan(table[:, rated])])) < 2:
        return None  # krippendorff refuses a single label, or no pair at all
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
