"""A question and its short answer as one sentence: "What do you look at first?" and "The price" as
"I look at the price first"."""

from __future__ import annotations

import re
from collections.abc import Callable

from pipelines.requirements.extraction.clauses import finite
from pipelines.requirements.text import content_words, lower_first, tokens

LONGEST_PART = 9  # words of an answer that names, but does not say, what is to be
LONGEST_LIST = 25
LONGEST = 14  # words of an answer that names something
_NOTHING = re.compile(
    r"(?:it|that) depends|whatever|mm+-?hm+|m+hm+|uh-?huh|(?:i have )?no idea|not sure|"
    r"(?:i )?(?:do not|don't) (?:know|mind|care)|who knows|o+h+",
    re.I,
)
_FOR_YES = re.compile(r"(?:should|could|can|would|may|must|shall|will) ", re.I)
_MUST = r"(?:should|must|can|may|will|shall|could)"
_HOW = re.compile(rf"how (?P<rest>{_MUST} .+)", re.I)
_BY = re.compile(r"(?:by|via|with|through|using|over|on|in|per|from) ", re.I)
_WHEN = re.compile(
    r"(?:when|until when|by when|(?P<where>where)|"
    r"how (?P<long>long|often|fast|quickly|early|late|soon|far)(?P<ahead> ahead| in advance)?) "
    rf"(?P<rest>(?:{_MUST}|do|does) .+)",
    re.I,
)
_AT = re.compile(
    r"(?:on|at|in|every|each|once|twice|after|before|when|whenever|within|as soon as|daily|weekly|"
    r"monthly|the (?:day|evening|night|morning|week)|by|until|up to|at (?:most|least)|for)\b",
    re.I,
)
_NUMBER = (
    r"(?:about |around |up to |at (?:most|least) )?(?:\d|(?:a|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|twelve|fifteen|twenty|thirty|half)\b)"
)
_AMOUNT = re.compile(_NUMBER, re.I)
_HAVE_TO = re.compile(r"do(?:es)? .* (?:need|have|want) to ", re.I)
_LASTS = re.compile(r"how long (?:(?:is|are) (?P<thing>.+)|to (?P<do>.+)|until (?P<ends>.+))", re.I)
_THING = re.compile(r"(?:(?:and|which|what(?: about)?) )*(?P<thing>[\w'-]+(?: [\w'-]+){0,4})", re.I)
_OPEN = re.compile(
    r"(?:and )?(?:anything|what) else|what should change|what (?:is|'s) missing", re.I
)
_MAY_THEY = re.compile(r"[\w' -]{2,40}? (?=(?:can|may) )", re.I)
_ONLY = re.compile(r"(?:only|just) (?!when|if|for|on|at|in|after|before|with|by|via)", re.I)
_LIMIT = re.compile(
    r"(?:should|is|must|will) there (?:be )?(?:an?|any) (?P<name>[\w-]+(?: [\w-]+)??)"
    r"(?P<of> (?:for|on|to|in|per) .+)?",
    re.I,
)
_LIMITS = re.compile(
    r"(?:only (?:for|if|when|up|on|at|after|before|within|with|until) |up to |at most |"
    r"at least |within |until |from |by |without )",
    re.I,
)
_WHAT = re.compile(
    rf"(?:what|which)(?P<name> (?!(?:about|if)\b)[\w-]+(?: of (?:the|an?) [\w-]+| [\w-]+)??)? "
    rf"(?P<modal>do|does|would|{_MUST}) (?P<rest>.+)",
    re.I,
)
_ASKS_TWICE = re.compile(r"\band (?:for |to |by |with )?(?:what|who|whom|how|when|where)\b", re.I)
_WHAT_IS = re.compile(rf"(?:.*, )?what(?: [\w-]+)? (?P<rest>{_MUST} be .+)", re.I)
_DOES = re.compile(
    r"(?P<who>.+?) should (?:(?:usually|normally|also|typically|generally) )?"
    r"(?:(?:want|need|like|prefer|expect|have|try|tend) to )?"
    r"(?P<verb>[a-z]+(?: (?:at|for|to|on|about|with)\b)?)(?P<rest>(?: [\w-]+){0,4})",
    re.I,
)
_SAYS = frozenset({"think", "mean", "say", "feel", "do", "happen", "like", "want", "need", "know"})
_EMBEDDED = re.compile(r"(?:where|whether|how|which|who|when)\b", re.I)
_CRITERIA = re.compile(
    r"\b(?:factors?|criteri(?:on|a)|priorit\w+|important|look (?:for|at)|consider|matters?)\b", re.I
)
_DETERMINES = re.compile(
    r"what (?!happens|is|comes|has|does)(?P<rest>[a-z]+s (?:the|an?) .+)", re.I
)
_MANDATORY = re.compile(
    r"(?:what|which [\w -]{2,40}?) (?:is|are) (?:a must|mandatory|compulsory|required)",
    re.I,
)
_LISTED = re.compile(r"(?!(?:an?|the|every|each|any|by|in|on|with)\b)(?:[^,]{2,40}, ){2}", re.I)
_PRIORITY = re.compile(
    r"(?:what|which)(?: [\w-]+)?(?: do you (?:think|feel|believe))?"
    r"(?:'s| is| are| would be) (?:.*\b)?(?:most important|priorit(?:y|ies)|"
    r"main (?:factors?|criteri(?:a|on))|important to you|matters? most)\b.*",
    re.I,
)
_STANDS = re.compile(
    r"\b(?:must|should|shall|can|could|may|will|needs?|wants?|has|have|is|are|was|were|do|does|gets?|"
    r"would|cannot|prefer|no|not|never|it|that|they|i|we|depends)\b|n't\b|'(?:s|re|m|d|ll|ve)\b",
    re.I,
)


def says_nothing(own: str) -> bool:
    return _NOTHING.fullmatch(own.rstrip(" .!")) is not None


def names_criteria(question: str, own: str) -> bool:
    """ "Safety, price and the look": what a decision rests on, and no more."""
    plainly = _EMBEDDED.match(own) or not (
        _STANDS.search(own) or _BY.match(own) or ("," not in own and finite(own))
    )
    return bool(_CRITERIA.search(question) and plainly and 1 < len(tokens(own)) <= LONGEST_LIST)


def is_part(own: str) -> bool:
    """A short answer that is no sentence by itself."""
    if is_list(own):
        return True
    if len(tokens(own)) > LONGEST_PART:
        return False
    return bool(_EMBEDDED.match(own)) or not (_STANDS.search(own) or finite(own))


def is_list(own: str) -> bool:
    """ "Name, place, caller's number, and whether …"."""
    found = _LISTED.match(own)
    if found is None or len(tokens(own)) > LONGEST_LIST:
        return False
    return not (_STANDS.search(found[0]) or finite(found[0]))


def together(question: str, own: str, *, turned: Callable[[str], str]) -> str:
    """One sentence of both, or nothing; ``turned`` puts the subject of a question first."""
    rest = own.partition(" ")[2]
    said = own if any(map(str.isupper, rest)) else lower_first(own)
    for shape in (_limit, _time, _manner, _lasts):
        if whole := shape(question, said, turned):
            return whole
    listed = is_list(own)
    names = listed or _EMBEDDED.match(own) or not _STANDS.search(own)
    if (len(tokens(own)) > LONGEST and not listed) or not names or not content_words(own):
        return ""
    who = _MAY_THEY.match(told := turned(question)) if re.match("(?:only|just) ", said) else None
    if who and not _LIMITS.match(said):
        return f"{said} {told[who.end() :]}"
    return _what(question, said, turned) or _thing(question, said)


def _thing(question: str, said: str) -> str:
    if _OPEN.fullmatch(question):
        return f"provide {said}"
    """ "Which languages?" – "Dutch and English"; what is named is there, or is of that kind."""
    found = _THING.fullmatch(question)
    if not found or _STANDS.search(question) or finite(found["thing"]):
        return ""
    if content_words(question) <= content_words(said) or _ONLY.match(said):
        return f"provide {said}"
    if _AMOUNT.match(said) or _AT.match(said):
        name = re.sub(r"^an? ", "the ", lower_first(found["thing"]))
        return f"{name} must be {said}" if name.startswith("the ") else ""
    many = found["thing"].split()[-1].endswith("s") and re.search(r",| and ", said)
    return f"provide {said} as {lower_first(found['thing'])}" if many else ""


def _lasts(question: str, said: str, turned: Callable[[str], str]) -> str:
    found = _LASTS.fullmatch(question)
    if not found or not (_AMOUNT.match(said) or found["do"]):
        return ""
    if found["do"]:
        return f"{found['do']} {'for ' if _AMOUNT.match(said) else ''}{said}"
    thing, ends = found["thing"], found["ends"]
    return f"{thing} must last {said}" if thing else f"{ends} after {said}"


def _limit(question: str, said: str, turned: Callable[[str], str]) -> str:
    """ "Should there be a limit?" – "5 a day"; "Can they cancel?" – "Up to a day before"."""
    if (found := _LIMIT.fullmatch(question)) and _AMOUNT.match(said):
        return f"have a {found['name']} of {said}{found['of'] or ''}"
    asks = _FOR_YES.match(question) or _HAVE_TO.match(question)
    return f"{turned(question)} {said}" if asks and _LIMITS.match(said) else ""


def _time(question: str, said: str, turned: Callable[[str], str]) -> str:
    found = _WHEN.fullmatch(question)
    if found and (_AT.match(said) or (found["long"] and _AMOUNT.match(said))):
        lasts = (found["long"] or "").lower() == "long" and not _AT.match(said)
        rest = re.split("[,:]", found["rest"])[0] if found["where"] else found["rest"]
        long, comma, more = said.partition(", ") if found["ahead"] else (said, "", "")
        before = "for " if lasts and " for " not in said else ""
        return f"{turned(rest)} {before}{long}{found['ahead'] or ''}{comma}{more}"
    return ""


def _manner(question: str, said: str, turned: Callable[[str], str]) -> str:
    found = _HOW.fullmatch(question)
    return f"{turned(found['rest'])} {said}" if found and _BY.match(said) else ""


def _what(question: str, said: str, turned: Callable[[str], str]) -> str:
    if _MANDATORY.fullmatch(question):
        return f"require {said}"
    if found := _DETERMINES.fullmatch(question):
        return f"{said} {found['rest']}"
    if _PRIORITY.fullmatch(question):
        return f"{said} is important"
    if found := _WHAT_IS.fullmatch(question):
        return f"{said} {found['rest']}"
    asks = None if _ASKS_TWICE.search(question) else _WHAT.fullmatch(question)
    found = _DOES.fullmatch(turned(f"should {asks['rest']}")) if asks else None
    if not asks or not found:
        return ""
    name = (asks["name"] or "").strip()
    if (verb := found["verb"].split()[0].lower()) in _SAYS:
        needed = name and verb in {"need", "want", "like"} and not _BY.match(said)
        return f"provide {said} as {name}{found['rest']}" if needed else said * (verb == "do")
    kind = (
        ""
        if not name or " of " in name or content_words(name) & content_words(said)
        else f"the {name} "
    )
    who = "we" if found["who"].lower() in {"you", "we", "they"} else found["who"]
    return f"{who} must {found['verb']} {kind}{said}{found['rest']}"
