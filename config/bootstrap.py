"""Sets everything up and starts what was asked for; needs nothing but a Python.

    python3 config/bootstrap.py install|serve|test|test-all|lint|lock [arguments]

Runs before anything is installed, on Python 3.7 or newer, so it uses only the standard library
and, for a Python that is not 3.11, a search for one that is. What can go wrong on a person's
machine ends in one line that says what to do.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

WANTED = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "assay-installed"
NEEDED_BYTES = 3 * 1024**3
BROWSERS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
# pip's settings for package sources, in uv's terms.
PIP_TO_UV = {
    "cert": "SSL_CERT_FILE",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "index-url": "UV_DEFAULT_INDEX",
}
SEPARATORS = {"find-links": ","}
PAUSES = (5, 20)  # seconds before the second and the third try of what needs the network
STARTED = time.monotonic()


class Obstacle(Exception):
    """Something that the person at the keyboard has to change; the text says what."""


def main(arguments: list[str]) -> None:
    actions = {
        "install": install,
        "serve": lambda: run_module("config.command", ["serve"]),
        "test": lambda: test(arguments[1:]),
        "test-all": lambda: test(["--all"]),
        "lint": lambda: run_module("config.check", ["--lint-only"]),
        "lock": refresh_lock,
    }
    name = arguments[0] if arguments else ""
    # Without byte code on disk each process would compile thousands of modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        if name not in actions:
            raise Obstacle(f"Say what to do: {', '.join(actions)}.")
        require_python()
        actions[name]()
    except Obstacle as obstacle:
        sys.exit(f"assay: {obstacle}")
    except KeyboardInterrupt:
        sys.exit(130)


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:5.1f} s] {text}", flush=True)


# --- the right Python ---------------------------------------------------------------------------


def require_python() -> None:
    """Carry on under Python 3.11, restarting this file if another version runs it."""
    if sys.version_info[:2] == WANTED:
        return
    other = find_python()
    if other is None:
        raise Obstacle(
            "Python 3.11 is needed and this is {}.{}. Install it (Debian, Ubuntu: "
            "apt-get install python3.11 python3.11-venv) and try again.".format(*sys.version_info)
        )
    os.execv(other, [other, *sys.argv])


def find_python() -> str | None:
    """A ``python3.11`` on the PATH that really runs as one (a shim of pyenv may not)."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, "python3.11")
        if os.access(path, os.X_OK) and python_version(path) == WANTED:
            return path
    return None


def python_version(path: str) -> tuple[int, ...]:
    code = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(int(part) for part in answer.stdout.split())


# --- the environment ----------------------------------------------------------------------------


def install() -> None:
    """Make ``.venv`` and install the locked packages, when they are not there already."""
    if is_installed():
        return
    require_writable(ROOT)
    require_space(ROOT)
    make_environment()
    install_uv()
    install_packages()
    write_command()
    STAMP.write_text(lock_hash(), encoding="utf-8")
    say("The environment is ready.")


def is_installed() -> bool:
    stamped = STAMP.exists() and STAMP.read_text(encoding="utf-8") == lock_hash()
    return stamped and python_version(venv_python()) == WANTED


def lock_hash() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def venv_python() -> str:
    return str(VENV / "bin" / "python")


def require_writable(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Obstacle(
            f"Cannot write to {folder} ({error.strerror}). Give yourself the right to write there, "
            "or work in a copy that is yours."
        ) from None


def require_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise Obstacle(
            f"Too little disk space: setting up needs about {NEEDED_BYTES / 1024**3:.0f} GB, and "
            f"{free / 1024**3:.1f} GB are free in {folder}. Free some and try again."
        )


def make_environment() -> None:
    if python_version(venv_python()) == WANTED:
        return
    say(f"Making the environment in {VENV.name} ...")
    run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        "The environment could not be made. On Debian and Ubuntu: apt-get install python3.11-venv.",
    )


def install_uv() -> None:
    """The fast installer, at its locked version, by the pip that every environment has."""
    wanted = locked("uv")
    say(f"Installing {wanted} ...")
    pip = [venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    fetch([*pip, wanted], "The installer could not be installed: is the package index reachable?")


def locked(package: str) -> str:
    pin = re.search(rf"^{package}==\S+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    if pin is None:
        raise Obstacle(f"{LOCK.name} does not name {package}; run 'make lock'.")
    return pin.group()


def install_packages() -> None:
    count = len(re.findall(r"^\S+==", LOCK.read_text(encoding="utf-8"), re.MULTILINE))
    say(f"Installing {count} packages ...")
    fetch(
        [*uv(), "pip", "install", "--quiet", "--requirement", str(LOCK)],
        "The packages could not be installed; the lines above say why.",
        uv_environment(),
    )


def write_command() -> None:
    """``assay`` of the environment runs the code of this folder, from wherever it is called."""
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from config.command import main; main()"
    command = f'exec {shlex.quote(venv_python())} -c {shlex.quote(code)} "$@"'
    script = VENV / "bin" / "assay"
    script.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    script.chmod(0o755)


def uv() -> list[str]:
    return [venv_python(), "-m", "uv"]


def uv_environment() -> dict[str, str]:
    """uv reads none of pip's settings, so a mirror or a folder of wheels is handed on."""
    listing = subprocess.run(
        [venv_python(), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    patient = {"UV_HTTP_TIMEOUT": "120"}  # seconds without a byte; some packages are large
    return {**from_pip(listing.stdout), **patient, "VIRTUAL_ENV": str(VENV), **os.environ}


def from_pip(listing: str) -> dict[str, str]:
    """The lines of ``pip config list`` as uv's variables; pip's own variables beat its files."""
    lines = re.findall(r"^(\S+?)\.([a-z-]+)='(.*)'$", listing, re.MULTILINE)
    values: dict[str, str] = {}
    for _, name, value in sorted(lines):  # ":env:" comes before "global" and "install"
        if name in PIP_TO_UV:
            parts = value.replace("\\n", " ").split()
            values.setdefault(PIP_TO_UV[name], (SEPARATORS.get(name) or " ").join(parts))
    if "UV_INDEX" in values:
        values["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # the newest of all, as pip does it
    return values


def refresh_lock() -> None:
    """Write requirements.lock again: no addresses, and no build of torch preferred to another."""
    make_environment()
    if not (VENV / "bin" / "uv").exists():
        install_uv()
    command = [*uv(), "pip", "compile", "pyproject.toml", "--group", "dev", "--quiet"]
    options = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    listing = run([*command, *options], "No set of versions fits.", uv_environment())
    unbiased = re.sub(r"^(torch==[\d.]+)\+\w+", r"\1", listing, flags=re.MULTILINE)
    LOCK.write_text(f"# Written by 'make lock' from pyproject.toml.\n{unbiased}", encoding="utf-8")
    say(f"{LOCK.name} names {unbiased.count('==')} packages.")


def fetch(command: list[str], failure: str, environment: dict[str, str] | None = None) -> None:
    """A step that needs the network, which may be away for a moment."""
    for pause in PAUSES:
        try:
            run(command, failure, environment)
            return
        except Obstacle as obstacle:
            if str(obstacle) != failure:  # the disk is full
                raise
        say(f"It is tried again in {pause} s ...")
        time.sleep(pause)
    run(command, failure, environment)


def run(command: list[str], failure: str, environment: dict[str, str] | None = None) -> str:
    """Run a step and return what it printed; when it fails show why, and then the one line."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return done.stdout
    output = done.stdout + done.stderr
    if "No space left on device" in output:
        raise Obstacle(f"The disk that holds {ROOT} is full. Free some space and try again.")
    print("\n".join(output.splitlines()[-15:]), file=sys.stderr)
    raise Obstacle(failure)


# --- what was asked for -------------------------------------------------------------------------


def run_module(module: str, arguments: list[str]) -> NoReturn:
    """Become the product's own program; signals and the exit code are then its own."""
    install()
    os.chdir(ROOT)
    os.execv(venv_python(), [venv_python(), "-m", module, *arguments])


def test(arguments: list[str]) -> NoReturn:
    install()
    install_browser()
    run_module("config.check", arguments)


def install_browser() -> None:
    if any(shutil.which(name) for name in BROWSERS):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say("No Chromium found, so the browser tests will fail: install the package 'chromium'.")
        return
    say("Installing a browser for the browser tests ...")
    failure = "The browser could not be installed; install the package 'chromium' yourself."
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Another apt-get may be at work, as on a machine that has just started.
    patient = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=100"]
    apt = ["apt-get", "--quiet", "--yes", "--no-install-recommends", *patient]
    fetch([*apt, "update"], failure, environment)
    packages = ["chromium-headless-shell", "fonts-liberation"]
    fetch([*apt, "install", *packages], failure, environment)


if __name__ == "__main__":
    main(sys.argv[1:])
