"""Pipelines are found by name and refuse what they do not know, in words."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import prompting
from pipelines.baselines import Everything
from pipelines.errors import InvalidSetting, UnknownPipeline, UnknownSetting, fact
from pipelines.registry import PIPELINES, build
from pipelines.types import Case, Message, Preparing
from tests.fakes import Scripted

KEYS = {
    "extraction": "requirements",
    "inference": "inferred_requirements",
    "validation": "issues",
    "end_to_end": "requirements",
    "qa": "evidence",
    "arc": "phases",
    "events": "events",
}
every_pipeline = pytest.mark.parametrize("name", sorted(PIPELINES))
WITH_MODEL = {name for name, entry in PIPELINES.items() if entry.needs_model}
SILENCE = Case(case_id="silence", domain="shop", messages=(), question="Who was there?")


@every_pipeline
def test_a_pipeline_is_what_its_entry_says_before_it_is_built(name: str) -> None:
    entry = PIPELINES[name]
    pipeline = build(name, {}, model=Scripted("[]") if entry.needs_model else None)

    assert (pipeline.name, bool(pipeline.version)) == (name, True)
    assert pipeline.config == {each["name"]: each["default"] for each in entry.settings}
    assert isinstance(pipeline, Preparing) == entry.prepares
    assert entry.title
    assert entry.summary
    assert set(entry.layers) <= set(KEYS)
    assert all(each["help"] for each in entry.settings)


@every_pipeline
def test_the_version_of_a_pipeline_with_prompts_tells_how_they_are_filled(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = build(name, {}, model=Scripted("[]") if PIPELINES[name].needs_model else None)
    before, another = pipeline.version, tmp_path / "prompting.py"
    another.write_text("filled in another way", encoding="utf-8")

    monkeypatch.setattr(prompting, "READING", (another,))

    assert (pipeline.version != before) == (PIPELINES[name].prompts is not None)


@pytest.mark.parametrize("name", sorted(set(PIPELINES) - WITH_MODEL))
def test_an_output_is_json_and_says_that_no_model_was_used(name: str) -> None:
    pipeline = build(name, {})

    for layer in PIPELINES[name].layers:
        output = pipeline.run(replace(SILENCE, task=layer))

        assert json.loads(json.dumps(output)) == output
        assert output["model"] is None
        assert output[KEYS[layer]] == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("requirement-local", "requirements-local"), ("evrything", "everything")],
)
def test_a_wrong_name_is_answered_with_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(UnknownPipeline, match=r"pipeline\.unknown") as refused:
        build(name, {})

    assert refused.value.values == {"name": name, "hint": fact("hint.nearest", name=nearest)}


def test_a_wrong_setting_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownSetting, match=r"pipeline\.unknown_setting") as refused:
        build("requirements-local", {"min_kep": 0.5})

    assert refused.value.values["setting"] == "min_kep"
    assert refused.value.values["hint"] == fact("hint.nearest", name="min_keep")


def test_a_value_out_of_range_is_refused_with_the_name_of_the_setting() -> None:
    with pytest.raises(InvalidSetting, match=r"pipeline\.invalid_setting") as refused:
        build("everything", {"confidence": 1.5})

    assert refused.value.values["pipeline"] == "everything"
    assert refused.value.values["setting"] == "confidence"


def test_listing_pipelines_loads_no_heavy_library() -> None:
    code = (
        "import sys; from pipelines.registry import PIPELINES;"
        "settings = [entry.settings for entry in PIPELINES.values()];"
        "print([name for name in ('torch', 'sentence_transformers', 'sklearn', 'scipy')"
        " if name in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def test_everything_takes_each_spoken_message_and_no_empty_one() -> None:
    said = ("We need a list of all open orders please", "  ", "Yes")
    messages = tuple(Message(at, "user", "", text) for at, text in enumerate(said))

    output = build("everything", {"confidence": 0.25}).run(Case("a", "shop", messages))

    result = output["requirements"]
    assert [one["source_messages"] for one in result] == [[0], [2]]
    assert [one["id"] for one in result] == ["REQ-001", "REQ-002"]
    assert result[0]["title"] == "We need a list of all"
    assert result[0]["action"] == said[0]
    assert {one["confidence"] for one in result} == {0.25}
    assert Everything.version == "3"


def test_everything_infers_every_kind_and_finds_every_flaw_of_what_is_given() -> None:
    given = ({"uid": "r1", "title": "Login"}, {"uid": "r2", "title": "Search"})
    case = replace(SILENCE, requirements=given)
    pipeline = build("everything", {})

    inferred = pipeline.run(replace(case, task="inference"))["inferred_requirements"]
    issues = pipeline.run(replace(case, task="validation"))["issues"]

    assert [one["triggered_by"] for one in inferred] == [["r1"]] * 5 + [["r2"]] * 5
    assert len({one["inference_type"] for one in inferred}) == 5
    assert [issue["requirement"] for issue in issues] == ["r1"] * 6 + ["r2"] * 6
    assert len({issue["issue_type"] for issue in issues}) == 6
