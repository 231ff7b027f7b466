"""What a browser is sent: each script and sheet under a name with the hash of its content.

Django's storage puts these names into what imports them, too. So browsers keep files for ever, and
the scripts of two versions never meet. With ASSAY_DEBUG the sources are sent as they are.
"""

import hashlib
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.exceptions import ImproperlyConfigured
from whitenoise.storage import CompressedManifestStaticFilesStorage

from config.env import FILES

SOURCES = FILES / "static"
PACKAGES = ("django", "django-htmx", "djangorestframework", "drf-spectacular-sidecar")
"""Those with static files."""

STAMP = "sources.sha256"


_, IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns
"""How modules name each other. Those of others are sent as they are."""


class BuiltFiles(CompressedManifestStaticFilesStorage):
    """The storage that collectstatic fills."""

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        *((names, IMPORTS) for names in ("ui.js", "labeling/*.js", "evaluation/*.js")),
    )

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        yield from super().post_process(paths, dry_run=dry_run, **options)
        if not dry_run:
            Path(self.path(STAMP)).write_text(stamp(), encoding="utf-8")


def is_current(folder: Path) -> bool:
    """Whether the static files there were built from the sources that are here now."""
    path = folder / STAMP
    return path.exists() and path.read_text(encoding="utf-8") == stamp()


def require_current() -> None:
    """New pages with old scripts do not work together, so a server must not start with them."""
    if not settings.DEBUG and not is_current(Path(settings.STATIC_ROOT)):
        raise ImproperlyConfigured(
            "The static files were not built, or for another version of Assay: "
            "run 'assay collectstatic --noinput'."
        )


def stamp() -> str:
    """Changes with everything that a build is made of: sources, packages, and the build."""
    digest = hashlib.sha256()
    sources = sorted(path for path in SOURCES.rglob("*") if path.is_file())
    for path in [*sources, Path(__file__)]:
        digest.update(f"{os.path.relpath(path, FILES)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    for package in PACKAGES:
        digest.update(f"{package} {metadata.version(package)}\n".encode())
    return digest.hexdigest()
