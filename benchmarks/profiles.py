"""Where the processor time of each figure goes, and where it went in an earlier commit.

    .venv/bin/python -m benchmarks.profiles [--before CHECKOUT] [--chat FILE] [--only GROUP…]

CHECKOUT is a clone of an earlier commit after ``make install`` there: this same file is run there
and here in turn, ``--rounds`` times, and of each figure the round with the middle total counts. It
needs the functions that it calls in both commits; those of 22 November 2026 have them.

What a figure does is called in one process, without sockets: a request as a call of the WSGI
application, a command, what a worker's task calls. Each millisecond the stack is looked at, and
what the process has used since then goes to one subject: loading a module before statements and
commits, those before migrations, and else whatever is innermost. So each part is without what it
calls of another subject, and all parts together are the total. Only *fresh start* is the whole of
``assay serve``, all processes counted; the rows *start* are its steps in one process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

LARGEST = 4
PAGES = 300
STEPS = ("migrate", "collectstatic", "seed_demo")
SUBJECTS = (  # what comes before others, and a pattern of file and function
    ("loading modules", 4, r"<frozen importlib"),
    ("commit", 3, r"db/backends/base/base\.py \w*commit"),
    ("statements", 3, r"db/backends/(utils|base/base|sqlite3/base)\.py|db/utils\.py|sqlite3/"),
    ("models of migrations", 2, r"db/migrations/"),
    ("models", 1, r"db/models/(base|fields/.*|query_utils)\.py|db/models/query\.py __iter__"),
    ("building queries", 1, r"django/db/"),
    ("templates", 1, r"django/template|templatetags|django/utils/(html|safestring)\.py"),
    ("REST framework", 1, r"rest_framework|labeling/api/"),
    ("compressing files", 1, r"whitenoise/(compress|storage)|gzip|brotli"),
    ("files", 1, r"core/files|contrib/staticfiles|config/assets|http/multipartparser"),
    ("middleware and sign-in", 1, r"middleware|contrib/(auth|sessions|messages)|whitenoise/"),
    ("JSON", 1, r"/json/|orjson"),
    ("words", 1, r"utils/translation|gettext"),
    ("request and answer", 1, r"django/(http|core|views|urls|conf)/|/email/|/http/"),
    ("matching", 1, r"domain/matching|scipy/optimize"),
    ("encoder", 1, r"torch|transformers|tokenizers|pipelines/encoder|domain/encoding"),
)
OWN = re.compile(r"/((?:labeling|evaluation|pipelines|config)/.*)\.py$")


@cache
def subject(file: str, function: str) -> tuple[int, str]:
    for name, order, pattern in SUBJECTS:
        if re.search(pattern, f"{file} {function}"):
            return order, name
    own = OWN.search(file)
    return (1, ".".join(own[1].split("/")[-2:])) if own else (0, "other")


class Profile:
    """Processor seconds by subject of what runs inside ``with``, in the main thread."""

    running: Profile | None = None
    collecting = False

    def __init__(self, per: float = 1) -> None:
        self.parts: Counter[str] = Counter()
        self.per = per
        self._rest = self._last = 0.0

    def __enter__(self) -> None:
        self._last = time.process_time() - self._rest
        Profile.running = self

    def __exit__(self, *_: object) -> None:
        Profile.running = None
        self._rest = time.process_time() - self._last  # is counted with the next look

    @classmethod
    def look(cls, _number: int, frame: FrameType | None) -> None:
        """What was used since the last look goes to one subject, the encoder by who calls it."""
        if not (self := cls.running):
            return
        used, found = time.process_time() - self._last, (-1, "other")
        if cls.collecting:
            frame, found = None, (1, "garbage collector")
        while frame is not None:
            here = subject(frame.f_code.co_filename, frame.f_code.co_name)
            if here[0] > found[0]:
                found = here
            elif found[1] == "encoder" != here[1] and here[0] == 1:
                found = (1, f"encoder for {here[1]}")
            frame = frame.f_back
        self.parts[found[1]] += used
        self._last = time.process_time()

    @classmethod
    def collect(cls, phase: str, _info: dict[str, int]) -> None:
        cls.look(0, sys._getframe())
        cls.collecting = phase == "start"


# --- the work, in the checkout that is the working directory --------------------------------------

Figures = Iterator[tuple[str, Profile]]


def once(name: str, work: Callable[[], object], per: float = 1) -> tuple[str, Profile]:
    profile = Profile(per)
    with profile:
        work()
    return name, profile


class Person:
    """Signed in, and calling the whole server as a function; only the call is profiled."""

    def __init__(self, username: str) -> None:
        from django.contrib.auth.models import User
        from django.test import RequestFactory
        from product import session_of

        from config.wsgi import application

        self._server, token = application, "a" * 32
        self.asks = RequestFactory(HTTP_HOST="127.0.0.1", HTTP_X_CSRFTOKEN=token)
        self.asks.cookies["sessionid"] = session_of(User.objects.get(username=username))
        self.asks.cookies["csrftoken"] = token

    def call(
        self, profile: Profile, method: str, path: str, body: Any = None, **form: Any
    ) -> bytes:
        if form:
            request = self.asks.post(path, form)
        else:
            kind = "application/json"
            request = self.asks.generic(method, path, json.dumps(body).encode(), kind)
        said: list[str] = []
        with profile:
            answer = self._server(request.environ, lambda status, _headers: said.append(status))
            text = b"".join(answer)
            answer.close()
        if said[0][0] not in "23":
            sys.exit(f"{method} {path}: {said[0]} {text[:300]!r}")
        return text


def starting(_folder: Path) -> Figures:
    def load() -> None:
        import django

        django.setup()
        from django.urls import get_resolver

        _ = get_resolver().url_patterns

    yield once("start: loading", load)
    from django.core.management import call_command

    for command in STEPS:
        work = partial(call_command, command, verbosity=0, stdout=StringIO())
        yield once(f"start: {command}", work)


def labelling(folder: Path) -> Figures:
    """A lead's imports, an annotator's requests, what a worker does, and a lead's export."""
    from product import label, settle

    settle(str(folder))
    from django.contrib.auth.models import User
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.core.management import call_command

    from labeling.models import Assignment, Guideline, Membership, Project, Round
    from labeling.services.agreement import measurements
    from labeling.services.settling import merges
    from labeling.services.vectors import ruler
    from labeling.services.work.rounds import open_round

    ana = User.objects.create_user("ana")
    User.objects.create_superuser("lead")
    by_page, by_command = (Project.objects.create(slug=s, name=s, overlap=1) for s in "ab")
    for project in (by_page, by_command):
        Guideline.objects.create(project=project, version=1, body="# Guide\n\nLabel orders.")
        Membership.objects.create(project=project, user=ana, role="annotator")
    person, lead, file = Person("ana"), Person("lead"), folder.parent / "talks.jsonl"

    profile, path = Profile(), "/projects/a/conversations/import"
    form = {"format": "native", "split": ""}
    upload = SimpleUploadedFile("talks.jsonl", file.read_bytes())
    page = lead.call(profile, "POST", f"{path}/preview/", file=upload, **form)
    field = re.search(rb'<input[^>]*name="upload"[^>]*value="([^"]*)"', page)
    assert field, page
    lead.call(profile, "POST", f"{path}/store/", upload=field[1].decode(), **form)
    yield "import by page", profile
    import_ = partial(call_command, "import_conversations", str(file), project="b")
    yield once("import by command", lambda: import_(stdout=StringIO()))

    rows = list(by_page.conversations.order_by("external_id"))
    for pool, chosen in ((False, rows[:PAGES]), (True, rows[PAGES:])):
        options = {"project": by_page, "kind": "full", "by": None, "override_reason": "benchmark"}
        open_round(**options, conversations=chosen, pool=pool)
    payload = {"requirements": [label(uid="a", id="REQ-001", title="Order Tracking")]}
    answer = {"base_version": 0, "client": str(uuid.uuid4()), "seq": 1, "payload": payload}
    own = list(Assignment.objects.filter(annotator=ana).values_list("pk", flat=True))
    taking, submitting, opening, saving, listing = (Profile(PAGES) for _ in range(5))
    warm = Profile()
    for number in range(-10, PAGES):  # the first ten load what is loaded once
        taken = person.call(warm if number < 0 else taking, "POST", "/api/queue/next/", {})
        path = f"/api/annotations/{json.loads(taken)['assignment']}/submit/"
        person.call(warm if number < 0 else submitting, "POST", path, answer)
        lead.call(warm if number < 0 else listing, "GET", "/projects/a/conversations/")
        key = own[max(0, number)]
        person.call(warm if number < 0 else opening, "GET", f"/label/{key}/")
        if number >= 0:
            person.call(saving, "PUT", f"/api/annotations/{key}/", answer)
    yield from (("submit", submitting), ("next", taking), ("workspace page", opening))
    yield from (("list of 100", listing), ("autosave", saving))

    labels = [str(folder.parent / "labels.jsonl"), "--project", "b", "--create-annotators"]
    call_command("import_labels", *labels, "--reason", "benchmark", stdout=StringIO())
    first, *others = by_command.conversations.values_list("pk", flat=True)
    merges.merge(by_command, ruler=ruler, among=[first])  # loads the encoder
    merge = partial(merges.merge, by_command, ruler=ruler)
    yield once("merging a conversation", merge, len(others))
    round_ = Round.objects.get(project=by_command)
    yield once("agreement of a round", lambda: measurements.measure(round_, ruler=ruler))
    profile = Profile()
    lead.call(profile, "GET", "/projects/b/labels/export/native/")
    yield "export of whole answers", profile


def releasing(folder: Path) -> Figures:
    import gold

    gold.build(str(folder), len((folder.parent / "talks.jsonl").read_bytes().splitlines()))
    from django.core.management import call_command

    command = partial(call_command, stdout=StringIO())
    yield once("freeze", lambda: command("freeze_gold", "--project", "many"))
    yield once("verify", lambda: command("verify", "--release", "many@1"))


def remembering(folder: Path) -> Figures:
    from memory import read

    from pipelines.encoder import MiniLM
    from pipelines.memory.config import MemoryConfig
    from pipelines.memory.pipeline import Memory
    from pipelines.memory.talks import Talks
    from pipelines.types import Case

    chat = folder.parent / "chat.json"
    messages, encoder = read(chat), MiniLM()
    encoder.encode(["one text"])  # a machine loads the weights once
    asked = json.loads(chat.read_text(encoding="utf-8"))["qa"]
    cases = [
        Case(str(n), "chat", tuple(messages), question=row["question"], task="qa")
        for n, row in enumerate(asked)
    ]
    talks = Talks(encoder)
    yield once("index of a chat", lambda: talks(cases[0]))
    for mode in ("oneshot", "agent"):
        pipeline = Memory(MemoryConfig(mode=mode), open_talk=talks, model=None)
        pipeline.run(cases[0])  # loads what is loaded once
        ask = partial(map, pipeline.run, cases)
        yield once(f"question, {mode}", lambda ask=ask: list(ask()), len(cases))


GROUPS: dict[str, Callable[[Path], Figures]] = {
    "start": starting,
    "labelling": labelling,
    "gold": releasing,
    "memory": remembering,
}


def measure(group: str, folder: Path) -> None:
    """In a checkout: print a line of JSON for each figure."""
    os.environ |= {"ASSAY_DATA_DIR": str(folder), "ASSAY_ENV_FILE": os.devnull, "DATABASE_URL": ""}
    os.environ |= {"ASSAY_LOG_LEVEL": "WARNING", "DJANGO_SETTINGS_MODULE": "config.settings"}
    sys.path[:0] = [str(Path.cwd()), str(Path.cwd() / "benchmarks")]
    signal.signal(signal.SIGALRM, Profile.look)
    gc.callbacks.append(Profile.collect)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)  # whatever has begun when
    figures = list(GROUPS[group](folder))
    signal.setitimer(signal.ITIMER_REAL, 0)
    for name, profile in figures:
        parts = {part: 1000 * used / profile.per for part, used in profile.parts.items()}
        print(json.dumps([name, parts]), flush=True)


# --- the table -----------------------------------------------------------------------------------

Parts = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description="Where the processor time of each figure goes.")
    parser.add_argument("--before", type=Path, help="a clone of an earlier commit, installed")
    parser.add_argument("--chat", type=Path, help="a REALTALK chat, as published")
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    options = parser.parse_args()
    from benchmarks.peers.assay import labels_of
    from benchmarks.peers.system import conversations, lines

    checkouts = [*([options.before.resolve()] if options.before else []), Path.cwd()]
    measured: dict[str, dict[Path, list[Parts]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        shared = Path(temporary)
        talks = conversations(options.conversations)
        (shared / "talks.jsonl").write_bytes(lines([{**talk} for talk in talks]))
        labels = [
            {"id": talk["id"], "answers": [labels_of(n, person) for person in range(3)]}
            for n, talk in enumerate(talks)
        ]
        (shared / "labels.jsonl").write_bytes(lines(labels))
        if options.chat:
            (shared / "chat.json").write_bytes(options.chat.read_bytes())
        for _ in range(options.rounds):
            for group in options.only:
                for checkout in checkouts if group != "memory" or options.chat else ():
                    for name, parts in run(checkout, group, shared):
                        print(checkout.name, name, cell([parts]), file=sys.stderr)
                        measured.setdefault(name, {}).setdefault(checkout, []).append(parts)
    print("| figure, CPU ms |", " | ".join(map(version, checkouts)), "|")
    print("| --- |", " --- |" * len(checkouts))
    for name, of in measured.items():
        print("|", " | ".join([name, *(cell(of[checkout]) for checkout in checkouts)]), "|")


def run(checkout: Path, group: str, shared: Path) -> Iterator[tuple[str, Parts]]:
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        command = [str(checkout / ".venv/bin/python"), __file__, "--measure", group, folder]
        said = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, text=True, check=True)
        figures: dict[str, Parts] = dict(map(json.loads, said.stdout.splitlines()))
        if group == "start":
            steps = {step: sum(figures[f"start: {step}"].values()) for step in STEPS[:2]}
            rest = served(checkout, Path(folder) / "served") - sum(steps.values())
            yield "fresh start", {**steps, "loading and serving": rest}
        yield from figures.items()


def served(checkout: Path, folder: Path) -> float:
    """What all processes have used three seconds after the first page is served."""
    from benchmarks.peers import machine
    from benchmarks.peers.client import answers
    from benchmarks.product import free_port

    folder.mkdir()
    port, before = free_port(), machine.cpu_seconds()
    server = machine.start(
        [str(checkout / ".venv/bin/python"), "-c", "from config.serve import main; main()"],
        folder,
        "serve",
        cwd=str(checkout),
        ASSAY_DATA_DIR=str(folder),
        ASSAY_DEMO="false",
        ASSAY_ENV_FILE=os.devnull,
        ASSAY_PORT=str(port),
    )
    while not answers(port, "/healthz"):
        time.sleep(0.05)
    time.sleep(3)  # the worker is loaded meanwhile
    used = machine.cpu_seconds() - before
    machine.end([server])
    return 1000 * used


def version(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h, %ad", "--date=format:%d %B"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def cell(rounds: list[Parts]) -> str:
    """The total, and its largest parts, of the round in the middle."""
    parts = sorted(rounds, key=lambda each: sum(each.values()))[len(rounds) // 2]
    total = sum(parts.values())
    largest = sorted((part for part in parts if parts[part] > total / 50), key=parts.get)
    shares = [f"{part} {shown(parts[part])}" for part in largest[: -LARGEST - 1 : -1]]
    return f"{shown(total)}: {', '.join(shares)}"


def shown(milliseconds: float) -> str:
    return f"{milliseconds:,.{0 if milliseconds >= 100 else 1 if milliseconds >= 10 else 2}f}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
