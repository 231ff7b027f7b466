"""Collect every text of the product, and write the catalogs: ``python -m config.messages``.

``babel.cfg`` says where texts are marked. The pure places mark nothing: every text in their tables
counts.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir, extract_python
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
APPS = ("labeling", "evaluation")
KEYWORDS = DEFAULT_KEYWORDS | {
    **dict.fromkeys(("gettext_lazy", "gettext_noop", "lazy", "msgid", "t"), None),
    "ngettext_lazy": (1, 2),
}
THE_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # always the same: equal texts make equal files

Text = tuple[str, str]
"""A text and its plural, which is empty for most."""


def collect() -> dict[str, set[Text]]:
    """The texts of each catalog."""
    with (ROOT / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    texts: dict[str, set[Text]] = {"django": {(text, "") for text in _of_tables() if text}}
    texts["djangojs"] = set()
    for path, _line, found, *_ in extract_from_dir(ROOT, methods, options, KEYWORDS):
        single, plural = (found, "") if isinstance(found, str) else found
        if single:
            texts["djangojs" if path.endswith(".js") else "django"].add((single, plural))
    return texts


def of_template(file: IO[bytes], keywords: Any, tags: Any, options: Any) -> Iterator[Any]:
    """Babel reads what Django makes of a template for it; in brackets indents say nothing."""
    from django.utils.translation.template import templatize

    source = f"({templatize(file.read().decode())})"
    return extract_python(io.BytesIO(source.encode()), keywords, tags, options)


def _of_tables() -> Iterator[str]:
    from evaluation.metrics.registry import METRICS
    from labeling.agreement.rules.kappa import BANDS
    from labeling.conversations.published.faults import KINDS
    from labeling.schema import LAYERS, form_layers
    from labeling.work.rules import keys
    from pipelines.registry import PIPELINES

    yield from _of_choices()
    yield from (kind.title for kind in KINDS.values())
    yield from ("poor", *(name for _limit, name in BANDS))
    for metric in METRICS.own.values():
        yield from filter(None, (metric.title, metric.summary, metric.chance))
    yield from keys.TAKE.values()
    for table in (
        keys.KEYS,
        keys.DISCUSSION_KEYS,
        keys.CASE_KEYS,
        keys.RATING_KEYS,
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
    for pipeline in PIPELINES.own.values():
        yield from (pipeline.title, pipeline.summary)
        yield from _shown(pipeline.settings)
        choices = (choice for each in pipeline.settings for choice in each["choices"] or ())
        yield from (choice for choice in choices if " " in choice)


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


def main() -> None:
    """Add new texts, drop old ones, keep translations, compile."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for domain, texts in collect().items():
        path = ROOT / f"locale/de/LC_MESSAGES/{domain}.po"
        known = read_po(path.open("rb"))
        new = Catalog("de", domain, fuzzy=False, project="Assay", creation_date=THE_DAY)
        for single, plural in sorted(texts):
            old = known.get(single)
            keeps = old is not None and bool(old.pluralizable) == bool(plural)
            new.add((single, plural) if plural else single, old.string if old and keeps else None)
        with path.open("wb") as file:
            write_po(file, new, width=100, no_location=True)
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, new)
        empty = sum(not message.string or not all(message.string) for message in new if message.id)
        sys.stdout.write(f"{domain}: {len(texts)} texts, {empty} not translated\n")


if __name__ == "__main__":
    main()
