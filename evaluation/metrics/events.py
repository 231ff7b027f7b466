"""Event extraction: who takes which part in what kind of event, compared with gold.

An argument is the triple of event type, role and words. Triples are a set: saying one twice adds
nothing, and event instances are not kept apart. Null and blank arguments are ignored. What is said
in a form that nobody can read (a list of words, no role, no type) is said all the same: it counts
as a type or an argument that no gold holds.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypedDict

import numpy as np

from evaluation.metrics.event_options import EventOptions
from evaluation.metrics.event_schema import (
    Schema,
    argument_words,
    composed,
    event_type,
    is_argument,
    schema_violation,
)
from evaluation.metrics.metric import Share, Value
from evaluation.metrics.overlap import longest_common_substring
from evaluation.metrics.thoughts import Thought, read_thought
from labeling.agreement.matching.matching import assign
from labeling.domain.facts import Fact, StoredFact
from pipelines.parsing import NO_JSON, ParsedReply, read_reply

SHORT = 100  # characters; the same short words are compared again and again
SHORTEST_CHECKED = 2  # characters; a shorter argument is found in nearly any text
LONGEST_TYPE = 200  # characters of an event that has none

NOTHING = Fact("metric.no_events")
NO_REPLY = Fact("metric.no_raw_reply")
NOT_PARSED = Fact("metric.not_parsed")
NOTHING_CHECKED = Fact("metric.no_argument_long_enough")
COT_OFF = Fact("metric.cot_off")
NO_THOUGHT = Fact("metric.no_thought")
NO_SCHEMA = Fact("metric.no_event_schema")

_KINDS = ("event_type", "type")
_LISTS = ("events", "event_list")

_WHITE = re.compile(r"\s+")
_WIDTH = str.maketrans("（），。", "(),.")


class Argument(NamedTuple):
    """One argument as it was said; ``key`` compares it."""

    type: str
    role: str
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.type, self.role, norm(self.text)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a list of events says."""

    types: frozenset[str]
    arguments: tuple[Argument, ...]
    """In the order in which they were said, each triple once."""
    wordings: tuple[Argument, ...]
    """Every distinct wording; several may make the same triple."""

    @property
    def keys(self) -> list[tuple[str, str, str]]:
        return [argument.key for argument in self.arguments]


@dataclass(frozen=True, slots=True)
class Sample:
    """One text with its gold events and what was predicted for it."""

    gold: Sequence[Any]
    predicted: Sequence[Any]
    texts: Sequence[str]
    """The text, message by message."""
    reply: ParsedReply | None = None
    """The parsed raw reply, where the prediction came as one."""
    schema: Schema = field(default_factory=dict)

    @property
    def parsed(self) -> bool:
        return self.reply is None or self.reply.parsed


def norm(text: str) -> str:
    """All white space removed, full-width （ ） ， 。 to ASCII, lower-cased, in Unicode's form NFC.

    Examples
    --------
    >>> norm(" ACME （China） Ltd。")
    'acme(china)ltd.'
    """
    return _norm_short(text) if len(text) <= SHORT else _norm(text)


def _norm(text: str) -> str:
    return composed(_WHITE.sub("", text).translate(_WIDTH).lower())


_norm_short = lru_cache(maxsize=20_000)(_norm)


def parse_reply(raw: str) -> ParsedReply:
    """The events of a raw reply: the last list of them, or one after the other."""
    return read_reply(raw, (*_KINDS, *_LISTS), lines=True)


def events_of(value: Any) -> list[Any]:
    """One object for each event; lists of events are taken out of the objects around them.

    Examples
    --------
    >>> events_of({"result": {"events": [{"event_type": "Sale"}]}})
    [{'event_type': 'Sale'}]
    """
    if isinstance(value, list):
        return [event for each in value for event in (_unwrapped(each) or [each])]
    return list(_unwrapped(value) or ([value] if value else []))


def _unwrapped(value: Any) -> Sequence[Any] | None:
    """The events in an object or a list around them; ``None`` for an event."""
    if isinstance(value, list):
        return events_of(value)
    if not isinstance(value, Mapping) or any(kind in value for kind in _KINDS):
        return None
    lists = [value[name] for name in _LISTS if isinstance(value.get(name), list)]
    around = [each for each in value.values() if isinstance(each, Mapping)]
    found = lists or [events for each in around if (events := _unwrapped(each)) is not None]
    return [event for events in found for event in events_of(events)] if found else None


def read_events(events: Iterable[Any]) -> Reading:
    """Types and arguments of events in either form.

    Both ``{"event_type", "arguments": [{"role", "argument"}]}`` and the form of labels,
    ``{"type", "arguments": [{"role", "span": {"text"}}]}``, are read. An argument in another form
    has no role, an event has its JSON for a type.

    Examples
    --------
    >>> event = {"event_type": "Sale", "arguments": [{"role": "Buyer", "argument": ["A", "B"]}]}
    >>> read_events([event]).arguments
    (Argument(type='Sale', role='', text='["A", "B"]'),)
    >>> event = {"event_type": "Sale", "arguments": [{"role": "Buyer", "argument": "Acme"}]}
    >>> read_events([event, event]).arguments
    (Argument(type='Sale', role='Buyer', text='Acme'),)
    """
    types: set[str] = set()
    by_key: dict[tuple[str, str, str], Argument] = {}
    wordings: dict[Argument, None] = {}
    for event in events:
        kind = _kind_of(event)
        types.add(kind)
        for role, text in _arguments_of(event):
            argument = Argument(kind, role, text)
            by_key.setdefault(argument.key, argument)
            wordings[argument] = None
    return Reading(frozenset(types), tuple(by_key.values()), tuple(wordings))


def score_events(sample: Sample, options: EventOptions | None = None) -> dict[str, Value]:
    """Every event metric of one sample.

    Parameters
    ----------
    sample
        Gold, prediction, text and the reply.
    options
        The settings of ``metrics:``; the defaults are those of the specification.

    Returns
    -------
    dict of Value
        By metric id. Ratios carry their ``share`` for the sums over samples.
    """
    options = options or EventOptions()
    gold, predicted = read_events(sample.gold), read_events(sample.predicted)
    pairs = relaxed_pairs(gold.arguments, predicted.arguments, options)
    strict = len(set(gold.keys) & set(predicted.keys))
    sizes = len(predicted.arguments), len(gold.arguments)
    scores = {
        **_precision_recall_f1("strict", strict, *sizes),
        **_precision_recall_f1("relaxed", len(pairs), *sizes),
        **_precision_recall_f1(
            "type", len(gold.types & predicted.types), len(predicted.types), len(gold.types)
        ),
        **_parse_diagnostics(sample.reply),
        "schema_compliance_rate": _compliance(sample, options),
        **_hallucination(sample, predicted, options),
        **_thoughts(sample, predicted, gold, options),
    }
    if pairs:
        detail: RelaxedDetail = {
            "hits": len(pairs),
            "predicted": sizes[0],
            "gold": sizes[1],
            "pairs": [list(pair) for pair in pairs],
        }
        scores["relaxed_f1"] = replace(scores["relaxed_f1"], detail=detail)
    return scores


def relaxed_pairs(
    gold: Sequence[Argument], predicted: Sequence[Argument], options: EventOptions
) -> list[tuple[int, int]]:
    """One-to-one pairs of positions (gold, predicted), as many as possible.

    Only arguments of one type and role can be paired, so each such group is solved by itself.
    """
    left, right = _groups(gold), _groups(predicted)
    pairs = [
        (ours[i], theirs[j])
        for key, ours in left.items()
        if (theirs := right.get(key))
        for i, j in _pairs(
            [norm(gold[at].text) for at in ours],
            [norm(predicted[at].text) for at in theirs],
            options,
        )
    ]
    return sorted(pairs)


def relaxed_match(a: str, b: str, options: EventOptions) -> bool:
    """Whether two normalized arguments mean the same under the chosen mode.

    Examples
    --------
    |{a, b, c} ∩ {b, c, d}| = 2 of 4 characters; the longest common substring of "abc" and
    "bcd" has 2 characters, 2/(3 + 3 − 2) = 0.5.

    >>> relaxed_match("abc", "bcd", EventOptions())
    True
    >>> relaxed_match("abc", "bcd", EventOptions(relaxed_match_mode="span_iou"))
    True
    """
    if a == b:
        return bool(a)
    if not a or not b:
        return False
    if options.relaxed_match_mode == "span_iou":
        return _span_iou(a, b, options.relaxed_span_iou_threshold)
    if a in b or b in a:
        return True
    left, right = set(a), set(b)
    return len(left & right) / len(left | right) >= options.relaxed_char_overlap_threshold


def _kind_of(event: Any) -> str:
    kind = event_type(event) if isinstance(event, Mapping) else None
    return kind or json.dumps(event, ensure_ascii=False)[:LONGEST_TYPE]


def _arguments_of(event: Any) -> Iterator[tuple[str, str]]:
    """The role and the words of each; the role is empty of what has none or is no argument."""
    role: Any
    arguments = event.get("arguments") if isinstance(event, Mapping) else None
    if isinstance(arguments, Mapping):
        arguments = [{name: words} for name, words in arguments.items()]
    for argument in arguments if isinstance(arguments, list) else [arguments]:
        role, words = "", argument
        if is_argument(argument):
            role, words = argument.get("role"), argument_words(argument)
        readable = isinstance(role, str) and isinstance(words, str)
        text = _as_text(words).strip() if words is not None else ""
        if text:
            yield composed(role).strip() if readable else "", text


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _groups(arguments: Sequence[Argument]) -> dict[tuple[str, str], list[int]]:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, argument in enumerate(arguments):
        groups[argument.type, argument.role].append(position)
    return groups


def _pairs(
    left: Sequence[str], right: Sequence[str], options: EventOptions
) -> list[tuple[int, int]]:
    if len(left) == 1 or len(right) == 1:  # the usual case needs no matching: any match will do
        cells = [(i, j) for i in range(len(left)) for j in range(len(right))]
        ordered = sorted(cells, key=lambda cell: left[cell[0]] != right[cell[1]])
        fitting = (
            cell for cell in ordered if relaxed_match(left[cell[0]], right[cell[1]], options)
        )
        return list(islice(fitting, 1))
    allowed = np.array([[relaxed_match(a, b, options) for b in right] for a in left], dtype=bool)
    equal = np.array([[a == b for b in right] for a in left], dtype=np.float64)
    return [(match.left, match.right) for match in assign(equal, allowed)]


def _span_iou(a: str, b: str, threshold: float) -> bool:
    """L/(|a| + |b| − L) ≥ threshold; the common part can be no longer than the shorter one."""
    total = len(a) + len(b)
    shorter = min(len(a), len(b))
    if shorter / (total - shorter) < threshold:
        return False
    common = longest_common_substring(a, b)
    return common / (total - common) >= threshold


class MatchDetail(TypedDict):
    """The counts behind an F1."""

    hits: int
    predicted: int
    gold: int


class RelaxedDetail(MatchDetail):
    """With the pairs of predicted and gold events that overlap enough."""

    pairs: list[list[int]]


class ParsingDetail(TypedDict):
    method: str
    repair_steps: list[str]


class ViolationDetail(TypedDict):
    violation: StoredFact


class AbsentDetail(TypedDict):
    """Words of arguments that no message holds."""

    absent: list[str]


class CoverageDetail(TypedDict):
    """What became of the thought: ``checked``, ``skipped`` or ``parse_fail``."""

    state: str


def _precision_recall_f1(name: str, hits: int, predicted: int, gold: int) -> dict[str, Value]:
    """F1 as 2·hits/(predicted + gold), which is the harmonic mean and can be summed."""
    shares = {
        f"{name}_precision": Share(hits, predicted),
        f"{name}_recall": Share(hits, gold),
        f"{name}_f1": Share(2 * hits, predicted + gold),
    }
    if not predicted and not gold:
        return {metric: Value(None, NOTHING) for metric in shares}
    detail: MatchDetail = {"hits": hits, "predicted": predicted, "gold": gold}
    return {
        metric: Value(_ratio(share), detail=detail if metric.endswith("_f1") else None, share=share)
        for metric, share in shares.items()
    }


def _ratio(share: Share) -> float:
    """0 with nothing below the line: then one side of the comparison is empty, the other not."""
    return share.numerator / share.denominator if share.denominator else 0.0


def _parse_diagnostics(reply: ParsedReply | None) -> dict[str, Value]:
    names = ("parse_raw_success", "parse_repair_success", "parse_errors")
    if reply is None:
        return {name: Value(None, NO_REPLY) for name in (*names, "parse_extraction_failures")}
    outcomes = (reply.outcome == "raw", reply.outcome == "repaired", reply.outcome == "error")
    values = {name: Value(float(hit)) for name, hit in zip(names, outcomes, strict=True)}
    detail: ParsingDetail = {"method": reply.method, "repair_steps": list(reply.repair_steps)}
    values["parse_raw_success"] = replace(values["parse_raw_success"], detail=detail)
    values["parse_extraction_failures"] = Value(float(reply.method == NO_JSON))
    return values


def _compliance(sample: Sample, options: EventOptions) -> Value:
    """A reply that did not parse complies with nothing."""
    if not sample.parsed:
        return Value(0.0, detail=ViolationDetail(violation=NOT_PARSED.as_json()))
    if options.schema_mode == "schema_strict" and not sample.schema:
        return Value(None, NO_SCHEMA)
    events = list(sample.predicted)
    violation = schema_violation(events, options.schema_mode, sample.schema)
    return Value(
        float(not violation),
        detail=ViolationDetail(violation=violation.as_json()) if violation else None,
    )


def _hallucination(sample: Sample, predicted: Reading, options: EventOptions) -> dict[str, Value]:
    if not sample.parsed:
        undefined = Value(None, NOT_PARSED)
        return {"hallucination_rate": undefined, "hallucination_entity_rate": undefined}
    checked = _checked(predicted, options)
    exact = options.hallucination_match_mode == "exact_span"
    texts = [composed(text) if exact else norm(text) for text in sample.texts]
    absent = [text for text, words in checked if not _stands_in(words, texts)]
    share = Share(len(absent), len(checked))
    return {
        "hallucination_rate": Value(float(bool(absent)), detail=AbsentDetail(absent=absent[:50])),
        "hallucination_entity_rate": Value(_ratio(share), share=share)
        if checked
        else Value(None, NOTHING_CHECKED),
    }


def _checked(predicted: Reading, options: EventOptions) -> list[tuple[str, str]]:
    """Each argument that is checked: as written, and as the mode compares it.

    Letter by letter, two wordings of a triple are two arguments: whichever is said first must
    not decide.
    """
    if options.hallucination_match_mode == "exact_span":
        pairs = [(argument.text, composed(argument.text)) for argument in predicted.wordings]
    else:
        pairs = [(argument.text, norm(argument.text)) for argument in predicted.arguments]
    return [(text, words) for text, words in pairs if len(words) >= SHORTEST_CHECKED]


def _stands_in(words: str, texts: Iterable[str]) -> bool:
    return any(words in text for text in texts)


def _thoughts(
    sample: Sample, predicted: Reading, gold: Reading, options: EventOptions
) -> dict[str, Value]:
    """Whether the thought before the answer says what the answer says."""
    names = ("cot_type_consistency", "cot_argument_consistency", "cot_faithfulness")
    if not options.cot_enabled:
        return {name: Value(None, COT_OFF) for name in (*names, "cot_coverage_rate")}
    thought = _thought_of(sample.reply, options)
    if thought is None or not sample.parsed:
        why, state = (NO_THOUGHT, "skipped") if thought is None else (NOT_PARSED, "parse_fail")
        missed = Value(0.0, detail=CoverageDetail(state=state))
        return {**{name: Value(None, why) for name in names}, "cot_coverage_rate": missed}
    consistency = _consistency(read_thought(thought, **_names(sample, predicted, gold)), predicted)
    return {
        **{name: Value(float(ok)) for name, ok in zip(names, consistency, strict=True)},
        "cot_coverage_rate": Value(1.0, detail=CoverageDetail(state="checked")),
    }


def _thought_of(reply: ParsedReply | None, options: EventOptions) -> str | None:
    if reply is None:
        return None
    if reply.thought or options.cot_require_thought_block:
        return reply.thought or None
    return reply.preamble or None


def _consistency(thought: Thought, predicted: Reading) -> tuple[bool, bool, bool]:
    types = thought.types == predicted.types
    arguments = all(
        norm(argument.text) in map(norm, thought.values(argument.role))
        for argument in predicted.arguments
    )
    return types, arguments, types and arguments


class KnownNames(TypedDict):
    types: set[str]
    roles: set[str]
    arguments: set[str]


def _names(sample: Sample, predicted: Reading, gold: Reading) -> KnownNames:
    """Every type and role by which a thought may call things, and the words that are arguments."""
    used = (*predicted.arguments, *gold.arguments)
    roles = {role for roles in sample.schema.values() for role in roles}
    return {
        "types": {*sample.schema, *predicted.types, *gold.types},
        "roles": roles | {argument.role for argument in used},
        "arguments": {argument.text for argument in predicted.wordings},
    }
