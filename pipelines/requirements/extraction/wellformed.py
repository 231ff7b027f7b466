"""Whether an action reads well: a verb, what it is done to, nothing dangling."""

from __future__ import annotations

import re
from typing import Literal

from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    is_content,
    is_verb,
    particles,
)
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import singular

Flaw = Literal[
    "empty",
    "markup",
    "question",
    "too_long",
    "no_verb",
    "no_noun",
    "discourse_word",
    "first_or_second_person",
    "dangling",
    "unfinished",
    "said_twice",
    "two_clauses",
]
MOST_WORDS = 45
_MARKUP = re.compile(r"\*\*|__|`|</?[a-z]+>|^\s*[#>*•|-]|\]\(|https?://\S+\)")
_WORD = re.compile(r"[^\W_](?:[\w'&/.,:%-]*[\w%])?")
_LEAD = re.compile(
    r"(?:never|always|only|automatically|immediately|directly|first|not|manually|regularly) ", re.I
)
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "am"})
_AMOUNTS_OF_TIME = frozenset(
    word
    for one in ("minute", "hour", "day", "night", "morning", "evening", "week", "month", "year")
    for word in (one, one + "s")
)
_LINKS = frozenset({"remain", "remains", "stay", "stays", "become", "becomes", "seem", "seems"})
_DISCOURSE_PAIRS = re.compile(
    r"\b(?:you know|i mean|(?<!what )(?:sort|kind) of|or something|and stuff|and so on|"
    r"or whatever|of course|to be honest|for sure|as i said|like i said|no idea)\b|\blike,",
    re.I,
)
_NO_SUBJECT = re.compile(
    r"ensure that (?:just |only |so )?(?:like|as|because|since|so|let's|lets|let)\b", re.I
)
_WELL = re.compile(r"\b(?:how|as) well\b|[^\w' ]")
_CLAUSE_OF_SOMEBODY = re.compile(
    r"\b(?:and|or|but) (?:then )?(?:(?:he|she|they|it|there)(?:'s)? (?!and\b|or\b)[a-z]|"
    r"the (?:user|system|app) [a-z]+s\b)",
    re.I,
)
_ASKS_INSIDE = re.compile(
    r"\b(?:what|how|why) (?:do|does|did|about|is|are) (?:you|the user|it|that)\b", re.I
)
_ONE_OF_WHAT = re.compile(
    r"\b(?:the|an?|this|that|another|other|[a-z]+er|[a-z]+est|new|old|same|right|wrong|good|bad|"
    r"big|small) ones?\b(?! (?:of|day|time))|\bhow (?:many|much) (?:and|or|if)\b|"
    r"\bboth\b(?= (?:down|up|in|on|at|to|for|with)\b|$)",
    re.I,
)
_BARE_NUMBER = re.compile(
    r"\b(?:after|within|for) (?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|"
    r"twenty|thirty|\d+)$",
    re.I,
)


def flaw(action: str) -> Flaw | None:
    """What is wrong with an action, or None.

    Examples
    --------
    >>> flaw("Add notes to an order"), flaw("Provide with definitely"), flaw("Delete it")
    (None, 'discourse_word', 'dangling')
    """
    text = action.strip()
    if not text:
        return "empty"
    if _MARKUP.search(text):
        return "markup"
    if text.endswith("?"):
        return "question"
    spoken = _WORD.findall(text)
    if len(spoken) > MOST_WORDS:
        return "too_long"
    low = [word.lower() for word in spoken]
    if re.search(r"\b([a-z']+) \1\b", text.lower()) and not re.search(
        r"\bthat that\b", text.lower()
    ):
        return "said_twice"
    if set(_WELL.sub("", text.lower()).split()) & grammar("discourse") or _DISCOURSE_PAIRS.search(
        text
    ):
        return "discourse_word"
    if any(re.split(r"'", word)[0] in grammar("people_pronouns") for word in low):
        return "first_or_second_person"
    return _of_words(text, low)


def _of_words(text: str, low: list[str]) -> Flaw | None:
    start = len(_WORD.findall(_LEAD.match(text)[0])) if _LEAD.match(text) else 0  # type: ignore[index]
    verb = low[start : start + 1]
    if (
        not verb
        or not is_verb(verb[0])
        or verb[0] in grammar("wishes")
        or low[:2] == ["help", "to"]
    ):
        return "no_verb"
    if _CLAUSE_OF_SOMEBODY.search(text) or _ONE_OF_WHAT.search(text):
        return "dangling"
    if _is_two_clauses(text, low):
        return "two_clauses"
    if low[:2] == ["ensure", "that"] and (wrong := _of_clause(text, low)):
        return wrong
    rest = low[start + 1 :]
    if rest[:1] in (["and"], ["or"]) and not is_verb("".join(rest[1:2])):
        return "no_noun"
    ends_open = text.endswith((",", ":", ";", "…", "...", "-", "–", "—", "("))
    if ends_open or _BARE_NUMBER.search(text) or low[-1] in _LINKS or _unfinished(low):
        return "unfinished"
    if _dangling(low, start):
        return "dangling"
    named = [word for word in rest if is_content(word) and word not in {"user", "users"}]
    if not named and verb[0] in {"suggest", "give", "send", "show", "tell", "explain", "say"}:
        return "no_noun"
    if not any(map(is_content, rest)) and not _is_phrasal(verb[0], rest):
        return "no_noun"
    return None


def _of_clause(text: str, low: list[str]) -> Flaw | None:
    """What a clause behind "ensure that" lacks."""
    if _NO_SUBJECT.match(text):
        return "no_noun"
    sure = grammar("finite") | words("auxiliaries")
    following = zip(low[3:], [*low[4:], ""], strict=True)
    says = (
        word in sure or after not in {"and", "or", ""}
        for word, after in following
        if _may_be_finite(word)
    )
    return None if any(says) else "no_verb"


def _is_two_clauses(text: str, low: list[str]) -> bool:
    """ "Make receipts can be sent", "print the draft and it is saved"."""
    if _ASKS_INSIDE.search(text):
        return True
    if low[0] == "ensure":
        return False
    finite = next((at for at, word in enumerate(low) if at and word in grammar("finite")), None)
    if finite is None:
        return False
    return not set(low[:finite]) & grammar("opens_clause") and low[finite - 1] not in {
        "user",
        "users",
    }


def _may_be_finite(word: str) -> bool:
    """Whether a clause may have this word as its verb."""
    return (
        word in grammar("finite")
        or word in words("auxiliaries")
        or (base_form(word) is not None and not word.endswith(("ing", "ed")))
    )


def _unfinished(low: list[str]) -> bool:
    if low[-1] not in grammar("needs_more") or low[-2:] in (
        ["who", "not"],
        ["or", "not"],
        ["if", "not"],
    ):
        return False
    if set(low) & {"how", "what", "where", "who", "which", "when"} and (
        low[-1] in _BE or low[-1] in words("prepositions")
    ):
        return False  # "see how clean the gym is", "see which phones it works with"
    if ends_well(" ".join(low)):
        return False
    # "the friends they work with", "log in": a preposition may end a phrase after a verb
    return not (low[-1] in grammar("places") and len(low) > 1)


def _is_phrasal(verb: str, rest: list[str]) -> bool:
    """ "Log in", "work offline", "run all day"."""
    known = grammar("intransitive")
    return (verb in known and bool(rest)) or (bool(rest) and f"{verb} {rest[0]}" in known)


def _dangling(low: list[str], start: int) -> bool:
    """A pronoun that stands for something outside the action."""
    for at, word in enumerate(low):
        bare = word.split("'")[0]
        if bare not in grammar("pointing") | {"its"} or (bare == "there" and _there(low, at)):
            continue
        if bare in {"this", "that", "these", "those"} and _joins_or_shows(low, at):
            continue
        if bare == "there" and {"in", "on", "at"} & set(low[start:at]):
            continue
        if bare == "here" or bare == "there" or not _stands_before(low[start + 1 : at], bare):
            return True
    return False


def _there(low: list[str], at: int) -> bool:
    return low[at + 1 : at + 2] != [] and low[at + 1] in _BE | {
        "must",
        "should",
        "can",
        "will",
        "has",
        "have",
    }


def _joins_or_shows(low: list[str], at: int) -> bool:
    """ "The items that are late", "ensure that …"; "those who pay"."""
    before, after = low[at - 1 : at] if at else [], low[at + 1 : at + 2]
    if low[at] == "that":
        joins = before and (
            is_content(before[0])
            or is_verb(before[0])
            or before[0]
            in {"so", "anything", "everything", "something", "one", "ones", "those", "all"}
        )
        goes_on = after and after[0] not in words("prepositions")
        joins = joins and before[0] not in words("prepositions") | {"above", "below", "beyond"}
        return bool(joins and goes_on)
    return bool(after) and after[0] in {
        "who",
        "that",
        "which",
        "with",
        "without",
        "in",
        "of",
        "from",
    }


def _stands_before(earlier: list[str], pronoun: str) -> bool:
    """Whether something named earlier in the action may be what is meant."""
    named = [word for at, word in enumerate(earlier) if _names(word, earlier[:at], pronoun)]
    return bool(named)


def _names(word: str, earlier: list[str], pronoun: str) -> bool:
    if not is_content(word):
        return False
    if earlier[-1:] in (["user"], ["users"], ["system"], ["app"]):
        return False  # what they do
    may_do = word.endswith(("ing", "ed")) or base_form(word) is not None
    if may_do and not set(earlier[-2:]) & words("determiners"):
        return False
    if pronoun in {"it", "its", "this", "that"}:
        return singular(word) not in grammar("time_nouns") and word not in {"user", "users"}
    return True


def ends_well(phrase: str) -> bool:
    spoken = _WORD.findall(phrase.lower())
    if spoken[-1:] in (["before"], ["after"]) and set(spoken[-2:-1]) & _AMOUNTS_OF_TIME:
        return True  # "the day before"
    return bool(spoken) and spoken[-1] not in grammar("needs_more") - particles()
