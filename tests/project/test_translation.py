"""Every text goes through the catalogs, and the catalogs are whole."""

from __future__ import annotations

import ast
import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from config import messages
from labeling.models import Project
from labeling.schema import LAYERS, form_layers
from labeling.translation import translated
from tests import everything
from tests.project.test_access import EXPECTED

TEMPLATES = settings.BASE_DIR / "templates"
CATALOGUES = settings.BASE_DIR / "locale" / "de" / "LC_MESSAGES"
PLACES = re.compile(r"%\(\w+\)s|\{\w*(?::[^}]*)?\}|%%")

AS_THEY_ARE = {"Assay", "CSV", "SVG", "JSON", "Esc", "Alt", "Ctrl", "Shift", "Markdown", "sha256"}
AS_THEY_ARE |= {"SHA", "metrics", "python", "results.json", "cases.csv", "AC1", "F1", "rev"}
AS_THEY_ARE |= {"UTC", "MAE", "case_id"}
"""Product, formats, keys and symbols: the same in every language."""


def untranslated(source: str) -> list[str]:
    """The words of a template that no translation tag holds: of its text and its attributes."""
    source = re.sub(r"\{% block (main|body)_class %\}.*?\{% endblock %\}", "", source)
    source = re.sub(r"\{% blocktranslate.*?\{% endblocktranslate %\}", "", source, flags=re.S)
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.S)
    read_out = re.findall(r'\s(?:title|aria-label|placeholder|alt)="([^"]*)"', source)
    for machine in ("script", "style", "code", "pre", "kbd"):
        source = re.sub(rf"<{machine}\b.*?</{machine}>", " ", source, flags=re.S)
    shown = re.sub(r'<(?:"[^"]*"|[^">])*>|&\w+;', "\n", source).split("\n")
    return [text.strip() for text in [*shown, *read_out] if words(text)]


def words(text: str) -> list[str]:
    matches = re.findall(r"[A-Za-z][\w.]*[A-Za-z0-9]", text)
    return [word for word in matches if word not in AS_THEY_ARE]


SAMPLES = {"components.html"}
"""What those see who write pages."""


def test_no_template_holds_text_outside_of_the_tags() -> None:
    for path in TEMPLATES.rglob("*.html"):
        assert path.name in SAMPLES or untranslated(path.read_text()) == [], path


FOR_PEOPLE = {"label", "help_text", "empty_label", "description"}


@pytest.mark.parametrize("app", messages.APPS)
def test_no_form_message_or_reason_is_written_outside_of_the_marks(app: str) -> None:
    result = [
        f"{path.name}:{line}: {text}"
        for path in sorted((settings.BASE_DIR / app).rglob("*.py"))
        if not {"migrations", "management", "models", "api", "schema"} & {*path.parts, path.stem}
        for line, text in (
            *unmarked(path),
            *(reasons(path) if path.parent.name == "metrics" else ()),
        )
    ]
    assert result == []


def unmarked(path: Path) -> Iterator[tuple[int, str]]:
    """What stands bare where a page shows it: in forms, messages, and as a reason."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        of = getattr(getattr(node.func, "value", None), "id", "")
        given = [keyword.value for keyword in node.keywords if keyword.arg in FOR_PEOPLE]
        if of == "messages" or name in ("add_error", "Value"):
            given += node.args[1:2]
        elif name == "ValidationError":
            given += node.args[:1]
        for text in given:
            yield from told(text)


def reasons(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences that stand under a name of their own: why a value is undefined."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Tuple):
            yield from ((line, text) for line, text in told(node.value) if " " in text)


def told(text: ast.expr) -> Iterator[tuple[int, str]]:
    """A bare text in words: no name, no pattern of characters."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    plain = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    bare = all(isinstance(part, ast.Constant | ast.FormattedValue) for part in parts)
    if bare and re.search(r"[a-z]{2}", plain):
        yield text.lineno, plain


def test_text_outside_of_the_tags_would_be_found() -> None:
    source = '<p title="Hello">{% translate "Yes" %} <b>No {{ name }}</b> <kbd>Enter</kbd></p>'
    assert untranslated(source) == ["No", "Hello"]


def test_the_catalogs_hold_every_text_and_no_other() -> None:
    """Failed? Run ``make messages`` and translate what is new in locale/de."""
    for domain, texts in messages.collect().items():
        known = {singular(message.id) for message in catalog(domain)}
        assert {one for one, _many in texts} == known, domain


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_every_text_is_translated_with_its_places(domain: str) -> None:
    for message in catalog(domain):
        pairs = [(message.id, message.string)]
        if isinstance(message.id, tuple):
            pairs = list(zip(message.id, message.string, strict=True))
        for text, said in pairs:
            assert said, f"not translated: {text}"
            assert set(PLACES.findall(text)) == set(PLACES.findall(said)), text
            ends = [(one[:1].isspace(), one[-1:].isspace()) for one in (text, said)]
            assert ends[0] == ends[1], f"a space at an end is lost: {text!r}"


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_what_is_served_is_what_is_written(domain: str) -> None:
    compiled = io.BytesIO()
    with (CATALOGUES / f"{domain}.po").open("rb") as file:
        write_mo(compiled, read_po(file))
    assert compiled.getvalue() == (CATALOGUES / f"{domain}.mo").read_bytes()


def catalog(domain: str) -> list[Any]:
    with (CATALOGUES / f"{domain}.po").open("rb") as file:
        return [message for message in read_po(file) if message.id]


def singular(text: str | tuple[str, str]) -> str:
    return text if isinstance(text, str) else text[0]


def test_a_refusal_is_told_in_the_language_of_the_browser(project: Project, rita: User) -> None:
    client = Client(headers={"accept-language": "de"})
    client.force_login(rita)

    nobody = {"people": ";", "role": "annotator"}
    answer = client.post(reverse("people-invite", args=[project.slug]), nobody, follow=True)

    assert "Geben Sie mindestens einen Namen an." in answer.content.decode()


def test_the_choice_of_a_person_is_above_that_of_the_browser(rita: User) -> None:
    client = Client(headers={"accept-language": "de"})
    client.force_login(rita)
    assert '<html lang="de">' in client.get("/projects/").content.decode()

    answer = client.post(reverse("set-language"), {"language": "en-gb", "next": "/projects/"})

    assert answer.url == "/projects/"
    assert '<html lang="en-gb">' in client.get("/projects/").content.decode()


LOCALIZED = re.compile(
    r"\s(?:x|y|x1|x2|y1|y2|cx|cy|r|d|dx|dy|points|width|height|viewBox|value|max|min|step|data-[\w-]+)"
    r'="[^"a-zA-Z]*\d,\d[^"]*"'
)


def test_every_page_renders_in_german_and_no_number_of_a_machine_is_localized(project, people):
    project.layers = list(LAYERS)
    project.save()
    about = everything.addresses(project, people)
    for name, row in EXPECTED.items():
        who = next((who for who in ("rita", "ana") if getattr(row, who) == 200), None)
        if who is None or row.post or name.startswith("api-"):
            continue
        client = Client(headers={"accept-language": "de"})
        client.force_login(people[who])
        answer = client.get(reverse(name, args=about.get(name, [])))
        if answer["Content-Type"].startswith("text/html"):
            text = answer.content.decode()
            assert LOCALIZED.findall(text) == [], name
            assert "<html" not in text or '<html lang="de">' in text, name
            assert name.startswith(AS_STORED) or english_of_the_schema(text) == set(), name


AS_STORED = ("docs", "run-case")
"""Pages that show labels as files hold them."""


def english_of_the_schema(page: str) -> set[str]:
    """The titles, fields and choices of the layers that stand on a German page in English."""
    words = set(messages._shown(form_layers(list(LAYERS))))
    with override("de"):
        words = {word for word in words if translated(word) != word}
    page = re.sub(r"<(script|style|code)\b.*?</\1>", " ", page, flags=re.S)
    return words & {html.unescape(text).strip() for text in re.split(r"<[^>]*>", page)}


def test_files_for_machines_are_the_same_in_every_language(project, people):
    about = everything.addresses(project, people)
    for name in ("table", "agreement-csv", "gold-export"):
        client = Client()
        client.force_login(people["rita"])
        url = reverse(name, args=about[name])
        said = [
            b"".join(client.get(url, headers={"accept-language": code})) for code in ("en", "de")
        ]
        assert said[0] == said[1], name
