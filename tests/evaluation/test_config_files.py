"""``evaluate --config FILE`` alone: data sets and agents, launched together or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings as django_settings
from django.core.management import CommandError

from evaluation.metrics.event_options import SPECIFICATION
from evaluation.metrics.registry import PROTOCOL_VERSION
from evaluation.models import Aggregate, GateResult, Run
from labeling.models import Look
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import perfect
from tests.evaluation.events import make_events_release
from tests.evaluation.requirement_releases import inferred, make_release

pytestmark = pytest.mark.django_db

EXAMPLE = django_settings.BASE_DIR / "fixtures" / "evaluation" / "demo.yaml"


@pytest.fixture
def config(tmp_path: Path) -> Any:
    def write(content: dict[str, Any] | str) -> str:
        path = tmp_path / "config.yaml"
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as caught:
        evaluate(*arguments)
    assert caught.value.returncode == 2
    assert not Run.objects.exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_changes(**changes: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "datasets": {"extraction": {"gold": "demo"}},
        "agents": {"all": {"pipeline": "everything"}, "none": {"pipeline": "nothing"}},
    }
    return content | changes


def test_the_example_is_a_file_that_runs(release, script, tmp_path, monkeypatch):
    script(perfect)
    monkeypatch.chdir(tmp_path)

    said = evaluate("--config", str(EXAMPLE))

    local, floor = Run.objects.order_by("pk")
    assert (local.pipeline, floor.pipeline) == ("requirements-local", "everything")
    assert local.name == "demo-extraction"
    asked = {"requirement_recall": 0.1, "requirement_precision": 0.1, "ece": 0.9}
    assert local.spec.thresholds == asked
    assert "thresholds" not in floor.spec.as_json()
    assert local.spec.configuration["agent"] == "local"
    assert len(local.spec.configuration["sha256"]) == 64
    assert "requirement_f1 ↑" in said
    assert "requirement_recall ↑" in said
    assert "type_accuracy" not in said  # not among the metrics that the file names
    assert f"Run {local.pk} passed the gate." in said
    for name in ("extraction-local", "extraction-floor"):
        document = json.loads((tmp_path / "reports" / name / "results.json").read_text())
        assert document["configuration"]["version"] == "1.0.0"
        assert (tmp_path / "reports" / name / "cases.csv").exists()


def test_every_data_set_meets_every_agent_that_makes_its_layer(release, config):
    make_release(release.project, "inference", {"inferred_requirements": [inferred("Encrypt")]})
    path = config(
        {
            "datasets": {"said": {"gold": "demo@1", "size": 2}, "implied": {"gold": "inference"}},
            "agents": {
                "floor": {"pipeline": "nothing"},
                "stated": {"pipeline": "everything", "datasets": ["said"]},
            },
        }
    )

    said = evaluate("--config", path, "--concurrency", "3")

    runs = Run.objects.order_by("pk")
    assert {run.concurrency for run in runs} == {3}
    assert [(run.release.name, run.pipeline, run.cases.count()) for run in runs] == [
        ("demo", "nothing", 2),
        ("demo", "everything", 2),
        ("inference", "nothing", 1),
    ]
    assert "implied" in said
    assert "inference_relevance" in said
    assert Aggregate.objects.filter(metric="requirement_f1").count() == 2


WRONG = [
    ({"dataset": {}}, "config.yaml:9: There is no “dataset”. Did you mean “datasets”?"),
    ({"datasets": {"x": {"gold": "nope"}}}, "config.yaml:3: There is no gold release nope"),
    (
        {"datasets": {"x": {"gold": "demo", "splitt": "dev"}}},
        "config.yaml:4: There is no “datasets.x.splitt”. Did you mean “split”?",
    ),
    ({"datasets": {"x": {"split": "dev"}}}, "config.yaml:2: “datasets.x.gold” is missing."),
    ({"datasets": {}}, "config.yaml:1: “datasets”: Dictionary should have at least 1 item"),
    (
        {"datasets": {"x": {"gold": "demo", "split": "tset"}}},
        "config.yaml:4: There is no split “tset”. Known are:",
    ),
    (
        {"datasets": {"x": {"gold": "demo", "split": "test"}}},
        "config.yaml:4: Say why you look at test items",
    ),
    ({"agents": {"x": {"pipeline": "noting"}}}, "config.yaml:6: There is no pipeline “noting”"),
    (
        {"agents": {"x": {"pipeline": "everything", "settings": {"confidense": 1}}}},
        "config.yaml:8: Pipeline “everything” has no setting “confidense”. Did you mean",
    ),
    (
        {"agents": {"x": {"pipeline": "nothing", "budget_tokens": 5}}},
        "config.yaml:7: Pipeline “nothing” with these settings uses no language model",
    ),
    ({"agents": {"x": {"pipeline": "memory"}}}, "makes the layer of no data set here"),
    (
        {"agents": {"x": {"pipeline": "nothing", "datasets": ["extract"]}}},
        "config.yaml:8: There is no data set “extract”. Did you mean “extraction”?",
    ),
    (
        {"agents": {"x": {"pipeline": "nothing", "repetitions": "3"}}},
        "config.yaml:7: “agents.x.repetitions”: Input should be a valid integer",
    ),
    (
        {"metrics": {"extraction": ["requirement_recal"]}},
        "config.yaml:11: “extraction” has no metric “requirement_recal”. Did you mean "
        "“requirement_recall”?",
    ),
    (
        {"metrics": {"extraction": "requirement_recall"}},
        "config.yaml:10: “metrics.extraction” must be a list of metrics of this data set.",
    ),
    (
        {"protocol": {"versio": "1.0"}},
        "config.yaml:10: There is no “protocol.versio”. Did you mean “version”?",
    ),
    (
        {"metrics": {"relaxed": {"match_mode": "span_iou"}}},
        "config.yaml:10: There is no data set “relaxed”",
    ),
    (
        {"thresholds": {"extraction_recall": 0.8}},
        "No data set here has a metric “extraction_recall”. Did you mean “requirement_recall”?",
    ),
    ({"thresholds": {"requirement_f1": 80}}, "“requirement_f1” lies between 0 and 1: 80"),
    (
        {"agents": {"../x": {"pipeline": "nothing"}}},
        "config.yaml:5: “agents.../x”: it names a folder, so it must not hold a slash.",
    ),
    ({"reporting": {"formats": ["jsn"]}}, "“reporting.formats.0”: Input should be 'json', 'csv'"),
    ({"seed": -1}, "config.yaml:9: The seed is a whole number"),
    ({"protocol": {"version": "9.0"}}, "config.yaml:10: “protocol.version” is 9.0, and this"),
    ({"metrics": {"version": 9.0}}, "config.yaml:10: “metrics.version” is 9.0, and this is"),
]


def test_what_is_wrong_is_told_with_its_line_and_nothing_starts(release, config):
    for changes, sentence in WRONG:
        assert sentence in refused("--config", config(with_changes(**changes)))


NO_CONFIGURATION = [
    ("datasets: [", "config.yaml:1: not YAML"),
    ("a: " + "[" * 5000 + "]" * 5000, "config.yaml is nested too deeply."),
    ("- 1", "config.yaml:1: It must hold “datasets” and “agents”."),
    ("", "It must hold “datasets” and “agents”."),
    ("name: a\nname: b\n", "config.yaml:2: “name” is there twice."),
    ("confidence: 1\n", "There is no “confidence”"),
    ("metrics: {version: '2.0'}\nmetrics.version: '2.0'\n", "“metrics.version” is there twice."),
    ('name: a\nversion: "1\\0"\n', "config.yaml:2: holds a character that cannot be stored."),
    ('name: a\n"\\uD800": 1\n', "config.yaml:2: holds a character that cannot be stored."),
]


def test_a_file_that_is_no_configuration_is_refused(release, config):
    for text, sentence in NO_CONFIGURATION:
        assert sentence in refused("--config", config(text))


@pytest.mark.parametrize(
    "text",
    [
        'metrics.version: "2.0"\nmetrics.cot.enabled: true\nmetrics.relaxed.match_mode: span_iou\n',
        "metrics: {cot: {enabled: true}}\nmetrics.relaxed.match_mode: span_iou\n",
    ],
)
def test_settings_may_have_their_section_in_their_name(project, config, text):
    make_events_release(project)

    evaluate("--gold", "news", "--pipeline", "nothing", "--config", config(text))

    run = Run.objects.get()
    assert run.spec.metrics_config["cot"]["enabled"] is True
    assert run.spec.metrics_config["relaxed"]["match_mode"] == "span_iou"


def test_the_specification_of_events_stays_readable_after_a_later_version_of_our_metrics(
    project, config, monkeypatch
):
    later = {"metrics": ("9.0", SPECIFICATION), "protocol": (PROTOCOL_VERSION,)}
    monkeypatch.setattr("evaluation.services.launch.measuring.VERSIONS", later)
    make_events_release(project)
    asked = with_changes(
        datasets={"news": {"gold": "news"}}, agents={"none": {"pipeline": "nothing"}}
    )

    evaluate("--config", config(asked | {"metrics": {"version": "2.0"}}))

    assert Run.objects.count() == 1
    unknown = config(asked | {"metrics": {"version": "2.1"}})
    with pytest.raises(CommandError, match=r"“metrics\.version” is 2\.1, and this is 9\.0"):
        evaluate("--config", unknown)


def test_a_missed_threshold_ends_with_status_1_after_everything_is_written(
    release, config, tmp_path, script
):
    script(lambda case: {"requirements": [], "model": None})
    content = with_changes(
        agents={name: {"pipeline": "requirements-local"} for name in ("one", "two")},
        thresholds={"requirement_recall": 0.5, "requirement_precision": 0},
        reporting={"output_dir": str(tmp_path / "out"), "formats": ["json"]},
    )

    with pytest.raises(
        CommandError, match=r"failed the gate: requirement_recall \(0.000 is"
    ) as end:
        evaluate("--config", config(content))

    assert end.value.returncode == 1
    assert GateResult.objects.count() == 2
    assert [path.name for path in sorted((tmp_path / "out").rglob("*.*"))] == ["results.json"] * 2


def test_one_wrong_agent_stops_all_of_them_and_leaves_no_look_at_the_test_split(
    make_release, config
):
    make_release(3, splits=("test",))
    agents = {"good": {"pipeline": "nothing"}, "bad": {"pipeline": "nothing", "repetitions": 500}}
    datasets = {"final": {"gold": "demo", "split": "test", "reason": "Final figures"}}
    path = config(with_changes(agents=agents, datasets=datasets))

    assert "config.yaml:11: A run is repeated at least once" in refused("--config", path)

    assert not Look.objects.exists()


def test_settings_of_the_metrics_reach_the_data_sets_of_events_only(release, config):
    make_events_release(release.project)
    content = {
        "datasets": {"said": {"gold": "demo"}, "news": {"gold": "news"}},
        "agents": {"floor": {"pipeline": "nothing"}},
        "metrics": {"news": ["strict_f1"], "cot.enabled": True},
    }

    evaluate("--config", config(content))

    said, news = Run.objects.order_by("pk")
    assert said.spec.metrics_config is None
    assert news.spec.metrics_config["cot"]["enabled"] is True


BESIDE_A_FILE = [
    (["--gold", "demo", "--pipeline", "nothing"], "give --config alone"),
    (["--repetitions", "2"], "Leave out --repetitions"),
    (["--seed", "2"], "Leave out --seed"),
    (["--test-only"], "Leave out --*-only"),
]


def test_the_file_says_it_all(release, config):
    for arguments, sentence in BESIDE_A_FILE:
        assert sentence in refused("--config", config(with_changes()), *arguments)
