"""What runs returned of one case, unit by unit of gold, word by word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from evaluation import adapters
from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.events import Events
from evaluation.layers.memory import Memory
from evaluation.metrics.events import Argument, read_events
from evaluation.models import Answer, CaseRun, Score
from evaluation.views.pairs import PairRow, current_scores, rows_of
from labeling.agreement.matching.diffing import Part, word_parts
from labeling.gold.rules.content import GoldMessage
from labeling.translation import lazy as _

LONGEST = 20_000
"""Characters; of longer texts the words are not compared."""

STATES = {
    "same": (_("as in gold"), "ok"),
    "differs": (_("differs"), "warn"),
    "missed": (_("missed"), "bad"),
    "extra": (_("not in gold"), "bad"),
    "nothing": ("", ""),
}


class Field(NamedTuple):
    """A line of what is shown: one field of a label, or all there is with an empty title."""

    title: str
    value: str


Text = tuple[Field, ...]


class Side(NamedTuple):
    """What one run returned for a unit of gold, or beyond it.

    ``why`` says why two labels that are next to each other do not count as a match.
    """

    run: int
    gold: Text | None
    text: Text | None
    why: str = ""

    @property
    def said(self) -> tuple[str, str]:
        """In words, and the class of their badge."""
        if self.text is None:
            return STATES["nothing" if self.gold is None else "missed"]
        if self.gold is None:
            return STATES["extra"]
        return STATES["same" if self.gold == self.text else "differs"]

    @property
    def parts(self) -> list[Part]:
        return [] if self.text is None else _parts(self.gold or self.text, self.text)

    @property
    def differing(self) -> list[Field]:
        """The fields of the run's label that gold does not have like that."""
        return [field for field in self.text or () if field not in (self.gold or ())]


class Unit(NamedTuple):
    """One thing that gold expects, or that only runs returned, with what each run says."""

    gold: Text | None
    sides: list[Side]


Keyed = tuple[str | None, Side]
"""With the key of the unit of gold; None for what gold does not have."""


def units_of(*cases: CaseRun) -> list[Unit]:
    """Gold in its order with what each run made of it, then what only the runs have: in one row
    where they return the same."""
    layer = gold_layer(cases[-1].run.release.layer)
    returned = [_returned(case, layer) for case in cases]
    every = [each for rows in returned for each in rows]
    expected = {key: side.gold for rows in returned[::-1] for key, side in rows if key is not None}
    found = [{key: side for key, side in rows if key is not None} for rows in returned]
    beyond = [{side.text: side for key, side in rows if key is None} for rows in returned]
    runs = [case.run_id for case in cases]
    units = []
    for key, gold in expected.items():
        own = zip(runs, found, strict=True)
        units.append(Unit(gold, [rows.get(key, Side(run, gold, None)) for run, rows in own]))
    for text in dict.fromkeys(side.text for key, side in every if key is None):
        others = zip(runs, beyond, strict=True)
        units.append(Unit(None, [rows.get(text, Side(run, None, None)) for run, rows in others]))
    return units


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


def _returned(case: CaseRun, layer: GoldLayer) -> list[Keyed]:
    scores = current_scores(case)
    if isinstance(layer, Memory):
        return _of_memory(case, layer)
    if isinstance(layer, Events):
        return _of_events(case, layer, scores)
    return [_of_pair(case, row) for row in rows_of(case, scores)]


def _of_pair(case: CaseRun, row: PairRow) -> Keyed:
    gold = _text(row, "gold") if row.gold else None
    text = _text(row, "predicted") if row.predicted else None
    return row.uid if row.gold else None, Side(case.run_id, gold, text, row.why_not)


def _text(row: PairRow, side: str) -> Text:
    fields = [Field(field.title, _written(getattr(field, side))) for field in row.fields]
    return tuple(field for field in fields if field.value)


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(str(part) for part in value)
    return "" if value is None else str(value)


def _of_events(case: CaseRun, layer: Events, scores: Sequence[Score]) -> list[Keyed]:
    """Pairs as they were scored; ``why`` says that the text does not hold what was predicted."""
    example = adapters.to_example(case, layer)
    gold = read_events(example.gold).arguments
    predicted = read_events(layer.predicted(case.output)).arguments
    details = {score.metric: score.detail for score in scores}
    pairs = details.get("relaxed_f1", {}).get("pairs", [])
    partner = {left: predicted[right] for left, right, *_ in pairs}
    paired = {pair[1] for pair in pairs}
    absent = set(details.get("hallucination_rate", {}).get("absent", []))

    def row(label: Argument | None, other: Argument | None) -> Keyed:
        why = str(_("not in the text")) if other and other.text in absent else ""
        said = label if label and other and label.key == other.key else other
        side = Side(case.run_id, _argument(label), _argument(said), why)
        return "/".join(label) if label else None, side

    rows = [row(label, partner.get(at)) for at, label in enumerate(gold)]
    return rows + [row(None, each) for at, each in enumerate(predicted) if at not in paired]


def _argument(said: Argument | None) -> Text | None:
    return _line(f"{said.type}, {said.role}", said.text) if said else None


def _of_memory(case: CaseRun, layer: Memory) -> list[Keyed]:
    example, run = adapters.to_example(case, layer), case.run_id
    expected, returned = layer.expected_ids(example), layer.returned_ids(example)
    lost = why_lost(layer, example)
    rows: list[Keyed] = [
        (str(id), Side(run, text, text if id in returned else None, lost.get(id, "")))
        for id in expected
        for text in [_message(id, example)]
    ]
    beyond = [local_id for local_id in dict.fromkeys(returned) if local_id not in set(expected)]
    rows += [(None, Side(run, None, _message(local_id, example))) for local_id in beyond]
    return [*rows, *_written_answer(case, example)]


def _written_answer(case: CaseRun, example: Example) -> list[Keyed]:
    """The answer in words, where gold has one and the run wrote one."""
    answer = Answer.objects.filter(case=case).first()
    text = answer.text if answer else (example.output or {}).get("answer")
    reference = example.gold[0].get("answer")
    if not reference or not text:
        return []
    said = Side(case.run_id, _line("", str(reference)), _line("", str(text)))
    return [("answer", said)]


def _message(local_id: int, example: Example) -> Text:
    if not 1 <= local_id <= len(example.messages):
        return _line(f"[{local_id}]", gettext("no such message"))
    message = example.messages[local_id - 1]
    return _line(f"[{local_id}] {message['speaker'] or message['role']}", message["content"])


def _line(title: str, value: str) -> Text:
    return (Field(title, value),)


# --- what of a conversation is shown --------------------------------------------------------------


FATES = {
    "found": (_("Found"), _("returned in the answer")),
    "not_selected": (_("Not selected"), _("ranked, but left out of the answer")),
    "lost_in_reranking": (_("Lost in re-ranking"), _("a candidate that the ranking dropped")),
    "never_retrieved": (_("Never retrieved"), _("no candidate at any point")),
}

CONTEXT = 2  # messages shown on either side of an expected or returned one


def evidence_of(case: CaseRun, layer: Memory) -> dict[str, Any]:
    """What the page of such a case shows beside its units."""
    example = adapters.to_example(case, layer)
    expected, returned = layer.expected_ids(example), layer.returned_ids(example)
    return {
        "label": example.gold[0],
        "unscorable": layer.unscorable(example),
        "phases": _phases(layer, example),
        "answer": (example.output or {}).get("answer"),
        "messages": list(excerpt(example.messages, expected, returned, first=1, around=CONTEXT)),
    }


def why_lost(layer: Memory, example: Example) -> dict[int, str]:
    """Where each expected message was lost that was not returned, and its last rank."""
    ranks, returned = layer.ranks(example), layer.returned_ids(example)
    return {
        local_id: str(FATES[fate][0])
        + (f" ({gettext('rank')} {rank})" if (rank := ranks[local_id].last) else "")
        for local_id, fate in layer.fates(example).items()
        if local_id not in returned
    }


def _phases(layer: Memory, example: Example) -> dict[str, Any] | None:
    """Expected and returned phases of an arc side by side; None for a question."""
    if not layer.has_phases:
        return None
    returned = set(layer.returned_ids(example))
    gold = example.gold[0]["phases"]
    return {
        "expected": [
            {**phase, "ids": ids, "found": sorted(returned & set(ids))}
            for phase, ids in zip(gold, layer.expected_phases(example), strict=True)
        ],
        "returned": layer.predicted(example.output),
    }


class ShownMessage(NamedTuple):
    """``skipped`` messages before it are left out; without a ``number`` they were the last ones."""

    number: int | None
    speaker: str = ""
    text: str = ""
    time: Any = None
    expected: bool = False
    returned: bool = False
    skipped: int = 0


def excerpt(
    messages: Sequence[GoldMessage],
    expected: Collection[int],
    returned: Collection[int],
    *,
    first: int,
    around: int,
    whole: int = 0,
    most: int | None = None,
) -> Iterator[ShownMessage]:
    """What is cited and its neighbors, or all of a conversation of no more than ``whole``
    messages; the first has the number ``first``."""
    cited = {number - first for number in (*expected, *returned)}
    near = [
        at
        for at in range(len(messages))
        if any(at + off in cited for off in range(-around, around + 1))
    ]
    if len(messages) <= whole:
        near = list(range(len(messages)))
    last = -1
    for at in (near or list(range(whole)))[:most]:
        message = messages[at]
        yield ShownMessage(
            number=at + first,
            speaker=message["speaker"] or message["role"],
            text=message["content"],
            time=parse_datetime(message["time"] or ""),
            expected=at + first in expected,
            returned=at + first in returned,
            skipped=at - last - 1,
        )
        last = at
    if 0 <= last < len(messages) - 1:
        yield ShownMessage(None, skipped=len(messages) - last - 1)
