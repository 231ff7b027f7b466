"""What scoring and pages could not rely on is refused in words before it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.adapters import checked_output
from evaluation.layers import MalformedOutput
from labeling.words import in_english
from tests.evaluation.requirement_releases import inferred, issue

SPAN = {"start": 3, "end": 1, "text": "x"}


@pytest.mark.parametrize(
    ("layer", "output", "problem"),
    [
        ("extraction", None, "no JSON object"),
        ("extraction", {}, "no list “requirements”"),
        ("extraction", {"requirements": [3]}, "requirements.0 is not a JSON object"),
        ("extraction", {"requirements": [{"title": 5}]}, "requirements.0.title is not text"),
        ("extraction", {"requirements": [{"confidence": 2}]}, "between 0 and 1"),
        ("extraction", {"requirements": [{"confidence": float("nan")}]}, "not a JSON value"),
        ("extraction", {"requirements": [{"source_messages": [9]}]}, "names message 9"),
        ("extraction", {"requirements": [{"source_messages": "0"}]}, "list of message positions"),
        ("extraction", {"requirements": [{"acceptance_criteria": "x"}]}, "not a list of texts"),
        ("extraction", {"requirements": [], "raw": 10**5000}, "a number of more than 1000 bits"),
        (
            "inference",
            {"inferred_requirements": [inferred("A") | {"source_messages": [[1]]}]},
            "is not a list of whole numbers",
        ),
        ("validation", {"issues": "none"}, "no list “issues”"),
        ("validation", {"issues": [1]}, "issues.0 is not a JSON object"),
        ("validation", {"issues": [issue(severity=3)]}, "severity is not text"),
        ("validation", {"issues": [issue(span=SPAN)]}, "span"),
        ("validation", {"issues": [issue(span={"start": 0, "end": 1})]}, "span"),
        ("validation", {"issues": [issue() | {"source_messages": [[1]]}]}, "whole numbers"),
        ("end_to_end", {"requirements": None}, "no list “requirements”"),
        ("end_to_end", {"requirements": [], "document": "text"}, "document"),
        ("end_to_end", {"requirements": [], "document": {"sections": "none"}}, "sections"),
        ("end_to_end", {"requirements": [], "document": {"sections": [{"title": "x"}]}}, "id"),
        (
            "end_to_end",
            {"requirements": [], "document": {"sections": [{"id": "overview", "body": 3}]}},
            "body is not text",
        ),
        ("end_to_end", {"requirements": [], "issues": "none"}, "issues"),
        (
            "end_to_end",
            {"requirements": [], "inferred_requirements": [{"triggered_by": "REQ-001"}]},
            "triggered_by is not a list of texts",
        ),
        ("qa", {"evidence": "4"}, "evidence is not a list of whole numbers"),
        ("qa", {"evidence": [True]}, "evidence is not a list of whole numbers"),
        ("qa", {"evidence": [1], "ranked": [1.5]}, "ranked is not a list"),
        ("qa", {"evidence": [1], "phases": [3]}, "phases.0 is not a JSON object"),
        ("qa", {"evidence": [], "phases": [{"evidence": [4]}]}, "phases.0 names 4, which “evid"),
        ("qa", {"evidence": [1], "trace": {"candidates": {"ids": "1"}}}, "candidates.ids is not a"),
        ("qa", {"evidence": [1], "trace": [1]}, "trace is not a JSON object"),
        ("qa", {"evidence": [1], "trace": {"shown": [[1]]}}, "trace.shown is not a list"),
    ],
)
def test_an_output_that_cannot_be_scored_is_refused(layer: str, output: Any, problem: str) -> None:
    with pytest.raises(MalformedOutput) as refused:
        checked_output(output, layer, message_count=4)

    assert problem in in_english(refused.value.fact)


def test_no_phases_are_none() -> None:
    assert checked_output({"evidence": [1], "phases": {}}, "qa", message_count=4)["phases"] == {}
