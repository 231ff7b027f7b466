"""Collect every text of the product, and write the catalogues: ``python -m config.messages``.

The sources are the templates, the marked texts of Python and of the scripts, and the tables of the
pure places, which mark nothing: every text in their tables counts.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from babel.messages import Catalog

ROOT = Path(__file__).resolve().parent.parent
APPS = ("labeling", "evaluation")
MARKS = {"_", "gettext", "gettext_lazy", "gettext_noop", "lazy", "msgid"}
PLURAL_MARKS = {"ngettext", "ngettext_lazy"}
SCRIPT_TEXT = re.compile(r"""\bt\(\s*(?:"((?:[^"\\]|\\.)*)"|`([^`$]*)`)""")

THE_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # always the same: equal texts make equal files

Text = tuple[str, str]
"""A text and its plural, which is empty for most."""


def collect() -> dict[str, set[Text]]:
    """The texts of each catalogue."""
    django = {*_of_templates(), *_of_python(), *((text, "") for text in _of_tables() if text)}
    return {"django": django, "djangojs": {(text, "") for text in _of_scripts()}}


def _of_templates() -> Iterator[Text]:
    from django.template import engines

    engine = engines["django"].engine  # type: ignore[attr-defined]
    folder = ROOT / "templates"
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.txt")]):
        template = engine.from_string(path.read_text())
        yield from _of_nodes(template.nodelist)
        for text in re.findall(r"""\b_\("([^"]+)"\)""", path.read_text()):
            yield text, ""


def _of_nodes(nodes: Any) -> Iterator[Text]:
    from django.template.base import Node
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    for node in nodes:
        if isinstance(node, TranslateNode):
            yield node.filter_expression.var.literal.replace("%", "%%"), ""
        elif isinstance(node, BlockTranslateNode):
            single, _names = node.render_token_list(node.singular)
            many = node.render_token_list(node.plural)[0] if node.plural else ""
            yield (_trimmed(single), _trimmed(many)) if node.trimmed else (single, many)
        if isinstance(node, Node):
            for name in (*node.child_nodelists, "nodelist_loop", "nodelist_empty"):
                yield from _of_nodes(getattr(node, name, None) or ())
            for _condition, inner in getattr(node, "conditions_nodelists", ()):
                yield from _of_nodes(inner)


def _trimmed(text: str) -> str:
    from django.utils.translation import trim_whitespace

    return trim_whitespace(text)


def _of_python() -> Iterator[Text]:
    trees = [
        ast.parse(path.read_text())
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if not {"migrations", "management"} & set(path.parts)
    ]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[Text]:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    texts = [text for arg in node.args for text in _constants(arg)]
    if name in PLURAL_MARKS and len(texts) > 1:
        yield texts[0], texts[1]
    elif name in MARKS:
        yield from ((text, "") for arg in node.args[:1] for text in _constants(arg))


def _constants(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return []


def _of_scripts() -> Iterator[str]:
    for path in sorted((ROOT / "static").glob("*/*.js")):
        for quoted, plain in SCRIPT_TEXT.findall(path.read_text()):
            yield ast.literal_eval(f'"{quoted}"') if quoted else plain


def _of_tables() -> Iterator[str]:
    from evaluation.metrics.registry import METRICS
    from labeling.domain import keys
    from labeling.domain.agreement.kappa import BANDS
    from labeling.domain.chats.faults import KINDS
    from labeling.domain.schema import LAYERS, form_layers
    from pipelines.registry import PIPELINES, describe

    yield from _of_choices()
    yield from (kind.title for kind in KINDS.values())
    yield from ("poor", *(name for _limit, name in BANDS))
    for metric in METRICS.own.values():
        yield from filter(None, (metric.title, metric.summary, metric.chance))
    yield from keys.TAKE.values()
    for table in (
        keys.KEYS,
        keys.DISCUSSION_KEYS,
        keys.DISPUTE_KEYS,
        keys.CASE_KEYS,
        keys.RATING_KEYS,
        keys.ANSWER_RATING_KEYS,
        keys.ADJUDICATION_KEYS,
        keys.REVIEW_KEYS,
    ):
        for key in table:
            yield from (key.label, key.group)
    for layer in form_layers(list(LAYERS)):
        yield from _shown(layer)
    for entry in LAYERS.values():
        yield from (entry.words.units, entry.words.marked, entry.words.unmarked)
        yield entry.words.content
    pipelines = describe(PIPELINES.own.values())
    yield from _shown(pipelines)
    settings = [setting for row in pipelines for setting in row["config"]]
    yield from (
        choice for setting in settings for choice in setting["choices"] or () if " " in choice
    )


def _shown(value: Any) -> Iterator[str]:
    """What people read in plain JSON, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("title", "label", "help", "summary", "group") and isinstance(item, str):
                yield item
            else:
                yield from _shown(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _shown(item._asdict() if hasattr(item, "_asdict") else item)


def _of_choices() -> Iterator[str]:
    """The states and roles, shown as the words they are stored as or as their labels."""
    from django.apps import apps
    from django.db.models import TextChoices
    from django.utils.translation import override

    with override(None):
        for app in APPS:
            for model in apps.get_app_config(app).get_models():
                for choices in vars(model).values():
                    if isinstance(choices, type) and issubclass(choices, TextChoices):
                        yield from (word for row in choices.choices for word in map(str, row))


def catalogue(domain: str, texts: set[Text], old: Catalog | None = None) -> Catalog:
    """Every text, with what the old catalogue says of it."""
    from babel.messages import Catalog

    new = Catalog(locale="de", domain=domain, fuzzy=False, project="Assay", creation_date=THE_DAY)
    for singular, plural in sorted(texts):
        known = old.get(singular) if old is not None else None
        same = known is not None and bool(known.pluralizable) == bool(plural)
        string = known.string if known is not None and same else None
        new.add((singular, plural) if plural else singular, string)
    return new


def _forms(string: Any) -> list[str]:
    return list(string) if isinstance(string, list | tuple) else [string]


def main() -> None:
    """Add new texts, drop old ones, keep translations, compile."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po, write_po

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    folder = ROOT / "locale" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True, exist_ok=True)
    for domain, texts in collect().items():
        path = folder / f"{domain}.po"
        old = read_po(path.open("rb")) if path.exists() else None
        new = catalogue(domain, texts, old)
        with path.open("wb") as file:
            write_po(file, new, width=100, omit_header=False, no_location=True)
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, new)
        missing = sum(not all(_forms(message.string)) for message in new if message.id)
        sys.stdout.write(f"{domain}: {len(texts)} texts, {missing} not translated\n")


if __name__ == "__main__":
    main()
