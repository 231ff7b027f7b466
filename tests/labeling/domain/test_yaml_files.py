"""YAML of users is read as they meant it, and never takes more than it weighs."""

from __future__ import annotations

import pytest

from labeling.domain import yaml_files
from labeling.domain.yaml_files import YamlFault, read_documents

NINE = b",".join([b"x"] * 9)
LAUGHS = (
    b"a0: &a0 ["
    + NINE
    + b"]\n"
    + b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 9)
    )
)  # 9⁹ values in 400 bytes
LONG = b"a: &a " + b"x" * 100_000 + b"\nb: [" + b",".join([b"*a"] * 1_000) + b"]"  # 100 MB of text


def values(text: str) -> list[object]:
    return [document.value for document in read_documents(text.encode())]


def test_words_stay_words_and_numbers_numbers():
    said = values("actor: No\ntitle: on\nday: 2026-01-31\nnone: ~\nempty:\nn: -2\nf: 1e3\nt: true")

    assert said == [
        {
            "actor": "No",
            "title": "on",
            "day": "2026-01-31",
            "none": None,
            "empty": None,
            "n": -2,
            "f": 1000.0,
            "t": True,
        }
    ]


def test_a_file_may_hold_several_documents_and_an_alias():
    assert values("\ufeffa: &x [1]\nb: *x\n---\n- é\n") == [{"a": [1], "b": [1]}, ["é"]]
    assert values("") == values("# only a remark") == []


@pytest.mark.parametrize(
    ("raw", "code", "line"),
    [
        (LAUGHS, "yaml.too_much", None),
        (LONG, "yaml.too_much", 1),
        (b"a: &x [1, *x]", "yaml.holds_itself", 1),
        (b"a: 1\nb: 2\na: 3", "file.key_twice", 3),
        (b"\n? [a]\n: b", "yaml.key_is_no_text", 2),
        (b"a: !!python/object:os.system x", "yaml.unknown_tag", 1),
        (b"a: !!binary aGk=", "yaml.unknown_tag", 1),
        (b"a: !!int two", "yaml.unknown_tag", 1),
        (b"a: 1e999", "yaml.number_too_large", 1),
        (b"a: " + b"9" * 5000, "yaml.number_too_large", 1),
        (b"a: 1\nb: [1", "yaml.not_yaml", 2),
        (b"a: \x00", "yaml.not_yaml", None),
        (b"[" * 1500, "file.too_deep", None),
        (b"a: " + b"[" * 60 + b"]" * 60, "file.too_deep", 1),
        ("a: é".encode("utf-16"), "file.not_utf8", 1),
        (b"a: 1\nb: \xff", "file.not_utf8", 2),
    ],
)
def test_what_cannot_be_read_is_refused_at_once_with_its_line(raw, code, line):
    """9⁹ values would take longer than any test may."""
    with pytest.raises(YamlFault) as refused:
        list(read_documents(raw))

    assert refused.value.fact.code == code
    assert line is None or refused.value.line == line


def test_a_file_that_is_too_long_is_not_even_parsed(monkeypatch):
    monkeypatch.setattr(yaml_files, "MAX_BYTES", 10)

    with pytest.raises(YamlFault, match=r"file\.too_long limit=10"):
        list(read_documents(b"a: 12345678"))


def test_every_value_knows_its_line():
    [document] = read_documents(b"a:\n  - b: 1\n    c: 2\n")

    assert document.line_of(("a", 0, "c")) == 3
    assert document.line_of(("a", 0, "missing")) == 2  # of the mapping that lacks it
