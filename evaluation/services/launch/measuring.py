"""How a layer is measured, as far as a run may set it: the keys under ``metrics:``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.layers import gold_layer
from evaluation.metrics.event_options import (
    SPECIFICATION,
    WrongOption,
    read_options,
)
from evaluation.metrics.registry import METRICS_VERSION, PROTOCOL_VERSION
from labeling.domain.errors import RuleError
from labeling.models import GoldRelease
from labeling.schema import LAYERS

VERSIONS = {"metrics": (METRICS_VERSION, SPECIFICATION), "protocol": (PROTOCOL_VERSION,)}
"""What a file may name: our own version, logged with each run, and a specification that it follows.
"""


class MetricsRefused(RuleError, code="metrics_refused"):
    """The layer doesn't have this setting, or the setting can't have this value."""


def describe(release: GoldRelease, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """What goes into a run's spec next to the metrics: their settings and the event schema."""
    settings = dict(settings or {})
    check_version("metrics", settings.pop("version", None))
    if not gold_layer(release.layer).has_options:
        if settings:
            raise MetricsRefused("metrics.no_settings", layer=release.layer)
        return {}
    try:
        options = read_options(settings)
    except WrongOption as error:
        raise MetricsRefused(error.fact) from error
    return {"metrics_config": options.as_json(), "event_schema": event_schema(release)}


def check_version(what: str, asked: Any) -> None:
    """A file may say by which version it is to be measured: “2.0”, or “v2.0” as titles say it."""
    known = VERSIONS[what]
    if asked is not None and str(asked).removeprefix("v") not in known:
        raise MetricsRefused("metrics.other_version", what=what, asked=str(asked), known=known[0])


def event_schema(release: GoldRelease) -> dict[str, list[str]]:
    """The project's types and roles; where it has none, those that the gold uses."""
    declared = release.project.event_schema
    return {kind: list(roles) for kind, roles in declared.items()} or _used_in(release)


def _used_in(release: GoldRelease) -> dict[str, list[str]]:
    roles_by_type: dict[str, set[str]] = {}
    for item in release.items.iterator(chunk_size=200):
        for event in item.content["gold"].get(LAYERS[release.layer].key, []):
            roles = roles_by_type.setdefault(event["type"], set())
            roles |= {argument["role"] for argument in event["arguments"]}
    return {kind: sorted(roles) for kind, roles in sorted(roles_by_type.items())}
