"""The commands of README and documents: collected word for word, and run on a demo.

As a program: runs the commands that come as JSON on its standard input, each list on the demo as
it was seeded, in this process, and prints what each one gave.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "templates" / "docs"
OURS = re.compile(r"(?:(?:\.venv|/opt/assay)/bin/)?assay [\w-]|manage\.py [\w-]")
SERVERS = ("serve", "web", "worker")


class Outcome(TypedDict):
    command: str
    code: int
    out: str
    err: str


def commands_of(path: Path) -> list[str]:
    """Of one page, in order: the lines of its blocks, and what stands as code within a line."""
    found: list[str] = []
    fence = False
    text = re.sub(r" \\\n\s*", " ", path.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if line.startswith("```"):
            fence = not fence
        elif fence or line.startswith("    "):
            found += [line.strip()] if OURS.match(line.strip()) else []
        else:
            found += [code for code in re.findall(r"`([^`]+)`", line) if OURS.match(code)]
    return found


def pages() -> dict[str, list[str]]:
    paths = [ROOT / "README.md", *sorted(FOLDER.glob("*.md"))]
    return {path.stem: commands for path in paths if (commands := commands_of(path))}


def arguments_of(command: str) -> list[str]:
    """What a shell hands over, without the redirection."""
    words = shlex.split(command.partition(" > ")[0], comments=True)
    return [name for word in words[1:] for name in _expanded(word)]


def _expanded(word: str) -> list[str]:
    return sorted(map(str, Path().glob(word))) if "*" in word and "=" not in word else [word]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _run_all() -> Iterator[list[Outcome]]:
    import getpass

    from django.conf import settings
    from django.db import connections

    from config import command

    getpass.getpass = lambda prompt="", stream=None: "a good long pass phrase"
    pages, sys.stdin = json.loads(sys.stdin.read()), _Terminal()
    for preparation in ("migrate", "seed_demo", "evaluate --resume 1 2 3 4 5 --reason Tried"):
        command.run(preparation.split())
    connections.close_all()
    database = Path(settings.DATABASES["default"]["NAME"])
    seeded = database.with_suffix(".seeded")
    shutil.copy(database, seeded)
    for commands in pages:
        connections.close_all()
        for end in ("", "-wal", "-shm"):
            database.with_name(database.name + end).unlink(missing_ok=True)
        shutil.copy(seeded, database)
        yield [_run(each) for each in commands]


def _run(text: str) -> Outcome:
    from config import command

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        kept = os.dup(1), os.dup(2)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = 0
        try:
            command.run(arguments_of(text))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, old in enumerate(kept, start=1):
                os.dup2(old, number)
                os.close(old)
        said = [file.seek(0) or file.read().decode() for file in (out, err)]
    return {"command": text, "code": code, "out": said[0], "err": said[1]}


if __name__ == "__main__":
    outcomes = list(_run_all())
    Path(sys.argv[1]).write_text(json.dumps(outcomes), encoding="utf-8")
