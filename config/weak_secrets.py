"""Secrets that somebody can guess, and files that others read them from."""

from __future__ import annotations

import re
import stat
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from config.env import env_file, env_secret, env_str

LEAST_CHARACTERS, LEAST_DIFFERENT, LEAST_PACKED = 32, 10, 32
NAMES = ("ASSAY_SECRET_KEY", "ASSAY_HEALTH_KEY")
GOLD = "ASSAY_GOLD_KEY"
SECRET = re.compile(r"^[ \t]*(?:export )?(?:\w*(?:KEY|SECRET|PASSWORD)|\w+_URL)[ \t]*=", re.M)


def faults() -> Iterator[str]:
    """A sentence for each; one that Assay made itself, and one that is not set, has none."""
    for name in NAMES:
        secret = env_secret(name)
        if secret and is_weak(secret.encode()):
            yield f"{name} is too short or too regular: set what “openssl rand -base64 48” gives."
    key = env_secret(GOLD)
    if key and is_weak(b64decode(key)):
        yield f"{GOLD} is too regular: set what “openssl rand -base64 32” gives."
    for file in _files():
        mode = stat.S_IMODE(file.stat().st_mode)
        may = "write to" if mode & 0o002 else "read" if mode & 0o004 and _holds_secret(file) else ""
        if may:
            yield f"Everybody on this machine may {may} {file}: “chmod o-rwx {file}”."


def _holds_secret(file: Path) -> bool:
    """A file for one secret does; settings such as a port may be read by everybody."""
    return file != env_file() or SECRET.search(file.read_text(errors="replace")) is not None


def is_weak(secret: bytes) -> bool:
    """Of few characters, of few different ones, or one piece over and over."""
    if len(secret) < LEAST_CHARACTERS or len({*secret}) < LEAST_DIFFERENT:
        return True
    return len(zlib.compress(secret, 9)) < LEAST_PACKED


def _files() -> Iterator[Path]:
    named = (env_str(f"{name}_FILE") for name in (*NAMES, GOLD))
    for path in (env_file(), *(Path(each).expanduser() for each in named if each)):
        if path.is_file():
            yield path
