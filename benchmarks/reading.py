"""How much of a person's reading does a pipeline find, and would anybody keep what it finds?

    .venv/bin/python -m benchmarks.reading DATA [--pipeline NAME …] [--also NAME=FILE …]
        [--left-out] [--output-dir OUT] [--sheet 60 --seed 17] [--judge SOURCE …]
    .venv/bin/python -m benchmarks.reading --judged OUT/key.json ONE.csv TWO.csv

DATA is the folder with the texts (``interviews.jsonl`` and ``transcripts/``); the reading is that
of ``fixtures/reading``. Texts and labels are imported into a database that is thrown away, gold is
frozen from them, and pipelines are measured on it, next to

- ``nothing`` and ``everything``, the floors of the product;
- ``sentences``, a floor that keeps word for word what is stated or accepted;
- ``reader-a`` and ``reader-b``, the two readings that gold was decided from: a ceiling;
- ``--left-out``: ``requirements-local`` with weights that read all labeled talks but the one asked
  about and what is the same conversation as it; slow, for each talk has weights of its own;
- ``--also NAME=FILE``: what was written earlier, one ``{"case_id", "output"}`` a line.

Printed are, for each transcript and for the interviews together, recall and precision twice: by
the product's matcher, which wants the same type and actor and nearly the same words, and by what a
reader would call found: about the same thing, however it is worded.

Under OUT are the outputs of each source, which ``assay evaluate --predictions`` reads, the texts as
they were imported, and the sheet for blind judges (``reading`` is gold there) with its key. A judge
fills in a copy of ``verdicts.csv`` without the key; ``--judged`` prints shares and agreement.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import blind
from benchmarks.blind import Outputs, Requirement, Talk
from benchmarks.product import settle
from labeling.agreement.matching.matching import (
    THRESHOLD,
    Match,
    RequirementPairs,
    assign_unordered,
    overlap,
)
from labeling.agreement.matching.similarity import Ruler
from labeling.conversations.rules.importing import Turn, content_sha256
from labeling.domain.uncertainty import Estimate, ratio

FIXTURES = Path(__file__).parents[1] / "fixtures"
READING = FIXTURES / "reading"
GUIDELINES = FIXTURES / "interviews" / "guidelines.md"
INTERVIEWS, TRANSCRIPTS = "interviews", "transcripts"
NEAR = 0.5
"""Two requirements that cite a common message are the same to a reader if their texts are more
similar than this. Of the 156 pairs of the two readings that the third reader called the same it
pairs 153, and 5 others; chosen before any pipeline was run."""

FOUND = THRESHOLD
"""The same for two that cite no common message."""

FLOORS = ("nothing", "everything")
SENTENCES = "sentences"
LEFT_OUT = "requirements-local-left-out"
GOLD = "reading"
READERS = ("reader-a", "reader-b")


class Beside(NamedTuple):
    """What a source has of one conversation next to the reading."""

    conversation: str
    gold: Sequence[Requirement]
    output: Sequence[Requirement]
    found: Sequence[Match]
    matched: int
    """Pairs by the product's matcher."""

    @property
    def source_overlap(self) -> list[float]:
        cited = "source_messages"
        return [
            overlap(self.gold[pair.left].get(cited), self.output[pair.right].get(cited))
            for pair in self.found
        ]


class Figures(NamedTuple):
    """Of some conversations together; ``None`` where there is nothing to take a share of."""

    gold: int
    output: int
    recall: Estimate | None
    precision: Estimate | None
    strict_recall: Estimate | None
    strict_precision: Estimate | None
    source_overlap: Estimate | None


# --- what is measured ---------------------------------------------------------------------------


def beside(
    conversation: str,
    gold: Sequence[Requirement],
    output: Sequence[Requirement],
    *,
    ruler: Ruler,
) -> Beside:
    """Pair the reading with an output: each requirement has at most one partner."""
    pairs = RequirementPairs(gold, output, ruler=ruler)
    shared = np.array(
        [[bool(set(_cited(label)) & set(_cited(other))) for other in output] for label in gold],
        dtype=bool,
    ).reshape(len(gold), len(output))
    similar = (pairs.similarities > FOUND) | ((pairs.similarities > NEAR) & shared)
    matches = assign_unordered(
        gold,
        output,
        pairs.similarities,
        similar,
        prefer=lambda i, j: overlap(_cited(gold[i]), _cited(output[j])),
    )
    return Beside(conversation, gold, output, matches, len(pairs.matches()))


def _cited(requirement: Requirement) -> list[int]:
    return list(requirement.get("source_messages") or [])


def figures(rows: Sequence[Beside]) -> Figures:
    """Shares of all requirements of these conversations, with intervals over conversations."""
    return Figures(
        sum(len(row.gold) for row in rows),
        sum(len(row.output) for row in rows),
        _share([(len(row.found), len(row.gold)) for row in rows]),
        _share([(len(row.found), len(row.output)) for row in rows]),
        _share([(row.matched, len(row.gold)) for row in rows]),
        _share([(row.matched, len(row.output)) for row in rows]),
        _share([(sum(row.source_overlap), len(row.found)) for row in rows]),
    )


def _share(totals: Sequence[tuple[float, float]]) -> Estimate | None:
    return ratio(np.array(totals, dtype=np.float64).reshape(-1, 2))


def kind_of(conversation: str) -> str:
    return INTERVIEWS if conversation.startswith("interview-") else TRANSCRIPTS


def groups(conversations: Iterable[str]) -> dict[str, list[str]]:
    """Each transcript by itself, and the interviews together: they are a few messages each."""
    of: dict[str, list[str]] = {}
    for name in conversations:
        kind = kind_of(name)
        of.setdefault(name if kind == TRANSCRIPTS else kind, []).append(name)
    return of


# --- a floor: sentences word for word -----------------------------------------------------------

WANTED = re.compile(
    r"\b(want|need|should|must|have to|has to|would like|i'd like|prefer|important|looking for|"
    r"be able to|will be|don't want|can be|allow)\b",
    re.IGNORECASE,
)
ACCEPTED = re.compile(
    r"^\W*(yes|yeah|yep|yup|correct|right|exactly|sure|ok|okay|okey|of course|looks good|"
    r"sounds good|agreed|both)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
FEWEST_WORDS, TITLE_WORDS = 4, 8


def sentences(talk: Talk) -> list[dict[str, Any]]:
    """What the client states, and what the analyst says and the client accepts, word for word."""
    kept: list[dict[str, Any]] = []
    for at, message in enumerate(talk):
        if message["role"] != "user":
            continue
        for sentence in _of(message["content"]):
            if WANTED.search(sentence) and not sentence.endswith("?"):
                kept.append(_quotation(sentence, [at], len(kept) + 1))
        if at and talk[at - 1]["role"] != "user" and ACCEPTED.match(message["content"]):
            for sentence in _of(talk[at - 1]["content"]):
                kept.append(_quotation(sentence, [at - 1, at], len(kept) + 1))
    return kept


def _of(content: str) -> Iterator[str]:
    for sentence in map(str.strip, SENTENCE.split(content)):
        if len(sentence.split()) >= FEWEST_WORDS:
            yield sentence


def _quotation(sentence: str, sources: list[int], number: int) -> dict[str, Any]:
    return {
        "id": f"REQ-{number:03d}",
        "title": " ".join(sentence.split()[:TITLE_WORDS]),
        "type": "functional",
        "actor": "User",
        "action": sentence,
        "condition": None,
        "acceptance_criteria": [],
        "priority": "must",
        "source_messages": sources,
        "rationale": f"Said in message {sources[0]}",
        "confidence": 0.5,
    }


# --- the reading as gold, in the product --------------------------------------------------------


class Reading(NamedTuple):
    """Gold by conversation, the two readings that it was decided from, and the texts."""

    gold: dict[str, list[Requirement]]
    readers: dict[str, dict[str, list[Requirement]]]
    talks: dict[str, Talk]


def texts(data: Path, wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """The conversations of the reading, by id; a text that is not the one that was read is refused.

    ``wanted`` has the SHA-256 of each.
    """
    files = [data / "interviews.jsonl", *sorted((data / "transcripts").glob("*.jsonl"))]
    read: dict[str, dict[str, Any]] = {}
    for path in files:
        for document in _lines(path):
            if document["id"] in wanted:
                read[document["id"]] = document
    for name, digest in wanted.items():
        if name not in read:
            raise ValueError(f"{name} is not in {data}")
        if sha_of(read[name]["messages"]) != digest:
            raise ValueError(f"{name} is another text than the one that was read")
    return [read[name] for name in wanted]


def sha_of(messages: Talk) -> str:
    return content_sha256([Turn(each["role"], each["content"]) for each in messages])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def write_texts(path: Path, data: Path) -> list[dict[str, Any]]:
    """The conversations as they are imported, each with its split; returns what was written."""
    splits = {row["id"]: row["split"] for row in _lines(READING / "labels.jsonl")}
    digests = json.loads((READING / "texts.json").read_text("utf-8"))
    documents = [row | {"split": splits[row["id"]]} for row in texts(data, digests)]
    rows = (json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    path.write_text("".join(rows), "utf-8")
    return documents


def frozen(chosen: Path, data: Path) -> Reading:
    """Import texts and reading by the commands that a lead would use, and freeze."""
    from django.core.management import call_command

    from labeling.models import GoldRelease

    documents = write_texts(chosen, data)
    call_command("import_conversations", chosen, project="reading", verbosity=0)
    call_command("add_guidelines", GUIDELINES, project="reading", verbosity=0)
    call_command(
        "import_labels",
        READING / "labels.jsonl",
        project="reading",
        create_annotators=True,
        reason="Two independent readings, made before any pipeline was run on these texts",
    )
    call_command(
        "freeze_gold",
        project="reading",
        layer="extraction",
        waive=["near_duplicate=Some interviews are parts of one talk"],
    )
    items = [item.content for item in GoldRelease.objects.get().items.all()]
    readers: dict[str, dict[str, list[Requirement]]] = {reader: {} for reader in READERS}
    for row in _lines(READING / "labels.jsonl"):
        for answer in row["answers"]:
            readers[answer["annotator"]][row["id"]] = answer["labels"].get("requirements", [])
    return Reading(
        {item["item_id"]: list(item["gold"]["requirements"]) for item in items},
        readers,
        {document["id"]: document["messages"] for document in documents},
    )


def run(pipeline: str, talks: Mapping[str, Talk]) -> Outputs:
    from evaluation.adapters import checked_output
    from pipelines.registry import build
    from pipelines.types import Case, Message

    built = build(pipeline, {})
    outputs = {}
    for name, talk in talks.items():
        messages = tuple(
            Message(at, message["role"], message.get("speaker", ""), message["content"])
            for at, message in enumerate(talk)
        )
        case = Case(name, "", messages, conversation_id=name, task="extraction")
        output = checked_output(built.run(case), "extraction", message_count=len(talk))
        outputs[name] = output["requirements"]
    return outputs


LABELED = (
    "demo/adjudicated.jsonl",
    "demo/labels/ana.jsonl",
    "wordings/gold.jsonl",
    "interviews/labels.jsonl",
    "reading/labels.jsonl",
)
TALKS = ("demo/conversations.jsonl", "wordings/talks.jsonl")


def left_out(talks: Mapping[str, Talk], data: Path) -> Outputs:
    """By weights that have not read the talk, nor any that is the same conversation."""
    from benchmarks import train_requirements as train
    from pipelines.encoder import MiniLM
    from pipelines.requirements.local import LocalConfig, RequirementsLocal

    encoder = MiniLM()
    gold = train.read_gold([FIXTURES / name for name in LABELED])
    files = [*(FIXTURES / name for name in TALKS), data / "interviews.jsonl"]
    files += sorted((data / "transcripts").glob("*.jsonl"))
    cases = {row["id"]: train.case_of(row) for path in files for row in _lines(path)}
    read = train.examples(list(cases.values()), gold, encoder)
    outputs = {}
    for name in talks:
        weights = train.fit(read, without=cases[name])
        pipeline = RequirementsLocal(LocalConfig(), encoder, weights)
        outputs[name] = pipeline.run(cases[name])["requirements"]
    return outputs


def earlier(path: Path) -> Outputs:
    return {row["case_id"]: row["output"]["requirements"] for row in _lines(path)}


# --- what is written ----------------------------------------------------------------------------


def table(rows: Mapping[str, Mapping[str, Figures]]) -> Iterator[str]:
    """By group and source, as Markdown."""
    yield (
        "| conversations | source | requirements | recall | precision | source overlap"
        " | recall, matcher | precision, matcher |"
    )
    yield "|" + " --- |" * 8
    for group, sources in rows.items():
        for source, each in sources.items():
            cells = [each.recall, each.precision, each.source_overlap]
            cells += [each.strict_recall, each.strict_precision]
            shown = " | ".join(map(estimate, cells))
            yield f"| {group} ({each.gold}) | {source} | {each.output} | {shown} |"


def estimate(value: Estimate | None) -> str:
    if value is None:
        return "–"
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"


def write_outputs(path: Path, outputs: Outputs) -> None:
    with path.open("w", encoding="utf-8") as lines:
        for name, requirements in outputs.items():
            row = {"case_id": name, "output": {"requirements": list(requirements), "model": None}}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_sheet(out: Path, items: Sequence[blind.Item], talks: Mapping[str, Talk]) -> None:
    (out / "sheet.md").write_text(blind.sheet(items, talks), "utf-8")
    (out / "key.json").write_text(json.dumps(items, ensure_ascii=False, indent=1), "utf-8")
    rows = "".join(f"{item['item']},\n" for item in items)
    (out / "verdicts.csv").write_text(f"item,verdict\n{rows}", "utf-8")


def print_judged(key: Path, files: Sequence[Path], out: Callable[[str], Any] = print) -> None:
    items = json.loads(key.read_text("utf-8"))
    judges = {str(path): blind.read_verdicts(path, items) for path in files}
    for row in blind.shares(items, list(judges.values())):
        share = f"{row.verdict} {estimate(row.share)}, n {row.requirements}"
        out(f"{row.group}, {row.source}: {share}")
    for pair in blind.agreement(judges):
        kappas = [f"{kappa:.2f}" if kappa is not None else "–" for kappa in pair[4:]]
        out(
            f"{pair.first} and {pair.second}: {pair.equal:.0%} equal of {pair.items}, "
            f"κ {kappas[0]}, with quadratic weights {kappas[1]}"
        )


# --- the command --------------------------------------------------------------------------------


def main() -> None:
    options = _options()
    if options.judged:
        print_judged(options.judged, options.files)
        return
    (data,) = options.files
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        from labeling.agreement import vectors

        if options.output_dir:
            options.output_dir.mkdir(parents=True, exist_ok=True)
        chosen = (options.output_dir or Path(folder)) / "conversations.jsonl"
        reading = frozen(chosen, data)
        ruler = vectors.ruler()
        sources: dict[str, Outputs] = {name: run(name, reading.talks) for name in options.pipeline}
        if options.left_out:
            sources[LEFT_OUT] = left_out(reading.talks, data)
        sources |= {name: earlier(Path(path)) for name, path in options.also}
        sources |= {name: run(name, reading.talks) for name in FLOORS}
        sources[SENTENCES] = {name: sentences(talk) for name, talk in reading.talks.items()}
        sources |= reading.readers
        compared = {
            source: {
                name: beside(
                    name,
                    reading.gold.get(name, []),
                    outputs.get(name, []),
                    ruler=ruler,
                )
                for name in reading.talks
            }
            for source, outputs in sources.items()
        }
    named = groups(reading.talks)
    rows = {
        group: {
            source: figures([each[name] for name in names]) for source, each in compared.items()
        }
        for group, names in named.items()
    }
    print("\n".join(table(rows)))
    if options.output_dir:
        for source, outputs in sources.items():
            write_outputs(options.output_dir / f"{source}.jsonl", outputs)
        if options.sheet:
            judged = {GOLD: reading.gold, **sources}
            wanted = options.judge or [name for name in judged if name not in {*FLOORS, *READERS}]
            items = blind.draw(
                {name: judged[name] for name in wanted},
                options.sheet,
                options.seed,
                groups={name: kind_of(name) for name in reading.talks},
            )
            write_sheet(options.output_dir, items, reading.talks)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure pipelines on a person's reading.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="DATA, or verdicts")
    parser.add_argument("--pipeline", action="append", help="default: requirements-local")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--output-dir", type=Path)
    parser.add_argument("--sheet", type=int, default=0, help="requirements to judge")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--judge", action="append", metavar="SOURCE", help="only these to judge")
    parser.add_argument("--judged", type=Path, metavar="KEY", help="read verdicts on this sheet")
    options = parser.parse_args()
    options.pipeline = options.pipeline or ["requirements-local"]
    options.also = [each.partition("=")[::2] for each in options.also]
    if not options.judged and len(options.files) != 1:
        parser.error("name one folder of texts")
    if options.sheet and not options.output_dir:
        parser.error("--sheet needs --output-dir")
    return options


if __name__ == "__main__":
    main()
