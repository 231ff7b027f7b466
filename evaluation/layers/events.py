"""Events: what happens in a text, and who takes which part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from evaluation.layers import checks
from evaluation.layers.base import (
    AggregateDetails,
    Context,
    Example,
    GoldLayer,
    Label,
    MalformedOutput,
    Scored,
)
from evaluation.layers.breakdown import mean
from evaluation.metrics.event_options import read_options
from evaluation.metrics.events import (
    COT_OFF,
    NO_SCHEMA,
    MatchDetail,
    Sample,
    events_of,
    parse_reply,
    score_events,
)
from evaluation.metrics.metric import Value
from labeling.domain.facts import Fact, StoredFact
from labeling.domain.msgids import msgid
from pipelines.parsing import ParsedReply

LONGEST_REPLY = 1_000_000  # characters
DIAGNOSTICS = (
    "parse_raw_success",
    "parse_repair_success",
    "parse_errors",
    "parse_extraction_failures",
)
POOLED = tuple(f"{kind}_f1" for kind in ("strict", "relaxed", "type"))


class EventDetail(TypedDict, total=False):
    """What a run stores next to a figure of events; each figure has those that explain it."""

    count: int
    """Samples of which the figure is 1."""
    left_out: int
    """Samples that a rate leaves out."""
    counts: MatchDetail
    """Of all samples that ran; ``macro`` is the mean of their F1."""
    macro: float | None
    methods: dict[str, int]
    """How the JSON of replies was found, and what repaired it, each with its number."""
    repair_steps: dict[str, int]
    among_parsed: float | None
    parsed: int
    violations: list[CountedViolation]
    checked: int
    """Words of arguments that were looked for in the text, and those that are not in it."""
    absent: int
    cot_checked: int
    cot_skipped: int
    cot_parse_fail: int


class CountedViolation(TypedDict):
    reason: StoredFact
    count: int


class Events(GoldLayer):
    name = "events"
    floors = ("nothing",)
    headline = ("strict_f1", "relaxed_f1", "type_f1")
    groups = (
        (msgid("Exact events"), ("strict_f1", "strict_recall", "strict_precision")),
        (msgid("Overlapping events"), ("relaxed_f1", "relaxed_recall", "relaxed_precision")),
        (msgid("Event types"), ("type_f1", "type_recall", "type_precision")),
        (
            msgid("Replies and their words"),
            (
                *("parse_raw_success", "parse_repair_success", "parse_errors"),
                *("parse_extraction_failures", "schema_compliance_rate"),
                *("hallucination_rate", "hallucination_entity_rate"),
            ),
        ),
    )
    log = ("strict_recall", "strict_precision")
    suggested = True
    has_options = True
    off = frozenset({COT_OFF, NO_SCHEMA})
    optional = {"raw": DIAGNOSTICS}
    columns = (
        *headline,
        "parse_errors",
        "schema_compliance_rate",
        "hallucination_rate",
        "hallucination_entity_rate",
    )

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        """What single events look like is measured (schema compliance), not refused."""
        checks.text(output.get("raw"), "raw")
        if output.get("raw") is None:
            list(checks.labels(output, self.key))
        elif len(output["raw"]) > LONGEST_REPLY:
            raise MalformedOutput("output.raw_too_long", most=LONGEST_REPLY)

    def predicted(self, output: Mapping[str, Any] | None) -> list[Label]:
        """The events of the raw reply where there is one: it is what the model really said."""
        if output is None:
            return []
        reply = reply_of(output)
        return events_of(reply.value) if reply else list(output[self.key])

    def is_unreadable(self, output: Mapping[str, Any]) -> bool:
        reply = reply_of(output)
        return reply is not None and reply.outcome == "error"

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        output = example.output or {}
        reply = reply_of(output)
        sample = Sample(
            gold=example.gold,
            predicted=self.predicted(output),
            texts=[message["content"] for message in example.messages],
            reply=reply,
            schema=context.spec.event_schema or {},
        )
        return score_events(sample, read_options(context.spec.metrics_config or {}))

    def returned_ids(self, example: Example) -> list[int]:
        return _cited(self.predicted(example.output))

    def expected_ids(self, example: Example) -> list[int]:
        return _cited(example.gold)

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        """Counts in addition to the rates: over all samples, failed ones separately."""
        ran = [case for case in scored if not case.failed]
        return {
            **{name: _pooled_counts(ran, name) for name in POOLED},
            **{name: EventDetail(count=_count(ran, name)) for name in DIAGNOSTICS},
            "parse_raw_success": _parsing(ran),
            "schema_compliance_rate": _compliance(ran),
            "hallucination_rate": EventDetail(left_out=_undefined(ran, "hallucination_rate")),
            "hallucination_entity_rate": _checked(ran),
            "cot_coverage_rate": _coverage(ran),
        }


def reply_of(output: Mapping[str, Any]) -> ParsedReply | None:
    raw = output.get("raw")
    return None if raw is None else parse_reply(raw)


def _cited(events: Sequence[Any]) -> list[int]:
    """The messages of triggers and arguments, if the label names them."""
    spans = [span for event in events if isinstance(event, Mapping) for span in spans_of(event)]
    return sorted({place for span in spans if type(place := span.get("message")) is int})


def spans_of(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The words of an event: its trigger, then its arguments."""
    arguments = event.get("arguments")
    listed = arguments if isinstance(arguments, list) else []
    spans = [event.get("trigger")]
    spans += [argument.get("span") for argument in listed if isinstance(argument, Mapping)]
    return [span for span in spans if isinstance(span, Mapping)]


def _pooled_counts(ran: Sequence[Scored], metric: str) -> EventDetail:
    details: list[MatchDetail] = [
        case.values[metric].detail for case in ran if case.values[metric].detail
    ]
    counts: MatchDetail = {
        "hits": sum(detail["hits"] for detail in details),
        "predicted": sum(detail["predicted"] for detail in details),
        "gold": sum(detail["gold"] for detail in details),
    }
    return {"counts": counts, "macro": mean([case.values[metric].value for case in ran])}


def _parsing(ran: Sequence[Scored]) -> EventDetail:
    details = [case.values["parse_raw_success"].detail or {} for case in ran]
    return {
        "count": _count(ran, "parse_raw_success"),
        "methods": dict(Counter(detail["method"] for detail in details if "method" in detail)),
        "repair_steps": dict(
            Counter(step for detail in details for step in detail.get("repair_steps", ()))
        ),
    }


def _compliance(ran: Sequence[Scored]) -> EventDetail:
    parsed = [case for case in ran if case.values["parse_errors"].value != 1]
    values = [case.values["schema_compliance_rate"] for case in parsed]
    violations = Counter(
        Fact.from_json(value.detail["violation"]) for value in values if value.detail
    )
    return {
        "among_parsed": mean([value.value for value in values]),
        "parsed": len(parsed),
        "violations": [
            {"reason": why.as_json(), "count": count} for why, count in violations.most_common(20)
        ],
    }


def _checked(ran: Sequence[Scored]) -> EventDetail:
    shares = [case.values["hallucination_entity_rate"].share for case in ran]
    return {
        "checked": sum(int(share.denominator) for share in shares if share),
        "absent": sum(int(share.numerator) for share in shares if share),
        "left_out": _undefined(ran, "hallucination_rate"),
    }


def _coverage(ran: Sequence[Scored]) -> EventDetail:
    states = Counter(
        case.values["cot_coverage_rate"].detail["state"]
        for case in ran
        if case.values["cot_coverage_rate"].detail
    )
    return {
        "cot_checked": states["checked"],
        "cot_skipped": states["skipped"],
        "cot_parse_fail": states["parse_fail"],
    }


def _count(ran: Sequence[Scored], metric: str) -> int:
    return sum(case.values[metric].value == 1 for case in ran)


def _undefined(ran: Sequence[Scored], metric: str) -> int:
    return sum(case.values[metric].value is None for case in ran)
