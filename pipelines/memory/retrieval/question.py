"""A question as the retrievers ask it: without names, in the first person, with its days."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.memory.dates import Days, days_in
from pipelines.memory.retrieval.speakers import Speakers
from pipelines.memory.text import WORD, stems

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(?:\b(?:on|in|before|after|since|of|at|the|morning|evening)\s+)*"
    rf"(?:\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}})?"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
    rf"|\b{_MONTH}\s+(?:of\s+)?\d{{4}})",
    re.I,
)
_KINDS = {
    "when": re.compile(
        r"^(?:(?:on|since|until|by) )?(?:when|what (?:day|date|year|month|time))", re.I
    ),
    "where": re.compile(
        r"\bwhere\b|\b(?:which|what) (?:place|cit|countr|state|destination|town)", re.I
    ),
    "how_many": re.compile(r"\bhow (?:many|much|often|long|old|far|big)\b", re.I),
    "several": re.compile(
        r"^(?:what|which)(?: (?:kinds?|types?|sorts?) of)?(?: [a-z-]+){0,3}? "
        r"(?:[a-z]+[^s\W]s|people|media)\b|\bwhat (?:are|were)\b|\bwho are\b",
        re.I,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    about: tuple[str, ...]
    """The speakers it names, as the file spells them."""
    bare: str
    """Without names and dates."""
    first: str
    """As the person asked about would say it."""
    stems: tuple[str, ...]
    kinds: frozenset[str]
    days: Days | None


def read(text: str, speakers: Speakers, *, span: Days | None) -> Asked:
    about = speakers.about(text)
    undated = _DATE.sub("", text)
    bare = _without(undated, speakers, "", "")
    we = len(about) > 1
    first = _without(undated, speakers, "we" if we else "I", "our" if we else "my")
    return Asked(
        about=about,
        bare=bare,
        first=first,
        stems=tuple(dict.fromkeys(stems(bare))),
        kinds=frozenset(kind for kind, shape in _KINDS.items() if shape.search(text.strip())),
        days=days_in(text, span=span),
    )


def _without(text: str, speakers: Speakers, who: str, whose: str) -> str:
    def instead(match: re.Match[str]) -> str:
        word = match.group()
        if not speakers.called(word):
            return word
        return whose if word.lower().endswith(("'s", "’s", "'", "’")) else who

    statement = WORD.sub(instead, text)
    if who:
        statement = re.sub(rf"\b{who},? (?:and|or) {who}\b", who, statement)
    elif len(speakers.about(text)) > 1:  # "Do and drink beer?"
        statement = re.sub(r"(^|\s)(?:and|or)\s+(?:and\s+)?(?=\s|$)", " ", statement)
    return re.sub(r"\s+([?,.!])", r"\1", " ".join(statement.split()))
