"""Items in normal form: offsets and quotes still fit."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from unicodedata import combining, is_normalized, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical
from labeling.gold.rules.normal import in_normal_form, labels_in_normal_form, offset
from labeling.words import in_english

CAFE = "Das Cafe\u0301 in Zu\u0308rich zahlt."  # as some systems write "Café" and "Zürich"
SPAN = {"message": 0, "start": 4, "end": 9, "text": CAFE[4:9]}
TITLE = "Cafe\u0301 zahlt"


def item(**gold: Any) -> Any:
    return {
        "item_id": "cafe\u0301",
        "conversation": [{"index": 0, "role": "user", "speaker": "Rene\u0301", "content": CAFE}],
        "gold": gold,
        "provenance": {"answers": {"annotator-1": gold.get("events", [])}},
    }


def test_spans_say_the_same_words_at_their_new_place():
    label = {"uid": "a", "trigger": SPAN, "arguments": [{"role": "Ort", "span": {**SPAN}}]}
    document: Any = in_normal_form(item(events=[label]))

    assert is_normalized("NFC", canonical_json({**document, "item_id": ""}))
    text = document["conversation"][0]["content"]
    for (event,) in (document["gold"]["events"], document["provenance"]["answers"]["annotator-1"]):
        for span in (event["trigger"], event["arguments"][0]["span"]):
            assert text[span["start"] : span["end"]] == span["text"] == "Café"


def test_a_quote_from_a_requirement_moves_with_it():
    issue = {
        "uid": "i",
        "requirement": "r",
        "field": "title",
        "span": {"start": 6, "end": 11, "text": TITLE[6:11]},
    }
    document: Any = in_normal_form(
        item(requirements=[{"uid": "r", "title": TITLE}], issues=[issue])
    )

    (moved,) = document["gold"]["issues"]
    assert moved["span"] == {"start": 5, "end": 10, "text": "zahlt"}


def test_the_id_still_names_the_conversation():
    assert in_normal_form(item())["item_id"] == "cafe\u0301"


def test_labels_of_a_text_in_normal_form_stay_as_they_are():
    labels = [{"trigger": {"message": 0, "start": 0, "end": 4, "text": "Café"}}]

    assert labels_in_normal_form(labels, ["Café"]) == labels


@given(st.text("e\u0301\u0323a o\u0308"), st.data())
def test_a_part_in_normal_form_is_never_cut_shorter(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    whole = normalize("NFC", text)
    part = whole[offset(text, start, is_end=False) : offset(text, end, is_end=True)]

    assert letters(text[start:end]) in letters(part)


def letters(text: str) -> str:
    """Without accents."""
    return "".join(each for each in normalize("NFD", text) if not combining(each))


# --- one written form --------------------------------------------------------------------------


any_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_texts, inner, max_size=4),
    max_leaves=12,
)


def test_one_written_form():
    assert canonical_json({"b": (1, True), "a": {"d": None, "c": "ü\n"}}) == (
        '{"a":{"c":"ü\\n","d":null},"b":[1,true]}'
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [0, float("nan")]}, r"\$\.a\[1\]: nan is not a JSON number"),
        (float("inf"), r"\$: inf is not a JSON number"),
        ({"a": {1: 2}}, r"\$\.a: the key 1 is not text"),
        (["a\0b"], r"\$\[0\]: the text holds a character that cannot be stored"),
        ({"\ud800": 1}, "the text holds a character that cannot be stored"),
        ({"a": Decimal(1)}, r"\$\.a: Decimal is not JSON"),
        ({"a": {1}}, r"\$\.a: set is not JSON"),
    ],
)
def test_what_has_no_single_form_is_refused_with_its_place(value, message):
    with pytest.raises(NotCanonical) as caught:
        canonical_json(value)
    assert re.search(message, in_english(caught.value.fact))
    assert caught.value.code == "not_canonical"
    assert caught.value.details["path"].startswith("$")
