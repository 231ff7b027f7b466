"""A table of labels gives the right figures, however its tools spell them, or is refused."""

from __future__ import annotations

import csv
import io
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labeling.agreement.rules import label_tables
from labeling.agreement.rules.agreement import Agreement
from labeling.domain.errors import FileFault
from labeling.words import in_english

HEADER = ["item", "unit", "annotator", "label"]
TEXTS: dict[Any, list[str]] = {
    "price": ["price", " price", "price "],
    "Price": ["Price"],
    "none": ["none", "none "],
    "-": ["-", " -"],
}
NUMBERS: dict[Any, list[str]] = {
    1: ["1", "1.0", " 1", "01", "+1", "1."],
    2: ["2", "2.00", "2 "],
    3: ["3", "3.0"],
    5: ["5", "5.0"],
}
MISSING = ["", " ", "None", "nan", "NaN", "NA", "N/A", "#N/A", "null", "NULL", "<NA>"]


def figures(content: bytes, statistic: Any = "nominal") -> Agreement:
    return label_tables.read(content, statistic).measured()


def written(rows: list[list[str]], *, delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode(encoding)


def refusal(content: bytes) -> str:
    with pytest.raises(FileFault) as refused:
        label_tables.read(content)
    return in_english(refused.value.fact)


def notes(content: bytes) -> str:
    return " ".join(map(in_english, label_tables.read(content).notes))


@st.composite
def tables(draw: st.DrawFn, spellings: dict[Any, list[str]]) -> tuple[list[list[str]], Any]:
    """Rows in any order, and what each annotator said of each unit; None where it is missing."""
    labels = [*spellings, None]
    people = ["ana", "ben", "cleo"][: draw(st.integers(2, 3))]
    rows, said = [], {}
    for item in "cd":
        for unit in range(draw(st.integers(1, 6))):
            for who in people:
                label = draw(st.sampled_from(labels))
                said[who, item, str(unit)] = label
                shown = draw(st.sampled_from(MISSING if label is None else spellings[label]))
                rows.append([item, str(unit), who, shown])
    return draw(st.permutations(rows)), said


def check(result: Agreement, said: dict[Any, Any], weights: str | None, level: str) -> None:
    """Against scikit-learn, statsmodels and the package of Krippendorff's α."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import fleiss_kappa

    people = sorted({who for who, *_ in said})
    keys = sorted({tuple(place) for _, *place in said})
    values = sorted({label for label in said.values() if label is not None}, key=str)
    codes = {label: values.index(label) if level == "nominal" else label for label in values}
    known = [*range(1, 6)] if level == "interval" else [*codes.values()]
    for pair, (a, b) in zip(result.pairs, combinations(people, 2), strict=True):
        both = [(codes.get(said[a, *key]), codes.get(said[b, *key])) for key in keys]
        both = [(x, y) for x, y in both if x is not None and y is not None]
        assert pair.n == len(both)
        if len({label for two in both for label in two}) < 2:
            assert pair.kappa is None
        else:
            left, right = zip(*both, strict=True)
            expected = cohen_kappa_score(left, right, labels=known, weights=weights)
            assert pair.kappa == pytest.approx(expected, abs=1e-9)
    data = np.array([[codes.get(said[who, *key], np.nan) for key in keys] for who in people])
    paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert result.krippendorff_alpha is None
    else:
        expected = krippendorff.alpha(data, level_of_measurement=level)
        assert result.krippendorff_alpha == pytest.approx(expected, abs=1e-9)
    if level == "nominal" and not np.isnan(data).any():
        counts = np.stack([(data == code).sum(axis=0) for code in known], axis=1)
        expected = fleiss_kappa(counts) if np.ptp(data) else None
        assert result.fleiss_kappa == pytest.approx(expected, abs=1e-9)


@given(
    table=tables(TEXTS | NUMBERS),
    delimiter=st.sampled_from(label_tables.DELIMITERS),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
)
@settings(max_examples=150, deadline=None)
def test_any_spelling_separator_and_encoding_gives_the_right_figures(table, delimiter, encoding):
    rows, said = table
    content = written([HEADER, *rows], delimiter=delimiter, encoding=encoding)

    result = figures(content)

    check(result, said, None, "nominal")
    missing = sum(label is None for label in said.values())
    assert label_tables.read(content).missing == missing


@given(table=tables(NUMBERS))
@settings(max_examples=80, deadline=None)
def test_scores_are_weighed_by_their_distance(table):
    rows, said = table

    check(figures(written([HEADER, *rows]), "interval"), said, "quadratic", "interval")


@given(table=tables(TEXTS), data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_row_of_another_width_is_refused_with_its_line(table, data):
    rows = [HEADER, *table[0]]
    at = data.draw(st.integers(1, len(rows) - 1))
    width = data.draw(st.sampled_from([1, 2, 3, 5, 6, 9]))
    bad = [*rows[at], *["high"] * 5][:width]
    assume(any(cell.strip() for cell in bad))
    rows[at] = bad

    assert f"line {at + 1}: {width} cells, but 4 columns" in refusal(written(rows))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04...", "columns are missing"),
        (b"", "the file is empty"),
        (b"item,unit,annotator,label\n", "the table has no rows"),
        (b"item,unit,ana,ben\nc,u,1,1\n", "columns are missing: annotator, label"),
        (b"c,u,ana,1\nc,u,ben,1\n", "columns are missing: item, unit, annotator, label"),
        (b"item,unit,annotator,label,label\nc,u,a,1,2\n", "two columns have one name"),
        (
            b"item,unit,annotator,label\nc,u,a,1\nc,u,a ,2\n",
            "line 3: a labels u of c a second time",
        ),
        (
            b"item,unit,annotator,label\nc,u,,1\n",
            "line 2: item, unit and annotator must be filled in",
        ),
        (b'item,unit,annotator,label\nc,u,a,"1\nc,u,b,1\n', "line 2 is not a row of a table"),
        ("item,unit,annotator,label\nc,u,a,é\n".encode("latin-1"), "line 2 is not UTF-8"),
    ],
)
def test_what_is_no_such_table_is_called_by_its_name(content, says):
    assert says in refusal(content)


def test_labels_that_are_no_numbers_have_no_interval_figure():
    content = b"item,unit,annotator,label\nc,u,a,low\nc,u,b,high\n"

    with pytest.raises(FileFault) as refused:
        label_tables.read(content, "interval")

    assert "these labels are none: high, low" in in_english(refused.value.fact)


def test_what_is_missing_or_was_not_read_is_said():
    rows = [["c", "1", "ana", "None", "x"], ["c", "1", "ben", "no", "x"]]

    said = notes(written([[*HEADER, "comment"], *rows]))

    assert "Missing labels: 1." in said
    assert "not read: comment" in said
