"""What can be shown with how many conversations, by the rule that verdicts are made by.

The smallest true difference of the primary metric that the paired test finds in four of five tries:
its critical value, corrected for the main metrics that are tested with it, at the spread of
earlier runs. See templates/docs/metrics.md, "Planning".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from evaluation.metrics.comparison import (
    NORMAL_QUANTILE,
    Comparison,
    conversations_needed,
    detectable_with,
    level_for,
)
from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.summary import by_cluster
from labeling.domain.uncertainty import SMALLEST_VARIANCE, ratio


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard error of a paired difference over some conversations.

    ``telling`` of these ``conversations`` have a value at all; of others as large a share will.
    """

    std_error: float
    df: float
    telling: int
    conversations: int

    def effect_with(self, conversations: int, *, tests: int = 1) -> float:
        """The smallest true difference found in four of five tries; infinite with one or none.

        Examples
        --------
        >>> spread = Spread(std_error=0.05, df=6.0, telling=7, conversations=7)
        >>> [round(spread.effect_with(count), 3) for count in (7, 28, 1)]
        [0.175, 0.073, inf]
        """
        telling = round(conversations * self.telling / self.conversations)
        level = level_for(tests)
        return detectable_with(telling, self.std_error, self.df, self.telling, level=level)

    def needed_for(self, effect: float, *, tests: int = 1) -> int | None:
        """With how many conversations that effect is found so often; None above a million.

        Examples
        --------
        >>> Spread(std_error=0.05, df=6.0, telling=7, conversations=14).needed_for(0.05)
        116
        """
        level = level_for(tests)
        telling = conversations_needed(self.std_error, self.df, self.telling, effect, level=level)
        return telling and math.ceil(telling * self.conversations / self.telling)


def spread_of_pair(comparison: Comparison, conversations: int) -> Spread | None:
    """How two earlier runs differed; none with fewer than two conversations."""
    if not comparison.std_error or comparison.df is None:
        return None
    return Spread(comparison.std_error, comparison.df, comparison.conversations, conversations)


def spread_of_run(
    metric: Metric, shares: Sequence[Share | None], clusters: Sequence[Hashable]
) -> Spread | None:
    """How two runs would differ that spread as this one does and have nothing in common.

    Runs on the same conversations usually rise and fall together, so this is too wide rather than
    too narrow.

    Returns
    -------
    Spread or None
        None with fewer than two conversations, or where nothing varies and the metric has no range.

    Examples
    --------
    Where nothing varies, what could have stayed unseen counts.

    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> spread_of_run(recall, [Share(1, 1)] * 9, "abcabcabc").std_error > 0.1
    True
    """
    estimate = ratio(by_cluster(shares, clusters), lower=metric.lower, upper=metric.upper)
    if estimate is None or estimate.std_error is None or estimate.df is None:
        return None
    std_error = estimate.std_error
    if std_error**2 <= SMALLEST_VARIANCE:
        assert estimate.low is not None
        assert estimate.high is not None
        std_error = (estimate.high - estimate.low) / NORMAL_QUANTILE
    if std_error <= 0:
        return None
    return Spread(std_error * math.sqrt(2), estimate.df, estimate.conversations, len(set(clusters)))
