"""The answer in a model's reply: what it thought aloud set aside, its last complete JSON read.

A reply counts as *raw* when the JSON of its answer parses as written, as *repaired* when it parses
after steps that are all recorded, and as an *error* otherwise. Taking JSON out of a code fence or
out of the prose around it is no repair. A repair adds what is missing (closers, commas, quotes) and
takes away what is no part of an answer (comments, a comma too many), never a word of a value.
What cannot be read for certain is an error, never another answer.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NoReturn

from pipelines.errors import PipelineError
from pipelines.mending import GAP, STRING, Unmendable, mend
from pipelines.types import JsonSchema

Outcome = Literal["raw", "repaired", "error"]

EMPTY = "empty_input"
NO_JSON = "no_json_found"
ONLY_REASONING = "only_reasoning"
TOO_DEEP = "too_deep"
CUT_OFF = "missing_closers"
LONGEST_REPAIR = 200_000  # characters
"""JSON beyond this that does not parse as written is an error, not an hour of work."""
PATIENCE = 5
"""How often each character may be looked at in vain."""

_NAMES = (
    "think|thinking|thoughts?|reasoning|reflections?|scratchpad|analysis|rationale|draft"
    "|inner_monologue|chain_of_thought|antthinking"
)
_MARK = re.compile(
    rf"<\|?(?P<edge>/|(?:begin|start|end)_(?:of_)?)?(?P<name>(?:\w+:)?(?:{_NAMES}))(?:\s[^<>]*)?\|?>"
    r"|\[(?P<edge_2>/)?(?P<name_2>think|thinking|reasoning)\]"
    r"|◁(?P<edge_3>/)?(?P<name_3>think)▷"
    r"|<\|channel\|?>\s*(?P<channel>\w+)(?:[^<\n]*<\|(?:message|constrain)\|>)?"
    r"|(?P<channel_end><\|(?:end|start|return|call)\|>|<channel\|>)"
    r"|(?P<prefix><unused94>thought|<\|inner_prefix\|>|Here is my thought process:)"
    r"|(?P<suffix><unused95>|<\|inner_suffix\|>|Here is my response:|assistantfinal)",
    re.I,
)
"""Where a model begins or ends to think aloud, in the forms of the families of models."""

_BRACKET = re.compile(rf"{_MARK.pattern}|(?P<bracket>[\[{{])", re.I)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.M)
_IN_FENCE = re.compile(r"(?:```|~~~)[\w+.-]*\s*\Z")
_HEAD = re.compile(
    rf"\[{GAP}(?:\{{|{STRING})|\{{{GAP}(?:{STRING}|[\w$-]+){GAP}[:：]",
    re.S,
)
"""How JSON begins, unlike a bracket in prose."""
_BEGUN = re.compile(r"\[\s*\{\s*[\"']|\{\s*\"")
_BRACKETS = re.compile(r"[\[\]{}]")
_BRACKETS_OUTSIDE = re.compile(r'"(?:[^"\\\n]|\\.)*+"|[\[\]{}]')
_BETWEEN = re.compile(r"[\s,;]*(?:\n\s*(?:[-*•]|\d+[.)])\s*)?")
_TOO_LARGE = re.compile(r"(?<=[:\[,\s])-?(?:Infinity|\d[\d.]*[eE]\+?\d{3,})(?=\s*[,}\]])")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What became of a raw reply.

    ``method`` says where the JSON was found and ``repair_steps`` what was done to it, in order.
    """

    outcome: Outcome
    method: str
    value: Any = None
    repair_steps: tuple[str, ...] = ()
    thought: str | None = None
    """The text in ``<thought>`` blocks; ``None`` without one."""
    preamble: str = ""
    """What is said before the answer, outside of these blocks."""

    @property
    def parsed(self) -> bool:
        return self.outcome != "error"


class Unparsable(PipelineError):
    """No JSON can be read from it; the code says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of JSON in a reply, from ``start`` to ``end``."""

    start: int
    end: int
    expected: bool
    """It names a field that was asked for."""
    value: Any = None
    steps: tuple[str, ...] = ()
    broken: bool = False


def read_reply(raw: str, fields: Collection[str], *, lines: bool = False) -> ParsedReply:
    """Find the answer of a reply and parse it, with repair where that is needed.

    Parameters
    ----------
    fields
        Names of which the answer has at least one: other JSON is an answer only where there is
        none with them.
    lines
        Whether the answer may be given in pieces that follow each other, one a line.

    Examples
    --------
    >>> result = read_reply('<think>[{"a": 1}]?</think> Here: [{"a": 2}] {sic}', ["a"])
    >>> result.outcome, result.method, result.value
    ('raw', 'span', [{'a': 2}])
    >>> result = read_reply('```json\\n[{"a": "http://x",}] // all\\n```', ["a"])
    >>> result.outcome, result.method, result.repair_steps
    ('repaired', 'code_fence', ('trailing_commas',))
    >>> read_reply("Nothing happened.", ["a"]).method
    'no_json_found'
    """
    if not raw.strip():
        return ParsedReply("error", EMPTY)
    try:
        return _whole(raw) or _read(raw, fields, lines=lines)
    except RecursionError:
        return ParsedReply("error", TOO_DEEP)


def parse_json(text: str, schema: JsonSchema) -> Any:
    """The answer that was asked for with this schema; whether it fits is not looked at.

    A document that breaks off is refused, not mended: closing its brackets would silently lose
    what did not arrive.

    Raises
    ------
    Unparsable
        If there is none.

    Examples
    --------
    >>> asked = {"properties": {"a": {}}}
    >>> parse_json('Here it is:\\n```json\\n{"a": [1, 2,]}\\n```', asked)
    {'a': [1, 2]}
    """
    reply = read_reply(text, schema.get("properties", ()))
    if CUT_OFF in reply.repair_steps:
        raise Unparsable("reply.broken_off")
    if not reply.parsed and (number := _TOO_LARGE.search(text)):
        raise Unparsable("reply.no_number", name=number[0])
    if not reply.parsed:
        raise Unparsable(_CODES.get(reply.method, "reply.no_json"))
    return reply.value


_CODES = {
    EMPTY: "reply.empty",
    ONLY_REASONING: "reply.only_reasoning",
    TOO_DEEP: "reply.too_deep",
}


def answer_part(raw: str) -> str:
    """The reply without what the model thought aloud.

    Examples
    --------
    >>> answer_part('<think>Is it {"score": 1}?</think>{"score": 2}')
    '{"score": 2}'
    """
    return raw if _whole(raw) else _Layout(raw, ()).said(len(raw))


def _whole(raw: str) -> ParsedReply | None:
    """A reply that is JSON and nothing else says what it says, whatever its texts look like."""
    text = raw.strip().lstrip("\ufeff")
    try:
        value = _loads(text)
    except ValueError:
        return None
    return ParsedReply("raw", "whole", value) if isinstance(value, dict | list) else None


def _read(raw: str, fields: Collection[str], *, lines: bool) -> ParsedReply:
    layout = _Layout(raw, fields)
    chosen = _chosen(layout, lines=lines)
    at = chosen[0].start if chosen else len(raw)
    blocks = [(start, end) for start, end, _ in layout.thoughts]
    thought = "\n".join(said for *_, said in layout.thoughts).strip() if blocks else None
    said = thought, _without(raw, blocks, at).strip()
    before = layout.said(at)
    if not chosen:
        return ParsedReply("error", NO_JSON if before.strip() else ONLY_REASONING, None, (), *said)
    method = "span" if before.strip() else "whole"
    if _IN_FENCE.search(before):
        method = "code_fence"
    steps = tuple(dict.fromkeys(step for piece in chosen for step in piece.steps))
    if any(piece.broken for piece in chosen) or layout.is_cut():
        return ParsedReply("error", method, None, steps, *said)
    value = chosen[0].value
    if len(chosen) > 1:
        steps += ("joined_lines",)
        value = [each for piece in chosen for each in _listed(piece.value)]
    return ParsedReply("repaired" if steps else "raw", method, value, steps, *said)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _without(raw: str, spans: Sequence[tuple[int, int]], end: int) -> str:
    """The text up to ``end`` without these spans."""
    parts, at = [], 0
    for start, behind in spans:
        parts.append(raw[at : min(start, end)])
        at = max(at, behind)
    return "".join([*parts, raw[at:end]])


# --- which piece is the answer ------------------------------------------------------------------


def _chosen(layout: _Layout, *, lines: bool) -> list[Piece]:
    """The last that names a field asked for, or says "nothing" on a line of its own.

    Without one, the last that holds objects, or is empty; best on a line of its own. Lists of
    anything else are notes in prose ("[1]"), unless nothing else is said.
    """
    pieces, raw = layout.pieces, layout.raw
    own = [piece for piece in pieces if _has_own_line(raw, piece)]
    expected = [piece for piece in pieces if piece.expected]
    nothing = [piece for piece in own if _is_empty(piece)]
    objects = [piece for piece in pieces if any(isinstance(v, dict) for v in _listed(piece.value))]
    empty = [piece for piece in pieces if _is_empty(piece)]
    candidates = (
        (expected and [*expected, *nothing])
        or [piece for piece in own if piece in objects or piece in nothing]
        or objects
        or empty
        or _alone(layout)
    )
    if not candidates:
        return []
    last = max(candidates, key=lambda piece: piece.start)
    return _neighbours(raw, pieces, pieces.index(last)) if lines else [last]


def _is_empty(piece: Piece) -> bool:
    return not piece.broken and piece.value in ([], {})


def _has_own_line(raw: str, piece: Piece) -> bool:
    """An empty list within a sentence ("no others: []") is a part of the sentence."""
    begin, end = raw.rfind("\n", 0, piece.start) + 1, raw.find("\n", piece.end)
    line = raw[begin : piece.start] + raw[piece.end : end if end >= 0 else len(raw)]
    return not line.strip() or _IN_FENCE.search(raw, begin, piece.start) is not None


def _alone(layout: _Layout) -> list[Piece]:
    """The only piece, if nothing is said around it."""
    if len(layout.pieces) != 1:
        return []
    (piece,) = layout.pieces
    around = layout.said(piece.start), layout.raw[piece.end :]
    return [] if _IN_FENCE.sub("", around[0]).strip() or around[1].strip(" \n\r\t`~.") else [piece]


def _neighbours(raw: str, pieces: Sequence[Piece], at: int) -> list[Piece]:
    """The piece with those before and behind it that nothing but line ends and commas divide."""
    first = last = at
    while first and _follow(raw, pieces[first - 1], pieces[first]):
        first -= 1
    while last + 1 < len(pieces) and _follow(raw, pieces[last], pieces[last + 1]):
        last += 1
    return [piece for piece in pieces[first : last + 1] if not _is_empty(piece)] or [pieces[at]]


def _follow(raw: str, one: Piece, other: Piece) -> bool:
    both = all(piece.expected or _is_empty(piece) for piece in (one, other))
    return both and _BETWEEN.fullmatch(raw, one.end, other.start) is not None


# --- where the pieces are -----------------------------------------------------------------------


class _Layout:
    """The JSON of a reply outside of all reasoning, and where the reasoning is.

    Tags within the texts of JSON are not looked at: they belong to the answer. What an opening tag
    begins and nothing ends is all reasoning. An end without a beginning (the server put that into
    the prompt) makes reasoning of all that is before it.
    """

    def __init__(self, raw: str, fields: Collection[str]) -> None:
        self.raw = raw
        self.pieces: list[Piece] = []
        self.aside: list[tuple[int, int]] = []
        self.thoughts: list[tuple[int, int, str]] = []
        """The ``<thought>`` blocks with what they say."""
        self._named = _naming(frozenset(fields))
        self._fences = [fence.start() for fence in _FENCE.finditer(raw)]
        self._marks = [mark.start() for mark in _MARK.finditer(raw)]
        self._patience = PATIENCE * len(raw)
        at = 0
        while hit := _BRACKET.search(raw, at):
            at = self._piece(hit.start()) if hit["bracket"] else self._set_aside(hit)

    def said(self, end: int) -> str:
        """What is said up to here, outside of the reasoning."""
        return _without(self.raw, self.aside, end)

    def is_cut(self) -> bool:
        """Whether brackets close that none opened, behind reasoning or what cannot be read.

        Then a tag or a fence in a text of JSON cut it, and what is left is a part of an answer.
        """
        cuts = [end for _, end in self.aside]
        cuts += [piece.end for piece in self.pieces if piece.broken]
        begin = at = max(cuts, default=len(self.raw))
        depth = 0
        for end in [*(piece.start for piece in self.pieces), len(self.raw)]:
            for sign in _BRACKETS.finditer(self.raw, at, max(end, at)):
                if sign[0] in "]}" and not depth and self.raw[sign.start() - 1] in "\"'”}],":
                    return True
                depth = depth + 1 if sign[0] in "[{" else max(depth - 1, 0)
            at = next((piece.end for piece in self.pieces if piece.start == end), at)
            at = max(at, begin)
        return False

    def _set_aside(self, mark: re.Match[str]) -> int:
        """Note the reasoning that this mark begins or ends; where it is over."""
        kind, family = _kind(mark)
        begin = mark
        closing = _closing(self.raw, mark.end(), family) if kind == "open" else mark
        end = closing.end() if closing else len(self.raw)
        if (closing and _kind(closing)[0] == "final") or kind == "close":
            self.aside, self.pieces = [(0, end)], []
            return end
        self.aside.append((begin.start(), end))
        if kind == "open" and closing and family == "thought":
            block = self.raw[begin.end() : closing.start()]
            self.thoughts.append((begin.start(), end, block))
        return end

    def _piece(self, start: int) -> int:
        """Note the JSON that begins here, if any; where to look for more.

        Nothing is taken out of the middle of JSON that cannot be read: it would be a part of an
        answer.
        """
        try:
            value, end = _DECODER.raw_decode(self.raw, start)
            return self._note(Piece(start, end, self._names(start, end), _storable(value)))
        except ValueError:
            piece = self._mended(start)
        if piece:
            return self._note(piece)
        if not _HEAD.match(self.raw, start):
            return start + 1
        end = self._end_of_broken(start)
        open_end = end in (len(self.raw), *self._fences)
        if self._names(start, end) or (open_end and _BEGUN.match(self.raw, start)):
            self._note(Piece(start, end, expected=True, broken=True))
        return end

    def _note(self, piece: Piece) -> int:
        self.pieces.append(piece)
        return piece.end

    def _names(self, start: int, end: int) -> bool:
        return self._named.search(self.raw, start, end) is not None

    def _mended(self, start: int) -> Piece | None:
        """A code fence ends what is in it. A bracket in prose that nothing closes is no JSON."""
        limit = _next(self._fences, start, len(self.raw))
        if limit - start > LONGEST_REPAIR:
            return None
        try:
            text, end, steps = mend(self.raw, start, limit, _MARK)
            piece = Piece(start, end, self._names(start, end), _loads(text), steps)
            if piece.expected or CUT_OFF not in steps:
                return piece
        except Unmendable as stopped:
            end = stopped.at
        except ValueError:
            return None
        self._patience -= end - start
        if self._patience < 0:
            raise RecursionError("too much that nearly is JSON")
        return None

    def _end_of_broken(self, start: int) -> int:
        """Where broken JSON ends at the latest; the next mark or fence if it is not closed.

        Its brackets are counted with and without those in quotes: a quote may be what broke.
        """
        limit = min(_next(ends, start, len(self.raw)) for ends in (self._fences, self._marks))
        counted = (_BRACKETS, _BRACKETS_OUTSIDE)
        return max(_balanced(pattern, self.raw, start, limit) for pattern in counted)


def _next(places: Sequence[int], at: int, end: int) -> int:
    following = bisect(places, at)
    return places[following] if following < len(places) else end


def _kind(mark: re.Match[str]) -> tuple[str, str]:
    """``open``, ``close``, ``end`` (closes only what is open) or ``final``, and of what."""
    if mark["channel"]:
        return ("final" if mark["channel"].lower() == "final" else "open"), "channel"
    if mark["channel_end"]:
        return "end", "channel"
    if mark["prefix"] or mark["suffix"]:
        return ("open" if mark["prefix"] else "close"), "prefix"
    name = mark["name"] or mark["name_2"] or mark["name_3"]
    edge = (mark["edge"] or mark["edge_2"] or mark["edge_3"] or "").lower()
    if mark[0].endswith("/>"):
        return "end", ""
    return ("close" if edge.startswith(("/", "end")) else "open"), name.lower()


def _closing(raw: str, at: int, family: str) -> re.Match[str] | None:
    for mark in _MARK.finditer(raw, at):
        kind, of = _kind(mark)
        if kind != "open" and of == family:
            return mark
    return None


@cache
def _naming(fields: frozenset[str]) -> re.Pattern[str]:
    any_of = "|".join(map(re.escape, sorted(fields))) or r"(?!)"
    return re.compile(rf"(?:[\"'“]|(?<=[{{,\s]))(?:{any_of})[\"'”]?\s*[:：]")


def _balanced(pattern: re.Pattern[str], raw: str, start: int, limit: int) -> int:
    depth = 0
    for sign in pattern.finditer(raw, start, limit):
        depth += (sign[0] in "[{") - (sign[0] in "]}")
        if not depth:
            return sign.end()
    return limit


# --- values -------------------------------------------------------------------------------------


def _loads(text: str) -> Any:
    return _storable(_DECODER.decode(text))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A field that is given two values says neither."""
    document = dict(pairs)
    if len(document) < len(pairs) and any(document[key] != value for key, value in pairs):
        raise ValueError("a field has two values")
    return document


def _finite(digits: str) -> float:
    """``1e999`` is written as JSON wants it, but it is read as infinity."""
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once)


def _storable(value: Any) -> Any:
    """Without NUL and half surrogate pairs, which JSON can name and no database can keep."""
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


def schema_problem(value: Any, schema: JsonSchema) -> str:
    """What does not fit the JSON schema, with its place; empty if all does."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    problem = best_match(Draft202012Validator(schema).iter_errors(value))
    if problem is None:
        return ""
    place = ".".join(str(part) for part in problem.absolute_path) or "the reply"
    return f"{place}: {problem.message[:300]}"
