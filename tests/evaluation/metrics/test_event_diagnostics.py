"""Whether events keep to the schema, to the text, and to the thoughts before them."""

from itertools import permutations

import pytest

from evaluation.metrics.event_options import EventOptions
from evaluation.metrics.events import events_of, parse_reply
from tests.evaluation.metrics.events import BLOCK, COT, SCHEMA, e, event, scores

# --- schema and hallucination -------------------------------------------------------------------

COMPLIANCE = [
    # name, events, syntax_only, schema_strict
    ("empty", [], 1, 1),
    ("right", [event("质押", ("质押方", "张三"))], 1, 1),
    ("null argument", [event("质押", ("质押方", None))], 1, 1),
    ("unknown type", [event("收购")], 1, 0),
    ("role of another type", [event("解除质押", ("质权方", "x"))], 1, 0),
    ("no arguments", [{"event_type": "质押"}], 0, 0),
    ("no type", [{"arguments": []}], 0, 0),
    ("no object", ["质押"], 0, 0),
    ("no role", [{"event_type": "质押", "arguments": [{"argument": "x"}]}], 0, 0),
    ("no argument", [{"event_type": "质押", "arguments": [{"role": "质押方"}]}], 0, 0),
    ("one bad of two", [event("质押"), 3], 0, 0),
]


@pytest.mark.parametrize(
    ("events", "syntax", "strict"),
    [row[1:] for row in COMPLIANCE],
    ids=[row[0] for row in COMPLIANCE],
)
def test_events_comply_or_not(events, syntax, strict):
    for mode, expected in (("syntax_only", syntax), ("schema_strict", strict)):
        result = scores([], events, EventOptions(schema_mode=mode), schema=SCHEMA)
        assert result["schema_compliance_rate"].value == expected


def test_a_reply_that_did_not_parse_is_rewarded_nowhere():
    result = scores(e("ab"), [], COT, reply=parse_reply("none"), schema=SCHEMA)

    assert result["schema_compliance_rate"].value == 0
    assert result["hallucination_rate"].value is None
    assert result["hallucination_entity_rate"].value is None
    assert result["strict_recall"].value == 0


HALLUCINATED = [
    # name, text, arguments, (normalized: any, share), (exact: any, share)
    ("all there", "张三 质押", ["张三"], (0, 0), (0, 0)),
    ("absent", "张三", ["李四"], (1, 1), (1, 1)),
    ("one of two", "张三", ["张三", "李四"], (1, 1 / 2), (1, 1 / 2)),
    ("white space", "张 三", ["张三"], (0, 0), (1, 1)),
    ("width and case", "ACME（US）", ["acme(us)"], (0, 0), (1, 1)),
    ("one character is not checked", "张三", ["李"], (0, None), (0, None)),
    ("one of them is not checked", "张三", ["李", "王五"], (1, 1), (1, 1)),
    ("null", "张三", [None], (0, None), (0, None)),
    ("twice is once", "张三", ["李四", "李四", "张三"], (1, 1 / 2), (1, 1 / 2)),
]


@pytest.mark.parametrize(
    ("text", "words", "normalized", "exact"),
    [row[1:] for row in HALLUCINATED],
    ids=[row[0] for row in HALLUCINATED],
)
def test_arguments_stand_in_the_text_or_not(text, words, normalized, exact):
    for mode, expected in (("normalized_substring", normalized), ("exact_span", exact)):
        options = EventOptions(hallucination_match_mode=mode)
        result = scores([], e(*words), options, texts=[text])
        rates = result["hallucination_rate"].value, result["hallucination_entity_rate"].value
        assert rates == expected


@pytest.mark.parametrize("mode", ["normalized_substring", "exact_span"])
def test_which_wording_is_said_first_does_not_matter(mode):
    """Two wordings make one triple, of which only one is in the text letter by letter."""
    options = EventOptions(hallucination_match_mode=mode)
    words = ["Acme", "ACME", "a c m e", "Bolt"]

    result = {
        (rates["hallucination_rate"].value, rates["hallucination_entity_rate"].value)
        for said in permutations(words)
        for rates in [scores([], e(*said), options, texts=["Acme and Bolt"])]
    }

    assert result == {(1.0, 2 / 4) if mode == "exact_span" else (0.0, 0.0)}


def test_words_of_two_messages_do_not_make_one():
    assert scores([], e("张三"), texts=["张", "三"])["hallucination_rate"].value == 1


# --- thoughts -----------------------------------------------------------------------------------

ANSWER = '[{"event_type": "质押", "arguments": [{"role": "质押方", "argument": "张三"}]}]'
THOUGHTS = [
    # name, thought, (types, arguments)
    ("plain", "质押：质押方 = 张三", (1, 1)),
    ("numbered line", '事件类型是质押\n第二步：质押方 = "张三"', (1, 1)),
    ("numbered with digits", "1. 质押\n2. 质押方：张三", (1, 1)),
    ("bold, bracket and arrow", "**质押**\n- **质押方**（公司） -> 「张三」", (1, 1)),
    ("a sentence", "发生质押，质押方为张三。", (1, 1)),
    ("two on a line", "质押；质押方：张三；质权方：中信", (1, 1)),
    ("in a list", "质押\n质押方：李四、张三", (1, 1)),
    ("extra type in the thought", "质押和亏损\n质押方：张三", (0, 1)),
    ("longer type", "解除质押\n质押方：张三", (0, 1)),
    ("type missing", "质押方：张三", (0, 1)),
    ("other value", "质押\n质押方：李四", (1, 0)),
    ("only a part of the value", "质押\n质押方：张三丰", (1, 0)),
    ("value in another role", "质押\n质权方：张三", (1, 0)),
    ("role not named", "质押，张三", (1, 0)),
    ("neither", "没有把握", (0, 0)),
]


@pytest.mark.parametrize(
    ("thought", "expected"), [row[1:] for row in THOUGHTS], ids=[row[0] for row in THOUGHTS]
)
def test_thoughts_agree_with_the_answer_or_not(thought, expected):
    reply = parse_reply(f"<thought>{thought}</thought>\n{ANSWER}")
    result = scores([], events_of(reply.value), COT, reply=reply, schema=SCHEMA)

    got = result["cot_type_consistency"].value, result["cot_argument_consistency"].value
    assert got == expected
    assert result["cot_faithfulness"].value == float(expected == (1, 1))
    assert result["cot_coverage_rate"].value == 1


def test_english_thoughts_are_read_too():
    raw = (
        '<Thought>Step 1: a Sale happens.\nStep 2: Buyer = "Acme, Inc." and Seller is Globex.\n'
        '</Thought>[{"event_type": "Sale", "arguments": [{"role": "Buyer", "argument": "Acme, '
        'Inc."}, {"role": "Seller", "argument": "Globex"}]}]'
    )
    reply = parse_reply(raw)
    schema = {"Sale": ["Buyer", "Seller"]}
    result = scores([], events_of(reply.value), BLOCK, reply=reply, schema=schema)

    assert result["cot_faithfulness"].value == 1


def test_a_type_inside_of_an_argument_is_not_named():
    raw = '<thought>质押方：亏损公司，质押</thought>[{"event_type": "质押", "arguments": '
    reply = parse_reply(raw + '[{"role": "质押方", "argument": "亏损公司"}]}]')

    result = scores([], events_of(reply.value), COT, reply=reply, schema=SCHEMA)

    assert result["cot_faithfulness"].value == 1


def test_no_event_on_both_sides_is_consistent():
    reply = parse_reply("<thought>什么也没有发生</thought>[]")

    assert scores([], [], COT, reply=reply, schema=SCHEMA)["cot_faithfulness"].value == 1


COVERAGE = [
    # name, raw, options, state
    ("a block", f"<thought>质押</thought>{ANSWER}", BLOCK, "checked"),
    ("thought without block", f"质押，质押方：张三\n{ANSWER}", BLOCK, "skipped"),
    ("thought without block, allowed", f"质押，质押方：张三\n{ANSWER}", COT, "checked"),
    ("no thought", ANSWER, COT, "skipped"),
    ("empty block", f"<thought> </thought>{ANSWER}", BLOCK, "skipped"),
    ("block not closed", f"<thought>质押{ANSWER}", BLOCK, "skipped"),
    ("no JSON", "<thought>质押</thought>none", BLOCK, "parse_fail"),
]


@pytest.mark.parametrize(
    ("raw", "options", "state"), [row[1:] for row in COVERAGE], ids=[row[0] for row in COVERAGE]
)
def test_every_sample_is_checked_or_counted(raw, options, state):
    reply = parse_reply(raw)
    result = scores([], events_of(reply.value), options, reply=reply, schema=SCHEMA)

    assert result["cot_coverage_rate"].detail == {"state": state}
    assert result["cot_coverage_rate"].value == float(state == "checked")
    assert (result["cot_faithfulness"].value is not None) == (state == "checked")
