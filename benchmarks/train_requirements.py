"""Fit the model of ``requirements-local`` and write ``weights.json``.

    python -m benchmarks.train_requirements [--texts-only]
        --conversations fixtures/demo/conversations.jsonl fixtures/wordings/talks.jsonl
        --dev DEV.jsonl
        --gold fixtures/demo/adjudicated.jsonl fixtures/demo/labels/ana.jsonl \\
        fixtures/wordings/gold.jsonl fixtures/interviews/labels.jsonl fixtures/reading/labels.jsonl

Of ``--conversations`` the split ``train`` is read, of ``--dev`` the split ``dev``; none that is the
same as one of the split ``test`` of its file. A conversation takes its labels from the first
``--gold`` file that has it. What was read is noted next to the weights by its fingerprint;
``--texts-only`` notes it without training. Printed is how well each conversation is told by
weights that have not read it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.kept_back import (
    TEST,
    TestItems,
    TrainingText,
    refuse_test_items,
    same_conversation,
)
from pipelines import trained_on
from pipelines.encoder import MiniLM
from pipelines.requirements.extraction import discourse, ledger, wanted
from pipelines.requirements.extraction.candidates import candidates
from pipelines.requirements.extraction.state import Candidate
from pipelines.requirements.extraction.wanted import WEIGHTS
from pipelines.types import Case, Encoder, Message

STANCES = Path(__file__).parents[1] / "fixtures" / "wordings" / "stances.txt"
TRAINED = "trained on "
SMALL = 3.0
"""How much small weights are preferred."""
STEPS = 10
SAYS_THE_SAME = 0.5  # similarity to a label that cites a common message
Floats = NDArray[np.float64]
Gold = Mapping[str, Sequence[Mapping[str, Any]]]
Points = list[tuple[float, bool]]


def read_cases(path: Path, split: str) -> list[Case]:
    """The conversations to train on; ends the program if one of them is kept for testing."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    texts = [
        TrainingText(
            row["id"], row.get("split") or "", [each["content"] for each in row["messages"]]
        )
        for row in rows
    ]
    try:
        refuse_test_items(
            [text for text in texts if text.split == split],
            kept_back=[text for text in texts if text.split == TEST],
        )
    except TestItems as refused:
        sys.exit(str(refused))
    return [case_of(row) for row in rows if row.get("split") == split]


def case_of(row: Mapping[str, Any]) -> Case:
    messages = tuple(
        Message(at, each["role"], each.get("speaker") or "", each["content"], each.get("time"))
        for at, each in enumerate(row["messages"])
    )
    return Case(case_id=row["id"], domain=row["domain"], messages=messages)


def read_gold(paths: Sequence[Path]) -> dict[str, list[Mapping[str, Any]]]:
    gold: dict[str, list[Mapping[str, Any]]] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            gold.setdefault(row["id"], _labels(row))
    return gold


def _labels(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """As one person wrote them; of an export what was decided, else the first answer."""
    if "answers" not in row:
        return list(row.get("requirements", []))
    decided = [each["labels"] for each in row.get("decisions", [])]
    return list(decided[-1] if decided else row["answers"][0]["labels"].get("requirements", []))


def note_training(cases: Sequence[Case], gold: Collection[str]) -> None:
    """Write next to the weights what they have read."""
    texts = {
        f"{TRAINED}{case.case_id}": [message.content for message in case.messages]
        for case in cases
        if case.case_id in gold
    }
    trained_on.write(WEIGHTS, texts, leaves_out=False)


class Examples(NamedTuple):
    """The candidates of one talk, and which of them its labels list."""

    case: Case
    rows: Floats
    listed: Floats


def examples(cases: Sequence[Case], gold: Gold, encoder: Encoder) -> list[Examples]:
    found = []
    for case in cases:
        sentences = discourse.read_sentences(case.messages)
        of_talk = candidates(ledger.settled(sentences).commitments, sentences)
        if of_talk and case.case_id in gold:
            truth = listed(of_talk, gold[case.case_id], encoder)
            found.append(Examples(case, wanted.inputs(of_talk, encoder), truth))
    return found


def fit(of_talks: Sequence[Examples], *, without: Case | None = None) -> Floats:
    """Weights that have read all of them, or all that are not the same conversation as one."""
    read = [each for each in of_talks if not (without and _same(each.case, without))]
    return solved(
        np.vstack([each.rows for each in read]), np.hstack([each.listed for each in read])
    )


def _same(one: Case, other: Case) -> bool:
    texts = ([message.content for message in case.messages] for case in (one, other))
    return one.case_id == other.case_id or same_conversation(*texts)


def train(cases: Sequence[Case], gold: Gold) -> Points:
    """Fit it; what each candidate gets from the weights that never saw its talk."""
    read = examples(cases, gold, MiniLM())
    truth = np.hstack([each.listed for each in read])
    fitted = {"examples": len(truth), "correct": int(truth.sum()), "weights": _rounded(fit(read))}
    fitted["stance"] = _rounded(fit_stance(MiniLM()))
    WEIGHTS.write_text(json.dumps(fitted) + "\n", encoding="utf-8")
    wanted.clear()
    points: Points = []
    for each in read:
        chances = wanted.chances(each.rows, fit(read, without=each.case))
        points += zip(chances, map(bool, each.listed), strict=True)
    return points


def fit_stance(encoder: Encoder) -> Floats:
    """Of the wordings of ``STANCES``: a question, and answers with their sign below it."""
    pairs, truth, question = [], [], ""
    for line in STANCES.read_text(encoding="utf-8").splitlines():
        if line[:2] in {"+ ", "- "}:
            pairs.append((question, line[2:]))
            truth.append(float(line[0] == "+"))
        else:
            question = line
    return solved(wanted.stance_inputs(pairs, encoder), np.array(truth))


def _rounded(weights: Floats) -> list[float]:
    return [round(float(weight), 4) for weight in weights]


def listed(
    found: Sequence[Candidate], gold: Sequence[Mapping[str, Any]], encoder: Encoder
) -> Floats:
    """Which of them a label of a common message says."""
    true = np.zeros(len(found))
    if not found or not gold:
        return true
    said = encoder.encode([each.said.in_full for each in found])
    labels = encoder.encode(
        [f"{one['actor']} {one['action']} {one.get('condition') or ''}" for one in gold]
    )
    for at, each in enumerate(found):
        for label, vector in zip(gold, labels, strict=True):
            common = set(each.commitment.messages) & set(label["source_messages"])
            if common and float(said[at] @ vector) > SAYS_THE_SAME:
                true[at] = 1.0
    return true


def solved(rows: Floats, truth: Floats) -> Floats:
    """Logistic regression by Newton's method, small weights preferred; the last is the constant."""
    penalty = np.full(rows.shape[1], SMALL)
    penalty[-1] = 0.001
    weights: Floats = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (likely - truth) + penalty * weights
        curve = rows.T @ (rows * (likely * (1 - likely))[:, None]) + np.diag(penalty)
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def told_apart(points: Points) -> str:
    """The area under the curve of listed against others: the chance that a listed one is surer."""
    right = [sure for sure, correct in points if correct]
    wrong = [sure for sure, correct in points if not correct]
    if not right or not wrong:
        return "AUC undefined: all alike"
    above = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    return f"AUC {above / len(right) / len(wrong):.2f} over {len(points)} candidates"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the model of requirements-local.")
    parser.add_argument("--conversations", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, nargs="*", default=[])
    parser.add_argument("--gold", type=Path, nargs="+", required=True)
    parser.add_argument("--texts-only", action="store_true", help="note what was read, and no more")
    options = parser.parse_args()
    cases = [case for path in options.conversations for case in read_cases(path, "train")]
    cases += [case for path in options.dev for case in read_cases(path, "dev")]
    gold = read_gold(options.gold)
    if not options.texts_only:
        print(told_apart(train(cases, gold)))
    note_training(cases, gold)


if __name__ == "__main__":
    main()
