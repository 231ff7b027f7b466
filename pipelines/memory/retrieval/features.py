"""Features of a message as evidence: one row for each message, one column for each feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.retrieval.late import Encoded, encode_both
from pipelines.memory.retrieval.question import KINDS, Asked
from pipelines.memory.retrieval.views import WIDTHS, Views
from pipelines.memory.text import IMAGE, words
from pipelines.types import Encoder

Floats = NDArray[np.float64]
FEEDBACK = 5  # top messages assumed to be evidence when looking for similar ones
NO_LIKENESS = -1.0  # the least that a cosine can be
SPEAKER = 1.0  # added to a fused score if the person asked about wrote the message

_CUES = {
    "question": re.compile(r"\?"),
    "picture": IMAGE,
    "number": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several)\b",
        re.I,
    ),
    "time": re.compile(
        r"\b(?:today|tonight|yesterday|tomorrow|last|next|ago|since|week|weekend|month|year|summer|"
        r"winter|spring|fall|morning|evening|night|now|just|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
        r"january|february|march|april|june|july|august|september|october|november|december)s?\b",
        re.I,
    ),
    "place": re.compile(r"\b(?:in|at|to|from|near) (?:the )?[A-Z][a-z]+"),
    "title": re.compile(r"[\"“”]"),
    "self": re.compile(r"\b(?:i|i'm|im|my|me|we|our|i've|i'll|id|ive)\b", re.I),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z]+"),
    "greeting": re.compile(r"^\W*(?:hi|hey|hello|good (?:morning|evening)|thank|haha|lol)\b", re.I),
    "list": re.compile(r",[^,]{2,40},|, and |\n[•\-\d]"),
    "taste": re.compile(
        r"\b(?:love|like|favou?rite|enjoy|prefer|fan of|hate|into|interested|hobby|used to)\b", re.I
    ),
}  # fmt: skip
_PAIRS = (
    ("when", "time"), ("where", "place"), ("how_many", "number"), ("several", "list"),
    ("several", "title"), ("several", "name"), ("several", "taste"), ("yes_no", "taste"),
    ("guess", "taste"), ("where", "name"), ("when", "self"), ("several", "self"),
)  # fmt: skip


class Wordings:
    """Those of several questions: encoded and looked up together, when a score needs it."""

    def __init__(self, views: Views, asked: Sequence[Asked], encoder: Encoder) -> None:
        self._views, self._asked, self._encoder = views, asked, encoder

    @cached_property
    def encoded(self) -> Mapping[str, Encoded]:
        wordings = [wording for question in self._asked for wording in question.wordings]
        return encode_both(wordings, self._encoder)

    @cached_property
    def nearest(self) -> Mapping[str, Floats]:
        """Each token in the first person, and without names, with every message."""
        sought = list(dict.fromkeys(text for row in self._asked for text in (row.first, row.bare)))
        tokens = [self.encoded[text].tokens.vectors for text in sought]
        near = self._views.tokens.nearest(np.concatenate(tokens))
        ends = np.cumsum([len(rows) for rows in tokens])[:-1]
        return dict(zip(sought, np.split(near, ends, axis=1), strict=True))


class Evidence:
    """The single scores of all messages for one question."""

    def __init__(self, views: Views, asked: Asked, wordings: Wordings) -> None:
        self.views, self.asked, self._wordings = views, asked, wordings
        self.size = len(views.messages)

    @cached_property
    def lexical(self) -> Floats:
        return self.views.lexical.score(self.asked.stems)

    @cached_property
    def _questions(self) -> Floats:
        encoded = self._wordings.encoded
        rows = [encoded[wording].sentence for wording in self.asked.wordings]
        return np.stack(rows).astype(np.float64)

    def _by_width(self, width: int) -> Floats:
        """Columns: as asked, in the first person, without names."""
        cosines = self.views.vectors[width] @ self._questions.T.astype(np.float32)
        return cosines.astype(np.float64)

    @cached_property
    def dense(self) -> Floats:
        return self._by_width(1)

    @cached_property
    def windows(self) -> dict[int, Floats]:
        return {
            width: to_messages(
                self._by_width(width)[:, 1:].mean(axis=1), width=width, count=self.size
            )
            for width in WIDTHS
        }

    @cached_property
    def _near(self) -> tuple[Floats, Floats, Floats]:
        """The nearest words to each token in the first person, and without names; their rarity."""
        first, bare = self.asked.first, self.asked.bare
        near, encoded = self._wordings.nearest, self._wordings.encoded
        return near[first], near[bare], self.views.tokens.weights(encoded[bare].tokens.pieces)

    @cached_property
    def late(self) -> Floats:
        """Columns: first person, without names, without names by rarity, the nearest single."""
        first, bare, weights = self._near
        rare = bare @ weights / max(float(weights.sum()), 1e-9)
        strong = (bare * weights).max(axis=1)
        return np.column_stack([first.mean(axis=1), bare.mean(axis=1), rare, strong])

    @cached_property
    def late_among(self) -> dict[str, Floats]:
        """Words of the question may also be in the messages around it: answers are brief."""
        first = self._near[0]
        second, third, after = (shifted(first, by, beyond=NO_LIKENESS) for by in (1, 2, -1))
        before = np.maximum(first, second)
        parts = {
            "before": before,
            "two before": np.maximum(before, third),
            "after": np.maximum(first, after),
            "around": np.maximum(before, after),
        }
        return {name: near.mean(axis=1) for name, near in parts.items()}

    @cached_property
    def said_by(self) -> Floats:
        """1 for messages by the person asked about, else 0; ½ if both or nobody is named."""
        about = self.asked.about
        if len(about) != 1:
            return np.full(self.size, 0.5)
        return np.array([float(message.speaker == about[0]) for message in self.views.messages])

    @cached_property
    def fused(self) -> Floats:
        parts = scaled(self.lexical) + scaled(self.dense[:, 1]) + 1.5 * scaled(self.late[:, 0])
        parts = parts + scaled(self.dense[:, 2]) + 0.5 * scaled(self.windows[2])
        total: Floats = parts / 4 + SPEAKER * self.said_by
        return total


def to_messages(scores: Floats, *, width: int, count: int) -> Floats:
    """A message is worth its best window."""
    best = np.full(count, -np.inf)
    for offset in range(width):
        end = min(offset + len(scores), count)
        best[offset:end] = np.maximum(best[offset:end], scores[: end - offset])
    return best


def scaled(scores: Floats) -> Floats:
    """Mean 0 and deviation 1 over the conversation; 0 everywhere if all are equal."""
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread > 1e-9 else np.zeros_like(scores)


def shifted(scores: Floats, by: int, *, beyond: float = 0.0) -> Floats:
    """The score of ``by`` messages earlier (negative: later); ``beyond`` past the ends."""
    moved = np.full_like(scores, beyond)
    if abs(by) < len(scores):
        if by > 0:
            moved[by:] = scores[:-by]
        else:
            moved[:by] = scores[-by:]
    return moved


def ranks(scores: Floats) -> Floats:
    order = np.argsort(-scores, kind="stable")
    places = np.empty(len(scores))
    places[order] = np.arange(1, len(scores) + 1)
    return places


def columns(evidence: Evidence, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    """Every feature by name. ``shape`` are the cues of the messages, which no question changes."""
    return {
        **_single(evidence),
        **_context(evidence, shape),
        **_feedback(evidence),
        **_speaking(evidence, shape),
        **_kinds(evidence, shape),
        **_days(evidence),
    }


def cues(views: Views) -> dict[str, Floats]:
    texts = [message.content for message in views.messages]
    columns = {
        name: np.array([float(bool(cue.search(text))) for text in texts])
        for name, cue in _CUES.items()
    }
    columns["length"] = np.array([float(np.log1p(len(words(text)))) for text in texts])
    return columns


def _single(evidence: Evidence) -> dict[str, Floats]:
    views, stems = evidence.views, evidence.asked.stems
    late, near = evidence.late, evidence.dense
    columns = {
        "lexical": scaled(evidence.lexical),
        "lexical pairs": scaled(views.pairs.score(stems)),
        "covered": views.lexical.covered(stems),
        "covered in pairs": views.pairs.covered(stems),
        "dense asked": scaled(near[:, 0]),
        "dense first": scaled(near[:, 1]),
        "dense bare": scaled(near[:, 2]),
        "dense raw": near[:, 1],
        "late first": scaled(late[:, 0]),
        "late bare": scaled(late[:, 1]),
        "late rare": scaled(late[:, 2]),
        "late raw": late[:, 0],
        "late strong": scaled(late[:, 3]),
    }
    columns |= {f"windows {width}": scaled(scores) for width, scores in evidence.windows.items()}
    columns |= {f"late, {where}": scaled(scores) for where, scores in evidence.late_among.items()}
    for name in ("lexical", "dense first", "late rare", "late first"):
        columns[f"{name} rank"] = 1 / np.sqrt(ranks(columns[name]))
    return columns


def _context(evidence: Evidence, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    fused = evidence.fused
    asked_before = shifted(shape["question"], 1)
    columns = {f"fused {by:+d}": shifted(fused, -by) for by in (-3, -2, -1, 1, 2, 3)}
    bursts = evidence.views.bursts
    top = np.full(bursts.max() + 1, -np.inf)
    np.maximum.at(top, bursts, fused)
    mean = np.bincount(bursts, weights=fused) / np.bincount(bursts)
    return columns | {
        "fused": fused,
        "fused rank": 1 / np.sqrt(ranks(fused)),
        "fused log rank": np.log(ranks(fused)),
        "fused above": np.maximum(fused - 2, 0),
        "answers": asked_before * shifted(fused, 1),
        "lexical before": shifted(scaled(evidence.lexical), 1),
        "late before": shifted(scaled(evidence.late[:, 2]), 1),
        "answers late": asked_before * shifted(scaled(evidence.late[:, 2]), 1),
        "burst top": top[bursts],
        "burst mean": mean[bursts],
        "behind best": fused - fused.max(),
    }


def _feedback(evidence: Evidence) -> dict[str, Floats]:
    """Similarity to the best messages."""
    best = np.argsort(-evidence.fused, kind="stable")[:FEEDBACK]
    vectors = evidence.views.vectors[1]
    near = (vectors @ vectors[best].T).astype(np.float64)
    near[best, np.arange(len(best))] = 0.0
    distance = np.abs(np.arange(evidence.size)[:, None] - best[None, :])
    return {
        "like the best": scaled(near.mean(axis=1)),
        "like one of the best": near.max(axis=1),
        "near one of the best": np.exp(-distance.min(axis=1) / 3.0),
    }


def _speaking(evidence: Evidence, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    shares, single = evidence.said_by, float(len(evidence.asked.about) == 1)
    masked = np.where(shares > 0, evidence.fused, evidence.fused.min())
    return {
        "said by": shares,
        "said by × late": shares * scaled(evidence.late[:, 2]),
        "said by × dense": shares * scaled(evidence.dense[:, 2]),
        "said by × self": shares * shape["self"],
        "one person × fused": single * evidence.fused,
        "rank among": 1 / np.sqrt(ranks(masked)),
    }


def _kinds(evidence: Evidence, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    kinds = evidence.asked.kinds
    columns = {f"has {name}": column for name, column in shape.items()}
    for kind, cue in _PAIRS:
        columns[f"{kind} × {cue}"] = float(kind in kinds) * shape[cue]
    for kind in KINDS:
        columns[f"{kind} × fused"] = float(kind in kinds) * evidence.fused
        columns[kind] = np.full(evidence.size, float(kind in kinds))
    columns["both"] = np.full(evidence.size, float(evidence.asked.both))
    columns["stems"] = np.full(evidence.size, float(len(evidence.asked.stems)))
    return columns


def _days(evidence: Evidence) -> dict[str, Floats]:
    days, known = evidence.asked.days, evidence.views.days
    near = np.array([float(days is not None and days.hold(day, slack=1)) for day in known])
    if days is None or not near.any():  # it names no day, or a day before or after the conversation
        names = ("dated", "on the day", "near the day", "on the day × fused")
        return dict.fromkeys(names, np.zeros(evidence.size))
    on = np.array([float(days.hold(day)) for day in known])
    return {
        "dated": np.ones(evidence.size),
        "on the day": on,
        "near the day": near,
        "on the day × fused": on * evidence.fused,
    }
