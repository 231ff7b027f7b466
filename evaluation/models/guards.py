"""Triggers of this app's tables, beside those of labeling."""

from __future__ import annotations

from labeling.models.guards import Guard, never

GUARDS: list[Guard] = [
    *never("evaluation_splitaccess", "A look at the test split is never taken back."),
]
