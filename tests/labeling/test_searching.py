"""What people type finds what is meant, however its letters are written, on either database."""

import json
import re
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.core.searching import containing, pattern_of
from labeling.models import Conversation
from tests import factories

FOUND = [
    ("é", "Cafe\u0301 au lait"),
    ("e\u0301", "Caf\u00e9"),
    ("naive", "A na\u00efve wish"),
    ("naïve", "a NAIVE wish"),
    ("don't", "I don’t know"),
    ("don’t", "I don't know"),
    ('"now"', "He said “now”, twice"),
    ("20 eur", "20\u00a0EUR"),
    ("ÜBER", "u\u0308ber"),
    ("が", "か\u3099"),
    ("각", "각"),
    ("й", "и\u0306"),
    ("a.b*c", "a.b*c"),
    ("[x]\\y", "[x]\\y"),
    ("state-of", "state–of"),
]
MISSED = [("nai ve", "naïve"), ("a.c", "abc"), ("каk", "naive"), ("x", "é"), ("[a]", "a")]


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.parametrize("turned", [False, True])
def test_letters_are_found_in_every_form(turned):
    project = factories.make_project()
    form = "NFD" if turned else "NFC"
    rows = factories.make_conversations(project, len(FOUND) + len(MISSED))
    for row, (_, text) in zip(rows, FOUND + MISSED, strict=True):
        Conversation.objects.filter(pk=row.pk).update(domain=normalize(form, text))

    for number, (wanted, _) in enumerate(FOUND + MISSED):
        hits = Conversation.objects.filter(containing("domain", wanted)).values_list(
            "pk", flat=True
        )
        assert (rows[number].pk in hits) == (number < len(FOUND)), wanted


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.sampled_from(["NFC", "NFD"]))
def test_every_text_finds_itself_in_each_form(text, form):
    assert re.search(pattern_of(text), normalize(form, text), re.IGNORECASE)


@pytest.mark.parametrize("text", ['say "now" to Zoë', "say “now” to Zoe\u0308"])
def test_quotation_marks_are_found_in_json(text):
    document = json.dumps({"text": text}, ensure_ascii=False)

    assert re.search(pattern_of('"now" to zoe'), document, re.IGNORECASE)
