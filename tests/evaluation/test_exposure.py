"""Whether the weights had read a conversation before: decided by its words, and shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.launch import carrying
from labeling.models import GoldRelease, Project
from pipelines import registry, trained_on
from tests import talks
from tests.evaluation.conftest import _content, fails, perfect
from tests.evaluation.releases import freeze, said
from tests.evaluation.test_gold_changes import corrected

CHAT, READ = talks.talk(1, messages=120), talks.talk(2, messages=60)
CASES = {
    "case-000": (talks.talk(3, messages=30), "unseen"),
    "case-001": (READ[:20], "seen"),
    **{
        f"case-{number:03d}": (copy, "left_out")
        for number, copy in enumerate(talks.copies(CHAT).values(), start=2)
    },
}
LEFT_OUT = len(CASES) - 2


@pytest.fixture
def release(project: Project) -> GoldRelease:
    contents = []
    for number, (lines, _) in enumerate(CASES.values()):
        who = [line.speaker for line in lines]
        messages = said([line.text for line in lines], roles=("user",), speakers=who)
        contents.append(_content(number, "dev") | {"conversation": messages})
    return freeze(project, "extraction", name="copies", contents=contents)


@pytest.fixture(autouse=True)
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One chat that can be left out, and one that cannot."""
    with_others, alone = tmp_path / "with_others.json", tmp_path / "alone.json"
    trained_on.write(with_others, {"chat": talks.texts(CHAT)}, leaves_out=True)
    trained_on.write(alone, {"read": talks.texts(READ)}, leaves_out=False)
    entry = registry.PIPELINES["everything"]
    taught = replace(entry, trained_on=lambda config: (with_others, alone))
    monkeypatch.setitem(registry.PIPELINES, "everything", taught)


@pytest.fixture
def run(finished: Callable[..., Run], script: Any) -> Run:
    script(perfect)
    return finished()


def test_each_case_is_seen_left_out_or_unseen_by_its_words(run: Run) -> None:
    stored = dict(run.cases.values_list("item__item_id", "exposure"))

    assert stored == {name: exposure for name, (_, exposure) in CASES.items()}


def test_a_case_that_fails_has_it_too_and_a_pipeline_without_weights_has_seen_nothing(
    finished, script
):
    script(fails(ValueError("no luck")))
    failed = finished()
    nothing = finished(pipeline="nothing")

    assert set(failed.cases.values_list("state", "exposure")) == {
        ("failed", "unseen"), ("failed", "seen"), ("failed", "left_out"),
    }  # fmt: skip
    assert set(nothing.cases.values_list("exposure", flat=True)) == {"unseen"}


def test_pages_files_and_api_say_it(run: Run, signed_in: Any, finished: Any) -> None:
    noor = signed_in("noor")
    warning = f"1 of {len(CASES)} cases"
    seen = run.cases.get(exposure="seen")
    other = finished(pipeline="nothing")

    page = noor.get(f"{run.get_absolute_url()}?tab=provenance").content.decode()
    case = noor.get(reverse("run-case", args=[run.pk, seen.pk])).content.decode()
    compared = noor.get(
        reverse("run-compare"), {"baseline": other.pk, "run": run.pk}
    ).content.decode()
    document = noor.get(reverse("run-report", args=[run.pk, "json"])).json()
    table = noor.get(reverse("run-report", args=[run.pk, "csv"])).getvalue().decode()
    lines = noor.get(reverse("experiment-file")).getvalue().decode().splitlines()
    (log,) = [row for row in csv.DictReader(lines) if row["experiment_id"] == str(run.pk)]
    api = noor.get(f"/api/runs/{run.pk}/").json()
    api_cases = noor.get(f"/api/runs/{run.pk}/cases/").json()["results"]

    counts = {"seen": 1, "left_out": LEFT_OUT, "unseen": 1, "unknown": 0}
    assert f"{warning} are about conversations that the pipeline was trained on" in page
    assert f"1 cases seen, {LEFT_OUT} left out, 1 unseen" in page
    assert "seen in training" in case
    assert f"{warning} of run {run.pk} are about conversations" in compared
    assert f"of run {other.pk} are about" not in compared
    assert document["exposure"] == api["exposure"] == counts
    assert [row["exposure"] for row in document["cases"]] == [each for _, each in CASES.values()]
    assert [row["exposure"] for row in api_cases] == [each for _, each in CASES.values()]
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["exposure"] for row in rows] == [each for _, each in CASES.values()]
    assert [log[name] for name in ("seen", "left_out", "unseen")] == ["1", str(LEFT_OUT), "1"]


def test_outputs_that_are_carried_to_other_gold_keep_it(run: Run, people: Any) -> None:
    newer = corrected(run.release, lambda content: content["gold"]["requirements"].pop())

    carried = carrying.carry(run, newer, by=people["noor"])

    assert dict(carried.cases.values_list("item__item_id", "exposure")) == dict(
        run.cases.values_list("item__item_id", "exposure")
    )
