"""Runs on questions and arcs: a case for each label, figures, funnel and pages."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from evaluation.management import summary
from evaluation.models import Run
from evaluation.services.run import conclusions, results
from evaluation.services.run.comparisons import compare_runs
from pipelines.types import Case, Output
from tests.evaluation.chat_gold import answer, where_and_when
from tests.evaluation.conftest import fails
from tests.evaluation.figures import aggregate, value
from tests.evaluation.screens import printed, text
from tests.pages import text_of


def test_every_question_is_a_case_that_sees_the_talk_and_no_label(chat, script, finished):
    seen: list[Case] = []

    def look(case: Case) -> Output:
        seen.append(case)
        return answer([1])

    script(look)
    finished(release=chat())

    assert [case.case_id for case in seen] == [f"Chat_1:QA-00{number}" for number in (1, 2, 3)]
    assert [case.question for case in seen] == ["Where?", "When?", "Who?"]
    assert {case.conversation_id for case in seen} == {"Chat_1"}
    assert seen[0].messages is seen[2].messages  # so that an index is built once
    assert "Rome" not in repr(seen)


def test_gold_positions_and_local_ids_meet(chat: Any, script: Any, finished: Any) -> None:
    script(where_and_when)

    run = finished(release=chat())

    assert value(run, "Chat_1:QA-001", "evidence_recall") == 0.5
    assert value(run, "Chat_1:QA-001", "evidence_precision") == 0.5
    assert value(run, "Chat_1:QA-001", "fuzzy_recall") == 1.0
    assert value(run, "Chat_1:QA-001", "mrr") == 1.0
    assert value(run, "Chat_1:QA-002", "evidence_recall") == 0.0


def test_what_cannot_be_scored_is_counted_and_never_a_free_point(chat, script, finished):
    script(where_and_when)

    run = finished(release=chat())

    assert value(run, "Chat_1:QA-003", "evidence_recall") is None
    recall = aggregate(run, "evidence_recall")
    assert (recall.mean, recall.n, recall.n_undefined) == (0.25, 2, 1)
    assert recall.detail["unscorable"] == 1


def test_the_funnel_says_where_messages_were_lost(chat, script, finished, signed_in):
    def lose(case: Case) -> Output:
        held = {"ids": [4, 8, 1], "scores": [3.0, 2.0, 1.0]}
        trace = {"candidates": held, "reranked": {"ids": [4, 8], "scores": [2.0, 1.0]}}
        return answer([4], trace=trace | {"selected": {"ids": [4], "scores": [2.0]}})

    script(lose)
    run = finished(release=chat())

    assert aggregate(run, "evidence_recall").detail["funnel"] == {
        "never_retrieved": 0,
        "lost_in_reranking": 1,
        "not_selected": 1,
        "found": 1,
    }
    page = text_of(signed_in("noor").get(run.cases.get(part="q1").get_absolute_url()))
    assert f"Run {run.pk} as in gold" in page
    assert f"[8] Emi: Message 8 Run {run.pk} missed Not selected (rank 2)" in page


def test_the_funnel_says_what_it_leaves_out_and_why(chat, script, finished, signed_in):
    # of two expected messages
    script(fails(ValueError("no"), at="Where?", otherwise=lambda _: answer([1])))
    run = finished(release=chat())
    page = text(signed_in("noor").get(f"{run.get_absolute_url()}?tab=funnel"))

    assert aggregate(run, "evidence_recall").detail["untraced"] == {
        "failed": {"cases": 1, "messages": 2},
        "no_checkpoints": {"cases": 0, "messages": 0},
    }
    assert "1 case failed, so nobody knows where its evidence was lost" in page
    assert "Not counted here, expected messages: 2." in page
    assert "of its checkpoints" not in page


def test_an_arc_is_scored_by_its_phases(chat: Any, script: Any, finished: Any) -> None:
    phases = [{"title": "All", "evidence": [1, 10]}]
    script(lambda case: answer([1, 10], phases=phases))

    run = finished(release=chat("arc"))

    assert value(run, "Chat_1:ARC-001", "global_recall") == pytest.approx(2 / 3)
    assert value(run, "Chat_1:ARC-001", "phase_coverage") == 1.0
    assert value(run, "Chat_1:ARC-001", "phase_recall") == 0.75
    assert value(run, "Chat_1:ARC-001", "timeline_coverage") == 1.0


def test_a_figure_stands_next_to_its_chance_level_everywhere(chat, script, finished, signed_in):
    """Two of 12 messages returned for a question, one for another: by chance (2/12 + 1/12)/2."""
    script(where_and_when)
    run = finished(release=chat())

    recall = aggregate(run, "evidence_recall")
    assert (recall.mean, recall.chance) == (0.25, pytest.approx(0.125))
    assert recall.over_chance == pytest.approx((0.25 - 0.125) / 0.875)
    assert recall.over_chance == pytest.approx(0.142857, abs=1e-6)
    shown = results.results_document(run)["metrics"]
    assert shown["evidence_recall"]["chance"] == recall.chance
    assert shown["evidence_recall"]["over_chance"] == recall.over_chance
    assert "chance" not in shown["hallucinated_id_rate"]  # a random answer invents nothing
    counted = Run.objects.with_progress().get(pk=run.pk)
    (table,) = map(printed, summary.summary_tables(counted))
    (line,) = (line for line in table.splitlines() if "evidence_recall" in line)
    assert "0.125" in line
    assert "0.143" in line
    client = signed_in("noor")
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Over chance" in page
    assert "0.143" in page
    case = client.get(reverse("run-case", args=[run.pk, run.cases.first().pk])).content.decode()
    assert "by chance 0.167" in case  # two of twelve messages


def test_fuzzy_recall_over_chance_is_that_of_the_whole_run(chat, script, finished):
    """One estimand: the ratio of sums, not the mean of ratios that a single case can ruin."""
    release = chat()
    fail_one = fails(ValueError("no"), at="When?", otherwise=where_and_when)
    for behaviour in (where_and_when, fail_one):
        script(behaviour)
        run = finished(release=release)
        fuzzy = aggregate(run, "fuzzy_recall")

        assert fuzzy.over_chance is not None
        assert aggregate(run, "fuzzy_recall_corrected").mean == pytest.approx(fuzzy.over_chance)
        assert aggregate(run, "fuzzy_recall_chance").mean == pytest.approx(fuzzy.chance)


def test_the_table_of_cases_lists_local_ids(chat: Any, script: Any, finished: Any) -> None:
    script(where_and_when)

    rows = list(csv.DictReader(io.StringIO("".join(results.case_table(finished(release=chat()))))))

    assert (rows[0]["case_id"], rows[0]["expected_ids"], rows[0]["returned_ids"]) == (
        "Chat_1:QA-001",
        "4 8",
        "4 9",
    )
    assert rows[2]["evidence_recall"] == ""


def test_what_is_said_of_a_run_that_leaves_questions_out_counts_them(chat, script, finished):
    release = chat()
    script(where_and_when)
    before = finished(release=release)
    script(lambda case: answer([4] if case.question == "Where?" else []))

    compared = compare_runs(before, finished(release=release))
    precision = next(row for row in compared.rows if row.metric.id == "evidence_precision")

    figures = precision.comparison
    assert (figures.before, figures.after, figures.difference) == (0.5, 1.0, 0.5)
    expected = (
        "Compared on what has a value in both runs (cases: 1): "
        f"run {compared.after.pk} has one in 1, run {before.pk} in 2. "
        "What is left out is in no figure of this comparison."
    )
    assert expected in conclusions.sentence(precision, compared)
    assert "left out" not in conclusions.sentence(compared.primary, compared)
