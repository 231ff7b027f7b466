"""What a browser is sent: scripts and sheets by their content, kept for ever."""

import gzip
import os
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("static")
    storages = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.assets.BuiltFiles"}}
    with override_settings(STATIC_ROOT=folder, STORAGES=storages):
        collect()
        yield folder


def collect() -> None:
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LIBRARIES)


NAMED = re.compile(r"""(?:static '|from "|^import "|@import ")([^'"]+\.(?:css|js))['"]""", re.M)


def needed() -> set[str]:
    """The scripts and sheets that pages name, and all that these import."""
    pages = (settings.BASE_DIR / "templates").rglob("*.html")
    names = {name for page in pages for name in NAMED.findall(page.read_text())}
    waiting = [name for name in names if is_ours(name)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            imported = NAMED.findall((assets.SOURCES / name).read_text())
            waiting += [os.path.normpath(os.path.join(name, "..", each)) for each in imported]
    return found


def is_ours(name: str) -> bool:
    path = assets.SOURCES / name
    return path.is_file() and path.suffix in (".js", ".css") and not name.startswith("vendor/")


def test_every_script_and_sheet_is_needed_by_a_page():
    files = (str(path.relative_to(assets.SOURCES)) for path in assets.SOURCES.rglob("*"))

    assert {name for name in files if is_ours(name)} == needed()


def test_whatever_a_script_or_a_sheet_imports_is_named_by_its_content(built: Path):
    for name in needed():
        sent = (built / staticfiles_storage.stored_name(name)).read_text()
        plain = [each for each in NAMED.findall(sent) if not re.search(r"\.[0-9a-f]{12}\.", each)]
        assert plain == [], name


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
    assert not list(built.rglob("dom.js"))


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
