"""What was changed from one run to the next, as facts for the sentences on pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from labeling.domain.facts import Fact
from pipelines.registry import PIPELINES

MOST_SETTINGS = 6
LONGEST_VALUE = 40
SAID_BY_VERSION = "sha256"
"""Of a file of predictions: its first characters are the version of the run's pipeline."""


class Changeable(Protocol):
    """What is compared of a run; a list loads no more of it."""

    pipeline: str
    pipeline_version: str
    config: Any
    seed: int
    repetitions: int
    split: str
    release: Any


def between(before: Changeable, after: Changeable) -> list[Fact]:
    """Empty if nothing was changed: the same pipeline, settings and gold once more."""
    if before.pipeline != after.pipeline:
        return [
            Fact("change.pipeline", before=before.pipeline, after=after.pipeline),
            *_unusual(after),
            *_around(before, after),
        ]
    facts = []
    if before.pipeline_version != after.pipeline_version:
        versions = {"before": before.pipeline_version, "after": after.pipeline_version}
        facts.append(Fact("change.version", **versions))
    names = [*before.config, *(name for name in after.config if name not in before.config)]
    differing = [
        name
        for name in names
        if name != SAID_BY_VERSION and before.config.get(name) != after.config.get(name)
    ]
    facts += [
        Fact(
            "change.setting",
            name=name,
            before=value_text(before.config.get(name)),
            after=value_text(after.config.get(name)),
        )
        for name in differing[:MOST_SETTINGS]
    ]
    return facts + _more(len(differing)) + _around(before, after)


def _unusual(run: Changeable) -> list[Fact]:
    """Of another pipeline only what was not left as it comes."""
    entry = PIPELINES.get(run.pipeline)
    fields = entry.config.model_fields if entry else {}
    usual = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    differing = [name for name, value in run.config.items() if _differs(usual, name, value)]
    facts = [
        Fact("change.with", name=name, value=value_text(run.config[name]))
        for name in differing[:MOST_SETTINGS]
    ]
    return facts + _more(len(differing))


def _differs(usual: Mapping[str, Any], name: str, value: Any) -> bool:
    """As JSON, which keeps 1.0 as 1 and has no tuples."""
    return name in usual and json.loads(json.dumps(usual[name], default=str)) != value


def _more(number: int) -> list[Fact]:
    return [Fact("change.more", n=number - MOST_SETTINGS)] if number > MOST_SETTINGS else []


def _around(before: Changeable, after: Changeable) -> list[Fact]:
    """Gold, its split, repetitions and seed."""
    facts = []
    if before.release.version != after.release.version:
        versions = {"before": before.release.version, "after": after.release.version}
        facts.append(Fact("change.gold", **versions))
    if before.split != after.split:
        splits = [Fact(f"run_split.{run.split or 'every'}") for run in (before, after)]
        facts.append(Fact("change.split", before=splits[0], after=splits[1]))
    if before.repetitions != after.repetitions:
        numbers = {"before": before.repetitions, "after": after.repetitions}
        facts.append(Fact("change.repetitions", **numbers))
    if before.seed != after.seed:
        facts.append(Fact("change.seed", before=before.seed, after=after.seed))
    return facts


def value_text(value: Any) -> str:
    """As a configuration file writes it, and not longer than a cell can show."""
    if value is None:
        return "–"
    if isinstance(value, str):
        text = value
    elif isinstance(value, float):
        text = f"{value:g}"
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
