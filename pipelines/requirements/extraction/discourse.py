"""Who speaks to whom: the sides of a talk, its sentences with their acts, what a sum-up lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.clauses import find_cue, finite
from pipelines.requirements.extraction.state import Side, Utterance
from pipelines.requirements.lexicon import load, roles, signal, words
from pipelines.requirements.text import base, plain, spans, strip_openers, tokens
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
LIST_ITEM = 10  # words of a piece of "so: A, B and C"


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
        elif role in load("acts")["client_roles"]:
            known[speaker] = "client"
    if _swapped(spoken, known):
        known = {key: "client" if side == "analyst" else "analyst" for key, side in known.items()}
    unknown = [speaker for speaker in speakers if speaker not in known]
    if "analyst" not in known.values() and len(speakers) > 1 and unknown:
        said = Counter(map(_speaker, spoken))
        asked = Counter(_speaker(message) for message in spoken if _asks(message))
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


def _asks(message: Message) -> bool:
    return "?" in message.content


def _swapped(messages: Sequence[Message], known: Mapping[tuple[str, str], Side]) -> bool:
    said, asked = Counter[Side](), Counter[Side]()
    for message in messages:
        if side := known.get(_speaker(message)):
            said[side] += 1
            asked[side] += _asks(message)
    if min(said["analyst"], said["client"]) < ENOUGH:
        return False
    shares = {side: asked[side] / said[side] for side in said}
    return shares["client"] >= ASKING_SHARE and shares["analyst"] <= ANSWERING_SHARE


def read_sentences(messages: Sequence[Message]) -> list[Utterance]:
    """Everything said, sentence by sentence, with what is done by it."""
    on = sides(messages)
    spoken: list[Utterance] = []
    asked = False
    for message in messages:
        side = on.get(_speaker(message))
        if side is None:
            continue
        turn = list(_sentences(message, side))
        if side == "analyst":
            done = acts.acts_of_analyst(turn)
            asked = any({"proposal", "question", "recap"} & set(each) for each in done) or asked
        else:
            done = [acts.acts_of_client(each, asked=asked) for each in turn]
            asked = asked and all(each == ("clarification",) for each in done)
        spoken += [replace(each, acts=what) for each, what in zip(turn, done, strict=True)]
    return spoken


def _sentences(message: Message, side: Side) -> Iterator[Utterance]:
    heading = ""
    first = True
    for span in spans(message.content):
        text = span.text
        if not tokens(text) or _SALUTES.fullmatch(text):
            continue  # a hum, a laugh that was noted, the head of a letter
        yield Utterance(
            message=message.index,
            text=text,
            side=side,
            question=text.rstrip("\"') ").endswith("?"),
            first=first,
            start=span.start,
            end=span.end,
            speaker=message.speaker,
            item=span.item,
            number=span.number,
            heading=heading if span.item else "",
        )
        first = False
        if not span.item:
            heading = text.rstrip(":") if text.endswith(":") else ""


def turns(spoken: Sequence[Utterance]) -> Iterator[list[Utterance]]:
    """The sentences of one message after the other."""
    for _, turn in groupby(spoken, key=_message):
        yield list(turn)


def _message(sentence: Utterance) -> int:
    return sentence.message


def own_words(text: str) -> str:
    """An answer without its yes or no."""
    rest = text
    for name in ("accept", "refuse"):
        rest = signal(name).sub("", rest, count=1) if signal(name).match(rest) else rest
    return strip_openers(plain(rest).lstrip(" ,.!-"))


_NEXT = re.compile(r"[,;]\s+(?:and |as well as |plus )?|\s+and (?:also |then )?", re.I)
_BEGINS = words("determiners") | words("pronouns")
_VERB = re.compile(
    r"^(?P<before>.{2,80}? (?:will|must|should|shall|can|could|may|to|would|also|only|then) )"
    r"(?P<verb>[\w-]+)\b",
    re.I,
)


def parts_of(text: str) -> list[str]:
    """What a sum-up lists, item by item, each with what all of them have in common.

    "The app stores bills, sends them and prints a list" are three; "tea, milk and sugar" stay one
    thing, unless they follow a colon.
    """
    listed = _after_colon(text)
    if listed:
        return listed
    cuts = [*_NEXT.finditer(text)]
    if not cuts:
        return [text]
    stem, form = _stem(text, cuts[0].start())
    if not stem:
        return _independent(text)
    parts, begin = [], 0
    for cut in cuts:
        apart = cut[0].strip().lower() not in {"and", "and also", "and then"}
        if _goes_on(text[cut.end() :], form, apart=apart):
            parts.append(text[begin : cut.start()])
            begin = cut.end()
    parts.append(text[begin:])
    whole = [parts[0], *(part if _stands(part) else f"{stem}{part}" for part in parts[1:])]
    return [plain(part) for part in whole if tokens(part)]


def _after_colon(text: str) -> list[str]:
    head, colon, rest = text.partition(": ")
    pieces = [piece for piece in re.split(r",\s+(?:and\s+)?|\s+and\s+", rest) if tokens(piece)]
    if not colon or len(pieces) < 2 or any(len(tokens(each)) > LIST_ITEM for each in pieces):
        return []
    if len(tokens(head)) < 2:
        return pieces
    return [each if _stands(each) else f"{head} {each}" for each in pieces]


def _stem(text: str, most: int) -> tuple[str, str]:
    """What stands before the first verb of a list of verbs, and the form of that verb."""
    modal = _VERB.match(text[:most])
    if modal and (base(modal["verb"]) or modal["verb"].lower() == "be"):
        return modal["before"], "base"
    stated = finite(text[:most])
    if stated:
        verb = text[len(stated.subject) :].split()[0].strip(",").lower()
        return f"{stated.subject} ", "base" if verb == base(verb) else "finite"
    return "", ""


def _goes_on(rest: str, form: str, *, apart: bool) -> bool:
    """Another verb of the list follows, or a clause that can stand alone."""
    spoken = tokens(rest)[:6]
    if not spoken:
        return False
    head = spoken[1] if spoken[0].lower() in {"also", "then", "only"} and spoken[1:] else spoken[0]
    verb = base(head)
    if verb is not None and len(spoken) > 1:
        if form == "base":
            return verb == head.lower()
        return head.lower() != verb and not head.lower().endswith(("ing", "ed"))
    return (apart or spoken[0].lower() in _BEGINS) and _stands(_NEXT.split(rest)[0])


def _stands(piece: str) -> bool:
    """It has a subject and a verb."""
    cue = find_cue(piece)
    if cue and 0 < cue.start <= 60 and cue.cue.kind in {"obligation", "need"}:
        return True
    stated = finite(piece)
    return stated is not None and len(tokens(stated.subject)) <= 4


def _independent(text: str) -> list[str]:
    parts, begin = [], 0
    for cut in _NEXT.finditer(text):
        if _stands(text[begin : cut.start()]) and _stands(_NEXT.split(text[cut.end() :])[0]):
            parts.append(text[begin : cut.start()])
            begin = cut.end()
    return [plain(part) for part in (*parts, text[begin:]) if tokens(part)]
