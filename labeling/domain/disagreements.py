"""What the annotators of a round marked differently, and letters in place of their names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeling.domain.ratings import Ratings


@dataclass(frozen=True, slots=True)
class Split:
    """One unit on which the annotators differ: who marked it and who did not, each in order."""

    conversation: str
    unit: int
    marked: tuple[str, ...]
    unmarked: tuple[str, ...]

    def divides(self, a: str, b: str) -> bool:
        """Whether one of the two marked it and the other did not."""
        return (a in self.marked and b in self.unmarked) or (
            b in self.marked and a in self.unmarked
        )


def splits(ratings: Mapping[str, Ratings], order: Sequence[str]) -> list[Split]:
    """The units that were not marked alike, in the order of the conversations given.

    Parameters
    ----------
    ratings
        By annotator and conversation, 0 or 1 for each unit in order.
    order
        The conversations to look at. One that fewer than two annotators submitted
        has nothing to compare.

    Examples
    --------
    >>> found = splits({"ana": {"c1": [1, 0, 1]}, "ben": {"c1": [1, 1, 0]}}, ["c1"])
    >>> [(one.unit, one.marked, one.unmarked) for one in found]
    [(1, ('ben',), ('ana',)), (2, ('ana',), ('ben',))]
    """
    return [
        Split(
            name,
            unit,
            tuple(person for person, label in given.items() if label),
            tuple(person for person, label in given.items() if not label),
        )
        for name in order
        for unit, given in _units(ratings, name)
        if len(set(given.values())) > 1
    ]


def _units(ratings: Mapping[str, Ratings], name: str) -> Iterable[tuple[int, dict[str, object]]]:
    """Each unit of a conversation with the label that each of its annotators gave."""
    people = [person for person in sorted(ratings) if name in ratings[person]]
    rows = zip(*(ratings[person][name] for person in people), strict=True)
    return ((unit, dict(zip(people, row, strict=True))) for unit, row in enumerate(rows))


def letters(keys: Mapping[str, str]) -> dict[str, str]:
    """A letter for each person, in the order of their keys: A, B, …, Z, AA, AB, …

    The keys decide, so that letters tell nothing about names and stay the same.

    Examples
    --------
    >>> letters({"ana": "9f", "ben": "03"})
    {'ben': 'A', 'ana': 'B'}
    """
    ordered = sorted(keys, key=lambda person: (keys[person], person))
    return {person: _letter(position) for position, person in enumerate(ordered)}


def _letter(position: int) -> str:
    before, last = divmod(position, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + last)
