"""Where a run stands: beside people, before its gate, and in the eyes of judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from evaluation.layers import gold_layer
from evaluation.metrics.gate import NO_INTERVAL
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, GateResult, RatingPanel, Run
from evaluation.services import ceilings, gates
from evaluation.services.certificates import NOT_CERTIFIED
from evaluation.views import present
from labeling.domain.sentences import retold
from labeling.translation import translated

BASELINES = 20
UNDEFINED = "undefined: "


def context(run: Run, aggregates: Sequence[Aggregate]) -> dict[str, Any]:
    """Nothing while the run has no figures."""
    if run.scored_at is None:
        return {}
    people = ceilings.beside(run, aggregates)
    layer = gold_layer(run.release.layer)
    known = any(found.ceiling.mean is not None for found in people.values())
    return {
        "people": {name: present.people_cell(one) for name, one in people.items()} if known else {},
        "without": _without(people, known=known),
        "passes": any(people[name].level.passes for name in layer.headline if name in people),
        "apart": _apart(run, people),
        "gate": _gate(run),
        "rated": layer.rated,
        "panel": RatingPanel.objects.filter(run=run).first() if layer.rated else None,
    }


def _apart(run: Run, people: dict[str, ceilings.Beside]) -> list[dict[str, Any]]:
    """The main figures pair by pair, and each person against gold."""
    found = []
    for name in gold_layer(run.release.layer).headline:
        detail = people[name].ceiling.detail if name in people else {}
        rows = [*detail.get("pairs", []), *detail.get("gold", [])]
        if rows:
            shown = [row | {"mean": present.figure(row["mean"])} for row in rows]
            found.append({"metric": METRICS[name], "rows": shown})
    return found


def _without(people: dict[str, ceilings.Beside], *, known: bool) -> list[dict[str, Any]]:
    """Why metrics have no figure of people; one reason where none of them has."""
    missing = {name: found.ceiling.reason for name, found in people.items() if found.ceiling.reason}
    if not known:
        return [{"metric": None, "reason": reason} for reason in list(missing.values())[:1]]
    return [{"metric": METRICS[name], "reason": reason} for name, reason in missing.items()]


def _gate(run: Run) -> dict[str, Any]:
    limits, max_drop = gates.settings_of(run)
    last = GateResult.objects.filter(run=run).select_related("asked_by").first()
    others = Run.objects.beside(run).defer("spec", "config", "release__header")
    return {
        "limits": [(METRICS[name], limit) for name, limit in limits.items() if name in METRICS],
        "max_drop": max_drop,
        "last": last,
        "checks": [_check(one) for one in last.checks] if last else [],
        "failed": len(gates.failed(last)) if last else 0,
        "baselines": others[:BASELINES],
    }


def _check(one: dict[str, Any]) -> dict[str, Any]:
    value, limit = present.compared(one["value"], one["limit"])
    at_least = one["kind"] == "threshold" and one["direction"] == "higher"
    return {
        "metric": METRICS.get(one["metric"]),
        "kind": one["kind"],
        "passed": one["passed"],
        "value": value,
        "limit": f"{'≥' if at_least else '≤'} {limit}",
        "reason": "" if one["passed"] else _why_failed(one),
    }


def _why_failed(one: dict[str, Any]) -> str:
    """In the language of the reader; what is stored is English."""
    said = str(one["reason"])
    value, limit = present.compared(one["value"], one["limit"])
    if said.startswith(UNDEFINED):
        return _("undefined: {reason}").format(reason=translated(said.removeprefix(UNDEFINED)))
    if "said" in one:
        return translated(retold(one["said"]))
    if said == NO_INTERVAL or said in NOT_CERTIFIED:
        return translated(said)
    if one["kind"] == "drift":
        return _("worse by {value}, more than {limit}, and not by chance").format(
            value=value, limit=limit
        )
    if one["direction"] == "higher":
        return _("{value} is below {limit}").format(value=value, limit=limit)
    return _("{value} is above {limit}").format(value=value, limit=limit)
