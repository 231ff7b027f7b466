"""What a judge's reply says, and how near an answer's words are to a reference. No Django.

A judge replies with one JSON object. Its reply is read strictly: a default in place of a reply
that cannot be read would be a score that nobody gave.
"""

import json
import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from evaluation.metrics.metric import Value
from labeling.domain.facts import Fact
from pipelines.parsing import answer_part

PARSER_VERSION = "3"
"""Raised whenever a reply may be asked for or read in another way: it is part of a judge's hash."""

LOWEST, HIGHEST = 0.0, 10.0
NO_REFERENCE = Fact("metric.no_reference")
NO_WORDS = Fact("metric.no_words_in_reference")
FORMER = (
    *("metric.no_claims", "verdict.no_claims", "verdict.claim_no_object"),
    *("verdict.claim_not_decided", "verdict.claim_no_message"),
)
"""Of stored judgments, claim by claim: no judge is asked for those any more."""

FENCE = re.compile(r"```[\w-]*[ \t]*\n(?P<body>.*?)\n?[ \t]*```", re.DOTALL)
ARTICLES = frozenset({"a", "an", "the", "and"})


class Unreadable(ValueError):
    """The reply is not what a judge has to say; ``fact`` says in what way."""

    def __init__(self, code: str, /, **values: Any) -> None:
        self.fact = Fact(code, **values)
        super().__init__(str(self.fact))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score from 0 to 10 and why. ``clamped``: the judge gave a number outside of it."""

    score: float
    reasoning: str
    clamped: bool = False


def read_verdict(reply: str) -> Verdict:
    """The verdict in a reply ``{"score": number, "reasoning": text}``.

    What the judge thought aloud is set aside, a code fence around the rest is taken off; a number
    outside 0 to 10 is clamped and flagged. Everything else is a failure of the judge: other words
    around it, a number as text, NaN, a key that is missing or duplicate.

    Raises
    ------
    Unreadable
        For a reply that is not a verdict.

    Examples
    --------
    >>> read_verdict('{"score": 8, "reasoning": "Well supported."}')
    Verdict(score=8.0, reasoning='Well supported.', clamped=False)
    >>> read_verdict('```json\\n{"score": 11, "reasoning": "More than full."}\\n```')
    Verdict(score=10.0, reasoning='More than full.', clamped=True)
    >>> read_verdict('<think>{"score": 2}?</think>{"score": 4, "reasoning": "Half of it."}').score
    4.0
    """
    document = _document(reply)
    score = document.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unreadable("verdict.no_score")
    clamped = min(max(score, LOWEST), HIGHEST)
    return Verdict(float(clamped), _text(document, "reasoning"), clamped != score)


def answer_token_f1(answer: str, reference: str | None) -> Value:
    """F1 of the words of answer and reference, as bags: each occurrence counts once.

    Words are lower-cased, stripped of punctuation and of *a, an, the, and*, and stemmed by
    Porter's algorithm, as LoCoMo does; :func:`answer_tokens` says what a word is. Undefined without
    a reference that holds a word.

    References
    ----------
    Porter, M. F. (1980). An algorithm for suffix stripping. Program 14(3).
    Maharana et al. (2024). Evaluating very long-term conversational memory of LLM agents.

    Examples
    --------
    >>> answer_token_f1("She is running the shops.", "She runs a shop").value  # she run shop | is
    0.8571428571428571
    """
    if reference is None or not reference.strip():
        return Value(None, NO_REFERENCE)
    expected, words = Counter(answer_tokens(reference)), Counter(answer_tokens(answer))
    if not expected:
        return Value(None, NO_WORDS)
    common = (expected & words).total()
    return Value(2 * common / (expected.total() + words.total()))


def answer_tokens(text: str) -> list[str]:
    """The words of an answer as they are compared.

    Of scripts that put no blanks between words (Chinese, Japanese, Thai, …), and of Korean, whose
    words change with what they do, each character. A number keeps what is inside of it.

    Examples
    --------
    >>> answer_tokens("The cats' relational hopping, and a cat!")
    ['cat', 'relat', 'hop', 'cat']
    >>> answer_tokens("−3.5 km, 1,000 m, 3,5 km, 10:30, in 2024-05; 東京都")
    ['−3.5', 'km', '1000', 'm', '3.5', 'km', '10:30', 'in', '2024', '05', '東', '京', '都']
    """
    plain = unicodedata.normalize("NFC", text).lower()
    for pattern, instead in _PLAIN:
        plain = pattern.sub(instead, plain)
    stem = _stemmer()
    return [str(stem.stemWord(word)) for word in plain.split() if word not in ARTICLES]


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean."""
_IN_NUMBERS = r"(?<!\d)[.:/]|[.:/](?!\d)"
_OTHERS = re.escape(re.sub("[.:/]", "", string.punctuation) + "’‘“”。，、！？；：（）「」『』・")
_PLAIN = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"(?<=\d)[-−–](?=\d)", " "),
        (r"(?<![\w.])[-−–](?=[$€£]?\d)", "−"),
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"(?<=\d),(?=\d)", "."),
        (r"(?<![\w.])\.(?=\d)", "0."),
        (r"[…–—]", " "),
        (rf"{_IN_NUMBERS}|[{_OTHERS}]", ""),
        (rf"([{_UNSPACED}])", r" \1 "),
    )
)
"""A range is two numbers, a minus stays, "1,000" is 1000, "3,5" is 3.5; then punctuation goes."""


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")


def _document(reply: str) -> dict[str, Any]:
    text = answer_part(reply).strip()
    if not text and reply.strip():
        raise Unreadable("reply.only_reasoning")
    fenced = FENCE.fullmatch(text)
    try:
        document = json.loads(
            fenced["body"] if fenced else text,
            parse_constant=_no_number,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise Unreadable("reply.too_deep") from None
    except ValueError as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("verdict.no_json") from None
    if not isinstance(document, dict):
        raise Unreadable("verdict.no_object")
    return document


def _no_number(name: str) -> NoReturn:
    raise Unreadable("verdict.no_number", name=name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise Unreadable("verdict.said_twice")
    return document


def _text(document: dict[str, Any], name: str) -> str:
    text = document.get(name)
    if not isinstance(text, str) or not text.strip():
        raise Unreadable("verdict.missing", name=name)
    return text.strip()
