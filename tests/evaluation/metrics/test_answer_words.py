"""How near an answer's words are to a reference, in languages with and without blanks."""

import unicodedata

import pytest

from evaluation.metrics.answers import answer_token_f1


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("我去了北京", "他去了北京", 4 / 5),  # 4 of 5 characters on both sides
        ("東京です", "東京", 2 * 2 / (4 + 2)),
        ("서울에서", "서울", 2 * 2 / (4 + 2)),
        ("กรุงเทพ", "กรุงเทพ", 1),
        ("iPhone15を買った", "iphone15", 2 * 1 / (5 + 1)),
        ("3.5 km", "35 km", 1 / 2),  # of two words one
        ("3,5 km", "3.5 km", 1),
        ("1,000 m", "1000 m", 1),
        ("-5", "5", 0),
        ("−5 °C", "-5 °C", 1),
        ("5-7 days", "57 days", 2 * 1 / (3 + 2)),
        ("10:30", "1030", 0),
        (".5", "0.5", 1),
        ("$1,200.50.", "1200.50", 1),
        (unicodedata.normalize("NFD", "Müller"), "Müller", 1),
    ],
)
def test_words_are_compared_as_their_language_writes_them(answer, reference, expected):
    assert answer_token_f1(answer, reference).value == pytest.approx(expected)
