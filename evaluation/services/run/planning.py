"""What a gold release can show, before anything is launched on it: the smallest difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Count, Q
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from evaluation.layers import GOLD_LAYERS, gold_layer
from evaluation.metrics.comparison import within_range
from evaluation.metrics.metric import Share
from evaluation.metrics.planning import Spread, spread_of_pair, spread_of_run
from evaluation.models import OPEN, Run, Yardstick, YardstickCase, of_split
from evaluation.services import looks
from evaluation.services.judging import answers
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.launch import launch
from evaluation.services.launch.launch import MOST_REPETITIONS, LaunchRefused, LaunchRequest
from evaluation.services.run import baselines, comparisons
from evaluation.services.run.primary_metrics import Primary, primary_of
from evaluation.services.run.yardsticks import PEOPLE
from labeling.domain.facts import Fact
from labeling.gold.looks import TEST
from labeling.models import Conversation, GoldItem, GoldRelease
from labeling.translation import translated
from labeling.words import words
from pipelines.registry import FLOORS

CHANGED = ("pipeline", "pipeline_version", "config_sha256")
LATEST = 4
"""How many runs are looked through for two that can be compared."""

TRAIN, DEV = Conversation.Split.TRAIN, Conversation.Split.DEV


@dataclass(frozen=True, slots=True)
class Basis:
    """Where the spread comes from, in a sentence."""

    spread: Spread
    why: Fact


@dataclass(frozen=True, slots=True)
class Plan:
    """What n conversations of a release can show, by the rule that verdicts are made by."""

    layer: str
    primary: Primary
    conversations: int
    basis: Basis | None
    unknown: Fact | None
    """Why nothing can be said yet."""

    @property
    def effect(self) -> float | None:
        """The smallest true difference found in four of five tries."""
        if self.basis is None:
            return None
        effect = self.basis.spread.effect_with(self.conversations, tests=self.tests)
        return within_range(effect, self.primary.metric)

    @property
    def needed(self) -> int | None:
        """With how many conversations the smallest difference of interest can be shown."""
        if self.basis is None or self.primary.reach is None:
            return None
        return self.basis.spread.needed_for(self.primary.reach, tests=self.tests)

    @property
    def tests(self) -> int:
        """How many main metrics are tested together."""
        return len({self.primary.metric.id, *gold_layer(self.layer).headline})


def plan(release: GoldRelease, *, split: str = "", size: int | None = None) -> Plan | None:
    """For a run on this release, its split or the first items; None for what is not measured."""
    if release.layer not in GOLD_LAYERS:
        return None
    primary = primary_of(release.project, release.layer)
    conversations = _conversations(release, split, size)
    # test figures are nobody's until they say why, so no plan rests on them
    basis = _basis(release, split if split in (TRAIN, DEV) else OPEN, primary)
    return Plan(
        release.layer, primary, conversations, basis, None if basis else _why_unknown(release)
    )


def sentences(plan: Plan) -> list[str]:
    """What can be shown, what is needed for more, and by which spread."""
    if plan.basis is None:
        return [words(plan.unknown)] if plan.unknown else []
    return [_can_show(plan), words(plan.basis.why)]


def said(release: GoldRelease, *, split: str = "", size: int | None = None) -> list[str]:
    """The sentences of a plan; none for a layer that is not measured."""
    planned = plan(release, split=split, size=size)
    return sentences(planned) if planned else []


def _can_show(plan: Plan) -> str:
    metric, effect, reach = translated(plan.primary.metric.title), plan.effect, plan.primary.reach
    n = plan.conversations
    if effect is None:
        said = ngettext(
            "With {n} conversation no difference in {metric} can be shown.",
            "With these {n} conversations no difference in {metric} can be shown.",
            n,
        )
    elif reach is not None and effect <= reach:
        return gettext(
            "With these {n} conversations differences in {metric} from {effect} on can be shown: "
            "less than the {reach} that are of interest."
        ).format(n=intcomma(n), metric=metric, effect=figure(effect), reach=figure(reach))
    else:
        said = gettext(
            "With these {n} conversations only differences above {effect} in {metric} can be shown."
        )
    shown = figure(effect) if effect is not None else ""
    sentence = said.format(n=intcomma(n), metric=metric, effect=shown)
    if reach is None:
        return sentence
    if plan.needed is None:
        more = gettext("For {reach} more than a million would be needed.")
        return f"{sentence} {more.format(reach=figure(reach))}"
    more = gettext("For {reach} you need about {needed}.")
    return f"{sentence} {more.format(reach=figure(reach), needed=intcomma(plan.needed))}"


def figure(effect: float) -> str:
    """With the decimals that keep it from reading as 0."""
    digits = 3 if effect >= 0.001 else 6
    return str(number_format(f"{effect:.{digits}f}", digits))


def _conversations(release: GoldRelease, split: str, size: int | None) -> int:
    items = GoldItem.objects.filter(release=release)
    owners = of_split(items, split).order_by("position").values_list("conversation_id", flat=True)
    return len(set(owners[:size]))


def _why_unknown(release: GoldRelease) -> Fact:
    items = GoldItem.objects.filter(release=release)
    if items.exists() and not of_split(items, OPEN).exists():
        return Fact("plan.only_test")
    started = Run.objects.filter(release=release, scored_at=None, failure=None, cancelled=False)
    return Fact("plan.run_unfinished" if started.exists() else "plan.no_run")


def _basis(release: GoldRelease, split: str, primary: Primary) -> Basis | None:
    """The widest pair of the chosen baseline and the newest runs that can be compared, else the
    baseline or the newest alone; floors only at last. One look-alike pair says too little.

    Runs on earlier versions of the release tell how its conversations spread, too.
    """
    line = Run.objects.filter(
        release__project=release.project_id,
        release__layer=release.layer,
        release__name=release.name,
        release__version__lte=release.version,
        scored_at__isnull=False,
    )
    newest = line.select_related("release__project").order_by("-release__version", "-pk")
    candidates = [*newest.exclude(pipeline__in=FLOORS)[:LATEST]]
    candidates = candidates or [*newest[:LATEST]]
    chosen = baselines.fits(release, split)
    by_number = {run.pk: run for run in newest.filter(pk__in=chosen)}
    first = [by_number[number] for number in chosen if number in by_number]
    beside = [*dict.fromkeys([*first[:1], *candidates])]
    newer_first = sorted(beside, key=lambda run: run.pk, reverse=True)
    return (
        _widest(_of_pairs(combinations(newer_first, 2), split, primary))
        or next(_of_runs([*first, *candidates], split, primary), None)
        or max(
            _of_floors(release, split, primary, scored=bool(candidates)), key=_width, default=None
        )
    )


def _widest(pairs: Iterable[Basis]) -> Basis | None:
    """With how far apart the pairs are, where there are several."""
    by_width = sorted(pairs, key=_width)
    if len(by_width) < 2:
        return by_width[0] if by_width else None
    widest, least = by_width[-1], by_width[0]
    values = {
        **widest.why.values,
        "pairs": len(by_width),
        "times": widest.spread.std_error / least.spread.std_error,
    }
    return Basis(widest.spread, Fact("plan.by_widest_pair", **values))


def _of_pairs(pairs: Iterable[tuple[Run, Run]], split: str, primary: Primary) -> Iterator[Basis]:
    for after, before in pairs:
        same = (getattr(before, name) == getattr(after, name) for name in CHANGED)
        if all(same) or comparisons.why_not(before, after):  # the same run twice tells too little
            continue
        paired = comparisons.compare_metric(before, after, primary.metric, split=split)
        differs = paired.comparison.wins + paired.comparison.losses > 0
        spread = spread_of_pair(paired.comparison, paired.conversations)
        if spread and differs:  # two runs that score alike in every case show no spread
            on = str(after.release)
            yield Basis(spread, Fact("plan.by_pair", run=before.pk, run2=after.pk, release=on))


def _of_runs(runs: Sequence[Run], split: str, primary: Primary) -> Iterator[Basis]:
    for run in runs:
        shares, owners = comparisons.shares_of(run, primary.metric, split=split)
        spread = spread_of_run(primary.metric, shares, owners)
        if spread:
            yield Basis(spread, Fact("plan.by_run", run=run.pk, release=str(run.release)))


def _of_floors(
    release: GoldRelease, split: str, primary: Primary, *, scored: bool
) -> Iterator[Basis]:
    """Before anything is launched: what workers measured when the release was frozen."""
    measured = Yardstick.objects.measured().filter(release=release).exclude(pipeline=PEOPLE)
    cases = YardstickCase.objects.filter(yardstick__in=measured)
    rows = cases.values_list("yardstick__pipeline", "item__split", "item__conversation", "shares")
    by_floor: dict[str, list[tuple[str, int, Share | None]]] = {}
    for floor, own, conversation, stored in rows.order_by("yardstick", "pk"):
        share = stored.get(primary.metric.id)
        case = (own, conversation, Share(*share) if share else None)
        by_floor.setdefault(floor, []).append(case)
    for floor, cases_of_floor in by_floor.items():
        unsealed = [case for case in cases_of_floor if case[0] != Conversation.Split.TEST]
        asked = [case for case in unsealed if split in (OPEN, case[0])]
        if len({conversation for _, conversation, _ in asked}) < 2:
            asked = unsealed
        shares, owners = [case[2] for case in asked], [case[1] for case in asked]
        spread = spread_of_run(primary.metric, shares, owners)
        if spread:
            code = "plan.by_floor_beside_runs" if scored else "plan.by_floor"
            yield Basis(spread, Fact(code, floor=floor, release=str(release)))


def _width(basis: Basis) -> float:
    """The widest floor: one that always scores the same says least of real runs."""
    return basis.spread.std_error


# --- what a run would take ------------------------------------------------------------------------


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
        plan=plan(release, split=split),
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
