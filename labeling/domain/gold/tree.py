"""A Merkle tree over the items of a release, by RFC 6962: one item can be proven alone.

A leaf is the SHA-256 of an item's text (its 32 bytes), so the tree can be computed without
reading a text. Trees are computed from a stream and hold one hash for each level.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LEAF, NODE = b"\x00", b"\x01"


class _Subtree(NamedTuple):
    """A complete subtree of 2 ** ``height`` leaves; ``is_on_path`` if the proven leaf is in it."""

    height: int
    digest: bytes
    is_on_path: bool


class Tree:
    """The tree of the hashes that were added so far, in order.

    ``proving`` is the position of a leaf whose inclusion path is to be kept.

    Examples
    --------
    >>> Tree().root[:16]
    'e3b0c44298fc1c14'
    """

    def __init__(self, *, proving: int | None = None) -> None:
        self.size = 0
        self._proving = proving
        self._subtrees: list[_Subtree] = []
        self._path: list[bytes] = []

    def add(self, sha256: str) -> None:
        """The hash of the next item, in hex."""
        leaf = _leaf(sha256)
        subtree = _Subtree(0, leaf, self.size == self._proving)
        while self._subtrees and self._subtrees[-1].height == subtree.height:
            subtree = self._joined(self._subtrees.pop(), subtree, self._path)
        self._subtrees.append(subtree)
        self.size += 1

    @property
    def root(self) -> str:
        return self._closed()[0]

    @property
    def path(self) -> list[str]:
        """The hashes next to the way from the proven leaf up to the root."""
        if self._proving is None or self._proving >= self.size:
            raise IndexError(f"leaf {self._proving} of {self.size}")
        return self._closed()[1]

    def _closed(self) -> tuple[str, list[str]]:
        path = list(self._path)
        if not self._subtrees:
            return hashlib.sha256().hexdigest(), []
        last = self._subtrees[-1]
        for subtree in reversed(self._subtrees[:-1]):
            last = self._joined(subtree, last, path)
        return last.digest.hex(), [digest.hex() for digest in path]

    @staticmethod
    def _joined(left: _Subtree, right: _Subtree, path: list[bytes]) -> _Subtree:
        if left.is_on_path:
            path.append(right.digest)
        elif right.is_on_path:
            path.append(left.digest)
        digest = hashlib.sha256(NODE + left.digest + right.digest).digest()
        return _Subtree(left.height + 1, digest, left.is_on_path or right.is_on_path)


def root_of(hashes: Iterable[str]) -> str:
    """The root over hashes of items in hex, in order.

    Examples
    --------
    >>> root_of(["00" * 32]) == hashlib.sha256(LEAF + bytes(32)).hexdigest()
    True
    """
    tree = Tree()
    for sha256 in hashes:
        tree.add(sha256)
    return tree.root


def path_of(hashes: Iterable[str], position: int) -> list[str]:
    """The inclusion path of the leaf at ``position``."""
    tree = Tree(proving=position)
    for sha256 in hashes:
        tree.add(sha256)
    return tree.path


def root_by_path(sha256: str, *, position: int, size: int, path: Sequence[str]) -> str | None:
    """The root that a leaf and its path lead to; None where they fit no tree of this size.

    The algorithm of RFC 9162, 2.1.3.2.

    Examples
    --------
    >>> a, b = "aa" * 32, "bb" * 32
    >>> root_by_path(b, position=1, size=2, path=path_of([a, b], 1)) == root_of([a, b])
    True
    """
    if not 0 <= position < size:
        return None
    digest, node, last = _leaf(sha256), position, size - 1
    for sibling in map(bytes.fromhex, path):
        if last == 0:
            return None
        if node % 2 or node == last:
            digest = hashlib.sha256(NODE + sibling + digest).digest()
            while node % 2 == 0 and node:
                node, last = node // 2, last // 2
        else:
            digest = hashlib.sha256(NODE + digest + sibling).digest()
        node, last = node // 2, last // 2
    return digest.hex() if last == 0 else None


def _leaf(sha256: str) -> bytes:
    return hashlib.sha256(LEAF + bytes.fromhex(sha256)).digest()
