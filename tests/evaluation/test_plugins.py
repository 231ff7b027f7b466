"""Installed packages add pipelines and metrics; a wrong one breaks nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from importlib import invalidate_caches
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core import checks
from django.core.management import call_command
from django.urls import reverse

from config.env import ROOT
from evaluation.metrics.installed import values_of
from evaluation.metrics.metric import MeasuredCase, Metric, Share, Undefined
from evaluation.metrics.registry import METRICS
from evaluation.models import Run
from evaluation.services.launch import thresholds
from evaluation.services.run import comparisons, execution, gates
from evaluation.services.work import steering
from labeling.domain.plugins import Fault
from labeling.models import GoldRelease, Project
from pipelines.registry import PIPELINES
from tests.evaluation import launching
from tests.evaluation.chat_gold import content
from tests.evaluation.releases import freeze

EXAMPLE = ROOT / "fixtures" / "plugin"


def faults() -> list[Fault]:
    return [fault for registry in (PIPELINES, METRICS) for fault in registry.faults]


Look = Callable[[], None]


@pytest.fixture
def look_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """Makes the process ask again what is installed; after the test it is as before."""

    def look() -> None:
        invalidate_caches()
        for registry in (PIPELINES, METRICS):
            monkeypatch.setattr(registry, "_loaded", None)

    known = set(sys.modules)
    yield look
    for name in set(sys.modules) - known:
        if name.startswith("assay_"):
            del sys.modules[name]


@pytest.fixture
def package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_again: Look
) -> Callable[..., None]:
    """A package of one module, as an installation leaves it on the disk."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(code: str, *points: str, name: str = "assay-odd", version: str = "1.0") -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        described = tmp_path / f"{module}-{version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        written = [f"[assay.{group}]\n{point}\n" for group, point in map(_parted, points)]
        (described / "entry_points.txt").write_text("\n".join(written))
        look_again()

    return install


def _parted(point: str) -> tuple[str, str]:
    group, _, rest = point.partition(" ")
    return group, rest


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_again: Look) -> Path:
    """The example of the documents, as its files are, with the entry points of its project file."""
    monkeypatch.syspath_prepend(tmp_path)
    shutil.copy(EXAMPLE / "assay_example.py", tmp_path)
    described = tmp_path / "assay_example-0.1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Name: assay-example\nVersion: 0.1.0\n")
    (described / "entry_points.txt").write_text(
        "[assay.pipelines]\nshared-words = assay_example:PIPELINE\n"
        "[assay.metrics]\nevidence_jaccard = assay_example:METRIC\n"
    )
    look_again()
    return tmp_path


@pytest.fixture
def chats(project: Project) -> GoldRelease:
    """Three chats; in each, one of the two messages that answer “Where?” says so."""
    contents = []
    for number in range(3):
        document = deepcopy(content("qa", "dev")) | {"item_id": f"Chat_{number}"}
        document["conversation"][3]["content"] = "Where the trains go"
        contents.append(document)
    return freeze(project, "qa", name="chats", contents=contents)


def done(release: GoldRelease, **fields: Any) -> Run:
    run = launching.launch(release, queue=False, **fields)
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().get(pk=run.pk)


# --- what is wrong with a package -----------------------------------------------------------------

HEAD = """
from pydantic import BaseModel
from evaluation.metrics.metric import Metric
from pipelines.registry import Entry

class Settings(BaseModel):
    pass

def pipeline(**fields):
    known = dict(name="odd", title="Odd", summary="Odd.", layers=("qa",), config=Settings)
    return Entry(**{**known, "make": print, **fields})

def metric(**fields):
    known = dict(id="odd", version=1, layers=frozenset({"qa"}), title="Odd", summary="Odd.")
    return Metric(**{**known, "compute": len, **fields})
"""
REQUIRED = "class Needy(BaseModel):\n    depth: int\n"
BROKEN = """
from pydantic import Field

class Unsaid(Exception):
    def __str__(self):
        raise ValueError

def broken():
    raise Unsaid

class Broken(BaseModel):
    path: str = Field(default_factory=broken)
"""


@pytest.mark.parametrize(
    ("code", "point", "reason"),
    [
        ("import no_such_module", "pipelines odd", "plugin.cannot_load"),
        ("raise SystemExit(3)", "metrics odd", "plugin.cannot_load"),
        ("X = 1", "pipelines odd", "plugin.wrong_type"),
        ("X = 1", "metrics odd", "plugin.wrong_type"),
        ("X = pipeline()", "pipelines memory", "plugin.name_is_ours"),
        ("X = metric()", "metrics mrr", "plugin.name_is_ours"),
        ("X = pipeline(name='else')", "pipelines odd", "plugin.wrong_name"),
        ("X = pipeline(layers=('poems',))", "pipelines odd", "plugin.layers"),
        ("X = pipeline(config=dict)", "pipelines odd", "plugin.config"),
        (f"{REQUIRED}X = pipeline(config=Needy)", "pipelines odd", "plugin.no_default"),
        (f"{BROKEN}X = pipeline(config=Broken)", "pipelines odd", "plugin.cannot_load"),
        ("X = metric(lower='0')", "metrics odd", "plugin.cannot_load"),
        ("X = pipeline(summary='')", "pipelines odd", "plugin.no_summary"),
        ("X = metric(layers=frozenset({'answers'}))", "metrics odd", "plugin.layers"),
        ("X = metric(scope='run')", "metrics odd", "plugin.metric_definition"),
        ("X = metric(lower=float('-inf'))", "metrics odd", "plugin.metric_definition"),
        ("X = metric(compute=None)", "metrics odd", "plugin.not_callable"),
    ],
)
def test_what_cannot_be_used_is_left_out_and_named_with_the_reason(package, code, point, reason):
    package(f"{HEAD}\n{code}\n", f"{point} = assay_odd:X")

    (fault,) = faults()

    assert (fault.reason.code, str(fault.source)) == (reason, "assay-odd 1.0")
    assert [len(registry.added) for registry in (PIPELINES, METRICS)] == [0, 0]


def test_of_two_packages_with_one_name_the_first_by_name_has_it(package: Any) -> None:
    package(f"{HEAD}\nX = pipeline()\n", "pipelines odd = assay_b:X", name="assay-b")
    package(f"{HEAD}\nX = pipeline()\n", "pipelines odd = assay_a:X", name="assay-a")

    (fault,) = PIPELINES.faults

    assert str(PIPELINES.source_of("odd")) == "assay-a 1.0"
    assert (fault.reason.code, fault.source.distribution) == ("plugin.name_taken", "assay-b")


def test_loading_one_may_not_bring_slow_libraries_into_the_web_process(
    package, tmp_path, monkeypatch
):
    monkeypatch.setattr("labeling.domain.plugins.SLOW", ("assay_heavy",))
    (tmp_path / "assay_heavy.py").write_text("")
    package(f"import assay_heavy\n{HEAD}\nX = pipeline()\n", "pipelines odd = assay_odd:X")

    (fault,) = PIPELINES.faults

    assert fault.reason.values == {"module": "assay_heavy"}


def test_a_package_that_was_refused_is_named_where_people_look(package, release, signed_in):
    package("import no_such_module", "pipelines odd = assay_odd:X")

    [warning] = [found for found in checks.run_checks() if found.id == "evaluation.W001"]
    page = signed_in("noor").get(reverse("run-new"))

    assert "odd (assay.pipelines) is left out. It cannot be loaded" in warning.msg
    assert "No module named &#x27;no_such_module&#x27;" in page.content.decode()


# --- what a metric says of a case -----------------------------------------------------------------

CASE = MeasuredCase("qa", [], [], [], {})


def _raises(case: MeasuredCase) -> float:
    raise ZeroDivisionError("nothing there")


class _Unprintable:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("returned", "value", "reason"),
    [
        (lambda case: 0.25, 0.25, None),
        (lambda case: True, 1.0, None),
        (lambda case: Undefined("Nobody asked."), None, "metric.undefined_says"),
        (lambda case: float("nan"), None, "metric.not_a_score"),
        (lambda case: 1.5, None, "metric.not_a_score"),
        (lambda case: None, None, "metric.not_a_score"),
        (lambda case: Share(1, 2), None, "metric.not_a_score"),
        (lambda case: Share(0, 0), None, "metric.not_a_score"),
        (_raises, None, "metric.raised"),
        (lambda case: 10**400, None, "metric.raised"),
        (lambda case: _Unprintable(), None, "metric.raised"),
        (lambda case: sys.exit(3), None, "metric.raised"),
    ],
)
def test_a_metric_has_a_value_or_a_reason(returned: Any, value: Any, reason: Any) -> None:
    metric = Metric("odd", 1, frozenset({"qa"}), "Odd", "", compute=returned)

    found = values_of([metric], CASE)["odd"]

    assert (found.value, found.reason.code if found.reason else None) == (value, reason)


def test_a_pooled_metric_returns_what_it_counted() -> None:
    def of(share: object) -> Any:
        pooled: Any = {"compute": lambda case: share, "scope": "micro"}
        metric = Metric("odd", 1, frozenset({"qa"}), "Odd", "", **pooled)
        return values_of([metric], CASE)["odd"]

    assert (of(Share(1, 4)).value, of(Share(1, 4)).share) == (0.25, Share(1, 4))
    assert of(Share(0, 0)).reason.code == "metric.nothing_counted"
    assert of(0.5).reason.code == "metric.not_a_score"
    nan = float("nan")
    for refused in ((nan, 1), (1, nan), (5, 0), (1, -3), (0, -1), (nan, 0), (1e300, 1e300)):
        value = of(Share(*refused))
        assert value.reason.code == "metric.not_a_score"
        assert value.share is None  # nothing of it goes into the sums


# --- the example ----------------------------------------------------------------------------------


def test_its_pipeline_runs_and_its_metric_is_measured_like_ours(example, chats):
    run = done(chats, pipeline="shared-words", config={"most": 1})

    row = run.aggregates.get(metric="evidence_jaccard")
    # “Where?” finds one of two messages, “When?” none of one, “Who?” has none in gold.
    assert (row.mean, row.n, row.n_undefined) == (0.25, 6, 3)
    assert row.ci_low is not None
    assert {name: floor["mean"] for name, floor in row.yardsticks["floors"].items()}["nothing"] == 0
    source = {"distribution": "assay-example", "version": "0.1.0"}
    assert run.spec.pipeline_source.model_dump() == source
    assert run.spec.metric_sources["evidence_jaccard"].model_dump() == source


def test_runs_from_before_and_after_it_was_installed_are_compared_by_what_both_have(chats, request):
    before = done(chats, pipeline="nothing")
    request.getfixturevalue("example")
    after = done(chats, pipeline="shared-words")

    assert "evidence_jaccard" not in compared(before, after)

    steering.rescore(before, by=None)
    execution.work(before.pk, uuid4())
    before = Run.objects.with_progress().get(pk=before.pk)

    row = compared(before, after)["evidence_jaccard"]
    assert (row.before, row.after, row.n) == (0.0, 0.25, 6)


def compared(before: Run, after: Run) -> dict[str, Any]:
    rows = comparisons.compare_runs(before, after).rows
    return {row.metric.id: row.comparison for row in rows}


def test_its_pages_stay_when_the_package_is_gone_and_its_threshold_fails(
    example, chats, signed_in, look_again
):
    thresholds.store(chats.project, limits={"evidence_jaccard": 0.1}, max_drop=None, by=None)
    run = done(chats, pipeline="shared-words")
    assert gates.ask(run).passed
    noor = signed_in("noor")
    assert "Evidence overlap" in noor.get(run.get_absolute_url()).content.decode()
    provenance = noor.get(run.get_absolute_url(), {"tab": "provenance"}).content.decode()
    assert "(assay-example 0.1.0)" in provenance

    shutil.rmtree(example / "assay_example-0.1.0.dist-info")
    look_again()

    assert "Evidence overlap" not in noor.get(run.get_absolute_url()).content.decode()
    for address in (reverse("runs"), reverse("run-case", args=[run.pk, run.cases.first().pk])):
        assert noor.get(address).status_code == 200, address
    (check,) = [each for each in gates.ask(run).checks if each["metric"] == "evidence_jaccard"]
    assert (check["passed"], check["reason"]["values"]["reason"]["code"]) == (
        False,
        "gate.metric_not_installed",
    )


def test_a_run_is_not_continued_by_another_version_of_its_package(example, chats, look_again):
    run = launching.launch(chats, queue=False, pipeline="shared-words")
    described = example / "assay_example-0.1.0.dist-info" / "METADATA"
    described.write_text("Name: assay-example\nVersion: 0.2.0\n")
    look_again()

    execution.work(run.pk, uuid4())

    run.refresh_from_db()
    assert run.failure.code == "run.other_version"
    assert (run.failure.values["started"], run.failure.values["version"]) == ("0.1.0", "0.2.0")


@pytest.mark.slow
def test_the_example_is_installed_run_measured_and_compared(
    chats, tmp_path, monkeypatch, look_again
):
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(EXAMPLE, source)
    how = ["--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir", "--quiet"]
    pip = [sys.executable, "-m", "pip", "install", *how, "--target", str(target), str(source)]
    subprocess.run(pip, check=True, capture_output=True)
    monkeypatch.syspath_prepend(target)
    look_again()
    assert faults() == []

    def evaluate(pipeline: str) -> Run:
        call_command("evaluate", gold="chats", pipeline=pipeline, stdout=StringIO())
        return Run.objects.latest("pk")

    floor, run = evaluate("nothing"), evaluate("shared-words")
    out = StringIO()
    call_command("compare", str(floor.pk), str(run.pk), stdout=out)

    (row,) = [line for line in out.getvalue().splitlines() if "evidence_jaccard" in line]
    assert "0.000" in row
    assert "0.250" in row
