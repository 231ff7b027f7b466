"""How what was said is put down: plain shapes with their verb first ("The app should remind
members" as "Remind members"), all else word for word."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from pipelines.requirements.extraction import acts, asked, neutral
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
TITLE_WORDS = 7
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
_OFFER = re.compile(
    r"(?:do|would) (?:you|they) (?:also |perhaps |maybe |then )?"
    r"(?:want|like|need|prefer|wish)(?: us)? (?P<what>.+)|"
    r"you(?:'d| would) (?:want|like|need|prefer) (?P<wish>.+)|"
    r"(?:want|need) (?P<want>(?!to\b).+)|(?:what|how) about (?P<idea>.+)|"
    r"(?:would|will|does) (?:it|that) (?:help|be (?:useful|good|nice|helpful|interesting|okay|ok|"
    r"fine)) (?:if )?(?P<help>.+)|"
    r"(?:would|will|could) (?P<thing>(?:an?|the) .+?),? (?:meet the need|help|do|be (?:useful|good|"
    r"nice|helpful|interesting|okay|ok|fine|enough))(?: (?:for )?(?:you|us|there))?",
    re.I,
)
_DOES = re.compile(r"(?:does|do) (?P<who>[\w' -]{1,40}?) (?:need|have|want) to (?P<what>.+)", re.I)
_CASE = re.compile(r"[^?]{3,200}?, (?=(?:should|could|can|would|may|must|shall|will) )", re.I)
_ASKED = re.compile(r"(?P<modal>should|could|can|would|may|must|shall|will) (?P<rest>.+)", re.I)
_PRONOUN = re.compile(r"(?:it|they|you|we|i|he|she|this|that|these|those|people|users?)\b", re.I)
_WHO_MAY = re.compile(
    rf"who (?:all )?(?P<may>{_MODALS}) (?:be able to |be allowed to )?(?P<what>.+)", re.I
)
_WHO_DOES = re.compile(r"who (?P<verb>[a-z]{2,}s)\b", re.I)
_NAMED = re.compile(r"(?:(?:the|our|all|an?|only|just) )?[\w'-]+(?: (?:and |or )?[\w'-]+){0,4}\W*")
_STANDS = re.compile(
    r"\b(?:must|should|shall|can|could|may|will|needs?|wants?|has to|have to|is|are|gets?|"
    r"stays?|would|cannot|prefer)\b|n't\b",
    re.I,
)
_CUT_OFF = re.compile(r",? (?:so|and|but),? (?:if|when|because)\b[^,]*$", re.I)
_ASKS_ON = re.compile(r",? (?:how|why|what) (?:we|they|you|it|the|do|does|is|are)\b", re.I)
_GOES_ON = re.compile(
    r"(?:in|but|only|except|unless|until|after|before|if|when|within|at|by|up to|for|on|with|via|"
    r"every (?:hour|day|morning|evening|night|week|month|year)|as long as)\b",
    re.I,
)
_SAYS_NO = re.compile(r"\W*(?:no|nope|nah)\b", re.I)
_THING = re.compile(
    r"(?:and )?(?P<thing>an? \w+(?: .+?)?|"
    r"(?!(?:what|how|why|who|which|when|where|any|anything|something|the|that|this|it|so|by|via|over|on|in|"
    r"with|for|at|from|to|as|you|we|they|i|my|your|only|no|not|just|like)\b)"
    r"[\w'-]+(?: [\w'-]+){1,5}?)(?: (?:then|instead|too|as well))?",
    re.I,
)
"""What an offer only names: "And reminders for deadlines?"."""
_DETAIL = re.compile(r",? (?:when|whenever|if|while)\b", re.I)
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
_WANTING = frozenset({"want", "like", "wish", "prefer", "need"})
_REMARKS = re.compile(r"(?:say|mean|think|guess|imagine|believe|hope|laugh)\b", re.I)
_OWN_WORK = re.compile(
    r"(?:let|allow|support|generate|provide|notify|offer|automatically|send|display)\b", re.I
)
"""What "we" do for users is what the product does."""
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
_TITLE_ENDS = re.compile(
    r"[,;:.(?](?!\d)|\s(?:–|so that|so|because|which|if|when|where|while|but|and then|or)\s", re.I
)


def of_answer(said: str, question: str) -> Statement | None:
    """The words of an answer, with the question where they say too little alone."""
    own = clean(said)
    if not tokens(own):
        return None
    part = asked.is_part(own)
    alone = of_statement(own)
    listed = asked.is_list(own)
    order = _order(own) and not listed
    if alone and not (alone.quoted or listed or order or reading.flaw(alone.text)):
        return alone
    short = (len(tokens(own)) < LEAST_WORDS + 3 or part) and not order
    least = LEAST_WORDS + (_PRONOUN.match(own) is not None)
    stands = len(tokens(own)) >= least and _STANDS.search(own) and not part
    if question and (short or _PRONOUN.match(own)) and not stands:
        alone = _answered(own, question, said)
    if alone and alone.quoted and asked.names_criteria(question, own):
        return Statement(_action(f"consider {lower_first(own)}", "i"), alone.said, "i")
    return alone


def _answered(own: str, question: str, said: str) -> Statement | None:
    put = clean(acts.content_of(plain(question))).rstrip(" ?")
    no = "No, " if _SAYS_NO.match(said) else ""
    told = f"{question_of(question)} – {no}{own if no else upper_first(own)}".rstrip(".!")
    if (does := _WHO_DOES.match(put)) and (verb := any_base(does["verb"])):
        put = f"who may {verb}{put[does.end() :]}"
    found = _WHO_MAY.fullmatch(put)
    who, comma, how = own.rstrip(".!").partition(", ") if found else (own, "", "")
    if found and _NAMED.fullmatch(own) and own.lower().startswith(("only ", "just ")):
        text = neutral.third_person(f"{upper_first(who)} {found['may']} {found['what']}")
        return Statement(text, told, who.partition(" ")[2], quoted=True)
    if (
        found
        and _NAMED.fullmatch(who)
        and _verb(found["what"])
        and (not how or _GOES_ON.match(how))
        and resolve(who, earlier=()) != SYSTEM
    ):
        return Statement(_action(f"{found['what'].split('—')[0]}{comma}{how}"), told, who)
    if asked.says_nothing(own):
        return None
    whole = asked.together(put, own.rstrip(" .!"), turned=_told)
    stated = of_statement(whole) if whole else None
    if stated and not (stated.quoted and reading.flaw(stated.text.rstrip("."))):
        return replace(stated, said=told)
    put, dash, answer = neutral.third_person(told).partition(" – ")
    text = f"{put}{dash}{upper_first(answer)}"
    return Statement(text, told, quoted=True, asked=True)


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


def stands_alone(said: str) -> bool:
    """A part of a sentence that says by itself what is to be."""
    own = clean(said).rstrip(" .,;:!?")
    shaped = _wish(own) or _order(own) or _MODAL.match(own)
    return bool(shaped) and not _BROKEN_OFF.search(own)


def of_offer(question: str, condition: str = "") -> Statement | None:
    """What was put to the client and accepted; a yes may go on with a limit."""
    own = _offer(question)
    if len(tokens(own)) < LEAST_WORDS - 1 or _BROKEN_OFF.search(own.rstrip("?. ")):
        return None
    more = clean(condition)
    if _ASKED.match(_CASE.sub("", own, count=1)):
        told = f"{question_of(question)} – Yes"
        return Statement(neutral.third_person(told), told, quoted=True, asked=True)
    more = _JOINTS.split(more)[0]
    tail = f", {lower_first(more)}" if _GOES_ON.match(more) else ""
    own = own.rstrip(".?! ")
    head = _DETAIL.split(own)[0]
    if _ASKS_ON.search(own) or not (_STANDS.search(head) or finite(head) or _order(own)):
        named = _THING.fullmatch(own)
        if not named:
            return None
        own = f"the system must provide {lower_first(named['thing'])}"
    return of_statement(f"{own}{tail}")


def title_of(text: str) -> str:
    spoken = (_TITLE_ENDS.split(text, maxsplit=1)[0]).split()
    spoken = (spoken if len(spoken) > 1 else text.rstrip(".!?").split())[:TITLE_WORDS]
    dull = words("determiners") | words("prepositions") | words("auxiliaries") | {"and", "or", "to"}
    while len(spoken) > 2 and spoken[-1].lower() in dull:
        spoken.pop()
    return upper_first(" ".join(spoken).rstrip(".,;:–-!?"))


def question_of(question: str) -> str:
    return upper_first(clean(acts.content_of(plain(question))).rstrip(" ?.")) + "?"


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


def _offer(question: str) -> str:
    own = clean(acts.content_of(plain(question)).rstrip(" ?"))
    if found := _OFFER.fullmatch(own):
        what = next(group for group in found.groups() if group)
        return what if _modal(what) else f"we want {what}"
    if found := _DOES.match(own):
        return f"{found['who']} must {found['what']}"
    case = _CASE.match(own)
    before, asked = (case[0], own[case.end() :]) if case else ("", own)
    return f"{before}{_turned(asked)}"


def _turned(asked: str) -> str:
    """ "Should the app remind members" as "the app should remind members"."""
    found = _ASKED.match(asked)
    if not found:
        return asked
    modal = {"would": "should", "shall": "should"}.get(found["modal"].lower(), found["modal"])
    spoken = found["rest"].split()
    plainly = _PRONOUN.match(found["rest"]) or _system().match(found["rest"])
    at = len(plainly[0].split()) if plainly else _verb_at(spoken)
    if not 0 < at < len(spoken):
        return asked
    able = at + 2 * (
        modal == "should" and spoken[at] in _WANTING and spoken[at + 1 : at + 2] == ["to"]
    )
    return " ".join([*spoken[:at], modal.lower(), *spoken[able:]])


def _told(asked: str) -> str:
    """ "Do we keep the receipts" as "we must keep the receipts"."""
    if found := _DOES.match(asked):
        return f"{found['who']} must {found['what']}"
    return _turned(re.sub(r"^(?:do|does)(?= )", "must", asked, flags=re.I))


def _verb_at(spoken: list[str]) -> int:
    """Where the subject of a question ends; 0 where that is not plain."""
    low = [word.lower().strip(",") for word in spoken[: SUBJECT_WORDS + 2]]
    breaks = words("determiners") | words("prepositions") | {"and", "or"}
    for at in range(1, len(low)):
        if low[at - 1] in breaks or low[at - 1] != spoken[at - 1].lower():
            continue  # after an article, or within an enumeration
        if low[at] in _KEEPS or (_starts(low[at]) and not any(map(_starts, low[at + 1 : at + 2]))):
            return at
    ways = _KEEPS - {"only", "also"}
    sure = (at for at, word in enumerate(spoken[:-1]) if word in ways and _starts(spoken[at + 1]))
    return next(sure, 0)


def _starts(word: str) -> bool:
    return word == "be" or any_base(word) == word


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
