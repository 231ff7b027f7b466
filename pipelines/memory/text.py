"""Words of a text: split, stemmed, without stop words."""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
IMAGE = re.compile(r"^\[image: (.*)\]$", re.MULTILINE)
_STOP_WORDS = """
    a about after again all also always am an and any are aren't as at be because been before
    being but by can can't could couldn't did didn't do does doesn't doing don't done for from get
    gets getting go goes going gonna got had has have haven't having he her hers him his how i i'd
    i'll i'm i've if in into is isn't it it's its just let like lot made make me more most much my
    no not now of off oh ok okay on one only or other our out over really she should so some such
    than that that's the their them then there these they thing things this those to too up us very
    was wasn't we we're well were what what's when where which while who whom whose why will with
    would yeah yes you you're your im ive dont didnt thats kind kinds type types many mention
    mentioned"""
STOP = frozenset(_STOP_WORDS.split())
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"),
    ("fulness", "ful"), ("iveness", "ive"), ("ousness", "ous"), ("biliti", "ble"), ("entli", "ent"),
    ("ousli", "ous"), ("alli", "al"), ("iviti", "ive"), ("aliti", "al"), ("ness", ""),
    ("ment", ""), ("ful", ""),
)  # fmt: skip
_DOUBLE = re.compile(r"([bdfgmnprt])\1$")
_VOWEL = re.compile(r"[aeiouy]")
_IRREGULAR = {
    "ate": "eat", "eaten": "eat", "went": "go", "bought": "buy", "saw": "see", "seen": "see",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "met": "meet",
    "wrote": "write", "written": "write", "drove": "drive", "driven": "drive", "flew": "fly",
    "taught": "teach", "caught": "catch", "slept": "sleep", "drank": "drink", "drunk": "drink",
    "broke": "break", "broken": "break", "lost": "lose", "sold": "sell", "told": "tell",
    "felt": "feel", "kept": "keep", "left": "leave", "spent": "spend", "won": "win", "ran": "run",
    "swam": "swim", "sang": "sing", "grew": "grow", "fell": "fall", "fallen": "fall",
    "thought": "think", "brought": "bring", "children": "child", "people": "person",
    "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "studied": "study",
    "movies": "movie", "films": "movie", "film": "movie", "tv": "show", "series": "show",
}  # fmt: skip


def words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def stems(text: str) -> list[str]:
    """The stems of a text without stop words."""
    return [stem(word) for word in words(text) if word not in STOP]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A short Porter: plural, -ed, -ing and the commonest derivations."""
    word = word.removesuffix("'s").replace("'", "")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3:
        return word
    word = _without_tense(_without_plural(word))
    if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return _without_derivation(word)


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed"):
        short = word.removesuffix(ending)
        if short != word and len(short) > 2 and _VOWEL.search(short):
            return _DOUBLE.sub(r"\1", short).removesuffix("e")
    return word.removesuffix("e") if len(word) > 4 else word


def _without_derivation(word: str) -> str:
    for ending, kept in _STEP_2:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: len(word) - len(ending)] + kept
    return word


def spoken(content: str) -> str:
    """A message without its picture line."""
    return IMAGE.sub("", content).strip()


def captions(content: str) -> str:
    return " ".join(IMAGE.findall(content))
