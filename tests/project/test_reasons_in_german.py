"""What rows hold as facts is said in the language of the reader; old texts stay as they are."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from labeling.domain.facts import Fact
from labeling.words import words


def test_what_a_server_said_stays_within_a_translated_frame() -> None:
    failed = Fact("model.server_failed", status=500, said="the engine is overloaded")

    with override("de"):
        assert words(failed) == "Der Server des Modells versagte (500): the engine is overloaded"
        assert words(Fact("error.unforeseen", kind="OSError", said="gone")) == "OSError: gone"


def test_a_reason_within_a_reason_is_said_too() -> None:
    disputed = Fact("gold.disputed_and_more", titles=[Fact("text.quoted", text="Log in")], number=2)
    base = Fact(
        "gold.base_not_settled",
        layer=Fact("layer_within.extraction"),
        why=Fact("gold.nobody_submitted"),
    )

    with override("de"):
        assert words(Fact("gold.nothing_settled", total=3, reasons=[disputed, base])) == (
            "Keines von 3 gelabelten Gesprächen ist entschieden: strittig: „Log in“ und 2 "
            "weitere; in der Schlichtung entscheiden; nicht entschieden: Anforderungen "
            "(niemand hat Labels abgegeben)."
        )


@pytest.mark.parametrize("said", ["a; " * 600, "{braces} %(and) {others", "Round 3 is open."])
def test_a_text_from_outside_is_never_looked_into(said: str) -> None:
    failed = Fact("model.server_failed", status=500, said=said)

    with override("de"):
        assert words(failed) == f"Der Server des Modells versagte (500): {said}"
