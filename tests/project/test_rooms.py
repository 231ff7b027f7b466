"""Rooms: what a module may import follows from what it is, in every room alike."""

import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
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
