"""Which records of two lists mean the same: one matcher for people and pipelines.

Because annotators are compared with each other by the same function as a
pipeline with gold, their agreement is the ceiling of what a pipeline can score.
"""

import json
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.matching.similarity import Ruler

Record = Mapping[str, Any]
Synonyms = Sequence[Collection[str]]
Preference = Callable[[int, int], float]
Mask = NDArray[np.bool_]

THRESHOLD = 0.85
"""Two requirements match only if their similarity is strictly greater."""

DEFAULT_SYNONYMS: Synonyms = (
    frozenset({"user", "customer", "end-user", "client"}),
    frozenset({"system", "application", "platform", "service"}),
    frozenset({"admin", "administrator", "superuser"}),
)


class Match(NamedTuple):
    """A pair of positions, one in each list, and how similar their texts are."""

    left: int
    right: int
    similarity: float


def requirement_text(requirement: Record) -> str:
    """The text by which a requirement is compared: title and action.

    Examples
    --------
    >>> requirement_text({"title": "User Login", "action": "Authenticate with email"})
    'User Login Authenticate with email'
    """
    return f"{requirement.get('title') or ''} {requirement.get('action') or ''}"


def criteria(requirement: Record) -> list[str]:
    """The acceptance criteria that say something."""
    return [text for text in requirement.get("acceptance_criteria") or [] if text.strip()]


def texts_to_prime(requirements: Iterable[Record]) -> Iterator[str]:
    """Every text that matching will compare, for one :meth:`Ruler.prime` over a whole run."""
    for requirement in requirements:
        yield requirement_text(requirement)
        yield from criteria(requirement)


def same_actor(a: str | None, b: str | None, synonyms: Synonyms = DEFAULT_SYNONYMS) -> bool:
    """Whether two actors are equal or synonyms, lower-cased and trimmed.

    Synonym groups are symmetric and do not chain: two words are synonyms only if
    one group holds both. A missing actor matches nothing, not even another missing one.

    Examples
    --------
    >>> same_actor("Customer ", "user"), same_actor("user", "admin"), same_actor("", "")
    (True, False, False)
    """
    a, b = _plain(a), _plain(b)
    if not a or not b:
        return False
    return a == b or any({a, b} <= {_plain(word) for word in group} for group in synonyms)


def source_overlap(a: Record, b: Record) -> float:
    """Jaccard overlap of two requirements' source messages, in [0, 1]; 1 if neither cites any.

    Examples
    --------
    >>> source_overlap({"source_messages": [1, 2]}, {"source_messages": [2, 3]})
    0.3333333333333333
    """
    return overlap(a.get("source_messages"), b.get("source_messages"))


def assign(
    similarities: NDArray[np.float64], allowed: Mask, *, prefer: Preference | None = None
) -> list[Match]:
    """One-to-one pairs: as many as possible, and of those the most similar in total.

    Parameters
    ----------
    similarities
        Shape (left, right), in [-1, 1], rounded to 6 decimals.
    allowed
        Same shape; only these pairs may be chosen.
    prefer
        In [0, 1]; decides between solutions of equal number and equal total
        similarity, by the greatest sum. Asked only where there is a choice.

    Returns
    -------
    list of Match
        In order of ``left``. Number and total do not depend on the order of the lists.

    References
    ----------
    Assignment problem: D. F. Crouse, "On implementing 2D rectangular assignment
    algorithms", IEEE Trans. AES 52(4), 2016 (``scipy.optimize.linear_sum_assignment``).

    Examples
    --------
    The greedy choice (0, 0) would leave row 1 without a partner.

    >>> assign(np.array([[0.9, 0.8], [0.7, 0.1]]), np.array([[True, True], [True, False]]))
    [Match(left=0, right=1, similarity=0.8), Match(left=1, right=0, similarity=0.7)]
    """
    if (pairs := _without_choice(allowed)) is None:
        pairs = []
        for rows, columns in _components(allowed):
            if len(rows) == len(columns) == 1:
                pairs.append((rows[0], columns[0]))
            else:
                pairs += _solve(similarities, allowed, rows, columns, prefer)
    return _matches(similarities, sorted(pairs))


def assign_unordered(
    left: Sequence[Record],
    right: Sequence[Record],
    similarities: NDArray[np.float64],
    allowed: Mask,
    *,
    prefer: Preference | None = None,
) -> list[Match]:
    """As :func:`assign`, with ties broken by what the records say, not by their order."""
    if (pairs := _without_choice(allowed)) is not None:
        return _matches(similarities, pairs)
    rows, columns = _canonical_order(left), _canonical_order(right)
    matches = assign(
        similarities[rows][:, columns],
        allowed[rows][:, columns],
        prefer=None if prefer is None else lambda i, j: prefer(rows[i], columns[j]),
    )
    return sorted(Match(rows[i], columns[j], value) for i, j, value in matches)


class RequirementPairs:
    """All pairs between two lists of requirements, compared once and matched as often as needed.

    Lists may be in any order: records are sorted by what they say before matching, so that
    ties do not depend on the order. Of records on the right that fit a partner equally well in
    every respect, the most confident one is matched.
    """

    def __init__(
        self,
        left: Sequence[Record],
        right: Sequence[Record],
        *,
        ruler: Ruler,
        synonyms: Synonyms = DEFAULT_SYNONYMS,
    ) -> None:
        self.left, self.right = left, right
        self.similarities = ruler.similarities(
            [requirement_text(record) for record in left],
            [requirement_text(record) for record in right],
        )
        self.same_type = _same_type(left, right)
        self.same_actor = _table(
            [record.get("actor") for record in left],
            [record.get("actor") for record in right],
            lambda a, b: same_actor(a, b, synonyms),
        )

    def matches(self, threshold: float = THRESHOLD) -> list[Match]:
        """Pairs that mean the same: similar text, same type, same actor."""
        similar = self.similarities > threshold
        return self._assign(similar & self.same_type & self.same_actor)

    def text_matches(self, threshold: float = THRESHOLD) -> list[Match]:
        """Pairs by similar text alone, regardless of type and actor."""
        return self._assign(self.similarities > threshold)

    def _assign(self, allowed: Mask) -> list[Match]:
        matches = assign_unordered(
            self.left, self.right, self.similarities, allowed, prefer=self._likeness
        )
        return self._with_most_confident(matches, allowed)

    def _with_most_confident(self, matches: list[Match], allowed: Mask) -> list[Match]:
        """Exchange partners for more confident ones that fit equally well.

        Neither the number of matches nor any figure of them changes, but calibration would
        otherwise depend on which of two equal predictions happens to be matched.
        """
        free = set(range(len(self.right))) - {match.right for match in matches}
        if not free or not matches:
            return matches
        stated = [_confidence(record) for record in self.right]
        partner = {match.left: match.right for match in matches}
        exchanged = True
        while exchanged:
            exchanged = False
            for i in sorted(partner, key=lambda left: stated[partner[left]]):
                j = partner[i]
                equal = [k for k in free if allowed[i, k] and self._fits_equally(i, j, k)]
                best = max(equal, key=stated.__getitem__, default=j)
                if stated[best] > stated[j]:
                    partner[i] = best
                    free = free - {best} | {j}
                    exchanged = True
        return _matches(self.similarities, sorted(partner.items()))

    def _fits_equally(self, i: int, j: int, k: int) -> bool:
        return (
            self.similarities[i, j] == self.similarities[i, k]
            and self._parts(i, j) == self._parts(i, k)
            and sorted(criteria(self.right[j])) == sorted(criteria(self.right[k]))
        )

    def _likeness(self, i: int, j: int) -> float:
        """How similar two records are beyond their text, in [0, 1]."""
        parts = self._parts(i, j)
        return sum(parts) / len(parts)

    def _parts(self, i: int, j: int) -> list[float]:
        a, b = self.left[i], self.right[j]
        same_actor = _plain(a.get("actor")) == _plain(b.get("actor"))
        return [
            float(a.get("type") == b.get("type")),
            float(same_actor or self.same_actor[i, j]),
            float(a.get("priority") == b.get("priority")),
            source_overlap(a, b),
            overlap(criteria(a), criteria(b)),
        ]


def f1(matches: int, left: int, right: int) -> float:
    """Harmonic mean of matches/left and matches/right; 1.0 if both lists are empty.

    Examples
    --------
    >>> f1(1, 3, 2), f1(0, 0, 0), f1(0, 0, 4)
    (0.4, 1.0, 0.0)
    """
    return 2 * matches / (left + right) if left + right else 1.0


def match_requirements(
    left: Sequence[Record],
    right: Sequence[Record],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> list[Match]:
    """One-to-one matches between two lists of requirements.

    Two requirements may match if the cosine similarity of their texts is
    *strictly greater* than ``threshold``, their types are equal and their actors
    are equal or synonyms. As many as possible are matched; among equally many,
    the most similar in total. Symmetric in number and total.
    """
    return RequirementPairs(left, right, ruler=ruler, synonyms=synonyms).matches(threshold)


def match_texts(
    left: Sequence[str], right: Sequence[str], *, ruler: Ruler, threshold: float
) -> list[Match]:
    """One-to-one matches between texts whose similarity is strictly greater than ``threshold``."""
    similarities = ruler.similarities(left, right)
    return assign(similarities, similarities > threshold)


def match_events(left: Sequence[Record], right: Sequence[Record]) -> list[Match]:
    """One-to-one matches between events of the same type whose triggers overlap."""
    overlaps = np.array(
        [[span_overlap(a.get("trigger"), b.get("trigger")) for b in right] for a in left],
        dtype=np.float64,
    ).reshape(len(left), len(right))
    return assign(overlaps.round(6), (overlaps > 0) & _same_type(left, right))


def span_overlap(a: Record | None, b: Record | None) -> float:
    """Two pieces of one text: their common code points by all of theirs, in [0, 1].

    Examples
    --------
    >>> span_overlap({"message": 1, "start": 0, "end": 4}, {"message": 1, "start": 2, "end": 6})
    0.3333333333333333
    """
    if not a or not b or a.get("message") != b.get("message"):
        return 0.0
    common = min(a["end"], b["end"]) - max(a["start"], b["start"])
    union = max(a["end"], b["end"]) - min(a["start"], b["start"])
    return float(max(0, common) / union)


def _matches(similarities: NDArray[np.float64], pairs: Iterable[tuple[int, int]]) -> list[Match]:
    return [Match(i, j, float(similarities[i, j])) for i, j in pairs]


def _without_choice(allowed: Mask) -> list[tuple[int, int]] | None:
    """All allowed pairs, if none of them shares a row or a column with another."""
    rows, columns = (side.tolist() for side in np.nonzero(allowed))
    if len(set(rows)) == len(rows) == len(set(columns)):
        return list(zip(rows, columns, strict=True))
    return None


def _components(allowed: Mask) -> Iterator[tuple[list[int], list[int]]]:
    """Split the allowed pairs into parts that share no row and no column."""
    rows, columns = np.nonzero(allowed)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, total = allowed.shape[0], sum(allowed.shape)
    graph = coo_array((np.ones(len(rows)), (rows, columns + left)), shape=(total, total))
    _, labels = connected_components(graph, directed=False)
    parts: dict[int, tuple[set[int], set[int]]] = {}
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        part = parts.setdefault(int(labels[i]), (set(), set()))
        part[0].add(i)
        part[1].add(j)
    yield from ((sorted(part[0]), sorted(part[1])) for part in parts.values())


def _solve(
    similarities: NDArray[np.float64],
    allowed: Mask,
    rows: list[int],
    columns: list[int],
    prefer: Preference | None,
) -> list[tuple[int, int]]:
    """The assignment problem for one connected part."""
    from scipy.optimize import linear_sum_assignment

    part = np.ix_(rows, columns)
    size = min(len(rows), len(columns))
    # One more pair outweighs any similarity; one step of similarity (1e-6) any preference.
    weights = np.where(allowed[part], similarities[part] + 2 * size + 1, 0.0)
    if prefer is not None:
        step = 5e-7 / size
        for a, b in np.argwhere(allowed[part]).tolist():
            weights[a, b] += step * prefer(rows[a], columns[b])
    chosen = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    pairs = [(rows[a], columns[b]) for a, b in chosen]
    return [pair for pair in pairs if allowed[pair]]


def _same_type(left: Sequence[Record], right: Sequence[Record]) -> Mask:
    """Without one, a record is like no other."""
    first, second = ([record.get("type") for record in side] for side in (left, right))
    return _table(first, second, lambda a, b: bool(a) and a == b)


def _table(left: list[Any], right: list[Any], same: Callable[[Any, Any], bool]) -> Mask:
    """``same`` for every pair, asked once for each pair of different values."""
    known: dict[tuple[Any, Any], bool] = {}
    for pair in ((a, b) for a in set(left) for b in set(right)):
        known[pair] = same(*pair)
    cells = [[known[a, b] for b in right] for a in left]
    return np.array(cells, dtype=bool).reshape(len(left), len(right))


def same_table(left: list[Any], right: list[Any]) -> Mask:
    """Which values of the two lists are equal."""
    return _table(left, right, lambda a, b: bool(a == b))


def _canonical_order(records: Sequence[Record]) -> list[int]:
    if len(records) < 2:
        return list(range(len(records)))
    keys = [json.dumps(record, sort_keys=True, default=str) for record in records]
    return sorted(range(len(records)), key=keys.__getitem__)


def _confidence(record: Record) -> float:
    """Below every stated one where none is stated."""
    stated = record.get("confidence")
    return -1.0 if stated is None else float(stated)


def _plain(actor: str | None) -> str:
    return unicodedata.normalize("NFC", (actor or "").strip().lower())


def overlap(a: Iterable[Any] | None, b: Iterable[Any] | None) -> float:
    """Jaccard overlap, in [0, 1]; 1 if both are empty."""
    left, right = set(a or ()), set(b or ())
    return len(left & right) / len(left | right) if left | right else 1.0


Label = Mapping[str, Any]


def cited_by(label: Label) -> Iterator[int]:
    """Every message that the label links as a whole, its phases included.

    Examples
    --------
    >>> list(cited_by({"phases": [{"evidence": [4, 2]}, {"evidence": [7]}]}))
    [4, 2, 7]
    """
    yield from label.get("source_messages") or label.get("evidence") or []
    for phase in label.get("phases") or []:
        yield from phase.get("evidence") or []


def first_place(label: Label) -> tuple[int, int]:
    """The first message that it cites or quotes, and where in it; (0, 0) if it does neither.

    Examples
    --------
    >>> first_place({"trigger": {"message": 3, "start": 8}}), first_place({"evidence": [5, 2]})
    ((3, 8), (2, 0))
    """
    trigger = label.get("trigger") or {}
    if "message" in trigger:
        return int(trigger["message"]), int(trigger.get("start") or 0)
    return min(cited_by(label), default=0), 0
