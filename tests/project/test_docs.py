"""The documents say what the code does: whatever is added to the code must be added to them."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands
from django.urls import get_resolver, resolve
from django.urls.resolvers import URLPattern, URLResolver

from config.command import run as run_assay
from config.env import ROOT
from evaluation.metrics.registry import METRICS, METRICS_VERSION, PROTOCOL_VERSION
from labeling.agreement.rules.agreement import Agreement, PairAgreement
from labeling.core.api.errors import STATUS
from labeling.core.project_settings import FIELDS
from labeling.domain.errors import RuleError
from labeling.exchange.export import export
from labeling.operation.views.docs import FOLDER, PAGES, address, read, text_of
from labeling.schema import PRIORITIES, TYPES, Requirement
from labeling.words import EVENTS
from labeling.work.rules.keys import CASE_KEYS, KEYS
from pipelines.registry import PIPELINES
from tests.factories import make_release

APPS = ("labeling", "evaluation")


def code_words(page: str) -> set[str]:
    """Everything that a page shows as code in a line."""
    return set(re.findall(r"`([^`\n]+)`", text_of(page)))


def table_rows(page: str, first: str) -> list[list[str]]:
    """The cells of the rows that begin with ``first`` as code."""
    rows = [line for line in text_of(page).splitlines() if line.startswith(f"| `{first}` |")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


# --- pages and links ----------------------------------------------------------------------------


def test_every_document_is_a_page_and_every_page_a_document():
    assert {path.stem for path in FOLDER.iterdir()} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_document_has_one_title_and_distinct_anchors(page):
    headings = read(page).headings

    assert [heading.level for heading in headings].count(1) == 1
    assert headings[0].level == 1
    assert len({heading.anchor for heading in headings}) == len(headings)


def links(page: str) -> list[str]:
    return re.findall(r'<a href="([^"]+)"', read(page).html)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_documents_resolve(page):
    by_address = {address(name): name for name in PAGES}
    for link in links(page):
        path, _, anchor = link.partition("#")
        assert not path.endswith(".md"), link
        if path.startswith("/"):
            assert resolve(path)
        if anchor:
            target = by_address[path] if path else page
            assert anchor in {heading.anchor for heading in read(target).headings}, link


TO_A_DOCUMENT = re.compile(
    r"{% url '([\w-]+)'(?: '([\w-]+)')?[^%]*?(?: as (\w+))? %}(?:#([\w-]+))?|{{ (\w+) }}#([\w-]+)"
)


def test_what_templates_say_of_a_document_is_there():
    found = 0
    for path in (ROOT / "templates").rglob("*.html"):
        bound: dict[str, str] = {}
        for route, page, name, anchor, used, part in TO_A_DOCUMENT.findall(path.read_text("utf-8")):
            target = bound.get(used, "") if used else page * (route == "docs-page")
            if name:
                bound[name] = target
            wanted = part or anchor
            if target and wanted:
                found += 1
                assert wanted in {each.anchor for each in read(target).headings}, (path, wanted)
    assert found > 10


def test_every_page_can_be_read(client, django_user_model, db):
    client.force_login(django_user_model.objects.create_user("ana"))
    for page, title in PAGES.items():
        text = client.get(address(page)).content.decode()
        assert title in text
        assert "[[" not in text


NO_PAGES = ["nothing", "settings.md", "..%2fsettings", "%2e%2e/settings", "INDEX", "index"]


def test_what_is_no_page_is_not_found(client, django_user_model, db):
    client.force_login(django_user_model.objects.create_user("ana"))
    for path in NO_PAGES:
        expected = 200 if path == "index" else 404
        assert client.get(f"/docs/{path}/").status_code == expected


# --- commands -----------------------------------------------------------------------------------


def our_commands() -> list[str]:
    return sorted(name for name, app in get_commands().items() if app in APPS)


@pytest.mark.parametrize("name", our_commands())
def test_every_command_has_a_part_with_its_help(name):
    part = text_of("commands").split(f"\n## {name}\n")[1].split("\n## ")[0]

    assert f"\nusage: assay {name}" in part
    assert "--pythonpath" not in part


# --- metrics and agreement ----------------------------------------------------------------------


def family_of(metric: str) -> str:
    """What ranks are counted at is one row."""
    return re.sub(r"_\d+$", "_K", metric)


@pytest.mark.parametrize("metric", METRICS.own.values(), ids=list(METRICS.own))
def test_a_metric_is_documented_with_range_and_direction(metric):
    ((_, meaning, span, better, undefined),) = table_rows("metrics", family_of(metric.id))

    assert meaning
    assert span == f"{metric.lower:g}–{metric.upper:g}"
    assert better == metric.direction
    assert undefined


def test_no_metric_is_documented_that_does_not_exist():
    rows = re.findall(r"^\| `(\w+)` \|", text_of("metrics"), re.M)

    assert sorted(rows) == sorted(set(map(family_of, METRICS.own)))


def test_every_metric_with_a_chance_level_is_in_the_section_about_them():
    section = text_of("metrics").partition("## Chance levels")[2].partition("## Matching")[0]
    named = set(re.findall(r"`(\w+)`", section))

    declared = {family_of(metric.id) for metric in METRICS.own.values() if metric.chance}
    assert declared <= named
    assert named & set(map(family_of, METRICS.own)) == declared


def test_the_versions_of_metrics_and_protocol_are_named():
    text = text_of("metrics")

    assert f"`metrics_version` {METRICS_VERSION}," in text
    assert f"`protocol_version` {PROTOCOL_VERSION} " in text


def test_every_figure_of_agreement_is_documented():
    figures = {*PairAgreement.__dataclass_fields__, *Agreement.__dataclass_fields__} - {
        "a",
        "b",
        "pairs",
        "statistic",
        "value",
        "threshold",
        "passed",
    }

    assert figures <= code_words("agreement")


# --- labels, keys, pipelines --------------------------------------------------------------------


def test_every_field_of_a_label_is_documented():
    wanted = {*Requirement.model_fields, *TYPES, *PRIORITIES}

    assert wanted <= code_words("guidelines")


@pytest.mark.parametrize(("page", "keys"), [("annotating", KEYS), ("runs", CASE_KEYS)])
def test_every_shortcut_is_documented(page, keys):
    html = read(page).html
    for key in keys:
        assert f"<code>{key.key}</code>" in html
        assert key.label in html


def test_every_pipeline_is_listed_with_its_settings():
    for entry in PIPELINES.own.values():
        listed, *rows = table_rows("pipelines", entry.name)
        assert entry.summary in listed[1]
        settings = [cells[1] for cells in rows if len(cells) == 5]
        assert settings == [f"`{each['name']}`" for each in entry.settings]


# --- settings -----------------------------------------------------------------------------------


def settings_read() -> set[str]:
    """Every variable that the code reads from outside."""
    names: set[str] = set()
    for path in (ROOT / "config").glob("*.py"):
        calls = re.findall(r'env_(\w+)\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
        for kind, name in calls:
            names |= {name, f"{name}_FILE"} if kind == "secret" else {name}
    return names


def test_every_setting_is_documented():
    assert len(settings_read()) > 10
    assert settings_read() <= code_words("settings")


def test_every_setting_stands_in_the_example_file():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")

    assert settings_read() <= set(re.findall(r"^# (\w+)=", example, re.M))


def test_every_setting_of_a_project_is_documented():
    section = text_of("data-flow").split("## Settings of a project")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.M)

    assert sorted(FIELDS) == sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))


def test_no_setting_is_documented_that_nothing_reads():
    documented = set(re.findall(r"^\| `(\w+)` \|", text_of("settings"), re.M))

    assert documented <= settings_read()


# --- API and screens ----------------------------------------------------------------------------


def routes(resolver: URLResolver | None = None, prefix: str = "/") -> Iterator[tuple[str, str]]:
    """Name and path of every route of ours; parameters as in ``/label/{pk}/``."""
    for pattern in (resolver or get_resolver()).url_patterns:
        path = prefix + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                yield from routes(pattern, path)
        elif isinstance(pattern, URLPattern):
            yield str(pattern.name), path


def test_every_address_in_the_list_of_screens_is_there():
    known = {path for _, path in routes()} | {"/admin/"}
    rows = re.findall(r"^\| (`/.*?) \|", text_of("index"), re.M)

    listed = {path for row in rows for path in re.findall(r"`([^`]+)`", row)}
    assert len(listed) > 10
    assert listed <= known


def all_rule_errors() -> set[type[RuleError]]:
    for app in APPS:
        path = importlib.import_module(app).__path__
        for module in pkgutil.walk_packages(path, f"{app}."):
            if ".management" not in module.name and ".migrations" not in module.name:
                importlib.import_module(module.name)

    def below(error: type[RuleError]) -> Iterator[type[RuleError]]:
        for sub in error.__subclasses__():
            yield sub
            yield from below(sub)

    return {error for error in below(RuleError) if error.__module__.split(".")[0] in APPS}


def test_every_error_code_of_another_status_than_400_is_documented():
    for error in all_rule_errors():
        status = str(STATUS.get(error.code, 400))
        rows = table_rows("api", error.code)
        assert [row[1] for row in rows] == ([] if status == "400" else [status]), error


def test_every_audit_event_is_documented():
    source = "\n".join(
        path.read_text(encoding="utf-8") for app in APPS for path in (ROOT / app).rglob("*.py")
    )
    recorded = set(
        re.findall(r'(?:record|_record|_steer)\(\s*(?:\w+, \w+, )?"([a-z]+\.[a-z_]+)"', source)
    )

    assert len(recorded) > 10
    assert recorded <= {*EVENTS, *code_words("data-flow")}
    assert "[[events]]" not in read("data-flow").html


# --- gold ---------------------------------------------------------------------------------------


@pytest.fixture
def exported(people: Any, tmp_path: Path) -> Path:
    release = make_release(name="demo", message="été")
    export(release, format="native", folder=tmp_path)
    return tmp_path


def test_the_recipe_in_python_finds_an_export_intact(exported):
    sha256 = hashlib.sha256((exported / "manifest.json").read_bytes()).hexdigest()

    assert _run_recipe(exported) == (0, f"intact: sha256 {sha256}\n", "")


def test_the_recipe_in_python_finds_a_changed_item(exported):
    items = exported / "items.jsonl"
    items.write_text(items.read_text("utf-8").replace("REQ-001", "REQ-002", 1), encoding="utf-8")

    assert _run_recipe(exported) == (1, "", "changed: items.jsonl, c-001\n")


def _run_recipe(folder: Path) -> tuple[int, str, str]:
    (recipe,) = re.findall(r"```python\n(.*?)```", text_of("gold"), re.S)
    command = [sys.executable, "-c", recipe, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# --- the project's own papers -------------------------------------------------------------------


def test_changelog_command_account_menu_and_api_name_the_same_version(
    client, django_user_model, capsys, db
):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.findall(r"^## (\S+)", changelog, re.M)[0]
    client.force_login(django_user_model.objects.create_user("ana"))

    run_assay(["--version"])

    assert capsys.readouterr().out == f"assay {version}\n"
    assert f'<p class="muted">Assay {version}</p>' in client.get("/docs/").content.decode()
    assert client.get("/api/schema/?format=json").json()["info"]["version"] == version


def test_decisions_are_numbered_and_say_context_decision_and_consequence():
    decisions = (ROOT / "DECISIONS.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", decisions, flags=re.M)[1:]

    assert [int(section.split(".")[0]) for section in sections] == list(range(1, len(sections) + 1))
    for section in sections:
        for part in ("**Context**", "**Decision**", "**Consequence**"):
            assert part in section, section[:60]


STEP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)


def test_every_step_exists() -> None:
    text = (settings.BASE_DIR / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = STEP.findall(text.partition("## Three walks through the code\n")[2])

    assert len(steps) > 10
    for step in steps:
        *path, last = step.split(".")
        names = [path.pop(), last] if path[-1][:1].isupper() else [last]
        assert callable(reduce(getattr, names, import_module(".".join(path)))), step
