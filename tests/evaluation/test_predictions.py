"""Predictions made elsewhere: taken all or none, scored like those of a pipeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError

from evaluation.models import Answer, CaseRun, Run, Score
from evaluation.services.launch import predictions
from evaluation.services.run import execution, results
from labeling.domain.facts import Fact
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import requirement
from tests.evaluation.events import RIGHT, event, make_events_release, prediction
from tests.evaluation.figures import mean

DEEP = '{"case_id": "doc-1", "output": {"events": ' + "[" * 700 + "]" * 700 + "}}"


def measure(path: Path, *arguments: str, gold: str = "news") -> Run:
    evaluate("--gold", gold, "--predictions", str(path), *arguments)
    return Run.objects.with_progress().order_by("-pk")[0]


def refused(path: Path, *arguments: str, gold: str = "news") -> CommandError:
    with pytest.raises(CommandError) as caught:
        measure(path, *arguments, gold=gold)
    assert not Run.objects.exists()
    assert caught.value.returncode == 2
    return caught.value


def detail(run: Run, metric: str) -> dict[str, Any]:
    return next(row.detail for row in results.aggregates_of(run) if row.metric == metric)


def found(case_id: str, number: int) -> dict[str, Any]:
    return {"case_id": case_id, "output": {"requirements": [requirement(number)]}}


# --- figures ------------------------------------------------------------------------------------


def test_figures_are_pooled_over_the_samples(news, write):
    half = [
        prediction("doc-1", event("质押", 质押方="张三", 质权方="中信")),
        prediction("doc-2", event("Sale", Buyer="Globex")),
        prediction("doc-3", event("Sale", Buyer="Nobody")),
    ]

    run = measure(write(*half))

    # strict: hits 1 + 1 + 0 of 2 + 1 + 1 predicted and 2 + 2 + 0 gold; relaxed: 中信 in 中信证券
    assert mean(run, "strict_precision") == 2 / 4
    assert mean(run, "strict_recall") == 2 / 4
    assert mean(run, "relaxed_f1") == 2 * 3 / (4 + 4)
    assert detail(run, "strict_f1")["counts"] == {"hits": 2, "predicted": 4, "gold": 4}
    assert mean(run, "type_precision") == 2 / 3
    # only "Nobody" stands in no text: 1 of 3 samples, 1 of 4 arguments
    assert mean(run, "hallucination_rate") == pytest.approx(1 / 3)
    assert mean(run, "hallucination_entity_rate") == 1 / 4


def test_a_missing_prediction_is_a_failed_case(news, write):
    run = measure(write(*RIGHT[:2], prediction("doc-9"), prediction("doc-8")))

    # doc-1 and doc-2 are right: 2 · 4 of 8; doc-3, whose gold is empty, weighs 1: 8 / (8 + 1)
    assert mean(run, "strict_f1") == pytest.approx(8 / 9)
    assert run.spec.predictions.missing == ["doc-3"]
    assert run.spec.predictions.extra == ["doc-9", "doc-8"]
    lost = CaseRun.objects.get(run=run, state="failed")
    assert lost.error == Fact("case.no_prediction")


def test_what_is_switched_off_has_no_figure_of_a_failed_case_either(news, write):
    run = measure(write(*RIGHT[:2]))

    row = next(one for one in results.aggregates_of(run) if one.metric == "cot_faithfulness")
    assert (row.mean, row.n, row.n_undefined) == (None, 0, 3)
    assert row.reason == Fact("metric.cot_off")


def test_a_raw_reply_is_parsed_and_its_repair_counted(news, write):
    run = measure(
        write(
            {"case_id": "doc-1", "output": {"raw": '[{"event_type": "质押", "arguments": [],}]'}},
            {"case_id": "doc-2", "output": {"raw": "I see no event.", "events": RIGHT[1]}},
            {"case_id": "doc-3", "output": {"raw": "[]"}},
        )
    )

    assert mean(run, "parse_raw_success") == pytest.approx(1 / 3)
    assert mean(run, "parse_repair_success") == pytest.approx(1 / 3)
    assert mean(run, "parse_errors") == mean(run, "parse_extraction_failures")
    assert detail(run, "parse_raw_success")["repair_steps"] == {"trailing_commas": 1}
    assert detail(run, "hallucination_rate") == {"left_out": 1}
    # doc-2 did not parse, so it complies with nothing; of the two that parsed both do
    assert mean(run, "schema_compliance_rate") == pytest.approx(2 / 3)
    assert detail(run, "schema_compliance_rate")["among_parsed"] == 1.0
    assert mean(run, "strict_recall") == 0.0


@pytest.mark.parametrize("sign", ["\x00", "\ud800"])
def test_what_no_database_can_store_in_a_reply_costs_nobody_the_run(news, write, sign):
    raw = json.dumps([event(f"Sale{sign}", Buyer=f"a{sign}")])  # escaped: the line itself is fine

    run = measure(write({"case_id": "doc-1", "output": {"raw": raw}}))

    details = [score.detail for case in run.cases.all() for score in case.scores.all()]
    assert [detail["absent"] for detail in details if "absent" in detail] == [["a\ufffd"]]
    violation = Fact("violation.unknown_type", type="Sale\ufffd")
    assert {"violation": violation.as_json()} in details


WRONG_SETTINGS = [
    ("metrics:\n  relaxed:\n    match_mod: x\n", "Did you mean “metrics.relaxed.match_mode”"),
    ("metrics:\n  schema:\n    mode: loose\n", "“metrics.schema.mode” must be one of syntax_only"),
    ("metrics:\n  cot:\n    enabled: 1\n", "“metrics.cot.enabled” must be true or false"),
    ("metrics: 3\n", "must hold its own settings"),
    ("confidence: 1\n", "no pipeline is run"),
]


def test_a_wrong_setting_is_refused_with_what_is_right(news, write, tmp_path):
    for text, sentence in WRONG_SETTINGS:
        settings = tmp_path / "settings.yaml"
        settings.write_text(text)

        assert sentence in str(refused(write(*RIGHT), "--config", str(settings)))


# --- other layers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "beside",
    [
        {"steps": 5},
        {"document": {"sections": [1]}},
        {"document": {"sections": {"id": "overview"}}},
        {"document": {"sections": [{"id": "overview", "body": 5}]}},
    ],
)
def test_what_stands_beside_the_labels_breaks_no_page(release, write, signed_in, beside):
    given = found("case-000", 0)
    run = measure(write({**given, "output": given["output"] | beside}), gold="demo")
    case = CaseRun.objects.get(run=run, item__item_id="case-000")

    assert signed_in("noor").get(case.get_absolute_url()).status_code == 200


# --- what is refused ----------------------------------------------------------------------------


BAD_LINES = [
    (["{"], "line 1: not valid JSON"),
    ([], "the file is empty"),
    ([RIGHT[0], []], "line 2: A prediction is an object"),
    ([{"output": {}}], "line 1: “case_id” is missing"),
    ([RIGHT[0], RIGHT[1], RIGHT[0]], "line 3: doc-1 was predicted before, in line 1"),
    ([{"case_id": "doc-1"}], "line 1: doc-1 has no “output” object"),
    ([{"case_id": "doc-1", "output": {"events": 3}}], "line 1: The output has no list"),
    ([{"case_id": "doc-1", "output": {"raw": 3}}], "line 1: raw is not text"),
    ([DEEP], "line 1: The output is nested too deeply"),
    ([prediction("doc-9")], "No case_id of the file is in news@1; one that is: doc-1."),
]


def test_one_bad_line_refuses_the_whole_file(news, write):
    for lines, sentence in BAD_LINES:
        assert sentence in str(refused(write(*lines)))


def test_a_file_of_other_gold_is_not_written_down(news, write, monkeypatch):
    monkeypatch.setattr(predictions, "MAX_EXTRA", 2)
    others = [prediction(f"other-{number}") for number in range(3)]

    said = str(refused(write(RIGHT[0], *others)))

    assert "more than 2 predictions of cases that are not measured" in said


# --- pipelines of events ------------------------------------------------------------------------


def test_a_pipeline_gets_the_event_schema_of_the_run(news, launch):
    run = launch(release=news, pipeline="events-local")
    news.project.event_schema = {"Sale": ["Buyer"]}
    news.project.save()

    execution.work(run.pk, uuid4())

    assert Run.objects.with_progress().get(pk=run.pk).status == "finished"
    assert mean(run, "type_f1") == 1.0
    assert mean(run, "parse_errors") is None  # it returns events, so nothing is parsed


def test_a_project_without_a_schema_is_measured_by_that_of_its_gold(project, write):
    make_events_release(project, schema={})

    run = measure(write(*RIGHT))

    assert run.spec.event_schema == {"Sale": ["Buyer", "Seller"], "质押": ["质押方", "质权方"]}


def test_a_case_without_a_prediction_is_no_evidence_of_a_ranking_or_an_answer(chat, write):
    """Only what some case returned is asked of those that failed."""
    output = {"evidence": [4, 8], "answer": "In Rome"}

    run = measure(write({"case_id": "Chat_1:QA-001", "output": output}), gold=str(chat()))

    rows = {row.metric: row for row in results.aggregates_of(run)}
    assert rows["answer_token_f1"].n_failed > 0
    assert rows["faithfulness"].mean is None
    assert rows["evidence_recall"].n_failed == 1
    assert rows["mrr"].mean is None
    assert rows["recall_at_10"].mean is None
    assert rows["mrr"].reason is not None


def test_answers_that_were_written_elsewhere_are_measured(chat, write):
    release = chat()
    lines = [
        {"case_id": "Chat_1:QA-001", "output": {"evidence": [4, 8], "answer": "In Rome"}},
        {"case_id": "Chat_1:QA-002", "output": {"evidence": [1], "answer": " "}},
        {"case_id": "Chat_1:QA-003", "output": {"evidence": []}},
    ]

    run = measure(write(*lines), gold=str(release))

    answer = Answer.objects.get(case__run=run)
    assert (answer.text, answer.state, answer.message_ids) == ("In Rome", "done", [4, 8])
    values = {
        score.case.part_id: score.value
        for score in Score.objects.filter(case__run=run, metric="answer_token_f1")
    }
    assert values == {"QA-001": pytest.approx(2 / 3), "QA-002": 0, "QA-003": 0}
    judged = {metric: mean(run, metric) for metric in ("faithfulness", "relevance", "correctness")}
    assert set(judged.values()) == {None}
    (line, *_rest) = (json.loads(line) for line in results.prediction_lines(run))
    assert line["output"]["answer"] == "In Rome"
