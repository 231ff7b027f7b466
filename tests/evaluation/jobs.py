"""Jobs for child processes, and leased work that writes down what becomes of it."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from labeling.jobs import runner


@dataclass(frozen=True)
class Noted:
    """Leased work whose fate is written into a file."""

    path: Path
    is_lost: bool = False

    def _note(self, fate: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{fate}\n")

    def renew(self) -> bool:
        self._note("renewed")
        return not self.is_lost

    def give_back(self) -> None:
        self._note("given back")

    def abandon(self) -> None:
        self._note("abandoned")

    def end_late(self) -> None:
        self._note("late")


def fates(path: Path) -> list[str]:
    """Without the renewals, of which there may be any number."""
    return [fate for fate in path.read_text().splitlines() if fate != "renewed"]


def pid() -> int:
    return os.getpid()


def fail() -> None:
    raise ValueError("so it is")


def count(progress: Callable[[], None]) -> None:
    for _ in range(3):
        progress()


def hang(held: Noted, seconds: float, *beside: Noted) -> str:
    """Inside of C, where no other thread of the process gets a turn; the next try comes through."""
    if not held.path.exists() or not fates(held.path):
        runner.hold(held, seconds)
        held._note("renewed")
        for other in beside:
            runner.hold(other, 600)
        re.fullmatch(r"(a+)+", "a" * 60 + "b")
    return "done"


def die(held: Noted, *beside: Noted) -> str:
    if not held.path.exists():
        for each in (held, *beside):
            runner.hold(each, 600)
        held._note("renewed")
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(held: Noted) -> None:
    runner.hold(held, 600)
    held._note("renewed")
    time.sleep(600)
