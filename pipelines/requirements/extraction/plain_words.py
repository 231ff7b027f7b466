"""What a client says of wishes, habits and preferences, with its verb first and in the third
person: "I usually look for the price" as "Look for the price"."""

from __future__ import annotations

import re
from functools import cache

from pipelines.requirements.extraction import neutral
from pipelines.requirements.extraction.actors import SYSTEM, USER, resolve
from pipelines.requirements.extraction.clauses import finite, split_condition
from pipelines.requirements.extraction.state import Statement
from pipelines.requirements.lexicon import actors, words
from pipelines.requirements.text import (
    any_base,
    content_words,
    is_participle,
    lower_first,
    plain,
    tokens,
    upper_first,
)
from pipelines.requirements.validation import reading

Shaped = tuple[str, str] | None
"""Who does what."""
LEAST_WORDS = 3
MOST_WORDS = 60
SUBJECT_WORDS = 8  # … before the verb of a question
SELF = frozenset({"i", "we", "you", "me", "us"})
_HUMS = re.compile(
    r"\[[\w ]+\]\W*|(?<![\w-])(?:u[hm]+|e[hr]+m?|hm+|you know|i mean|kind of|sort of)\b,?\s*"
    r"|\bsomething like (?=an?\b)"
    r"|(?:^|(?<=,)|(?<=\.\.\.))\s*like,\s*|,\s*like(?=,)|(?<=\w)\s*(?:\.\.+|…)(?=\s*\w)",
    re.I,
)
_LEFT_BY_HUMS = re.compile(
    r"\b(will|can|should|must|could|would|to|the|an?|that|and|or|where|of|by|be|some|depending on)"
    r"\s*,\s+(?:like,? )?(?=\w)",
    re.I,
)
_SAID_TWICE = re.compile(r"\b([\w'’]+(?: [\w'’]+){0,3})(?:,? \1\b)+", re.I)
_INSERTED = re.compile(
    r",\s*(?:though|however|therefore|on the other hand|after all|if (?:i|we) may say so|"
    r"let's say|alas|i don't know)\s*,"
    r"(?! (?:(?:would|should|could|can|do|does|will) )?(?:it|you|they|we)\b)"
    r"|,\s*(?:u[hm]+|e+r+m?|h+m+),\s*(?=(?:an?|the|my|our|two|three|four|five|ten|\d+|at|in|on|to|"
    r"with|for|by|until)\b)",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:and|but|so|also|then|well|o+h+|omg|wow|lol|however|therefore|btw|by the way|kindly|"
    r"note that|non[- ]negotiable|(?:only|just) that|"
    r"i (?:must|should|have to|need to) (?:also )?correct [^:.]{3,40}:|"
    r"yes|yeah|no(?=\W*[,.!–—-]| (?:i|we|this|it) )|okay|ok|please|"
    r"maybe|actually|basically|honestly|ideally|of ?course|absolutely|definitely|exactly|right|"
    r"sure|perfect|what do you think(?= *,)|like(?= (?:if|when|i|we|the|a)\b)|"
    r"for example|first of all|first(?=,)|in that case|probably|as i said|one more thing|"
    r"i(?:'d| would)? (?:think|guess|say|suppose|believe|mean|add|stress)(?: so)?(?: that)?|"
    r"(?:the idea|the point|what (?:i|we) (?:want|need)|"
    r"(?:the )?(?:other|next|(?:most )?important|main) thing) is(?: that)?|"
    r"it(?:'s| is)(?: also| very| really)? important(?: to (?:me|us))? that)"
    r"(?![\w'-])[\s,.:!–—-]*)+",
    re.I,
)
_TAILS = re.compile(
    r"[\s,]+(?:please|thanks?|thank you|you know|i(?:'d)? (?:think|guess|say|suppose|believe)|"
    r"right|(?:that|it)(?:'d| would) be (?:marvellous|great|nice|lovely|good|perfect|cool|ideal)|"
    r"of course|that's all|haha|lol|or something(?: like that)?|and so on|etc|"
    r"(?:do not|don't|dont) (?:over ?complicate|overthink) (?:it|that|this)|"
    r"yeah|yes|though|however|then|with pleasure|"
    r"too|as well|and|but|so|or)\W*$",
    re.I,
)
_BROKEN_OFF = re.compile(
    r"\b(?:to|the|an?|of|that|which|because|if|when|with|for|my|your|our|'s? own)[\W]*$", re.I
)
_WISH = re.compile(
    r"(?:i|we)(?:(?:'d| would)(?: (?:really|also|just))* (?:like|love|prefer|want|need)|"
    r" should (?:like|prefer)|"
    r"(?: (?:really|also|just|only))* (?:want|need|wish|(?:like|love|prefer)(?= to\b)))"
    r"(?: it(?= (?:if|that|when|for)\b))?(?: if| that)?(?: for(?= (?:\w+ ){1,4}to\b))? |"
    r"(?:i am|i'm|we are|we're) looking for |"
    r"(?:it|that) (?:would|'d|should|will) be (?:\w+ )?(?:nice|great|good|cool|helpful|useful|"
    r"lovely|perfect|handy|best|better|ideal|important)(?:,? (?:if|that|to have|when)| for|"
    r"(?= to\b)) ",
    re.I,
)
_PREFERS = re.compile(r"\b(?:like|love|prefer)\b(?!.*\b(?:good|nice)\b)", re.I)
_WAY = re.compile(
    r"(?:(?:some|a|an|the|any) )?(?:(?:easy|easier|simple|quick|kind of) )*(?:way|possibility|"
    r"ability|option|chance|means)(?: for (?P<who>[\w' -]{2,40}?))? to (?P<what>.+)",
    re.I,
)
_DO = re.compile(r"to (?P<what>.+)", re.I)
_FOR_THEM = re.compile(r"(?P<who>(?:[\w'-]+ ){1,4}?)to (?P<what>.+)", re.I)
_BAN = re.compile(
    r"(?:i|we) (?:do not|don't|dont|never) (?:ever )?want "
    r"(?P<who>(?!to\b)(?:[\w'-]+ ){0,3}?[\w'-]+) to (?P<what>.+)",
    re.I,
)
_DID = re.compile(
    r"(?P<who>it|(?:the|this|that) [\w-]+)(?: just| also| simply)? (?P<verb>\w+) (?P<what>.+)", re.I
)
_MODALS = (
    r"must|should|shall|can|could|may|might|will|would|'ll|has to|have to|needs? to|ought to|"
    r"(?:is|are) (?:able|allowed|supposed) to|gets? to|wants? to|would like to|'d like to"
)
_NO_SUBJECT = (
    r"(?!(?:that|which|who|because|if|when|so|only|nobody|nothing|no|and|then|what|but)\b)"
)
_MODAL = re.compile(
    rf"(?P<who>{_NO_SUBJECT}[\w&/-]+(?:'\w+)?(?: {_NO_SUBJECT}[\w'&/-]+){{0,5}}?)"
    rf"(?: |(?='))(?P<modal>{_MODALS})"
    r"(?: (?:also|then|just|really|still|definitely|actually|probably|in future|therefore|"
    r"directly(?= be)))*"
    r"(?: be (?:able|allowed) to| (?:want|like|need) to)? (?P<what>.+)",
    re.I,
)
_COPULA = re.compile(r"\b(?:is|are|was|were)\b|'s$", re.I)
_PASSIVE = re.compile(r"be (?:also )?(?P<verb>[\w-]+)(?P<rest>(?: .*)?)", re.I)
_NO_ACTION = frozenset({"be", "like", "not", "never", "no", "have been", "been", "nobody"})
_STAYS = frozenset(
    {"stay", "remain", "vary", "move", "happen", "go", "come", "look", "cost", "take", "become",
     "last", "appear", "fit", "belong", "count", "mean", "contain", "include", "depend"}
)  # fmt: skip
_KEEPS = frozenset({"only", "always", "automatically", "manually", "freely", "also", "easily"})
_PRONOUN = re.compile(r"(?:it|they|you|we|i|he|she|this|that|these|those|people|users?)\b", re.I)
_STANDS = re.compile(
    r"\b(?:must|should|shall|can|could|may|will|needs?|wants?|has to|have to|is|are|gets?|"
    r"stays?|would|cannot|prefer)\b|n't\b",
    re.I,
)
_CUT_OFF = re.compile(r",? (?:so|and|but),? (?:if|when|because)\b[^,]*$", re.I)
_FRONTED = re.compile(
    r"(?P<front>(?:for|in|on|at|during|with|from) [^,]{3,60}?),? "
    rf"(?P<rest>(?:i|we|you) (?:{_MODALS}) .+)",
    re.I,
)
_POINTS_BACK = re.compile(r"\w+ (?:that|this|it|then)", re.I)
_LED = re.compile(r"^(?:will|would|also|then|just|like|probably) (?=[a-z])", re.I)
_HABIT = re.compile(
    r"(?:i|we)(?: (?:usually|also|always|just|mostly|often|generally|typically|normally|mainly|"
    r"either|really|definitely|likely|probably|simply|only|then|would|will|tend to|try to|like to|"
    r"prefer to))* (?P<what>.+)",
    re.I,
)
_THERE = re.compile(
    r"(?:[^,]{3,60}, )?there (?:should|must|has to|needs to|will|could|can|would|ought to)"
    r"(?: also| always)? be (?P<what>(?!no\b|not\b).+)",
    re.I,
)
_ONLY_IF = re.compile(
    r"(?:might|may|would|could|does)\b.*|"
    r"(?:i|we) (?:(?:also|really|don't|do not|dont) )*(?:know|have (?!to\b))"
    r"(?!.*\b(?:must|should|want|need)\b).*|"
    r"(?:if|when|whenever|unless) (?!.*(?:,|\b(?:then|must|should|shall|can|could|will|would|"
    r"needs?|has to|have to|i|we|you|they)\b)).*",
    re.I,
)
"""Of nobody, of the speaker alone, or a case of which nothing is said."""
_JOINTS = re.compile(
    r"(?:[,;]|\s[-–—])? (?:so|and|but)(?: (?:yes|now|then|also|for that))*,? "
    r"(?=(?:i|we|you|they|it|there|the|our|my|he|she|users?|people|each|every|all|if|when)\b)"
    r"|[,;] (?=(?:i|we|they|it|there|the|our|my) )",
    re.I,
)
_IN_CASE = re.compile(
    r"(?:if|when|whenever|once|unless|as soon as|in case|after|before|for|in|during|with|on|at)\b",
    re.I,
)
_THEN = re.compile(r"^then,? ", re.I)
_RELATIVE = re.compile(r"\b(?:that|which|who) (?:is|are|has|have|can|does)\b", re.I)
_LIMITS_IT = re.compile(r"\b(?:but|unless|except|only|until)\b", re.I)
_REMARKS = re.compile(r"(?:say|mean|think|guess|imagine|believe|hope|laugh)\b", re.I)
_OWN_WORK = re.compile(
    r"(?:let|allow|support|generate|provide|notify|offer|automatically|send|display)\b", re.I
)
"""What "we" do for users is what the product does."""
LONGEST_LIST = 25
_EMBEDDED = re.compile(r"(?:where|whether|how|which|who|when)\b", re.I)
_CRITERIA = re.compile(
    r"\b(?:factors?|criteri(?:on|a)|priorit\w+|important|look (?:for|at)|consider|matters?)\b", re.I
)
_LISTED = re.compile(r"(?!(?:an?|the|every|each|any|by|in|on|with)\b)(?:[^,]{2,40}, ){2}", re.I)
_TOLD_OF = re.compile(
    r"\b(?:must|should|shall|can|could|may|will|needs?|wants?|has|have|is|are|was|were|do|does|gets?|"
    r"would|cannot|prefer|no|not|never|it|that|they|i|we|depends)\b|n't\b|'(?:s|re|m|d|ll|ve)\b",
    re.I,
)
_BY = re.compile(r"(?:by|via|with|through|using|over|on|in|per|from) ", re.I)
LEAST_IN_PART = 4
MOST_IN_ONE = 30  # words of a sentence that is put down as a whole
_TELLS = re.compile(
    r"(?:have|own|employ|be|know|think|hope|feel|like|love|hate|mean|forget|lose|live|come|"
    r"go(?! (?:for|to|on|with|up|by|out)\b)|see(?! (?:how|if|whether|what|that)\b)|"
    r"guess|remember|work|run|do|get|say|want|need|believe|agree|understand|use)\b",
    re.I,
)
"""It tells how things are, or speaks of the speaker alone."""
_DENIED = re.compile(r"\b(?:no|not|never|nobody|cannot|dont)\b|n't\b", re.I)


def of_own(said: str, question: str) -> Statement | None:
    """None where no shape fits, or what it gives does not stand alone."""
    own = clean(said)
    if not tokens(own):
        return None
    put = None if neutral.narrates(own) else of_statement(own)
    if put and not (put.quoted or _is_list(own) or reading.flaw(put.text)):
        return put
    if _names_criteria(question, own):
        return Statement(_action(f"consider {lower_first(own)}", "i"), own, "i")
    return None


def _names_criteria(question: str, own: str) -> bool:
    """ "Safety, price and the look": what a decision rests on, and no more."""
    plainly = _EMBEDDED.match(own) or not (
        _TOLD_OF.search(own) or _BY.match(own) or ("," not in own and finite(own))
    )
    return bool(_CRITERIA.search(question) and plainly and 1 < len(tokens(own)) <= LONGEST_LIST)


def _is_list(own: str) -> bool:
    """ "Name, place, caller's number, and whether …"."""
    found = _LISTED.match(own)
    if found is None or len(tokens(own)) > LONGEST_LIST:
        return False
    return not (_TOLD_OF.search(found[0]) or finite(found[0]))


def of_statement(said: str) -> Statement | None:
    own = clean(said).rstrip(" .,;:!?")
    if not LEAST_WORDS <= len(tokens(own)) <= MOST_WORDS or _BROKEN_OFF.search(own):
        return None
    plainly = neutral.without_remarks(own)
    whole, part = _whole(plainly, own), None
    if whole is None or len(tokens(whole.text)) > MOST_IN_ONE or reading.flaw(whole.text):
        part = _part(plainly, own)
    if put := part or whole:
        return put
    for text in (own, plainly):
        if other := neutral.weighed(text):
            return Statement(_action(other, "i"), own, "i")
    other, case = neutral.preferred(own)
    if other:
        return Statement(_action(other, "i"), own, "i", _action(case) if case else None)
    if _ONLY_IF.fullmatch(plainly):
        return None
    return Statement(f"{upper_first(neutral.third_person(plainly))}.", own, quoted=True)


def _whole(plainly: str, own: str) -> Statement | None:
    main, condition = split_condition(plainly)
    condition = condition if condition and plainly.startswith(condition) else None
    if fronted := _FRONTED.fullmatch(plainly):
        main, condition = f"{fronted['rest']} {lower_first(fronted['front'])}", None
    main = _THEN.sub("", main) if condition else main
    for text, case in dict.fromkeys(((main, condition), (plainly, None))):
        shaped = _outright(text) or _order(text) or _present(text) or _habit(text)
        if shaped and (put := _put(text, shaped, own, case)):
            return put
    return None


def _part(plainly: str, own: str) -> Statement | None:
    """The first part of a sentence that says by itself what is to be, in the case named before."""
    parts = _JOINTS.split(plainly)
    for at, text in enumerate(parts[: len(parts) if parts[1:] else 0]):
        if any(map(_LIMITS_IT.search, parts[at + 1 :])):
            continue
        before = parts[at - 1] if at and _IN_CASE.match(parts[at - 1]) else None
        main, own_case = split_condition(text)
        main = _THEN.sub("", main)
        case = own_case if own_case and text.startswith(own_case) else None
        shaped = _outright(main if case else text)
        put = _put(text, shaped, own, case or before) if shaped else None
        if put and len(tokens(put.text)) >= LEAST_IN_PART and not reading.flaw(put.text):
            return put
    return None


def _put(text: str, shaped: tuple[str, str], own: str, case: str | None) -> Statement | None:
    who, what = shaped
    if len(_DENIED.findall(text)) != len(_DENIED.findall(what)):
        return None
    if who.lower() in SELF and _REMARKS.match(what):
        return None
    if len(content_words(what)) <= 1 and len(tokens(what)) <= 1:
        return None
    case = None if case and _POINTS_BACK.fullmatch(case) else case
    what = _CUT_OFF.sub("", what)
    who = "the system" if who.lower() in SELF and _OWN_WORK.match(what) else who
    return Statement(_action(what, who), own, who, case and _action(case))


def _outright(text: str) -> Shaped:
    there = _THERE.fullmatch(text)
    return ("the system", f"provide {there['what']}") if there else _wish(text) or _modal(text)


def clean(said: str) -> str:
    whole = plain(_INSERTED.sub(" ", plain(said)))
    text = _SAID_TWICE.sub(r"\1", plain(_HUMS.sub(" ", whole)))
    text = text if text == whole else _LEFT_BY_HUMS.sub(r"\1 ", text)
    text = _SAID_TWICE.sub(r"\1", text).strip(" ,;:–—-")
    text = re.sub(r" (?=[,.;:!?])", "", text)
    while True:
        lead = _LEADS.match(text)
        shorter = _TAILS.sub("", text[lead.end() :] if lead else text).strip(" ,;:–—-")
        if shorter == text or not tokens(shorter):
            return text
        text = shorter


def _verb(what: str, *, after_modal: bool = False) -> bool:
    head = [word.lower() for word in tokens(what)[:2]]
    if len(head) == 2 and head[0] in _KEEPS:
        head = head[1:]
    if not head or head[0] in _NO_ACTION or not head[0].isalpha():
        return False
    return any_base(head[0]) == head[0] or (after_modal and not head[0].endswith(("ly", "ing")))


@cache
def _system() -> re.Pattern[str]:
    """The product, by any of its names."""
    names = "|".join(sorted(map(re.escape, actors("system")), key=len, reverse=True))
    return re.compile(rf"(?:(?:the|our|your|this|that|an?|my) )?(?:new )?(?:{names})\b", re.I)


def _acts(who: str, what: str) -> bool:
    """Whether it is somebody, or the product, that does something; of other things it is said what
    becomes of them, and they have to be named."""
    if _PRONOUN.match(who):
        return who.lower() in SELF or tokens(what)[0].lower() not in _STAYS
    return bool(_system().fullmatch(who)) or resolve(who, earlier=()) != SYSTEM


def _wish(own: str) -> Shaped:
    if (ban := _BAN.fullmatch(own)) and _verb(ban["what"]):
        return "the system", f"never let {ban['who']} {ban['what']}"
    found = _WISH.match(own)
    if not found:
        return None
    what = own[found.end() :].strip()
    if way := _WAY.match(what):
        return (way["who"] or "we", way["what"]) if _verb(way["what"]) else None
    if do := _DO.match(what):
        able = re.sub(r"^(?:also )?be (?:able|allowed) to ", "", do["what"], flags=re.I)
        return ("we", able) if _verb(able) else None
    them = _FOR_THEM.match(what)
    if them and _verb(able := re.sub(r"^be (?:able|allowed) to ", "", them["what"], flags=re.I)):
        return (them["who"].strip(), able) if _acts(them["who"].strip(), able) else None
    if (did := _DID.match(what)) and is_participle(did["verb"]):
        return did["who"], f"{any_base(did['verb'])} {did['what']}"
    if shaped := _modal(what):
        return shaped
    told = _STANDS.search(_RELATIVE.sub("", what.split(",")[0]))
    verb = "prefer" if _PREFERS.search(found[0]) else "have"
    thing = len(tokens(what)) < SUBJECT_WORDS * 3 and not told
    return ("we", f"{verb} {what}") if thing else None


def _modal(own: str) -> Shaped:
    found = _MODAL.match(own)
    if not found:
        return None
    who, what = found["who"].strip(), found["what"]
    if _COPULA.search(who):
        return None
    if _verb(what, after_modal=True) and _acts(who, what):
        return who, what
    passive = _PASSIVE.match(what)
    if not passive or not is_participle(passive["verb"]) or _PRONOUN.match(who):
        return None
    if re.search(r"\b(?:by|and|or|but)\b", passive["rest"]):
        return None
    return "the system", f"{any_base(passive['verb'])} {lower_first(who)}{passive['rest']}"


def _order(own: str) -> Shaped:
    """ "Send me a list"."""
    spoken = [word.lower() for word in tokens(own)[:4]]
    told = {"is", "are", "was", "were", "has", "goes", "must", "should", "can", "will", "may"}
    return ("the system", own) if _verb(own) and not told & set(spoken) else None


def _present(own: str) -> Shaped:
    """ "Customers pick a slot"."""
    stated = finite(own)
    if (
        stated is None
        or _DENIED.search(own)
        or resolve(stated.subject, earlier=()) in {SYSTEM, USER}
    ):
        return None
    verb = stated.predicate.split()[0].lower()
    if verb in {"have", "own"} or stated.subject.split()[0].lower() in words("prepositions"):
        return None
    plainly = len(tokens(stated.subject)) <= 3 and not re.search(r"\bonly\b", stated.subject, re.I)
    return (stated.subject, stated.predicate) if plainly else None


def _habit(own: str) -> Shaped:
    """ "I usually look at the ratings"."""
    found = _HABIT.match(own)
    if not found or not _verb(found["what"]) or _TELLS.match(found["what"]):
        return None
    return "i", re.sub(r"^go by (?=how|the|what)", "consider ", found["what"], flags=re.I)


def _action(what: str, who: str = "") -> str:
    """In the third person; the actor need not be named again."""
    self, system = who.lower() in SELF, not who or resolve(who, earlier=()) == SYSTEM
    told = neutral.third_person(what.strip(" .,;:!?"), known=self, others=not (self or system))
    return upper_first(_LED.sub("", told))
