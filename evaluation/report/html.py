"""A report as one HTML file: no script, nothing fetched, readable from disk and on paper."""

from __future__ import annotations

import base64
import hashlib

from django.template.loader import render_to_string

from evaluation.report.content import Report
from evaluation.services.language_models import bills, budgets
from evaluation.services.run import baselines, gates, results
from evaluation.services.run.conclusions import exposed
from evaluation.services.run.primary_metrics import sentences
from evaluation.templatetags import present
from evaluation.views.pairs import score_of
from evaluation.views.plots import picture_of

FIGURES = ("mean", "interval", "median", "n", "n_undefined", "n_failed", "chance")


def written(report: Report, address: str) -> list[str]:
    """In the language of the reader."""
    sheet = _sheet()
    run, headline, compared = report.run, report.headline, report.compared
    primary = report.primary.metric
    figures, diagnostics = results.apart(report.layer, report.rows)
    columns = present.case_columns(report.layer, answered=run.spec.has_answers)
    groups = present.grouped(report.layer, figures)
    titled = [present.Group("Diagnostics", diagnostics)] if diagnostics else []
    choice = baselines.choice_of(compared.before) if compared else None
    context = {
        "report": report,
        "run": run,
        "spec": run.spec,
        "headline": headline,
        "picture": picture_of(headline) if headline else None,
        "table": present.figure_table([*groups, *titled], FIGURES),
        "exposed": exposed([compared.before, compared.after]) if compared else [],
        "deciding": [
            *sentences(report.primary, report.primary.declared_after([run])),
            *(baselines.sentences(choice, [run]) if choice else []),
        ],
        "checks": gates.checks_of(report.gate) if report.gate else [],
        "cases": [
            (
                worst,
                score_of(worst.case, primary),
                [(each, score_of(worst.case, each)) for each in columns],
            )
            for worst in report.worst.rows
        ],
        "ids": list(results.ids_report(run)),
        "model": bills.usage(budgets.spent(run.pk), with_models=True) if run.spec.model else [],
        "address": address,
        "is_reached": not address.startswith("/"),  # a file on a disk is on no server
        "sheet": sheet,
        "hash": _hash(sheet),
    }
    return [render_to_string("evaluation/report.html", context)]


def policy() -> dict[str, list[str]]:
    """What the file may do: look as its own sheet says, and nothing else."""
    sources = [f"'sha256-{_hash(_sheet())}'"]
    nothing = ("default-src", "base-uri", "form-action", "frame-ancestors")
    return {"style-src": sources, **{name: ["'none'"] for name in nothing}}


def _sheet() -> str:
    return render_to_string("evaluation/report.css")


def _hash(sheet: str) -> str:
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
