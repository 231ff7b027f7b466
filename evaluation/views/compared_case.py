"""One case of two runs: what either returned, word by word against gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.events import Events
from evaluation.layers.memory import Memory
from evaluation.models import Answer, CaseRun, Score
from evaluation.templatetags import present
from evaluation.views.events import events_of
from evaluation.views.pairs import PairRow, current_scores, rows_of
from labeling.agreement.matching.diffing import Part, word_parts
from labeling.translation import lazy as _
from labeling.words import words_of

LONGEST = 20_000
"""Characters; of longer texts the words are not compared."""

STATES = {
    "same": (_("as in gold"), "ok"),
    "differs": (_("differs"), "warn"),
    "missed": (_("missed"), "bad"),
    "extra": (_("not in gold"), "bad"),
    "nothing": ("", ""),
}


class Side(NamedTuple):
    """What one run returned for a unit of gold, or beyond it."""

    state: str
    title: str
    badge: str
    parts: list[Part]


class Field(NamedTuple):
    """A line of what is shown: one field of a label, or all there is with an empty title."""

    title: str
    value: str


Text = tuple[Field, ...]


class Unit(NamedTuple):
    """One thing that gold expects, or that only a run returned, with what either run says."""

    gold: Text | None
    before: Side
    after: Side


class OwnUnit(NamedTuple):
    """One thing that gold expects, or that only the run returned, with what the run says.

    ``why`` says why two labels that are next to each other do not count as a match.
    """

    gold: Text | None
    run: Text | None
    title: str
    badge: str
    why: str

    @property
    def differing(self) -> list[Field]:
        """The fields of the run's label that gold does not have like that."""
        return [field for field in self.run or () if field not in (self.gold or ())]


class Column(NamedTuple):
    """One of the two runs' cases: its figure, and why there is no output."""

    case: CaseRun
    cell: present.Cell
    error: str


class _Returned(NamedTuple):
    """A unit of one run: ``key`` is that of gold, ``None`` for what gold does not have."""

    key: str | None
    gold: Text | None
    text: Text | None


def column_of(case: CaseRun, metric: str) -> Column:
    scores = [score for score in current_scores(case) if score.metric == metric]
    failed = case.state == CaseRun.State.FAILED
    cell = present.score_cell(scores[0] if scores else None, failed=failed)
    return Column(case, cell, words_of(case.error))


def units_of(before: CaseRun, after: CaseRun) -> list[Unit]:
    """Gold in its order with what each run made of it, then what only the runs have."""
    layer = gold_layer(after.run.release.layer)
    old, new = (_returned(case, layer) for case in (before, after))
    expected = {row.key: row.gold or () for row in [*new, *old] if row.key is not None}
    sides = [{row.key: row.text for row in rows if row.key is not None} for rows in (old, new)]
    units = [
        Unit(gold, _side(gold, sides[0].get(key)), _side(gold, sides[1].get(key)))
        for key, gold in expected.items()
    ]
    return [*units, *_extras(old, new)]


def own_units(case: CaseRun) -> list[OwnUnit]:
    """The same of a single run."""
    layer = gold_layer(case.run.release.layer)
    if not isinstance(layer, Memory | Events):
        pairs = rows_of(case, current_scores(case))
        returned = [(_of_pair(row), row.title, row.badge, row.why_not) for row in pairs]
    else:
        returned = [(row, *STATES[_state(row)], "") for row in _returned(case, layer)]
    return [OwnUnit(row.gold, row.text, *said) for row, *said in returned]


def _state(row: _Returned) -> str:
    if row.text is None:
        return "nothing" if row.gold is None else "missed"
    if row.gold is None:
        return "extra"
    return "same" if row.gold == row.text else "differs"


def _extras(old: Sequence[_Returned], new: Sequence[_Returned]) -> Iterator[Unit]:
    """Both runs in one row where they return the same."""
    before, after = (
        [row.text for row in rows if row.key is None and row.text is not None]
        for rows in (old, new)
    )
    for text in dict.fromkeys([*before, *after]):
        yield Unit(
            None,
            _side(None, text if text in before else None),
            _side(None, text if text in after else None),
        )


def _side(gold: Text | None, text: Text | None) -> Side:
    state = _state(_Returned(None, gold, text))
    parts = [] if text is None else _parts(gold or text, text)
    return Side(state, *STATES[state], parts)


def _parts(gold: Text, text: Text) -> list[Part]:
    """Field by field, so that words of one are not taken for those of another."""
    old, new = dict(gold), dict(text)
    parts: list[Part] = []
    for title in dict.fromkeys([*old, *new]):
        before, after = old.get(title, ""), new.get(title, "")
        start = "\n" if parts else ""
        parts.append(Part("same", f"{start}{title}: " if title else start))
        too_long = max(len(before), len(after)) > LONGEST
        parts += (
            [Part("removed", before), Part("added", after)]
            if too_long and before != after
            else word_parts(before, after)
        )
    return parts


def _returned(case: CaseRun, layer: GoldLayer) -> list[_Returned]:
    scores = current_scores(case)
    if isinstance(layer, Memory):
        return _of_memory(case, layer)
    if isinstance(layer, Events):
        return _of_events(case, layer, scores)
    return [_of_pair(row) for row in rows_of(case, scores)]


def _of_pair(row: PairRow) -> _Returned:
    return _Returned(
        key=str(row.gold["uid"]) if row.gold else None,
        gold=_text(row, "gold") if row.gold else None,
        text=_text(row, "predicted") if row.predicted else None,
    )


def _text(row: PairRow, side: str) -> Text:
    fields = [Field(field.title, _written(getattr(field, side))) for field in row.fields]
    return tuple(field for field in fields if field.value)


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(str(part) for part in value)
    return "" if value is None else str(value)


def _of_events(case: CaseRun, layer: Events, scores: Sequence[Score]) -> list[_Returned]:
    rows = events_of(case, layer, scores)["rows"]
    return [
        _Returned(
            key=None if row.gold is None else f"{row.type}/{row.role}/{row.gold}",
            gold=None if row.gold is None else _line(f"{row.type}, {row.role}", row.gold),
            text=None if row.predicted is None else _line(f"{row.type}, {row.role}", row.predicted),
        )
        for row in rows
    ]


def _of_memory(case: CaseRun, layer: Memory) -> list[_Returned]:
    example = adapters.to_example(case, layer)
    expected, returned = layer.expected_ids(example), layer.returned_ids(example)
    rows = [
        _Returned(str(local_id), text, text if local_id in returned else None)
        for local_id in expected
        for text in [_message(local_id, example)]
    ]
    beyond = [local_id for local_id in dict.fromkeys(returned) if local_id not in set(expected)]
    rows += [_Returned(None, None, _message(local_id, example)) for local_id in beyond]
    return [*rows, *_written_answer(case, example)]


def _written_answer(case: CaseRun, example: Example) -> list[_Returned]:
    """The answer in words, where gold has one and the run wrote one."""
    answer = Answer.objects.filter(case=case).first()
    text = answer.text if answer else (example.output or {}).get("answer")
    reference = example.gold[0].get("answer")
    if not reference or not text:
        return []
    return [_Returned("answer", _line("", str(reference)), _line("", str(text)))]


def _message(local_id: int, example: Example) -> Text:
    if not 1 <= local_id <= len(example.messages):
        return _line(f"[{local_id}]", "–")
    message = example.messages[local_id - 1]
    return _line(f"[{local_id}] {message['speaker'] or message['role']}", message["content"])


def _line(title: str, value: str) -> Text:
    return (Field(title, value),)
