"""What a browser is sent: scripts and sheets under the hash of their content, kept forever."""

import gzip
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client, override_settings

from config import assets

LIBRARIES = ["admin", "rest_framework", "drf_spectacular_sidecar", "django_htmx"]
NAMED = re.compile(r"\{% static '([^']+)' %\}")
IMPORTS = re.compile(r"""^\s*(?:\*?.*\bimport|@import)\b[^"\n]*"(\.?[^"]+)\"""", re.MULTILINE)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("static")
    storages = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.assets.BuiltFiles"}}
    with override_settings(STATIC_ROOT=folder, STORAGES=storages):
        collect()
        yield folder


def collect() -> None:
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LIBRARIES)


def test_every_script_and_sheet_is_needed_by_a_page():
    pages = (settings.BASE_DIR / "templates").rglob("*.html")
    wanted = {name for page in pages for name in NAMED.findall(page.read_text())}
    needed: set[str] = set()
    while wanted:
        needed |= (now := {name for name in wanted if (assets.SOURCES / name).is_file()})
        found = {
            posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            for name in now
            if name.endswith((".js", ".css")) and not name.startswith("vendor/")
            for target in IMPORTS.findall((assets.SOURCES / name).read_text())
        }
        wanted = found - needed
    ours = [path for path in assets.SOURCES.rglob("*") if path.suffix in (".js", ".css")]
    names = {str(path.relative_to(assets.SOURCES)) for path in ours}

    assert {name for name in names if not name.startswith("vendor/")} - needed == set()


def test_modules_and_sheets_name_each_other_by_their_hashes(built: Path):
    for path in [*assets.SOURCES.glob("**/[!.]*.js"), *assets.SOURCES.glob("**/*.css")]:
        source = path.relative_to(assets.SOURCES).as_posix()
        text = (built / staticfiles_storage.stored_name(source)).read_text()
        named = [name for name in IMPORTS.findall(text) if not name.endswith(".ts")]  # comments
        assert all(re.search(r"\.[0-9a-f]{12}\.(js|css)$", name) for name in named), source


@pytest.mark.parametrize("name", ["labeling/workspace.js", "css/site.css", "vendor/htmx.min.js"])
def test_a_static_file_is_hashed_compressed_and_kept_for_ever(built: Path, name: str):
    address = staticfiles_storage.url(name)
    stem, ending = name.rsplit(".", 1)

    answer = Client().get(address, headers={"accept-encoding": "gzip"})

    assert gzip.decompress(answer.getvalue())
    assert address.startswith(f"/static/{stem}.")
    assert address.endswith(f".{ending}")
    assert address != f"/static/{name}"
    assert answer["Content-Encoding"] == "gzip"
    assert answer["Cache-Control"] == "max-age=315360000, public, immutable"


def test_the_sources_themselves_are_not_sent(built: Path):
    assert Client().get("/static/labeling/dom.js").status_code == 404


def test_a_server_starts_with_static_files_of_its_own_version_only(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assets.require_current()

    with (
        override_settings(STATIC_ROOT=tmp_path),
        pytest.raises(ImproperlyConfigured, match="were not built"),
    ):
        assets.require_current()

    monkeypatch.setattr(assets, "stamp", lambda: "of another version")
    with pytest.raises(ImproperlyConfigured):
        assets.require_current()
    with override_settings(DEBUG=True):
        assets.require_current()


def test_with_debug_pages_name_the_sources(built: Path):
    with override_settings(DEBUG=True):
        assert staticfiles_storage.url("labeling/workspace.js") == "/static/labeling/workspace.js"
