"""Every fact has words, with a place for each of its values."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext_lazy, override

from config import messages
from labeling import words as table
from labeling.domain.errors import RuleError
from labeling.domain.facts import CODE, Fact, MalformedFact
from labeling.templatetags.words import words_of_fact
from labeling.words import WORDS, in_english, words

NOT_VALUES = {"details", "retry_after"}
"""Keywords of errors that are not values of the fact."""


@cache
def product() -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text())
        for app in (*messages.APPS, "pipelines")
        for path in sorted((settings.BASE_DIR / app).rglob("*.py"))
        if "migrations" not in path.parts
    }


ERRORS = {"RuleError", "FileFault", "PipelineError", "MalformedOutput"}
"""They, and all that derive from them, are made of a code and its values."""

MAKERS = {"Fact", "fact", "_unreadable"}


@cache
def makers() -> set[str]:
    return MAKERS | below(ERRORS, list(product().values()))


def below(roots: set[str], trees: list[ast.Module]) -> set[str]:
    """These classes and all that derive from them, by name."""
    bases = {
        node.name: {getattr(base, "id", "") for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = set(roots)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Where facts and refusals are made."""
    for path, tree in product().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in makers():
                yield f"{path.relative_to(settings.BASE_DIR)}:{node.lineno}", node


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def facts() -> Iterator[tuple[str, str, set[str] | None]]:
    """Where a fact is made, its code, and the names of its values unless they are unpacked.

    A code with a changing end (``Fact(f"layer.{name}")``) is given with a star.
    """
    for where, node in calls():
        names = {keyword.arg for keyword in node.keywords} - NOT_VALUES
        values = None if None in names else {name for name in names if name}
        for code in codes(node.args[0]) if node.args else []:
            yield where, code, values


def codes(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*codes(node.body), *codes(node.orelse)]
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        start = str(node.values[0].value)
        return [f"{start}*"] if re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_.]*", start) else []
    if isinstance(node, ast.Call) and _called(node) == "msgid":
        return [ast.literal_eval(node.args[0])]
    is_code = isinstance(node, ast.Constant) and CODE.fullmatch(str(node.value))
    return [str(node.value)] if is_code else []


PROSE = re.compile(r"[A-Za-z]{2,},? [A-Za-z]{2,}")


def prose(call: ast.Call) -> list[str]:
    """Texts where a code belongs, and sentences among the values of a fact."""
    first = [text for node in call.args[:1] for text in _texts(node)]
    texts = [text for text in first if not re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_.]*", text)]
    values = [keyword.value for keyword in call.keywords if keyword.arg not in AS_IT_IS]
    return [*texts, *filter(PROSE.search, (part for value in values for part in _parts(value)))]


def _parts(node: ast.AST) -> Iterator[str]:
    """All texts but those that are marked."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if not (isinstance(node, ast.Call) and _called(node) == "msgid"):
        for child in ast.iter_child_nodes(node):
            yield from _parts(child)


AS_IT_IS = {"details", "example"}
"""What people may copy into a file, in any language."""


def _texts(node: ast.expr) -> Iterator[str]:
    """What the source writes out of a text: its first part where it changes."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_rest]):
            yield text
        case ast.JoinedStr():
            yield ast.unparse(node)
        case ast.BinOp(left=left, right=right):
            yield from (*_texts(left), *_texts(right))
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body), *_texts(orelse))
        case ast.Call(func=ast.Attribute(value=ast.Constant() as joined)):
            yield from _texts(joined)
        case ast.Call(func=ast.Name(id="str")):
            yield ast.unparse(node)


def places(text: Any) -> set[str]:
    """The values that a text names, in all its plural forms."""
    forms = [text]
    if isinstance(text, Promise) and (kwargs := _plural(text)):
        forms = [kwargs["singular"], kwargs["plural"]]
    return {name for form in forms for name in _names(str(form))}


def _names(form: str) -> Iterator[str]:
    for _text, name, spec, _conversion in string.Formatter().parse(form):
        yield from ([name] if name else [])
        yield from _names(spec or "")  # the number of decimals may be a value, too


def _plural(text: Any) -> dict[str, Any]:
    kwargs = getattr(text, "_kw", None) or {}
    return kwargs if "singular" in kwargs else {}


def test_every_fact_has_words_with_a_place_for_each_value() -> None:
    wrong = []
    for where, code, values in facts():
        if code.endswith("*"):
            known = any(one.startswith(code[:-1]) for one in WORDS)
            wrong += [] if known else [f"{where}: no words for {code}"]
        elif code not in WORDS and " " not in code:
            wrong.append(f"{where}: no words for {code}")
        elif values is not None and (named := places(WORDS.get(code, code))) != values:
            wrong.append(f"{where}: {code} holds {values}, its words name {named}")
    assert wrong == []


def test_no_refusal_and_no_fact_is_made_of_a_text() -> None:
    assert [f"{where}: {text}" for where, call in calls() for text in prose(call)] == []


@pytest.mark.parametrize(
    ("source", "is_text"),
    [
        ('RuleError("Write something first.")', True),
        ('RuleError(f"There is no split “{split}”.")', True),
        ("RuleError(str(error))", True),
        ('Fact("file.not_json", why="nested too deeply")', True),
        ('RuleError("a.b" if known else "a.c", kind=kind)', False),
        ('RuleError(msgid("Write something to {name} first."), name=name)', False),
    ],
)
def test_a_refusal_made_of_a_text_would_be_found(source: str, is_text: bool) -> None:
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    assert bool(prose(statement.value)) == is_text


@pytest.mark.parametrize("code", ["", "no_dot", "a.b ", "a {b.c}", "a {b:9}", "a {b!r}", "a {"])
def test_a_text_is_not_a_code(code: str) -> None:
    with pytest.raises(MalformedFact):
        Fact(code)
    with pytest.raises(MalformedFact):
        Fact.from_json({"code": code, "values": {}})


STORED = {
    *("trial.cancelled", "suggestions.stopped", "suggestions.for_layer"),
    *("legacy.text", "budget.set_prices", "build.too_long", "gate.coverage"),
    *(
        "certificate.probes_failed",
        "gold.correction_without_label",
        "agreement.no_suggestions_seen",
    ),
}
"""Of rows of an earlier version: they are read and no longer made."""


def test_every_text_belongs_to_a_fact_that_is_made() -> None:
    made = {code for _where, code, _values in facts()} | in_tables()
    starts = tuple(code[:-1] for code in made if code.endswith("*"))
    unused = [code for code in WORDS if code not in made and not code.startswith(starts or "*")]
    assert [code for code in unused if code not in STORED] == []


def in_tables() -> set[str]:
    """Codes that a name or a table holds before a fact is made of them."""
    return {
        str(node.value)
        for path, tree in product().items()
        if path.name != "words.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and CODE.fullmatch(str(node.value))
    }


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(table, "WORDS", {})
    table.WORDS["test.count"] = ngettext_lazy("{n} case", "{n} cases", "n")
    table.WORDS["test.line"] = "line {line:d}: {why}"
    table.WORDS["test.share"] = "{share}"
    table.WORDS["test.names"] = "{names}"
    return table.WORDS


@pytest.mark.usefixtures("texts")
def test_numbers_are_written_as_the_reader_does() -> None:
    assert in_english(Fact("test.count", n=1)) == "1 case"
    assert in_english(Fact("test.count", n=1200)) == "1,200 cases"
    assert in_english(Fact("test.share", share=0.5)) == "0.5"
    with override("de"):
        assert words(Fact("test.count", n=1200)).startswith("1.200 ")
        assert words(Fact("test.share", share=0.5)) == "0,5"


@pytest.mark.usefixtures("texts")
def test_facts_within_facts_are_worded_and_lists_are_joined() -> None:
    one, two = Fact("test.count", n=1), Fact("test.count", n=2)

    assert in_english(Fact("test.line", line=1200, why=one)) == "line 1200: 1 case"
    assert in_english(Fact("test.names", names=[one, two])) == "1 case; 2 cases"
    assert in_english(Fact("test.names", names=["ana", "ben"])) == "ana, ben"


@pytest.mark.usefixtures("texts")
def test_a_template_words_a_fact_and_what_a_row_holds_of_it() -> None:
    fact = Fact("test.count", n=2)

    assert words_of_fact(fact) == words_of_fact(fact.as_json()) == "2 cases"
    assert words_of_fact("The text of an old row.") == "The text of an old row."
    assert words_of_fact(None) == ""


def test_a_refusal_carries_its_fact_and_what_the_api_promises() -> None:
    error = RuleError("round.too_large", most=500, details={"limit": 500})

    assert (error.fact, error.details) == (Fact("round.too_large", most=500), {"limit": 500})
    assert str(error) == "round.too_large most=500"


def test_a_refusal_says_its_own_sentence_in_the_language_of_the_reader() -> None:
    text = "Leave out “{words}”."
    again = Fact.from_json(Fact(text, words="{x}").as_json())

    assert in_english(again) == "Leave out “{x}”."
    with override("de"):
        assert words(again) == gettext(text).format(words="{x}") != in_english(again)
    assert words(Fact(text)) == text  # of a newer version


def test_no_two_tables_word_one_code(texts: dict[str, Any]) -> None:
    table.register({"test.more": "more"})
    assert texts["test.more"] == "more"
    with pytest.raises(ValueError, match=r"test\.count"):
        table.register({"test.count": "another text"})


def test_a_name_read_from_the_right_turns_no_sentence_on_pages_and_is_plain_in_files() -> None:
    name = "ليلى"
    fact = Fact("calibration.nothing_to_let_in", user=name)

    assert words(fact) == f"\u2068{name}\u2069 may do full labeling already, or is not annotator."
    assert in_english(fact) == f"{name} may do full labeling already, or is not annotator."
    assert words(Fact("calibration.nothing_to_let_in", user="ana")).startswith("ana may")


@pytest.mark.parametrize("said", ["a; " * 600, "{braces} %(and) {others", "Round 3 is open."])
def test_a_text_from_outside_is_never_looked_into(said: str) -> None:
    failed = Fact("model.server_failed", status=500, said=said)

    with override("de"):
        assert words(failed) == f"Der Server des Modells versagte (500): {said}"
