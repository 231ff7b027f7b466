"""What a reader stumbles over: words of which nobody could build or test anything.

The rules look at form alone, so that they hold in any domain. Each looks for what is clear: a
remark that is wrong costs a reader more than one that is missing. What people label as an issue
knows six kinds; most of these are ``untestable`` there, and the rest are kept apart as remarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pipelines.requirements.labels import Requirement, field_text, name_of
from pipelines.requirements.lexicon import words as listed
from pipelines.requirements.text import (
    any_base,
    base,
    content_words,
    plain,
    sentences,
    singular,
    tokens,
)
from pipelines.requirements.validation.wording import pattern
from pipelines.types import Message


class Fault(NamedTuple):
    """One thing in one field; ``place`` is where the words are in the field's text."""

    kind: str
    field: str
    place: tuple[int, int] | None
    other: str = ""
    """The number of the requirement that it repeats, or of the message that it copies."""


class Remark(NamedTuple):
    requirement: str
    """Its name, by which labels refer to it."""
    fault: Fault


class Kind(NamedTuple):
    message: str
    fix: str
    issue_type: str | None
    """As people's labels call it; ``None``: they have no such type."""
    unusable: bool
    """Nobody could build or test what is written."""


_ASK = "Read the messages that it cites, and write what is wanted"
KINDS: Mapping[str, Kind] = {
    "question": Kind("It is a question", "Write what was answered", "untestable", True),
    "markup": Kind("It holds marks of formatting", "Write plain words", "untestable", True),
    "filler": Kind("It holds words that only keep a talk going", _ASK, "untestable", True),
    "speech": Kind(
        "Somebody speaks in it, as in the talk", "Say who does what", "untestable", True
    ),
    "pointing": Kind(
        "It points to something that it does not name", "Name what is meant", "untestable", True
    ),
    "person": Kind("It speaks to somebody, as in the talk", "Name who is meant", None, False),
    "no_object": Kind(
        "It does not say what something is done to", "Name what it is done to", "untestable", True
    ),
    "fragment": Kind("It is not a statement: it names no action", _ASK, "untestable", True),
    "broken": Kind("Its words do not fit together", _ASK, "untestable", True),
    "copy": Kind(
        "It copies a sentence of the talk without saying that it quotes",
        "Say who does what, or mark it as a quotation",
        None,
        False,
    ),
    "repeated": Kind("It says the same as another requirement", "Merge them", None, False),
    "same_criterion": Kind(
        "Its criterion is that of another requirement", "Say what is tested here", None, False
    ),
}
LEAST_NAMED = 2
"""Words that say something, of a quotation that can be used."""
NO_POINTING = r"(?!that (?:all|every|when|if|for|there)\b)"
"""A "that" which begins a clause: "ensure that every plan …"."""
ALARM_FROM = 3
"""Requirements. Among fewer, "most of them" says nothing."""
LEAST_COPIED = 5  # words of a sentence: shorter ones are the plain way to say something
MOST_SHARED = 3
"""Requirements that may have a criterion in common before each of them gets a remark."""

_MARKUP = re.compile(
    r"\*\*|__|`|^\s*#+\s|^\s*[-*•|]\s|</?[a-z][^>]*>|\]\(|\|.*\||&(?:amp|nbsp|lt|gt|quot);", re.I
)
_WORD = re.compile(r"[\w'’-]+")
_IDLE = re.compile(r"[\W_]+")
_TWICE = re.compile(r"(?<![\w-])(\w{2,}) \1(?![\w-])", re.I)
_BE_VERB = re.compile(
    r"(?<![\w-])(is|are|was|were) ([a-z]+)(?=\W*$|[.,;]| (?:the|a|an|it|in|to|for|this|by)\b)", re.I
)
_SECOND_VERB = re.compile(
    r"\s*(?:provide|have|get|make|keep|use|show|include|record|track|store|change|make)\s[^,;:.]*?\s"
    r"(?P<verb>(?:is|are|was|were|has) (?:an?|the|no|not)|cannot|can't|should|will|must)(?![\w-])",
    re.I,
)
"""``Provide every part has a price``: a whole sentence as the object."""
_LAST_POINTING = re.compile(r"(?<=\w) (?P<points>something|stuff|things?)\s*\W*$", re.I)
_QUESTION_END = re.compile(r"\?\s*[\"')\]]*\s*$")


def remarks(requirements: Sequence[Requirement], messages: Sequence[Message] = ()) -> list[Remark]:
    """In the order of the requirements. ``messages`` tell what is only a copy of what was said."""
    said = _sentences_of(messages)
    repeats = _repeats(requirements)
    made = []
    for at, requirement in enumerate(requirements):
        faults = [*of(requirement), *_copies(requirement, said), *repeats[at]]
        if requirement.get("quoted"):
            faults = [*_empty(requirement), *repeats[at]]
        made += [Remark(name_of(requirement), fault) for fault in faults]
    return made


def unusable(requirements: Sequence[Requirement]) -> list[str]:
    """The names of those of which nobody could build or test anything."""
    found = (one for one in remarks(requirements) if KINDS[one.fault.kind].unusable)
    return list(dict.fromkeys(one.requirement for one in found))


def is_alarm(count: int, total: int) -> bool:
    """Whether most of them are unusable, so that a list of them says that before anything else."""
    return total >= ALARM_FROM and 2 * count > total


def of(requirement: Requirement) -> list[Fault]:
    """What is wrong with the words of one requirement: the first that explains it in each field."""
    title = next(_in("title", requirement, (_question, _markup, _filler)), None)
    action = next(_in("action", requirement, _RULES), None)
    return [fault for fault in (title, action) if fault]


def _empty(requirement: Requirement) -> Iterator[Fault]:
    """A quotation may speak, point and break off as people do, but must say something."""
    action = field_text(requirement, "action")
    said = pattern("filler").sub(" ", _straight(action))
    named = {
        word
        for word in content_words(said)
        if not pattern("empty_nouns").fullmatch(word) and not pattern("speakers").fullmatch(word)
    }
    if len(named) < LEAST_NAMED:
        yield Fault("fragment", "action", (0, len(action)))


_Rule = Callable[[str], tuple[int, int] | None]


def _in(field: str, requirement: Requirement, rules: Sequence[_Rule]) -> Iterator[Fault]:
    text = field_text(requirement, field)
    if not text.strip():
        return
    for rule in rules:
        place = rule(text)
        if place:
            yield Fault(rule.__name__.removeprefix("_"), field, place)


def _question(text: str) -> tuple[int, int] | None:
    start = _begins("asking", text)
    if _QUESTION_END.search(text) or start:
        return start or (0, len(text))
    return None


def _markup(text: str) -> tuple[int, int] | None:
    match = _MARKUP.search(text)
    return match.span() if match else None


def _filler(text: str) -> tuple[int, int] | None:
    match = pattern("filler").search(_straight(text))
    return match.span() if match else None


def _speech(text: str) -> tuple[int, int] | None:
    """First and second persons. ``US`` is a country, and so is what is spelt in capitals."""
    matches = pattern("speakers").finditer(_straight(text))
    return next(
        (one.span() for one in matches if one[0] in ("I", "i") or not one[0].isupper()), None
    )


def _pointing(text: str) -> tuple[int, int] | None:
    """A pronoun before anything is named: as subject, or right after the verb."""
    start = _begins("pointing_subjects", text)
    if start:
        return start
    match = _object_pointing().match(_straight(text)) or _LAST_POINTING.search(text)
    return match.span("points") if match else None


def _no_object(text: str) -> tuple[int, int] | None:
    """A verb, and beside it only words that name nothing."""
    words = [word.lower() for word in _WORD.findall(text)]
    if not words or not (base(words[0]) == words[0] or pattern("light_verbs").fullmatch(words[0])):
        return None
    if len(words) == 2 and pattern("particles").fullmatch(words[1]):
        return None
    named = content_words(" ".join(words[1:]))
    return (
        None
        if any(not pattern("empty_nouns").fullmatch(word) for word in named)
        else (0, len(text))
    )


def _fragment(text: str) -> tuple[int, int] | None:
    """It begins or ends in the middle of something, or holds no verb."""
    words = list(_WORD.finditer(_straight(text)))
    if not words:
        return 0, len(text)
    if _ends_inside(text, words[-1]) and len(words) > 1:
        return words[-1].span()
    first = words[0][0].lower()
    verb = _is_verb(first) or _orders_later(text)
    begins_inside = bool(pattern("leads_in").fullmatch(first))
    is_noun = bool(pattern("noun_endings").fullmatch(first)) or _is_plural(first)
    if not verb and (begins_inside or is_noun) and not _has_finite_verb([one[0] for one in words]):
        return 0, len(text)
    return None


def _broken(text: str) -> tuple[int, int] | None:
    """``The we``, ``is make``, the same word twice, a sentence as object, an open bracket."""
    match = pattern("broken").search(text) or _TWICE.search(text)
    if match:
        return match.span()
    second = _SECOND_VERB.match(text)
    if second and not pattern("clauses").search(text, 0, second.start("verb")):
        return second.span("verb")
    for match in _BE_VERB.finditer(text):
        verb = match[2].lower()
        if base(verb) == verb and not pattern("same_form").fullmatch(verb):
            return match.span()
    opened = text.rfind("(")
    return (opened, len(text)) if text.count("(") > text.count(")") else None


def _person(text: str) -> tuple[int, int] | None:
    """``Our list``, ``send you a link``: a reader has to know who is meant."""
    matches = pattern("addressed").finditer(_straight(text))
    return next((one.span() for one in matches if not one[0].isupper()), None)


_RULES: tuple[_Rule, ...] = (
    _question,
    _markup,
    _filler,
    _pointing,
    _speech,
    _no_object,
    _fragment,
    _broken,
    _person,
)


def _orders_later(text: str) -> bool:
    """``For bakers, print the plan``."""
    later = (part.split() for part in text.split(",")[1:])
    return any(
        len(part) > 1 and _is_verb(part[0]) and pattern("determiners").fullmatch(part[1].lower())
        for part in later
    )


def _ends_inside(text: str, last: re.Match[str]) -> bool:
    """``Show the``; not ``see where the vans are``, nor a name in capitals."""
    if last[0].isupper() or not pattern("leads_out").fullmatch(last[0]):
        return False
    embedded = pattern("clauses").search(text, 0, last.start())
    return not (embedded and pattern("auxiliaries").fullmatch(last[0]))


def _has_finite_verb(words: Sequence[str]) -> bool:
    """A modal or auxiliary verb, or one in the third person or the past after what does it."""
    for at, word in enumerate(words):
        low = word.lower()
        if pattern("auxiliaries").fullmatch(low):
            return True
        before = words[at - 1].lower() if at else ""
        known = any_base(low)
        inflected = known is not None and known != low and not low.endswith("ing")
        if at and inflected and not pattern("determiners").fullmatch(before):
            return True
    return _has_bare_verb(words)


def _has_bare_verb(words: Sequence[str]) -> bool:
    """``Never print …``, ``the bakers print the …``."""
    first = words[0].lower()
    if first in ("never", "not", "only", "always", "also", "no") or first.endswith("ly"):
        return any(map(_is_verb, words[1:3]))
    return any(
        _is_verb(verb)
        and before.lower().endswith("s")
        and pattern("determiners").fullmatch(after.lower())
        for before, verb, after in zip(words, words[1:], words[2:], strict=False)
    )


def _is_verb(word: str) -> bool:
    return any_base(word) == word.lower()


def _is_plural(word: str) -> bool:
    return bool(re.fullmatch(r"\w{2,}[^s\Wui]s", word)) and any_base(word) is None


def _begins(name: str, text: str) -> tuple[int, int] | None:
    straight = _straight(text)
    indent = len(straight) - len(straight.lstrip())
    match = pattern(name).match(straight, indent)
    return match.span() if match else None


def _straight(text: str) -> str:
    return text.replace("’", "'")


@cache
def _object_pointing() -> re.Pattern[str]:
    """``See it``, ``have something like that``, ``talk about this``; not ``see this list``."""
    between = r"(?:(?:to|for|with|on|at|in|of|about|up|out|be|do|have|see|get|use)\s+){0,2}"
    after = (
        r"(?=\s*(?:$|[.,;:!?])|\s+(?:too|also|as|there|then|now|like|every|for|to|by|on|with|at|"
        r"when|if|again|in|from|and|or|because|so|is|are|would|should|please|better|working|"
        r"done|right|properly|all|first|before|after|later)\b)"
    )
    pointing = pattern("pointing").pattern
    return re.compile(
        rf"\s*(?:not |never |be able to )?[\w'-]+\s+{between}"
        rf"(?P<points>(?:it|them)(?![\w'-])|{NO_POINTING}{pointing}{after})",
        re.I,
    )


# --- what other texts show ---


def _sentences_of(messages: Sequence[Message]) -> dict[str, int]:
    """Each longer sentence as bare words, and the first message that it is in."""
    said: dict[str, int] = {}
    for message in messages:
        for sentence in sentences(message.content):
            if len(tokens(sentence)) >= LEAST_COPIED:
                said.setdefault(_bare(sentence), message.index)
    return said


def _copies(requirement: Requirement, said: Mapping[str, int]) -> Iterator[Fault]:
    action = field_text(requirement, "action")
    message = said.get(_bare(action))
    if message is not None:
        yield Fault("copy", "action", (0, len(action)), str(message))


def _repeats(requirements: Sequence[Requirement]) -> list[list[Fault]]:
    """Of each requirement: what an earlier one says as well, and criteria that many share."""
    faults: list[list[Fault]] = [[] for _ in requirements]
    said: dict[tuple[str, str], str] = {}
    having: dict[str, list[int]] = {}
    for at, requirement in enumerate(requirements):
        name = str(requirement.get("id") or name_of(requirement))
        action = field_text(requirement, "action")
        key = (_bare(field_text(requirement, "actor")), " ".join(sorted(_told(action))))
        if key[1] and key in said:
            faults[at].append(Fault("repeated", "action", (0, len(action)), said[key]))
        else:
            said[key] = name
        for line in field_text(requirement, "acceptance_criteria").split("\n"):
            if bare := _bare(line):
                having.setdefault(bare, []).append(at)
    for line, places in having.items():
        if len(set(places)) > MOST_SHARED:
            for at in sorted(set(places))[1:]:
                text = field_text(requirements[at], "acceptance_criteria")
                faults[at].append(Fault("same_criterion", "acceptance_criteria", _line(text, line)))
    return faults


def _told(action: str) -> list[str]:
    """The words of an action that say something, each as often as it is there."""
    dull = listed("determiners") | listed("prepositions") | listed("auxiliaries")
    return [
        singular(word)
        for word in _bare(action).split()
        if word not in dull or pattern("negations").fullmatch(word)
    ]


def _line(text: str, bare: str) -> tuple[int, int] | None:
    at = 0
    for line in text.split("\n"):
        if _bare(line) == bare:
            return at, at + len(line)
        at += len(line) + 1
    return None


def _bare(text: str) -> str:
    return _IDLE.sub(" ", plain(text)).strip().casefold()
