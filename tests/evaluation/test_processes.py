"""What hangs or dies costs its own process, and never the worker."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from labeling.jobs import runner
from labeling.jobs.runner import ChildDied, Children, JobFailed
from tests.evaluation import jobs
from tests.evaluation.jobs import Noted, fates

pytestmark = [pytest.mark.worker, pytest.mark.timeout(300)]


@pytest.fixture
def children(settings: Any) -> Iterator[Children]:
    settings.CASE_LEASE_SECONDS = 0.3
    children = Children()
    yield children
    children.stop()


@pytest.fixture
def held(tmp_path: Path) -> Noted:
    return Noted(tmp_path / "fates.txt")


def test_a_child_is_another_process_kept_for_the_next_job_and_ended_when_there_is_none(
    children, monkeypatch
):
    first = children.run(jobs.pid)
    children.end_idle()

    assert first != os.getpid()
    assert children.run(jobs.pid) == first

    monkeypatch.setattr(runner, "IDLE_SECONDS", 0)
    children.end_idle()

    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert children.run(jobs.pid) != first


def test_a_child_that_was_started_before_there_was_a_job_takes_the_first(children):
    children.warm_up()
    (warm,) = children._idle

    assert children.run(jobs.pid) == warm.process.pid


def test_progress_is_told_to_whoever_watches(children: Children) -> None:
    steps: list[int] = []

    children.run(jobs.count, progress=lambda: steps.append(len(steps)))

    assert steps == [0, 1, 2]


def test_what_hangs_inside_of_c_is_ended_at_its_limit_and_the_job_goes_on(children, held):
    """Left alone it would hang for longer than any test may."""
    assert children.run(jobs.hang, held, 1.0) == "done"

    assert fates(held.path) == ["late"]
    assert held.path.read_text().count("renewed") > 2  # though its process never rested


def test_what_was_taken_over_is_ended_and_nothing_is_stored_for_it(children, held):
    lost = Noted(held.path, is_lost=True)
    watching = Thread(target=children.run, args=[jobs.sleep, lost], daemon=True)

    watching.start()
    _wait_until(lambda: held.path.exists() and _renewals(held) >= 3)  # the job began again
    children.stop()
    watching.join(60)

    assert not watching.is_alive()
    assert "late" not in fates(held.path)
    assert "abandoned" not in fates(held.path)


def test_work_whose_process_died_is_left_to_the_next_try(children: Children, held: Noted) -> None:
    assert children.run(jobs.die, held) == "done"

    assert fates(held.path) == ["abandoned"]


def test_of_several_that_one_process_holds_a_death_counts_for_all_and_a_limit_for_one(
    children, tmp_path
):
    died, beside = (Noted(tmp_path / name) for name in ("died.txt", "beside.txt"))
    children.run(jobs.die, died, beside)
    assert [fates(each.path) for each in (died, beside)] == [["abandoned"]] * 2

    late, other = (Noted(tmp_path / name) for name in ("late.txt", "other.txt"))
    children.run(jobs.hang, late, 1.0, other)
    assert (fates(late.path), fates(other.path)) == (["late"], ["given back"])


def test_a_process_that_dies_with_nothing_in_hand_is_not_started_for_ever(children):
    with pytest.raises(ChildDied, match="exit code -9"):
        children.run(jobs.die_at_once)


def test_a_job_that_raises_is_told_with_its_traceback(children: Children) -> None:
    with pytest.raises(JobFailed, match="so it is"):
        children.run(jobs.fail)

    assert children.run(jobs.pid)


def test_a_worker_that_is_told_to_stop_gives_back_what_its_children_hold(children, held):
    watching = Thread(target=children.run, args=[jobs.sleep, held], daemon=True)
    watching.start()
    _wait_until(held.path.exists)

    children.stop()
    watching.join(60)

    assert not watching.is_alive()
    assert fates(held.path) == ["given back"]
    assert children.run(jobs.pid) is None  # no other job begins


def _renewals(held: Noted) -> int:
    return held.path.read_text().count("renewed")


def _wait_until(reached: Any) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)
