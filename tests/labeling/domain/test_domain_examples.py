"""The examples in the docstrings run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "agreement.rules.agreement",
        "agreement.rules.intervals",
        "agreement.rules.kappa",
        "gold.rules.release",
        "agreement.matching.matching",
        "agreement.matching.similarity",
        "core.rules.reasons",
        "domain.uncertainty",
    ],
)
def test_examples_say_what_happens(name):
    outcome = doctest.testmod(importlib.import_module(f"labeling.{name}"))

    assert outcome.attempted > 0
    assert outcome.failed == 0
