"""Triggers of this app's tables, like those of labeling."""

from __future__ import annotations

from labeling.core.models.guards import Guard, never

CLOSED = "The sample is closed: its ratings stay as they are."

GUARDS: list[Guard] = [
    *never("evaluation_gateresult", "What a gate said is never taken back: ask it again."),
    *never("evaluation_primarymetric", "A primary metric stays on record: declare another one."),
    *never("evaluation_chosenbaseline", "A baseline stays on record: choose another one."),
    *never("evaluation_judgecertificate", "A certificate never changes: draw another sample."),
    *never("evaluation_ratedplace", "What a sample holds never changes: draw another one."),
    Guard(
        "evaluation_ratingsample",
        "UPDATE",
        "OLD.closed_at IS NOT NULL OR NEW.seed <> OLD.seed OR NEW.panel_id <> OLD.panel_id"
        " OR NEW.kind <> OLD.kind OR NEW.drawn_from <> OLD.drawn_from",
        "A sample is drawn once, and closed once: draw another one.",
    ),
    Guard("evaluation_ratingsample", "DELETE", "", "A sample is never taken back."),
    Guard("evaluation_rating", "UPDATE", "OLD.frozen", CLOSED),
    Guard("evaluation_rating", "DELETE", "OLD.frozen", CLOSED),
]
