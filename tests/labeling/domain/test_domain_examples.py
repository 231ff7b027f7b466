"""The examples in the docstrings run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "agreement.agreement",
        "agreement.intervals",
        "agreement.kappa",
        "gold.release",
        "matching.matching",
        "matching.similarity",
        "reasons",
        "uncertainty",
    ],
)
def test_examples_say_what_happens(name):
    outcome = doctest.testmod(importlib.import_module(f"labeling.domain.{name}"))

    assert outcome.attempted > 0
    assert outcome.failed == 0
