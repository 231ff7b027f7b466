"""Replies of language models: parsed, repaired or counted as an error."""

import pytest

from evaluation.metrics.events import events_of, parse_reply, read_events
from tests.evaluation.metrics.events import scores

PARSED = [
    ("as written", '[{"event_type": "T"}]', "raw", "whole", (), 1),
    ("an empty list", "[]", "raw", "whole", (), 0),
    ("one object", '{"event_type": "T"}', "raw", "whole", (), 1),
    ("wrapped", '{"events": [{"event_type": "T"}, {"event_type": "U"}]}', "raw", "whole", (), 2),
    ("a code fence", 'Sure.\n```json\n[{"event_type": "T"}]\n```', "raw", "code_fence", (), 1),
    ("the last of two fences", '```\n[]\n```\n```\n[{"a": 1}]\n```', "raw", "code_fence", (), 1),
    ("prose around", 'By [1]: [{"event_type": "T"}] as in [2].', "raw", "span", (), 1),
    ("a brace behind", '[{"event_type": "T"}] {sic}', "raw", "whole", (), 1),
    ("none further", '[{"event_type": "T"}] No others: []', "raw", "whole", (), 1),
    ("one a line", '[{"type": "T"}]\n[{"type": "U"}]', "repaired", "whole", ("joined_lines",), 2),
    ("a draft", '<think>[{"a": 1}]</think>[{"type": "T"}]', "raw", "whole", (), 1),
    ("a comment", '[{"type": "T"}, // one\n{"type": "U"}]', "repaired", "whole", ("comments",), 2),
    ("no number", '[{"type": "T", "size": NaN}]', "repaired", "whole", ("no_number",), 1),
    ("named twice", '[{"type": "T", "type": "U"}]', "error", "whole", (), 0),
    ("cut off behind a draft", '[{"type": "D"}] Now [{"ty', "error", "span", (), 0),
    ("prose behind", '[{"event_type": "T"}] That is all.', "raw", "whole", (), 1),
    ("trailing comma", '[{"event_type": "T",},]', "repaired", "whole", ("trailing_commas",), 1),
    ("cut off", '[{"event_type": "T"', "repaired", "whole", ("missing_closers",), 1),
    ("cut off in a word", '[{"event_type": "T', "repaired", "whole", ("missing_closers",), 1),
    ("single quotes", "[{'event_type': 'T'}]", "repaired", "whole", ("single_quotes",), 1),
    (
        "full-width punctuation",
        "[{“event_type”：“T”，“arguments”：[]}]",
        "repaired",
        "whole",
        ("full_width_punctuation",),
        1,
    ),
    ("a line break", '[{"event_type": "T\nU"}]', "repaired", "whole", ("control_characters",), 1),
    ("a comma is missing", '[{"a": 1 "b": 2}]', "repaired", "whole", ("missing_commas",), 1),
    ("nothing said", "", "error", "empty_input", (), 0),
    ("no JSON", "There is no event.", "error", "no_json_found", (), 0),
    (
        "JSON in the thought alone",
        '<thought>[{"a": 1}]</thought>',
        "error",
        "only_reasoning",
        (),
        0,
    ),
]


@pytest.mark.parametrize(
    ("raw", "outcome", "method", "steps", "number"),
    [row[1:] for row in PARSED],
    ids=[row[0] for row in PARSED],
)
def test_replies_are_parsed(raw, outcome, method, steps, number):
    parsed = parse_reply(raw)

    assert (parsed.outcome, parsed.method, parsed.repair_steps) == (outcome, method, steps)
    assert len(events_of(parsed.value)) == number


def test_repair_leaves_the_words_of_arguments_alone():
    parsed = parse_reply(
        '[{"event_type": "T", "arguments": [{"role": "r", "argument": "甲，乙：（丙"}'
    )

    assert read_events(events_of(parsed.value)).arguments[0].text == "甲，乙：（丙"


@pytest.mark.parametrize(
    "raw", ["[" * 100_000, '{"a":' * 50_000, "<thought>" * 20_000, '["' * 9999]
)
def test_hostile_replies_are_errors_in_a_moment(raw):
    """A quadratic look at them takes longer than any test may."""
    assert parse_reply(raw).outcome in ("error", "repaired")


def diagnostics(raw):
    result = scores([], [], reply=parse_reply(raw) if raw is not None else None)
    names = (
        "parse_raw_success",
        "parse_repair_success",
        "parse_errors",
        "parse_extraction_failures",
    )
    return tuple(result[name].value for name in names)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[]", (1, 0, 0, 0)),
        ("[1,]", (0, 1, 0, 0)),
        ("[1e999]", (0, 0, 1, 1)),
        ("none", (0, 0, 1, 1)),
        ("", (0, 0, 1, 0)),  # there was no text to look in
        (None, (None,) * 4),
    ],
)
def test_each_reply_counts_once(raw, expected):
    assert diagnostics(raw) == expected
