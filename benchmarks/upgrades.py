"""Does a database that an earlier version of the code has made survive the upgrade to this one?

    .venv/bin/python -m benchmarks.upgrades FOLDER COMMIT [COMMIT …]

For each commit its own code makes the demo and a run in FOLDER (kept for the next time). A copy is
upgraded by this code: its rows are compared with what they were, its gold is verified, and every
kind of page that is linked from anywhere is opened as each of four people.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

ROOT = Path(__file__).resolve().parent.parent
NOTHING = (None, "", "null", "{}", "[]")
PEOPLE = ("admin", "rita", "noor", "ana")
OF_A_KIND = 1  # pages that a person opens of each address pattern
MOST_PAGES = 150  # of a person
Rows = dict[Any, dict[str, Any]]


class Comparison(NamedTuple):
    """What an upgrade has done to the rows of the tables that were there before."""

    kept: int
    moved: Counter[str]  # rows of tables that are no longer there
    lost: Counter[str]
    changed: Counter[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("commits", nargs="*")
    parser.add_argument("--look", action="store_true", help="(at an upgraded folder, by itself)")
    arguments = parser.parse_args()
    if arguments.look:
        look()
        return
    for commit in arguments.commits:
        built = arguments.folder.resolve() / commit
        if not (built / "done").exists() and not build(commit, built):
            print(f"{commit}: not built, see {built}/log", flush=True)
            continue
        upgrade(commit, built)


def run(command: list[str], folder: Path, data: Path, log: Path) -> bool:
    """In a tree of the code; what it prints goes to the log."""
    environment = {
        **os.environ,
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_ENV_FILE": os.devnull,
        "ASSAY_ALLOWED_HOSTS": "testserver",
        "DATABASE_URL": "",
    }
    with log.open("ab") as output:
        done = subprocess.run(
            [sys.executable, *command], cwd=folder, env=environment, stdout=output, stderr=output
        )
    return done.returncode == 0


def build(commit: str, built: Path) -> bool:
    shutil.rmtree(built, ignore_errors=True)
    built.mkdir(parents=True)
    tree = built / "tree"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
    steps = [
        ["migrate", "--verbosity", "0"],
        ["seed_demo"],
        [
            "evaluate",
            "--gold=demo",
            "--pipeline=requirements-local",
            "--reason=An upgrade follows.",
        ],
    ]
    try:
        for step in steps:
            out = ["--output-dir", str(built / "out")] if step[0] == "evaluate" else []
            if not run(["manage.py", *step, *out], tree, built / "data", built / "log"):
                return False
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    (built / "done").touch()
    return True


def upgrade(commit: str, built: Path) -> None:
    data, log = built / "upgraded", built / "upgrade.log"
    shutil.rmtree(data, ignore_errors=True)
    log.unlink(missing_ok=True)
    shutil.copytree(built / "data", data, ignore=shutil.ignore_patterns("*.socket"))
    if not run(["manage.py", "migrate", "--verbosity", "0"], ROOT, data, log):
        print(f"{commit}: the migrations failed, see {log}", flush=True)
        return
    comparison = compare(built / "data/assay.sqlite3", data / "assay.sqlite3")
    looked = run(["-m", "benchmarks.upgrades", "--look", str(data)], ROOT, data, log)
    print(f"{commit}: {comparison.kept} rows as before", end="")
    for what in ("moved", "lost", "changed"):
        if rows := getattr(comparison, what):
            print(f", {what}: {dict(rows)}", end="")
    print()
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and not line.startswith(("   ", "  File ")):
            print(line)
    print("" if looked else f"  FAILED, see {log}", flush=True)


def compare(before: Path, after: Path) -> Comparison:
    old, new = dict(tables(before)), dict(tables(after))
    kept, moved, lost, changed = 0, Counter[str](), Counter[str](), Counter[str]()
    for table, rows in old.items():
        if table not in new:
            moved[table] = len(rows)
            continue
        for key, row in rows.items():
            now = new[table].get(key)
            if now is None:
                lost[table] += 1
                continue
            names = sorted(row.keys() & now.keys())
            others = [name for name in names if row[name] != now[name]]
            changed.update(f"{table}.{name}" for name in others)
            kept += not others
    return Comparison(kept, moved, lost, changed)


def tables(path: Path) -> Iterator[tuple[str, Rows]]:
    with sqlite3.connect(path) as file:
        file.row_factory = sqlite3.Row
        names = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            if name.startswith(("labeling_", "evaluation_", "auth_user")):
                rows = file.execute(f'SELECT * FROM "{name}"').fetchall()
                yield name, {row[0]: plain(row) for row in rows}


def plain(row: sqlite3.Row) -> dict[str, Any]:
    """Nothing is nothing, in whatever way a version writes it."""
    return {name: None if value in NOTHING else value for name, value in dict(row).items()}


# --- the upgraded database ----------------------------------------------------------------------


def look() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import override_settings

    from evaluation.models import Run
    from labeling.models import GoldRelease

    for release in GoldRelease.objects.all():
        call_command("verify", release=str(release))
        print(f"  {release} is intact")
    states = Counter(run.status for run in Run.objects.with_state())
    print(f"  runs: {dict(states)}")
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(STORAGES={**settings.STORAGES, "staticfiles": plain}):
        for name in PEOPLE:
            crawl(name)


def crawl(name: str) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username=name))
    opened: dict[str, list[str]] = defaultdict(list)
    waiting, seen, bad = ["/"], set[str](), []
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.pop(0)
        kind = kind_of(path)
        if path in seen or kind is None or len(opened[kind]) >= OF_A_KIND:
            continue
        seen.add(path)
        opened[kind].append(path)
        answer = client.get(path, follow=True)
        if answer.status_code >= 400:
            bad.append(f"{path} {answer.status_code}")
        elif not answer.streaming and "html" in answer.headers.get("Content-Type", ""):
            waiting += Links.of(path, answer.content.decode())
    print(f"  {name}: {len(seen)} pages of {len(opened)} kinds, not opened: {bad or 'none'}")
    if bad:
        sys.exit(1)


def kind_of(path: str) -> str | None:
    from django.urls import Resolver404, resolve

    try:
        return resolve(path.partition("?")[0]).route
    except Resolver404:
        return None


class Links(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base, self.paths = base, list[str]()

    @classmethod
    def of(cls, base: str, page: str) -> list[str]:
        links = cls(base)
        links.feed(page)
        return links.paths

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href and not href.startswith(("http", "mailto:", "#")):
            self.paths.append(urldefrag(urljoin(self.base, href)).url)


if __name__ == "__main__":
    main()
