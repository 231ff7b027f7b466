"""One round of one system: the same work in the same order, each piece on its own."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.peers import machine
from benchmarks.peers.machine import Failed
from benchmarks.peers.system import Annotator, Lacking, System

CLIENTS = 8
MOST_TURNS = 100  # a client
LISTS = 20
SECONDS_AT_REST = 5
AT_REST = 0.06  # seconds a second: less is nothing
Figures = dict[str, float]


class Outcome(NamedTuple):
    figures: Figures
    reasons: dict[str, str]  # why a piece of work has no figures; "" is what the system lacks


class Spent(NamedTuple):
    wall: float
    cpu: float  # with everything that the servers went on doing because of it


def measure(system: System) -> Outcome:
    round_ = Round(system)
    try:
        round_.run()
    finally:
        system.stop()
    return Outcome(round_.figures, round_.reasons)


class Round:
    def __init__(self, system: System) -> None:
        self.system = system
        self.meter = Meter()
        self.figures: Figures = {}
        self.reasons: dict[str, str] = {}
        self.people: list[Annotator] = []
        self.accepted: Counter[str] = Counter()
        self.errors = 0

    def run(self) -> None:
        self.started()
        for name, piece in PIECES.items():
            try:
                piece(self)
            except Lacking as lack:
                self.reasons[name] = f"– ({lack})"
            except Exception as failure:  # whatever it is, the others go on
                self.reasons[name] = f"failed: {worded(failure)}"

    def started(self) -> None:
        self._both("start", self.meter.spent(self.system.start))
        self.meter.learn()
        self._remember("idle")
        self.system.prepare()

    def _remember(self, when: str) -> None:
        used = machine.memory()
        self.figures |= {f"{when} RSS MB": used.rss_mb, f"{when} PSS MB": used.pss_mb}

    def imported(self) -> None:
        self._both("import", self.meter.spent(self.system.fill))

    def imported_by_command(self) -> None:
        self._both("import by command", self.meter.spent(self.system.fill_by_command))

    def _both(self, name: str, used: Spent) -> None:
        self.figures |= {f"{name} CPU s": used.cpu, f"{name} s": used.wall}

    def submitted(self) -> None:
        """By one person, then by eight others at the same time, each with own conversations."""
        self.people = self.system.people(CLIENTS + 1)
        own = [person.own() for person in self.people]
        calls = min(len(keys) for keys in own)
        first, *others = [
            Client(person, _submissions(keys[:calls]))
            for person, keys in zip(self.people, own, strict=True)
        ]
        self._worked("submit, 1 client", [first])
        self._worked("submit, 8 clients", others)

    def turned(self) -> None:
        calls = max(5, min(MOST_TURNS, len(self.system.talks) // (5 * CLIENTS)))
        first, *others = self.people
        self._asked(first, calls)
        clients = [Client(person, _turns(calls, page=False)) for person in others]
        self._worked("turn, 8 clients", clients)
        if not self.system.next_has_text:
            clients = [Client(person, _turns(calls, page=True)) for person in others]
            self._worked("turn with page, 8 clients", clients)

    def _asked(self, person: Annotator, calls: int) -> None:
        """One person's turns; the middle of many is free of what workers do meanwhile."""
        processes = machine.descendants()
        costs: list[tuple[float, float]] = []
        for _ in range(calls):
            before = machine.cpu_of(processes)
            key = person.next()
            between = machine.cpu_of(processes)
            person.submit(key)
            costs.append((between - before, machine.cpu_of(processes) - between))
            self.accepted[key] += 1
        names = ("next CPU ms", "submit until answered CPU ms")
        for name, column in zip(names, zip(*costs, strict=True), strict=True):
            self.figures[name] = 1000 * statistics.median(column)

    def _worked(self, name: str, clients: list[Client]) -> None:
        used = self.meter.spent(lambda: _together(clients))
        calls = [call for client in clients for call in client.seconds]
        self.errors += sum(len(client.errors) for client in clients)
        for client in clients:
            self.accepted.update(client.accepted)
            if client.errors:
                self.reasons[f"{name} errors"] = client.errors[0]
        if not calls:
            errors = [error for client in clients for error in client.errors]
            raise Failed(f"nothing was accepted: {(errors or ['nothing was sent'])[0]}")
        self.figures |= {
            f"{name} CPU ms": 1000 * used.cpu / len(calls),
            f"{name} /s": len(calls) / used.wall,
            f"{name} p50 ms": 1000 * statistics.median(calls),
            f"{name} p95 ms": 1000 * sorted(calls)[int(0.95 * len(calls))],
        }

    def counted(self) -> None:
        """One answer was wanted of each conversation; every accepted one must be there."""
        stored = self.system.stored()
        self.figures |= {
            "accepted": sum(self.accepted.values()),
            "doubled": sum(number - 1 for number in self.accepted.values()),
            "lost": sum((self.accepted - stored).values()),
            "errors": self.errors,
        }

    def listed(self) -> None:
        self.system.list_page()
        used = self.meter.spent(lambda: [self.system.list_page() for _ in range(LISTS)])
        self.figures["list of 100 CPU ms"] = 1000 * used.cpu / LISTS
        self.figures["list of 100 ms"] = 1000 * used.wall / LISTS

    def exported(self) -> None:
        self.system.answer_everything()
        self.meter.settle(300)
        sizes: list[int] = []
        self._both("export", self.meter.spent(lambda: sizes.append(self.system.export())))
        self.figures["export MB"] = sizes[0] / 1e6

    def agreed(self) -> None:
        self._both("agreement", self.meter.spent(self.system.agreement))

    def remembered(self) -> None:
        self._remember("after load")


PIECES: dict[str, Callable[[Round], None]] = {
    "import": Round.imported,
    "import by command": Round.imported_by_command,
    "submit": Round.submitted,
    "turn": Round.turned,
    "counts": Round.counted,
    "list of 100": Round.listed,
    "export": Round.exported,
    "agreement": Round.agreed,
    "memory": Round.remembered,
}


class Meter:
    """Processor time of the servers, less what they use when nobody asks them for anything."""

    def __init__(self) -> None:
        self._at_rest = 0.0  # seconds a second

    def learn(self) -> None:
        self.settle()
        before, began = machine.cpu_seconds(), time.perf_counter()
        time.sleep(SECONDS_AT_REST)
        self._at_rest = (machine.cpu_seconds() - before) / (time.perf_counter() - began)

    def spent(self, work: Callable[[], object]) -> Spent:
        before, began = machine.cpu_seconds(), time.perf_counter()
        work()
        wall = time.perf_counter() - began
        self.settle()
        used = machine.cpu_seconds() - before - self._at_rest * (time.perf_counter() - began)
        return Spent(wall, max(0.0, used))

    def settle(self, seconds: float = 60) -> None:
        """Until the servers have been at rest for two seconds, or this long."""
        deadline, calm = time.monotonic() + seconds, 0
        while time.monotonic() < deadline and calm < 4:
            before, began = machine.cpu_seconds(), time.perf_counter()
            time.sleep(0.5)
            rate = (machine.cpu_seconds() - before) / (time.perf_counter() - began)
            calm = calm + 1 if rate < AT_REST + 2 * self._at_rest else 0


def worded(error: Exception) -> str:
    return str(error) if isinstance(error, Failed) else repr(error)


Steps = Callable[[Annotator], "list[Callable[[], str]]"]


class Client(threading.Thread):
    """One annotator at work; what was accepted, how long each piece took, what went wrong."""

    def __init__(self, person: Annotator, steps: Steps) -> None:
        super().__init__(daemon=True)
        self._steps = steps(person)
        self.accepted: list[str] = []
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        for step in self._steps:
            began = time.perf_counter()
            try:
                self.accepted.append(step())
            except Exception as failure:  # counted and named; the others go on
                self.errors.append(worded(failure))
            else:
                self.seconds.append(time.perf_counter() - began)


def _submissions(keys: list[str]) -> Steps:
    def submit(person: Annotator, key: str) -> str:
        person.submit(key)
        return key

    return lambda person: [lambda key=key: submit(person, key) for key in keys]  # type: ignore[misc]


def _turns(number: int, *, page: bool) -> Steps:
    def turn(person: Annotator) -> str:
        key = person.next()
        if page:
            person.page(key)
        person.submit(key)
        return key

    return lambda person: [lambda: turn(person)] * number


def _together(clients: list[Client]) -> None:
    for client in clients:
        client.start()
    for client in clients:
        client.join()
