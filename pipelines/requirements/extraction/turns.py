"""Who speaks to whom: the sides of a talk, and its sentences with the question that they answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from pipelines.requirements.extraction.state import Side, Utterance
from pipelines.requirements.lexicon import roles
from pipelines.requirements.text import spans, tokens
from pipelines.types import Message

_SALUTES = re.compile(
    r"(?:dear|hi|hello) \w[\w .'-]{0,30}[,:]|"
    r"(?:(?:with )?(?:kind|best|warm) (?:regards|wishes)|yours (?:sincerely|faithfully|truly)|"
    r"sincerely|cheers),?(?: [A-Z].{0,30})?",
    re.I,
)
ASKING_SHARE = 0.5  # of the messages of somebody who asks the questions
ANSWERING_SHARE = 0.2  # … and of somebody who answers them
ENOUGH = 4  # messages of each side before its label is doubted


def sides(messages: Sequence[Message]) -> dict[tuple[str, str], Side]:
    """On which side each speaker is, by role; by who asks where the roles do not tell.

    Roles that say the opposite of what people do are taken for swapped.
    """
    spoken = [message for message in messages if _role(message) not in roles("silent")]
    speakers = {_speaker(message): _role(message) for message in spoken}
    known: dict[tuple[str, str], Side] = {}
    for speaker, role in speakers.items():
        if role in roles("asking"):
            known[speaker] = "analyst"
        elif role in roles("answering"):
            known[speaker] = "client"
    if _swapped(spoken, known):
        known = {key: "client" if side == "analyst" else "analyst" for key, side in known.items()}
    unknown = [speaker for speaker in speakers if speaker not in known]
    if "analyst" not in known.values() and len(speakers) > 1 and unknown:
        said = Counter(map(_speaker, spoken))
        asked = Counter(_speaker(message) for message in spoken if "?" in message.content)
        first = max(unknown, key=lambda speaker: asked[speaker] / said[speaker])
        if asked[first]:
            known[first] = "analyst"
    return {speaker: known.get(speaker, "client") for speaker in speakers}


def client_messages(messages: Sequence[Message]) -> set[int]:
    on = sides(messages)
    return {message.index for message in messages if on.get(_speaker(message)) == "client"}


def _role(message: Message) -> str:
    return message.role.strip().lower()


def _speaker(message: Message) -> tuple[str, str]:
    return _role(message), message.speaker


def _swapped(messages: Sequence[Message], known: Mapping[tuple[str, str], Side]) -> bool:
    said, asked = Counter[Side](), Counter[Side]()
    for message in messages:
        if side := known.get(_speaker(message)):
            said[side] += 1
            asked[side] += "?" in message.content
    if min(said["analyst"], said["client"]) < ENOUGH:
        return False
    shares = {side: asked[side] / said[side] for side in said}
    return shares["client"] >= ASKING_SHARE and shares["analyst"] <= ANSWERING_SHARE


def read_sentences(messages: Sequence[Message]) -> list[Utterance]:
    """Everything said, sentence by sentence; the client's with what was asked before."""
    on = sides(messages)
    spoken: list[Utterance] = []
    asked: Utterance | None = None
    for message in messages:
        side = on.get(_speaker(message))
        if side is None:
            continue
        turn = list(_sentences(message, side))
        if side == "analyst":
            asked = turn[-1] if turn else asked
        else:
            turn = [replace(each, asked=asked) for each in turn]
        spoken += turn
    return spoken


def _sentences(message: Message, side: Side) -> Iterator[Utterance]:
    said = [
        span
        for span in spans(message.content)
        if tokens(span.text) and not _SALUTES.fullmatch(span.text)
    ]
    for at, span in enumerate(said):
        yield Utterance(
            message=message.index,
            text=span.text,
            side=side,
            question=span.text.rstrip("\"') ").endswith("?"),
            start=span.start,
            at=at,
            of=len(said),
        )


def turns(spoken: Sequence[Utterance]) -> list[tuple[Utterance, ...]]:
    """The sentences of one side until the other one speaks."""
    return [tuple(turn) for _, turn in groupby(spoken, key=lambda each: each.side)]
