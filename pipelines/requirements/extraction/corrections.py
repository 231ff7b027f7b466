"""Figures put right later: "… within five minutes." "No, make that ten minutes."."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.requirements.extraction.clauses import STRONG, find_cue, read
from pipelines.requirements.extraction.state import Commitment, Source, Utterance
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import singular, tokens

SHORT = 12  # words; a longer sentence says something of its own
_FIGURE = re.compile(
    r"\b(?P<number>\d[\d.,]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|sixty|ninety|(?:a|one|two) hundred)\b"
    r"(?:[ -](?P<unit>[a-z]+))?",
    re.I,
)


def corrected(spoken: Sequence[Utterance], found: Sequence[Commitment]) -> list[Commitment]:
    """The wishes with the figures that hold in the end, and without the mere corrections."""
    standing = list(found)
    for sentence in spoken:
        figure = _new_figure(sentence)
        at = _place(standing, sentence, figure) if figure else None
        if figure and at is not None:
            standing[at] = _put_right(standing[at], sentence, figure)
            standing = [one for one in standing if one.sentence is not sentence]
    return standing


def _new_figure(sentence: Utterance) -> re.Match[str] | None:
    if sentence.asked or len(tokens(sentence.text)) > SHORT:
        return None
    cue = find_cue(sentence.text)
    if not signal("correct").search(sentence.text) or (cue and cue.cue.strength >= STRONG):
        return None
    return next(_FIGURE.finditer(sentence.text), None)


def _place(found: list[Commitment], sentence: Utterance, figure: re.Match[str]) -> int | None:
    """The last wish said before that has a figure of the same unit."""
    fitting = [
        at
        for at, one in enumerate(found)
        if one.criterion is None
        and one.sentence is not sentence
        and one.sentence.message <= sentence.message
        and _old_figure(one.text, figure)
    ]
    return fitting[-1] if fitting else None


def _old_figure(text: str, new: re.Match[str]) -> re.Match[str] | None:
    return next((old for old in _FIGURE.finditer(text) if _same_unit(old, new)), None)


def _same_unit(old: re.Match[str], new: re.Match[str]) -> bool:
    left, right = (singular((one["unit"] or "").lower()) for one in (old, new))
    return left == right or (new.end() == len(new.string.rstrip(" .!")) and not new["unit"])


def _put_right(one: Commitment, sentence: Utterance, new: re.Match[str]) -> Commitment:
    old = _old_figure(one.text, new)
    if old is None:
        return one
    text = one.text[: old.start("number")] + new["number"] + one.text[old.end("number") :]
    sources = (*one.sources, Source(sentence.message, "corrected"))
    return replace(
        one,
        text=text,
        reading=read(text),
        sources=sources,
        acts=(*one.acts, "correction"),
        state="corrected",
    )
