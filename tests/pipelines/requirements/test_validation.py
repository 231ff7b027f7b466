"""Flaws in how requirements are written, each with what is no flaw beside it."""

import pytest

from pipelines.requirements.validation.conflicts import contradictions, differ, topic_of
from pipelines.requirements.validation.local import validate
from pipelines.requirements.validation.pii import pieces, validated_pieces
from tests.fakes import WordOverlap


def stated(action="Print the invoice", **fields):
    return {
        "uid": "r1",
        "id": "REQ-001",
        "title": "Invoice Printing",
        "actor": "Clerk",
        "action": action,
        "condition": None,
        "acceptance_criteria": ["One page is printed", "The total is on it"],
        "rationale": "Said",
        **fields,
    }


def issues(*requirements, encoder=None):
    return validate(requirements, encoder=encoder)


def kinds(*requirements):
    return [(issue["issue_type"], issue["field"]) for issue in issues(*requirements)]


def quoted(requirement):
    return [issue["span"]["text"] for issue in issues(requirement) if issue["span"]]


def test_a_clean_requirement_has_no_issue():
    assert issues(stated()) == []
    assert issues() == []


@pytest.mark.parametrize(
    "verb", ["Handle", "Support", "manage", "Deal with", "Optimise", "Process"]
)
def test_a_verb_of_many_meanings(verb):
    (one,) = issues(stated(f"{verb} the orders"))

    assert (one["issue_type"], one["severity"], one["field"]) == (
        "ambiguous_verb",
        "warning",
        "action",
    )
    assert one["span"] == {"start": 0, "end": len(verb), "text": verb}
    assert one["suggested_fix"].startswith("Say ")


@pytest.mark.parametrize("actor", [None, "", "  ", "it", "They", "someone", "N/A", "tbd"])
def test_nobody_is_named(actor):
    assert kinds(stated(actor=actor)) == [("missing_actor", "actor")]


@pytest.mark.parametrize(
    ("action", "kind", "words"),
    [
        ("Print the handled orders", "", ""),  # elsewhere it is no verb
        ("Managers approve orders", "", ""),
        ("The shop system must support cards.", "ambiguous_verb", "support"),
        ("Users should be able to print a list and call a van.", "too_broad", ""),
        ("Export everything", "too_broad", "everything"),
        ("Show orders, invoices, etc.", "too_broad", "etc."),
        ("Accept all kinds of payments", "too_broad", "all kinds of payments"),
        ("Create, print and archive invoices", "too_broad", ""),
        ("Print invoices, receipts and labels", "", ""),
        ("Show results fast", "untestable", "fast"),
        ("Offer a user-friendly form", "untestable", "user-friendly"),
        ("Show results fast, within 2 seconds", "", ""),  # the figure can be tested
    ],
)
def test_what_is_wrong_with_an_action_is_named_and_quoted(action, kind, words):
    assert kinds(stated(action)) == ([(kind, "action")] if kind else [])
    assert quoted(stated(action)) == ([words] if words else [])


def test_the_words_of_a_criterion_are_found_at_their_place():
    criteria = ["One page is printed", "It looks modern"]
    requirement = stated(acceptance_criteria=criteria)

    (one,) = issues(requirement)

    text = "\n".join(criteria)
    span = one["span"]
    assert (one["issue_type"], one["field"]) == ("untestable", "acceptance_criteria")
    assert text[span["start"] : span["end"]] == span["text"] == "modern"


@pytest.mark.parametrize("criteria", [None, [], ["One"]])
def test_missing_criteria_are_asked_for_by_the_document_and_not_at_each_requirement(criteria):
    assert kinds(stated(acceptance_criteria=criteria)) == []


# --- personal data ---


@pytest.mark.parametrize(
    ("text", "found", "confirmed"),
    [
        ("Mail ana.diaz@example.com.", ["ana.diaz@example.com"], True),
        ("Call +1 650-253-0000, (650) 253-0001", ["+1 650-253-0000", "(650) 253-0001"], True),
        ("Call 020 7946 0018", ["020 7946 0018"], True),
        ("You can reach me at 2025550143", ["2025550143"], True),
        ("Order 2025550143 of 30 pieces", ["2025550143"], False),  # digits alone: said as one?
        ("IBAN DE89 3704 0044 0532 0130 00", ["DE89 3704 0044 0532 0130 00"], True),
        ("Card 4111 1111 1111 1111", ["4111 1111 1111 1111"], True),
        ("His number is 536-22-1234.", ["536-22-1234"], True),
        ("From 8.8.8.8", ["8.8.8.8"], True),
        ("Ask Dr. Jane Doe about it", ["Jane Doe"], False),
        ("Lives at 12 Baker Street", ["12 Baker Street"], False),
        ("Born on 12 March 1980", ["12 March 1980"], False),
        ("Of Mrs José Núñez", ["José Núñez"], False),
    ],
)
def test_personal_data_is_quoted_and_confirmed_where_that_can_be(text, found, confirmed):
    of_all, of_sure = (
        [text[piece.start : piece.end] for piece in find(text)]
        for find in (pieces, validated_pieces)
    )

    assert of_all == found
    assert of_sure == (found if confirmed else [])


@pytest.mark.parametrize(
    "text",
    [
        "IBAN DE89 3704 0044 0532 0130 01",  # check digits are wrong
        "Card 4111 1111 1111 1112",
        "Card 0000 0000 0000 0000",
        "mail@localhost, a@b, .a@example.com, a..b@example.com, a@-example.com, a@example.1",
        "Call 123 456",
        "SSN 000-12-3456",
        "From 192.168.0.1, 127.0.0.1 or 999.1.1.1",
        "Version 1.2.3.4",
        "Keep 1,000 orders for 10 years, 24/7, from 2026-01-02 on, order 20240101",
        "The doctor and the manager",
        "Dr. of the clinic",
    ],
)
def test_what_only_looks_like_it_is_not_reported(text):
    assert pieces(text) == validated_pieces(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "In 1999, 2001 and 2003 we paid 1 250 000, then $2,500,000.00.",
        "02.01.2024, 00:42:45",
        "On 2024-01-08 22:35:10 or 1/9/2024 at 9:30",
        "ISBN 978-3-16-148410-0",
        "https://live.example.com/3448/3279695354_16a66b5258_b.jpg",
        "00000180-PHOTO-2024-01-08-22-35-10.jpg",
        "serial A4111111111111111B",
    ],
)
def test_years_prices_dates_and_addresses_on_the_web_are_not_confirmed(text):
    assert validated_pieces(text) == []


def test_personal_data_is_an_error_with_its_place_in_any_field():
    requirement = stated(rationale="Mr Smith asked for it", condition="If bob@example.org agrees")

    result = [
        (issue["issue_type"], issue["severity"], issue["field"]) for issue in issues(requirement)
    ]

    assert result == [("pii", "error", "condition"), ("pii", "error", "rationale")]
    assert quoted(requirement) == ["bob@example.org", "Smith"]


# --- contradictions ---


def pair(first, second, **fields):
    return [
        stated(first, **fields),
        stated(second, uid="r2", id="REQ-002", **fields),
    ]


def conflicts(*requirements):
    return list(contradictions(requirements, encoder=WordOverlap()))


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("Show prices in the portal", "Never show prices in the portal", "denies"),
        ("Show prices in the portal", "Show prices in the portal", ""),
        ("Show prices in the portal", "Never lock the gate at night", ""),
    ],
)
def test_two_about_the_same_contradict_each_other_if_they_cannot_both_hold(first, second, why):
    found = conflicts(*pair(first, second, title=""))

    said = [(one["requirement"], one["issue_type"], one["severity"]) for one in found]
    assert said == ([("r2", "contradictory", "error")] if why else [])
    assert all(why in one["message"] and "REQ-001" in one["message"] for one in found)


@pytest.mark.parametrize(
    ("one", "other", "two"),
    [
        ("Keep 1,000 orders", "Keep 1000 orders", False),
        ("Answer within 2 seconds", "Answer within 5 seconds", True),
        ("Answer within 2 seconds", "Answer soon", False),
        ("Show prices", "Show no prices", True),
    ],
)
def test_figures_and_denials_make_two_of_what_is_alike(one, other, two):
    assert differ(stated(one), stated(other)) is two


def test_what_two_differ_in_does_not_count_for_what_they_are_about():
    assert topic_of("Never show prices") == topic_of("only show prices") == "show prices"


def test_issues_stand_in_the_order_of_the_requirements():
    result = issues(*pair("Handle orders", "Never handle orders"), encoder=WordOverlap())

    assert [one["requirement"] for one in result] == ["r1", "r2"]
