"""How near a pipeline comes to people, by the same figure on the same cases."""

import math
from typing import NamedTuple

from evaluation.metrics.metric import Metric

TOLERANCE = 1e-9


class Level(NamedTuple):
    """``percent`` is ``None`` where people reach nothing, or where a share makes no sense."""

    percent: float | None
    passes: bool
    """Better than people are: gold has leaked, or people agree so little that gold is weak."""


def human_level(metric: Metric, value: float | None, ceiling: float | None) -> Level:
    """The pipeline's figure as a share of people's.

    Of a rate where lower is better the share is that of what is *not* wrong, (1 − x)/(1 − human),
    so that more is better there too. What is computed over a whole run is calibration: to know
    better than people how sure one is tells nothing against gold, so it is never flagged.

    Parameters
    ----------
    value, ceiling
        The pipeline's figure and people's; ``None`` is undefined.

    Examples
    --------
    >>> f1 = Metric("f1", 1, frozenset(), "F1", "")
    >>> human_level(f1, 0.6, 0.8)
    Level(percent=75.0, passes=False)
    >>> rate = Metric("rate", 1, frozenset(), "Rate", "", direction="lower")
    >>> human_level(rate, 0.1, 0.2)
    Level(percent=112.5, passes=True)
    """
    if value is None or ceiling is None:
        return Level(None, False)
    lower_is_better = metric.direction == "lower"
    gain = ceiling - value if lower_is_better else value - ceiling
    passes = gain > TOLERANCE and metric.scope != "run"
    if not (math.isfinite(metric.lower) and math.isfinite(metric.upper)):
        return Level(None, passes)
    own, people = (1 - value, 1 - ceiling) if lower_is_better else (value, ceiling)
    return Level(round(100 * own / people, 6) if people > TOLERANCE else None, passes)
