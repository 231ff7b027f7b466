"""Every metric's definition in a sentence, its layers, direction and range.

The order is that in which they are shown. The full definitions are in templates/docs/metrics.md.
"""

import math

from evaluation.metrics.metric import Metric, rows
from evaluation.metrics.metric import rows as _rows
from evaluation.metrics.retrieval import CUTS

AT_RANDOM = {
    "messages": "As many different messages of the conversation, drawn at random.",
    "phases": "As many phases, each of as many messages drawn at random.",
    "calibrated": "What a perfectly calibrated pipeline with the same confidences would show.",
    "ranked": "As many messages of the conversation, ranked at random.",
}
"""The random answers that chance levels are about."""

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
    version=2,
)

INFERENCE = [
    *_rows(
        "inference",
        (
            "inference_relevance",
            "Inference relevance",
            "How much the inferred requirements are needed, as rated by judges (2, 1 or 0) or, "
            "without ratings, by the gold label they match; 1 is all definitely needed.",
        ),
        version=2,
    ),
    *_rows(
        "inference",
        (
            "false_inference_rate",
            "False inference rate",
            "Share of the inferred requirements that most judges rate as not needed or, without "
            "ratings, that gold does not know.",
        ),
        direction="lower",
        version=2,
    ),
]

CALIBRATION = _rows(
    "extraction inference",
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
    direction="lower",
    scope="run",
    version=2,
    chance=AT_RANDOM["calibrated"],
) + _rows(
    "extraction inference",
    (
        "brier",
        "Brier score",
        "Mean squared distance between stated confidence and being correct (0 or 1).",
    ),
    direction="lower",
    scope="run",
    version=2,
)

VALIDATION = [
    *_rows(
        "validation",
        (
            "issue_recall",
            "Issue recall",
            "Share of the gold issues that were found: same requirement, kind and field.",
        ),
        (
            "issue_precision",
            "Issue precision",
            "Share of the found issues that are in gold.",
        ),
        ("issue_f1", "Issue F1", "Harmonic mean of issue recall and precision."),
        (
            "severity_accuracy",
            "Severity accuracy",
            "Share of the matched issues whose severities are equal.",
        ),
    ),
    *_rows(
        "validation",
        (
            "pii_precision",
            "Personal data precision",
            "Share of the pieces of personal data found that are in gold.",
        ),
        (
            "pii_recall",
            "Personal data recall",
            "Share of the pieces of personal data in gold that were found.",
        ),
        (
            "pii_f1",
            "Personal data F1",
            "Harmonic mean of personal data recall and precision.",
        ),
        scope="micro",
    ),
]

DOCUMENT = _rows(
    "end_to_end",
    (
        "rd_score",
        "Document score",
        "0.4 coverage + 0.3 accuracy + 0.2 structure + 0.1 traceability of the requirements "
        "document.",
    ),
    (
        "rd_coverage",
        "Coverage",
        "Share of the gold requirements that the document states.",
    ),
    (
        "rd_accuracy",
        "Accuracy",
        "Share of the document's requirements that are in gold.",
    ),
    (
        "rd_structure",
        "Structure",
        "Mean of two shares: of the eleven sections that say something, and of the requirements "
        "that are complete.",
    ),
    (
        "rd_traceability",
        "Traceability",
        "Share of the document's requirements that cite messages, all of which exist.",
    ),
    version=2,
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
    chance=AT_RANDOM["phases"],
)

EVIDENCE = [
    *_rows(
        "qa",
        (
            "evidence_recall",
            "Evidence recall",
            "Share of the expected messages that were returned.",
        ),
        chance=AT_RANDOM["messages"],
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
        chance=AT_RANDOM["messages"],
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
        scope="micro",
        version=2,
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
        chance=AT_RANDOM["phases"],
        version=2,
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
    return _rows("qa", *at, ("mrr", "Reciprocal rank", rank), chance=AT_RANDOM["ranked"], version=2)


def _matched(kind: str, title: str, what: str) -> list[Metric]:
    """Precision, recall and F1 of one way to match; pooled over the samples."""
    return _rows(
        "events",
        (f"{kind}_precision", f"{title} precision", f"Share of the predicted {what} in gold."),
        (f"{kind}_recall", f"{title} recall", f"Share of the gold {what} that were predicted."),
        (f"{kind}_f1", f"{title} F1", f"Harmonic mean of {title.lower()} precision and recall."),
        scope="micro",
        version=2,
    )


EVENTS = [
    *_matched("strict", "Strict", "arguments (same event type, role and words)"),
    *_matched("relaxed", "Relaxed", "arguments (same event type and role, similar words)"),
    *_matched("type", "Type", "event types"),
    *_rows(
        "events",
        ("parse_raw_success", "Parsed as written", "Whether the reply's JSON parses as written."),
        ("parse_repair_success", "Parsed after repair", "Whether it parses only after repair."),
        version=2,
    ),
    *_rows(
        "events",
        ("parse_errors", "Parse errors", "Whether the reply does not parse, also after repair."),
        ("parse_extraction_failures", "No JSON found", "Whether the reply holds no JSON at all."),
        direction="lower",
        version=2,
    ),
    *_rows(
        "events",
        (
            "schema_compliance_rate",
            "Schema compliance",
            "Whether the events keep to the format, and to the project's types and roles if asked.",
        ),
        version=2,
    ),
    *_rows(
        "events",
        (
            "hallucination_rate",
            "Hallucination",
            "Whether any argument is not in the text; samples that parsed.",
        ),
        direction="lower",
        version=3,
    ),
    *_rows(
        "events",
        (
            "hallucination_entity_rate",
            "Hallucinated arguments",
            "Share of the checked arguments that are not in the text.",
        ),
        direction="lower",
        scope="micro",
        version=3,
    ),
    *_rows(
        "events",
        (
            "cot_type_consistency",
            "Thought: types",
            "Whether the thought names the same event types as the answer.",
        ),
        (
            "cot_argument_consistency",
            "Thought: arguments",
            "Whether the thought gives every argument of the answer to its role.",
        ),
        (
            "cot_faithfulness",
            "Thought: faithfulness",
            "Whether the thought agrees with the answer in types and arguments.",
        ),
        (
            "cot_coverage_rate",
            "Thought: coverage",
            "Share of the samples whose thought could be checked.",
        ),
        diagnostic=True,
        version=3,
    ),
]


ANSWERS = [
    *rows(
        "answers",
        (
            "faithfulness",
            "Faithfulness",
            "How far the messages that the answer was written from bear it out, says a judge.",
        ),
        ("relevance", "Relevance", "How far the answer is about the question, says a judge."),
        ("completeness", "Completeness", "How much of the question it answers, says a judge."),
        (
            "correctness",
            "Correctness",
            "How far the answer says what the reference answer says, says a judge.",
        ),
        upper=10.0,
        version=2,
    ),
    *rows(
        "answers",
        (
            "answer_token_f1",
            "Answer token F1",
            "F1 of the stemmed words of answer and reference answer.",
        ),
        version=2,
    ),
]

ROWS: list[Metric] = [
    *EXTRACTION,
    *INFERENCE,
    *CALIBRATION,
    *VALIDATION,
    *DOCUMENT,
    *NARRATIVE,
    *EVIDENCE,
    *_ranked(),
    *EVENTS,
    *ANSWERS,
]
