from __future__ import annotations

import pytest

from labeling.gold.rules.meaning import LEVELS, Meaning, higher, of_release


def test_each_level_raises_its_number_and_sets_the_ones_after_it_to_zero() -> None:
    before = Meaning(1, 2, 3)

    assert [str(before.raised(level)) for level in LEVELS] == ["1.2.4", "1.3.0", "2.0.0"]


def test_of_two_levels_the_one_that_asks_more_counts() -> None:
    assert higher("patch", "major") == "major"
    assert higher("minor", "patch") == "minor"


@pytest.mark.parametrize(
    "text", ["1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "1.2.3\n", "1.²3.4", ""]
)
def test_only_three_numbers_are_a_meaning(text: str) -> None:
    assert Meaning.parse(text) is None


def test_a_release_without_a_meaning_counts_as_a_major_version() -> None:
    assert of_release("", 7) == Meaning(7, 0, 0)
    assert of_release("1.4.2", 7) == Meaning(1, 4, 2)
