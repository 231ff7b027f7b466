"""How what a lead uses grows with the project: processor time, statements and memory.

    .venv/bin/python benchmarks/growth.py [--sizes 1000 10000]

For each size the commands of a lead run in the order of the work, in a project of that many
conversations that three people have labeled, on a SQLite database that is thrown away. A command is
its own process, with its processor milliseconds (user and system, of what it starts too) and
its peak memory. Then every page of a lead is opened four times in one process; the quickest of the
last three counts. The last columns are the exponent b in time ~ size^b from the smallest size to
the largest, and statements (of a page) or the peak in MB (of a command), of each size.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from product import ROOT, label, settle, talk

PROJECT, PEOPLE, TIMES = "large", ("ana", "ben", "cleo"), 3
WORTH_A_FIT = 5.0
"""Milliseconds: below them a figure is mostly what every page costs."""
PAGES = (
    "/",
    "/projects/",
    "…/",
    "…/progress/",
    "…/audit/",
    "…/conversations/",
    "…/conversations/?search=7",
    "…/calibration/",
    "…/rounds/1/agreement/",
    "…/review/",
    "…/adjudication/",
    "…/guidelines/worklist/",
    "…/gold/",
    "…/gold/large/1/",
    "/runs/",
    "/runs/new/",
    "/runs/1/",
)


class Figure(NamedTuple):
    name: str
    milliseconds: float
    amount: int
    """Statements of a page, MB of a command."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--pages", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pages:
        for figure in pages(options.pages):
            print(json.dumps(figure), flush=True)
        return
    table: dict[str, dict[int, Figure]] = {}
    for size in sorted(options.sizes):
        with tempfile.TemporaryDirectory() as folder:
            for figure in measured(Path(folder), size):
                table.setdefault(figure.name, {})[size] = figure
                print(f"{size:>8,}  {figure}", file=sys.stderr, flush=True)
    head = ["", *(f"{size:,} ms" for size in sorted(options.sizes)), "exponent", "statements or MB"]
    for row in (head, ["---"] * len(head), *(cells(by_size) for by_size in table.values())):
        print("|", " | ".join(row), "|")


def cells(by_size: dict[int, Figure]) -> list[str]:
    times = [f"{figure.milliseconds:,.0f}" for figure in by_size.values()]
    counts = " / ".join(f"{figure.amount:,}" for figure in by_size.values())
    return [next(iter(by_size.values())).name, *times, exponent(by_size), counts]


def exponent(by_size: dict[int, Figure]) -> str:
    small, large = min(by_size), max(by_size)
    least, most = (max(by_size[size].milliseconds, 0.1) for size in (small, large))
    if small == large or most < WORTH_A_FIT:
        return "–"
    return f"{math.log(most / least) / math.log(large / small):.2f}"


def measured(folder: Path, size: int) -> Iterator[Figure]:
    environment = {
        **os.environ,
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_ENV_FILE": os.devnull,
        "ASSAY_LOG_LEVEL": "ERROR",
        "DATABASE_URL": "",
    }
    talks, labels = folder / "talks.jsonl", folder / "labels.jsonl"
    talks.write_text("".join(json.dumps(talk(f"talk-{n:06}")) + "\n" for n in range(size)))
    labels.write_text("".join(json.dumps(answers(n)) + "\n" for n in range(size)))
    guide = folder / "guide.md"
    guide.write_text("# Guide\n")
    start = f"from product import settle; settle({str(folder)!r})"
    run([sys.executable, "-c", start], environment)
    people = ("--create-annotators", "--reason", "a benchmark")
    for command in (
        ("import_conversations", str(talks), "--project", PROJECT),
        ("add_guidelines", str(guide), "--project", PROJECT),
        ("import_labels", str(labels), "--project", PROJECT, *people),
        ("agreement", "--project", PROJECT),
        ("freeze_gold", "--project", PROJECT, "--name", PROJECT),
        ("export_gold", PROJECT, "--output", str(folder / "gold")),
        ("export_labels", "--project", PROJECT, "--output", str(folder / "labels")),
        ("evaluate", "--gold", PROJECT, "--pipeline", "nothing"),
        ("verify",),
    ):
        yield run([sys.executable, str(ROOT / "manage.py"), *command], environment, command[0])
    script = [sys.executable, __file__, "--pages", str(folder)]
    opened = subprocess.run(script, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    for line in opened.stdout.splitlines():
        yield Figure(*json.loads(line))


def run(command: list[str], environment: dict[str, str], name: str = "") -> Figure:
    here = Path(__file__).parent
    process = subprocess.Popen(command, env=environment, cwd=here, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{name or command} ended with {process.returncode}.")
    return Figure(name, 1000 * (used.ru_utime + used.ru_stime), used.ru_maxrss // 1024)


def answers(number: int) -> dict[str, object]:
    """Two requirements of each person; in every fifth conversation they cite other messages."""
    rows = []
    for slot, person in enumerate(PEOPLE):
        cited = 4 + (slot if number % 5 == 0 else 0)
        requirements = [
            label(uid=f"label-{number}-{slot}-{n}", id=f"REQ-00{n + 1}", title=title)
            | {"source_messages": [n and cited]}
            for n, title in enumerate(("Order Tracking", "Card Payment"))
        ]
        rows.append({"annotator": person, "labels": {"requirements": requirements}})
    return {"id": f"talk-{number:06}", "answers": rows}


def pages(folder: str) -> Iterator[Figure]:
    settle(folder, fresh=False)
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("lead"))
    for path in PAGES:
        times, counted = [], [0]

        def count(execute: object, *arguments: object, counted: list[int] = counted) -> object:
            counted[0] += 1
            return execute(*arguments)  # type: ignore[operator]

        for _ in range(1 + TIMES):
            counted[0], began = 0, time.process_time()
            with connection.execute_wrapper(count):
                response = client.get(path.replace("…", f"/projects/{PROJECT}"))
            times.append(1000 * (time.process_time() - began))
            if response.status_code != 200:
                sys.exit(f"{path}: {response.status_code}")
        yield Figure(path, min(times[1:]), counted[0])


if __name__ == "__main__":
    main()
