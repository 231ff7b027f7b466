"""The files next to the items of a gold release: tables and cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

import yaml

from labeling.conversations.formats.typed_rows import COLLECTED, features
from labeling.conversations.formats.typed_rows import columns_of as columns_of_rows
from labeling.domain.canonical import canonical_json
from labeling.domain.csv_cells import safe_cell
from labeling.gold.rules.content import GoldContent
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel

ITEM_COLUMNS = (
    "item_id",
    "split",
    "domain",
    "difficulty",
    "conversation_origin",
    "how",
    "sha256",
    "layer",
)
"""In front of the columns of a layer's labels, whose own ``origin`` is how a label was written."""


def columns_of(layer: str) -> list[str]:
    """The columns of a layer's table; what else a label holds is in ``other``."""
    fields = list(LAYERS[layer].label.model_fields) if layer in LAYERS else []
    return [*ITEM_COLUMNS, *fields, "other"]


def csv_rows(item: GoldContent, *, sha256: str) -> Iterator[list[Any]]:
    """A row per label; one row without a label where there is none. Lists and spans are JSON."""
    layer = str(item["layer"])
    fields = columns_of(layer)[len(ITEM_COLUMNS) : -1]
    how = item["provenance"].get("how", "")
    origin = item.get("origin", COLLECTED)
    columns = {**item, "conversation_origin": origin, "how": how, "sha256": sha256}
    head = [columns.get(name, "") for name in ITEM_COLUMNS]
    for label in labels_of(item) or [{}]:
        rest = {key: value for key, value in label.items() if key not in fields}
        cells = [_cell(label.get(name)) for name in fields]
        yield [safe_cell(cell) for cell in (*head, *cells, canonical_json(rest) if rest else "")]


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


class ReleaseSummary(TypedDict):
    """What cards and metadata say of a release; reasons and agreement are in words."""

    release: str
    sha256: str
    header: Mapping[str, Any]
    hows: Mapping[str, int]
    agreement: Any
    n_left_out: int


def card(summary: ReleaseSummary, *, splits: Mapping[str, int], license: str) -> str:
    """README.md of a dataset folder: what it is, where it comes from, what is not known."""
    message = summary["header"].get("message") or "Gold labels of conversations, frozen by Assay."
    sections = {
        "What is in it": _contents(summary, splits),
        "Agreement at freeze": _agreement((summary["agreement"] or {}).get("rounds", [])),
        "What is not known": _unknown(license),
    }
    metadata = _metadata(summary, splits, license)
    lines = [
        "---",
        yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {_plain(summary['release'])}",
        "",
        _plain(message),
    ]
    for title, section in sections.items():
        lines += ["", f"## {title}", "", *section]
    return "\n".join(lines) + "\n"


def _metadata(summary: ReleaseSummary, splits: Mapping[str, int], license: str) -> dict[str, Any]:
    """What dataset hubs read at the head of a card."""
    files = [{"split": split, "path": f"data/{split}.parquet"} for split in sorted(splits)]
    return {
        "pretty_name": summary["release"],
        "license": license or "unknown",
        "annotations_creators": _creators(summary["hows"]),
        "size_categories": [_size(sum(splits.values()))],
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": features(columns_of_rows(summary["header"]["layer"]))},
    }


def _contents(summary: ReleaseSummary, splits: Mapping[str, int]) -> list[str]:
    header = summary["header"]
    return [
        f"- Layer: {_plain(header.get('layer', ''))}, schema version {header['schema_version']}",
        f"- Items: {sum(splits.values())} ({_counts(splits)})",
        f"- How their labels came about: {_counts(summary['hows'])}",
        f"- Synthetic conversations, which nobody has held: {header.get('synthetic', 0)}",
        f"- Left out as not settled: {summary['n_left_out']} conversations",
        f"- Guidelines: version {header.get('guideline_version') or 'none'}",
        f"- SHA-256 of the release: `{summary['sha256']}`",
    ]


def _unknown(license: str) -> list[str]:
    return [
        "- Licence: " + (_plain(license) if license else "none was stated."),
        "- Nobody looked for personal data on export: read the conversations before you publish.",
        "- Who labeled: `provenance` has pseudonyms, unless the project publishes names.",
        "- `manifest.json` is what was signed, `items.sha256` has the hash of each item.",
    ]


def _creators(hows: Mapping[str, int]) -> list[str]:
    creator_of = {"generated": "machine-generated"}
    return sorted({creator_of.get(how, "expert-generated") for how in hows}) or ["expert-generated"]


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
