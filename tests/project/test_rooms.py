"""Rooms: what a module may import follows from what it is, in every room alike."""

from __future__ import annotations

import re
import tomllib

import grimp
import pytest
from django.conf import settings

from config.env import ROOT
from labeling.schema.layers import LAYERS

MOST_EXCEPTIONS = 49
"""Imports of a later room; the list in ``pyproject.toml`` may only shrink."""
PURE = ("domain", "schema", "rules", "formats", "matching", "published", "gold_lines")
KINDS = {**dict.fromkeys(PURE, 0), "models": 1, "forms": 3, "views": 4, "api": 4}
SERVICES = 2
TOP = {"apps", "migrations", "urls", "api_urls", "tasks", "management", "admin", "job_kinds"}


def kind_of(module: str) -> int | None:
    """Rules, models, services, forms, pages: each may import what is not above it."""
    _, *parts = module.split(".")
    if not parts or parts[0] in TOP:
        return None
    return next((KINDS[part] for part in parts if part in KINDS), SERVICES)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("labeling", cache_dir=None)


def test_nothing_in_a_room_imports_what_stands_above_it(graph: grimp.ImportGraph) -> None:
    upward = [
        f"{module} -> {imported}"
        for module in graph.modules
        if (kind := kind_of(module)) is not None
        for imported in graph.find_modules_directly_imported_by(module)
        if (other := kind_of(imported)) is not None and other > kind
    ]

    assert not upward


def test_exceptions_from_the_order_of_rooms_only_become_fewer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (rooms,) = [each for each in contracts if each["name"].startswith("Rooms of labeling")]

    assert len(rooms["ignore_imports"]) <= MOST_EXCEPTIONS


REGISTRY = (
    "labeling/schema/layers.py",
    "labeling/schema/labels.py",  # the shapes of labels say which layers they refer to
    "evaluation/layers",  # what an evaluation knows of each, keyed by the same name
    "evaluation/metrics/catalog.py",  # a metric says which layer it is of
)
NAMES = "|".join(LAYERS)
BRANCH = re.compile(rf"""(==|!=|\bin|\bcase)\s*[(\[{{]?\s*["']({NAMES})["']""")


def test_a_branch_on_the_name_of_a_layer_is_found() -> None:
    for text in ('if layer == "validation":', 'in ("inference", x)', '{% if it == "events" %}'):
        assert BRANCH.search(text)
    assert not BRANCH.search('labels = metrics_for("extraction")')


@pytest.mark.parametrize("top", ["labeling", "evaluation", "templates"])
def test_no_module_and_no_template_branches_on_the_name_of_a_layer(top: str) -> None:
    found = {
        name: [each[0] for each in BRANCH.finditer(path.read_text(encoding="utf-8"))]
        for path in (settings.BASE_DIR / top).rglob("*")
        if path.suffix in (".py", ".html") and "migrations" not in path.parts
        if not (name := str(path.relative_to(settings.BASE_DIR))).startswith(REGISTRY)
    }
    assert {name: places for name, places in found.items() if places} == {}


OTHER_WRITERS = re.compile(r"csv\.(writer|DictWriter)\b|\.to_csv\(|\bwriterows?\(")
THE_WRITER = "labeling/domain/csv_cells.py"


def test_no_table_is_written_but_by_the_writer_that_quotes_every_cell() -> None:
    writers = {
        path.relative_to(ROOT).as_posix()
        for top in ("labeling", "evaluation", "pipelines", "config")
        for path in (ROOT / top).rglob("*.py")
        if OTHER_WRITERS.search(path.read_text(encoding="utf-8"))
    }

    assert writers == {THE_WRITER}
