"""What was changed from one run to the next, with both values and as facts for pages."""

from __future__ import annotations

import json
from typing import Any, Protocol

from labeling.domain.facts import Fact

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


def changed(before: Changeable, after: Changeable) -> dict[str, tuple[Any, Any]]:
    """Pipeline, version and settings that differ, with both values."""
    old, new = _settings(before), _settings(after)
    names = [*old, *(name for name in new if name not in old)]
    return {
        name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    }


def _settings(run: Changeable) -> dict[str, Any]:
    settings = {name: value for name, value in run.config.items() if name != SAID_BY_VERSION}
    return {"pipeline": run.pipeline, "version": run.pipeline_version, **settings}


def between(before: Changeable, after: Changeable) -> list[Fact]:
    """Empty if nothing was changed: the same pipeline, settings and gold once more.

    Another pipeline has settings of its own, which say nothing of a change.
    """
    if before.pipeline != after.pipeline:
        other = Fact("change.pipeline", before=before.pipeline, after=after.pipeline)
        return [other, *_around(before, after)]
    differing = changed(before, after)
    facts = [
        Fact("change.setting", name=name, before=value_text(old), after=value_text(new))
        for name, (old, new) in [*differing.items()][:MOST_SETTINGS]
    ]
    if (more := len(differing) - MOST_SETTINGS) > 0:
        facts.append(Fact("change.more", n=more))
    return facts + _around(before, after)


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
