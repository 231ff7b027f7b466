"""Layers that nobody used in a calibration round: agreement could not be measured on them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from labeling.agreement.rules.agreement import outcome_of
from labeling.core import events, project_settings
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import EmptyLayer, Project, Round
from labeling.schema import LAYERS


class LayerWasUsed(RuleError):
    """Agreement was measured on this layer, so there is nothing to state about it."""

    code = "layer_was_used"


class LayerStays(RuleError):
    """A project labels at least one layer, and what its other layers refer to."""

    code = "layer_stays"


def unused_in(closed: Round) -> list[str]:
    """The layers of a closed calibration round that are not measured."""
    figures = closed.agreement or {}
    layers = figures.get("layers", {})
    return [name for name in LAYERS if name in layers and _is_unused(layers[name])]


def _is_unused(figures: dict[str, object]) -> bool:
    return outcome_of(figures) == "not_measured"


@transaction.atomic
def state_empty(closed: Round, layer: str, *, by: User) -> EmptyLayer:
    """Write down that nothing was to be found on the layer. Stated again, it changes nothing."""
    _refuse_used(closed, layer)
    stated, is_new = EmptyLayer.objects.get_or_create(
        round=closed, layer=layer, defaults={"stated_by": by}
    )
    if is_new:
        _record("stated_empty", closed, layer, by)
    return stated


@transaction.atomic
def withdraw(closed: Round, layer: str, *, by: User) -> None:
    """Take the statement back."""
    gone, _ = EmptyLayer.objects.filter(round=closed, layer=layer).delete()
    if gone:
        _record("statement_withdrawn", closed, layer, by)


@transaction.atomic
def take_off(closed: Round, layer: str, *, by: User) -> None:
    """The project no longer labels the layer, from the next round on. Again, it changes nothing."""
    _refuse_used(closed, layer)
    project = Project.objects.get(pk=closed.project_id)
    if layer not in project.layers:
        return
    base = project_settings.of(project)
    kept = [name for name in project.layers if name != layer]
    if why := why_it_stays(project, layer):
        raise LayerStays(why)
    settings = {**base, "layers": kept, "event_schema": project.event_schema}
    project_settings.change(project, settings=settings, base=base, by=by)
    _record("taken_off", closed, layer, by)


def why_it_stays(project: Project, layer: str) -> Fact | None:
    """Why the project cannot do without the layer; None if it can."""
    kept = {name for name in project.layers if name != layer}
    if not kept:
        return Fact("layer_stays.only_one")
    for name in sorted(kept):
        needs = set(LAYERS[name].needs)
        if needs and not needs & kept:
            return Fact("layer_stays.needed", title=Fact(f"layer.{name}"))
    return None


def _refuse_used(closed: Round, layer: str) -> None:
    if layer not in unused_in(closed):
        raise LayerWasUsed("layer_stays.was_used")


def _record(what: str, closed: Round, layer: str, by: User) -> None:
    events.record(
        f"layer.{what}", closed, project=closed.project, actor=by, layer=layer, round=closed.number
    )
