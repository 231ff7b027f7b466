"""A reason that somebody has to give is one that can be read."""

import pytest

from labeling.core.rules.reasons import reason_in

UNSEEN = [
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u202e", "\u2066"),
    *("\u034f", "\ufe0f", "\U000e0020", "\u3164", "\u115f", "\uffa0", "\u2800", "\x00", "\x7f"),
    *("\u00a0", "\u3000", "\u2028", "\n", ""),
]


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_what_shows_nothing_is_no_reason(text):
    assert reason_in(text) == ""
    assert reason_in(f" {text}\u200b{text} ") == ""


SEEN = ["x", "…", "理由", "सच", "👍\ufe0f", "ein\u00adfach", "e\u0301", "\U0001fae8"]


@pytest.mark.parametrize("text", SEEN)
def test_what_can_be_read_is_a_reason(text):
    assert reason_in(f" {text}\n") == text
