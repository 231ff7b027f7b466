"""Names in the provenance of an item become pseudonyms, and names again, wherever they are."""

from __future__ import annotations

import json
import re
from typing import Any

from labeling.gold.rules.content import Provenance
from labeling.gold.rules.names import numbered, with_names, with_pseudonyms

PEOPLE = {"ana": "annotator-2", "ben": "annotator-1", "rita": "annotator-10"}
LABEL: dict[str, Any] = {"uid": "a", "title": "Told by ana"}
ORIGIN: Any = {
    "how": "majority",
    "by": ["ana", "ben"],
    "uids": {"ana": "a", "ben": "b", "rita": None},
    "dissent": [{"annotator": "rita", "label": None, "differs": []}],
    "fields": {"priority": ["ana", "rita"]},
    "origins": {"ana": {"origin": "edited", "suggestion": {"id": 1, "uid": "s"}}},
}
DECIDED: Any = {
    "how": "adjudicated",
    "adjudicated_by": "ana, rita",
    "reason": "Message 1 says it",
    "guideline_version": 1,
    "decided_under": 2,
    "accepted_by": "rita",
    "answers": {"ana": [LABEL], "ben": []},
    "without_reference": {"ben": [LABEL]},
}
WHOLE: Provenance = {
    **DECIDED,
    "labels": {"a": {**ORIGIN, "phases": {"p": ORIGIN}}},
    "annotators": [
        {"username": "ana", "guideline_version": 1, "fixed_by": "rita"},
        {"username": "ben", "guideline_version": 1},
    ],
    "skipped": [{"username": "rita", "reason": "Knows the speaker"}],
    "corrections": [
        {
            "dispute": 1,
            "layer": "extraction",
            "uid": "a",
            "decided_by": ["ana", "ben"],
            "reason": "Message 2 takes it back",
            "release": "orders@1",
            "before": LABEL,
        }
    ],
    "round": 1,
    "stages": {"extraction": DECIDED},
}


def test_no_name_is_left_anywhere_but_in_what_people_wrote():
    text = json.dumps(with_pseudonyms(WHOLE, PEOPLE))

    assert re.findall(r"\b(?:ben|rita)\b", text) == []
    assert set(re.findall(r"[^\"]*\bana\b[^\"]*", text)) == {"Told by ana"}


def test_lists_are_in_the_order_of_the_pseudonyms():
    provenance = with_pseudonyms(WHOLE, PEOPLE)

    assert provenance["labels"]["a"]["by"] == ["annotator-1", "annotator-2"]
    assert [row["username"] for row in provenance["annotators"]] == ["annotator-1", "annotator-2"]
    assert provenance["adjudicated_by"] == "annotator-2, annotator-10"
    assert provenance["people"] == "pseudonyms"


def test_names_come_back():
    names = {pseudonym: name for name, pseudonym in PEOPLE.items()}

    assert with_names(with_pseudonyms(WHOLE, PEOPLE), names) == WHOLE


def test_an_old_item_that_names_people_stays_as_it_is():
    """There may be an account that is called like somebody's pseudonym."""
    assert with_names(WHOLE, {"ana": "somebody else"}) == WHOLE


def test_who_comes_later_gets_the_next_number():
    first = numbered(["cleo", "ana"], {})

    assert first == {"ana": 1, "cleo": 2}
    assert numbered(["ben", "cleo"], first) == {"ben": 3}
