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
    found = doctest.testmod(importlib.import_module(f"labeling.domain.{name}"))

    assert found.attempted > 0
    assert found.failed == 0
