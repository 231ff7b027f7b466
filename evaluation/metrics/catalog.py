"""Every metric's definition in a sentence, its layers, direction and range.

The order is that in which they are shown. The full definitions are in templates/docs/metrics.md.
"""

import math
from typing import Any

from evaluation.metrics.metric import Metric
from evaluation.metrics.retrieval import CUTS


def _rows(layers: str, *definitions: tuple[str, str, str], **options: Any) -> list[Metric]:
    names = frozenset(layers.split())
    return [Metric(id_, 1, names, title, summary, **options) for id_, title, summary in definitions]


EXTRACTION = _rows(
    "extraction",
    (
        "requirement_recall",
        "Requirement recall",
        "Share of the gold requirements that have a one-to-one match: similar title and action, "
        "same type, same actor.",
    ),
    (
        "requirement_precision",
        "Requirement precision",
        "Share of the extracted requirements that have a one-to-one match in gold.",
    ),
    (
        "requirement_f1",
        "Requirement F1",
        "Harmonic mean of requirement recall and precision.",
    ),
    (
        "type_accuracy",
        "Type accuracy",
        "Share of the pairs matched by text alone whose types are equal.",
    ),
    (
        "actor_accuracy",
        "Actor accuracy",
        "Share of the pairs matched by text alone whose actors are equal or synonyms.",
    ),
    (
        "priority_accuracy",
        "Priority accuracy",
        "Share of the pairs matched by text alone whose priorities are equal.",
    ),
    (
        "source_overlap",
        "Source overlap",
        "Jaccard overlap of the cited source messages, averaged over the pairs matched by text "
        "alone.",
    ),
    (
        "criteria_completeness",
        "Criteria completeness",
        "Share of a matched gold requirement's acceptance criteria that were extracted too, "
        "averaged over the matches.",
    ),
)

CALIBRATION = _rows(
    "extraction",
    (
        "ece",
        "Expected calibration error",
        "Distance between stated confidence and share correct, averaged over ten confidence bins "
        "by their size.",
    ),
    (
        "mce",
        "Maximum calibration error",
        "Distance between stated confidence and share correct in the worst bin.",
    ),
    (
        "brier",
        "Brier score",
        "Mean squared distance between stated confidence and being correct (0 or 1).",
    ),
    direction="lower",
    scope="run",
)

NARRATIVE = _rows(
    "arc",
    (
        "global_recall",
        "Global recall",
        "Share of the expected messages of all phases together that were returned.",
    ),
    (
        "phase_coverage",
        "Phase coverage",
        "Share of the expected phases of which at least one message was returned.",
    ),
    (
        "phase_recall",
        "Phase recall",
        "Recall of each expected phase against everything returned, averaged over the phases.",
    ),
    (
        "best_match_phase_recall",
        "Best-match phase recall",
        "Recall of each expected phase against the one returned phase that overlaps it most, "
        "averaged over the phases.",
    ),
)

EVIDENCE = [
    *_rows(
        "qa",
        (
            "evidence_recall",
            "Evidence recall",
            "Share of the expected messages that were returned.",
        ),
    ),
    *_rows(
        "qa arc",
        (
            "evidence_precision",
            "Evidence precision",
            "Share of the returned messages that were expected.",
        ),
        (
            "fuzzy_recall",
            "Fuzzy recall (±3)",
            "Share of the expected messages with a returned one at most three messages away.",
        ),
    ),
    *_rows(
        "qa arc",
        (
            "fuzzy_recall_chance",
            "Fuzzy recall by chance",
            "The fuzzy recall that as many messages drawn at random would reach.",
        ),
        direction="lower",
        failure=0.0,
    ),
    *_rows(
        "qa arc",
        (
            "fuzzy_recall_corrected",
            "Fuzzy recall over chance",
            "Fuzzy recall corrected for chance: 0 is as good as drawing, 1 is everything, below "
            "0 is worse than drawing.",
        ),
        lower=-math.inf,
        failure=0.0,
    ),
    *_rows(
        "qa arc",
        (
            "timeline_coverage",
            "Timeline coverage",
            "Share of the time from the first to the last expected message that the returned "
            "phases cover.",
        ),
        (
            "groundedness",
            "Groundedness",
            "Share of the returned phases whose messages all exist and were among those that the "
            "generator was shown.",
        ),
    ),
    *_rows(
        "qa arc",
        (
            "hallucinated_id_rate",
            "Hallucinated ids",
            "Share of the returned message numbers that no message has.",
        ),
        direction="lower",
    ),
]


def _ranked() -> list[Metric]:
    """Four figures at each cut, and the reciprocal rank."""
    kinds = (
        ("recall_at", "Recall@{}", "Share of the expected messages among the first {} ranked."),
        ("precision_at", "Precision@{}", "Expected messages among the first {} ranked, over {}."),
        ("hit_rate_at", "Hit rate@{}", "Whether any expected message is among the first {}."),
        ("all_at", "All@{}", "Whether every expected message is among the first {}."),
    )
    at = [
        (f"{name}_{cut}", title.format(cut), summary.replace("{}", str(cut)))
        for name, title, summary in kinds
        for cut in CUTS
    ]
    rank = "One over the rank of the first expected message; 0 if none is ranked."
    return _rows("qa", *at, ("mrr", "Reciprocal rank", rank))


ROWS: list[Metric] = [*EXTRACTION, *CALIBRATION, *NARRATIVE, *EVIDENCE, *_ranked()]
