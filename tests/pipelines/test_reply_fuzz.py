"""A known answer in whatever a model writes around it: that answer or an error, never another."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.parsing import read_reply

FIELDS = ("event_type", "type", "events", "event_list")
EXAMPLES = 400
patient = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

NASTY = [
    *"\"'\\{}[],:#\n\té…\u200b\xa0\U0001f600",
    *("[]", "{}", "//", "/*", "*/", "```", "```json\n[]\n```", "</think>", "<think>", "[THINK]"),
    *("<thought>x</thought>", "[/THINK]", "http://x.org/a#b", "C:\\new", "it's"),
    *('say "yes"', "“q”", "-5"),
    *("e\u0301", "公司，：", "<|channel|>final<|message|>", "assistantfinal", "3.5 km", "[1]"),
    *("{sic}", '[{"event_type": "X", "arguments": []}]', "\\boxed{2}", "true", "None", "NaN"),
]  # fmt: skip
words = st.lists(st.sampled_from(["Zeus", "sold", "a ship", *NASTY]), max_size=4).map(" ".join)
arguments = st.lists(
    st.fixed_dictionaries({"role": words, "argument": st.none() | st.integers() | words}),
    max_size=2,
)
events = st.fixed_dictionaries(
    {"event_type": st.sampled_from(["Sale", "Move"]), "trigger": words, "arguments": arguments}
)
answers = st.lists(events, min_size=1, max_size=3)
drafts = st.lists(events, max_size=2).map(lambda draft: json.dumps(draft, ensure_ascii=False))


def as_json(answer: Any, chance: random.Random) -> str:
    return json.dumps(answer, ensure_ascii=chance.random() < 0.5)


def pretty(answer: Any, chance: random.Random) -> str:
    return json.dumps(answer, ensure_ascii=False, indent=chance.choice([1, 2, "\t"]))


def as_python(answer: Any, chance: random.Random) -> str:
    return repr(answer)


def in_lines(answer: Any, chance: random.Random) -> str:
    return "\n".join(json.dumps(chance.choice([event, [event]])) for event in answer)


def wrapped(answer: Any, chance: random.Random) -> str:
    return json.dumps({chance.choice(["events", "event_list"]): answer})


def outside(text: str, change: Any) -> str:
    """The JSON with a change outside of its texts."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def with_comments(answer: Any, chance: random.Random) -> str:
    note = chance.choice(["// [ first\n", "# it's {\n", '/* "no" ] */', "// http://x\n"])
    return outside(json.dumps(answer), lambda part: part.replace(",", "," + note))


def trailing(answer: Any, chance: random.Random) -> str:
    return outside(json.dumps(answer), lambda part: re.sub(r"(?<=[}\]])([}\]])", r",\1", part))


def without_commas(answer: Any, chance: random.Random) -> str:
    return outside(json.dumps(answer), lambda part: part.replace("},", "}\n"))


def keyed(text: str, key: str) -> str:
    """The JSON with its keys written otherwise."""
    return re.sub(
        r'(?<=[{,] )"(event_type|trigger|arguments|role|argument)":|(?<={)"(event_type|role)":',
        lambda m: m.expand(key) if m[1] else key.replace("\\1", m[2]),
        text,
    )


def unquoted(answer: Any, chance: random.Random) -> str:
    return keyed(json.dumps(answer), r"\1:")


def smart(answer: Any, chance: random.Random) -> str:
    return keyed(json.dumps(answer), r"“\1”：")


def sloppy(answer: Any, chance: random.Random) -> str:
    """Quotes and line breaks within texts are left as they are."""
    signs = {'\\"': '"', "\\n": "\n", "\\t": "\t"}
    return re.sub(r"\\.", lambda sign: signs.get(sign[0], sign[0]), json.dumps(answer))


def cut_off(answer: Any, chance: random.Random) -> str:
    text = json.dumps(answer)
    return text[: chance.randrange(1, len(text))]


FORMS = [
    *(as_json, as_json, pretty, as_python, in_lines, wrapped, with_comments, trailing),
    *(without_commas, unquoted, smart, sloppy, cut_off),
]
FRAMES = [
    *("{}", "\n{}\n", "```json\n{}\n```", "```\n{}\n```", "```json\n{}", "~~~\n{}\n~~~"),
    *("<answer>{}</answer>", "Answer: {}", "The events [1] are:\n{}", "events = {}"),
    *("**Events**\n\n{}", "{}."),
]
THOUGHTS = [
    *("", "<think>{}</think>", "<think>\n{}\n</think>\n\n", "{}</think>", "<think></think>"),
    *("<Thinking a='b'>{}</Thinking>", "<thought>{}</thought>", "[THINK]{}[/THINK]"),
    *("◁think▷{}◁/think▷", "<reasoning>{}</reasoning>", "<scratchpad>{}</scratchpad>"),
    *("<reflection>{}</reflection>", "<|thinking|>{}<|/thinking|>"),
    "<think><think>{}</think>{}</think>",
    *("<|begin_of_thought|>{}<|end_of_thought|>", "<|START_THINKING|>{}<|END_THINKING|>"),
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    *("<|channel>thought\n{}<channel|>", "analysis{}assistantfinal", "First: {}\nBut better:\n"),
    "```json\n{}\n```\nNo, rather:\n",
]
DOUBTS = ["maybe {}", "{} no {", "I'd say [1] {} or ]", '"{}', "hm\n{}\nbut: {'a", "{}", "x [{} y"]
NOTES = [
    *("", " {sic}", "\n\nSee [1] and {a}.", " \\boxed{2}", "\nNo further events: [].", " ]"),
    *(" [2](http://x)", "\n\n[^1]: a note, it's all.", '\n{"confidence": 0.9}', "\n| a | {b} |"),
    *("\n- [ ] to do", '\n<reflection>Good: [{"event_type": "Y"}]</reflection>'),
]


def listed(value: Any) -> Any:
    if isinstance(value, dict) and ("events" in value or "event_list" in value):
        return value.get("events", value.get("event_list"))
    return value if isinstance(value, list) else [value]


@patient
@given(answers, drafts, st.randoms(use_true_random=False))
def test_a_known_answer_is_read_or_refused_and_never_another_one(answer, draft, chance):
    form = chance.choice(FORMS)
    said = chance.choice(DOUBTS).replace("{}", draft)
    raw = (
        chance.choice(THOUGHTS).replace("{}", said)
        + chance.choice(FRAMES).replace("{}", form(answer, chance))
        + chance.choice(NOTES)
    )

    reply = read_reply(raw, FIELDS, lines=True)

    if reply.parsed and "missing_closers" not in reply.repair_steps:
        assert listed(reply.value) == answer, (form.__name__, raw)
    elif reply.parsed:
        assert reply.outcome == "repaired"


@patient
@given(answers, drafts, st.randoms(use_true_random=False))
def test_a_known_answer_as_written_is_found_in_thoughts_frames_and_notes(answer, draft, chance):
    """Here no error is taken: what is around the answer is what models really write."""
    thoughts = [form for form in THOUGHTS if form and not form.startswith(("First", "```"))]
    raw = (
        chance.choice(thoughts).replace("{}", f"maybe {json.loads(draft)!r:.40} or so")
        + chance.choice(FRAMES[:7]).replace("{}", as_json(answer, chance))
        + chance.choice(NOTES)
    )

    reply = read_reply(raw, FIELDS, lines=True)

    assert (reply.outcome, reply.value) == ("raw", answer), raw
