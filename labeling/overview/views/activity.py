"""The audit log in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.core.forms.audit import AuditFilter
from labeling.core.forms.project_settings import SettingsForm
from labeling.core.views.paging import page_of, query_of
from labeling.models import Disagreement, Event, Project, Review
from labeling.templatetags.figures import exact, figure
from labeling.templatetags.words import layer_title
from labeling.translation import isolated, translated
from labeling.translation import lazy as _
from labeling.words import EVENTS, is_fact, words_of


def words(event: Event) -> str:
    """A sentence for what this version records; for what only older ones did, the verb in words."""
    plain = event.verb.replace(".", " ").replace("_", " ")
    return EVENTS.get(event.verb, plain).format_map(
        _Known({**event.data, **_values_in_words(event), "object_id": event.object_id})
    )


def changes(fields: Iterable[str], was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """“κ threshold (0.75 → 0.6), description”: from what to what, where it is short."""
    parts = []
    for name in fields:
        old, new = _setting(name, was.get(name)), _setting(name, now.get(name))
        parts.append(f"{titled(name)} ({old} → {new})" if old and new else titled(name))
    return ", ".join(parts)


def titled(name: str) -> str:
    field = SettingsForm.base_fields.get(name)
    return translated((field and field.label) or name.replace("_", " ").capitalize())


def _setting(name: str, value: Any) -> str:
    match value:
        case int() | float():
            return exact(value)
        case str() if len(value) <= SHORT:
            return translated(dict(Project.Statistic.choices).get(value, value))
        case [*names] if name == "layers":
            return ", ".join(layer_title(layer) for layer in names)
    return ""


SHORT = 50
"""Longer texts are in the event, and not told in its line."""


def _values_in_words(event: Event) -> dict[str, str]:
    if event.verb == "project.changed" and "was" in event.data:
        return {"fields": changes(**event.data)}
    facts = {key: value for key, value in event.data.items() if is_fact(value)}
    return {key: words_of(value) for key, value in facts.items()}


OUR_WORDS = ("role", "before", "kind", "verdict", "outcome", "found", "result")
"""What events hold under these is a state; where its code is not its word, LABELS has that."""

LABELS: dict[str, dict[str, Any]] = {
    "verdict": dict(Review.Verdict.choices),
    "outcome": dict(Disagreement.Outcome.choices),
    "found": {"stands": _("still stands"), "outdated": _("has to be labeled again")},
}
"""Events never change: old ones hold the English word in place of the code."""


class _Known(dict[str, Any]):
    """Values as text. Events are never changed, so old ones may lack a key that new ones have."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(
            {
                key: translated(LABELS.get(key, {}).get(value, value))
                if key in OUR_WORDS and value
                else _text(value)
                for key, value in data.items()
            }
        )

    def __missing__(self, key: str) -> str:
        return "–"


def _text(value: Any) -> str:
    match value:
        case None:
            return translated("undefined")
        case float():
            return figure(value)
        case list():
            return ", ".join(map(isolated, value))
        case dict():
            return ", ".join(f"{name}: {number}" for name, number in value.items()) or "–"
    return isolated(value)


# --- audit log ------------------------------------------------------------------------------------


@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    form = AuditFilter(request.GET)
    rows = form.narrow(project.events.select_related("actor"))
    page = page_of(
        rows, order=["-pk"], after=request.GET.get("after"), anchors=project.events.all()
    )
    context = {
        "project": project,
        "form": form,
        "page": page,
        "entries": [(event, words(event)) for event in page.rows],
        "query": query_of(request),
    }
    return render(request, "labeling/audit.html", context)
