"""How calibration went: each annotator against the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

from labeling.domain.stored import Stored


class Enough(NamedTuple):
    """What a round needs to open full labeling: κ of less says too little."""

    conversations: int = 10
    units: int = 50


ENOUGH = Enough()


class Evidence(NamedTuple):
    """What a round rests on: the least of any used layer and pair.

    ``units`` None where agreement is not of units.
    """

    conversations: int
    units: int | None

    @property
    def suffices(self) -> bool:
        """Whether a passed round may open full labeling."""
        units = ENOUGH.units if self.units is None else self.units
        return self.conversations >= ENOUGH.conversations and units >= ENOUGH.units


def evidence(figures: Mapping[str, Any] | None) -> Evidence:
    """Of the stored agreement of a round."""
    stated = figures or {}
    layers = [
        layer
        for layer in (stated.get("layers") or {"": stated}).values()
        if layer.get("outcome") != "not_measured"
    ]
    pairs = [(layer, pair) for layer in layers for pair in layer.get("pairs", [])]
    units = [pair["n"] for layer, pair in pairs if layer.get("measure") != "f1"]
    conversations = [pair["conversations"] for _, pair in pairs]
    return Evidence(min(conversations, default=0), min(units, default=None))


def passes_within(rounds: Sequence[Mapping[str, Any] | None], true: float) -> float | None:
    """How often a team of this true figure passes in one of these rounds, by their outlooks.

    None where one of the rounds was measured before outlooks were.

    Examples
    --------
    >>> outlook = [{"true": 0.7, "passes": 0.2}]
    >>> round(passes_within([{"outlook": outlook}, {"outlook": outlook}], 0.7), 2)
    0.36
    """
    missed = 1.0
    for figures in rounds:
        rows = (figures or {}).get("outlook") or []
        passes = next((row["passes"] for row in rows if row["true"] == true), None)
        if passes is None:
            return None
        missed *= 1 - passes
    return 1 - missed if rounds else None


@dataclass(frozen=True, slots=True)
class Standing:
    """One annotator against the others of a round, over the units that each pair shares.

    ``kappa`` is the mean over the pairs that have one (``undefined_pairs`` have none), ``raw``
    and the rates are pooled over units. ``over`` counts units that the annotator marked and
    another did not, once for each other; ``under`` the reverse.
    """

    annotator: str
    kappa: float | None
    raw: float | None
    rate: float | None
    group_rate: float | None
    over: int
    under: int
    n: int
    undefined_pairs: int

    @property
    def tendency(self) -> str:
        """The most frequent kind of difference: over, under, both (equally often), or none."""
        if not self.over + self.under:
            return "none"
        if self.over == self.under:
            return "both"
        return "over" if self.over > self.under else "under"


def standings(pairs: Sequence[Stored]) -> list[Standing]:
    """Each annotator against the group, from the pairs of an agreement of 0/1 labels.

    A pair's raw agreement, prevalence and bias determine its table of two by two, so the
    figures that were stored when the round closed are enough.

    Examples
    --------
    Ana marks 3 of 4, Ben 2 of 4, all of Ben's among Ana's: raw 3/4, prevalence 5/8, bias 1/4.

    >>> pair = {"a": "ana", "b": "ben", "kappa": 0.5, "n": 4, "raw": 0.75,
    ...         "prevalence": 0.625, "bias": 0.25}
    >>> ana, ben = standings([pair])
    >>> (ana.over, ana.under, ana.rate, ana.group_rate, ana.tendency)
    (1, 0, 0.75, 0.5, 'over')
    >>> ben.tendency
    'under'
    """
    people = sorted({person for pair in pairs for person in (pair["a"], pair["b"])})
    return [_standing(person, pairs) for person in people]


def _standing(person: str, pairs: Sequence[Stored]) -> Standing:
    """The pairs as this one of the two sees them, in counts of units."""
    own = [pair for pair in pairs if person in (pair["a"], pair["b"])]
    kappas = [pair["kappa"] for pair in own if pair["kappa"] is not None]
    n = over = under = 0
    marked, others = [], []
    for pair in own:
        size, raw, prevalence, bias = (pair[name] for name in ("n", "raw", "prevalence", "bias"))
        if not size or None in (raw, prevalence, bias):
            continue
        bias = bias if person == pair["a"] else -bias
        differing = size * (1 - raw)
        n += size
        over += round((differing + size * bias) / 2)
        under += round((differing - size * bias) / 2)
        marked.append(size * (prevalence + bias / 2))
        others.append(size * (prevalence - bias / 2))
    return Standing(
        annotator=person,
        kappa=fsum(kappas) / len(kappas) if kappas else None,
        raw=1 - (over + under) / n if n else None,
        rate=fsum(marked) / n if n else None,
        group_rate=fsum(others) / n if n else None,
        over=over,
        under=under,
        n=n,
        undefined_pairs=len(own) - len(kappas),
    )
