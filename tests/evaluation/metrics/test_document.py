"""The document score and its four parts, by hand."""

from math import fsum

import pytest

from evaluation.metrics.document import SECTIONS, WEIGHTS, score_document
from evaluation.metrics.items import Counts
from tests.fakes import requirement


def complete(title="Login", **fields):
    return requirement(title, **{"action": "Sign in", "rationale": "Said so", **fields})


def document(*names, body="Something."):
    return {"sections": [{"id": name, "title": name, "body": body} for name in names]}


WHOLE = document(*SECTIONS)


def scored(counts, requirements, written, messages=5):
    return {
        name: found.value
        for name, found in score_document(
            Counts(*counts), requirements, written, message_count=messages
        ).items()
    }


def test_the_parts_and_their_weights():
    """Recall 2/4, precision 2/3, sections 5/11; only the first is complete, and only it is traced:
    source messages are a mandatory field, too."""
    stated = [complete(), complete(source_messages=[]), complete(title="", source_messages=[9])]

    score = scored((2, 4, 3), stated, document(*SECTIONS[:5]))

    parts = (2 / 4, 2 / 3, (5 / 11 + 1 / 3) / 2, 1 / 3)
    assert [score[name] for name in WEIGHTS] == pytest.approx(parts)
    weights = (0.4, 0.3, 0.2, 0.1)
    expected = fsum(weight * part for weight, part in zip(weights, parts, strict=True))
    assert score["rd_score"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("written", "sections"),
    [
        *((document(*SECTIONS, body=empty), 0) for empty in ("", "  \n", None)),
        *((none, 0) for none in (None, {}, {"sections": []})),
        (document("overview", "overview", "weather"), 1 / 11),  # repeated, and no such section
    ],
)
def test_half_of_the_structure_is_the_share_of_sections_that_say_something(written, sections):
    assert scored((1, 1, 1), [complete()], written)["rd_structure"] == (sections + 1) / 2


@pytest.mark.parametrize(
    "missing",
    [
        {"id": ""},
        {"title": " "},
        {"type": None},
        {"actor": ""},
        {"action": ""},
        {"priority": ""},
        {"rationale": "  "},
        {"confidence": None},
        {"source_messages": []},
        {"acceptance_criteria": ["One"]},
        {"acceptance_criteria": ["One", " "]},
        {"acceptance_criteria": None},
    ],
)
def test_a_requirement_that_lacks_something_is_not_complete(missing):
    score = scored((1, 1, 1), [complete(**missing)], WHOLE)

    assert score["rd_structure"] == 0.5


@pytest.mark.parametrize(
    ("sources", "traced"), [([0], 1), ([4], 1), ([5], 0), ([-1], 0), ([0, 9], 0), ([], 0)]
)
def test_traced_means_that_every_cited_message_exists(sources, traced):
    score = scored((1, 1, 1), [complete(source_messages=sources)], WHOLE, messages=5)

    assert score["rd_traceability"] == traced


def test_without_requirements_the_sections_alone_count_and_nothing_is_traced():
    score = scored((0, 2, 0), [], document(*SECTIONS[:4]))

    assert score == {
        "rd_score": pytest.approx(0.2 * 4 / 11),
        "rd_coverage": 0.0,
        "rd_accuracy": 0.0,
        "rd_structure": 4 / 11,
        "rd_traceability": 0.0,
    }


def test_a_correct_nothing_here_lacks_only_its_sections():
    score = scored((0, 0, 0), [], document(*SECTIONS[:4]))

    assert score["rd_traceability"] == score["rd_coverage"] == score["rd_accuracy"] == 1.0
    assert score["rd_structure"] == (4 / 11 + 1) / 2


def test_the_detail_says_what_is_missing():
    stated = [complete(), complete(title="", source_messages=[7])]

    detail = score_document(Counts(1, 1, 2), stated, document(*SECTIONS[1:]), message_count=5)[
        "rd_score"
    ].detail

    assert detail["missing_sections"] == ["overview"]
    assert (detail["incomplete"], detail["untraced"]) == ([1], [1])
