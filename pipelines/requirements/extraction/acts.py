"""What people do by what they say: ask, propose, agree, object, sum up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pipelines.requirements.extraction.clauses import asks_for_yes, find_cue
from pipelines.requirements.extraction.state import Act, Stance, Utterance
from pipelines.requirements.lexicon import any_of, load, signal, words
from pipelines.requirements.text import (
    content_words,
    is_base_verb,
    plain,
    strip_openers,
    tokens,
)

SHORT_OPTION = 3  # words
SHORT = 8  # words, as in "The last five visits?"
SURE = 0.8  # strength of a cue by which an analyst's statement puts something forward
LONG = 25  # words of a sentence that does not take back all it names
_ASKS_OPENLY = re.compile(
    r"(?:what|how|who|whom|whose|where|when|why|which|is|are|isn't|aren't|did|was|were|do|does|"
    r"have|has|tell|describe|explain|walk|could you (?:explain|describe|tell)|"
    r"can you (?:explain|describe|tell|give|walk))\b",
    re.I,
)
_OFFERS = re.compile(
    r"(?:do|would) (?:you|they|we|users?|customers?|people) (?:\w+ )?(?:want|need|like|prefer)\b"
    r"(?! to (?:add|say|tell|discuss|talk|mention))|what (?:about|if)|how about",
    re.I,
)
_CASE = re.compile(r"^[^?]{3,200}?, (?=(?:should|shall|must|may|can|could|will|would|do) )", re.I)
"""When it is to be so: "If a payment fails, should …"."""
_IS_TO_BE = re.compile(r"should (?:the|an?|each|every|all|only) \w", re.I)
"""It asks how something is to be, whatever was before."""
_CONFIRMS_THAT = re.compile(
    r"(?:should|shall|can|could|may) (?:we|i) (?:confirm|agree|assume|say|note|record) that "
    r"(?:\w+ ){2}\w",
    re.I,
)
_POINTS = re.compile(r"\b(?:this|that|it|these|those|so)\b", re.I)
_SUGGESTS = re.compile(r"(?:i|we)(?:'d| would)? (?:suggest|recommend|propose|advise)\b", re.I)
_THIS_WAY = re.compile(
    r"\b(?:this|that|these|those) (?:\w+ ){0,2}(?:rules?|method|approach|way|option|setup|set-up|"
    r"process|solution|design|plan|list|summary)\b",
    re.I,
)
_WHAT_THEN = re.compile(
    r"[,:;] (?:and |so |then )?(?:what|how|who|whom|where|when|why|which|whose)\b", re.I
)
"""Asked openly behind a first remark: "For a refund, who has to agree?"."""
_TOLD_OR_SUPPOSED = re.compile(
    r"\b(?:had|used|needed) to\b[^.;!?]*$|\b(?:have|need|has) to\b[^.;!?]*,[^.;!?]*$|"
    r"\b(?:if|when|whenever|unless)\b[^,;!?]{0,25}$",
    re.I,
)
_ASKS_WITHIN = re.compile(
    r"^(?:(?:\w+ ){0,3}(?:in|on|at|for|from|to|with|by|about|of) )?"
    r"(?:what|how|who|whom|whose|where|when|why|which)\b"
    r"|[,:;] (?:and |or |so |then |like )?(?:what|how|who|whom|where|when|why|which|whose|"
    r"is|are|do|does|did|have|has|was|were)\b",
    re.I,
)
_BUT = re.compile(r"\b(?:but|though|although|however)\b", re.I)
_NO = re.compile(r"\W*(?:so )?no (?!more|other|further|extra)(?P<thing>[^.,;!?]+)", re.I)
_DENIED = re.compile(r"\b(?:no|not|never|without|only)\b|n't\b", re.I)
_MARKS = " \t,.!;:–—-\"'"


@cache
def pattern(name: str) -> re.Pattern[str]:
    return any_of(load("acts")[name])


@cache
def _at_start(name: str) -> re.Pattern[str]:
    words_of = rf"(?:{pattern(name).pattern})(?![\w'-])"
    alone = f"{name}_alone"
    if alone in load("acts"):
        words_of = rf"{words_of}|(?:{pattern(alone).pattern}){load('acts')['ends_alone']}"
    return re.compile(words_of, re.I)


@cache
def _fillers() -> re.Pattern[str]:
    return re.compile(rf"^(?:{pattern('fillers').pattern})+(?=\w)", re.I)


@dataclass(frozen=True, slots=True)
class Reply:
    """How an utterance takes up what was put forward, and what it says besides."""

    stance: Stance
    rest: str
    joint: str = ""
    """What joins the rest to it: but, more, when, or nothing."""


def reply_of(text: str) -> Reply:
    """Yes, no or neither, at the beginning of an answer."""
    own = text.strip(_MARKS)
    for start in dict.fromkeys((own, _fillers().sub("", own))):
        if reply := _reply(start):
            return reply
    return Reply("none", text)


def _reply(text: str) -> Reply | None:
    if found := _match("no_but_yes", text):
        return _with_rest("yes", text[found:])
    if pattern("mostly").match(text):
        return Reply("partial", pattern("mostly").sub("", text, count=1).strip(_MARKS), "but")
    if pattern("clarify").match(text):
        return Reply("clarify", "")
    if found := _match("delegates", text):
        return Reply("delegate", text[found:].strip(_MARKS))
    if found := _match("unsure", text):
        return Reply("unsure", text[found:].strip(_MARKS))
    no, yes = _match("no", text), _match("yes", text)
    if no and no >= yes:
        return _with_rest("no", text[_further("no", text, no) :])
    if yes:
        return _with_rest("yes", text[_further("yes", text, yes) :])
    return None


def _match(name: str, text: str) -> int:
    found = _at_start(name).match(text)
    return found.end() if found else 0


def _further(name: str, text: str, at: int) -> int:
    """Past what only says the same again: "yes, that is right, exactly"."""
    while True:
        gap = len(text[at:]) - len(text[at:].lstrip(_MARKS))
        polite = re.match(
            r"(?:please|thanks?|thank you|very much|of course|for (?:me|us)|to me|to us|with me|"
            r"by me|so|then|indeed|i think|i guess|sir|mate|in my opinion|"
            r"for (?:now|the moment)(?=[ .!]*$))(?!\w)",
            text[at + gap :],
            re.I,
        )
        more = polite.end() if polite else _match(name, text[at + gap :])
        if not more or (not gap and not polite):
            return at
        at += gap + more


def _with_rest(stance: Stance, rest: str) -> Reply:
    joint = next((name for name in ("but", "more", "when") if pattern(name).match(rest)), "")
    own = rest.strip(_MARKS)
    if joint == "but":
        own = pattern("but").sub("", rest, count=1).strip(_MARKS)
        return Reply("partial" if stance == "yes" else stance, own, joint)
    if joint == "more":
        own = pattern("more").sub("", rest, count=1).strip(_MARKS)
    return Reply(stance, own, joint)


def points_back(text: str) -> bool:
    """It names nothing itself: "Should we use this rule?"."""
    if pattern("confirms").match(text.strip()):
        return True
    own = content_words(text) - words("pointing_back") - words("taking_back")
    return bool(_POINTS.search(text)) and (not own or bool(_THIS_WAY.search(text)))


def proposes(utterance: Utterance) -> bool:
    """An analyst puts something forward: a requirement in full, or a yes-or-no question."""
    text = content_of(utterance.text)
    if about_talk(text):
        return False
    if not utterance.question:
        cue = find_cue(utterance.text)
        strong = cue is not None and cue.cue.strength >= SURE and cue.cue.kind != "need"
        return strong or bool(_SUGGESTS.match(utterance.text))
    if _OFFERS.match(strip_openers(text)):
        return True
    own = _CASE.sub("", strip_openers(text), count=1)
    if _IS_TO_BE.match(own):
        return True
    if signal("now").search(utterance.text) or signal("existing").search(utterance.text):
        return False
    if _WHAT_THEN.search(text):
        return False
    if _ASKS_OPENLY.match(own):
        return _OFFERS.match(own) is not None
    return asks_for_yes(own) or bool(find_cue(own)) or _stated_as_question(own)


def _stated_as_question(text: str) -> bool:
    """ "So the visitor takes a number and waits?" puts something forward, in the order of words
    of a statement."""
    if len(tokens(text)) <= SHORT:
        return True
    return not (_ASKS_WITHIN.search(text) or pattern("recalls").match(text))


def about_talk(text: str) -> bool:
    """ "Maybe you tell us what you do": it asks for words, not for a product."""
    return bool(pattern("asks_to_tell").search(text) or pattern("of_this_talk").search(text))


def content_of(text: str) -> str:
    """What is proposed or summed up, without the words around it."""
    text = plain(text)
    while True:
        shorter = _tail().sub("", text)
        shorter = _lead().sub("", shorter, count=1) if _lead().match(shorter) else shorter
        if shorter == text or not tokens(shorter):
            return text
        text = shorter


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(rf"^(?:{pattern('lead_ins').pattern})", re.I)


@cache
def _tail() -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern('tails').pattern})$", re.I)


def asks_to_confirm(utterance: Utterance) -> bool:
    text = strip_openers(utterance.text)
    if _CONFIRMS_THAT.match(text):
        return False
    return bool(pattern("confirms").match(text)) or (utterance.question and points_back(text))


def has_tail(text: str) -> bool:
    """A statement with a question behind it: "…, right?"."""
    return bool(_tail().search(plain(text)))


def acts_of_analyst(turn: Sequence[Utterance]) -> list[tuple[Act, ...]]:
    """The acts of one message of whoever asks."""
    confirming = [each for each in turn if asks_to_confirm(each) or has_tail(each.text)]
    summing = any(pattern("recaps").match(each.text) for each in turn)
    deciding = bool(confirming) and all(pattern("decides").match(each.text) for each in confirming)
    done = [_analyst_acts(each, recap=bool(confirming) or summing) for each in turn]
    if deciding and not summing:
        done = [_decided(each, acts) for each, acts in zip(turn, done, strict=True)]
    asked = max((at for at, acts in enumerate(done) if _asks_itself(turn[at], acts)), default=-1)
    explained = range(0) if summing else range(asked)
    return [
        ("statement",) if at in explained and acts in {("proposal",), ("recap",)} else acts
        for at, acts in enumerate(done)
    ]


def _asks_itself(each: Utterance, acts: tuple[Act, ...]) -> bool:
    """A question that says what it is about; what was said before it only explains."""
    return "question" in acts and not asks_to_confirm(each) and not has_tail(each.text)


def _decided(each: Utterance, acts: tuple[Act, ...]) -> tuple[Act, ...]:
    """Of what comes before "Should we do it like that?" only what says how it is to be."""
    if acts != ("recap",):
        return acts
    cue = find_cue(each.text)
    rule = cue is not None and cue.cue.kind in {"obligation", "ability", "request"}
    empty = (
        _POINTS.search(each.text)
        and len(content_words(content_of(each.text)) - words("pointing_back")) <= 1
    )
    suggested = bool(_SUGGESTS.match(each.text)) and not empty
    return ("proposal",) if rule or suggested else ("clarification",)


def _analyst_acts(each: Utterance, *, recap: bool) -> tuple[Act, ...]:
    if pattern("explains").search(each.text) and not each.question:
        return ("clarification",)
    if pattern("small_talk").match(each.text) and not proposes(each):
        return ("small_talk",)
    if asks_to_confirm(each):
        return ("question",)
    if has_tail(each.text) and tokens(content_of(each.text)):
        return ("recap", "question") if recap else ("proposal", "question")
    if each.question:
        return ("proposal", "question") if proposes(each) else ("question",)
    if recap and not pattern("open").search(each.text):
        return ("recap",)
    if proposes(each):
        return ("proposal",)
    return ("statement",)


def acts_of_client(each: Utterance, *, asked: bool) -> tuple[Act, ...]:
    """What whoever has wishes does by a sentence; ``asked``: something was put to them."""
    reply, taking_back = reply_of(each.text), withdraws(each.text)
    if reply.stance in {"clarify", "delegate"}:
        return ("clarification",)
    no = reply.stance == "no"
    acts: list[Act] = []
    if asked and (reply.stance in {"yes", "partial"} or (no and not taking_back)):
        acts.append("answer")
    if taking_back:
        acts.append("withdrawal")
    if (reply.stance != "yes" and corrects(each.text)) or (
        no and asked and len(tokens(reply.rest)) > 2
    ):
        acts.append("correction")
    own = reply.rest if acts else each.text
    cue = find_cue(own)
    if acts[-1:] == ["withdrawal"] or not tokens(own):
        return tuple(acts) or ("small_talk",)
    if pattern("small_talk").match(each.text) and not cue:
        return tuple(acts) or ("small_talk",)
    requests = cue is not None and cue.cue.kind == "request"
    return (*acts, "question" if each.question and not requests else "statement")


def withdraws(text: str) -> bool:
    return bool(taken_back(text))


def taken_back(text: str) -> str:
    """The words that take something back; of a long sentence only those of that part.

    Empty where nothing is: "I had to remove them" tells of work, and "if we take it out" supposes.
    """
    for known in (signal("withdraw"), pattern("withdraws")):
        for found in known.finditer(text):
            before, after = text[: found.start()], text[found.end() :]
            if _TOLD_OR_SUPPOSED.search(before):
                continue
            if len(tokens(text)) <= LONG:
                return text
            return f"{re.split('[,;]', before)[-1]}{found[0]}{re.split('[,;]', after)[0]}"
    return ""


def turned(text: str, following: str = "") -> bool:
    """Whether a sentence, or the one after it, takes back what it says."""
    said, after = _BUT.split(text, maxsplit=1), _BUT.split(following.lstrip(_MARKS))
    thing, no = pattern("put_off").match(text), _NO.match(following)
    named = content_words(no["thing"]) if no and not _DENIED.search(text) else set()
    return (
        any(pattern("turns").search(part) for part in (*said, next(filter(None, after), "")))
        or pattern("turns_whole").search(text) is not None
        or (thing is not None and not any(map(is_base_verb, tokens(thing["thing"]))))
        or (bool(named) and named <= content_words(text))
    )


def corrects(text: str) -> bool:
    return bool(pattern("corrects").search(text) or signal("correct").search(text))


_OR = re.compile(
    r",? or (?:(?:should|would|will|can|could) (?:it|we|they|you|the \w+) )?"
    r"(?:(?:rather|instead|just) )?",
    re.I,
)
_BOTH = re.compile(r"(?:both|either|all|all of (?:them|these)|neither|none|something else)\b", re.I)
_WHETHER = re.compile(r"\bwhether\b[^,;]*$", re.I)
"""What a list shows of a thing, "whether it is new or old", is no choice."""


class Choice(NamedTuple):
    """What a question leaves to choose between: "daily or weekly"."""

    first: str
    second: str
    both: str


def choice_of(text: str) -> Choice | None:
    own = content_of(text).rstrip(" ?")
    case = _CASE.match(own)
    before, own = (case[0], own[case.end() :]) if case else ("", own)
    parts = [part for part in _OR.split(own) if tokens(part)]
    if len(parts) > 1 and _BOTH.fullmatch(parts[-1]):
        left, comma, right = parts[0].rpartition(", ")
        parts = [left, right] if comma and len(parts) == 2 else parts[:-1]
    if len(parts) != 2 or len(tokens(parts[0])) < 3 or _WHETHER.search(parts[0]):
        return None
    if ", or " not in own.lower() and len(tokens(parts[1])) > SHORT_OPTION:
        return None  # "edit or delete the draft of a letter" leaves no choice
    first, second = parts
    both = f"{re.sub(r'(?:only|just) ', '', first, count=1)} and {second}"
    other = both if second.lower().startswith("also ") else _with_head(first, second)
    return Choice(*(f"{before}{one}" for one in (first, other, both)))


def _with_head(first: str, second: str) -> str:
    """The second of two options, with what both have in common put before it."""
    spoken = first.split()
    low = [word.strip(",").lower() for word in spoken]
    head = tokens(second)[0].lower()
    breaks = words("determiners") | words("prepositions") | words("auxiliaries")
    places: list[int] = []
    if is_base_verb(head) or head in {"be", "only"}:
        verbs = (at for at in range(1, len(low)) if is_base_verb(low[at]) or low[at] == "be")
        places = [at for at in verbs if low[at - 1] not in breaks - {"not"}][:1]
    elif head in words("prepositions"):
        places = [at for at in range(1, len(low)) if low[at] in words("prepositions")][-1:]
    else:
        ends = breaks | {"be"}
        places = [at + 1 for at in range(len(low) - 1) if low[at] in ends or is_base_verb(low[at])]
        places.append(max([len(low) - len(tokens(second)), *places]))
    return " ".join([*spoken[: places[-1]], second]) if places else second
