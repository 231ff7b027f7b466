"""From a model's raw reply to JSON: where the JSON is, and what had to be repaired.

A reply counts as *raw* when the JSON in it parses as written, as *repaired* when it parses
after steps that are all recorded, and as an *error* otherwise. Taking JSON out of a code fence
or out of the prose around it does not count as repair.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["raw", "repaired", "error"]

NO_JSON = "no_json_found"
EMPTY = "empty_input"
LONGEST_REPAIR = 200_000  # characters
DEEPEST_REPAIR = 100  # brackets left open
"""A reply beyond these that does not parse as written is an error, not an hour of work."""

_TAG = re.compile(r"<(/?)thought>", re.I)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_START = re.compile(r"\[\s*(?:[{\]]|\Z)|\{\s*(?:[\"'“‘}\w]|\Z)")
_PUNCTUATION = str.maketrans("，：；｛｝［］【】", ",:;{}[][]")
_UNSTORABLE = re.compile(r"\\u(?:0000|d[89a-f])|[\x00\ud800-\udfff]", re.I)
_LOST_CHARACTER = re.compile(r"[\x00\ud800-\udfff]")
_CLOSERS = {"{": "}", "[": "]"}
_QUOTES = {'"': '"', "“": "”"}
_REST_OF_STRING = {
    opening: re.compile(rf"[^{closing}\\]*(?:\\.[^{closing}\\]*)*{closing}", re.S)
    for opening, closing in _QUOTES.items()
}


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What became of a raw reply.

    ``value`` is the JSON as it was said; ``events`` are the events in it, one object for each.
    ``method`` says where the JSON was found and ``repair_steps`` what was done to it, in order.
    """

    outcome: Outcome
    method: str
    value: Any = None
    events: list[Any] = field(default_factory=list)
    repair_steps: tuple[str, ...] = ()
    thought: str | None = None
    """The text in the ``<thought>`` block; ``None`` without one."""
    preamble: str = ""
    """What is said before the JSON, outside of the block."""

    @property
    def parsed(self) -> bool:
        return self.outcome != "error"


def parse_reply(raw: str) -> ParsedReply:
    """Find the JSON of a reply and parse it, with repair where that is needed.

    Looked at in this order: the last code fence that holds JSON, text that is JSON from its
    start, the first piece of JSON in the prose. What a ``<thought>`` block says is never taken
    for the answer. A single object is a list of one; ``events`` and ``event_list`` are unwrapped.

    Examples
    --------
    >>> result = parse_reply('Here: [{"event_type": "Sale", "arguments": []}]')
    >>> result.outcome, result.method, len(result.events)
    ('raw', 'span', 1)
    >>> result = parse_reply('```json\\n[{"event_type": "Sale",}]\\n```')
    >>> result.outcome, result.method, result.repair_steps
    ('repaired', 'code_fence', ('trailing_commas',))
    >>> parse_reply("Nothing happened.").method
    'no_json_found'
    """
    thought, rest = _split_thought(raw)
    method, text, preamble = _locate(rest)
    parts: dict[str, Any] = {"thought": thought, "preamble": preamble.strip()}
    if text is None:
        return ParsedReply("error", method, **parts)
    steps: list[str] = []
    try:
        value = _parse(text, steps)
    except ValueError:
        return ParsedReply("error", method, repair_steps=tuple(steps), **parts)
    outcome: Outcome = "repaired" if steps else "raw"
    return ParsedReply(outcome, method, value, _events_in(value), tuple(steps), **parts)


def _split_thought(raw: str) -> tuple[str | None, str]:
    """The text in complete ``<thought>`` blocks, and the rest."""
    thoughts: list[str] = []
    rest: list[str] = []
    start, opening = 0, None
    for tag in _TAG.finditer(raw):
        if not tag[1]:
            opening = opening or tag
        elif opening is not None:
            rest.append(raw[start : opening.start()])
            thoughts.append(raw[opening.end() : tag.start()])
            start, opening = tag.end(), None
    rest.append(raw[start:])
    return "\n".join(thoughts).strip() if thoughts else None, "\n".join(rest)


def _locate(text: str) -> tuple[str, str | None, str]:
    """How the JSON was found, the JSON (``None`` if absent), and the text before it."""
    if not text.strip():
        return EMPTY, None, ""
    fences = [fence for fence in _FENCE.finditer(text) if fence[1].lstrip()[:1] in ("[", "{")]
    if fences:
        return "code_fence", fences[-1][1].strip(), text[: fences[-1].start()]
    if text.lstrip()[:1] in ("[", "{"):
        return "whole", _span(text.strip()), ""
    start = _START.search(text)
    if start is None:
        return NO_JSON, None, text
    return "span", _span(text[start.start() :]), text[: start.start()]


def _span(text: str) -> str:
    """From the first bracket to the one that closes it; all if nothing does, or more follows."""
    if text[-1:] == _CLOSERS[text[0]] and _loaded(text):
        return text
    opened, at = _scan(text)
    cut_off = bool(opened) or _START.search(text, at) is not None
    return text.strip() if cut_off else text[:at]


def _parse(text: str, steps: list[str]) -> Any:
    """``ValueError`` if nothing helps; ``steps`` gets the name of each step that changed it."""
    loaded = _loaded(text)
    if loaded is not None:
        return loaded[0]
    if len(text) > LONGEST_REPAIR or len(_scan(text)[0]) > DEEPEST_REPAIR:
        raise ValueError("too long or too deep to be mended in a moment")
    for name, mend in _STEPS:
        mended = mend(text)
        if mended == text:
            continue
        steps.append(name)
        text = mended
        loaded = _loaded(text)
        if loaded is not None:
            return loaded[0]
    steps.append("json_repair")
    return _last_resort(text)


def _loaded(text: str) -> tuple[Any] | None:
    """In a tuple, because ``null`` is JSON too."""
    try:
        return (_storable(json.loads(text, parse_constant=_refuse), text),)
    except (ValueError, RecursionError):
        return None


def _storable(value: Any, text: str) -> Any:
    """Without NUL and half surrogate pairs, which JSON can name and no database can keep."""
    return _cleaned(value) if _UNSTORABLE.search(text) else value


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return _LOST_CHARACTER.sub("\ufffd", value) if isinstance(value, str) else value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _last_resort(text: str) -> Any:
    from json_repair import loads

    try:
        mended = json.dumps(loads(text))
        value = _storable(json.loads(mended, parse_constant=_refuse), mended)
    except (ValueError, RecursionError, TypeError, IndexError) as error:
        raise ValueError("beyond repair") from error
    if not isinstance(value, list | dict) or not value:
        raise ValueError("nothing was left")
    return value


def _events_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for key in ("events", "event_list"):
            if isinstance(value.get(key), list):
                return list(value[key])
        return [value] if value else []
    return list(value) if isinstance(value, list) else []


def _outside_strings(text: str, change: Callable[[str], str]) -> str:
    """The text with ``change`` applied outside of its strings."""
    parts: list[str] = []
    start = 0
    while start < len(text):
        opening = _next_quote(text, start)
        parts.append(change(text[start:opening]))
        closing = _end_of_string(text, opening)
        parts.append(text[opening:closing])
        start = closing
    return "".join(parts)


def _next_quote(text: str, start: int) -> int:
    positions = [at for quote in _QUOTES if (at := text.find(quote, start)) >= 0]
    return min(positions, default=len(text))


def _end_of_string(text: str, opening: int) -> int:
    """The position behind the quote that closes the string opened there, or the end."""
    if opening >= len(text):
        return len(text)
    rest = _REST_OF_STRING[text[opening]].match(text, opening + 1)
    return rest.end() if rest else len(text)


def _full_width(text: str) -> str:
    """Replace full-width punctuation by JSON's, except within strings."""
    straight = _outside_strings(text, lambda part: part.translate(_PUNCTUATION))
    return re.sub(r"“([^“”\"\\]*)”(?=\s*[,:}\]])", r'"\1"', straight)


def _trailing_commas(text: str) -> str:
    return _outside_strings(text, lambda part: re.sub(r",(?=\s*[}\]])", "", part))


def _control_characters(text: str) -> str:
    """A line break inside of a string becomes a blank; others go."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text).translate(
        {ord("\n"): " ", ord("\r"): " ", ord("\t"): " "}
    )


def _missing_closers(text: str) -> str:
    """Closes what a reply that was cut off left open, innermost first."""
    opened, end = _scan(text)
    if opened and end > len(text):
        text += '"'
    return _trailing_commas(text.rstrip() + "".join(reversed(opened))) if opened else text


def _scan(text: str) -> tuple[list[str], int]:
    """The closers that are missing, and where the first bracket is closed.

    The place is behind the end of the text where a string is left open.
    """
    opened: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = _end_of_string(text, at)
            if end == len(text) and (end - at < 2 or text[-1] != '"'):
                return opened, end + 1
            at = end
            continue
        if text[at] in _CLOSERS:
            opened.append(_CLOSERS[text[at]])
        elif opened and text[at] == opened[-1]:
            opened.pop()
        at += 1
        if not opened:
            return [], at
    return opened, at


def _single_quotes(text: str) -> str:
    return re.sub(r"(?<=[{\[,:\s])'([^'\"\\]*)'(?=\s*[,:}\]])", r'"\1"', text)


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("full_width_punctuation", _full_width),
    ("trailing_commas", _trailing_commas),
    ("control_characters", _control_characters),
    ("missing_closers", _missing_closers),
    ("single_quotes", _single_quotes),
)
