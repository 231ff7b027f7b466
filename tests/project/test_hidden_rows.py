"""A query on assignments, answers or rounds says whether it means hidden checks, too.

``objects`` and the reverse managers show all rows. Forgetting ``labelling()`` would let a check
into counts, agreement or gold, or give one away; so each use names what it means.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from labeling.models import Annotation, Assignment, Round

MODELS = {model.__name__: model for model in (Assignment, Annotation, Round)}
SAID = {"labelling", "with_checks"}
NO_QUESTION = {"blind", "create", "bulk_create", "bulk_update"}
"""Calibration rounds hold no checks, and what is stored names its purpose itself."""

NO_MANAGERS = {"report.rounds", "self.assignments"}  # numbers of rounds, a number to preview

REVERSE = {
    field.name
    for model in apps.get_models()
    for field in model._meta.get_fields()
    if field.related_model in MODELS.values() and (field.one_to_many or field.many_to_many)
}


def test_the_reverse_managers_are_known():
    assert {"assignments", "rounds", "annotations"} <= REVERSE


def sources() -> list[Path]:
    folders = (settings.BASE_DIR / app for app in ("labeling", "evaluation"))
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if "migrations" not in path.parts
    ]


def silent(text: str) -> list[str]:
    """Each query of the text that does not say what it means."""
    tree = ast.parse(text)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if _asks(node) and not _is_said(node, above)
    ] + [f"{line}: prefetch of {name}" for line, name in _prefetched(tree)]


def _asks(node: ast.AST) -> bool:
    """Whether it is a manager of the models, or a model as ``get_object_or_404`` takes it."""
    if isinstance(node, ast.Call):
        named = {part.id for part in node.args if isinstance(part, ast.Name)}
        return ast.unparse(node.func).endswith("get_object_or_404") and bool(named & MODELS.keys())
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    owner = ast.unparse(node.value)
    if node.attr in ("objects", "_default_manager"):
        return owner in MODELS
    return node.attr in REVERSE and ast.unparse(node) not in NO_MANAGERS


def _is_said(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    parent = above[node]
    return isinstance(parent, ast.Attribute) and parent.attr in SAID | NO_QUESTION


def _prefetched(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """A path in ``prefetch_related`` takes all rows; ``Prefetch`` has a query that says more."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        alone = name == "Prefetch" and len(node.args) == 1 and not node.keywords
        for part in node.args if name == "prefetch_related" or alone else ():
            if isinstance(part, ast.Constant) and set(str(part.value).split("__")) & REVERSE:
                yield part.lineno, str(part.value)


@pytest.mark.parametrize(
    "text",
    [
        "Assignment.objects.filter(round=1)",
        "Annotation.objects.count()",
        "rows = Round.objects",
        "project.rounds.all()",
        "finished.assignments.filter(slot=0)",
        "get_object_or_404(Round, number=1)",
        "get_object_or_404(project.rounds, number=1)",
        "projects.prefetch_related('rounds__guideline')",
        "rows.prefetch_related(Prefetch('assignments'))",
    ],
)
def test_a_query_that_does_not_say_what_it_means_is_found(text):
    assert len(silent(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Assignment.objects.labelling().filter(round=1)",
        "Annotation.objects.with_checks().count()",
        "Round.objects.blind()",
        "Round.objects.create(number=1)",
        "project.rounds.labelling()",
        "projects.prefetch_related(Prefetch('rounds', Round.objects.labelling()))",
        "projects.prefetch_related('messages')",
    ],
)
def test_a_query_that_says_what_it_means_passes(text):
    assert silent(text) == []


def test_no_query_is_silent_about_hidden_checks():
    wanting = {
        str(path.relative_to(settings.BASE_DIR)): found
        for path in sources()
        if (found := silent(path.read_text(encoding="utf-8")))
    }
    assert wanting == {}


TEMPLATES = settings.BASE_DIR / "templates"
IN_TEMPLATE = re.compile(rf"\.({'|'.join(sorted(REVERSE))})\.(all|count|exists|first|last)\b")


def test_no_template_asks_for_all_rows():
    asking = [
        f"{path.relative_to(TEMPLATES)}: {match.group()}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for match in IN_TEMPLATE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert asking == []
