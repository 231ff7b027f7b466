"""Sentences, clauses and words, by rules: no tagger is needed for how people talk here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pipelines.requirements.lexicon import known_verbs, mapping, words

# What is not text: control characters, halves of surrogate pairs, marks of width or direction.
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ud800-\udfff]+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_PICTURES = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]+ *")
_BARE_NOT = re.compile(
    r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should|must|ca|wo)nt\b", re.I
)
_BARE_IS = re.compile(
    r"\b(?:(that|what|there|here|who)s|(i)m|(i|they|we|you)ve|(you|they)re|"
    r"(that|it|i)d(?= (?:be|like|love|rather|want|say|skip|have|never|prefer|also|need|really)\b))"
    r"(?![\w'-])",
    re.I,
)
_BULLET = re.compile(r"\s*+(?:[-*•–]|\(?\d{1,2}[.)]|[a-z]\))\s++")
_END = re.compile(
    r"(?<=[.!?…])[\"')\]]*+\s++(?=[\"'(\[]?[A-ZÀ-Þ0-9])|(?<=[!?])\s++|;\s++"
    r"|(?<=[a-z'][a-z]\.)\s++(?=[\"']?[a-z])"  # chats rarely have capitals
)
_ITEM_NUMBER = re.compile(r"\(?\d{1,2}[.)]")
_DIGITS = re.compile(r"\d{1,2}")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|vs|approx|no|st|max|min|incl|excl|resp|dept|tel|ext|fig|"
    r"ref|nr|inc|ltd|corp|est|avg|temp|sec|hrs|wks|prof)\.$",
    re.I,
)
_WRAPPED = re.compile(r"(?<=[a-z0-9,]{2})(?<=[^\n]{25})\n(?=[a-z]{1,20}[ ,.'])(?![a-z]\))")
"""Where a line goes on in the next one, as captions do."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)
_CODE = re.compile(
    r"SELECT\b.*(?:\bFROM\b|,\s*$)|(?i:select)\s+(?:\*|\w+(?:\s*,\s*\w+)+)\s+(?i:from)\s"
    r"|(?i:select)\b.*\b(?i:from)\b.*\b(?i:where)\b.*[=<>]"
    r"|(?:INSERT INTO|DELETE FROM|ALTER TABLE|DROP TABLE|CREATE (?:TABLE|INDEX|VIEW))\b"
    r"|UPDATE \w+ SET\b|(?:ORDER|GROUP) BY \w|LIMIT \d|(?:(?:INNER|LEFT|RIGHT|OUTER) )*JOIN \w"
    r"|FROM \w+(?: \w+)?;?\s*$|(?:WHERE|AND|OR|HAVING|SET|ON)\b.*[\w)]\s*[=<>]"
    r"|<(?!/?(?:p|b|i|u|li|em|strong|span|br|ul|ol|a)\b)/?[a-z][^<>]*>.*>\s*$"
    r"|[{}\[\]()]+[,;]?\s*$|.*\)\s?\{\s*$|.*\{.*;\s*\}\s*$|(?:return\s+)?[\w.]+\((?!s\)).*\)\s*;\s*$"
    r"|(?:(?:const|let|var|int|string)\s+)?[\w.]+\s*=[^=].*;\s*$|(?:const|let|var)\s+\w+\s*="
    r"|(?:def|function)\s+\w+\s*\(|import\b.*\bfrom\s*[\"']|\$ [a-z]"
    r"|\"[\w -]+\"\s*:\s*(?:[\"\d\[{-]|true|false|null)"
)
"""A line of a program, a query, data or markup: nobody says that."""
_WORD = re.compile(r"[\w][\w'&/-]*")
MAX_CHARACTERS = 20_000  # of one message; the rest of a longer one is not read
MAX_SENTENCE = 600
"""Characters. What goes on for longer is cut at a blank: many patterns look at each pair of places
in a sentence, and so take long over a long one."""
_LONGEST_ABBREVIATION = 12


def spelt(text: str) -> str:
    """Without emoji, and with the apostrophes that chats leave out: "dont", "thats", "id like"."""
    text = _PICTURES.sub("", text).strip()
    text = _BARE_NOT.sub(r"\1n't", text)
    return _BARE_IS.sub(
        lambda found: f"{(own := found[found.lastindex or 0])}'{found[0][len(own) :]}", text
    )


def plain(text: str) -> str:
    return _SPACE.sub(" ", text.translate(_QUOTES)).strip()


class Span(NamedTuple):
    """A sentence at its place in a message."""

    start: int
    end: int
    text: str
    item: bool = False
    """An item of a list."""
    number: int | None = None
    """The item's number, if it has one."""


def sentences(text: str) -> list[str]:
    """The sentences of one message; list items count as sentences."""
    return [span.text for span in spans(text)]


def spans(text: str) -> list[Span]:
    """The sentences of one message, each with its place."""
    text = _FENCED.sub(_blank, text[:MAX_CHARACTERS].translate(_QUOTES))
    text = _WRAPPED.sub(" ", text)
    found: list[Span] = []
    at = 0
    for line in text.split("\n"):
        if line.strip() and not _CODE.match(line.lstrip()[:MAX_SENTENCE]):
            found += _of_line(line, at)
        at += len(line) + 1
    return found


def _blank(code: re.Match[str]) -> str:
    """As many blanks, so that all else keeps its place."""
    return re.sub(r"[^\n]", " ", code[0])


def _of_line(line: str, offset: int) -> Iterator[Span]:
    bullet = _BULLET.match(line)
    start = bullet.end() if bullet else 0
    item, number = bullet is not None, _number(bullet[0] if bullet else "")
    for cut in [*_END.finditer(line, start), None]:
        end = cut.start() if cut else len(line)
        if cut and end - start < MAX_SENTENCE and _is_short_for(line, start, end, cut.end()):
            continue
        for piece in _cut(line, start, end):
            text = spelt(plain(line[piece[0] : piece[1]]))
            if _ITEM_NUMBER.fullmatch(text):  # of a list within a line: "1. This. 2. That."
                item, number = True, _number(text)
            elif _WORD.search(text):
                yield Span(offset + piece[0], offset + piece[1], text, item, number)
        start = cut.end() if cut else end


def _number(text: str) -> int | None:
    digits = _DIGITS.search(text)
    return int(digits[0]) if digits else None


def _is_short_for(line: str, start: int, end: int, after: int) -> bool:
    """The full stop belongs to an abbreviation; "No." only before a number."""
    found = _ABBREVIATION.search(line[max(start, end - _LONGEST_ABBREVIATION) : end])
    if found is None:
        return False
    return found[0].lower() != "no." or line[after : after + 1].isdigit()


def _cut(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and line[start].isspace():
        start += 1
    while start < end and line[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        at = line.rfind(" ", start + 1, start + MAX_SENTENCE)
        at = at if at > 0 else start + MAX_SENTENCE
        yield start, at
        start = at
    if start < end:
        yield start, end


def tokens(text: str) -> list[str]:
    return _WORD.findall(text)


def lower_first(text: str) -> str:
    """Lower-case the first letter, except of a name or an abbreviation."""
    head = text.split(" ", 1)[0]
    if head == "I" or sum(letter.isupper() for letter in head) > 1:
        return text
    return text[:1].lower() + text[1:]


def upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def strip_openers(text: str) -> str:
    """Drop what only keeps the talk going: "Yes, and also …" leaves "…"."""
    while True:
        shorter = _opener().sub("", text, count=1).lstrip(" ,-:–…!.")
        if shorter == text or not shorter:
            return text
        text = shorter


@cache
def _opener() -> re.Pattern[str]:
    alternatives = "|".join(sorted(map(re.escape, words("openers")), key=len, reverse=True))
    return re.compile(rf"^(?:{alternatives})(?=[\s,.:!…–-])(?!-\w)", re.I)


@cache
def singular(word: str) -> str:
    low = word.lower()
    if low in {"people", "children", "women", "men"}:
        return {"people": "person", "children": "child", "women": "woman", "men": "man"}[low]
    if low.endswith(("ss", "us", "is", "ews")) or len(low) < 4 or not low.endswith("s"):
        return word
    if low.endswith("ies"):
        return word[:-3] + "y"
    if low.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1]


@cache
def base(word: str) -> str | None:
    """The verb behind a form of it ("encrypted" → "encrypt"), or None if the verb isn't known."""
    low, verbs = word.lower(), words("verbs")
    if low in mapping("words", "irregular"):
        return mapping("words", "irregular")[low]
    return next((stem for stem in _stems(low) if stem in verbs), None)


@cache
def any_base(word: str) -> str | None:
    """The same of all verbs that are known; what models were fitted with is :func:`base`."""
    stems = _stems(word.lower())
    return base(word) or next((stem for stem in stems if stem in known_verbs()), None)


def _stems(low: str) -> list[str]:
    stems = [low]
    for ending in ("ing", "ed", "es", "s"):
        if low.endswith(ending):
            stem = low[: -len(ending)]
            stems += [stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem]
    if low.endswith(("ied", "ies")):
        stems.append(low[:-3] + "y")
    return stems


def is_base_verb(word: str) -> bool:
    return word.lower() in words("verbs")


def is_participle(word: str) -> bool:
    low = word.lower()
    return base(low) is not None and (low.endswith("ed") or low in mapping("words", "irregular"))


def content_words(text: str) -> set[str]:
    """What a text is about: its words without grammar, in the singular."""
    dull = words("determiners") | words("prepositions") | words("auxiliaries") | words("openers")
    singulars = {singular(word.lower()) for word in tokens(text)}
    return {base(word) or word for word in singulars if word not in dull and len(word) > 2}


def share(about: Iterable[str], asked: Iterable[str]) -> float:
    left, right = set(about), set(asked)
    return len(left & right) / len(left) if left else 0.0


def overlap(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, min(len(one), len(other)))


def jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, len(one | other))


def same_stand(left: str, right: str) -> bool:
    """Neither denies the other, and both name the same figures."""
    figures = [set(re.findall(r"\d+", text)) for text in (left, right)]
    denied = [
        bool(re.search(r"\b(?:not|never|no|without)\b|n't\b", text, re.I)) for text in (left, right)
    ]
    return denied[0] == denied[1] and (not all(figures) or figures[0] == figures[1])
