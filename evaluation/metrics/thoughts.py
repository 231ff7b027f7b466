"""What a model's thought says of events: the types it names and the arguments it gives to roles."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SEPARATOR = re.compile(
    r"[\"'”’」』`*\])）】\s]{0,9}(?:（[^（）\n]{0,50}）|\([^()\n]{0,50}\))?[*\s]{0,9}"
    r"(?:[:：=＝]+|->|→|是|为|\bis\b|\bare\b)\s*"
)
_QUOTED = re.compile(
    r"\"([^\"\n]*)\"|“([^“”\n]*)”|「([^「」\n]*)」|『([^『』\n]*)』|'([^'\n]*)'|`([^`\n]*)`"
)
_CUTS = re.compile(r"[；;，,、。]|\.(?=\s|$)|\s(?:and|和|及|与)\s|\s-\s")
_LONGEST_VALUE = 500  # characters that are read after a role
_AROUND = " \t\"'“”‘’「」『』`*[]【】（）()。.，,；;、"


@dataclass(frozen=True, slots=True)
class Thought:
    types: frozenset[str]
    pairs: Mapping[str, frozenset[str]]
    """By role, every wording that may be meant as its value."""

    def values(self, role: str) -> frozenset[str]:
        return self.pairs.get(role, frozenset())


def read_thought(
    text: str, *, types: Iterable[str], roles: Iterable[str], arguments: Iterable[str]
) -> Thought:
    """Types that are named, and the values that roles are given.

    Names are looked for longest first, so that the type 质押 is not found in the role 质押方 nor
    in the type 解除质押, and a type is not found inside of the words of an argument. A role
    is followed by a colon, an equals sign, an arrow or a word like 为 or "is"; whatever numbers
    the line stands before the role and plays no part.

    Examples
    --------
    >>> result = read_thought(
    ...     '第一步：事件类型为质押\\n第二步：质押方 = "张三"',
    ...     types=["质押", "解除质押"], roles=["质押方"], arguments=["张三"],
    ... )
    >>> sorted(result.types), "张三" in result.values("质押方")
    (['质押'], True)
    """
    types, roles = frozenset(types), frozenset(roles)
    names = _pattern(types | roles)
    hits = [] if names is None else list(names.finditer(text))
    covered = _covered(text, arguments)
    by_fold = _by_fold(types)
    named = {
        name
        for hit in hits
        if not any(start <= hit.start() and hit.end() <= end for start, end in covered)
        for name in by_fold.get(_fold(hit[0]), ())
    }
    return Thought(frozenset(named), _pairs(text, hits, roles))


def _pairs(
    text: str, hits: Sequence[re.Match[str]], roles: frozenset[str]
) -> dict[str, frozenset[str]]:
    by_fold = _by_fold(roles)
    starts: list[tuple[int, int, list[str]]] = []
    for hit in hits:
        after = _SEPARATOR.match(text, hit.end()) if _fold(hit[0]) in by_fold else None
        explained = starts and hit.start() < starts[-1][1]  # in brackets behind another role
        if after and not explained:
            starts.append((hit.start(), after.end(), by_fold[_fold(hit[0])]))
    wordings: dict[str, set[str]] = defaultdict(set)
    for number, (_, begin, names) in enumerate(starts):
        following = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        line_end = text.find("\n", begin)
        end = min(following, line_end if line_end >= 0 else len(text), begin + _LONGEST_VALUE)
        for name in names:
            wordings[name] |= _readings(text[begin:end])
    return {name: frozenset(values) for name, values in wordings.items()}


def _readings(text: str) -> set[str]:
    """Every wording that may be meant: what is quoted, all of it, and it cut at punctuation."""
    quoted = {part for groups in _QUOTED.findall(text) for part in groups if part}
    cuts = [cut.span() for cut in _CUTS.finditer(text)]
    edges = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    pieces = {text[start:end] for start, end in zip(edges, ends, strict=True)}
    beginnings = {text[:end] for end in ends}
    wordings = {part.strip(_AROUND) for part in pieces | beginnings | {text}}
    return {part for part in quoted | wordings | {text.strip()} if part}


def _covered(text: str, arguments: Iterable[str]) -> list[tuple[int, int]]:
    """The places of the arguments' words."""
    spans: list[tuple[int, int]] = []
    for words in set(arguments):
        at = text.find(words) if len(words) > 1 else -1
        while at >= 0:
            spans.append((at, at + len(words)))
            at = text.find(words, at + len(words))
    return spans


@lru_cache(maxsize=64)
def _pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    """Any of the names, longest first; one of Latin letters only as a whole word."""
    ordered = sorted(filter(None, names), key=lambda name: (-len(name), name))
    if not ordered:
        return None
    return re.compile("|".join(_bounded(name) for name in ordered), re.IGNORECASE)


def _bounded(name: str) -> str:
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", name) else ""
    behind = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]\Z", name) else ""
    return f"{before}{re.escape(name)}{behind}"


def _by_fold(names: Iterable[str]) -> dict[str, list[str]]:
    by_fold: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_fold[_fold(name)].append(name)
    return dict(by_fold)


def _fold(name: str) -> str:
    return name.lower()
