"""Questions with evidence, and narrative arcs: every label of a gold item is a separate case.

Gold keeps 0-based message positions; pipelines return localIds, which are 1-based.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from evaluation.layers import checks
from evaluation.layers.base import (
    AggregateDetails,
    Context,
    Example,
    GoldLayer,
    Label,
    MalformedOutput,
    Part,
    Scored,
)
from evaluation.layers.breakdown import Group, by_case, mean
from evaluation.metrics.evidence import NO_TIMES, Corpus, ReturnedEvidence, score_evidence
from evaluation.metrics.metric import Value
from evaluation.metrics.narrative import score_narrative
from evaluation.metrics.retrieval import CUTS, metric_ids, score_ranking
from evaluation.metrics.trace import (
    CHECKPOINTS,
    Checkpoints,
    Loss,
    Rank,
    dropped,
    effective,
    funnel,
    losses,
    ranks,
)
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import GoldContent
from labeling.schema import LAYERS

NO_EVIDENCE = Fact("metric.no_expected_message")
FUZZY = ("fuzzy_recall", "fuzzy_recall_chance")  # never one without the other
OF_RETURNED = ("timeline_coverage", "groundedness", "hallucinated_id_rate")
MANY = 3  # evidence messages from which a question counts as spread out


class ReturnedPhase(TypedDict):
    title: str
    evidence: list[int]


class EvidenceOutput(TypedDict):
    """What a pipeline returns for a question or an arc, at least; ids count from 1."""

    evidence: list[int]
    phases: list[ReturnedPhase]


class Untraced(TypedDict):
    """Cases that the funnel leaves out, and their expected messages."""

    cases: int
    messages: int


class Reranking(TypedDict):
    """Of how many candidates nothing was left by it."""

    dropped: int


class RecallAggregate(TypedDict):
    """What a run stores next to the recall: where expected messages were lost, and by group."""

    unscorable: int
    funnel: dict[str, int]
    reranking: Reranking | None
    """``None``: nothing was re-ranked."""
    untraced: dict[str, Untraced]
    by_evidence: list[Group]
    by_category: list[Group]
    returned_mean: float | None


class Memory(GoldLayer):
    """What questions and arcs have in common."""

    recall_metric: str
    has_phases = False
    asks_one_by_one = True
    floors = ("lexical", "random", "nothing", "everything")
    off = frozenset({NO_TIMES})

    def parts(self, content: GoldContent) -> list[Part]:
        labels = self.gold(content)
        prefix = LAYERS[self.name].prefix
        return [
            Part(label["uid"], label.get("id") or f"{prefix}-{number:03d}")
            for number, label in enumerate(labels, start=1)
        ]

    def question(self, gold: Sequence[Label]) -> str | None:
        return str(gold[0]["question"])

    def predicted(self, output: Mapping[str, Any] | None) -> list[Label]:
        """The returned phases; a plain answer is one."""
        if output is None:
            return []
        phases = output.get("phases") or [{"title": "", "evidence": output["evidence"]}]
        return [dict(phase) for phase in phases]

    def as_output(self, labels: Sequence[Label]) -> EvidenceOutput:
        phases: list[ReturnedPhase] = [
            {"title": phase.get("title", ""), "evidence": _one_based(phase.get("evidence"))}
            for phase in labels[0].get("phases") or []
        ]
        own = _one_based(labels[0].get("evidence"))
        together = sorted({local_id for phase in phases for local_id in phase["evidence"]})
        return {"evidence": own or together, "phases": phases}

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        """Ids that no message has may pass: they are counted as hallucinated.

        A phase names only what is returned: precision is that of what recall is counted from.
        """
        checks.integers(output.get("evidence"), "evidence")
        returned = set(output["evidence"])
        if output.get("ranked") is not None:
            checks.integers(output["ranked"], "ranked")
        for path, phase in checks.labels({"phases": output.get("phases") or []}, "phases"):
            checks.mapping(phase, path)
            checks.text(phase.get("title"), f"{path}.title")
            checks.integers(phase.get("evidence"), f"{path}.evidence")
            beyond = [local_id for local_id in phase["evidence"] if local_id not in returned]
            if beyond:
                raise MalformedOutput("output.not_in_evidence", path=path, index=beyond[0])
        checks.text(output.get("answer"), "answer")
        _check_trace(output.get("trace") or {})

    def unscorable(self, example: Example) -> Fact | None:
        return None if self.expected_ids(example) else NO_EVIDENCE

    def expected_ids(self, example: Example) -> list[int]:
        return sorted({local_id for ids in self.expected_phases(example) for local_id in ids})

    def returned_ids(self, example: Example) -> list[int]:
        return list(example.output["evidence"]) if example.output else []

    @abstractmethod
    def expected_phases(self, example: Example) -> list[list[int]]:
        """The localIds of each expected phase; of a question, of its one."""

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        able = [case for case in scored if not self.unscorable(case.example)]
        fates = [self.fates(case.example) for case in able]
        traced = [
            self.checkpoints(case.example) for case, fate in zip(able, fates, strict=True) if fate
        ]
        n_dropped = dropped(traced)
        untraced = [case for case, fate in zip(able, fates, strict=True) if not fate]
        recall: RecallAggregate = {
            "unscorable": len(scored) - len(able),
            "funnel": funnel(fates),
            "reranking": None if n_dropped is None else {"dropped": n_dropped},
            "untraced": self._untraced(untraced),
            "by_evidence": by_case(able, self.recall_metric, self._size),
            "by_category": by_case(able, self.recall_metric, _category),
            "returned_mean": mean([len(self.returned_ids(case.example)) for case in able]),
        }
        return {self.recall_metric: recall}

    def fates(self, example: Example) -> dict[int, Loss]:
        """Where each expected message was lost; empty if the output names no checkpoints."""
        checkpoints = self.checkpoints(example)
        if not {"candidates", "selected"} <= set(checkpoints):
            return {}
        return losses(self.expected_ids(example), checkpoints)

    def checkpoints(self, example: Example) -> Checkpoints:
        """The ids at each one that the output names, in the order of the way through them."""
        trace = (example.output or {}).get("trace") or {}
        return effective({name: trace[name]["ids"] for name in CHECKPOINTS if trace.get(name)})

    def ranks(self, example: Example) -> dict[int, Rank]:
        """The rank of each expected message among the candidates and after re-ranking."""
        return ranks(self.expected_ids(example), self.checkpoints(example))

    def _untraced(self, cases: Sequence[Scored]) -> dict[str, Untraced]:
        """The cases that the funnel leaves out, and their expected messages, by the reason."""
        reasons = {
            "failed": [case.example for case in cases if case.failed],
            "no_checkpoints": [case.example for case in cases if not case.failed],
        }
        return {
            reason: {
                "cases": len(examples),
                "messages": sum(len(self.expected_ids(example)) for example in examples),
            }
            for reason, examples in reasons.items()
        }

    def _size(self, example: Example) -> str:
        size = len(self.expected_ids(example))
        return str(size) if size < MANY else f"{MANY} or more"


class Questions(Memory):
    name = "qa"
    recall_metric = "evidence_recall"
    headline = ("evidence_recall", "evidence_precision", "mrr")
    groups = (
        (
            msgid("Expected messages"),
            ("evidence_recall", "evidence_precision", *FUZZY, "fuzzy_recall_corrected"),
        ),
        (msgid("Quality of what was returned"), OF_RETURNED),
        (
            msgid("Ranking"),
            (
                "mrr",
                *(
                    f"{name}_at_{cut}"
                    for name in ("recall", "precision", "hit_rate", "all")
                    for cut in CUTS
                ),
            ),
        ),
    )
    log = ("evidence_recall", "evidence_precision")
    optional = {"ranked": tuple(metric_ids())}
    columns = (*headline, *FUZZY, "recall_at_10", "timeline_coverage", "groundedness")

    def expected_phases(self, example: Example) -> list[list[int]]:
        return [_local_ids(example.gold[0].get("evidence"), example)]

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        answer = _answer(example.output or {})
        expected = self.expected_ids(example)
        return {
            **score_evidence(expected, answer, _corpus(example)),
            **score_ranking(expected, answer.ranked, size=len(example.messages)),
        }


class Arcs(Memory):
    name = "arc"
    has_phases = True
    recall_metric = "global_recall"
    headline = ("global_recall", "phase_coverage", "evidence_precision")
    groups = (
        (
            msgid("Expected messages"),
            ("global_recall", "evidence_precision", *FUZZY, "fuzzy_recall_corrected"),
        ),
        (
            msgid("Phases"),
            ("phase_coverage", "phase_recall", "best_match_phase_recall"),
        ),
        (msgid("Quality of what was returned"), OF_RETURNED),
    )
    log = ("global_recall", "evidence_precision")
    columns = (
        *headline,
        "phase_recall",
        "best_match_phase_recall",
        *FUZZY,
        "timeline_coverage",
    )

    def expected_phases(self, example: Example) -> list[list[int]]:
        phases = example.gold[0].get("phases") or []
        return [_local_ids(phase.get("evidence"), example) for phase in phases]

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        answer = _answer(example.output or {})
        evidence = score_evidence(self.expected_ids(example), answer, _corpus(example))
        del evidence["evidence_recall"]  # the same as the global recall
        phases = self.expected_phases(example)
        size = len(example.messages)
        return {**evidence, **score_narrative(phases, answer.spans, answer.evidence, size=size)}


def _local_ids(positions: Any, example: Example) -> list[int]:
    """Those that exist, as localIds."""
    size = len(example.messages)
    return sorted({index + 1 for index in positions or [] if 0 <= index < size})


def _one_based(positions: Any) -> list[int]:
    return sorted({index + 1 for index in positions or []})


def _answer(output: Mapping[str, Any]) -> ReturnedEvidence:
    phases = output.get("phases") or []
    verdicts = [phase.get("verified") for phase in phases]
    trace = output.get("trace") or {}
    shown = trace.get("shown")
    if shown is None:
        shown = (trace.get("candidates") or {}).get("ids")
    return ReturnedEvidence(
        evidence=output["evidence"],
        phases=[phase["evidence"] for phase in phases],
        ranked=output.get("ranked"),
        shown=None if shown is None else frozenset(shown),
        accepted=verdicts
        if verdicts and all(type(verdict) is bool for verdict in verdicts)
        else None,
    )


def _corpus(example: Example) -> Corpus:
    times = {
        message["index"] + 1: datetime.fromisoformat(time).timestamp()
        for message in example.messages
        if (time := message.get("time"))
    }
    return Corpus(len(example.messages), times)


def _check_trace(trace: Any) -> None:
    checks.mapping(trace, "trace")
    if trace.get("shown") is not None:
        checks.integers(trace["shown"], "trace.shown")
    for name in CHECKPOINTS:
        if (checkpoint := trace.get(name)) is not None:
            checks.mapping(checkpoint, f"trace.{name}")
            checks.integers(checkpoint.get("ids"), f"trace.{name}.ids")


def _category(example: Example) -> str:
    return str(example.gold[0].get("category") or "none")
