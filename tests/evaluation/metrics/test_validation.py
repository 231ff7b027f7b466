"""Issues and personal data, against hand counts and scikit-learn."""

import random

import pytest

from evaluation.metrics.registry import METRICS
from evaluation.metrics.summary import summarize
from evaluation.metrics.validation import NO_MATCH, NO_PII, pii_strings, score_validation


def issue(requirement="r1", issue_type="too_broad", field="action", **fields):
    return {
        "requirement": requirement,
        "issue_type": issue_type,
        "field": field,
        "severity": "warning",
        "span": None,
        "message": "",
        **fields,
    }


def pii(text, **fields):
    span = {"start": 0, "end": max(1, len(text)), "text": text}
    return issue(issue_type="pii", span=span, **fields)


@pytest.fixture
def scored(ruler):
    def score(gold, predicted):
        return score_validation(gold, predicted, ruler=ruler)

    return score


def values(found, *names):
    return tuple(found[f"issue_{name}"].value for name in names or ("recall", "precision", "f1"))


def test_issues_match_on_requirement_kind_and_field_alone(scored):
    gold = [issue(), issue(field="title"), issue("r2"), issue(issue_type="untestable")]
    predicted = [issue(message="other words"), issue("r3"), issue(field="condition")]

    assert values(scored(gold, predicted)) == (1 / 4, 1 / 3, pytest.approx(2 * 1 / (4 + 3)))


def test_two_equal_issues_need_two_partners(scored):
    assert values(scored([issue(), issue()], [issue()])) == (0.5, 1.0, pytest.approx(2 / 3))
    assert values(scored([issue()], [issue(), issue()])) == (1.0, 0.5, pytest.approx(2 / 3))
    assert values(scored([issue(), issue()], [issue(), issue()])) == (1.0, 1.0, 1.0)


def test_severity_is_compared_over_matches(scored):
    gold = [issue("r1", severity="error"), issue("r2", severity="info"), issue("r3")]
    predicted = [issue("r1", severity="error"), issue("r2", severity="error"), issue("r4")]

    assert scored(gold, predicted)["severity_accuracy"].value == 0.5


def test_of_equal_issues_those_of_equal_severity_are_partners(scored):
    gold = [issue(severity="error"), issue(severity="info")]

    assert scored(gold, gold[::-1])["severity_accuracy"].value == 1.0


@pytest.mark.parametrize(("gold", "predicted"), [([], []), ([issue()], []), ([], [issue()])])
def test_severity_is_undefined_without_a_match(scored, gold, predicted):
    result = scored(gold, predicted)["severity_accuracy"]

    assert (result.value, result.reason) == (None, NO_MATCH)


def test_recall_and_precision_equal_scikit_learn_on_sets(scored):
    """Without doubles the multiset is a set, so each possible issue is one binary label."""
    from sklearn.metrics import precision_recall_fscore_support

    draw = random.Random(3)
    universe = [issue(f"r{n}", kind) for n in range(6) for kind in ("too_broad", "untestable")]
    for _ in range(25):
        gold = [one for one in universe if draw.random() < 0.4]
        predicted = [one for one in universe if draw.random() < 0.4]
        expected = precision_recall_fscore_support(
            [one in gold for one in universe],
            [one in predicted for one in universe],
            average="binary",
            zero_division=1.0 if not gold and not predicted else 0.0,
        )

        precision, recall, f1 = values(scored(gold, predicted), "precision", "recall", "f1")

        assert (precision, recall, f1) == pytest.approx(expected[:3])


def test_every_issue_stands_in_one_row_of_the_alignment(scored):
    result = scored([issue("r1"), issue("r2")], [issue("r3"), issue("r2")])

    rows = [
        (row["gold"], row["predicted"], row["matched"])
        for row in result["issue_f1"].detail["alignment"]
    ]
    assert rows == [(0, None, False), (1, 1, True), (None, 0, False)]


# --- personal data ---


def test_personal_data_is_compared_as_a_set_of_texts(scored):
    gold = [pii("ana@example.com"), pii("Ana Diaz"), pii("Ana Diaz", field="title")]
    predicted = [pii("Ana Diaz", requirement="r9"), pii("555"), pii("556")]

    result = scored(gold, predicted)

    assert result["pii_precision"].value == 1 / 3
    assert result["pii_recall"].value == 1 / 2
    assert result["pii_f1"].value == pytest.approx(2 / 5)
    assert result["pii_f1"].detail == {"tp": 1, "fp": 2, "fn": 1}


def test_one_unicode_form_and_no_space_around():
    composed, decomposed = "Jos\u00e9", "Jose\u0301"

    assert pii_strings([pii(f" {decomposed}\n")]) == pii_strings([pii(composed)]) == {composed}


@pytest.mark.parametrize("other", [issue(), issue(issue_type="pii"), pii("   ")])
def test_undefined_if_neither_side_names_any(scored, other):
    result = scored([other], [other])

    for name in ("pii_precision", "pii_recall", "pii_f1"):
        assert (result[name].value, result[name].reason) == (None, NO_PII)


@pytest.mark.parametrize(("gold", "predicted"), [([pii("a")], []), ([], [pii("a")])])
def test_one_side_alone_is_zero(scored, gold, predicted):
    result = scored(gold, predicted)

    assert [result[f"pii_{name}"].value for name in ("precision", "recall", "f1")] == [0, 0, 0]


def test_micro_figures_equal_scikit_learn_over_all_texts_of_all_cases(scored):
    from sklearn.metrics import precision_recall_fscore_support

    draw = random.Random(5)
    texts = [f"text {n}" for n in range(12)]
    cases = [
        (
            {text for text in texts if draw.random() < 0.3},
            {text for text in texts if draw.random() < 0.5},
        )
        for _ in range(8)
    ]
    cases += [(set(), set()), ({"x"}, set()), (set(), {"y"})]
    truth, said = [], []
    for gold, predicted in cases:
        truth += [one in gold for one in [*texts, "x", "y"]]
        said += [one in predicted for one in [*texts, "x", "y"]]
    expected = precision_recall_fscore_support(truth, said, average="binary")

    result = [scored(list(map(pii, gold)), list(map(pii, predicted))) for gold, predicted in cases]

    for name, value in zip(("pii_precision", "pii_recall", "pii_f1"), expected, strict=False):
        values = [case[name] for case in result]
        total = summarize(
            METRICS[name], values, clusters=range(len(result)), failed=[False] * len(result)
        )
        assert total.mean == pytest.approx(value)
        assert (total.n, total.n_undefined) == (10, 1)
