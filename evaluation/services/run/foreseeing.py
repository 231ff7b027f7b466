"""What a run would take and what it could show, while somebody still chooses what to launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from evaluation.layers import GOLD_LAYERS
from evaluation.models import of_split
from evaluation.services import looks
from evaluation.services.judging import answers
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.launch import launch
from evaluation.services.launch.launch import MOST_REPETITIONS, LaunchRefused, LaunchRequest
from evaluation.services.run import planning
from evaluation.services.run.planning import Plan
from labeling.domain.facts import Fact
from labeling.gold.looks import TEST
from labeling.models import GoldItem, GoldRelease


@dataclass(frozen=True, slots=True)
class Foreseen:
    conversations: int
    cases: int
    """With all repetitions."""
    cost: Estimate | None
    """None where no language model is asked, and where the cost is not known yet."""
    cost_known: bool = True
    repetitions: int = 1
    release: GoldRelease | None = None
    standing: int | None = None
    """Of the test items; None for a run that has none and so is not a look at them."""
    known_reason: str = ""
    """What the person said before about measuring on these test items."""
    faults: Sequence[Fact] = ()
    """Why a run with this pipeline would be refused."""
    plan: Plan | None = None
    """None without gold, and for a layer that is not measured."""


def foresee(request: LaunchRequest, *, by: Any) -> Foreseen:
    """``request`` may lack its pipeline, and a reason."""
    release, split = request.release, request.selection
    items = of_split(GoldItem.objects.filter(release=release), split).order_by()
    counted = items.aggregate(
        n=Count("pk"),
        conversations=Count("conversation", distinct=True),
        tests=Count("pk", filter=Q(split=TEST)),
    )
    repetitions = min(max(1, request.repetitions), MOST_REPETITIONS)
    cost, cost_known, faults = _cost(request)
    return Foreseen(
        release=release,
        conversations=counted["conversations"],
        repetitions=repetitions,
        cases=_cases(release, items, counted["n"]) * repetitions,
        standing=looks.standing_of(release) if counted["tests"] else None,
        known_reason=looks.reason_known(by, release) if counted["tests"] else "",
        cost=cost,
        cost_known=cost_known,
        faults=faults,
        plan=planning.plan(release, split=split),
    )


def _cases(release: GoldRelease, items: Any, n: int) -> int:
    """In layers that ask one question at a time, each is a case: those are few, long items."""
    if release.layer not in answers.asking_layers():
        return n
    layer = GOLD_LAYERS[release.layer]
    return sum(len(layer.parts(item.content)) for item in items.iterator(chunk_size=50))


def _cost(request: LaunchRequest) -> tuple[Estimate | None, bool, list[Fact]]:
    if request.predictions is not None or not request.pipeline:
        return None, False, []
    try:
        return launch.price(request), True, []
    except LaunchRefused as error:
        return None, False, [fault.fact for fault in error.faults]
