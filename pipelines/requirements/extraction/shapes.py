"""How what was said is put down: by one of a few plain shapes, word for word otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from pipelines.requirements.extraction import neutral
from pipelines.requirements.lexicon import known_verbs, words
from pipelines.requirements.text import content_words, plain, tokens, upper_first

TOLD, ASKED, FIRST = "told", "asked", "verb"
"""Word for word; a question with its answer; with its verb first."""
LEAST = 4
"""Words of what may stand alone when the rest is cut off."""
LONGEST_FRAGMENT = 14
LONGEST_SUBJECT = 7
LONGEST_NAME = 4


class Worded(NamedTuple):
    text: str
    shape: str


# --- without what only keeps the talk going -----------------------------------------------------

_HUMS = re.compile(r"(?:,\s*)?(?<![\w'-])(?:u+m+|u+h+|e+r+m*|h+m+|m+h*m+)(?![\w'-])[,.…]*\s*", re.I)
_ASIDES = re.compile(
    r"(^|,)\s*(?:you know|i mean|kind of|sort of|how do you say|let's say|let's see|let me see|"
    r"i'd say|to be honest|honestly|basically|obviously|literally|like|well|say|i don't know|"
    r"i suppose|i think|i guess|of course|actually|really|oh|ah|or whatever it is)\s*(?=,)",
    re.I,
)
_TWICE = re.compile(r"\b([\w']+(?: [\w']+){0,2}),? \1\b", re.I)
_OPENER = re.compile(
    r"^(?:(?:and|but|so|also|then|well|oh|ah|okay|ok|plus|besides|first|second|third|finally|"
    r"actually|honestly|yes|yeah|yea|yep|yup|ye|ya|pls|sure|right|exactly|please|look|listen|again|basically|"
    r"ideally|obviously|maybe|perhaps|of course|oh and|in that case|as i said|by the way|"
    r"i think|i guess|i suppose|i mean|i'd say|i would say|you see|you know|to be honest|"
    r"on the other hand|above all|most of all|more importantly|let's say|one more thing|"
    r"another thing|one thing|at the very least|the thing is(?: that)?|"
    r"what (?:i|we) (?:do |really |would |'d )*(?:need|want|like)(?: (?:most|then))? is(?: that)?|"
    r"what matters(?: to (?:me|us))? is(?: that)?|"
    r"(?:the )?(?:main|most important|only|other) thing(?: i (?:need|want))? is(?: that)?|"
    r"just (?:so i have it right|to be sure|to check)|to (?:sum up|recap|confirm)|in short|"
    r"(?:let me|i) (?:repeat|recap|confirm|sum (?:it )?up)|noted|understood|got it|last(?=,)|"
    r"it(?:'s| is) (?:important|essential|vital) that)(?![\w'-])[,.:;!…–-]*\s+|"
    r"(?:no|nope|nah|not really|never)[,.;:!…–-]+\s+)",
    re.I,
)
_ENDING = re.compile(
    r"[,;]?\s+(?:right|okay|ok|isn't it|wouldn't it|doesn't it|you see|you know|please|thanks|"
    r"thank you|if you like|if i may|i think|i suppose|i guess|i'd say|let's say|that's all|"
    r"that's it|thats it|of course|as i said|if possible|though|then|honestly|really|obviously|"
    r"and so on|haha|lol|pls|plz|yeah|yep|yup|too|also|(?:am i|is that) (?:right|correct)|correct|"
    r"yes|no)"
    r"(?=\s*[.?!]*$)",
    re.I,
)
_REASON = re.compile(
    r",?\s+(?:because|'?cause|cos|otherwise|or else|(?<=, )since|that way)\b.*$|"
    r"\s+[–—-]\s+.*$|,\s+(?:and |but )?(?=(?:i|we|my|our|he|she|nobody|everybody|that's|that is|"
    r"it's|there's|you|they're|they)\b)(?!.*\b(?:must|should|want|need|only|never)\b).*$",
    re.I,
)
_DIRECTS = re.compile(
    r"\b(?:must|mustn't|should|shouldn't|shall|has to|have to|needs? to|ought to|may|can|cannot|"
    r"can't|want|wants|need|needs|only|never|always|is to|are to|gets?|no more than|"
    r"at (?:most|least))\b",
    re.I,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|will|would|can|could|must|should|shall|may|"
    r"might|\w+n't|\w+'s|\w+'re|\w+'ll|\w+'d|comes?|goes|gets?|needs?|wants?|sees?|knows?)\b",
    re.I,
)


def tidy(said: str) -> str:
    """Without hums, openers, asides, what is said twice, and tags."""
    text = _HUMS.sub(lambda found: ", " if found[0].startswith(",") else "", plain(said))
    for _ in range(2):
        text = _ASIDES.sub(r"\1", text)
        text = _TWICE.sub(r"\1", text)
    text = re.sub(r"^[\s,.:;–-]+|(?<=,)\s*,", "", text)
    while (shorter := _OPENER.sub("", text, count=1)) != text and tokens(shorter):
        text = shorter
    while (shorter := _ENDING.sub("", text)) != text and tokens(shorter):
        text = shorter
    return plain(re.sub(r"\s+([,.;])", r"\1", text)).strip(" ,;:–-")


def without_reason(text: str) -> str:
    """Only what is asked for, where that stands alone."""
    found = _REASON.search(text)
    head = text[: found.start()] if found else text
    whole = len(tokens(head)) >= LEAST and (_DIRECTS.search(head) or _imperative(head))
    return head.rstrip(" ,;:–-") if found and whole else text


def sentence(text: str) -> str:
    return f"{upper_first(text.strip(' ,;:–-').rstrip('.!?… '))}."


# --- persons ------------------------------------------------------------------------------------

_AS_THEY = {
    **dict.fromkeys(("i", "we"), "they"),
    **dict.fromkeys(("my", "our"), "their"),
    **dict.fromkeys(("me", "us"), "them"),
    **dict.fromkeys(("myself", "ourselves"), "themselves"),
    **dict.fromkeys(("i'm", "we're", "i am", "we are"), "they are"),
    **dict.fromkeys(("i've", "we've"), "they have"),
    **dict.fromkeys(("i'd", "we'd"), "they would"),
}
_AS_USER = {"my": "the user's", "me": "the user", "myself": "the user", "your": "the user's"}
_PERSON = re.compile(r"(?<![\w'])(?:i am|we are|[a-z]+(?:'[a-z]+)?)(?![\w'])", re.I)


def _persons(text: str, named: dict[str, str]) -> str:
    return _PERSON.sub(lambda found: named.get(found[0].lower(), found[0]), text)


def _users(what: str) -> str:
    """What "I" or "we" do, said of users."""
    return _persons(what, _AS_THEY)


def _of_system(what: str) -> str:
    """What the software does, to the one who speaks."""
    return _persons(what, _AS_USER)


# --- verbs --------------------------------------------------------------------------------------

_ADVERBS = frozenset(
    {"also", "only", "just", "always", "never", "automatically", "still", "then", "not", "ever"}
    | {"even", "simply", "really", "please", "directly", "immediately", "first", "later", "rather"}
)


@cache
def _not_before_verb() -> frozenset[str]:
    return words("determiners") | words("prepositions") - {"and", "or", "who", "that", "which"}


def is_verb(word: str) -> bool:
    return word.lower() in known_verbs() or word.lower() in {"be", "do"}


def _imperative(text: str) -> bool:
    spoken = text.split()
    while spoken and spoken[0].lower() in _ADVERBS - {"not"}:
        spoken = spoken[1:]
    if len(spoken) < 2 or not is_verb(spoken[0]):
        return False
    if spoken[0].lower() in _NOUNS and spoken[1].lower() not in words("determiners"):
        return False
    if spoken[0].lower() in _TO_LISTENER or _FINITE.match(spoken[1]):
        return False
    return spoken[1].lower().strip(",") not in _AUXILIARIES | {"of", "and", "or", "than"}


_TO_LISTENER = frozenset(
    {"hang", "wait", "imagine", "suppose", "note", "believe", "forgive", "excuse", "guess", "trust"}
    | {"come", "thank", "want", "need", "had", "ask", "mind", "worry"}
)
"""What is said to the one who asks, not of the software."""


_NOUNS = frozenset({"text", "sound", "time", "look", "say", "see", "point", "book", "help", "back"})
"""Verbs that are rather something else where a sentence begins with them, but for its article."""
_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "has", "had", "will", "would", "can", "could", "must", "should"}
    | {"have"}
)


def verb_at(spoken: list[str]) -> int:
    """Where the verb of a question stands, after its subject; 0 if it cannot be told."""
    for at in range(1, min(len(spoken), LONGEST_SUBJECT + 1)):
        word, before = spoken[at].lower().strip(",;:"), spoken[at - 1].lower().strip(",;:")
        if before in _not_before_verb() and before not in {"this", "that", "these", "those"}:
            continue
        if word in _ADVERBS and at + 1 < len(spoken) and is_verb(spoken[at + 1].strip(",;:")):
            return at
        following = spoken[at + 1].lower().strip(",;:") if at + 1 < len(spoken) else ""
        also_noun = following == "be" or (word in _ALSO_NOUNS and is_verb(following))
        if is_verb(word) and word != "like" and not also_noun:
            return at
    return 0


_ALSO_NOUNS = _NOUNS | frozenset(
    {"list", "order", "report", "view", "map", "plan", "record", "request", "offer", "test"}
    | {"message", "label", "check", "search", "schedule", "post", "review", "name", "number"}
)


def _subject(who: str) -> str:
    low = who.lower().strip()
    if low in {"it", "this", "that"}:
        return low
    if low == "we":
        return "the system"
    return "users" if low in {"i", "you", "one", "people"} else _of_system(who)


# --- the client's own sentences -----------------------------------------------------------------

_WISHES = (
    r"(?:(?:i|we)(?:'d| would| should)?|(?=want|need)|(?:would|'d)(?= like))"
    r"(?: (?:do|really|just|only|also|still|then|definitely|actually))*"
    r" ?(?P<wish>{})"
)
_WISH = _WISHES.format(
    "want|need|like|love|prefer|wish for|expect|insist on|have to have|must have"
)


def _plain_wish(found: re.Match[str]) -> str:
    return f"Users should be able to {_users(found['what'])}"


def _need(found: re.Match[str]) -> str:
    return f"Users need to {_users(found['what'])}"


def _of_somebody(found: re.Match[str]) -> str:
    who = _DOERS.get(found["who"].lower()) or _of_system(found["who"])
    return f"{who} should {_of_system(found['what'])}"


_DOERS = {
    **dict.fromkeys(("it", "you", "this", "that"), "the system"),
    "them": "they",
    "him": "he",
    "her": "she",
    "me": "the user",
    "us": "users",
}


def _to_be_so(found: re.Match[str]) -> str:
    return f"{found['who']} should be {found['what']}"


def _thing(found: re.Match[str]) -> str:
    what = _of_system(found["what"])
    must = "must" if found["wish"].lower() in {"need", "insist on", "must have"} else "should"
    return f"There {must} be {what}"


def _supposed(found: re.Match[str]) -> str:
    return f"{_of_system(found['who'])} should {_of_system(found['what'])}"


def _order(found: re.Match[str]) -> str:
    what = found["what"]
    return f"The system should {_of_system(what[0].lower() + what[1:])}"


def _ban(found: re.Match[str]) -> str:
    return f"The system should never {_of_system(found['what'])}"


def _letting(found: re.Match[str]) -> str:
    return f"{found['who']} should be able to {found['what']}"


def _first_person(found: re.Match[str]) -> str:
    return f"Users {found['modal'].lower()} {_users(found['what'])}"


_GREAT = (
    r"(?:it|that|this|i|we)(?:'d| would|'ll| will) (?:be |have |really )?"
    r"(?:\w+ ){0,2}?(?:great|good|nice|lovely|perfect|helpful|useful|happy|glad|better|ideal|like|"
    r"love|help|marvellous|wonderful|splendid|handy|grateful)\b[^,]*?"
)
Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]


def _rule(name: str, pattern: str, build: Callable[[re.Match[str]], str]) -> Rule:
    return name, re.compile(pattern, re.I), build


_RULES: tuple[Rule, ...] = (
    _rule("need", rf"{_WISHES.format('need')} to (?P<what>(?!be\b).+)", _need),
    _rule("wish", rf"{_WISH} to (?:be able to )?(?P<what>.+)", _plain_wish),
    _rule("whose", rf"{_WISH} (?P<who>[^,.;]{{2,50}}?) to (?P<what>[a-z'-]+\b.*)", _of_somebody),
    _rule(
        "so",
        rf"{_WISH} (?P<who>it|them|this|that|everything)(?: to be)? (?P<what>(?!if\b|when\b).+)",
        _to_be_so,
    ),
    _rule("thing", rf"{_WISH} (?P<what>(?!(?:that|it|this|them|to|you|him|her)\b).+)", _thing),
    _rule(
        "supposed", rf"{_GREAT} if (?P<who>[^,]{{2,40}}?) (?:could|would) (?P<what>.+)", _supposed
    ),
    _rule(
        "supposed",
        rf"if (?:only )?(?P<who>[^,]{{2,40}}?) (?:could|would) (?P<what>.+?),?"
        rf" (?:then )?{_GREAT}.*",
        _supposed,
    ),
    _rule("asks", r"(?:could|can|would) (?P<who>it|you) (?:please )?(?P<what>.+)", _of_somebody),
    _rule("letting", r"let (?P<who>.+?) (?P<what>(?:see|pick|choose|\w+) .+)", _letting),
    _rule(
        "first",
        r"(?:i|we) (?P<modal>must|should|shall|have to|need to|ought to) (?P<what>.+)",
        _first_person,
    ),
    _rule("ban", r"(?:never|don't|do not) (?:ever )?(?P<what>.+)", _ban),
)


def of_statement(said: str, question: str = "") -> Worded:
    """What the client says."""
    text = named(without_reason(tidy(said)), question)
    bare = text.rstrip(".!?… ")
    for name, pattern, build in _RULES:
        found = pattern.fullmatch(bare)
        if found and _verbal(name, found):
            return Worded(sentence(build(found)), name)
    if _imperative(bare):
        found = re.fullmatch(r"(?:just |only |simply |please )*(?P<what>.+)", bare, re.I)
        return Worded(sentence(_order(found)), "order") if found else Worded(sentence(bare), TOLD)
    shape = "rule" if _DIRECTS.search(bare) else TOLD
    return Worded(sentence(neutral.third_person(bare)), shape)


def named(text: str, question: str) -> str:
    """With the subject of the question for the pronoun that the answer begins with."""
    found = _PRONOUN.match(text)
    asked = _INVERTED.fullmatch(tidy(question).rstrip("?.!… ")) if found else None
    spoken = asked["rest"].split() if asked else []
    who = " ".join(spoken[: verb_at(spoken)])
    tells = any(map(is_verb, who.split()[1:])) or len(who.split()) > LONGEST_NAME
    if not found or not who or tells or who.lower() in _POINTERS:
        return text
    return f"{upper_first(who)} {text[found.end() :]}"


_POINTERS = frozenset({"it", "they", "you", "we", "i", "this", "that"})
_PRONOUN = re.compile(r"(?:it|they) (?=must|should|has to|have to|needs? to|can|may|ought)", re.I)


def _verbal(name: str, found: re.Match[str]) -> bool:
    """Where a shape needs a verb, one is there."""
    if _SAYS.match(found["what"]):
        return False
    if name in {"thing", "so", "supposed"}:
        return True
    head = next((word for word in tokens(found["what"]) if word.lower() not in _ADVERBS), "")
    return is_verb(head)


_SAYS = re.compile(
    r"(?:also |only |just )*(?:say|add|take it|ask|mention|stress|point out|talk|correct|"
    r"admit|confess|return to|explain|tell you|know (?:what|how|why)|think|thank|apologi[sz]e)\b",
    re.I,
)
"""It speaks about the talk."""
_I_SAY = re.compile(
    rf"(?:i|we)(?:'d like to| would like to| \w+(?: to)?) (?:{_SAYS.pattern})", re.I
)


def is_fragment(said: str) -> bool:
    """A short answer that says nothing without its question."""
    text = tidy(said)
    spoken = tokens(text)
    if not spoken or len(spoken) > LONGEST_FRAGMENT or spoken[0].lower() in _WHO_TELLS:
        return False
    return not (_FINITE.search(text) or _PAST.search(text) or _imperative(text))


_WHO_TELLS = frozenset({"i", "we", "they", "he", "she", "you", "it", "nobody", "everybody"})
_PAST = re.compile(
    r"\b(?:came|died|went|got|told|said|had|sat|took|gave|made|lost|found|kept|saw|rang|tried)\b|"
    r"\b(?:i|we|they|he|she|you|people|customers) \w+",
    re.I,
)


# --- what the analyst offers --------------------------------------------------------------------

_MODAL = r"(?P<modal>should|shall|must|may|can|could|would|will|might|do|does)"
_INVERTED = re.compile(rf"(?:(?P<before>[^?]{{2,90}}?)[,:;–-]+ )?{_MODAL} (?P<rest>.+)", re.I)
_IS_SO = re.compile(
    r"(?P<is>is|are) (?P<who>(?:an?|the|all|every|each|no|any|\w+s)\b[^,]{0,40}?) "
    r"(?P<what>(?:always |only |ever )?(?:allowed|required|needed|necessary|visible|forbidden|"
    r"permitted|mandatory|optional|enough|to be)\b.*)",
    re.I,
)
_TO_YOU = re.compile(
    r"(?:you|they) (?:also |rather |perhaps |still )*(?:want|need|like|wish|prefer|expect)"
    r"(?: (?P<who>[^,]{2,40}?))? to (?:be able to )?(?P<what>[a-z'-]+\b.*)",
    re.I,
)
_THING_TO_YOU = re.compile(
    r"(?:you|they) (?:also |rather |perhaps |still )*(?:want|need|like|care for) (?P<what>.+)", re.I
)
_BARE_THING = re.compile(
    r"(?:and |or |so |then |what about |how about |any need for |is there (?:any )?need for |"
    r"(?:do you |would you |you )?want |need |maybe |perhaps )*(?P<what>.+)",
    re.I,
)
_HELPS = re.compile(
    r"(?:it|that|this) (?:be |also )?(?:help|useful|good|nice|enough|of \w+)\b", re.I
)
_OPEN = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b(?! about\b)", re.I)
_ABOUT_TALK = re.compile(
    r"\bany(?:thing|one|body)? (?:\w+ ){0,3}(?:questions?|comments?|else|to (?:add|say|ask))\b|"
    r"\b(?:share any|stories|ready to (?:talk|start|begin))\b|\b(?:hear|see) (?:me|us|my screen)\b|"
    r"\b(?:hear|catch|get) (?:you|that)\b|"
    r"\b(?:is this|is now|a good time|last (?:one|question)|next (?:time|week)|"
    r"(?:shall|should|may|can|could) (?:i|we) (?:\w+ )?(?:stop|ask|start|begin|go on|move|send you|"
    r"call|meet|use the|record|write|draw|note|put|leave))\b|"
    r"^\W*(?:(?:so|okay|right|well)\W+)*let me (?:\w+ )?(?:recap|repeat|sum|check)\b|"
    r"^\W*(?:(?:so|okay|right|well|and|please|now|first|just)\W+)*(?:describe|tell|explain|share|"
    r"walk|talk|elaborate)\b(?: me| us)? (?:the|your|about|through|how|what|why|a bit|more)\b|"
    r"\b(?:did you mean|a follow-up|as you mentioned|the next question)\b",
    re.I,
)
"""It asks for nothing that the software has to do."""


def is_open(question: str) -> bool:
    return _OPEN.search(question) is not None


def about_the_talk(said: str) -> bool:
    return _ABOUT_TALK.search(said) is not None or _I_SAY.match(tidy(said)) is not None


def of_offer(question: str) -> Worded | None:
    """What the analyst proposes, as a statement; none where no plain shape fits."""
    text = tidy(question).rstrip("?.!… ")
    if so := _IS_SO.fullmatch(text):
        return Worded(sentence(f"{so['who']} {so['is'].lower()} {so['what']}"), "offer")
    found = _INVERTED.fullmatch(text)
    if found:
        told = _turned(found["modal"].lower(), found["rest"])
        if told is None:
            return None
        before = found["before"]
        return Worded(sentence(f"{before}: {told}" if before else told), "offer")
    if not question.rstrip("\"') ").endswith("?"):
        spoken = text.split(" ", 1)[0].lower() in _AUXILIARIES
        return None if spoken else Worded(sentence(neutral.third_person(text)), "summary")
    what = _BARE_THING.fullmatch(text)
    if what and not _FINITE.search(text) and len(tokens(text)) <= LONGEST_FRAGMENT:
        if _imperative(what["what"]):
            return Worded(
                sentence(f"The system should {_of_system(_lower(what['what']))}"), "offer"
            )
        if _tells(what["what"].split()):
            return Worded(sentence(_of_system(what["what"])), "summary")
        if _names_thing(what["what"]):
            return Worded(sentence(f"There should be {_of_system(_lower(what['what']))}"), "thing")
        return None
    if what and _FINITE.search(text) and not is_open(text):
        return Worded(sentence(_of_system(text)), "summary")
    return None


def _tells(spoken: list[str]) -> bool:
    """ "Treatments stay on the phone": somebody or something, and what it does."""
    at = verb_at(spoken)
    if not at or at + 1 >= len(spoken) or not spoken[at - 1].lower().endswith("s"):
        return False
    return spoken[at].lower() not in _ALSO_NOUNS and spoken[at + 1].lower() in _not_before_verb()


def _names_thing(text: str) -> bool:
    """It begins as what can be there does."""
    spoken = [word.lower() for word in tokens(text)]
    head = spoken[0]
    if head in words("determiners") - {"no", "both", "all", "every", "each"}:
        return head not in {"the", "this", "that"} or len(spoken) > 2
    dull = words("prepositions") | words("pronouns") | words("auxiliaries") | _ADVERBS
    return head not in dull and not head.endswith(("ed", "ing", "ly")) and not head[0].isdigit()


def _lower(text: str) -> str:
    head = text.split(" ", 1)[0]
    return text if sum(map(str.isupper, head)) > 1 or head == "I" else text[:1].lower() + text[1:]


def _turned(modal: str, rest: str) -> str | None:
    """ "Should the app remind people" is "The app should remind people"."""
    wish = _TO_YOU.fullmatch(rest)
    if wish and (modal in {"do", "would", "does"}):
        what = _of_system(wish["what"])
        if wish["who"]:
            return f"{_subject(wish['who'])} should {what}"
        return f"Users should be able to {_persons(what, {'the user': 'them'})}"
    thing = _THING_TO_YOU.fullmatch(rest)
    if thing and modal in {"do", "would"}:
        return f"There should be {_of_system(thing['what'])}"
    if _HELPS.match(rest):
        return f"{rest.split(' ', 1)[0]} {modal} {_of_system(rest.split(' ', 1)[1])}"
    if rest.lower().startswith("there be "):
        return f"There should be {_of_system(rest[9:])}"
    spoken = rest.split()
    at = verb_at(spoken)
    of_habits = modal in {"do", "does"} and _PERSON_ASKED.match(rest)
    if not at or of_habits:
        return None
    who, what = _subject(" ".join(spoken[:at])), _of_system(" ".join(spoken[at:]))
    able = modal in {"may", "can", "could"} and not _SOFTWARE.fullmatch(who)
    joined = "should be able to" if able else "should"
    return f"{who} {joined} {_objects(what)}"


_PERSON_ASKED = re.compile(r"(?:you|they|people|we)\b", re.I)
_SOFTWARE = re.compile(
    r"it|this|that|(?:the |this )?(?:system|app|application|software|tool|program|platform|site)",
    re.I,
)


def _objects(what: str) -> str:
    return re.sub(r"\byou\b", "the user", what)


# --- a question with its short answer -----------------------------------------------------------

_WHO = re.compile(rf"(?:and )?who(?: else)? {_MODAL} (?:be able to )?(?P<what>.+)", re.I)
_WHAT = re.compile(
    r"(?:and )?what(?: else)? (?P<modal>should|shall|must|would|do(?= you (?:want|need)))"
    r" (?P<rest>.+)",
    re.I,
)
_HOW = re.compile(
    r"(?:and )?(?P<how>how \w+|how|when|where|by when|at what \w+|which [\w ]+?|what [\w ]+?)"
    r" (?P<modal>should|shall|must|may|can|could|would|will|might) (?P<rest>.+)",
    re.I,
)


def of_answer(answer: str, question: str) -> Worded | None:
    """A fragment joined to the question that it answers."""
    own = without_reason(tidy(answer)).rstrip(".!?… ")
    asked = tidy(question).rstrip("?.!… ")
    if not tokens(own) or not tokens(asked):
        return None
    for pattern, join in ((_WHO, _by_whom), (_WHAT, _does_what), (_HOW, _does_how)):
        found = pattern.fullmatch(asked)
        if found and (told := join(found, own)):
            return Worded(sentence(told), "answer")
    offered = None if is_open(asked) else of_offer(question)
    if offered and content_words(own) <= content_words(offered.text):
        return Worded(offered.text, "limit")
    if offered:
        return Worded(sentence(f"{offered.text.rstrip('.')}: {_lower(own)}"), "limit")
    return Worded(f"{upper_first(asked)}? – {upper_first(own)}.", ASKED)


def _by_whom(found: re.Match[str], own: str) -> str:
    modal = found["modal"].lower()
    return f"{_of_system(own)} {'may' if modal in {'can', 'could'} else modal} {found['what']}"


def _does_what(found: re.Match[str], own: str) -> str | None:
    if found["rest"].lower().split()[-1] == "do":
        return None
    told = _turned(found["modal"].lower(), found["rest"])
    return f"{told} {_lower(_of_system(own))}" if told else None


def _does_how(found: re.Match[str], own: str) -> str | None:
    told = _turned(found["modal"].lower(), found["rest"])
    return f"{told}: {_lower(_of_system(own))}" if told else None


# --- what an answer adds to an offer ------------------------------------------------------------

_LIMIT = re.compile(
    r"(?:^|[,;:–-] *|\bbut )(?P<limit>(?:but (?:only|not)|only|as long as|provided|unless|except|"
    r"so long as|up to|at most|at least|within|not (?:for|to|in|by|on|after|before)|"
    r"if (?!i\b|you\b)|in addition) .+)",
    re.I,
)


def with_limit(offer: Worded, answer: str) -> Worded:
    """The offer with the limit under which it was accepted."""
    own = without_reason(tidy(answer)).rstrip(".!?… ")
    found = _LIMIT.search(own)
    limit = found["limit"] if found else own
    short = 2 <= len(tokens(limit)) <= LONGEST_FRAGMENT
    if not short or not (found or _adds(own)):
        return offer
    return Worded(sentence(f"{offer.text.rstrip('.')}, {_lower(_of_system(limit))}"), "limit")


def _adds(own: str) -> bool:
    """Nothing but where, when or how."""
    head = tokens(own)[0].lower()
    return is_fragment(own) and (head in words("prepositions") or head[0].isdigit())
