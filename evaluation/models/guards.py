"""Triggers of this app's tables, beside those of labeling."""

from __future__ import annotations

from labeling.models.guards import Guard, never

CLOSED = "The rating of this run is closed: its ratings stay as they are."

GUARDS: list[Guard] = [
    *never("evaluation_splitaccess", "A look at the test split is never taken back."),
    *never("evaluation_gateresult", "What a gate said is never taken back: ask it again."),
    *never("evaluation_judgecertificate", "A certificate never changes: look at the judge again."),
    Guard("evaluation_rating", "UPDATE", "OLD.frozen", CLOSED),
    Guard("evaluation_rating", "DELETE", "OLD.frozen", CLOSED),
]
