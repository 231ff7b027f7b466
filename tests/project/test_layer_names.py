"""A label layer is declared in its entry: no other module branches on the name of one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from labeling.schema import LAYERS

REGISTRY = (
    "labeling/schema/layers.py",
    "labeling/schema/labels.py",  # the shapes of labels say which layers they refer to
    "evaluation/layers",  # what an evaluation knows of each, keyed by the same name
    "evaluation/metrics/catalog.py",  # a metric says which layer it is of
)


def sources() -> list[Path]:
    return [
        path
        for app in ("labeling", "evaluation")
        for path in sorted((settings.BASE_DIR / app).rglob("*.py"))
        if "migrations" not in path.parts
        and not str(path.relative_to(settings.BASE_DIR)).startswith(REGISTRY)
    ]


def named(text: str) -> list[str]:
    """Each place of the text that branches on a layer's name, or lists layers by name."""
    return [
        f"{node.lineno}: {ast.unparse(node)[:100]}"
        for node in ast.walk(ast.parse(text))
        if _names_layers(node)
    ]


def _names_layers(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(_is_name(side) for side in sides) or any(map(_are_names, sides))
    if isinstance(node, ast.Dict):
        return sum(_is_name(key) for key in node.keys) > 1
    if isinstance(node, ast.MatchValue):
        return _is_name(node.value)
    return isinstance(node, ast.Set | ast.List | ast.Tuple) and _are_names(node)


def _are_names(node: ast.AST) -> bool:
    parts = list(_parts(node))
    return len(parts) > 0 and all(map(_is_name, parts))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        yield from node.elts


def _is_name(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in LAYERS


def test_a_branch_on_the_name_of_a_layer_is_found() -> None:
    for text in ('if layer == "validation": pass', 'WORDS = {"inference": 1, "validation": 2}'):
        assert len(named(text)) == 1
    assert named('labels = metrics_for("extraction")') == []


def test_no_template_branches_on_the_name_of_a_layer() -> None:
    names = "|".join(LAYERS)
    branch = re.compile(rf"""(==|!=|\bin)\s*["']({names})["']""")
    result = {
        str(path.relative_to(settings.BASE_DIR)): places
        for path in sorted((settings.BASE_DIR / "templates").rglob("*.html"))
        if (places := [each[0] for each in branch.finditer(path.read_text(encoding="utf-8"))])
    }

    assert branch.search('{% if asked.layer == "events" %}')
    assert result == {}


def test_no_module_branches_on_the_name_of_a_layer() -> None:
    result = {
        str(path.relative_to(settings.BASE_DIR)): places
        for path in sources()
        if (places := named(path.read_text(encoding="utf-8")))
    }

    assert result == {}
