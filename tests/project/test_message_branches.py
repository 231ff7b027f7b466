"""No branch depends on the text of a message: what is compared is a code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

WORDED = {"gettext", "in_english", "ngettext", "translated", "words", "words_of", "worded"}
"""What makes words out of facts and messages."""

LOOKED_INTO = {
    "count", "endswith", "find", "fullmatch", "index", "match", "partition", "removeprefix",
    "rpartition", "search", "split", "startswith",
}  # fmt: skip


def branches(source: str) -> Iterator[int]:
    """The lines that compare the text of a message, or look for something in it."""
    tree = ast.parse(source)
    errors = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for scope in (node for node in ast.walk(tree) if isinstance(node, functions)):
        said = {
            target.id
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign) and _is_words(node.value, errors, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(scope):
            if any(_is_words(text, errors, said) for text in _examined(node)):
                yield node.lineno  # type: ignore[attr-defined]


def _examined(node: ast.AST) -> list[ast.expr]:
    """The texts that this looks into or compares, not those that are only empty or not."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        is_plain = all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        return [] if is_plain or any(_is_empty(side) for side in sides) else sides
    match node:
        case ast.Call(func=ast.Attribute(value=text, attr=name)) if name in LOOKED_INTO:
            return [text, *node.args]
    return []


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("", None)


def _is_words(node: ast.expr, errors: set[str | None], said: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in said
        case ast.Attribute(attr="message", value=ast.Name(id=name)):
            return name in errors or name in ("error", "problem", "refusal", "refused")
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return name in errors
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in WORDED
        case ast.Subscript(value=ast.Attribute(attr="args", value=ast.Name(id=name))):
            return name in errors
    return False


def product() -> list[Path]:
    return [
        path
        for app in ("labeling", "evaluation", "pipelines", "config")
        for path in sorted((settings.BASE_DIR / app).rglob("*.py"))
        if "migrations" not in path.parts
    ]


# pipelines/requirements has lists of words of a language, and words no fact


def test_no_branch_depends_on_the_text_of_a_message() -> None:
    names = {path: str(path.relative_to(settings.BASE_DIR)) for path in product()}
    result = [
        f"{name}:{line}"
        for path, name in names.items()
        if not name.startswith("pipelines/requirements/")
        for line in branches(path.read_text())
    ]
    assert result == []


CONDITION = re.compile(r"\{%\s*(?:el)?if\b(.*?)%\}")
QUOTED = re.compile(r"""["']([^"']*)["'](\s+(?:not\s+)?in\s+[\w.]*(?:reason|message|error))?""")


def conditions(source: str) -> list[str]:
    """Those on a text of several words (codes and states are single ones), or on a part of one."""
    return [
        condition
        for condition in CONDITION.findall(source)
        if any(" " in text or looks_into for text, looks_into in QUOTED.findall(condition))
    ]


@pytest.mark.parametrize("path", sorted((settings.BASE_DIR / "templates").rglob("*.html")), ids=str)
def test_no_condition_of_a_template_looks_into_a_message(path: Path) -> None:
    assert conditions(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        'if "seed" in error.message: pass',
        'if str(error).startswith("undefined: "): pass',
        "if problem.message != NOT_THERE: pass",
        'if words(fact) == "Round 3 is open.": pass',
        'said = translated(text)\n        if said.startswith("no"): pass',
        'if re.search("seed", error.args[0]): pass',
    ],
)
def test_a_branch_on_a_message_would_be_found(line: str) -> None:
    source = f"def f():\n    try: g()\n    except E as error:\n        {line}\n"
    assert list(branches(source))


@pytest.mark.parametrize(
    "line",
    [
        'if error.fact.code == "gold.disputed": pass',
        "if words(fact): pass",
        'if error.message == "": pass',
        'print(words(fact).removesuffix("."))',
    ],
)
def test_a_branch_on_a_code_is_none(line: str) -> None:
    source = f"def f():\n    try: g()\n    except E as error:\n        {line}\n"
    assert not list(branches(source))


def test_a_condition_on_a_message_would_be_found_in_a_template() -> None:
    assert conditions('{% if "disputed" in row.reason %}')
    assert conditions('{% if row.reason == "decide it" %}')
    assert not conditions('{% if row.state == "disputed" or row.kind == "full" %}')
