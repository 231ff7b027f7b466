"""Sets everything up and starts what was asked for; needs nothing but a Python 3.11.

    python3 config/bootstrap.py install|serve|test|test-all|lint|lock [arguments]

Every package is installed by the hash that its lock names, but for torch: its wheel differs by
machine. What only tests and checks need is installed for these alone.
"""

from __future__ import annotations  # an older Python reads as far as the search for 3.11

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python3.11"
LOCK, DEV_LOCK = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
STAMP = VENV / "assay-installed"
NEEDED_GB = 3
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first that is there: the shell alone needs less than half of a whole browser's time."""
# What pip is told of package sources, in the terms of uv, which reads none of it.
PIP_TO_UV = {
    "cert": "SSL_CERT_FILE",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "index-url": "UV_DEFAULT_INDEX",
}


def main(action: str = "", *arguments: str) -> None:
    if sys.version_info[:2] != (3, 11):
        other = shutil.which("python3.11") or sys.exit(
            "assay: Python 3.11 is needed (Debian, Ubuntu: apt-get install python3.11 "
            "python3.11-venv)."
        )
        os.execv(other, [other, *sys.argv])
    # Without byte code on disk each process would compile thousands of modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.chdir(ROOT)
    if action == "lock":
        lock()
    elif action == "install":
        install(LOCK, DEV_LOCK)
    elif action == "serve":
        install(LOCK)
        become("config.command", "serve")
    elif action in ("test", "test-all", "lint"):
        install(LOCK, DEV_LOCK)
        if action != "lint":
            install_browser()
        option = {"test-all": ["--all"], "lint": ["--lint-only"]}.get(action, [])
        become("config.check", *option, *arguments)
    else:
        sys.exit("assay: Say what to do: install, serve, test, test-all, lint, lock.")


def become(module: str, *arguments: str) -> NoReturn:
    os.execv(PYTHON, [str(PYTHON), "-m", module, *arguments])


def install(*locks: Path) -> None:
    wanted = {hashlib.sha256(each.read_bytes()).hexdigest() for each in locks}
    if PYTHON.exists() and STAMP.exists() and wanted <= {*STAMP.read_text().split()}:
        return
    free = shutil.disk_usage(ROOT).free / 1024**3
    if free < NEEDED_GB:
        sys.exit(f"assay: Too little disk space: {free:.1f} GB free, {NEEDED_GB} GB are needed.")
    uv = make_environment()
    print("Installing the packages ...", flush=True)
    files = [f"--requirement={each}" for each in locks]
    [torch] = re.findall(r'"(torch==[\d.]+)"', Path("pyproject.toml").read_text())
    for packages in (["--no-deps", "--require-hashes", *files], [torch]):
        run([*uv, "pip", "install", "--quiet", *packages], "The packages could not be installed.")
    write_command()
    STAMP.write_text("\n".join(wanted))


def make_environment() -> list[str]:
    """A Python with uv, which is taken by its hash, too; returns how uv is called."""
    if not PYTHON.exists():
        run(
            [sys.executable, "-m", "venv", "--clear", str(VENV)],
            "The environment could not be made (Debian, Ubuntu: apt-get install python3.11-venv).",
        )
    [pinned] = re.findall(r"^uv==(?:.*\\\n)*.*\n", DEV_LOCK.read_text(), re.MULTILINE)
    pin = VENV / "uv.lock"
    pin.write_text(pinned)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    install_uv = [*pip, "install", "--quiet", "--require-hashes", f"--requirement={pin}"]
    run(install_uv, "The installer could not be installed: is the package index reachable?")
    listing = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False)
    for name, value in uv_settings(listing.stdout).items():
        os.environ.setdefault(name, value)
    os.environ["VIRTUAL_ENV"] = str(VENV)
    return [str(PYTHON), "-m", "uv"]


def uv_settings(listing: str) -> dict[str, str]:
    """What ``pip config list`` says, for uv; variables of pip beat its files."""
    settings = {"UV_HTTP_TIMEOUT": "120"}  # seconds without a byte; some packages are large
    lines = "\n".join(sorted(listing.splitlines()))  # ":env:" comes before "global"
    for name, value in re.findall(r"^\S+?\.([a-z-]+)='(.*)'$", lines, re.MULTILINE):
        if name in PIP_TO_UV:
            parts = value.replace("\\n", " ").split()
            settings.setdefault(PIP_TO_UV[name], ("," if name == "find-links" else " ").join(parts))
    if "UV_INDEX" in settings:
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # the newest of all, as pip does it
    return settings


def write_command() -> None:
    """``assay`` of the environment runs the code of this folder, from wherever it is called."""
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from config.command import main; main()"
    script = VENV / "bin" / "assay"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} -c {shlex.quote(code)} "$@"\n')
    script.chmod(0o755)


def lock() -> None:
    """Choose versions again. No addresses are written, and no build of torch."""
    compiled = ["pip", "compile", "pyproject.toml", "--quiet", "--upgrade", "--generate-hashes"]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    command = [*make_environment(), *compiled, *plain, "--no-emit-package=torch"]
    run([*command, f"--output-file={LOCK}"], "No set of versions fits.")
    ours = re.findall(r"^([\w.-]+)==", LOCK.read_text(), re.MULTILINE)
    dev = ["--group=dev", f"--constraint={LOCK}", *(f"--no-emit-package={name}" for name in ours)]
    run([*command, *dev, f"--output-file={DEV_LOCK}"], "No set of versions fits for the tests.")


def install_browser() -> None:
    if any(shutil.which(name) for name in BROWSERS):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("No Chromium found: the browser tests need the package 'chromium'.")
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    # Another apt-get may be at work, as on a machine that has just started.
    patient = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=100"]
    apt = ["apt-get", "--quiet", "--yes", "--no-install-recommends", *patient]
    browser = ["chromium-headless-shell", "fonts-liberation"]
    for step in ([*apt, "update"], [*apt, "install", *browser]):
        run(step, "The browser could not be installed: install the package 'chromium'.")


def run(command: list[str], failure: str) -> None:
    """A step; what it says of its failure comes before the one line."""
    if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False).returncode:
        sys.exit(f"assay: {failure}")


if __name__ == "__main__":
    main(*sys.argv[1:])
