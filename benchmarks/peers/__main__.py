"""Assay beside Label Studio, doccano and Potato: the same work on the same machine.

    .venv/bin/python -m benchmarks.peers [--rounds 3] [--conversations 10000] [--only NAME…]
        [--cache FOLDER] [--json FILE]

Installs the peers, at fixed versions, into separate environments under ``--cache`` (default: a
folder for temporary files), then measures one system after the other, and all of them again in
each round. Prints a Markdown table; ``--json`` keeps every figure of every round. A system that
cannot be installed or started is named with the reason, and the others go on.

CPU is the user and system time of all processes of the servers, with what they go on doing after
the last answer; memory is the sum of all of them, and PSS counts shared pages once. Rates and
times depend on what else the machine does. "doubled" are second answers to conversations that
wanted one, "lost" those that were accepted and are not stored.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import machine, measuring
from benchmarks.peers.assay import Assay, AssayOnPostgres
from benchmarks.peers.doccano import Doccano
from benchmarks.peers.label_studio import LabelStudio
from benchmarks.peers.machine import Failed
from benchmarks.peers.measuring import Outcome
from benchmarks.peers.potato import Potato
from benchmarks.peers.system import System, Talk, conversations
from benchmarks.peers.table import table

OURS: tuple[type[System], ...] = (Assay, AssayOnPostgres)
SYSTEMS: tuple[type[System], ...] = (*OURS, Potato, Doccano, LabelStudio)


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    # Users keep byte code; without it every start would compile all modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    machine.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
    systems = [each for each in SYSTEMS if not options.only or each.name in options.only]
    results: dict[str, list[Outcome]] = {each.name: [] for each in systems}
    talks = conversations(options.conversations)
    try:
        absent = {
            each.name: reason for each in systems if (reason := _missing(each, options.cache))
        }
        for number in range(1, options.rounds + 1):
            for each in systems:
                _say(f"round {number}: {each.name}")
                reason = absent.get(each.name, "")
                outcome = _absent(reason) if reason else _measured(each, talks)
                for piece, why in outcome.reasons.items():
                    _say(f"  {piece}: {why}")
                results[each.name].append(outcome)
                _keep(options.json, results)
    finally:
        machine.end_everything()
    print(_heading(options, arguments))
    print(table(results, [each.name for each in OURS if each in systems]))
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=[each.name for each in SYSTEMS])
    parser.add_argument("--cache", type=Path, default=machine.default_cache())
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def _missing(system: type[System], cache: Path) -> str:
    """Why a system cannot be measured; "" when it is installed."""
    _say(f"installing {system.name} {system.version}")
    try:
        system.install(cache.resolve())
    except Failed as failure:
        return f"not installed: {failure}"
    return ""


def _absent(reason: str) -> Outcome:
    return Outcome({}, dict.fromkeys(("start", *measuring.PIECES), reason))


def _measured(kind: type[System], talks: list[Talk]) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="peers-", ignore_cleanup_errors=True) as folder:
        try:
            return measuring.measure(kind(Path(folder), talks))
        except Exception as failure:  # it is named in the table
            return _absent(f"not started: {measuring.worded(failure)}")


def _keep(target: Path | None, results: dict[str, list[Outcome]]) -> None:
    """After each system, so that nothing is lost when the last one hangs."""
    if target:
        raw = {name: [each._asdict() for each in rounds] for name, rounds in results.items()}
        target.write_text(json.dumps(raw, indent=1))


def _heading(options: argparse.Namespace, arguments: list[str]) -> str:
    versions = ", ".join(f"{each.name} {each.version}" for each in SYSTEMS if each not in OURS)
    return (
        f"{datetime.now(UTC):%-d %B %Y}, {options.conversations:,} conversations of 12 messages, "
        f"rounds: {options.rounds}; {versions}; Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} at the end; "
        f"`python -m benchmarks.peers {' '.join(arguments)}`.\n"
    )


def _say(text: str) -> None:
    print(f"[{datetime.now(UTC):%H:%M:%S}] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
