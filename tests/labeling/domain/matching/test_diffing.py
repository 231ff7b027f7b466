from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.agreement.matching.diffing import difference, field_changes, word_parts

TEXTS = st.text(alphabet="ab é\n.,", max_size=30)


def label(uid: str, **fields: Any) -> dict[str, Any]:
    return {"uid": uid, "id": "REQ-001", **fields}


def payload(*labels: dict[str, Any]) -> dict[str, Any]:
    return {"requirements": list(labels)}


def test_labels_are_told_apart_by_uid_and_not_by_place_or_id():
    before = payload(label("a", title="Log in"), label("b", title="Log out"))
    after = payload(label("b", title="Log out"), label("c", title="Log in"))

    changes = difference(before, after)

    assert [(label.kind, label.uid) for label in changes] == [
        ("removed", "a"),
        ("added", "c"),
    ]


def test_a_change_names_the_field_with_both_values():
    changes = difference(
        payload(label("a", title="Log in", priority="must", source_messages=[0])),
        payload(label("a", title="Log in", priority="could", source_messages=[0, 2])),
    )

    (change,) = changes
    assert (change.kind, change.layer_key) == ("changed", "requirements")
    assert [(field.name, field.before, field.after) for field in change.fields] == [
        ("priority", "must", "could"),
        ("source_messages", [0], [0, 2]),
    ]


def test_every_layer_is_compared():
    changes = difference({"requirements": [label("a")]}, {"events": [label("b")]})

    assert [(label.kind, label.layer_key) for label in changes] == [
        ("removed", "requirements"),
        ("added", "events"),
    ]


@pytest.mark.parametrize("blank", [None, "", []])
def test_an_empty_field_equals_one_that_was_never_filled(blank):
    assert field_changes(label("a", condition=blank), label("a")) == []


@given(TEXTS, TEXTS)
def test_the_parts_of_each_side_make_its_text(before, after):
    parts = word_parts(before, after)

    assert "".join(part.text for part in parts if part.kind != "added") == before
    assert "".join(part.text for part in parts if part.kind != "removed") == after


def test_texts_are_compared_word_by_word():
    assert [tuple(part) for part in word_parts("Track the order", "Track every order")] == [
        ("same", "Track "),
        ("removed", "the"),
        ("added", "every"),
        ("same", " order"),
    ]
