"""Personal data in whole conversations: what can be confirmed, and nothing else."""

from __future__ import annotations

import pytest

from pipelines.requirements.validation.pii import pieces, validated_pieces
from tests.growth import assert_four_times_the_text_takes_no_eight_times_as_long


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Write to ana.diaz@example.org, please.", "mail"),
        ("My IBAN is DE89 3704 0044 0532 0130 00.", "account"),
        ("Pay with 4111 1111 1111 1111.", "card"),
        ("His number is 536-22-1234.", "social_security"),
        ("The server 8.8.8.8 is down", "ip"),
        ("Call +44 20 7946 0958.", "telephone"),
        ("(202) 555-0143 is the shop", "telephone"),
        ("You can reach me at 2025550143", "telephone"),
    ],
)
def test_what_can_be_confirmed_is_found(text: str, what: str) -> None:
    assert [piece.kind for piece in validated_pieces(text)] == [what]


@pytest.mark.parametrize(
    "text",
    [
        "In 1999, 2001 and 2003 we paid 1 250 000, then $2,500,000.00.",
        "02.01.2024, 00:42:45",
        "On 2024-01-08 22:35:10 or 1/9/2024 at 9:30",
        "Order 2025550143 of 30 pieces",
        "ISBN 978-3-16-148410-0",
        "https://live.example.com/3448/3279695354_16a66b5258_b.jpg",
        "00000180-PHOTO-2024-01-08-22-35-10.jpg",
        "DE89 3704 0044 0532 0130 01 has a wrong digit, as has 4111 1111 1111 1112",
        "192.168.0.1 and version 1.2.3.4",
        "me@home, @ana, a@b",
        "Mr Miller, 12 Long Street, born on 1 May 1990",
        "serial A4111111111111111B",
    ],
)
def test_years_prices_dates_orders_and_addresses_on_the_web_are_not(text: str) -> None:
    assert validated_pieces(text) == []


@pytest.mark.parametrize("unit", ["{", "1", "@", "a@", "AA11 ", "1-", " ", "1.", "a.1", "_"])
def test_the_time_grows_with_the_text(unit: str) -> None:
    """100,000 braces took 23 seconds."""

    def read(size: int) -> None:
        text = (unit * size)[:size]
        pieces(text)
        validated_pieces(text)

    assert_four_times_the_text_takes_no_eight_times_as_long(read, 4_000)
