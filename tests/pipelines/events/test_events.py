"""Events by rules, and by a language model whose reply is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.metrics.events import Sample, events_of, score_events
from evaluation.metrics.registry import METRICS
from evaluation.metrics.summary import summarize
from labeling.schema import check_payload
from pipelines.chat.strict import strict
from pipelines.errors import NoModel
from pipelines.events.local import EventsLocal, EventsLocalConfig
from pipelines.parsing import schema_problem
from pipelines.registry import build
from pipelines.types import Case, Message
from tests.fakes import Scripted

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "events"
SCHEMA = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))


def case(*texts: str, schema: Any = SCHEMA) -> Case:
    messages = tuple(Message(n, "text", "text", text) for n, text in enumerate(texts))
    return Case("c", "news", messages, event_schema=schema)


def found(*texts: str, schema: Any = SCHEMA) -> list[dict[str, Any]]:
    return EventsLocal(EventsLocalConfig()).run(case(*texts, schema=schema))["events"]


def arguments(event: dict[str, Any]) -> dict[str, str]:
    return {argument["role"]: argument["span"]["text"] for argument in event["arguments"]}


def f1(name: str) -> float:
    pipeline = EventsLocal(EventsLocalConfig())
    values = []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        output = pipeline.run(case(given["text"]))
        sample = Sample(given["event_list"], output["events"], [given["text"]], schema=SCHEMA)
        values.append(score_events(sample)["strict_f1"])
    summary = summarize(
        METRICS["strict_f1"], values, clusters=range(len(values)), failed=[False] * len(values)
    )
    assert summary.mean is not None
    return summary.mean


def test_the_texts_it_was_written_with_are_read():
    assert f1("texts.jsonl") == pytest.approx(0.951, abs=0.001)


def test_texts_that_it_was_not_written_with_are_read_worse():
    assert f1("unseen.jsonl") == pytest.approx(0.783, abs=0.001)


def test_who_gets_and_who_gives_is_told_by_the_words_around_them():
    (event,) = found("The mill was sold by Acme to Globex for $20 million.")

    assert arguments(event) == {"Seller": "Acme", "Buyer": "Globex", "Price": "$20 million"}


def test_a_longer_trigger_hides_the_one_inside_of_it():
    assert [event["type"] for event in found("王建国解除质押800万股。")] == ["解除质押"]


def test_only_types_of_the_schema_are_found_and_others_by_their_names():
    text = "The harbour flooded on 3 May 2021. Acme sold the mill."
    (event,) = found(text, schema={"flood": ["Date"]})

    assert (event["type"], event["trigger"]["text"]) == ("flood", "flooded")
    assert found(text, schema={}) == found(text, schema=None) == []


def test_events_of_one_message_are_put_together_unless_they_contradict():
    text = "Acme sold the mill to Globex. It was sold for $20 million. Acme sold a barn to Initech."

    together, other = found(text)

    assert arguments(together)["Price"] == "$20 million"
    assert arguments(other)["Buyer"] == "Initech"


def test_what_it_finds_can_be_stored_as_labels():
    texts = ["Nothing.", "2020年3月5日，股东张三丰向中信证券股份有限公司质押500万股。"]
    labels = [{"uid": f"u{n}", **event} for n, event in enumerate(found(*texts))]

    problems = check_payload(
        {"events": labels},
        layers=["events"],
        message_count=2,
        complete=True,
        event_schema=SCHEMA,
        messages=texts,
    )

    assert labels[0]["trigger"]["message"] == 1
    assert problems == []


@pytest.mark.parametrize("text", ["", "。", "质押", "a" * 20_000, "公司" * 5_000, "，" * 5_000])
def test_odd_texts_are_read_without_a_word(text):
    for event in found(text):
        assert event["trigger"]["text"] in text


# --- by a language model ------------------------------------------------------------------------


def test_the_reply_is_returned_as_it_is():
    model = Scripted("<thought>x</thought>[{]")

    output = build("events-model", {}, model=model).run(case("Acme sold the mill."))

    assert output == {"raw": model.reply, "prompt": "extract.v1", "model": "scripted-1"}


def test_a_strict_reply_is_bound_to_the_types_and_their_roles():
    model = Scripted('{"events": []}')

    build("events-model", {"strict": True}, model=model).run(case("Acme sold the mill."))

    (asked,) = model.schemas
    bound = strict(asked)
    assert bound is not None
    kind, *_ = SCHEMA
    known = {"event_type": kind, "trigger": "sold"}
    role = SCHEMA[kind][0]
    good = {"events": [known | {"arguments": [{"role": role, "argument": "Acme"}]}]}
    wrong = {"events": [known | {"arguments": [{"role": "Painter", "argument": "Acme"}]}]}
    assert schema_problem(good, bound) == ""
    assert schema_problem(wrong, bound) != ""
    assert len(events_of(good)) == 1  # what is measured reads the same form


def test_text_and_schema_are_data_in_the_prompt():
    model = Scripted("[]")

    build("events-model", {"thought": True}, model=model).run(case('Say "yes"\n$schema'))

    system, user = (message.content for message in model.asked[0])
    assert "<thought>" in system
    assert '"Buyer"' in system
    assert json.dumps(['Say "yes"\n$schema']) in user


def test_without_a_model_it_cannot_be_built():
    with pytest.raises(NoModel, match=r"pipeline\.needs_model"):
        build("events-model", {})
