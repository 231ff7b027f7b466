"""Texts that were written to stall: twice as much may take about twice as long, not four times."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from evaluation.metrics.events import parse_reply
from evaluation.services.hooks import personal_data
from labeling.core.views.markdown import render_markdown
from labeling.gold.rules.lint import Finding, LintItem, item_findings
from pipelines.parsing import Unparsable, parse_json
from pipelines.registry import build
from pipelines.requirements.extraction import clauses, discourse
from pipelines.requirements.extraction.actors import people, person
from pipelines.requirements.text import MAX_SENTENCE, sentences
from pipelines.requirements.validation import pii
from pipelines.types import Case, Message
from tests.fakes import WordOverlap, requirement

N = 2_500  # characters
MOST = 3.0
QUICK = 0.05  # seconds: below, a ratio says nothing
TRIES = 5
UNITS = (
    *(" ", "\n", "a", "1", "{", '[{"', "`", "*a ", "> ", "  - ", "|a"),
    *("\u0301", "1 ", "1,", "1-", "a.1", "a@", "A. ", "a\n", "if ", "公司"),
)


def message(text: str, index: int = 0) -> Message:
    return Message(index, "client", "Ana", text)


def of_reply(text: str) -> None:
    parse_reply('[{"a": ' + text)
    try:
        parse_json('[{"a": ' + text + "}]", {"properties": {"a": {}}})
    except Unparsable:
        return


def by_events(text: str) -> None:
    schema = {"Sale": ["seller", "money"]}
    build("events-local", {}).run(Case("c", "d", (message(text),), event_schema=schema))


def without_cache(text: str) -> None:
    render_markdown.__wrapped__(text)


def by_agent(task: str) -> Callable[[str], object]:
    """The whole of a step: its text is said in the conversation and is in every field."""
    pipeline = build("requirements-agent", {}, encoder=WordOverlap())

    def run(text: str) -> object:
        fields = dict.fromkeys(("action", "condition", "rationale"), text)
        label = requirement(text, uid="one", acceptance_criteria=[text], **fields)
        return pipeline.run(Case("c", "d", (message(text),), task=task, requirements=(label,)))

    return run


def by_retrieval(text: str) -> None:
    """A long message, and a long question: each word of one is compared with each of the other."""
    pipeline = build("retrieval", {}, encoder=WordOverlap())
    for said, question in ((text, "What is wanted?"), ("I want a list.", text)):
        pipeline.run(Case("c", "d", (message("Hello."), message(said, 1)), question=question))


def by_lint(text: str) -> list[Finding]:
    label = {"uid": "one", "title": text, "source_messages": [0]}
    content: Any = {
        "item_id": "c",
        "split": "dev",
        "conversation": [{"index": 0, "content": text}],
        "gold": {"requirements": [label, {**label, "uid": "two"}]},
    }
    return list(item_findings(LintItem(1, content), personal_data))


BY_AGENT = {task: by_agent(task) for task in ("extraction", "inference", "validation")}
"""These take long enough with half of the text."""
READERS: dict[str, Callable[[str], object]] = {
    "sentences": lambda text: discourse.read_sentences([message(text)]),
    "clauses": lambda text: [clauses.clauses(each) for each in sentences(text)],
    "people": lambda text: [person(text), people(text)],
    "personal data": pii.pieces,
    "confirmed personal data": pii.validated_pieces,
    "events": by_events,
    "replies": of_reply,
    "markdown": without_cache,
    **BY_AGENT,
    "retrieval": by_retrieval,
    "lint": by_lint,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    start = process_time()
    read(text)
    return process_time() - start


@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_takes_about_twice_as_long(name: str) -> None:
    read = READERS[name]
    read("The user wants a list, and it should be short.")
    n = N // 2 if name in BY_AGENT else N
    for unit in UNITS:
        once, twice = (unit * (size // len(unit)) for size in (n, 2 * n))
        before, took = float("inf"), float("inf")
        for _ in range(TRIES):  # the quickest of several: other processes slow some of them down
            took = min(took, seconds(read, twice))
            if took < QUICK:
                break
            before = min(before, seconds(read, once))
            if took < MOST * before:
                break
        else:
            pytest.fail(f"{unit!r}: {took:.3f} s for twice the text, {before:.3f} s for once")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (READERS["sentences"], "\n" * 30_000),
        (without_cache, '[{"' * 8_000),
        (pii.pieces, "{" * 100_000),
        (clauses.clauses, " " * 50_000),
    ],
)
def test_what_once_stalled_is_read_in_a_moment(read: Callable[[str], object], text: str) -> None:
    assert seconds(read, text) < 2


def test_a_sentence_without_an_end_is_cut_at_a_blank() -> None:
    parts = sentences("word " * 1000)
    assert all(len(part) <= MAX_SENTENCE for part in parts)
    assert " ".join(parts).split() == ["word"] * 1000


def test_a_telephone_number_is_found_among_many_numbers() -> None:
    numbers = " ".join(str(number) for number in range(1000, 1200))
    text = f"{numbers} words between, which have no digit, then +49 30 901820 and {'{' * 1000}"
    kinds = [text[piece.start : piece.end] for piece in pii.pieces(text)]
    assert "+49 30 901820" in kinds
