"""How what a lead uses grows with the project: processor time, statements and memory.

    .venv/bin/python benchmarks/growth.py FOLDER [--sizes 1000 10000] [--large] [--only TEXT]

Builds a project of each size (``--large``: also of 100,000 conversations) with twelve messages a
conversation: a closed calibration round with its agreement, an open round of everything with
overlap 3, merges, decisions, hidden checks and events. Only the answers to the first few hundred
conversations are written by the product's models; those to the others are copied in the database.
The database (SQLite) is kept in FOLDER and used again; what is measured works on a copy. One of
an older version of the product is migrated each time before it is measured. Then every command
of a lead runs, in the order of the work, and every page of a lead is opened. Each is done by a
process forked for it alone from one that has opened every page of a small project: so code and
templates are loaded, as in a web server, and nothing else. A page is opened four times, and the
quickest of the last three counts.

The table has processor milliseconds of each size (user and system), the exponent of growth b in
time ∝ size^b (least squares on logarithms; of what takes longer than 5 ms), how much longer the
largest size takes than the smallest in percent, statements and peak memory at each size, the
loaded code included. ``--only`` measures only what has PATTERN in its name, and the
commands that pages need.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import json
import math
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from product import ROOT, label, settle

SIZES, LARGE = (1000, 10_000), 100_000
MESSAGES, WORDS, OVERLAP, PEOPLE = 12, 14, 3, 9
VARIANTS = 45
"""Of answers: merging one conversation of each gives the merges of all."""
BATCH = 1000
BLOCK = 900
"""Conversations whose answers are written by models: then variants, people and drafts repeat."""
TIMES = 3
LONGEST_SECONDS = 3600
PR_SET_CHILD_SUBREAPER = 36
SMALL = 60
SENTENCES = 20_000
VOCABULARY = 10_000
LAYER, PROJECT = "extraction", "large"
WORTH_A_FIT = 5.0
"""Milliseconds: below them a figure is mostly what every page costs."""
NEEDED = ("freeze", "evaluate")
"""Commands that pages need."""

PAGES = {
    "home": "/",
    "projects": "/projects/",
    "project": "…/",
    "progress": "…/progress/",
    "targets": "…/targets/",
    "settings": "…/settings/",
    "members": "…/members/",
    "audit log": "…/audit/",
    "conversations": "…/conversations/",
    "conversations, last page": "…/conversations/?after={near_last}",
    "conversations, filter": "…/conversations/?state=disputed&difficulty=hard",
    "conversations, search": "…/conversations/?search=7",
    "imports": "…/imports/",
    "import page": "…/conversations/import/",
    "labels page": "…/labels/",
    "new round": "…/rounds/new/",
    "calibration": "…/calibration/",
    "agreement, open": "…/rounds/2/agreement/",
    "agreement, closed": "…/rounds/1/agreement/",
    "agreement, a pair": "…/rounds/2/agreement/pair/?a=person-0&b=person-2",
    "disagreements": "…/rounds/1/disagreements/",
    "review": "…/review/",
    "adjudication": "…/adjudication/",
    "adjudication, agreed": "…/adjudication/?tab=agreed",
    "adjudication, accept": "…/adjudication/accept/",
    "adjudicate": "/adjudicate/{disputed}/",
    "guidelines": "…/guidelines/",
    "worklist": "…/guidelines/worklist/",
    "checks": "…/checks/",
    "gold": "…/gold/",
    "gold, lint": "…/gold/lint/",
    "gold, a release": "…/gold/{release}/",
    "runs": "/runs/",
    "new run": "/runs/new/",
    "a run": "/runs/{run}/",
    "webhooks": "…/webhooks/",
}


class Figure(NamedTuple):
    milliseconds: float
    statements: int
    megabytes: float


# --- the table --------------------------------------------------------------------------------


def main() -> None:
    """This process stays small; each size is measured by another one."""
    parser = argparse.ArgumentParser(description="Growth of what a lead uses.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,} conversations")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument(
        "--skip", default="", metavar="PATTERN", help="not what has this in its name"
    )
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.folder, options.measure, options.only, options.skip)
        return
    sizes = sorted({*options.sizes, *([LARGE] if options.large else [])})
    figures: dict[str, dict[int, Figure]] = {}
    for size in sizes:
        folder = options.folder / str(size)
        command = [sys.executable, __file__, str(folder), "--measure", str(size)]
        with subprocess.Popen(
            [*command, "--only", options.only, "--skip", options.skip],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            for line in process.stdout:
                name, *values = json.loads(line)
                figures.setdefault(name, {})[size] = Figure(*values)
                print(f"{size:>8,}  {name:<28}{values[0]:>12,.1f} ms", file=sys.stderr, flush=True)
        if process.returncode:
            sys.exit(f"Measuring {size:,} ended with {process.returncode}.")
    show(figures, sizes)


def show(figures: dict[str, dict[int, Figure]], sizes: list[int]) -> None:
    columns = [f"{size:,}" for size in sizes]
    print("| CPU ms |", " | ".join(columns), "| exponent | growth | statements | peak MB |")
    print("| --- |", " | ".join("---" for _ in columns), "| --- | --- | --- | --- |")
    for name, by_size in figures.items():
        times = [f"{by_size[size].milliseconds:,.0f}" if size in by_size else "–" for size in sizes]
        memory = " / ".join(f"{figure.megabytes:.0f}" for figure in by_size.values())
        counts = [f"{figure.statements:,}" for figure in by_size.values()]
        counted = counts[0] if len(set(counts)) == 1 else " / ".join(counts)
        grows = exponent(by_size)
        shown = "flat" if grows is None else f"{grows:.2f}"
        longer = "–" if grows is None else f"{growth(by_size):+,.0f} %"
        times_shown = " | ".join(times)
        print(f"| {name} | {times_shown} | {shown} | {longer} | {counted} | {memory} |")


def growth(by_size: dict[int, Figure]) -> float:
    """How much longer the largest takes than the smallest, in percent."""
    least, most = by_size[min(by_size)].milliseconds, by_size[max(by_size)].milliseconds
    return 100 * (most / max(least, 0.1) - 1)


def exponent(by_size: dict[int, Figure]) -> float | None:
    """Of the time, by least squares on logarithms; None where it stays below what is worth it."""
    if len(by_size) < 2 or max(figure.milliseconds for figure in by_size.values()) < WORTH_A_FIT:
        return None
    points = [
        (math.log(size), math.log(max(figure.milliseconds, 0.1)))
        for size, figure in by_size.items()
    ]
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    across = sum((point[0] - x) ** 2 for point in points)
    return sum((point[0] - x) * (point[1] - y) for point in points) / across


# --- measuring --------------------------------------------------------------------------------


def measure(folder: Path, size: int, only: str, skip: str) -> None:
    """Print a line for each figure, as JSON."""
    pristine = build(folder, size)
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(pristine, work, ignore=shutil.ignore_patterns("encoder"))  # a socket
    set_up(work)
    from django.core.management import call_command
    from django.db import connections

    from labeling.services import planner

    call_command("migrate", verbosity=0)  # the database may be older than the code
    planner.count()  # as after an import
    lead = warm_up()
    connections.close_all()
    for name, command in commands(work, size).items():
        if (re.search(only, name) or name in NEEDED) and not (skip and re.search(skip, name)):
            report(name, in_a_fork(command))
    places = in_a_fork_json(addresses)
    for name, path in PAGES.items():
        missing = any("{" + place + "}" in path and not at for place, at in places.items())
        if re.search(only, name) and not missing and not (skip and re.search(skip, name)):
            address = path.replace("…", f"/projects/{PROJECT}").format(**places)
            report(name, in_a_fork(opening(lead, address)))
    shutil.rmtree(work)


def report(name: str, figure: Figure | None) -> None:
    if figure is not None:
        print(json.dumps([name, *figure]), flush=True)


def set_up(folder: Path) -> None:
    os.environ |= {"ASSAY_DATA_DIR": str(folder), "ASSAY_ENV_FILE": os.devnull}
    os.environ |= {"DATABASE_URL": "", "ASSAY_LOG_LEVEL": "ERROR"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def warm_up() -> Any:
    """Open every page of the small project once: templates and code are loaded then."""
    from django.contrib.auth.models import User
    from django.test import Client

    lead = User.objects.get(username="lead")
    client = signed_in(lead)
    for path in PAGES.values():
        if "{" not in path:
            client.get(path.replace("…", "/projects/small"))
    assert isinstance(client, Client)
    return lead


def signed_in(lead: Any) -> Any:
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(lead)
    return client


def opening(lead: Any, address: str) -> Callable[[Spent], None]:
    """The first time counts for nothing; of the others the quickest, in which no garbage was
    collected that an earlier page has left behind."""

    def open_often(spent: Spent) -> None:
        client, times = signed_in(lead), []
        for _ in range(1 + TIMES):
            spent.start()
            response = client.get(address)
            spent.stop()
            times.append(spent.milliseconds)
            if response.status_code != 200:
                raise RuntimeError(f"{address}: {response.status_code}")
        spent.milliseconds = min(times[1:])

    return open_often


class Spent:
    """Processor time and statements between ``start`` and ``stop``, of the children too."""

    def __init__(self) -> None:
        self.milliseconds = 0.0
        self.statements = 0

    def start(self) -> None:
        self.statements, self._began = 0, self._now()

    def stop(self) -> None:
        self.milliseconds = (self._now() - self._began) * 1000

    def count(self, execute: Any, *arguments: Any) -> Any:
        self.statements += 1
        return execute(*arguments)

    @staticmethod
    def _now() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime


def in_a_fork(work: Callable[[Spent], None]) -> Figure | None:
    """What the work takes in a process that is forked for it; None if it is refused."""

    def measured() -> list[float] | None:
        from django.core.management.base import CommandError
        from django.db import connection

        spent = Spent()
        with connection.execute_wrapper(spent.count):
            spent.start()
            try:
                work(spent)
            except CommandError as error:
                print(f"refused: {error}"[:2000], file=sys.stderr)
                return None
            except SystemExit:  # how lint says that it has findings
                pass
            if not spent.milliseconds:
                spent.stop()
        of = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        peak = max(resource.getrusage(who).ru_maxrss for who in of) / 1024
        return [spent.milliseconds, spent.statements, peak]

    values = in_a_fork_json(measured)
    return None if values is None else Figure(values[0], int(values[1]), values[2])


def in_a_fork_json(work: Callable[[], Any]) -> Any:
    reading, writing = os.pipe()
    gc.freeze()  # as the web server does before it forks
    child = os.fork()
    if not child:
        status = 1
        try:
            with os.fdopen(writing, "w") as pipe:
                json.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status) if not status else abandon()
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, ended = os.waitpid(child, 0)
    if ended:
        sys.exit("a measurement failed")
    return json.loads(text)


def abandon() -> None:
    import traceback

    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def addresses() -> dict[str, Any]:
    """What the addresses of pages need."""
    from evaluation.models import Run
    from labeling.models import Conversation, GoldRelease, Merge, Project

    project = Project.objects.get(slug=PROJECT)
    talks = Conversation.objects.filter(project=project).order_by("-external_id")
    disputed = Merge.objects.filter(conversation__project=project, state="disputed")
    run = Run.objects.order_by("pk").first()
    release = GoldRelease.objects.filter(project=project).order_by("pk").first()
    return {
        "near_last": talks[150].pk,
        "disputed": disputed.values_list("conversation", flat=True)[0],
        "run": run.pk if run else None,
        "release": f"{release.name}/{release.version}" if release else None,
    }


# --- the commands of a lead -------------------------------------------------------------------


def commands(folder: Path, size: int) -> dict[str, Callable[[Spent], None]]:
    """In the order of the work."""
    export, file = folder / "export", folder / "new.jsonl"

    def command(*arguments: str) -> Callable[[Spent], None]:
        def run(_: Spent) -> None:
            from io import StringIO

            from django.core.management import call_command

            call_command(*arguments, stdout=StringIO(), stderr=StringIO())

        return run

    def import_new(spent: Spent) -> None:
        with file.open("w", encoding="utf-8") as out:
            for n in range(size):
                messages = [{"role": role, "content": text} for role, text in own_texts(n)]
                out.write(json.dumps({"id": f"new-{n:06}", "messages": messages}) + "\n")
        spent.start()
        command("import_conversations", str(file), "--project", "imported")(spent)

    agreement = command("agreement", "--project", PROJECT, "--round", "2", "--format", "json")
    freeze = ["freeze_gold", "--project", PROJECT, "--layer", LAYER]
    return {
        "import conversations": import_new,
        "agreement, first": agreement,
        "agreement, nothing new": agreement,
        "agreement, 30 new answers": after_new_answers(agreement),
        "close calibration": close_calibration,
        "merge, nothing due": catch_up,
        "lint": command("lint_gold", "--project", PROJECT),
        "freeze": command(*freeze),
        "verify": command("verify", "--release", f"{PROJECT}@1"),
        "export gold": command("export_gold", f"{PROJECT}@1", "--output", str(export / "gold")),
        "export labels": command(
            "export_labels", "--project", PROJECT, "--output", str(export / "labels")
        ),
        "evaluate": in_a_process("evaluate", "--gold", f"{PROJECT}@1", "--pipeline", "nothing"),
        "close round": close_round,
    }


def in_a_process(*arguments: str) -> Callable[[Spent], None]:
    """With the processes that it starts; its statements are not counted."""

    def run(_: Spent) -> None:
        from django.core.management.base import CommandError

        manage = [sys.executable, str(ROOT / "manage.py")]
        inherit_orphans()
        try:
            subprocess.run(
                [*manage, *arguments], check=True, capture_output=True, timeout=LONGEST_SECONDS
            )
        except subprocess.SubprocessError as error:  # the other figures are wanted all the same
            raise CommandError(str(error)) from error
        wait_for_orphans()

    return run


def inherit_orphans() -> None:
    """Of processes whose parent has ended: the kernel adds up only those that are waited for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    with suppress(ChildProcessError):  # the last has ended
        while True:
            os.wait()


def after_new_answers(agreement: Callable[[Spent], None]) -> Callable[[Spent], None]:
    """Thirty drafts of the open round are submitted, and the agreement asked for again."""

    def submit(spent: Spent) -> None:
        from django.utils import timezone

        from labeling.models import Annotation

        drafts = Annotation.objects.filter(assignment__round__project__slug=PROJECT, status="draft")
        for annotation in drafts.order_by("pk")[:30]:
            Annotation.with_checks.filter(pk=annotation.pk).update(
                status="submitted", submitted_at=timezone.now(), version=2
            )
        spent.start()
        agreement(spent)

    return submit


def close_calibration(spent: Spent) -> None:
    """As the worker does after the last answer: the calibration round is open again before."""
    from labeling.models import Round

    calibration = Round.objects.get(project__slug=PROJECT, number=1)
    Round.objects.filter(pk=calibration.pk).update(state="open", agreement=None, closed_at=None)
    calibration.measurements.all().delete()
    spent.start()
    measured_by_worker(calibration)


def catch_up(_: Spent) -> None:
    from labeling.models import Project
    from labeling.services import processing
    from labeling.services.vectors import ruler

    processing.catch_up(Project.objects.get(slug=PROJECT), ruler=ruler)


def close_round(_: Spent) -> None:
    from django.contrib.auth.models import User

    from labeling.models import Round
    from labeling.services.work import rounds

    opened = Round.objects.get(project__slug=PROJECT, number=2)
    rounds.close(opened, by=User.objects.get(username="lead"))
    opened.refresh_from_db()
    measured_by_worker(opened)


def measured_by_worker(measured: Any) -> None:
    from labeling.services.agreement import measurements
    from labeling.services.vectors import ruler

    measurements.measure(measured, ruler=ruler)


# --- the project ------------------------------------------------------------------------------


def build(folder: Path, size: int) -> Path:
    """A folder with the database; built by another process if it is not there yet."""
    done = folder / "pristine"
    if not done.exists():
        fresh = folder / "building"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        started = time.perf_counter()
        code = f"import growth; growth.fill({str(fresh)!r}, {size})"
        here = str(Path(__file__).resolve().parent)
        subprocess.run([sys.executable, "-c", code], cwd=here, check=True, stdout=sys.stderr)
        fresh.rename(done)
        print(f"{size:,} built in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return done


def fill(folder: str, size: int) -> None:
    settle(folder)
    from django.contrib.auth.models import User
    from django.db import connection

    lead = User.objects.create_superuser(username="lead")
    people = [User.objects.create(username=f"person-{n}") for n in range(PEOPLE)]
    for slug, number in (("small", SMALL), (PROJECT, size)):
        fill_project(slug, number, lead, people)
    with connection.cursor() as cursor:
        cursor.execute("analyze")
        cursor.execute("pragma wal_checkpoint(truncate)")


def fill_project(slug: str, size: int, lead: Any, people: list[Any]) -> None:
    from django.utils import timezone

    from labeling.models import CheckPlan, Guideline, Membership, Project, Round

    project = Project.objects.create(
        slug=slug, name=slug.title(), overlap=OVERLAP, review_rate=0.1, kappa_threshold=0.1
    )
    guideline = Guideline.objects.create(project=project, version=1, body="# Guide")
    CheckPlan.objects.create(project=project, every=20)
    Membership.objects.create(project=project, user=lead, role="lead")
    for user in people:
        Membership.objects.create(project=project, user=user, role="annotator")
    common = {"project": project, "guideline": guideline, "overlap": OVERLAP}
    first = Round.objects.create(**common, number=1, kind="calibration")
    full = Round.objects.create(**common, number=2, kind="full", override_reason="-")
    calibrated = size // 5
    block = list(range(min(size, BLOCK)))
    talks = conversations(project, block)
    answered(first, block, talks[:calibrated], people, lead)
    answered(full, block, talks, people, lead)
    for start in range(BLOCK, size, BLOCK):
        conversations(project, list(range(start, min(size, start + BLOCK))))
    if size > BLOCK:
        copied(project, {first.pk: calibrated, full.pk: size})
    measured_by_worker(first)
    Round.objects.filter(pk=first.pk, state="open").update(state="passed", closed_at=timezone.now())
    merged(project)
    decided(project, guideline, lead)


def conversations(project: Any, numbers: list[int]) -> list[Any]:
    """Of different sentences, so that none is a copy."""
    from labeling.domain import transcripts
    from labeling.domain.exchange.importing import Turn
    from labeling.models import Conversation, Transcript

    talks = Conversation.objects.bulk_create(
        Conversation(
            project=project,
            external_id=f"talk-{n:06}",
            content_sha256=hashlib.sha256(f"{project.slug}-{n}".encode()).hexdigest(),
            split="train",
            n_messages=MESSAGES,
            difficulty=("easy", "medium", "hard")[n % 3],
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
    return talks


def texts(seed: str) -> Iterator[tuple[str, str]]:
    """Of common sentences, so that encoding them is not what is measured."""
    for index, number in enumerate(random.Random(seed).sample(range(SENTENCES), MESSAGES)):
        yield ("user", "analyst")[index % 2], sentence(number)


def own_texts(number: int) -> Iterator[tuple[str, str]]:
    """Of common words, but each sentence is said once, as in a file of different talks."""
    rng, words = random.Random(f"own-{number}"), vocabulary()
    for index in range(MESSAGES):
        yield ("user", "analyst")[index % 2], " ".join(rng.choices(words, k=WORDS))


@cache
def vocabulary() -> list[str]:
    return [word for number in range(VOCABULARY // WORDS) for word in sentence(number).split()]


@cache
def sentence(number: int) -> str:
    rng = random.Random(number)
    words = ("".join(rng.choices("abcdeilmnorstu", k=rng.randint(3, 8))) for _ in range(WORDS))
    return " ".join(words)


def answered(
    round_: Any, numbers: list[int], talks: list[Any], people: list[Any], lead: Any
) -> None:
    """Everybody has answered, but one place of a hundred is still a draft in full labeling."""
    from django.utils import timezone

    from labeling.models import (
        Annotation,
        AnnotationRevision,
        Assignment,
        Event,
        Review,
        RoundConversation,
    )

    places = list(zip(numbers, talks, strict=False))
    stored(
        RoundConversation,
        (RoundConversation(round=round_, conversation=t, position=n) for n, t in places),
    )
    work = [(n, slot, talk) for n, talk in places for slot in range(OVERLAP)]
    assignments = Assignment.objects.bulk_create(
        [
            Assignment(
                round=round_,
                conversation=talk,
                annotator=people[(n + 2 * slot) % PEOPLE],
                slot=slot,
                position=n,
            )
            for n, slot, talk in work
        ]
    )
    now, is_full = timezone.now(), round_.kind == "full"
    annotations = Annotation.objects.bulk_create(
        [
            Annotation(
                assignment=assignment,
                guideline=round_.guideline,
                status="draft" if is_full and (n * OVERLAP + slot) % 100 == 99 else "submitted",
                submitted_at=None if is_full and (n * OVERLAP + slot) % 100 == 99 else now,
                payload=payload(n % VARIANTS, slot),
                version=1,
                active_seconds=60 + n % 600,
            )
            for (n, slot, _), assignment in zip(work, assignments, strict=True)
        ]
    )
    if not is_full:
        return
    submitted = [annotation for annotation in annotations if annotation.status == "submitted"]
    common: dict[str, Any] = {"version": 1}
    stored(
        Review,
        (
            Review(annotation=each, verdict="accepted", reviewer=lead, **common)
            for each in submitted[::50]
        ),
    )
    stored(
        AnnotationRevision,
        (
            AnnotationRevision(annotation=each, kind="submitted", payload={}, author=lead, **common)
            for each in submitted
        ),
    )
    stored(
        Event,
        (
            Event(
                project=round_.project,
                actor=lead,
                verb="annotation.submitted",
                object_type="annotation",
                object_id=each.pk,
                data={},
            )
            for each in submitted
        ),
    )


def copied(project: Any, sizes: dict[int, int]) -> None:
    """The answers to the first block for all other conversations; ``sizes`` is that of each round.

    Triggers are written again at the end and count everything, as after a migration.
    """
    from django.db import connection, transaction

    from labeling.models import (
        Annotation,
        AnnotationRevision,
        Assignment,
        Event,
        Review,
        RoundConversation,
        guards,
    )

    guards.remove(connection)
    work = Assignment.objects.filter(round__in=sizes)
    assignment, annotation = (
        f"+ block.k * {stride(rows)}"
        for rows in (work, Annotation.objects.filter(assignment__in=work))
    )
    talk = f"+ block.k * {BLOCK}"
    answer = "JOIN labeling_annotation AS answer ON answer.id = t.annotation_id"
    task = "JOIN labeling_assignment AS task ON task.id ="
    of_answer = f"{answer} {task} answer.assignment_id"
    of_event = f"JOIN labeling_annotation AS answer ON answer.id = t.object_id {task}"
    copies: list[tuple[Any, str, str, dict[str, str]]] = [
        (RoundConversation, "", "t", {"conversation_id": talk, "position": talk}),
        (Assignment, "", "t", {"id": assignment, "conversation_id": talk, "position": talk}),
        (
            Annotation,
            f"{task} t.assignment_id",
            "task",
            {"id": annotation, "assignment_id": assignment},
        ),
        (Review, of_answer, "task", {"annotation_id": annotation}),
        (AnnotationRevision, of_answer, "task", {"annotation_id": annotation}),
        (Event, f"{of_event} answer.assignment_id", "task", {"object_id": annotation}),
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        for model, joined, of, changed in copies:
            names = [field.column for field in model._meta.concrete_fields]
            names = [name for name in names if name != "id" or "id" in changed]
            values = ", ".join(f"t.{name} {changed.get(name, '')}" for name in names)
            for round_, size in sizes.items():
                cursor.execute(
                    "WITH RECURSIVE block(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM block"
                    f" WHERE (k + 1) * {BLOCK} < {size})"
                    f" INSERT INTO {model._meta.db_table} ({', '.join(names)})"
                    f" SELECT {values} FROM block JOIN {model._meta.db_table} AS t {joined}"
                    f" WHERE {of}.round_id = {round_} AND {of}.position < {BLOCK}"
                    f" AND {of}.position {talk} < {size}"
                )
    guards.renew(connection)


def stride(rows: Any) -> int:
    """So far apart that copies of these rows have other keys."""
    from django.db.models import Max, Min

    keys = rows.aggregate(least=Min("pk"), most=Max("pk"))
    return int(keys["most"] - keys["least"] + 1)


def payload(variant: int, slot: int) -> dict[str, Any]:
    """Two requirements; in two variants of five, people cite other messages, or lack the second."""
    differs = variant % 5 in (1, 3)
    cited = [variant % 6, 6 + (variant + (slot if differs else 0)) % 6]
    titles = ("Order Tracking", "Card Payment")
    labels = [
        label(
            uid=f"label-{variant}-{slot}-{n}",
            id=f"REQ-00{n + 1}",
            title=titles[n],
            source_messages=[cited[n]],
        )
        for n in range(2)
    ]
    if variant % 5 == 3 and slot:
        labels = labels[:1]
    return {"requirements": labels}


def merged(project: Any) -> None:
    """A worker merges one conversation of each variant; the others, answered alike, get copies."""
    from labeling.models import Conversation, Merge
    from labeling.services.settling import merges
    from labeling.services.vectors import ruler

    waiting = merges.due(project, LAYER)
    names = Conversation.objects.filter(project=project).values_list("pk", "external_id")
    kind_of = {pk: int(name.rpartition("-")[2]) % VARIANTS for pk, name in names.iterator()}
    rounds = dict(project.rounds.values_list("pk", "number"))
    first: dict[tuple[int, int], int] = {}
    for pk, ready in waiting.items():
        first.setdefault((kind_of[pk], rounds[ready.round]), pk)
    for pk in first.values():
        merges.merge(project, ruler=ruler, among=[pk])
    columns = ("layer", "round_id", "state", "agreement", "n_agreed", "n_disputed", "clusters")
    rows = Merge.objects.filter(conversation__in=first.values()).values("conversation_id", *columns)
    by_conversation = {row.pop("conversation_id"): row for row in rows}
    done = set(first.values())
    stored(
        Merge,
        (
            Merge(
                conversation_id=pk,
                answers_sha256=ready.answers_sha256,
                **by_conversation[first[kind_of[pk], rounds[ready.round]]],
            )
            for pk, ready in waiting.items()
            if pk not in done
        ),
    )


def decided(project: Any, guideline: Any, lead: Any) -> None:
    """Half of what is disputed is decided."""
    from labeling.models import Adjudication, Merge

    disputed = Merge.objects.filter(conversation__project=project, state="disputed")
    keys = disputed.order_by("pk").values_list("conversation", flat=True)[::2]
    stored(
        Adjudication,
        (
            Adjudication(
                conversation_id=pk,
                layer=LAYER,
                version=1,
                guideline=guideline,
                payload=payload(0, 0),
                reason="So it is",
                kind="error",
                decided_by=lead,
            )
            for pk in keys
        ),
    )


def stored(model: Any, rows: Iterable[Any]) -> None:
    """In parts, so that a million rows are not in memory at once."""
    rows = iter(rows)
    while part := list(islice(rows, BATCH)):
        model._base_manager.bulk_create(part)


if __name__ == "__main__":
    main()
