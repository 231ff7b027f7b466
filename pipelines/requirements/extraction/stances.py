"""How a whole answer takes up an offer: its last stance wins, in whichever sentence it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.state import Utterance
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import content_words, plain, same_stand, share, singular, tokens

NEAR = 2  # sentences
NAMED_AGAIN = 0.6  # share of the offer's words in a wish that repeats it
_CLAUSE_ENDS = re.compile(
    r"(?:(?<![.!?;:…])[.!?;:…]++|,|\s[-–—]++)(?=\s|$)"
    r"|\s(?=(?:but|however|though|although|except|because|since|so that)\b)",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:but|although|though|however|and|or|so|well|actually|honestly|wait|hold on|hm+|u[hm]+|"
    r"er+|ah|oh|sorry|i mean|i see|i get it|i understand|then again|in fact|"
    r"to be honest|thinking about it|on (?:a )?second thoughts?|come to think of it|then|just|"
    r"please(?! do| don't))\b[\s,.!…-]*)+",
    re.I,
)
_BARE_NO = re.compile(r"(?:n+o+(?:pe?)?|nah+|nay|never|no thank(?:s| you))(?=\W*$)", re.I)
_BARE_YES = re.compile(
    r"(?:ye(?:s+|a+h?|ap|p+|up)|yup+|sure|definitely|absolutely|certainly|of course|by all means|"
    r"please do|go (?:ahead|for it)|do (?:it|that)|(?:yes|yeah) please)(?:,? please)?(?=\W*$)",
    re.I,
)
_DENIES = re.compile(r"\b(?:not|never|no longer|nobody|no one)\b|n['’]t\b|\b(?:dont|wont)\b", re.I)
_DENIES_IT = re.compile(rf"{_DENIES.pattern}|^no (?!need|problem|doubt|wonder|matter|idea)", re.I)
_SKIPS = re.compile(r"(?:skip|drop|scrap|ditch|forget|cancel|leave out) (?:the|a|an|any)\b", re.I)
_UNSURE = re.compile(
    r"(?:maybe|perhaps) not\b(?=\W*$)|let me (?:first )?(?:ask|check|think about)\b|"
    r"(?:i|we)(?:'ll| will| have to| need to| must| should|'d have to) (?:first )?"
    r"(?:ask|check with|talk to|discuss)\b",
    re.I,
)
_WISHES = re.compile(
    r"\b(?:want|need|like|should|must|have to|has to|would love|please|do)\b", re.I
)
_RULES = re.compile(r"\b(?:must|should|shall|may|can|cannot|has to|have to)(?:n['’]t)?\b", re.I)
_DENIED_IT = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\bdont)(?: \w+)? "
    r"(?:want|need|like|use|do|see the (?:point|need)|care for)"
    r"(?: (?:it|that|this|them|those|these|one|any))?\W*$|\bnot what (?:i|we)\b"
    r"|\b(?:say|says|said|is a) no\W*$|\bagainst (?:it|that|this)\W*$",
    re.I,
)
_OTHER_THAN_THAT = re.compile(
    r"\binstead(?! of)\b|\b(?:i|we|they)(?:'d| would) (?:much |really )?(?:rather|prefer)\b"
    r"|\b(?:i|we) prefer\b",
    re.I,
)
_SAYS_LITTLE = """
    want need like prefer rather instead would though not never don't dont won't wouldn't
    shouldn't mustn't can't isn't it's let's i'd we'd they you she its too all only just really
    even any one them necessary important
"""
_LITTLE = frozenset(_SAYS_LITTLE.split())
_TAKES_BACK = re.compile(
    r"(?:\W*(?:oh|ah|hm+|u[hm]+|okay|ok|and|but|well|sorry|yes|yeah))*\W*"
    r"(?:no|nope|actually|wait|hold on|sorry|on (?:a )?second thoughts?|thinking about it|"
    r"come to think of it|i changed my mind|i take (?:it|that) back)\b",
    re.I,
)


def whole_answer(
    turn: Sequence[Utterance], replies: Sequence[Reply], offer: str
) -> tuple[Utterance, Reply] | None:
    """The sentence that decides what becomes of an offer, and its stance; None if none does.

    The first yes or no counts until a later clause says the opposite of the same offer: another
    bare yes or no, the offer denied ("I don't want to focus on songs"), or something else wished
    for in its place ("I want an email instead"). What is denied besides ("I don't want to type it
    by hand") leaves a yes standing.
    """
    heads = ("yes", "partial", "no", "unsure")
    decided: tuple[Utterance, Reply] | None = None
    for at, (each, reply) in enumerate(zip(turn, replies, strict=True)):
        if decided is None and reply.stance in heads:
            decided = each, reply
        for clause, rest in _clauses(each.text):
            stance = _turn(clause, offer)
            bare = _BARE_NO.match(_own(clause))
            if bare and acts.reply_of(f"{clause}, {rest}").stance == "yes":
                continue  # "no, that's fine" finds nothing to object to
            stands = decided[1].stance if decided else ""
            if bare and MAKES_IT.match(rest or _next(turn, at)):
                continue  # "Two weeks. No, make that one": it puts right, and does not refuse
            if stance == "no" and stands != "no":
                decided = each, Reply("no", _own_words(clause, rest, offer))
            elif stance == "unsure" and stands in {"yes", "partial"}:
                decided = each, Reply("unsure", "")
            elif stance == "yes" and stands not in {"yes", "partial"}:
                if rest and at >= NEAR:
                    continue  # a "yeah" within a long answer only goes on
                decided = each, Reply("yes", rest)
    return decided


def _next(turn: Sequence[Utterance], at: int) -> str:
    return turn[at + 1].text if at + 1 < len(turn) else ""


def takes_back(
    turn: Sequence[Utterance], replies: Sequence[Reply], offer: str
) -> tuple[Utterance, Reply] | None:
    """What refuses an offer that an answer before accepted: "Wait, no", or the offer denied."""
    decided = whole_answer(turn, replies, offer)
    if decided is None or decided[1].stance != "no":
        return None
    named = _about(decided[0].text) & _about(offer)
    return decided if named or _TAKES_BACK.match(turn[0].text) else None


def only_refuses(text: str, offer: str) -> bool:
    """A sentence that denies an offer and says nothing besides: neither a wish nor a ban."""
    return not _RULES.search(text) and all(
        _BARE_NO.match(_own(clause)) or _denies(_own(clause), offer) or not _about(_own(clause))
        for clause, _ in _clauses(text)
    )


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Each with what follows it in the sentence."""
    start = 0
    for end in [*_CLAUSE_ENDS.finditer(text), None]:
        clause = text[start : end.start() if end else len(text)].strip()
        start = end.end() if end else len(text)
        if clause:
            yield clause, text[start:].strip()


def _own(clause: str) -> str:
    """Without the words that only lead to it: "but", "well", "on second thought"."""
    lead = _LEADS.match(clause)
    return clause[lead.end() :] if lead else clause


def _turn(clause: str, offer: str) -> str:
    """yes or no, where a clause says so of the offer; empty where it says something else."""
    own = _own(clause)
    if _BARE_NO.match(own):
        return "no"
    if _BARE_YES.match(own):
        return "yes"
    if _denies(own, offer):
        return "no"
    if _UNSURE.match(own):
        return "unsure"
    about, offered = _about(own), _about(offer)
    repeats = bool(about) and share(offered, about) >= NAMED_AGAIN and same_stand(own, offer)
    if repeats and _WISHES.search(own) and not _DENIES.search(own):
        return "yes"
    if _OTHER_THAN_THAT.search(own) and about and not about <= offered:
        return "no"
    return ""


def _denies(clause: str, offer: str) -> bool:
    reply = acts.reply_of(clause)
    about, offered = _about(clause), _about(offer)
    if reply.stance == "no" and _about(reply.rest) <= offered:
        return True
    if (acts.withdraws(clause) or _SKIPS.match(clause)) and (
        about - words("taking_back") <= offered
    ):
        return True
    if _DENIED_IT.search(clause):
        return True
    if not _DENIES_IT.search(clause) or _DENIES_IT.search(offer):
        return False
    return bool(about) and about <= offered


def _about(text: str) -> set[str]:
    return {word for word in content_words(text) if word not in _LITTLE and word.isalpha()}


def _own_words(clause: str, rest: str, offer: str) -> str:
    """What is wanted in the place of what was offered, where the answer says it."""
    if _OTHER_THAN_THAT.search(clause):
        return clause
    return "" if _about(rest) <= _about(offer) else rest


SHORT_CORRECTION = 14  # words; a longer sentence says something separate
_NUMBER = (
    r"\d[\d.,]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a|one|two) hundred"
)
_FIGURE = re.compile(rf"\b(?P<number>{_NUMBER})\b(?:[ -](?P<unit>[a-z%]+))?", re.I)
_NOT_THE_OLD = re.compile(
    rf"\b(?P<new>{_NUMBER})\b(?: (?P<unit>[a-z%]+))?,? (?:and )?(?:not|instead of|rather than) "
    rf"(?P<old>{_NUMBER})\b",
    re.I,
)
MAKES_IT = re.compile(
    r"\W*(?:(?:no|wait|sorry|actually|rather|better|hm+|well|or)\b[\s,.!…-]*)*"
    r"(?:let's )?(?:make|say) (?:it|that|this)?\b",
    re.I,
)


def amended(text: str, correction: str) -> str | None:
    """A text with the figure that a correction names, or None where it has none of that unit."""
    said = plain(correction).rstrip(" .!?")
    if len(tokens(said)) > SHORT_CORRECTION:
        return None
    for new in reversed([*_FIGURE.finditer(said)]):
        for old in _FIGURE.finditer(text):
            if _same_unit(old, new) and old["number"].lower() != new["number"].lower():
                end = old.end() if new["unit"] else old.end("number")
                return f"{text[: old.start()]}{new[0]}{text[end:]}"
    return None


def put_right(text: str, correction: str) -> str | None:
    """A text with the new figure of "five minutes, not ten", where it has the old one."""
    found = _NOT_THE_OLD.search(correction)
    old = re.search(rf"\b{found['old']}\b(?= {found['unit'] or ''})", text, re.I) if found else None
    return f"{text[: old.start()]}{found['new']}{text[old.end() :]}" if found and old else None


def _same_unit(old: re.Match[str], new: re.Match[str]) -> bool:
    left, right = (singular((one["unit"] or "").lower()) for one in (old, new))
    return left == right or (new.end() == len(new.string.rstrip(" .!")) and not new["unit"])
