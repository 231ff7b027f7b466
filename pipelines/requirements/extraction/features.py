"""What speaks for and against a clause being a requirement, as numbers."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.discourse import own_words
from pipelines.requirements.extraction.state import Reading, Utterance
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import strip_openers, tokens

NAMES_PEOPLE = 8  # words
WEAK = 0.4  # of a cue: "can", "will", "prefer"
KINDS = ("obligation", "need", "wish", "request", "ability", "value")
SHAPES = ("imperative", "present", "fragment", "state")
SIGNALS = (
    "existing", "negate", "withdraw", "hedge", "fixed", "talk", "could", "must",
    "complaint", "past", "reason", "only",
)  # fmt: skip
NAMES = (
    *(f"cue:{kind}" for kind in KINDS),
    *(f"shape:{shape}" for shape in SHAPES),
    *(f"says:{name}" for name in SIGNALS),
    "answers a wish", "answers a fact", "unprompted", "starts its message", "opens the talk",
    "number", "asks back", "accepted proposal", "very short", "long", "speaks of self", "refuses",
    "says too little",
)  # fmt: skip
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half|double|"
    r"third)\b",
    re.I,
)
_SELF = re.compile(r"^(?:i|we|my|our|me|us)\b", re.I)


def features(
    text: str,
    reading: Reading,
    *,
    sentence: Utterance,
    question: Utterance | None,
    proposal: bool = False,
) -> dict[str, float]:
    own, plainly = own_words(text), strip_openers(text)
    found = {f"says:{name}": float(bool(signal(name).search(plainly))) for name in SIGNALS}
    if found["says:existing"] and signal("change").search(plainly):
        found["says:existing"] = 0.0
    if reading.kind == "wish":
        found["says:past"] = 0.0  # "if the page had …" is no past
    found |= {f"cue:{kind}": reading.strength * (reading.kind == kind) for kind in KINDS}
    found |= {f"shape:{one}": float(reading.cue is None and reading.shape == one) for one in SHAPES}
    found |= _place(sentence, question)
    size = len(tokens(own))
    found |= {
        "number": float(bool(_NUMBER.search(own))),
        "asks back": float(sentence.question),
        "accepted proposal": float(proposal),
        "very short": float(size <= 2),
        "long": float(size > 30),
        "speaks of self": float(
            bool(_SELF.match(own)) and reading.strength < WEAK and not _names_people(own, question)
        ),
        "says too little": float(len(tokens(reading.predicate)) <= 1),
        "refuses": float(bool(signal("refuse").match(text))),
    }
    return found


def _names_people(text: str, question: Utterance | None) -> bool:
    """ "Me and the deputy", after "Who may change it?"."""
    asked = question is not None and re.search(r"\bwho(?:m|se)?\b", question.text, re.I)
    return bool(asked) and len(tokens(text)) <= NAMES_PEOPLE


def _place(sentence: Utterance, question: Utterance | None) -> dict[str, float]:
    fact = question is not None and sentence.first and bool(signal("now").search(question.text))
    wish = question is not None and not fact and bool(signal("wanted").search(question.text))
    return {
        "answers a wish": float(wish),
        "answers a fact": float(fact),
        "unprompted": float(question is None),
        "starts its message": float(sentence.first),
        "opens the talk": float(sentence.message <= 1),
    }
