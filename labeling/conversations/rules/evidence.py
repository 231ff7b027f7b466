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


class MessageId(NamedTuple):
    """A published id: ``D3:14`` is message 14 of part 3."""

    part: int
    number: int

    def __str__(self) -> str:
        return f"D{self.part}:{self.number}"


class Oddity(NamedTuple):
    """A piece of a citation that is not as it should be; ``kind`` is one of the kinds below."""

    kind: str
    text: str


class Evidence(NamedTuple):
    """The messages that a question's evidence names.

    ``positions`` are 0-based, ascending, each once. ``odd`` was read all the same; ``lost`` names
    no message.
    """

    positions: tuple[int, ...]
    odd: tuple[Oddity, ...]
    lost: tuple[Oddity, ...]


def resolve(elements: Sequence[str], known: Mapping[MessageId, int]) -> Evidence:
    """The positions of the messages that ``elements``, an evidence list as published, cite.

    ``known`` has the position of every message of the conversation by its published id.

    Examples
    --------
    >>> known = {MessageId(1, 1): 0, MessageId(1, 2): 1, MessageId(1, 4): 2}
    >>> resolve(["D1:4", "D1:1-D1:3"], known).positions
    (0, 1, 2)
    >>> resolve(["D1:4", "D1:1-D1:3"], known).lost
    (Oddity(kind='absent', text='D1:3'),)
    >>> resolve(["D1;4"], known).odd, resolve(["D:56"], known).lost
    ((Oddity(kind='wrong_separator', text='D1;4'),), (Oddity(kind='no_part', text='D:56'),))
    """
    positions: set[int] = set()
    odd: list[Oddity] = []
    lost: list[Oddity] = []
    for element in elements:
        found = [*_CITED.finditer(element)]
        spelling = [Oddity(kind, match[0].strip()) for match in found for kind in _spelling(match)]
        spelling += [Oddity("list", element)] if len(found) > 1 else []
        rest = re.split(r"[\s;,.]+", _CITED.sub(" ", element))
        unreadable = [Oddity(_kind_of(word), word) for word in rest if word.strip(":")]
        unreadable += [] if element.strip() else [Oddity("empty", element)]
        if found and not spelling and not unreadable and not _STRICT.fullmatch(element):
            spelling = [Oddity("stray", element)]
        odd += spelling
        lost += unreadable
        for match in found:
            for target in _targets(match, known):
                if isinstance(target, Oddity):
                    lost.append(target)
                elif target in positions:
                    odd.append(Oddity("repeated", match[0].strip()))
                else:
                    positions.add(target)
    return Evidence(tuple(sorted(positions)), tuple(odd), tuple(lost))


def _spelling(match: re.Match[str]) -> Iterator[str]:
    if match[6] or match[9]:
        yield "range"
    if match[4] or match[8]:
        yield "wrong_separator"
    if match[1]:
        yield "extra_colon"
    if match[0][0] not in "Dd":
        yield "no_letter"
    if match[2].startswith("0") or (match[3] or match[4]).startswith("0"):
        yield "zero_padded"


def _kind_of(word: str) -> str:
    if re.fullmatch(r"[Dd]?:?\d+", word) and not re.fullmatch(r"[Dd]\d+", word):
        return "no_part"
    return "no_number" if re.fullmatch(r"[Dd]\d*:?", word) else "unreadable"


def _targets(match: re.Match[str], known: Mapping[MessageId, int]) -> Iterator[int | Oddity]:
    """The positions of one id, or of a range of them; what of it is not there."""
    first = MessageId(int(match[2]), int(match[3] or match[4]))
    last = MessageId(int(match[6] or first.part), int(match[7] or match[8] or match[9] or first[1]))
    if first.part == last.part and 0 <= last.number - first.number < MAX_RANGE:
        for number in range(first.number, last.number + 1):
            cited = MessageId(first.part, number)
            yield known[cited] if cited in known else Oddity("absent", str(cited))
    elif first in known and last in known and 0 < known[last] - known[first] < MAX_RANGE:
        yield from range(known[first], known[last] + 1)
    else:
        yield Oddity("bad_range", match[0].strip())
