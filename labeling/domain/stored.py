"""The sentences that labeling stores in English, for the pages that show them in other languages.

Stored texts stay as they are, for programs and for gold; a page finds the pattern again.
"""

from __future__ import annotations

from labeling.domain.schema import LAYERS
from labeling.domain.targets import title_of

TITLES = tuple(title_of(name).lower() for name in LAYERS)

DECIDED = ("decided among the annotators' labels", "accepted as agreed ({state})")
"""Why something was decided so, where no person has written why."""

PATTERNS: tuple[str, ...] = (
    "calibration round {number} is open: its answers are blind until then",
    "nobody has submitted labels",
    "{submitted} of {overlap} annotators have submitted",
    "disputed: {titles}; decide in adjudication",
    "disputed: {titles} and {number} more; decide in adjudication",
    "its decision refers to labels that do not stand any more; decide it again in adjudication",
    "Nothing has been labelled yet: open a round and have it submitted.",
    "None of {total} labelled conversations is settled: {reasons}.",
    "The freeze broke off; the worker's log says why.",
    "Given up after {tries} tries: the worker stopped each time.",
    "skipped: {why}",
    "labelled under guidelines v{version}",
    "“{name}” is about a requirement that they do not have",
    "“{name}” is a label that they do not have or did not rate",
    *DECIDED,
    *(f"its {title} are not settled ({{why}})" for title in TITLES),
    *(f"{title}: {{why}}" for title in TITLES),
)
