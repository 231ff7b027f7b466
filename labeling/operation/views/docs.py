from __future__ import annotations

import json
import re
from argparse import SUPPRESS
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import override
from django.views.decorators.http import require_GET

from labeling.core.views.markdown import Document, render_document
from labeling.words import EVENTS
from labeling.work.rules.keys import KEYS

FOLDER = settings.BASE_DIR / "templates" / "docs"
NOTEBOOK = FOLDER / "notebook.ipynb"

GROUPS = {
    "Start": {
        "index": "What Assay is",
        "tutorial": "Ten minutes",
        "annotating": "Annotating",
        "guidelines": "Guidelines",
    },
    "Concepts": {
        "data-flow": "How data flows",
        "agreement": "Agreement",
        "quality": "Checks against gold",
        "suggestions": "Suggestions",
        "adjudication": "Adjudication and review",
        "gold": "Gold",
        "runs": "Runs",
        "trials": "Pipelines without gold",
        "answers": "Answers",
        "retrieval": "Retrieval",
        "layers": "Memory layers",
    },
    "Reference": {
        "metrics": "Metrics",
        "pipelines": "Pipelines",
        "models": "Language models",
        "formats": "Formats",
        "reports": "Reports",
        "commands": "Commands",
        "api": "API",
        "notebook": "A notebook",
        "webhooks": "Webhooks",
        "plug-ins": "Plug-ins",
        "departures": "Departures",
    },
    "Running a server": {
        "installing": "Installing",
        "settings": "Settings",
        "deploying": "Deploying",
        "operating": "Operating",
        "performance": "Beside other tools",
    },
}
PAGES = {name: title for pages in GROUPS.values() for name, title in pages.items()}
"""Only these can be asked for."""


@require_GET
def docs(request: HttpRequest, page: str = "index") -> HttpResponse:
    if page not in PAGES:
        raise Http404(f"There is no page “{page}”.")
    document = read(page)
    context = {
        "page": page,
        "title": PAGES[page],
        "document": document,
        "contents": [heading for heading in document.headings if heading.level == 2],
        "groups": [
            (group, [(name, address(name), title) for name, title in pages.items()])
            for group, pages in GROUPS.items()
        ],
    }
    return render(request, "labeling/docs.html", context)


def read(page: str) -> Document:
    return render_document(text_of(page), link=_link)


def text_of(page: str) -> str:
    """As it is written, with what follows from the code in its places."""
    if page == "notebook":
        return _of_notebook(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    text = Path(FOLDER / f"{page}.md").read_text(encoding="utf-8")
    with override("en"):
        return _PLACE.sub(lambda found: LIVE[found[1]](*found[2].split()), text)


def _of_notebook(notebook: dict[str, Any]) -> str:
    """What is written, the code, and what came out."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _of_cell(cell))


def _of_cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/markdown" in data:
            yield "".join(data["text/markdown"])
        else:
            yield f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```"


def address(page: str) -> str:
    return reverse("docs") if page == "index" else reverse("docs-page", args=[page])


def _link(target: str) -> str:
    """``gold.md#verify``, which works between the files, becomes an address of this site."""
    file, hash_, anchor = target.partition("#")
    page, _, kind = file.rpartition(".")
    is_ours = kind in ("md", "ipynb") and page in PAGES
    return address(page) + hash_ + anchor if is_ours else target


def _events() -> str:
    """What the audit log may hold: each verb with the line that people read, in English."""
    lines = [f"| `{verb}` | {sentence} |" for verb, sentence in sorted(EVENTS.items())]
    return "\n".join(["| event | what its line says |", "| --- | --- |", *lines])


def _shortcuts() -> str:
    """One row per thing that keys do, from the table that the workspace itself uses."""
    rows: dict[tuple[str, str], list[str]] = {}
    for key in KEYS:
        note = " (also while typing)" if key.typing else ""
        rows.setdefault((key.group, key.label), []).append(f"`{key.key}`{note}")
    lines = [
        f"| {group} | {' or '.join(keys)} | {label} |" for (group, label), keys in rows.items()
    ]
    return "\n".join(["| | key | what it does |", "| --- | --- | --- |", *lines])


def help_of(name: str) -> str:
    """What ``--help`` prints, without the options that the page explains once for all."""
    parser = load_command_class(get_commands()[name], name).create_parser("assay", name)
    parser.formatter_class = _Help
    for action in parser._actions:
        if set(action.option_strings) & (DjangoHelpFormatter.show_last | {"--help", "--as"}):
            action.help = SUPPRESS
    return f"```text\n{parser.format_help().strip()}\n```"


class _Help(DjangoHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=98)


_PLACE = re.compile(r"\[\[([a-z-]+) ?(\w*)\]\]")
LIVE: dict[str, Callable[..., str]] = {
    "shortcuts": _shortcuts,
    "events": _events,
    "help": help_of,
}
"""What a document shows of the code, by the name in double brackets; other apps add theirs."""
