"""Every pattern on texts that were written to stall: four times as much takes four times as long.

Those of ``pipelines.requirements`` see sentences with single blanks, of a limited length; what a
whole message costs there is in ``test_long_texts``.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from time import process_time
from typing import Any

N = 2_000  # characters
QUICK = 0.001  # seconds: below, a ratio says nothing
FOUR_TIMES = 8.0  # linear takes 4 times as long, the square 16 times
TRIES = 3
UNITS = (
    *(" ", "\n", "\t", "a", "A", "1", "é", "，"),
    *("(", "[", "{", "<", '"', "'", "“", "`", ":", ".", "-", "_", "*", "=", "\\", "/", "@", "#"),
    *("a ", "1 ", "1,", "a, ", "a:", "1:", "a\n", "a@", "ab. ", "- a\n", "it is ", "you ", "no "),
    *("not ", "'s ", "want to ", "the a ", ", and ", "if ", "<a ", "[a", "&#"),
)
WHOLE = {
    "labeling.domain.facts.CODE",
    "labeling.exchange.formats.sample_labels._FIELD",
    "labeling.domain.yaml_files._PLAIN",
    "labeling.domain.yaml_files._pattern",
    "evaluation.views.document.NUMBER",
    "pipelines.chat.failures.PAGE",
    "pipelines.mending._BEHIND",
}
"""Asked of the beginning of a text or of all of it, never of each place."""
ELSEWHERE = re.compile(r"\b(migrations|management)\b|__main__|^pipelines\.requirements\b")


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for top in ("labeling", "evaluation", "pipelines"):
        package = importlib.import_module(top)
        for found in pkgutil.walk_packages(package.__path__, f"{top}."):
            if ELSEWHERE.search(found.name):
                continue
            for name, value in vars(importlib.import_module(found.name)).items():
                yield from _in(value, f"{found.name}.{name}")


def _in(value: Any, name: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    elif isinstance(value, dict):
        yield from _in(list(value.values()), name)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _in(each, name)


def seconds(name: str, pattern: re.Pattern[str], text: str) -> float:
    begin = process_time()
    if name in WHOLE:
        pattern.match(text)
    else:
        sum(1 for _ in pattern.finditer(text))
    return process_time() - begin


def grows(name: str, pattern: re.Pattern[str], unit: str) -> bool:
    """Whether it does each time that it is asked: a busy machine delays now one, now the other."""
    text = unit * (N // len(unit))
    if seconds(name, pattern, text) < QUICK:
        return False
    return all(
        seconds(name, pattern, text * 4) > FOUR_TIMES * max(seconds(name, pattern, text), QUICK)
        for _ in range(TRIES)
    )


def test_no_pattern_takes_time_with_the_square_of_a_text() -> None:
    every = {(name, one.pattern, one.flags): one for name, one in patterns()}
    assert len(every) > 150

    stalls = {
        f"{name} on {unit!r}"
        for (name, _, _), pattern in every.items()
        for unit in UNITS
        if grows(name, pattern, unit)
    }

    assert stalls == set()


def test_a_pattern_that_grows_with_the_square_is_found() -> None:
    assert grows("", re.compile(r"(\w+) b"), "a")
    assert not grows("", re.compile(r"(?<!\w)(\w++) b"), "a")
