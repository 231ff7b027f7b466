"""Gold at scale: how long each step on a release takes, and how much memory.

    .venv/bin/python benchmarks/gold.py [--folder FOLDER] [CONVERSATIONS]…

Builds that many conversations of eight messages, each labelled alike by two people, on a separate
database (SQLite in a temporary folder, or the empty database that DATABASE_URL names). Then it
freezes, verifies, decides every tenth conversation and freezes again, compares both releases,
exports, and takes the export over into an empty project: each by its command, in a separate
process, with seconds and peak memory. Meanwhile another process inserts a small row into the same
database every 20 ms: how long its inserts took, at the 99th percentile and at most.

What was built in ``--folder`` before is used again. Such a folder serves once.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from product import ROOT, label, settle

LAYER, PEOPLE, MESSAGES, WORDS = "extraction", ("ana", "ben"), 8, 14
BATCH = 1000
MANAGE = str(ROOT / "manage.py")
WAIVED = "it is a benchmark"


PAUSE = 0.02


class Step(NamedTuple):
    seconds: float
    megabytes: float
    said: str


def main(number: int, kept: str = "") -> None:
    """This process stays small: a new one counts the memory of the one that it comes from."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(kept or temporary)
        os.environ |= {"ASSAY_DATA_DIR": str(folder), "ASSAY_ENV_FILE": os.devnull}
        os.environ.setdefault("DATABASE_URL", "")
        os.environ.setdefault("ASSAY_LOG_LEVEL", "WARNING")
        print(f"{number} conversations; another writer waited (99 % of its rows, longest)")
        for name, arguments in steps(folder, number):
            with ExitStack() as stack:
                waits = stack.enter_context(probed(folder)) if arguments[0] == MANAGE else []
                step = run(*arguments)
            print(
                f"  {name:<10} {step.seconds:8.1f} s {step.megabytes:6.0f} MB"
                f"  {' '.join(waits):<18} {step.said}",
                flush=True,
            )


def steps(folder: Path, number: int) -> Iterator[tuple[str, list[str]]]:
    export = str(folder / "export")
    freeze = [MANAGE, "freeze_gold", "--project", "many"]
    if (folder / "built").exists():
        yield "migrate", [MANAGE, "migrate"]
    else:
        yield "build", [__file__, "build", str(folder), str(number)]
        (folder / "built").touch()
    yield "freeze", freeze
    yield "verify", [MANAGE, "verify", "--release", "many@1"]
    yield "decide", [__file__, "decide", str(folder), str(number)]
    yield "freeze 2", freeze
    yield "diff", [MANAGE, "diff_gold", "many@1", "many@2"]
    yield "export", [MANAGE, "export_gold", "many@2", "--output", export]
    yield "import", [MANAGE, "import_gold", export, "--project", "elsewhere", "--layer", LAYER]


def run(*arguments: str) -> Step:
    """A step in a separate process; findings that stop it are waived."""
    waived: list[str] = []
    while True:
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments, *waived],
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            lines = [line.rstrip("\n") for line in output]
        if process.returncode == 0:
            seconds = time.perf_counter() - started
            return Step(seconds, usage.ru_maxrss / 1024, (lines or [""])[0][:100])
        keys = waivable(lines)
        if not keys or waived:
            ended = f"{' '.join(arguments)} ended with {process.returncode}"
            sys.exit("\n".join([ended, *lines[-10:]]))
        waived = [argument for key in keys for argument in ("--waive", f"{key}={WAIVED}")]


def waivable(lines: list[str]) -> list[str]:
    """The keys of the findings that a refusal names."""
    return [line.split()[1] for line in lines if line.startswith("--waive ")]


@contextmanager
def probed(folder: Path) -> Iterator[list[str]]:
    """How long another writer waited meanwhile; filled at the end."""
    waits: list[str] = []
    process = subprocess.Popen(
        [sys.executable, __file__, "probe", str(folder), "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    process.stdout.readline()  # it has begun
    try:
        yield waits
    finally:
        waits += process.communicate()[0].split()


def probe(_folder: str, _number: int) -> None:
    """Insert a row every 20 ms until somebody closes the input."""
    start_django()
    from django.db import connection

    waited = []
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS benchmark_probe (at double precision)")
        print("begun", flush=True)
        while not select.select([sys.stdin], [], [], PAUSE)[0]:
            started = time.perf_counter()
            cursor.execute("INSERT INTO benchmark_probe VALUES (%s)", [started])
            waited.append(time.perf_counter() - started)
    waited.sort()
    for wait in (waited[len(waited) * 99 // 100], waited[-1]):
        print(f"{1000 * wait:.0f}ms")


def start_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


# --- the data -------------------------------------------------------------------------------------


def build(folder: str, number: int) -> None:
    settle(folder)
    from django.contrib.auth.models import User

    from labeling.models import Guideline, Membership, Project, Round

    project = Project.objects.create(
        slug="many", name="Many", overlap=len(PEOPLE), targets={"layers": {LAYER: 0}}
    )
    guideline = Guideline.objects.create(project=project, version=1, body="# Guide")
    people = [User.objects.create(username=name) for name in PEOPLE]
    for user in people:
        Membership.objects.create(project=project, user=user, role="annotator")
    round_ = Round.objects.create(
        project=project,
        number=1,
        kind=Round.Kind.FULL,
        guideline=guideline,
        overlap=len(PEOPLE),
        override_reason="-",
    )
    numbers = iter(range(number))
    while batch := list(islice(numbers, BATCH)):
        store(project, round_, people, batch)
    settle_alike(project)


def store(project: Any, round_: Any, people: list[Any], numbers: list[int]) -> None:
    """Conversations of random words, so that none is a copy, with the answers of everybody."""
    from django.db import transaction
    from django.utils import timezone

    from labeling.domain import transcripts
    from labeling.domain.exchange.importing import Turn
    from labeling.models import (
        Annotation,
        Assignment,
        Conversation,
        RoundConversation,
        Transcript,
    )

    payload = {
        "requirements": [
            label(uid=f"label-{n}", id=f"REQ-00{n}", title=title, source_messages=[2 * n])
            for n, title in enumerate(("Order Tracking", "Card Payment"), start=1)
        ]
    }
    with transaction.atomic():
        talks = Conversation.objects.bulk_create(
            Conversation(
                project=project,
                external_id=f"talk-{n:06}",
                split="train",
                n_messages=MESSAGES,
                content_sha256=hashlib.sha256(str(n).encode()).hexdigest(),
            )
            for n in numbers
        )
        Transcript.objects.bulk_create(
            Transcript(
                conversation=talk,
                messages=transcripts.written(Turn(*said) for said in texts(talk.external_id)),
            )
            for talk in talks
        )
        RoundConversation.objects.bulk_create(
            RoundConversation(round=round_, conversation=talk, position=position)
            for position, talk in zip(numbers, talks, strict=True)
        )
        assignments = Assignment.objects.bulk_create(
            Assignment(round=round_, conversation=talk, annotator=user, slot=slot)
            for talk in talks
            for slot, user in enumerate(people)
        )
        Annotation.objects.bulk_create(
            Annotation(
                assignment=assignment,
                guideline=round_.guideline,
                status=Annotation.Status.SUBMITTED,
                submitted_at=timezone.now(),
                payload=payload,
                version=1,
            )
            for assignment in assignments
        )


def texts(seed: str) -> Iterator[tuple[str, str]]:
    rng = random.Random(seed)
    for index in range(MESSAGES):
        words = ("".join(rng.choices("abcdeilmnorstu", k=rng.randint(3, 8))) for _ in range(WORDS))
        yield ("user", "analyst")[index % 2], " ".join(words)


def settle_alike(project: Any) -> None:
    """Merge one conversation as a worker does; the others, labelled alike, get the same merge."""
    from labeling.models import Merge
    from labeling.services import processing
    from labeling.services.settling import merges
    from labeling.services.vectors import ruler

    waiting = merges.due(project, LAYER)
    first = next(iter(waiting))
    merges.merge(project, ruler=ruler, among=[first])
    made = Merge.objects.filter(conversation=first).values(
        *("layer", "round_id", "state", "agreement", "n_agreed", "n_disputed", "clusters")
    )[0]
    rows = (
        Merge(conversation_id=pk, answers_sha256=ready.answers_sha256, **made)
        for pk, ready in waiting.items()
        if pk != first
    )
    while batch := list(islice(rows, BATCH)):
        Merge.objects.bulk_create(batch)
    processing.catch_up(project, ruler=ruler, measure=project.rounds.all())


def decide(_folder: str, number: int) -> None:
    """Somebody decides every tenth conversation, in other words."""
    start_django()
    from django.contrib.auth.models import User

    from labeling.models import Adjudication, Project

    project = Project.objects.get(slug="many")
    rita, _ = User.objects.get_or_create(username="rita")
    titles = label(uid="label-1", id="REQ-001", title="Tracking of orders", source_messages=[2])
    for talk in project.conversations.order_by("pk").iterator():
        if talk.pk % 10 == 0:
            Adjudication.objects.create(
                conversation=talk,
                layer=LAYER,
                version=1,
                guideline=project.guidelines.get(),
                payload={"requirements": [titles]},
                reason=f"One of {number}",
                decided_by=rita,
            )


STEPS = {"build": build, "decide": decide, "probe": probe}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        STEPS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("--folder", default="")
        parser.add_argument("conversations", nargs="*", type=int, default=[1000])
        options = parser.parse_args()
        for size in options.conversations:
            main(size, options.folder)
