"""What the workspace asks of this part of the product: notes on the wording of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from labeling.schema.hints import Hint
from labeling.work import hints


def register() -> None:
    hints.register(detect)


def detect(labels: Sequence[Mapping[str, Any]]) -> list[Hint]:
    from pipelines.requirements.labels import Requirement
    from pipelines.requirements.validation import guide

    return [Hint(*note) for note in guide.notes(cast("Sequence[Requirement]", labels))]
