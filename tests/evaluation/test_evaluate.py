from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError

from evaluation.management import foreground
from evaluation.models import CaseRun, Run
from tests.evaluation.chat_gold import content
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import fails, perfect
from tests.evaluation.releases import freeze


def refused(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        evaluate(*arguments)
    assert "\n" not in str(caught.value)
    return caught.value


def test_evaluate_prints_a_summary_and_writes_its_files(release, script, tmp_path):
    script(perfect)
    folder = tmp_path / "out"

    asked = ("--gold", "demo", "--pipeline", "everything", "--repetitions", "2")
    said = evaluate(*asked, "--output-dir", str(folder))

    assert "requirement_f1 ↑" in said
    assert "95 % interval" in said
    document = json.loads((folder / "results.json").read_text())
    assert document["metrics"]["requirement_f1"]["mean"] == 1.0
    assert document["status"] == "finished"
    rows = list(csv.DictReader(StringIO((folder / "cases.csv").read_text())))
    assert [row["case_id"] for row in rows[:3]] == ["case-000", "case-001", "case-002"]
    assert rows[0]["expected_ids"] == rows[0]["returned_ids"] == "0"
    for name in ("predictions.jsonl", "predictions-2.jsonl"):  # each case once in a file
        lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        assert [line["case_id"] for line in lines] == ["case-000", "case-001", "case-002"]
        assert lines[0]["scores"]["requirement_f1"] == 1.0


BAD_SETTINGS = [
    ("a: [", "settings.yaml:1: not YAML"),
    ("- 1", "must hold settings"),
    ("confidense: 1", "Did you mean"),
    ("a: " + "[" * 5000 + "]" * 5000, "settings.yaml is nested too deeply"),
]


def test_a_bad_settings_file_is_refused_in_one_line(release, tmp_path):
    for written, sentence in BAD_SETTINGS:
        settings = tmp_path / "settings.yaml"
        settings.write_text(written)

        error = refused("--gold", "demo", "--pipeline", "everything", "--config", str(settings))

        assert sentence in str(error)
        assert error.returncode == 2
        assert not Run.objects.exists()


BAD_ARGUMENTS = [
    ([], "Name --gold and --pipeline"),
    (["--gold", "demo"], "Name --gold and --pipeline"),
    (["--gold", "nope", "--pipeline", "nothing"], "There is no gold release nope"),
    (["--gold", "demo", "--pipeline", "nope"], "There is no pipeline “nope”"),
    (["--gold", "demo", "--pipeline", "nothing", "--test-only"], "Say why"),
    (["--gold", "demo", "--pipeline", "nothing", "--config", "/no/file"], "/no/file: No such"),
    (["--resume", "77"], "There is no run 77"),
]


def test_bad_arguments_are_refused_in_one_line(release):
    for arguments, sentence in BAD_ARGUMENTS:
        error = refused(*arguments)

        assert sentence in str(error)
        assert error.returncode == 2


def test_a_pipeline_that_fails_everywhere_is_not_measurable(release: Any, script: Any) -> None:
    script(fails(ValueError("no luck")))

    error = refused("--gold", "demo", "--pipeline", "everything")

    assert error.returncode == 2
    assert "failed on every case. ValueError: no luck" in str(error)


def test_a_run_that_cannot_be_carried_out_is_not_measurable(release, monkeypatch):
    def missing(*args: Any, **options: Any) -> None:
        raise ImportError("no such module")

    monkeypatch.setattr("pipelines.registry.build", missing)

    error = refused("--gold", "demo", "--pipeline", "everything")

    assert error.returncode == 2
    assert "cannot be built" in str(error)


def test_a_stopped_run_goes_on_where_it_was(release: Any, script: Any) -> None:
    script(fails(KeyboardInterrupt(), at="case-001"))
    error = refused("--gold", "demo", "--pipeline", "everything")
    run = Run.objects.get()
    assert f"--resume {run.pk}" in str(error)
    assert run.paused
    given_back = CaseRun.objects.filter(run=run, state="queued", attempts=0)
    assert given_back.count() == 2  # the second does not wait for its lease to end

    pipeline = script(perfect)
    said = evaluate("--resume", str(run.pk))

    assert pipeline.seen == ["case-001", "case-002"]
    assert "requirement_f1 ↑" in said


def test_an_output_folder_that_cannot_be_made_is_refused_before_the_run(release, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")

    error = refused(
        "--gold", "demo", "--pipeline", "nothing", "--output-dir", str(in_the_way / "out")
    )

    assert "Not a directory" in str(error)
    assert not Run.objects.exists()


def test_the_mode_is_a_setting_of_the_pipeline_and_arcs_are_found_by_their_project(
    release, project
):
    error = refused("--gold", "demo", "--pipeline", "everything", "--mode", "agent")
    assert "Pipeline “everything” has no setting “mode”" in str(error)
    assert "has no gold of arcs" in str(
        refused("--gold", "demo", "--pipeline", "nothing", "--arc-cases")
    )
    arcs = freeze(project, "arc", name="demo-arc", contents=[content("arc", "dev")])

    evaluate("--gold", "demo", "--pipeline", "nothing", "--arc-cases")

    assert Run.objects.get().release == arcs

    freeze(project, "arc", name="other-arcs", contents=[content("arc", "dev") | {"item_id": "2"}])
    error = refused("--gold", "demo", "--pipeline", "nothing", "--arc-cases")
    assert "several golds of arcs: name one by --gold: demo-arc, other-arcs." in str(error)


def test_as_many_cases_that_wait_for_a_model_are_worked_on_at_a_time_as_the_run_allows(
    launch, settings, monkeypatch
):
    settings.CASE_PROCESSES = True
    run = launch(concurrency=30)
    at_once: list[int] = []

    def work(run_id: int, owner: Any, **named: Any) -> None:
        at_once.append(named["at_once"])
        Run.objects.filter(pk=run_id).update(cancelled=True)

    monkeypatch.setattr(foreground.execution, "work", work)
    monkeypatch.setattr(foreground.runner, "run", lambda job, *given, **named: job(*given, **named))

    foreground.work_until_done(run.pk, lambda: None)
    model = {"id": "m", "name": "m", "base_url": "", "parameters": {}}
    Run.objects.filter(pk=run.pk).update(spec=run.spec.with_values(model=model), cancelled=False)
    foreground.work_until_done(run.pk, lambda: None)

    assert at_once == [1, 30]  # what computes here does so with all processors
