"""Typed readers for the settings that come from outside.

A value comes from the environment or, where the environment does not name it, from the file
``.env`` in :data:`HOME` (``ASSAY_ENV_FILE`` names another). An empty value counts as not set.
A value that cannot be read stops the start with a sentence that says what to set: a setting that
is silently ignored is found weeks later.
"""

import functools
import math
import os
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
"""Where the packages are: the root of the project, or the folder that they are installed in."""

_IN_WHEEL = Path(__file__).resolve().parent / "files"
INSTALLED = _IN_WHEEL.is_dir()

FILES = _IN_WHEEL if INSTALLED else ROOT
"""Where templates, static files, translations and the demo are."""

HOME = Path.cwd() if INSTALLED else ROOT
"""Where ``.env`` and ``.data`` are, and where relative paths start."""

MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


def env_str(name: str, default: str = "") -> str:
    return _value(name) or default


def env_bool(name: str, default: bool) -> bool:
    value = _value(name)
    if not value:
        return default
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}: set it to true or false.")


def env_int(name: str, default: int, minimum: int | None = None) -> int:
    value = _value(name)
    wanted = "a whole number" if minimum is None else f"a whole number of at least {minimum}"
    try:
        number = int(value) if value else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}: set it to {wanted}.") from None
    if minimum is not None and number < minimum:
        raise ImproperlyConfigured(f"{name} is {number}: set it to {wanted}.")
    return number


def env_float(name: str, default: float, minimum: float = 0.0) -> float:
    number = env_optional_float(name, minimum)
    return default if number is None else number


def env_optional_float(name: str, minimum: float = 0.0) -> float | None:
    value = _value(name)
    if not value:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not minimum <= number < math.inf:
        raise ImproperlyConfigured(f"{name} is {value!r}: set it to a number from {minimum:g} on.")
    return number


def env_list(name: str, default: Sequence[str] = ()) -> list[str]:
    """Values separated by commas; spaces around them do not count."""
    value = _value(name)
    if not value:
        return list(default)
    return [part.strip() for part in value.split(",") if part.strip()]


def env_path(name: str, default: Path | str) -> Path:
    """An absolute path; a relative one starts at :data:`HOME`."""
    return HOME / Path(_value(name) or default).expanduser()


def env_secret(name: str) -> str | None:
    """``NAME``, or the content of the file that ``NAME_FILE`` names, or None."""
    value, file_name = _value(name), _value(f"{name}_FILE")
    if value and file_name:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set: keep one of them.")
    if not file_name:
        return value or None
    try:
        secret = Path(file_name).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = f"{name}_FILE names {file_name!r}, which cannot be read ({error})"
        raise ImproperlyConfigured(f"{reason}: name a readable text file.") from None
    if not secret:
        raise ImproperlyConfigured(f"{name}_FILE names {file_name!r}, which is empty: fill it.")
    return secret


def mail_settings(url: str) -> dict[str, str | int | bool]:
    """Django's settings for mail, of an address such as ``smtp+tls://user:password@host:587``."""
    if not url:
        return {}
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in MAIL_PORTS:
        raise ImproperlyConfigured(
            "ASSAY_MAIL_URL is not the address of a mail server: set it to smtp://host, "
            "smtp+tls://user:password@host:587 or smtps://user:password@host:465."
        )
    return {
        "EMAIL_HOST": host,
        "EMAIL_PORT": port or MAIL_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


def no_tracing(environ: MutableMapping[str, str]) -> None:
    """LangChain would send every prompt to LangSmith where a variable of the shell says so."""
    for prefix in ("LANGSMITH", "LANGCHAIN"):
        for name in ("TRACING", "TRACING_V2"):
            environ[f"{prefix}_{name}"] = "false"


def _value(name: str) -> str:
    if name in os.environ:
        return os.environ[name].strip()
    return _file_values(env_file()).get(name, "")


def env_file() -> Path:
    """It need not exist."""
    return HOME / os.environ.get("ASSAY_ENV_FILE", ".env")


@functools.cache
def _file_values(path: Path) -> dict[str, str]:
    """The ``NAME=value`` lines of a file; ``#`` starts a comment line; no file, no values."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{path} cannot be read ({error}): repair or remove it."
        ) from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, start=1)]
    used = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    return dict(_parse(path, number, line) for number, line in used)


def _parse(path: Path, number: int, line: str) -> tuple[str, str]:
    name, equals, value = line.removeprefix("export ").partition("=")
    if not equals or not name.strip().isidentifier():
        raise ImproperlyConfigured(f"{path}:{number} is not NAME=value: correct this line.")
    value = value.strip()
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return name.strip(), value[1:-1] if quoted else value
