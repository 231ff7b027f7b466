"""The files next to the items of a gold release: tables, cards, metadata, checksums."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypedDict

import yaml

from labeling.domain.canonical import canonical_json
from labeling.domain.csv_cells import safe_row
from labeling.domain.gold.content import GoldContent, GoldMessage
from labeling.domain.gold.meaning import of_release
from labeling.domain.gold.statement import Manifest, ReleaseHeader
from labeling.domain.schema import LAYERS
from labeling.domain.schema.labels import StoredLabel

ITEM_COLUMNS = ("item_id", "split", "domain", "difficulty", "origin", "how", "sha256", "layer")
NO_SPLIT = "unassigned"
COLLECTED = "collected"


def columns_of(layer: str) -> list[str]:
    """The columns of a layer's table; what else a label holds is in ``other``."""
    fields = list(LAYERS[layer].label.model_fields) if layer in LAYERS else []
    return [*ITEM_COLUMNS, *fields, "other"]


def csv_rows(item: GoldContent, *, sha256: str) -> Iterator[list[Any]]:
    """A row per label; one row without a label where there is none. Lists and spans are JSON."""
    layer = str(item["layer"])
    fields = columns_of(layer)[len(ITEM_COLUMNS) : -1]
    how = item["provenance"].get("how", "")
    columns = {"origin": COLLECTED, **item, "how": how, "sha256": sha256}
    head = [columns.get(name, "") for name in ITEM_COLUMNS]
    for label in labels_of(item) or [{}]:
        rest = {key: value for key, value in label.items() if key not in fields}
        cells = [_cell(label.get(name)) for name in fields]
        yield safe_row([*head, *cells, canonical_json(rest) if rest else ""])


def _cell(value: Any) -> Any:
    return canonical_json(value) if isinstance(value, list | dict) else value


def labels_of(item: GoldContent) -> list[StoredLabel]:
    """The labels of a gold item, under the key of its layer."""
    return [
        label
        for labels in item["gold"].values()
        if isinstance(labels, list)
        for label in labels
        if isinstance(label, dict)
    ]


class DatasetRow(TypedDict):
    """One row of a dataset: columns that are the same in every row, so that it can be typed."""

    item_id: str
    domain: str
    difficulty: str
    split: str
    origin: str
    conversation: list[GoldMessage]
    layer: str
    labels: list[StoredLabel]
    provenance: str
    sha256: str


def dataset_row(item: GoldContent, *, sha256: str) -> DatasetRow:
    return {
        "item_id": item["item_id"],
        "domain": item["domain"],
        "difficulty": item["difficulty"],
        "split": item["split"] or NO_SPLIT,
        "origin": item.get("origin", COLLECTED),
        "conversation": item["conversation"],
        "layer": item["layer"],
        "labels": labels_of(item),
        "provenance": canonical_json(item["provenance"]),
        "sha256": sha256,
    }


class SplitFile(TypedDict):
    split: str
    path: str


class CardConfig(TypedDict):
    config_name: str
    data_files: list[SplitFile]


class CardMetadata(TypedDict):
    """What dataset hubs read at the head of a card."""

    pretty_name: str
    license: str
    annotations_creators: list[str]
    size_categories: list[str]
    configs: list[CardConfig]


def card(manifest: Manifest, *, splits: Mapping[str, int], license: str) -> str:
    """README.md of a dataset folder: what it is, where it comes from, what is not known."""
    message = manifest["header"].get("message") or "Gold labels of conversations, frozen by Assay."
    sections = {
        "What is in it": _contents(manifest, splits),
        "Agreement at freeze": _agreement((manifest["agreement"] or {}).get("rounds", [])),
        "What is not known": _unknown(license),
    }
    metadata = _metadata(manifest, splits, license)
    lines = [
        "---",
        yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {_plain(manifest['release'])}",
        "",
        _plain(message),
    ]
    for title, section in sections.items():
        lines += ["", f"## {title}", "", *section]
    return "\n".join(lines) + "\n"


def _metadata(manifest: Manifest, splits: Mapping[str, int], license: str) -> CardMetadata:
    files: list[SplitFile] = [
        {"split": split, "path": f"data/{split}.jsonl"} for split in sorted(splits)
    ]
    return {
        "pretty_name": manifest["release"],
        "license": license or "unknown",
        "annotations_creators": _creators(_hows(manifest)),
        "size_categories": [_size(sum(splits.values()))],
        "configs": [{"config_name": "default", "data_files": files}],
    }


def _hows(manifest: Manifest) -> Counter[str]:
    return Counter(item["how"] for item in manifest["items"])


def _contents(manifest: Manifest, splits: Mapping[str, int]) -> list[str]:
    header = manifest["header"]
    return [
        f"- Layer: {_plain(header.get('layer', ''))}, schema version {header['schema_version']}",
        f"- Version by meaning: {of_release(header.get('meaning', ''), header['version'])}",
        f"- Items: {sum(splits.values())} ({_counts(splits)})",
        f"- How their labels came about: {_counts(_hows(manifest))}",
        f"- Synthetic conversations, which nobody has held: {header.get('synthetic', 0)}",
        f"- Left out as not settled: {len(manifest['left_out'])} conversations",
        f"- Guidelines: version {header.get('guideline_version') or 'none'}",
        f"- SHA-256 of the release: `{manifest['sha256']}`",
    ]


def _unknown(license: str) -> list[str]:
    return [
        "- Licence: " + (_plain(license) if license else "none was stated."),
        "- Nobody looked for personal data on export: read the conversations before you publish.",
        "- Who labelled: `provenance` has pseudonyms, unless the project publishes names.",
    ]


def _creators(hows: Mapping[str, int]) -> list[str]:
    creator_of = {"generated": "machine-generated"}
    return sorted({creator_of.get(how, "expert-generated") for how in hows}) or ["expert-generated"]


def _synthetic(header: ReleaseHeader) -> str:
    counted = {
        "conversations are synthetic": header.get("synthetic"),
        "items were labelled by a program": header.get("generated"),
    }
    return "".join(
        f" {number} of {header.get('items')} {words}."
        for words, number in counted.items()
        if number
    )


def _agreement(rounds: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not rounds:
        yield "No round had more than one annotator."
        return
    yield "| round | kind | κ | pairs: κ [95 % interval], n |"
    yield "| --- | --- | --- | --- |"
    for measured in rounds:
        pairs = "; ".join(
            f"{_figure(pair.get('kappa'))} [{_figure(pair.get('ci_low'))}, "
            f"{_figure(pair.get('ci_high'))}], {pair.get('n')}"
            for pair in measured.get("pairs", [])
        )
        value = _figure(measured.get("value"))
        yield f"| {measured['round']} | {measured['kind']} | {value} | {pairs} |"


def _figure(value: Any) -> str:
    return "undefined" if value is None else f"{value:z.3f}"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counted.items())) or "none"


def _plain(text: str) -> str:
    """Text of people in Markdown: one line, and nothing in it is markup."""
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|~" else letter for letter in line)


def _size(total: int) -> str:
    """The size class that dataset hubs use."""
    for limit, name in [(1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")]:
        if total < limit:
            return name
    return "100K<n<1M"


JsonLd = Mapping[str, object]
"""A node of a JSON-LD document: its keys are terms of the vocabularies in ``@context``."""

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "conformsTo": "dct:conformsTo",
    "column": "cr:column",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "jsonPath": "cr:jsonPath",
    "recordSet": "cr:recordSet",
    "repeated": "cr:repeated",
    "source": "cr:source",
}
_FIELDS = {
    "item_id": "The conversation's name in the project",
    "domain": "What it is about",
    "difficulty": "easy, medium or hard",
    "split": "train, dev or test",
    "layer": "What was labelled",
    "conversation": "The messages, in order",
    "gold": "The labels, by their key",
    "provenance": "How the labels came about, and who gave them",
}


def croissant(manifest: Manifest, *, sha256: str, size: int, license: str) -> JsonLd:
    """Croissant metadata (JSON-LD) of ``items.jsonl``."""
    header = manifest["header"]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": f"{header['name']}-{header['version']}",
        "description": (header.get("message") or f"Gold labels ({header['layer']}) by Assay")
        + _synthetic(header),
        "version": str(of_release(header.get("meaning", ""), header["version"])),
        "license": license or "unknown",
        "url": f"urn:sha256:{manifest['sha256']}",
        "datePublished": manifest["frozen_at"],
        "creator": {"@type": "sc:Organization", "name": header["project"]},
        "citeAs": f"{manifest['release']}, sha256 {manifest['sha256']}",
        "distribution": [_file_object(sha256, size)],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "conversations",
                "name": "conversations",
                "field": [_field(name, text) for name, text in _FIELDS.items()],
            }
        ],
    }


def _file_object(sha256: str, size: int) -> JsonLd:
    return {
        "@type": "cr:FileObject",
        "@id": "items",
        "name": "items.jsonl",
        "contentUrl": "items.jsonl",
        "contentSize": f"{size} B",
        "encodingFormat": "application/jsonlines",
        "sha256": sha256,
    }


def _field(name: str, text: str) -> JsonLd:
    return {
        "@type": "cr:Field",
        "@id": f"conversations/{name}",
        "name": name,
        "description": text,
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": "items"}, "extract": {"jsonPath": f"$.{name}"}},
    }


BAG_DECLARATION = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"


def bag_info(manifest: Manifest, *, size: int, files: int) -> str:
    """The label on a bag: when, how much, and what it holds."""
    rows = {
        "Bagging-Date": manifest["frozen_at"][:10],
        "Payload-Oxum": f"{size}.{files}",
        "External-Identifier": manifest["release"],
        "External-Description": f"Gold release, sha256 {manifest['sha256']}",
    }
    return "".join(f"{key}: {value}\n" for key, value in rows.items())


def bag_manifest(hashes: Mapping[str, str]) -> str:
    """Lines of a checksum file: SHA-256, two spaces, path."""
    return "".join(f"{hashes[path]}  {_bag_path(path)}\n" for path in sorted(hashes))


def _bag_path(path: str) -> str:
    text = PurePosixPath(path).as_posix()
    return text.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D")


def pretty(document: Any) -> str:
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
