"""What holds for every metric; a new one without a row in ``COMPUTE`` fails here."""

import doctest
import importlib
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import metrics
from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.calibration import calibration
from evaluation.metrics.items import score_extraction
from evaluation.metrics.registry import METRICS, Value, metrics_for
from labeling.agreement.matching.similarity import Ruler
from tests.fakes import WordOverlap, requirement

RULER = Ruler(WordOverlap())
WORDS = ["a b c d e f g h", "a b c d e f g", "b c d e f g h", "x y", ""]

requirements = st.lists(
    st.builds(
        requirement,
        title=st.sampled_from(WORDS),
        type=st.sampled_from(["functional", "security"]),
        actor=st.sampled_from(["user", "Client ", "system", None]),
        priority=st.sampled_from(["must", "could"]),
        source_messages=st.lists(st.integers(0, 3), max_size=2, unique=True),
        acceptance_criteria=st.lists(st.sampled_from(WORDS), max_size=2),
        confidence=st.sampled_from([0, 0.1, 0.35, 0.9, 1]),
    ),
    max_size=5,
)
complete = st.lists(
    st.builds(
        requirement,
        title=st.sampled_from(WORDS[:4]),
        type=st.sampled_from(["functional", "security"]),
        actor=st.sampled_from(["user", "client", "system"]),
        confidence=st.just(1.0),
    ),
    min_size=1,
    max_size=5,
)


def of_extraction(name):
    def compute(gold, predicted):
        return score_extraction(gold, predicted, ruler=RULER)[name]

    return compute


def of_calibration(name):
    def compute(gold, predicted):
        detail = score_extraction(gold, predicted, ruler=RULER)["requirement_f1"].detail
        result = calibration([c for c, _ in detail["points"]], [c for _, c in detail["points"]])
        return Value(getattr(result, name), result.undefined)

    return compute


COMPUTE = {
    "requirement_recall": of_extraction("requirement_recall"),
    "requirement_precision": of_extraction("requirement_precision"),
    "requirement_f1": of_extraction("requirement_f1"),
    "type_accuracy": of_extraction("type_accuracy"),
    "actor_accuracy": of_extraction("actor_accuracy"),
    "priority_accuracy": of_extraction("priority_accuracy"),
    "source_overlap": of_extraction("source_overlap"),
    "criteria_completeness": of_extraction("criteria_completeness"),
    "ece": of_calibration("ece"),
    "mce": of_calibration("mce"),
    "brier": of_calibration("brier"),
}
UNMOVED_BY_AN_EXTRA_PREDICTION = {
    "requirement_recall",
    "type_accuracy",
    "actor_accuracy",
    "priority_accuracy",
    "source_overlap",
    "criteria_completeness",
}
of_requirements = pytest.mark.parametrize("name", COMPUTE)
every_metric = pytest.mark.parametrize("name", METRICS)
laws = settings(max_examples=40)


def test_every_metric_of_requirements_has_its_laws_checked_and_they_are_in_order():
    assert list(COMPUTE) == [metric.id for metric in metrics_for("extraction")]


@of_requirements
@laws
@given(gold=requirements, predicted=requirements)
def test_a_score_is_in_its_range_or_undefined_with_a_reason(name, gold, predicted):
    found, metric = COMPUTE[name](gold, predicted), METRICS[name]

    if found.value is None:
        assert found.reason
    else:
        assert math.isfinite(found.value)
        assert metric.lower <= found.value <= metric.upper
    json.dumps(found.detail, allow_nan=False)


@of_requirements
@laws
@given(gold=requirements, predicted=requirements, random=st.randoms(use_true_random=False))
def test_the_order_of_records_plays_no_part(name, gold, predicted, random):
    before = COMPUTE[name](gold, predicted).value

    gold, predicted = random.sample(gold, len(gold)), random.sample(predicted, len(predicted))

    assert COMPUTE[name](gold, predicted).value == pytest.approx(before)


@of_requirements
@laws
@given(gold=complete)
def test_saying_everything_twice_is_never_better(name, gold):
    """With full confidence, each repeated prediction is wrong: one gold, one partner."""
    metric, once = METRICS[name], COMPUTE[name](gold, gold).value

    twice = COMPUTE[name](gold, [*gold, *gold]).value

    if name in UNMOVED_BY_AN_EXTRA_PREDICTION:
        assert twice == once
    else:
        assert (twice < once) if metric.direction == "higher" else (twice > once)


@every_metric
def test_what_is_said_about_a_metric_is_complete(name):
    metric = METRICS[name]

    assert metric.id == name == name.lower()
    assert metric.title
    assert metric.summary.endswith(".")
    assert metric.version >= 1
    assert metric.lower < metric.upper
    bound = metric.lower if metric.direction == "higher" else metric.upper
    assert metric.worst == (bound if metric.failure is None else metric.failure)
    assert math.isfinite(metric.worst)
    assert all(metric in metrics_for(layer) for layer in metric.layers)


@pytest.mark.parametrize("layer", GOLD_LAYERS.values(), ids=list(GOLD_LAYERS))
def test_every_metric_of_a_layer_stands_in_one_of_its_groups(layer):
    named = [name for _, names in layer.groups for name in names]

    alone = {metric.id for metric in metrics_for(layer.name) if not metric.diagnostic}
    assert alone <= set(named)
    assert len(named) == len(set(named))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_value_is_never_nan(number):
    with pytest.raises(ValueError, match="is not a score"):
        Value(number)


def test_undefined_needs_a_reason():
    with pytest.raises(ValueError, match="needs a reason"):
        Value(None)


WITH_EXAMPLES = [
    path.stem for path in Path(metrics.__file__).parent.glob("*.py") if ">>> " in path.read_text()
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_say_what_happens(module):
    outcome = doctest.testmod(importlib.import_module(f"evaluation.metrics.{module}"))

    assert outcome.attempted > 0
    assert outcome.failed == 0
