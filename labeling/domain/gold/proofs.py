"""What a release, an item and a proof of one item must satisfy, wherever they are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

from labeling.domain.facts import Fact
from labeling.domain.gold.release import text_sha256
from labeling.domain.gold.signatures import Checker, fingerprint
from labeling.domain.gold.statement import parsed
from labeling.domain.gold.tree import root_by_path
from labeling.domain.matching.references import unresolved
from labeling.domain.schema import LAYERS
from labeling.domain.targets import END_TO_END

PROOF_FORMAT = "assay-gold-proof/1"


class ReleaseFault(NamedTuple):
    """A change to a release since it was frozen; ``item_id`` "" means the release itself."""

    item_id: str
    fact: Fact


class SignedStatement(NamedTuple):
    """A statement as text, with what proves it."""

    text: str
    sha256: str
    signature: str
    public_key: str

    def faults(self, *, trusted: Collection[str] | None) -> Iterator[Fact]:
        """``trusted`` are fingerprints of keys; None trusts the key that is there."""
        stated = parsed(self.text)
        if text_sha256(self.text) != self.sha256:
            yield Fact("verify.statement_hash")
        key = fingerprint(self.public_key)
        if not Checker(self.public_key).is_signed(self.text, self.signature):
            yield Fact("verify.signature")
        elif key != stated.get("key"):
            yield Fact("verify.other_key")
        elif trusted is not None and key not in trusted:
            yield Fact("verify.unknown_key", key=key)


class ItemColumns(NamedTuple):
    """What is said about an item next to its text."""

    item_id: str
    split: str
    how: str
    sha256: str
    signature: str


def faults_of_item(
    text: str, columns: ItemColumns, *, checker: Checker | None, is_imported: bool = False
) -> Iterator[ReleaseFault]:
    """An item by itself; ``checker`` is None in a release without signatures.

    In an imported release an item may have been taken over: it still says how it came about where
    it was made.
    """
    document = parsed(text)
    if text_sha256(text) != columns.sha256:
        yield ReleaseFault(columns.item_id, Fact("verify.content"))
    elif checker and not checker.is_signed_item(columns.sha256, columns.signature):
        yield ReleaseFault(columns.item_id, Fact("verify.forged"))
    named = (document.get("item_id"), document.get("split"))
    # A list: the text of somebody else may have anything in this place.
    hows = [_how(document), *(["imported"] if is_imported else [])]
    if named != (columns.item_id, columns.split) or columns.how not in hows:
        yield ReleaseFault(columns.item_id, Fact("verify.columns"))
    try:
        lost = _lost_references(document)
    except (AttributeError, KeyError, TypeError):  # a file of somebody else may hold anything
        yield ReleaseFault(columns.item_id, Fact("verify.malformed"))
    else:
        if lost:
            yield ReleaseFault(columns.item_id, Fact("verify.lost_reference", lost=lost[0]))


def _lost_references(document: Mapping[str, Any]) -> list[str]:
    """Uids that labels refer to but the item lacks. Only items made here are complete."""
    gold, base = document.get("gold", {}), document.get("given", {})
    if not base and document.get("layer") != END_TO_END:
        return []
    known = [label["uid"] for labels in [*gold.values(), *base.values()] for label in labels]
    layers = [name for name, layer in LAYERS.items() if layer.key in gold]
    return [uid for name in layers for uid in unresolved(name, gold[LAYERS[name].key], known)]


def _how(document: Mapping[str, Any]) -> Any:
    provenance = document.get("provenance")
    return provenance.get("how") if isinstance(provenance, Mapping) else None


class ItemProof(TypedDict):
    """One item with what proves it alone: the signed statement, and its way up the tree."""

    format: str
    release: str
    item: str
    position: int
    path: list[str]
    statement: str
    sha256: str
    signature: str
    public_key: str


def faults_of_proof(
    proof: Mapping[str, Any], *, trusted: Collection[str] | None
) -> Iterator[ReleaseFault]:
    """Whether the item is in the release that the statement is about."""
    if not _is_proof(proof):
        yield ReleaseFault("", Fact("verify.not_a_proof"))
        return
    statement = SignedStatement(
        proof["statement"], proof["sha256"], proof["signature"], proof["public_key"]
    )
    yield from (ReleaseFault("", fact) for fact in statement.faults(trusted=trusted))
    stated = parsed(proof["statement"])
    if proof["release"] != f"{stated.get('name')}@{stated.get('version')}":
        yield ReleaseFault("", Fact("verify.column", column="release"))
    root = root_by_path(
        text_sha256(proof["item"]),
        position=proof["position"],
        size=stated["items"] if isinstance(stated.get("items"), int) else 0,
        path=proof["path"],
    )
    if root is None or root != stated.get("root"):
        yield ReleaseFault(str(parsed(proof["item"]).get("item_id", "")), Fact("verify.not_in"))


def _is_proof(proof: Mapping[str, Any]) -> bool:
    texts = ("release", "item", "statement", "sha256", "signature", "public_key")
    path = proof.get("path")
    return (
        proof.get("format") == PROOF_FORMAT
        and all(isinstance(proof.get(name), str) for name in texts)
        and type(proof.get("position")) is int
        and isinstance(path, list)
        and all(is_sha256(value) for value in path)
    )


def is_sha256(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
