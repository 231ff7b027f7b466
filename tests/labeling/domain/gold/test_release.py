import re
from decimal import Decimal

import pytest
from hypothesis import strategies as st

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical
from labeling.words import in_english

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
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
