"""The fields of a requirement: title as a noun phrase, action as verb and object, its actor, its
type and priority, and checks."""

from __future__ import annotations

import re

from pipelines.requirements.extraction import criteria_wording, measures
from pipelines.requirements.extraction.actors import people, resolve
from pipelines.requirements.extraction.clauses import finite
from pipelines.requirements.extraction.features import MATCH, match_features, probability
from pipelines.requirements.extraction.state import Commitment, Context, Reading, Unworded
from pipelines.requirements.labels import Requirement
from pipelines.requirements.lexicon import load, mapping, signal, type_words, words
from pipelines.requirements.text import (
    base,
    lower_first,
    plain,
    singular,
    strip_openers,
    tokens,
    upper_first,
)

TITLE_WORDS = 5
ACTION_CHARACTERS = 240
MOST_CRITERIA = 5
SHORT_ANSWER = 8  # words; a longer answer says by itself what it is about
_ASKING = re.compile(
    r"^(?:(?:what|who|where|when|which|why|"
    r"how(?: (?:fast|long|much|many|often|current|big|soon|far|old))?)\s+)?"
    r"(?:(?:about|if|should|shall|does|do|did|must|may|can|could|would|is|are|will|has|have)\s+)*"
    r"(?:(?:you|we)\s+(?:want|need|like)\s+)?",
    re.I,
)
_EMPTY_TAIL = re.compile(r"\s+(?:have to be|have to|be|happen|do|look like|need|want|like)$", re.I)
_POLITE = re.compile(
    r",?\s+(?:please|too|as well|of course|ideally|at all|somehow|or something)$", re.I
)
_DULL = re.compile(
    r"\w+ly|\d.*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|proper|new|more|less", re.I
)
FUNCTIONAL = "functional"
# From general to special; when two fit equally well, the more special one is taken.
TYPES = (FUNCTIONAL, "non-functional", "interface", "data", "security", "constraint")
TYPE_ENOUGH = 2  # words of a type, by weight
_OBJECT_WORDS = 3
_POINTING = re.compile(
    r"^(?P<verb>[\w-]+(?: (?:also|always|only))?) (?P<what>it|them|those|this|that)"
    r"(?=$|[,.;]| (?:by|in|on|at|from|to|with|for|as|within|before|after|when|if|again|later)\b)",
    re.I,
)


def topic(question: str) -> str:
    """What a question is about, without its asking words."""
    rest = _ASKING.sub("", strip_openers(question).rstrip(" ?.!"), count=1)
    return _EMPTY_TAIL.sub("", plain(rest))


def worded(commitment: Commitment, context: Context) -> Requirement | Unworded:
    """The requirement that a commitment makes, or why it makes none."""
    own = commitment.sentence
    earlier = [
        one.text for one in context.said if (one.message, one.start) < (own.message, own.start)
    ]
    actor = actor_of(commitment, earlier)
    before = context.before["action"] if context.before else ""
    action = with_object(action_of(commitment), before)
    full = " ".join([commitment.text, action, *commitment.details])
    return {
        "title": title_of(commitment, action),
        # Whatever somebody chooses by is something that can be searched for: a function.
        "type": FUNCTIONAL if commitment.criterion else type_of(full),
        "actor": actor,
        "action": action,
        "condition": upper_first(commitment.reading.condition or "") or None,
        "acceptance_criteria": criteria_of(commitment, actor=actor, action=action),
        "priority": priority_of(full, commitment.reading),
        "source_messages": list(commitment.messages),
        "rationale": rationale_of(commitment),
        "confidence": round(probability(MATCH, match_features(commitment)), 4),
    }


def rationale_of(commitment: Commitment) -> str:
    where = commitment.sentence.message
    reading = commitment.reading
    if commitment.sentence.asked:
        return f"Proposed in message {where} and accepted in message {max(commitment.messages)}"
    if reading.cue:
        return f"Stated with “{reading.cue}” in message {where}"
    if commitment.question:
        return f"Answer in message {where} to the question in message {commitment.question.message}"
    return (
        f"Stated as {'an order' if reading.shape == 'imperative' else 'a rule'} in message {where}"
    )


def action_of(candidate: Commitment) -> str:
    if candidate.criterion:
        return criteria_wording.action_of(candidate.criterion)[:ACTION_CHARACTERS]
    reading = candidate.reading
    phrase = reading.predicate
    if reading.shape == "fragment":
        phrase = _answered(candidate)
    elif reading.shape in {"noun", "state"} and not _starts_with_verb(phrase):
        phrase = _given(phrase)
    if reading.negative:
        phrase = f"never {phrase}"
    phrase = _POLITE.sub("", re.sub(r"\b(?:our|my)\b", "the", phrase))
    return upper_first(plain(phrase)[:ACTION_CHARACTERS].rstrip(" ,.;:"))


def _starts_with_verb(phrase: str) -> bool:
    return phrase.split(" ", 1)[0].lower() in words("verbs")


def _given(thing: str) -> str:
    """The verb that goes with a thing that was named without one."""
    runs = noun_phrases(tokens(thing)[:10])
    named = " ".join(singular(word.lower()) for word in runs[0]) if runs else ""
    verbs = load("words")["given"]
    fitting = (verb for verb, things in verbs.items() if named.endswith(tuple(things)))
    return f"{next(fitting, 'provide')} {lower_first(thing)}"


def _answered(candidate: Commitment) -> str:
    """A bare answer ("only the branch head") together with what was asked."""
    own = lower_first(candidate.reading.predicate)
    about = topic(candidate.question.text) if candidate.question else ""
    asked = finite(about)
    if asked and people(own):
        return f"{asked.predicate}: {own}"
    subject = noun_phrases(tokens(about))
    named = bool(subject) and all(base(word) is None for word in subject[0])
    if named and len(tokens(own)) < SHORT_ANSWER and candidate.sentence.first:
        return f"{_given(own)} for {' '.join(subject[0]).lower()}"
    return _given(own)


def title_of(candidate: Commitment, action: str) -> str:
    if candidate.criterion:
        return criteria_wording.title_of(candidate.criterion)
    spoken = tokens(re.split(r"[,;:]\s", action)[0])
    verb = base(spoken[0]) if spoken else None
    rest = spoken[1:] if verb else spoken
    phrases = noun_phrases(rest)
    if not phrases:
        return _capitals(spoken[:TITLE_WORDS]) or "Requirement"
    named = [singular(word) for word in phrases[0][:3]]
    if len(phrases) > 1 and len(named) < 3 and _of_follows(rest, phrases[0]):
        named = [singular(word) for word in phrases[1][-2:]] + named
    doing = mapping("words", "nouns").get(verb or "")
    if doing and verb not in words("silent"):
        named = [*named, doing]
    return _capitals(named[:TITLE_WORDS])


def noun_phrases(spoken: list[str]) -> list[list[str]]:
    """Runs of words between determiners, prepositions and verbs like "is"."""
    breaks = words("determiners") | words("prepositions") | words("auxiliaries") | words("pronouns")
    runs: list[list[str]] = [[]]
    for word in spoken:
        if word.lower() in breaks or _DULL.fullmatch(word):
            runs.append([])
        else:
            runs[-1].append(word)
    return [run for run in runs if run]


def _of_follows(spoken: list[str], phrase: list[str]) -> bool:
    after = spoken.index(phrase[-1]) + 1
    return after < len(spoken) and spoken[after].lower() in {"of", "per", "for"}


def _capitals(spoken: list[str]) -> str:
    return " ".join(upper_first(word) for word in spoken)


def criteria_of(candidate: Commitment, *, actor: str, action: str) -> list[str]:
    """Checks from the amounts and conditions of the talk; always at least two."""
    said = " ".join([candidate.text, *candidate.details])
    drafted = [upper_first(plain(one)).rstrip(".!") for one in candidate.details]
    if candidate.criterion:
        drafted += criteria_wording.checks_of(candidate.criterion)
    else:
        drafted += measures.amounts(said)
    drafted += measures.conditions(candidate.reading.condition)
    never = action.removeprefix("Never ")
    can = "can" if never == action else "cannot"
    drafted.append(f"{actor} {can} {lower_first(never)}")
    drafted.append("Failure is shown with its reason")
    unique = list(dict.fromkeys(drafted))
    return unique if len(unique) <= MOST_CRITERIA else [*unique[: MOST_CRITERIA - 1], unique[-2]]


def actor_of(candidate: Commitment, earlier: list[str]) -> str:
    reading = candidate.reading
    if candidate.criterion:
        return candidate.actor
    if reading.shape == "fragment" and candidate.question:
        asked = finite(topic(candidate.question.text))
        named = people(candidate.text.split(",")[0])
        if named and asked:
            return named[0]
        return resolve(asked.subject, earlier=earlier) if asked else "System"
    return resolve(reading.subject, earlier=earlier)


def with_object(action: str, previous: str) -> str:
    """The action with "it" or "them" replaced, if the action before tells what is meant."""
    pointing = _POINTING.match(action)
    thing = _object_of(previous) if pointing and base(pointing["verb"].split()[0]) else ""
    plural = thing.endswith("s")
    if pointing is None or not thing or plural != (pointing["what"].lower() in {"them", "those"}):
        return action
    return f"{action[: pointing.start('what')]}the {thing}{action[pointing.end('what') :]}"


def _object_of(action: str) -> str:
    """What the verb of an action is done to: "Print the route map" is about the route map."""
    spoken = tokens(re.split(r"[,;:]", action)[0])
    if not spoken or base(spoken[0]) is None:
        return ""
    phrases = noun_phrases(spoken[1:])
    dull = words("openers")
    kept = [word for word in (phrases[0] if phrases else []) if word.lower() not in dull]
    return " ".join(kept[:_OBJECT_WORDS])


def type_of(text: str) -> str:
    scores = {kind: _type_score(kind, text) for kind in TYPES[1:]}
    best = max(TYPES[1:], key=lambda kind: (scores[kind], TYPES.index(kind)))
    return best if scores[best] >= TYPE_ENOUGH else FUNCTIONAL


def _type_score(kind: str, text: str) -> int:
    return sum(
        weight * len({match.lower() for match in pattern.findall(text)})
        for weight, pattern in type_words()[kind]
    )


def priority_of(text: str, reading: Reading) -> str:
    """What the speaker says outright counts more than the modal verb."""
    if reading.priority == "could" or signal("could").search(text):
        return "could"
    if reading.priority == "must" or signal("must").search(text) or signal("only").search(text):
        return "must"
    return "should"
