"""Two small logistic models over the same features: is it a requirement, and will it match."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

WEIGHTS = Path(__file__).parent.parent / "weights.json"
KEEP, MATCH = "keep", "match"


@cache
def weights(name: str) -> dict[str, float]:
    stored: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return cast(dict[str, float], stored[name]["weights"])


def probability(name: str, found: Mapping[str, float]) -> float:
    model = weights(name)
    score = model["(always)"] + sum(model.get(key, 0.0) * value for key, value in found.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
