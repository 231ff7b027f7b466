"""What people type finds what is meant, on either database."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.core.searching import containing, pattern_of
from labeling.models import Conversation
from tests import factories

FOUND = [
    ("e\u0301", "Caf\u00e9"),
    ("naïve", "A NAÏVE wish"),
    ("ÜBER", "über"),
    ("a.b*c", "a.b*c"),
    ("[x]\\y", "[x]\\y"),
    ("state-of", "State-of"),
]
MISSED = [("nai ve", "naïve"), ("a.c", "abc"), ("x", "é"), ("[a]", "a")]


@pytest.mark.django_db
@pytest.mark.postgres
def test_what_is_typed_is_found_in_capitals_or_not():
    project = factories.make_project()
    rows = factories.make_conversations(project, len(FOUND) + len(MISSED))
    for row, (_, text) in zip(rows, FOUND + MISSED, strict=True):
        Conversation.objects.filter(pk=row.pk).update(domain=text)

    for number, (wanted, _) in enumerate(FOUND + MISSED):
        hits = Conversation.objects.filter(containing("domain", wanted)).values_list(
            "pk", flat=True
        )
        assert (rows[number].pk in hits) == (number < len(FOUND)), wanted


@given(st.text(st.characters(codec="ascii"), min_size=1))
def test_every_text_finds_itself(text):
    assert re.search(pattern_of(text), text, re.IGNORECASE)


def test_quotation_marks_are_found_in_json():
    text = 'say "now" to Zoë'

    assert re.search(pattern_of(text), json.dumps({"text": text}, ensure_ascii=False))
