"""The words of a requirement that somebody chooses by: "Flat Size", "Find a flat with a lift"."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.choices import UNNAMED
from pipelines.requirements.extraction.phrases import is_plural
from pipelines.requirements.extraction.state import Criterion
from pipelines.requirements.lexicon import criteria_map, criteria_words, mapping, quality_of, words
from pipelines.requirements.text import base, lower_first, plain, singular, tokens, upper_first

TITLE_WORDS = 5
_HOW = re.compile(r"^how (?:well )?(?P<how>[\w-]+)(?P<rest>.*)$", re.I)
_KIND = re.compile(
    r"^(?:what|which)(?: (?:kind|kinds|type|types|sort|sorts) of)? (?P<rest>.+)$", re.I
)
_SUBJECT = re.compile(
    r"\b(?:(?:it(?! (?:will )?takes?\b)|the place|this place|that place)(?P<is>'s|'re)?(?= |$)"
    r"|(?:this|that)(?= (?:is|has|can|will|are)\b))",
    re.I,
)
_WHO_IS = re.compile(
    r"^(?P<who>\w+) (?:who|that)(?:'s|'re| is| are)(?P<not> not)?(?: very| so| too| really)?"
    r" (?P<how>.+)$",
    re.I,
)
_PLACED = re.compile(r"\b(?:on|in|at|from|of|near|around|during|by)\b", re.I)
_OWNED = re.compile(r"\b(?:my|our|your) ", re.I)
_ANYONE = re.compile(
    r"\b(?:one|you|i|we) (?:can|could|might|may|should|will|would|'ll|am going to|have to|"
    r"need to) ",
    re.I,
)
_VERBS_AFTER = re.compile(
    r"\b(?:is|are|was|were|'s|there|it|they|has|have|costs?|takes?|looks?|to|during|"
    r"of|in|one|you|i)\b",
    re.I,
)


def title_of(criterion: Criterion) -> str:
    name = tokens(_TITLES.get(criterion.form, _thing_title)(criterion))
    name = name[1:] if name[0] == UNNAMED and len(name) > 1 else name
    return _capitals(_whole(name[:TITLE_WORDS])) or _capitals([criterion.noun])


def _whole(spoken: list[str]) -> list[str]:
    """Without a preposition or article left over at the end."""
    loose = words("prepositions") | words("determiners") | words("auxiliaries")
    while spoken and spoken[-1].lower() in loose:
        spoken = spoken[:-1]
    return spoken


def _thing_title(criterion: Criterion) -> str:
    spoken = tokens(_OWNED.sub("", re.split(r"\b(?:that|which|who|where)\b", criterion.what)[0]))
    spoken = spoken[1:] if spoken[:1] and spoken[0].lower() in {"a", "an", "the", "to"} else spoken
    if len(spoken) == 1 and spoken[0].lower() == criterion.noun:
        spoken = [word for word in tokens(criterion.what)[1:] if _names(word)][:2]
    name = " ".join(spoken)
    if criterion.negative:
        return f"no {name}"
    return f"{criterion.noun} {name}" if len(spoken) == 1 else name


def _names(word: str) -> bool:
    dull = words("determiners") | words("auxiliaries") | words("pronouns") | words("prepositions")
    return word.lower() not in dull and base(word) is None


def _person_title(criterion: Criterion) -> str:
    """ "Avoid a flatmate who is not clean" wants a "clean flatmate"."""
    who = _WHO_IS.match(criterion.what)
    if who is None:
        return _thing_title(criterion)
    twice = bool(who["not"]) == criterion.negative
    return f"{'' if twice else 'no '}{who['how']} {who['who']}"


def _quality_title(criterion: Criterion) -> str:
    for word in tokens(criterion.what):
        if quality := quality_of(word):
            return f"{criterion.noun} {quality}"
    return f"{criterion.what} {criterion.noun}"


def _asked_title(criterion: Criterion) -> str:
    how = _HOW.match(criterion.what)
    if how and how["how"].lower() in {"much", "many"}:
        thing = _VERBS_AFTER.split(how["rest"])[0]
        return thing if len(tokens(thing)) > 1 else f"{criterion.noun} {thing}"
    if how and how["how"].lower() in words("determiners"):
        return _whether_title(criterion)
    if how:
        measured = criteria_map("qualities").get(how["how"].lower(), how["how"])
        return f"{criterion.noun} {measured}"
    kind = _KIND.match(criterion.what)
    if kind:
        return f"{criterion.noun} {_VERBS_AFTER.split(kind['rest'])[0]}"
    return _whether_title(criterion)


def _whether_title(criterion: Criterion) -> str:
    spoken = tokens(criterion.what)[criterion.form == "question" :]
    known = [word.lower() for word in spoken if word.lower() in criteria_map("qualities")]
    if known:
        return f"{criterion.noun} {criteria_map('qualities')[known[0]]}"
    dull = words("determiners") | words("auxiliaries") | words("pronouns") | words("prepositions")
    nouns = mapping("words", "nouns")
    kept = [nouns.get(base(word) or "", word) for word in spoken if word.lower() not in dull]
    return " ".join(word for word in kept if word != "well")


def _part_title(criterion: Criterion) -> str:
    """ "The music is not too loud": the music."""
    said = re.split(r"\b(?:is|can)\b", criterion.what)[0]
    return f"{criterion.noun} {said}" if len(tokens(said)) < 2 else said


_TITLES = {
    "part": _part_title,
    "does": _whether_title,
    "question": _asked_title,
    "quality": _quality_title,
    "person": _person_title,
}


def action_of(criterion: Criterion) -> str:
    if criterion.told:
        return upper_first(_told(criterion))
    made = {"question": _see, "quality": _be, "own": _own, "person": _own, "doing": _doing}
    made |= {"part": _part, "does": _does}
    return upper_first(plain(made.get(criterion.form, _thing)(criterion)))


def _told(criterion: Criterion) -> str:
    told = about(criterion.told, criterion.noun)
    if re.match(r"(?:if|whether|how|what)\b", told, re.I):
        return f"see {_whether(told)}"
    first = tokens(told)[0].lower()
    if first in words("verbs") and first not in criteria_map("qualities"):
        return told
    if criterion.what.lower() in criteria_map("sought"):
        return f"find {article(criterion.noun)} that is {told}"
    return f"find {article(criterion.noun)} with {told} {criterion.what}"


def _see(criterion: Criterion) -> str:
    return f"see {_whether(about(criterion.what, criterion.noun))}"


def _whether(text: str) -> str:
    return re.sub(r"^if\b", "whether", text, flags=re.I)


def _be(criterion: Criterion) -> str:
    what = about(criterion.what, criterion.noun)
    link = "" if what.split()[0] == "with" else "that is "
    return f"{'avoid' if criterion.negative else 'find'} {article(criterion.noun)} {link}{what}"


def _own(criterion: Criterion) -> str:
    what = re.sub(
        r"\b(?:place|one)(s?)\b", rf"{criterion.noun}\1", lower_first(criterion.what), count=1
    )
    verb = "avoid" if criterion.negative else "find"
    bare = what.split()[0] in {"a", "an"} or is_plural(what)
    return f"{verb} {what if bare else article(what)}"


def _doing(criterion: Criterion) -> str:
    doing = about(re.sub(r"^to ", "", criterion.what, flags=re.I), criterion.noun)
    if not criterion.what.startswith("to "):
        return f"find {article(criterion.noun)} where one can {doing}"
    return f"avoid to {doing}" if criterion.negative else doing


def _part(criterion: Criterion) -> str:
    return f"find {article(criterion.noun)} where {_OWNED.sub('', criterion.what)}"


def _does(criterion: Criterion) -> str:
    verb, _, rest = criterion.what.partition(" ")
    verb += "es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s"
    return f"find {article(criterion.noun)} that {verb} {rest}"


def _thing(criterion: Criterion) -> str:
    what, noun = plain(_OWNED.sub("", criterion.what)), criterion.noun
    if criterion.negative:
        return f"find {article(noun)} without {what}"
    if criterion.verb == "take":
        return f"take {what} into account"
    if criterion.verb in {"see", "check", "read"}:
        return f"{criterion.verb} the {what}" + ("" if _PLACED.search(what) else f" of the {noun}")
    sought = criteria_map("sought").get(what)
    if sought:
        return f"find {_fitting(sought, noun)}"
    known = criteria_words("measured") | set(criteria_map("qualities").values())
    first, last = what.split()[0].lower(), tokens(what)[-1].lower()
    measured = {last, singular(last)} & known and first not in criteria_map("qualities")
    if measured and criterion.verb != "choose":
        return f"see the {what} of the {noun}"
    link = "by its" if criterion.verb == "choose" else "with"
    return f"{criterion.verb} {article(noun)} {link} {what}"


def _fitting(sought: str, noun: str) -> str:
    return article(sought.removeprefix("an ").removeprefix("a ").replace("{}", noun))


def about(text: str, noun: str) -> str:
    """ "how far it is from my home" as "how far the flat is from home"."""
    text = _ANYONE.sub("to ", _SUBJECT.sub(lambda found: _named(found, noun), text, count=1))
    text = re.sub(rf"\b(?:that|this|my|an?) (?={re.escape(noun)}\b)", "the ", text, flags=re.I)
    return plain(_OWNED.sub("", text))


def _named(found: re.Match[str], noun: str) -> str:
    return f"the {noun}" + {"'s": " is", "'re": " is"}.get((found["is"] or "").lower(), "")


def article(phrase: str) -> str:
    return f"{'an' if phrase[:1].lower() in 'aeiou' else 'a'} {phrase}"


def _capitals(spoken: list[str]) -> str:
    return " ".join(upper_first(word) for word in spoken)


def key_of(criterion: Criterion) -> tuple[str, ...]:
    """The words that tell what is named, the noun itself last."""
    dull = {criterion.noun, "and", "of", "the", "good", "overall"}
    spoken = [singular(word.lower()) for word in tokens(title_of(criterion))]
    return tuple(word for word in spoken if word not in dull)
