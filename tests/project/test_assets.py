"""What a browser is sent: one script and one sheet for each that a page names, kept for ever."""

import gzip
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
SCRIPTS = {
    "page.js": 'import { twice } from "./parts/twice.js";\n\nreport(twice(2));\n',
    "parts/twice.js": (
        'import { log as note } from "../log.js";\n\n'
        "export function twice(value) {\n  note(value);\n  return 2 * value;\n}\n"
    ),
    "log.js": "const kept = [];\nexport const log = (value) => kept.push(value);\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("static")
    storages = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.assets.BuiltFiles"}}
    with override_settings(STATIC_ROOT=folder, STORAGES=storages):
        collect()
        yield folder


def collect() -> None:
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LIBRARIES)


def test_a_script_holds_what_it_imports_each_module_in_a_function_of_its_own():
    assert assets.build(["page.js"], SCRIPTS.__getitem__)["page.js"] == (
        "const $log = (() => {\n"
        "const kept = [];\nconst log = (value) => kept.push(value);\n"
        "return { log };\n})();\n"
        "\n"
        "const $parts_twice = (() => {\n"
        "const { log: note } = $log;\n\n"
        "function twice(value) {\n  note(value);\n  return 2 * value;\n}\n"
        "return { twice };\n})();\n"
        "\n"
        "const { twice } = $parts_twice;\n\nreport(twice(2));\n"
    )


def test_a_sheet_holds_what_it_imports_once_and_before_its_own_rules():
    sheets = {
        "page.css": '/* page */\n@import "base.css";\n@import "parts/form.css";\n\na { top: 0; }\n',
        "parts/form.css": '@import "../base.css";\nform { margin: 0; }\n',
        "base.css": "a { color: blue; }\n",
    }

    assert assets.build(["page.css"], sheets.__getitem__)["page.css"] == (
        "a { color: blue; }\n\nform { margin: 0; }\n\n/* page */\n\na { top: 0; }\n"
    )


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"log.js": 'import { twice } from "./parts/twice.js";\n'}, "must not make a circle"),
        ({"log.js": "export const write = 1;\n"}, "log.js exports no log"),
        ({"log.js": "export default 1;\n"}, "write 'export default 1;' as the others do"),
        ({"page.js": 'import * as log from "./log.js";\n'}, r"write 'import \* as log"),
        ({"page.js": "import {\n  log\n} from './log.js';\n"}, "write 'import {' as the others"),
    ],
)
def test_a_script_that_would_not_work_in_one_piece_is_refused(changed, complaint):
    with pytest.raises(assets.CannotBuild, match=complaint):
        assets.build(["page.js"], {**SCRIPTS, **changed}.__getitem__)


def test_every_script_and_sheet_is_needed_by_a_page():
    needed = {
        source
        for name in assets.named_by_pages()
        for source in assets.in_order(name, assets.read_source)
    }
    folder = assets.SOURCES
    ours = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}

    assert {name for name in ours if assets.is_built(name)} - needed == {"labeling/types.d.ts"}


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
    assert not list(built.rglob("dom*.js"))


def test_a_changed_module_renames_what_holds_it_and_nothing_else(built, monkeypatch):
    before = {name: staticfiles_storage.stored_name(name) for name in assets.named_by_pages()}
    read = assets.read_source

    def changed(name: str) -> str:
        return read(name) + ("// a change\n" if name == "labeling/store.js" else "")

    monkeypatch.setattr(assets, "read_source", changed)
    collect()
    after = assets.BuiltFiles().hashed_files

    renamed = {name for name in before if after[name] != before[name]}
    assert renamed == {"labeling/workspace.js"} | {
        name
        for name in assets.named_by_pages()
        if name.endswith(".js") and "labeling/store.js" in assets.in_order(name, read)
    }
    # a process that was started before the change goes on with what it names
    assert (built / before["labeling/workspace.js"]).exists()

    monkeypatch.undo()
    collect()
    assert {name: assets.BuiltFiles().hashed_files[name] for name in before} == before


def test_a_server_starts_with_static_files_of_its_own_version_only(built, tmp_path, monkeypatch):
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
