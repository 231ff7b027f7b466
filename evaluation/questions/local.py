"""Questions from templates and the words of a message: repeatable by seed, and without a model.

Each is verified as far as words allow: no other message contains what it asks for. They name the
words that they look for, which favours retrieval by words; results on them say little about
people's questions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from evaluation.questions.sample import Asked, Talk, content_words, order_of
from pipelines.fingerprint import fingerprint
from pipelines.memory.text import spoken

GAP = "____"
AROUND = 4  # words before and after a gap
LONGEST = 400  # characters of a message that is quoted in a question or an answer


def version() -> str:
    return f"words/{fingerprint(Path(__file__).parent)}"


def questions(talk: Talk, seed: int) -> Iterator[Asked]:
    """At most one for each message, until the caller stops."""
    for at in order_of(talk, seed):
        draw = random.Random(f"{seed}:{talk.id}:{at}")
        kinds = [_statement, _when, _missing, _both]
        draw.shuffle(kinds)
        asked = (kind(talk, at, draw) for kind in kinds)
        if question := next(filter(None, asked), None):
            yield question


def _statement(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    two = _telling(talk, at, draw)
    message = talk.messages[at]
    if two is None:
        return None
    question = f"What did {message.speaker} say about “{two[0]}” and “{two[1]}”?"
    return Asked(talk.id, question, _quoted(message.text), (message.index,), "single-hop")


def _when(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    two = _telling(talk, at, draw)
    message = talk.messages[at]
    if two is None or not message.day:
        return None
    question = f"When did {message.speaker} write about “{two[0]}” and “{two[1]}”?"
    return Asked(talk.id, question, message.day, (message.index,), "temporal")


def _missing(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    """A cloze: a word that is in no other message is left out."""
    message = talk.messages[at]
    written = content_words(message.text)
    unique = [word for stem, word in written.items() if talk.places[stem] == [at]]
    if len(written) < 4 or not unique:
        return None
    word = draw.choice(unique)
    gapped = re.sub(rf"\b{word}\b", GAP, _quoted(message.text), flags=re.IGNORECASE)
    if gapped.count(GAP) != 1:
        return None
    question = f"Which word did {message.speaker} use at the gap in “{_near_the_gap(gapped)}”?"
    return Asked(talk.id, question, word, (message.index,), "single-hop")


def _both(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    """Two people, and a word that nobody else uses."""
    written = content_words(talk.messages[at].text)
    shared = [stem for stem in written if len(talk.places[stem]) == 2]
    draw.shuffle(shared)
    for stem in shared:
        first, second = (talk.messages[place] for place in talk.places[stem])
        if first.speaker != second.speaker:
            question = f"What did {first.speaker} and {second.speaker} say about “{written[stem]}”?"
            answer = f"{_quoted(first.text)} – {_quoted(second.text)}"
            return Asked(talk.id, question, answer, (first.index, second.index), "multi-hop")
    return None


def _telling(talk: Talk, at: int, draw: random.Random) -> tuple[str, str] | None:
    """Two words of the message that no other message has together."""
    written = content_words(talk.messages[at].text)
    rare = sorted(written, key=lambda stem: (len(talk.places[stem]), stem))[:4]
    draw.shuffle(rare)
    pairs = (pair for pair in combinations(rare, 2) if talk.holding(pair) == [at])
    pair = next(pairs, None)
    return (written[pair[0]], written[pair[1]]) if pair else None


def _near_the_gap(gapped: str) -> str:
    """Little enough of a message that it can't simply be looked up."""
    parts = gapped.split()
    at = next(place for place, part in enumerate(parts) if GAP in part)
    return " ".join(parts[max(at - AROUND, 0) : at + AROUND + 1])


def _quoted(text: str) -> str:
    text = " ".join(spoken(text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
