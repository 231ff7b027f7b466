"""The tree over a release's items, against RFC 6962 written down a second time."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from labeling.domain.gold.tree import path_of, root_by_path, root_of

hashes = st.lists(st.binary(min_size=32, max_size=32).map(bytes.hex), max_size=40)
some_hashes = st.lists(st.binary(min_size=32, max_size=32).map(bytes.hex), min_size=1, max_size=40)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def split_point(n: int) -> int:
    """The largest power of two below n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def mth(leaves: list[bytes]) -> bytes:
    """MTH(D[n]) of RFC 6962, 2.1, word for word."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0])
    k = split_point(len(leaves))
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:]))


def audit_path(m: int, leaves: list[bytes]) -> list[bytes]:
    """PATH(m, D[n]) of RFC 6962, 2.1.1."""
    if len(leaves) == 1:
        return []
    k = split_point(len(leaves))
    if m < k:
        return [*audit_path(m, leaves[:k]), mth(leaves[k:])]
    return [*audit_path(m - k, leaves[k:]), mth(leaves[:k])]


def test_the_root_of_known_leaves() -> None:
    """Roots of the test vectors of Certificate Transparency need other leaves, so these are ours:
    a leaf a = H(0 · 32 zeros), and of two equal ones H(1 · a · a)."""
    leaf = sha256(b"\x00" + bytes(32))

    assert root_of([]) == hashlib.sha256().hexdigest()
    assert root_of(["00" * 32]) == leaf.hex()
    assert root_of(["00" * 32] * 2) == sha256(b"\x01" + leaf + leaf).hex()


@given(hashes)
def test_the_root_is_that_of_the_standard(values: list[str]) -> None:
    assert root_of(iter(values)) == mth([bytes.fromhex(value) for value in values]).hex()


@given(some_hashes, st.data())
def test_a_path_is_that_of_the_standard_and_leads_to_the_root(
    values: list[str], data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(values) - 1))
    path = path_of(iter(values), position)

    leaves = [bytes.fromhex(value) for value in values]
    assert path == [digest.hex() for digest in audit_path(position, leaves)]
    led_to = root_by_path(values[position], position=position, size=len(values), path=path)
    assert led_to == root_of(values)


@given(some_hashes, st.data())
def test_a_path_proves_no_other_item_place_or_size(values: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(values) - 1))
    path, size, root = path_of(values, position), len(values), root_of(values)
    other = data.draw(st.binary(min_size=32, max_size=32).map(bytes.hex))
    elsewhere = data.draw(st.integers(-1, size + 2))

    if other != values[position]:
        assert root_by_path(other, position=position, size=size, path=path) != root
    if elsewhere != position and values.count(values[position]) == 1:
        moved = root_by_path(values[position], position=elsewhere, size=size, path=path)
        assert moved != root
    for wrong in (path[1:], [*path, other]):
        if wrong != path:
            led_to = root_by_path(values[position], position=position, size=size, path=wrong)
            assert led_to != root


@given(some_hashes, st.data())
def test_a_changed_added_dropped_or_moved_item_changes_the_root(
    values: list[str], data: st.DataObject
) -> None:
    other = data.draw(some_hashes)

    assert (root_of(values) == root_of(other)) == (values == other)
    assert root_of(values[:-1]) != root_of(values) != root_of([*values, values[-1]])
