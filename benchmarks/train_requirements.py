"""Fit the models of ``requirements-local`` and write ``weights.json``.

    .venv/bin/python -m benchmarks.train_requirements [--dev DEV.jsonl] [--evaluate] [--texts-only]

Read are the talks of ``fixtures/wordings/marked.txt``: writers marked the sentences of the client
and wrote down what is wanted, and what a careless reader would list; and, for what can be used,
the labeled talks of the demo, of ``fixtures/wordings/talks.jsonl`` and, of the split ``dev``, those
of ``--dev`` that are labeled in ``fixtures/interviews`` or ``fixtures/reading``; none that is the
same as one of the split ``test``. What was read is noted next to the weights by its fingerprint;
``--texts-only`` notes it without training. ``--evaluate`` prints how each writer's talks are read
by weights that have not seen that writer.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
import numpy as np

from benchmarks.kept_back import (
    TEST,
    TestItems,
    TrainingText,
    refuse_test_items,
    same_conversation,
)
from pipelines import trained_on
from pipelines.encoder import MiniLM
from pipelines.requirements.extraction import chosen, marks, nodes, turns
from pipelines.requirements.extraction.marks import MARKS, WEIGHTS, Floats, Model
from pipelines.requirements.extraction.state import Utterance
from pipelines.requirements.local import LocalConfig, RequirementsLocal
from pipelines.requirements.text import spans
from pipelines.types import Case, Encoder, Message

MARKED = Path(__file__).parents[1] / "fixtures" / "wordings" / "marked.txt"
FIXTURES = MARKED.parents[1]
LABELED = (
    (FIXTURES / "demo" / "conversations.jsonl", FIXTURES / "demo" / "adjudicated.jsonl"),
    (FIXTURES / "demo" / "conversations.jsonl", FIXTURES / "demo" / "labels" / "ana.jsonl"),
    (FIXTURES / "wordings" / "talks.jsonl", FIXTURES / "wordings" / "gold.jsonl"),
)
LABELS_OF_DEV = (
    FIXTURES / "interviews" / "labels.jsonl",
    FIXTURES / "reading" / "labels.jsonl",
)
TRAINED = "trained on "
LEAST_SEEN = 4
"""Sentences in which a word or pair is found that the model knows."""
MARKS_LIKE_LARGE, CHOSEN_LIKE_LARGE = 0.12, 0.1
"""How little small weights are preferred (C of scikit-learn)."""
NEAR = 0.6
"""Similarity to something wanted that rests on a common message."""
UNWANTED = 8.0
"""How much what a careless reader would list counts, beside what is merely useless."""
SHORT, OF_SHORT = 4, 4.0
"""Messages of a short talk, and how much one counts, which has few sentences."""
_PIECE = re.compile(r"\{(\w+)\}\s*")
_LISTED = re.compile(r"(?:R|N\((?P<kind>[\w -]+)\)): (?P<text>.+) \[(?P<at>[\d, ]+)\]")


class Listed(NamedTuple):
    text: str
    messages: frozenset[int]
    kind: str


class Talk(NamedTuple):
    case: Case
    pieces: dict[int, list[tuple[str, str]]]
    """The marks of a client's message, each with its words."""
    wanted: list[Listed]
    unwanted: list[Listed]

    @property
    def writer(self) -> str:
        return self.case.case_id.partition("-")[0]


def read_marked(path: Path = MARKED) -> list[Talk]:
    """The talks of a file in the format that its head describes."""
    parts = path.read_text("utf-8").split("\n# ")[1:]
    return [_talk(part.strip().splitlines()) for part in parts]


def _talk(lines: Sequence[str]) -> Talk:
    name, domain, _ = (bit.strip() for bit in lines[0].split("|"))
    messages: list[Message] = []
    pieces: dict[int, list[tuple[str, str]]] = {}
    wanted: list[Listed] = []
    unwanted: list[Listed] = []
    for line in filter(None, map(str.strip, lines[1:])):
        at = len(messages)
        if line.startswith("A: "):
            messages.append(Message(at, "analyst", "", line[3:]))
        elif line.startswith("C: "):
            cut = _PIECE.split(line[3:])
            if len(cut) > 1:
                pieces[at] = [(cut[i], cut[i + 1].strip()) for i in range(1, len(cut) - 1, 2)]
            said = cut if len(cut) == 1 else [text for _, text in pieces[at]]
            messages.append(Message(at, "user", "", " ".join(said)))
        elif found := _LISTED.fullmatch(line):
            cited = frozenset(int(number) for number in found["at"].split(","))
            label = Listed(found["text"], cited, found["kind"] or "")
            (unwanted if label.kind else wanted).append(label)
    return Talk(
        Case(case_id=name, domain=domain, messages=tuple(messages)), pieces, wanted, unwanted
    )


def read_all(dev: Sequence[Path] = ()) -> list[Talk]:
    of_dev = [(path, labels) for path in dev for labels in LABELS_OF_DEV]
    return [*read_marked(), *read_labeled(LABELED, "train"), *read_labeled(of_dev, "dev")]


def read_labeled(files: Sequence[tuple[Path, Path]], split: str) -> list[Talk]:
    """Talks of a split of which people wrote down the requirements alone.

    Ends the program if one of them is kept for testing.
    """
    talks: dict[str, Talk] = {}
    for conversations, labels in files:
        gold = {row["id"]: _labels(row) for row in _rows(labels)}
        rows = [row for row in _rows(conversations) if row["id"] in gold]
        read = [row for row in rows if row.get("split") == split]
        _refuse_tests(read, rows)
        for row in read:
            said = [(each["role"], each["content"]) for each in row["messages"]]
            messages = tuple(Message(at, role, "", text) for at, (role, text) in enumerate(said))
            case = Case(case_id=row["id"], domain=row["domain"], messages=messages)
            listed = [*map(_listed, gold[row["id"]])]
            talks.setdefault(row["id"], Talk(case, {}, listed, []))
    return list(talks.values())


def _refuse_tests(read: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> None:
    texts = [[each["content"] for each in row["messages"]] for row in rows]
    lines = [
        TrainingText(row["id"], row.get("split") or "", said)
        for row, said in zip(rows, texts, strict=True)
    ]
    names = {row["id"] for row in read}
    try:
        refuse_test_items(
            [line for line in lines if line.name in names],
            kept_back=[line for line in lines if line.split == TEST],
        )
    except TestItems as refused:
        sys.exit(str(refused))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def _labels(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """As one person wrote them; of an export what was decided, else the first answer."""
    if "answers" not in row:
        return list(row.get("requirements", []))
    decided = [each["labels"] for each in row.get("decisions", [])]
    labels = decided[-1] if decided else row["answers"][0]["labels"]
    return list(labels if isinstance(labels, list) else labels.get("requirements", []))


def _listed(label: Mapping[str, Any]) -> Listed:
    text = f"{label['actor']} should {label['action']} {label.get('condition') or ''}"
    return Listed(text.strip(), frozenset(label["source_messages"]), "")


# --- the marks of sentences ---------------------------------------------------------------------


def examples(talks: Sequence[Talk]) -> tuple[list[Utterance], list[str]]:
    """Every marked sentence, at its place in its answer, and its mark."""
    found, truth = [], []
    for talk in talks:
        asked: Utterance | None = None
        for message in talk.case.messages:
            if message.index not in talk.pieces:
                said_before = turns.read_sentences([message])
                asked = said_before[-1] if said_before else asked
                continue
            said = [(m, s.text) for m, text in talk.pieces[message.index] for s in spans(text)]
            for at, (mark, text) in enumerate(said):
                found.append(
                    Utterance(
                        message.index,
                        text,
                        "client",
                        text.endswith("?"),
                        at=at,
                        of=len(said),
                        asked=asked,
                    )
                )
                truth.append(mark)
    return found, truth


def fit_marks(talks: Sequence[Talk], encoder: Encoder) -> Model:
    sentences, truth = examples(talks)
    counts: dict[str, int] = {}
    for each in sentences:
        for gram in set(marks.grams(each.text)):
            counts[gram] = counts.get(gram, 0) + 1
    known = sorted(gram for gram, count in counts.items() if count >= LEAST_SEEN)
    vocabulary = {gram: at for at, gram in enumerate(known)}
    rows = marks.inputs(sentences, encoder, vocabulary)
    return Model(vocabulary, _solved(rows, truth, MARKS, MARKS_LIKE_LARGE))


def _solved(
    rows: Floats,
    truth: Sequence[Any],
    classes: Sequence[Any],
    large: float,
    counted: Sequence[float] | None = None,
) -> Floats:
    """Logistic regression; a column for each class. The last input is the constant."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=large, max_iter=1000).fit(rows[:, :-1], truth, counted)
    weights = np.vstack([fitted.coef_.T, fitted.intercept_])
    order = [list(fitted.classes_).index(each) for each in classes] if len(classes) > 2 else [0]
    return weights[:, order]


# --- whether it can be used ---------------------------------------------------------------------


def near(
    texts: Sequence[str],
    cited: Sequence[Collection[int]],
    listed: Sequence[Listed],
    encoder: Encoder,
    least: float = NEAR,
) -> list[list[int]]:
    """Of each text, what of the list it says: of a common message, and alike."""
    if not texts or not listed:
        return [[] for _ in texts]
    alike = encoder.encode(list(texts)) @ encoder.encode([each.text for each in listed]).T
    return [
        [
            to
            for to, each in enumerate(listed)
            if each.messages & set(cited[at]) and alike[at, to] >= least
        ]
        for at in range(len(texts))
    ]


class Rated(NamedTuple):
    """The commitments of one talk, by marks that have not seen it, and which can be used."""

    rows: Floats
    usable: list[bool]
    counted: list[float]


def rated(talk: Talk, model: Model, encoder: Encoder) -> Rated:
    state = nodes.read_talk({"case": talk.case})
    state.update(nodes.settle_talk(state, encoder, model))
    found = nodes.not_ended(state["commitments"])
    texts, cited = [each.text for each in found], [each.messages for each in found]
    good = near(texts, cited, talk.wanted, encoder)
    bad = near(texts, cited, talk.unwanted, encoder)
    rows = chosen.inputs(found, state["sentences"], encoder) if found else np.zeros((0, 0))
    of_talk = OF_SHORT if len(talk.case.messages) <= SHORT else 1.0
    counted = [of_talk * (UNWANTED if b and not g else 1.0) for g, b in zip(good, bad, strict=True)]
    return Rated(rows, [bool(g) for g in good], counted)


def fit_chosen(of_talks: Sequence[Rated]) -> Floats:
    some = [each for each in of_talks if each.usable]
    rows = np.vstack([each.rows for each in some])
    truth = [usable for each in some for usable in each.usable]
    counted = [weight for each in some for weight in each.counted]
    return _solved(rows, truth, (False, True), CHOSEN_LIKE_LARGE, counted)[:, 0]


class Fitted(NamedTuple):
    """What is needed to leave talks out: marks without each writer, and what they give."""

    talks: list[Talk]
    whole: Model
    without: dict[str, Model]
    rated: list[Rated]


def prepared(talks: Sequence[Talk], encoder: Encoder) -> Fitted:
    marked = [talk for talk in talks if talk.pieces]
    whole = fit_marks(marked, encoder)
    without = {
        name: fit_marks([talk for talk in marked if talk.writer != name], encoder)
        for name in sorted({talk.writer for talk in marked})
    }
    found = [rated(talk, without.get(talk.writer, whole), encoder) for talk in talks]
    return Fitted(list(talks), whole, without, found)


def left_out(fitted: Fitted) -> dict[str, nodes.Weights]:
    """For each writer, weights that have not read a talk of theirs."""
    return {
        name: nodes.Weights(
            model,
            fit_chosen(
                [
                    r
                    for talk, r in zip(fitted.talks, fitted.rated, strict=True)
                    if talk.writer != name
                ]
            ),
        )
        for name, model in fitted.without.items()
    }


# --- how good it is -----------------------------------------------------------------------------


def accuracy(fitted: Fitted, encoder: Encoder) -> float:
    right = total = 0
    for name, model in fitted.without.items():
        sentences, truth = examples([talk for talk in fitted.talks if talk.writer == name])
        likely = marks.chances(marks.inputs(sentences, encoder, model.vocabulary), model.weights)
        right += sum(MARKS[at] == mark for at, mark in zip(likely.argmax(1), truth, strict=True))
        total += len(truth)
    return right / total


Outputs = Mapping[str, Sequence[Mapping[str, Any]]]


def figures(talks: Sequence[Talk], outputs: Outputs, encoder: Encoder) -> dict[str, float]:
    """Over all talks: how many are put out, the share near something wanted, recall, and what of
    the unwanted is put out."""
    put_out = hits = found = wanted = bad = unwanted = 0
    for talk in talks:
        out = outputs[talk.case.case_id]
        texts = [
            f"{each.get('actor') or ''} {each['action']} {each.get('condition') or ''}".strip()
            for each in out
        ]
        cited = [each["source_messages"] for each in out]
        good = near(texts, cited, talk.wanted, encoder)
        wrong = near(texts, cited, talk.unwanted, encoder)
        put_out, hits = put_out + len(out), hits + sum(map(bool, good))
        found, wanted = found + len({at for one in good for at in one}), wanted + len(talk.wanted)
        only = [w for w, g in zip(wrong, good, strict=True) if not g]
        bad, unwanted = bad + len({at for one in only for at in one}), unwanted + len(talk.unwanted)
    return {
        "outputs": put_out,
        "near": hits / max(1, put_out),
        "recall": found / max(1, wanted),
        "unwanted": bad,
        "of": unwanted,
    }


def evaluate(read: Sequence[Talk], encoder: Encoder, bars: Sequence[float]) -> Iterator[str]:
    fitted = prepared(read, encoder)
    talks = [talk for talk in read if talk.pieces]
    yield f"marks right {accuracy(fitted, encoder):.3f}"
    of_writers = left_out(fitted)
    for bar in bars:
        outputs = {}
        for talk in talks:
            config = LocalConfig(min_keep=bar)
            pipeline = RequirementsLocal(config, encoder, of_writers[talk.writer])
            outputs[talk.case.case_id] = pipeline.run(talk.case)["requirements"]
        yield f"from {bar}: {shown(figures(talks, outputs, encoder))}"


def shown(of: Mapping[str, float]) -> str:
    return (
        f"{of['outputs']} put out, {of['near']:.2f} near, recall {of['recall']:.2f}, "
        f"unwanted {of['unwanted']} of {of['of']}"
    )


# --- what ships ---------------------------------------------------------------------------------


def weights(talks: Sequence[Talk], encoder: Encoder) -> nodes.Weights:
    """Fitted on all of these."""
    fitted = prepared(talks, encoder)
    return nodes.Weights(fitted.whole, fit_chosen(fitted.rated))


def fit(talks: Sequence[Talk], encoder: Encoder) -> dict[str, Any]:
    """As it ships."""
    fitted = weights(talks, encoder)
    return {
        "vocabulary": list(fitted.marks.vocabulary),
        "marks": np.round(fitted.marks.weights, 3).tolist(),
        "chosen": np.round(fitted.chosen, 4).tolist(),
    }


def without(talks: Sequence[Talk], case: Case) -> list[Talk]:
    """All that are not the same conversation."""
    said = [message.content for message in case.messages]
    return [
        talk
        for talk in talks
        if not same_conversation([message.content for message in talk.case.messages], said)
    ]


def note_training(talks: Sequence[Talk]) -> None:
    """Write next to the weights what they have read."""
    texts = {
        f"{TRAINED}{talk.case.case_id}": [message.content for message in talk.case.messages]
        for talk in talks
    }
    trained_on.write(WEIGHTS, texts, leaves_out=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the models of requirements-local.")
    parser.add_argument("--dev", type=Path, nargs="*", default=[])
    parser.add_argument("--evaluate", action="store_true", help="print how it reads, and no more")
    parser.add_argument("--texts-only", action="store_true", help="note what was read, and no more")
    options = parser.parse_args()
    talks = read_all(options.dev)
    if options.evaluate:
        print("\n".join(evaluate(talks, MiniLM(), (0.18, 0.22, 0.26, 0.35))))
        return
    if not options.texts_only:
        WEIGHTS.write_text(json.dumps(fit(talks, MiniLM())) + "\n", encoding="utf-8")
        marks.stored.cache_clear()
    note_training(talks)


if __name__ == "__main__":
    main()
