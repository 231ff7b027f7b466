"""What a browser is sent: each script and style sheet under the hash of its content, compressed.

Modules and sheets that import each other name each other's hashes, so browsers keep files forever,
and the scripts of two versions never meet. With ASSAY_DEBUG the sources are sent as they are.
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

_, _IMPORTS = vars(HashedFilesMixin)["_js_module_import_aggregation_patterns"]
MODULES = tuple(
    (path.relative_to(SOURCES).as_posix(), _IMPORTS)
    for path in sorted(SOURCES.rglob("*.js"))
    if "vendor" not in path.parts  # what others wrote is in one piece
)


class BuiltFiles(CompressedManifestStaticFilesStorage):
    """The storage that collectstatic fills."""

    patterns = (*CompressedManifestStaticFilesStorage.patterns, *MODULES)
    max_post_process_passes = 20  # as long as chains of imports are
    keep_intermediate_files = False

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
