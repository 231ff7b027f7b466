"""Builds what a browser is sent: one script and one style sheet for each that a page names.

The sources are modules that import each other, and sheets that do. A build puts each into the one
that imports it, names the outcome by the hash of its content, and compresses it. So a page needs
few requests, browsers keep files forever, and the scripts of two versions never meet.

The sources run in a browser as they are: with ASSAY_DEBUG nothing is built.
"""

import hashlib
import os
import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from config.env import FILES

SOURCES = FILES / "static"
PAGES = FILES / "templates"
NAMED = re.compile(r"\{% static '([^']+)' %\}")
PACKAGES = ("django", "django-htmx", "djangorestframework", "drf-spectacular-sidecar")
"""Those with static files."""

VENDORED = "vendor/"  # shipped as others wrote it
STAMP = "sources.sha256"
IMPORT_SCRIPT = re.compile(r'^import (?:\{ ([\w$, ]+) \} from )?"(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function|class|const) ([\w$]+)", re.MULTILINE)
IMPORT_SHEET = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
LEFT_OVER = re.compile(r"^(?:import|export|@import)\b.*", re.MULTILINE)

Read = Callable[[str], str]


class CannotBuild(Exception):
    """A source is written in a way that the build does not know."""


class BuiltFiles(CompressedManifestStaticFilesStorage):
    """The storage that collectstatic fills."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        built = InMemoryStorage()
        sources = sorted(name for name in paths if is_built(name))
        contents = build(named_by_pages(), read_source)
        for name in sources:
            del paths[name]
            if not dry_run:
                self.delete(name)  # collectstatic has copied it; only what is built is sent
        for name, content in contents.items():
            paths[name] = (built, built.save(name, ContentFile(content.encode())))
        yield from super().post_process(paths, dry_run=dry_run, **options)
        if not dry_run:
            Path(self.path(STAMP)).write_text(stamp(), encoding="utf-8")


def is_built(name: str) -> bool:
    is_ours = (SOURCES / name).is_file() and not name.startswith(VENDORED)
    return is_ours and name.endswith((".js", ".css", ".d.ts"))  # types are for the checks alone


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


def named_by_pages() -> list[str]:
    """The scripts and sheets of ours that a template names."""
    pages = (path.read_text(encoding="utf-8") for path in sorted(PAGES.rglob("*.html")))
    return sorted({name for page in pages for name in NAMED.findall(page) if is_built(name)})


def read_source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def build(names: list[str], read: Read) -> dict[str, str]:
    """The content of each source, with all that it imports put in."""
    read = cache(read)
    bundle = {".js": bundled_script, ".css": bundled_sheet}
    return {name: bundle[posixpath.splitext(name)[1]](name, read) for name in names}


def imports(name: str, source: str) -> list[str]:
    """The names of what a source imports, in its order."""
    if name.endswith(".css"):
        targets = IMPORT_SHEET.findall(source)
    else:
        targets = [target for _, target in IMPORT_SCRIPT.findall(source)]
    return [resolved(name, target) for target in targets]


def resolved(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def in_order(name: str, read: Read, above: tuple[str, ...] = ()) -> list[str]:
    """A source after everything that it imports, each once."""
    if name in above:
        raise CannotBuild(f"{' imports '.join([*above, name])}: imports must not make a circle.")
    names: list[str] = []
    for target in imports(name, read(name)):
        names += [each for each in in_order(target, read, (*above, name)) if each not in names]
    return [*names, name]


# --- style sheets -------------------------------------------------------------------------------


def bundled_sheet(name: str, read: Read) -> str:
    sheets = [IMPORT_SHEET.sub("", read(each)) for each in in_order(name, read)]
    return checked(name, "\n".join(sheet.strip("\n") + "\n" for sheet in sheets))


# --- scripts ------------------------------------------------------------------------------------


def bundled_script(name: str, read: Read) -> str:
    """Each imported module becomes a function that runs once and returns what it exports.

    So the names of modules don't collide, and modules run in the order
    in which a browser would run them.
    """
    *modules, _ = in_order(name, read)
    parts = [
        f"const {variable(each)} = (() => {{\n{body(each, read)}"
        f"return {{ {', '.join(exports(each, read))} }};\n}})();\n"
        for each in modules
    ]
    return "\n".join([*parts, body(name, read)])


def variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", posixpath.splitext(name)[0])


def exports(name: str, read: Read) -> list[str]:
    return [exported for _, exported in EXPORT.findall(read(name))]


def body(name: str, read: Read) -> str:
    """A module without its import and export statements."""

    def taken_from_bundle(match: re.Match[str]) -> str:
        names, target = match.groups()
        if not names:
            return ""
        module = resolved(name, target)
        missing = {each.split(" as ")[0] for each in names.split(", ")} - set(exports(module, read))
        if missing:
            raise CannotBuild(f"{name}: {module} exports no {', '.join(sorted(missing))}.")
        return f"const {{ {names.replace(' as ', ': ')} }} = {variable(module)};\n"

    source = IMPORT_SCRIPT.sub(taken_from_bundle, read(name))
    return checked(name, EXPORT.sub(r"\1 \2", source))


def checked(name: str, content: str) -> str:
    """Refuse a form of import or export that would stay in the bundle and break it there."""
    left = LEFT_OVER.search(content)
    if left:
        raise CannotBuild(
            f"{name}: write {left.group()!r} as the others do (config/assets.py reads one form)."
        )
    return content
