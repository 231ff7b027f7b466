"""``events-model`` over a real socket, from launch to figures, with a thought and without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.management import summary
from evaluation.models import Run
from evaluation.services.run import results
from labeling.models import Project
from tests.evaluation.commands import said_by
from tests.evaluation.events import GOLD, TEXTS, event, make_events_release
from tests.evaluation.screens import printed
from tests.llm_server import LanguageServer

COT = ("cot_type_consistency", "cot_argument_consistency", "cot_faithfulness", "cot_coverage_rate")


def reads(body: dict[str, Any]) -> str:
    """What a model would say: right on the Chinese text, a role too few on the English one."""
    said = json.dumps(body["messages"], ensure_ascii=False)
    name = next(name for name, text in TEXTS.items() if text in said)
    result = [event(kind, **roles) for kind, roles in GOLD[name]]
    if name == "doc-2":
        result[0]["arguments"].pop()
    answer = json.dumps(result, ensure_ascii=False)
    return thought(result, name) + answer if "<thought>" in said else answer


def thought(found: list[dict[str, Any]], name: str) -> str:
    if name == "doc-3":
        return ""  # this one forgets to think
    lines = [f"{argument['role']} = {argument['argument']}" for argument in found[0]["arguments"]]
    kind = found[0]["event_type"] if name == "doc-1" else "质押"  # and this one about another type
    return f"<thought>{kind}\n" + "\n".join(lines) + "</thought>\n"


@pytest.fixture
def measure(project: Project, finished: Any, server: LanguageServer) -> Any:
    server.default = reads
    release = make_events_release(project)

    def run(*, thought: bool, **cot: bool) -> Run:
        return finished(
            release=release,
            pipeline="events-model",
            config={"thought": thought},
            metrics={"cot": {"enabled": True, **cot}},
        )

    return run


def means(run: Run) -> dict[str, float | None]:
    return {row.metric: row.mean for row in results.aggregates_of(run)}


def tables(run: Run) -> list[str]:
    counted = Run.objects.with_progress().get(pk=run.pk)
    return [printed(table) for table in summary.summary_tables(counted)]


def coverage(run: Run) -> dict[str, int]:
    return next(
        row.detail for row in results.aggregates_of(run) if row.metric == "cot_coverage_rate"
    )


def test_without_a_thought_only_the_answer_is_measured(measure: Any, server: Any) -> None:
    run = measure(thought=False, require_thought_block=True)

    result = means(run)
    assert run.status == "finished"
    assert result["strict_precision"] == 1.0
    assert result["strict_recall"] == 3 / 4  # two of 质押, one of two of Sale
    assert (
        result["type_f1"] == result["parse_raw_success"] == result["schema_compliance_rate"] == 1.0
    )
    assert result["hallucination_rate"] == 0.0
    assert [result[name] for name in COT] == [None, None, None, 0.0]
    assert coverage(run) == {"cot_checked": 0, "cot_skipped": 3, "cot_parse_fail": 0}
    assert {case.output["prompt"] for case in run.cases.all()} == {"extract.v1"}
    assert len(server.requests) == 3


def test_a_thought_is_held_against_the_answer_and_never_in_the_main_table(measure, signed_in):
    run = measure(thought=True, require_thought_block=True)

    result = means(run)
    assert (result["strict_recall"], result["parse_raw_success"]) == (3 / 4, 1.0)
    # doc-1 agrees; doc-2 names a type that it does not report; doc-3 has no thought
    assert coverage(run) == {"cot_checked": 2, "cot_skipped": 1, "cot_parse_fail": 0}
    assert result["cot_coverage_rate"] == pytest.approx(2 / 3)
    assert (result["cot_type_consistency"], result["cot_argument_consistency"]) == (0.5, 1.0)
    assert result["cot_faithfulness"] == 0.5
    page = signed_in("noor").get(run.get_absolute_url()).content.decode()
    main, _, diagnostics = page.partition('id="diagnostics"')
    assert "Thought: faithfulness" not in main
    assert "Thought: faithfulness" in diagnostics
    table, apart = tables(run)
    assert "cot_" not in table
    assert "cot_faithfulness" in apart


def test_diagnostics_that_are_off_are_in_no_table_of_the_command(measure: Any) -> None:
    run = measure(thought=True, enabled=False)

    (table,) = tables(run)

    assert "strict_f1" in table
    assert "cot_" not in table
    assert "Thought: faithfulness" not in said_by("report", run.pk, format="html")
    assert "cot_" not in compared(run, measure(thought=True, enabled=False))


def compared(before: Run, after: Run) -> str:
    return said_by("compare", before.pk, after.pk)
