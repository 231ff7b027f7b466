"""Evidence as published chats cite it: message ids such as ``D3:14``, in many spellings.

Reading is tolerant but never guesses. What cannot be read, and what names no message, is handed
back with its kind, so that a report can list every piece of evidence that was lost.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

MAX_RANGE = 50  # messages; a longer range is a slip of the pen

_ID = (
    r"(?<![A-Za-z])(?:[Dd]\s*(:?)\s*)?(\d{1,6})\s*"
    r"(?::\s*(\d{1,6})(?!\d)|;\s*(\d{1,6})(?!\d|\s*:\s*\d))"
)
_CITED = re.compile(rf"{_ID}(?:\s*[-–—]\s*(?:{_ID}|(\d{{1,6}})(?!\s*[:;]?\d)))?")
_STRICT = re.compile(r"D[1-9]\d*:[1-9]\d*")
_BETWEEN = re.compile(r"[\s;,.:]+")


class MessageId(NamedTuple):
    """A published id: ``D3:14`` is message 14 of part 3."""

    part: int
    number: int

    def __str__(self) -> str:
        return f"D{self.part}:{self.number}"


class Cited(NamedTuple):
    """One id, or a range of them, and the text that it was read from."""

    text: str
    first: MessageId
    last: MessageId


class Oddity(NamedTuple):
    """A piece of a citation that is not as it should be; ``kind`` is one of the kinds below."""

    kind: str
    text: str


class Reading(NamedTuple):
    """What one element cites, how its spelling was odd, and what of it cannot be read."""

    cited: tuple[Cited, ...]
    odd: tuple[Oddity, ...]
    unreadable: tuple[Oddity, ...]


class Evidence(NamedTuple):
    """The messages that a question's evidence names.

    ``positions`` are 0-based, ascending, each once. ``odd`` was read all the same; ``lost`` names
    no message.
    """

    positions: tuple[int, ...]
    odd: tuple[Oddity, ...]
    lost: tuple[Oddity, ...]


def read_element(text: str) -> Reading:
    """Read one element of an evidence list.

    Examples
    --------
    >>> [str(cited.first) for cited in read_element("D13:45:D20:19").cited]
    ['D13:45', 'D20:19']
    >>> read_element("D17;39").odd
    (Oddity(kind='wrong_separator', text='D17;39'),)
    >>> read_element("D:56").unreadable
    (Oddity(kind='no_part', text='D:56'),)
    """
    cited: list[Cited] = []
    odd: list[Oddity] = []
    rest, end = [], 0
    for match in _CITED.finditer(text):
        rest.append(text[end : match.start()])
        end = match.end()
        citation = _cited(match)
        cited.append(citation)
        odd += [Oddity(kind, citation.text) for kind in _spelling(match)]
    rest.append(text[end:])
    if len(cited) > 1:
        odd.append(Oddity("list", text))
    unreadable = tuple(_unreadable(rest)) if text.strip() else (Oddity("empty", text),)
    if cited and not odd and not unreadable and not _STRICT.fullmatch(text):
        odd.append(Oddity("stray", text))
    return Reading(tuple(cited), tuple(odd), unreadable)


def resolve(elements: Sequence[str], known: Mapping[MessageId, int]) -> Evidence:
    """The positions of the messages that ``elements`` cite.

    Parameters
    ----------
    elements
        The evidence list as published.
    known
        The position of every message of the conversation by its published id.

    Examples
    --------
    >>> known = {MessageId(1, 1): 0, MessageId(1, 2): 1, MessageId(1, 4): 2}
    >>> resolve(["D1:4", "D1:1-D1:3"], known).positions
    (0, 1, 2)
    >>> resolve(["D1:4", "D1:1-D1:3"], known).lost
    (Oddity(kind='absent', text='D1:3'),)
    """
    positions: set[int] = set()
    odd: list[Oddity] = []
    lost: list[Oddity] = []
    for element in elements:
        reading = read_element(element)
        odd += reading.odd
        lost += reading.unreadable
        for cited in reading.cited:
            for target in _targets(cited, known):
                if isinstance(target, Oddity):
                    lost.append(target)
                elif target in positions:
                    odd.append(Oddity("repeated", cited.text))
                else:
                    positions.add(target)
    return Evidence(tuple(sorted(positions)), tuple(odd), tuple(lost))


def strict_ids(elements: Sequence[str]) -> list[str]:
    """The rule of the system that these data were first scored with.

    Elements are split at ``;`` and lose a full stop at the end; nothing else is repaired.
    """
    parts = [part.strip().rstrip(".") for element in elements for part in element.split(";")]
    return [part for part in parts if part]


def _cited(match: re.Match[str]) -> Cited:
    first = MessageId(int(match[2]), int(match[3] or match[4]))
    last = first
    if match[6]:
        last = MessageId(int(match[6]), int(match[7] or match[8]))
    elif match[9]:
        last = MessageId(first.part, int(match[9]))
    return Cited(match[0].strip(), first, last)


def _spelling(match: re.Match[str]) -> Iterator[str]:
    text = match[0]
    if match[6] or match[9]:
        yield "range"
    if match[4] or match[8]:
        yield "wrong_separator"
    if match[1]:
        yield "extra_colon"
    if text[0] not in "Dd":
        yield "no_letter"
    if any(number.startswith("0") for number in (match[2], match[3] or match[4])):
        yield "zero_padded"


def _unreadable(rest: Sequence[str]) -> Iterator[Oddity]:
    for text in rest:
        for word in _words(text):
            yield Oddity(_kind_of(word), word)


def _words(text: str) -> list[str]:
    """Pieces between separators; ``D:56`` stays one piece."""
    pieces = re.split(r"[\s;,.]+", text)
    return [piece for piece in pieces if _BETWEEN.sub("", piece)]


def _kind_of(word: str) -> str:
    if re.fullmatch(r"[Dd]?:?\d+", word) and not re.fullmatch(r"[Dd]\d+", word):
        return "no_part"
    if re.fullmatch(r"[Dd]\d*:?", word):
        return "no_number"
    return "unreadable"


def _targets(cited: Cited, known: Mapping[MessageId, int]) -> Iterator[int | Oddity]:
    first, last = cited.first, cited.last
    if first == last:
        yield known[first] if first in known else Oddity("absent", str(first))
    elif first.part == last.part and 0 < last.number - first.number < MAX_RANGE:
        for number in range(first.number, last.number + 1):
            cited_id = MessageId(first.part, number)
            yield known[cited_id] if cited_id in known else Oddity("absent", str(cited_id))
    elif first in known and last in known and 0 < known[last] - known[first] < MAX_RANGE:
        yield from range(known[first], known[last] + 1)
    else:
        yield Oddity("bad_range", cited.text)
