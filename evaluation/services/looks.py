"""Runs on test items in the ledger of looks: who launched them, and who reads what came out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypedDict

from evaluation.models import OPEN, CaseRun, Run
from labeling.core import acting
from labeling.domain.facts import Fact
from labeling.gold import looks
from labeling.gold.looks import LookRefused, ReasonNeeded, Sight
from labeling.models import GoldItem, GoldRelease, Look

Purpose = Look.Purpose


class ReasonMissing(LookRefused):
    """The run would look at test items, and nobody has said why."""

    code = ReasonNeeded.code


class TestLook(TypedDict):
    """Which look at its test items a run was."""

    number: int
    n_items: int
    looks: int


def test_look(run: Run) -> TestLook | None:
    """None if the run had no test item."""
    if run.look is None:
        return None
    return {
        "number": looks.number(run.look),
        "n_items": run.look.n_items,
        "looks": looks.looks_at(run.release).count(),
    }


# --- launching ------------------------------------------------------------------------------------


def check_launch(run: Run, items: Iterable[GoldItem]) -> str:
    """The reason of a run on these items, which may have been given before.

    Raises where it has test items and there is no reason.
    """
    user, release, reason = _who_looks(run), run.release, run.reason
    has_test = any(item.split == looks.TEST for item in items)
    if not has_test and run.split != looks.TEST:
        return reason
    reason = reason or reason_known(user, release)
    if not reason:
        raise ReasonMissing("launch.reason_missing", release=str(release))
    return reason


def _who_looks(run: Run) -> Any:
    """Nobody is remembered at the command line, unless somebody is named: it asks each time."""
    return None if acting.is_console(run.requested_by) else run.requested_by


def record_launch(run: Run, items: Collection[GoldItem]) -> None:
    """Every launch on test items is a look, whichever way it was requested."""
    tested = sum(item.split == looks.TEST for item in items)
    if tested:
        sight = Sight(Purpose.RUN, Look.Subject.RUN, str(run.pk))
        run.look = looks.record(
            _who_looks(run), run.release, sight, reason=run.reason, n_items=tested
        )
        run.save(update_fields=["look"])


def has_test(release: GoldRelease) -> bool:
    return looks.test_items(release).exists()


def n_left_out(release: GoldRelease, split: str) -> int:
    """How many test items a run on all but those does not measure."""
    return looks.test_items(release).count() if split == OPEN else 0


def left_out(release: GoldRelease, split: str) -> Fact | None:
    n = n_left_out(release, split)
    return Fact("launch.left_out", n=n, release=str(release)) if n else None


def standing_of(release: GoldRelease) -> int | None:
    """How often its test items were looked at; None for a release without any."""
    return looks.looks_at(release).count() if has_test(release) else None


def reason_known(user: Any, release: GoldRelease) -> str:
    """What the person said before about measuring on these test items."""
    return looks.reason_of(user, release, Purpose.RUN)


# --- reading --------------------------------------------------------------------------------------


def require(user: Any, run: Run) -> None:
    """Raise if the person has not said why they read results on these test items."""
    if run.look_id:
        sight = Sight(Purpose.RESULTS, Look.Subject.RUN, str(run.pk))
        looks.require(user, [run.release], sight)


def require_case(user: Any, case: CaseRun) -> None:
    """The same for one case: what is not a test item is nobody's secret."""
    if case.item.split == looks.TEST:
        require(user, case.run)


def require_of_readers(user: Any, run: Run) -> None:
    """For pages of raters. Those who see neither runs nor gold have nothing to choose by."""
    if run.look_id and Run.objects.visible_to(user).filter(pk=run.pk).exists():
        require(user, run)


def require_comparison(user: Any, runs: Sequence[Run]) -> None:
    """The same for runs next to each other: choosing by test items is what uses them up."""
    if releases := tested(runs):
        looks.require(user, releases, sight_of(runs))


def sight_of(runs: Sequence[Run]) -> Sight:
    named = ",".join(str(run.pk) for run in runs)
    return Sight(Purpose.COMPARE, Look.Subject.RUNS, named)


def tested(runs: Sequence[Run]) -> list[GoldRelease]:
    """The releases whose test items the runs were asked."""
    releases = {run.release_id: run.release for run in runs if run.look_id}
    return list(releases.values())


def sealed_among(user: Any, runs: Iterable[Run]) -> set[int]:
    """Which of the runs keep their figures to themselves, for lists."""
    looked = {run.pk: run.gold_id for run in runs if run.look_id}
    if not looked:
        return set()
    sealed = looks.sealed(user, Purpose.RESULTS, set(looked.values()))
    releases = set(sealed.values_list("pk", flat=True))
    return {pk for pk, release in looked.items() if release in releases}
