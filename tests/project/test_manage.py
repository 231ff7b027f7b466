"""The commands before the database is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from config.env import ROOT


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}"}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_command_without_tables_says_to_migrate_and_shows_no_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, "verify", "demo")

    assert done.returncode == 1
    assert done.stdout == ""
    [sentence] = done.stderr.splitlines()
    assert "run “manage.py migrate”" in sentence
