"""The run that others are measured against: one that people chose, on record, or the run before.

Who chooses a baseline may have seen the figures of both runs, and a weak one makes every other run
look better. So each choice keeps its date, and what is said next to a baseline says since when it
is one, and whether the run had been scored by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext, ngettext

from evaluation.models import OPEN, ChosenBaseline, Run
from evaluation.services.run.primary_metrics import moment, scored_before
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.models import GoldRelease
from pipelines.registry import FLOORS


class BaselineRefused(RuleError, code="baseline_refused"):
    """The run has no figures that others could be measured against."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which run is the baseline of a release and split, since when and by whom."""

    run_id: int
    since: datetime
    by: str
    number: int
    """1 for the first choice on this gold and split."""

    def after(self, runs: Iterable[Run]) -> list[int]:
        """The runs whose figures could be seen before it was chosen."""
        return scored_before(self.since, runs)


class Baseline(NamedTuple):
    run: Run
    said: list[str]
    """Since when somebody has chosen it, and whether this run had been scored by then; empty:
    nobody did, and it is the run before."""


def baseline_of(run: Run) -> Baseline | None:
    """A finished run on the same cases: the chosen one, or the one before, apart from floors of
    other pipelines, which are measured for every run."""
    beside = Run.objects.beside(run).select_related("release__project")
    choice = choice_on(run.gold_id, run.split)
    chosen = beside.filter(pk=choice.run_id).first() if choice else None
    if choice is not None and chosen is not None:
        return Baseline(chosen, sentences(choice, [run]))
    floors = [name for name in FLOORS if name != run.pipeline]
    before = beside.filter(pk__lt=run.pk).exclude(pipeline__in=floors).first()
    return Baseline(before, []) if before is not None else None


def sentences(choice: Choice, runs: Iterable[Run]) -> list[str]:
    """What has to be said where these runs are measured against it."""
    if choice.by:
        said = gettext(
            "Run {pk} has been the baseline of this gold and split since {at}, chosen by {by}."
        )
    else:
        said = gettext("Run {pk} has been the baseline of this gold and split since {at}.")
    parts = [said.format(pk=choice.run_id, at=moment(choice.since), by=choice.by)]
    if choice.number > 1:
        more = gettext("It is choice {number}: each is in the audit log.")
        parts.append(more.format(number=choice.number))
    if seen := choice.after(runs):
        late = ngettext(
            "It was chosen after run {numbers} was scored, when its figures could be seen.",
            "It was chosen after runs {numbers} were scored, when their figures could be seen.",
            len(seen),
        )
        parts.append(late.format(numbers=", ".join(map(str, seen))))
    return parts


def choice_of(baseline: Run) -> Choice | None:
    """Since when this run is the baseline of its gold and split; None: it is not the chosen one."""
    choice = choice_on(baseline.gold_id, baseline.split)
    return choice if choice is not None and choice.run_id == baseline.pk else None


def choice_on(release_id: int, split: str) -> Choice | None:
    """The newest choice for this release and split, unless it was taken back."""
    rows = ChosenBaseline.objects.filter(release=release_id, split=split)
    newest = rows.select_related("by").first()
    if newest is None or newest.run_id is None:
        return None
    by = newest.by.get_username() if newest.by else ""
    return Choice(newest.run_id, newest.at, by, number=rows.filter(run__isnull=False).count())


def fits(release: GoldRelease, split: str) -> list[int]:
    """The baselines whose cases say how those of ``split`` spread, the best suited first."""
    splits = dict.fromkeys((split, OPEN, ""))
    chosen = {name: number for (_, name), number in of_releases([release.pk]).items()}
    return [chosen[name] for name in splits if name in chosen]


def of_releases(releases: Iterable[int]) -> dict[tuple[int, str], int]:
    """The chosen runs by release and split."""
    rows = ChosenBaseline.objects.filter(release__in=releases).order_by()
    last = rows.values("release", "split").annotate(last=Max("pk")).values("last")
    chosen = ChosenBaseline.objects.filter(pk__in=last, run__isnull=False).order_by()
    return {
        (release, split): run
        for release, split, run in chosen.values_list("release", "split", "run")
        if run is not None
    }


@transaction.atomic
def choose(run: Run, *, by: Any) -> None:
    """From now on; what is the baseline already is not chosen twice, so that its date stays."""
    locked = _locked(run)
    if locked.scored_at is None or locked.failure is not None:
        raise BaselineRefused("baseline.without_figures", pk=run.pk, details={"run": run.pk})
    now = choice_on(locked.gold_id, locked.split)
    if now is not None and now.run_id == run.pk:
        return
    _store(locked, run.pk, by)
    before = now.run_id if now else None
    _record("baseline.chosen", locked, by, before=before)


@transaction.atomic
def take_back(run: Run, *, by: Any) -> None:
    """From now on nobody has chosen one for this gold and split."""
    locked = _locked(run)
    if choice_of(locked) is None:
        return
    _store(locked, None, by)
    _record("baseline.taken_back", locked, by)


def _locked(run: Run) -> Run:
    """Of several who choose at a time, one after the other."""
    GoldRelease.objects.select_for_update(no_key=True).only("pk").get(pk=run.gold_id)
    return Run.objects.select_related("release__project").get(pk=run.pk)


def _store(run: Run, chosen: int | None, by: Any) -> None:
    ChosenBaseline.objects.create(release_id=run.gold_id, split=run.split, run_id=chosen, by=by)


def _record(verb: str, run: Run, by: Any, **values: Any) -> None:
    where = {"gold": str(run.release), "split": run.split or "all"}
    events.record(verb, run, project=run.release.project, actor=by, **where, **values)
