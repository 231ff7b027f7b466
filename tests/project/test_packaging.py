"""Assay as a package: a wheel with all that it needs, run in a folder without a checkout."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.env import ROOT
from tests.processes import free_port

PATIENCE = 120  # seconds; a busy machine needs some of them
PACKAGES = ("config", "evaluation", "labeling", "pipelines")
OUTSIDE_OF_PACKAGES = ("fixtures/demo", "locale", "static", "templates")
FOR_A_CHECKOUT = {"config/bootstrap.py", "config/check.py", "config/messages.py"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


class Installed:
    """The wheel in an environment that also sees the packages of this one."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        environment, self.home = folder / "environment", folder / "home"
        self.home.mkdir()
        venv.create(environment, symlinks=True)
        self.packages = environment / f"lib/python{sysconfig.get_python_version()}/site-packages"
        others = Path(sysconfig.get_paths()["purelib"])
        (self.packages / "others.pth").write_text(f"{others}\n")
        self.assay = environment / "bin/assay"
        python = str(environment / "bin/python")
        pip = [sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps", "--quiet"]
        subprocess.run([*pip, "--python", python, str(wheel)], check=True)
        self.port = free_port()
        (self.home / ".env").write_text(
            f"ASSAY_PORT={self.port}\nASSAY_DEMO=false\nASSAY_WEB_PROCESSES=1\n"
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.assay, *arguments],
            cwd=self.home,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def environment(self) -> dict[str, str]:
        ours = ("ASSAY_", "DJANGO_", "DATABASE_URL", "CELERY_", "PYTHONPATH")
        return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(wheel, tmp_path_factory.mktemp("installed"))


def test_the_wheel_holds_the_packages_and_what_they_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    inside = {name for package in PACKAGES for name in files_of(package)} - FOR_A_CHECKOUT
    outside = {
        f"config/files/{name}" for folder in OUTSIDE_OF_PACKAGES for name in files_of(folder)
    }
    assert names == inside | outside


def files_of(folder: str) -> Iterator[str]:
    for path in (ROOT / folder).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix()


@pytest.mark.worker
def test_an_installed_assay_is_prepared_checked_and_served_without_a_checkout(installed):
    migrated = installed.run("migrate", "--verbosity", "0")
    assert (migrated.returncode, migrated.stderr) == (0, "")
    assert (installed.home / ".data/assay.sqlite3").exists()

    checked = installed.run("check")
    assert checked.returncode == 1
    place = (
        f"settings from {installed.home}/.env and the environment, data in {installed.home}/.data"
    )
    assert place in checked.stderr
    assert "(assay.people) there is no administrator" in checked.stderr
    assert "migrations wait" not in checked.stderr

    with subprocess.Popen(
        [installed.assay, "serve"],
        cwd=installed.home,
        env=installed.environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            address = address_of(server)
            page = read(address)
            [style] = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
            assert "<h1>Sign in</h1>" in page
            assert "--ink" in read(f"{address.rstrip('/')}{style}")
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=PATIENCE)
    assert server.returncode == 0


def address_of(server: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + PATIENCE
    assert server.stdout is not None
    for line in server.stdout:
        if "Assay is running: " in line:
            return line.split("Assay is running: ")[1].strip()
        assert time.monotonic() < deadline
    raise AssertionError("it ended")


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.read().decode()
