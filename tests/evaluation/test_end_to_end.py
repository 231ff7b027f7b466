"""Runs from a conversation to its document: the figures of its parts, and its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Run
from labeling.models import Project
from pipelines.types import Output
from tests.evaluation.conftest import requirement
from tests.evaluation.figures import mean
from tests.evaluation.requirement_releases import make_release
from tests.evaluation.screens import page


def document(*, body: str = "Something") -> dict[str, Any]:
    return {"title": "RD", "sections": [{"id": "overview", "title": "Overview", "body": body}]}


@pytest.fixture
def written(project: Project, script: Any, finished: Any) -> Callable[..., Run]:
    def make(output: Output, gold: list[Any] | None = None) -> Run:
        script(lambda case: output)
        content = {"requirements": [requirement(1)] if gold is None else gold}
        return finished(release=make_release(project, "end_to_end", content))

    return make


def test_a_document_is_scored_by_its_four_parts(written: Callable[..., Run]) -> None:
    stated = [requirement(1), requirement(9, title="Dance", action="Dance", source_messages=[7])]

    run = written({"requirements": stated, "document": document()})

    assert mean(run, "rd_coverage") == 1.0
    assert mean(run, "rd_accuracy") == 0.5
    assert mean(run, "rd_structure") == pytest.approx((1 / 11 + 1) / 2)
    assert mean(run, "rd_traceability") == 0.5
    expected = 0.4 * 1 + 0.3 * 0.5 + 0.2 * (1 / 11 + 1) / 2 + 0.1 * 0.5
    assert mean(run, "rd_score") == pytest.approx(expected)


def test_the_document_is_shown_beside_the_talk_and_nothing_in_it_runs(written, signed_in):
    body = "See [0](#message-0) <script>alert(1)</script> [x](javascript:alert(1))"
    warned = document(body=body) | {"notice": "Most are unusable"}
    run = written({"requirements": [requirement(1)], "document": warned})
    client = signed_in("noor")

    shown = page(client, run, "run-case-document")

    assert 'href="#message-0"' in shown
    assert 'id="message-0"' in shown
    assert "<script>alert" not in shown
    assert 'href="javascript' not in shown
    assert "Required sections that are missing" in shown
    assert "Most are unusable" in shown
    assert "Most are unusable" in page(client, run)
    assert reverse("run-case-document", args=[run.pk, run.cases.get().pk]) in page(client, run)


def test_a_number_leads_to_the_heading_of_its_requirement_and_no_other_heading_has_an_address(
    written, signed_in
):
    body = "# main\n\n### REQ-001\n\nfollows from [REQ-001](#req-001)\n\n### Req 2"
    run = written({"requirements": [requirement(1)], "document": document(body=body)})

    shown = page(signed_in("noor"), run, "run-case-document")

    assert '<h3 id="req-001">REQ-001</h3>' in shown
    assert '<a href="#req-001">REQ-001</a>' in shown
    assert "<h3>main</h3>" in shown
    assert "<h3>Req 2</h3>" in shown
