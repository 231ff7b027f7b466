"""Fit the four small models of ``requirements-local`` and write ``weights.json``.

    python -m pipelines.requirements.train \\
        --conversations fixtures/demo/conversations.jsonl \\
        --gold fixtures/demo/adjudicated.jsonl --gold fixtures/demo/labels/ana.jsonl
        [--interviews INTERVIEWS.jsonl --interview-labels fixtures/interviews/labels.jsonl]
        [--confidence-only] [--texts-only]
    python -m pipelines.requirements.train \\
        --verdicts fixtures/wordings/verdicts.jsonl --texts TEXTS.jsonl …
    python -m pipelines.requirements.train --gold fixtures/wordings/gold.jsonl \\
        --gold fixtures/demo/adjudicated.jsonl --gold fixtures/demo/labels/ana.jsonl \\
        --texts fixtures/wordings/talks.jsonl fixtures/demo/conversations.jsonl

Only conversations of the split ``train`` are read, and none that is the same as one of the split
``test``. A conversation takes its labels from the first ``--gold`` file that has it. Of the
interviews only the half to develop with is read, with what was decided about it, and only for
confidence. What was read
is noted next to the weights by its fingerprint; ``--texts-only`` notes it without training. The
command repeats to the byte.

With ``--verdicts`` only the model is fitted that says how likely a reader keeps a wording. A
verdict is of a wording, by its fingerprint; one that is not put out any more teaches nothing.

With ``--gold`` and ``--texts`` only the model is fitted that says how likely a reader lists what
is quoted: whatever of these talks is worded or quoted, and whether a label says the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from pipelines import trained_on
from pipelines.encoder import MiniLM
from pipelines.requirements.extraction import features, nodes, wording
from pipelines.requirements.extraction.features import (
    KEEP,
    MATCH,
    MATCH_NAMES,
    NAMES,
    WEIGHTS,
)
from pipelines.requirements.extraction.state import Commitment, Context, ExtractionState, Unworded
from pipelines.requirements.extraction.usable import (
    LISTED,
    LISTED_NAMES,
    USABLE,
    USABLE_NAMES,
    listed_features,
    usable_features,
)
from pipelines.requirements.local import LocalConfig, RequirementsLocal
from pipelines.requirements.text import content_words
from pipelines.testing import TEST, TestItems, TrainingText, refuse_test_items
from pipelines.types import Case, Encoder, Message

TRAINED = "trained on "
JUDGED = "wordings judged from "
QUOTED = "quotations from "
CONFIDENCE = "confidence from "
"""Of interviews, whose words only the weights of confidence have read."""
RIDGE = {KEEP: 3.0, MATCH: 3.0, USABLE: 1.0, LISTED: 1.0}
# What a feature is worth before any example is seen. Few conversations are labeled, and what
# is rare in them (a wish taken back, small talk) must not be left to chance.
BELIEFS = {
    KEEP: {
        "cue:obligation": 2.0, "cue:need": 2.0, "cue:wish": 2.0, "cue:request": 1.5,
        "cue:ability": 0.5, "cue:value": 0.5, "shape:imperative": 1.5, "shape:state": -1.0,
        "accepted proposal": 2.0,
        "answers a wish": 0.5, "answers a fact": -0.5, "says:existing": -1.5, "says:negate": -2.0,
        "says:withdraw": -2.0, "says:fixed": -2.0, "says:talk": -2.0, "says:complaint": -1.0,
        "says:past": -1.0, "says:reason": -1.0, "very short": -1.0, "says too little": -2.0,
        "speaks of self": -1.0, "refuses": -0.5, "says:only": 0.5, "number": 0.5,
    },
    MATCH: {
        "likely": 1.5, "bare answer": -0.7, "plain statement": -0.3, "quoted": -1.5,
    },
    USABLE: {},
    LISTED: {},
}  # fmt: skip
NEAR = 0.35  # a clause less similar than this to a label of its message does not state it
NEAREST = 0.12  # … and neither does one that much less similar than the best clause
MATCHED_ABOVE = 0.85
SAYS_THE_SAME = 0.5  # similarity to a label that cites a common message
SHARED_WORDS = 0.6  # of the shorter of the two
SYNONYMS = (
    {"user", "customer", "end-user", "client"},
    {"system", "application", "platform", "service"},
    {"admin", "administrator", "superuser"},
)
STEPS = 50
BINS = 4  # of the table of reliability, as full as one another
Floats = NDArray[np.float64]
Gold = Mapping[str, Sequence[Mapping[str, Any]]]


class Example(NamedTuple):
    features: Mapping[str, float]
    correct: bool


def examples(case: Case, gold: Sequence[Mapping[str, Any]], encoder: Encoder) -> list[Example]:
    """Each clause of a conversation, and whether it states a label."""
    candidates = _candidates(case)
    if not candidates:
        return []
    right = _stated(candidates, gold, encoder) if gold else set()
    return [Example(candidate.features, at in right) for at, candidate in enumerate(candidates)]


def _candidates(case: Case) -> list[Commitment]:
    state: ExtractionState = {"case": case}
    state.update(nodes.read_talk(state))
    state.update(nodes.settle(state))
    return [one for one in state["commitments"] if one.wanted]


def _stated(
    candidates: Sequence[Commitment], gold: Sequence[Mapping[str, Any]], encoder: Encoder
) -> set[int]:
    stated = encoder.encode([candidate.text for candidate in candidates])
    wanted = encoder.encode([f"{label['title']} {label['action']}" for label in gold])
    near = wanted @ stated.T
    right: set[int] = set()
    for row, label in zip(near, gold, strict=True):
        cited = [
            at
            for at, candidate in enumerate(candidates)
            if set(candidate.messages) & set(label["source_messages"])
        ]
        best = max((row[at] for at in cited), default=0.0)
        right |= {at for at in cited if row[at] >= max(NEAR, best - NEAREST) or row[at] == best}
    return right


def matches(
    case: Case, gold: Sequence[Mapping[str, Any]], pipeline: RequirementsLocal, encoder: Encoder
) -> list[Example]:
    """Each extracted requirement, and whether it would count as matched."""
    state = pipeline.trace(case)
    context = Context(case.domain, tuple(state["sentences"]))
    found: list[Example] = []
    for commitment in state["kept"]:
        phrases = wording.phrases_of(commitment, context)
        for phrase in [] if isinstance(phrases, Unworded) else phrases:
            draft = wording.requirement_of(phrase, commitment, context)
            correct = any(_same(draft, label, encoder) for label in gold)
            found.append(Example(wording.confidence_features(phrase, commitment), correct))
    return found


def _same(draft: Mapping[str, Any], label: Mapping[str, Any], encoder: Encoder) -> bool:
    if draft["type"] != label["type"] or not _same_actor(draft["actor"], label["actor"]):
        return False
    texts = [f"{requirement['title']} {requirement['action']}" for requirement in (draft, label)]
    left, right = encoder.encode(texts)
    return round(float(left @ right), 6) > MATCHED_ABOVE


def _same_actor(left: str, right: str) -> bool:
    pair = {left.strip().lower(), right.strip().lower()}
    return len(pair) == 1 or any(pair <= group for group in SYNONYMS)


def judged(
    case: Case, verdicts: Mapping[str, str], pipeline: RequirementsLocal
) -> list[tuple[str, Example]]:
    """Each wording about which there is a verdict, by its fingerprint."""
    state = pipeline.trace(case)
    context = Context(case.domain, tuple(state["sentences"]))
    found: dict[str, Example] = {}
    for commitment in state["kept"]:
        phrases = wording.phrases_of(commitment, context)
        for phrase in [] if isinstance(phrases, Unworded) else phrases:
            words = words_of(wording.requirement_of(phrase, commitment, context))
            if words in verdicts:
                values = usable_features(phrase, commitment, context)
                found.setdefault(words, Example(values, verdicts[words] == "usable"))
    return [*found.items()]


def words_of(requirement: Mapping[str, Any]) -> str:
    """The fingerprint of who does what when."""
    words = [requirement["actor"], requirement["action"], requirement["condition"] or ""]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def train_usable(cases: Sequence[Case], verdicts: Mapping[str, Mapping[str, str]]) -> None:
    """Fit what says whether a reader keeps a wording; all that is likely enough is looked at."""
    config = LocalConfig(merge_duplicates=False, min_keep=0.2, min_keep_quoted=1)
    pipeline = RequirementsLocal(config, None)
    by_case = [
        [example for _, example in judged(case, verdicts[case.case_id], pipeline)]
        for case in cases
        if case.case_id in verdicts
    ]
    everything = [example for one in by_case for example in one]
    stored = json.loads(WEIGHTS.read_text("utf-8"))
    _store({**stored, USABLE: _fitted(everything, USABLE_NAMES, USABLE)})
    print("\n".join(reliability(_left_out(by_case, USABLE_NAMES, USABLE))))


def train_listed(cases: Sequence[Case], gold: Gold) -> None:
    """Fit what says whether a reader lists what a wording or a quotation says."""
    encoder = MiniLM()
    config = LocalConfig(merge_duplicates=False, min_keep=0, min_keep_quoted=1)
    pipeline = RequirementsLocal(config, None)
    by_case = [listed(case, gold[case.case_id], pipeline, encoder) for case in cases]
    everything = [example for one in by_case for example in one]
    stored = json.loads(WEIGHTS.read_text("utf-8"))
    _store({**stored, LISTED: _fitted(everything, LISTED_NAMES, LISTED)})
    print("\n".join(reliability(_left_out(by_case, LISTED_NAMES, LISTED))))


def listed(
    case: Case,
    gold: Sequence[Mapping[str, Any]],
    pipeline: RequirementsLocal,
    encoder: Encoder,
) -> list[Example]:
    """Each wording and quotation, and whether it says what a label of its messages says."""
    state = pipeline.trace(case)
    context = Context(case.domain, tuple(state["sentences"]))
    said = [
        (phrase, commitment)
        for commitment in state["kept"]
        if not isinstance(phrases := wording.phrases_of(commitment, context), Unworded)
        for phrase in phrases
    ]
    if not said:
        return []
    vectors = encoder.encode([phrase.action for phrase, _ in said])
    labels = [" ".join(filter(None, (one["action"], one["condition"]))) for one in gold]
    wanted = encoder.encode(labels) if labels else np.zeros((0, vectors.shape[1]))
    found = []
    for (phrase, commitment), vector in zip(said, vectors, strict=True):
        own = content_words(phrase.action)
        right = any(
            set(commitment.messages) & set(label["source_messages"])
            and (near @ vector > SAYS_THE_SAME or _shares_words(own, content_words(text)))
            for label, text, near in zip(gold, labels, wanted, strict=True)
        )
        values = listed_features(phrase, commitment, context, vector)
        found.append(Example(values, bool(right)))
    return found


def _shares_words(one: Collection[str], other: Collection[str]) -> bool:
    fewer = min(len(one), len(other))
    return bool(fewer) and len(set(one) & set(other)) / fewer >= SHARED_WORDS


def fit(examples: Sequence[Example], names: Sequence[str], *, model: str) -> dict[str, float]:
    """Logistic regression by Newton's method, drawn towards the beliefs."""
    inputs = np.array(
        [[1.0, *(example.features.get(name, 0.0) for name in names)] for example in examples]
    )
    truth = np.array([float(example.correct) for example in examples])
    prior = np.array([0.0, *(BELIEFS[model].get(name, 0.0) for name in names)])
    penalty = np.diag([0.1, *[RIDGE[model]] * len(names)])
    weights: Floats = np.zeros_like(prior)
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (likely - truth) + penalty @ (weights - prior)
        curve = inputs.T @ (inputs * (likely * (1 - likely))[:, None]) + penalty
        weights = weights - np.linalg.solve(curve, slope)
    named = zip(["(always)", *names], weights, strict=True)
    return {name: round(float(weight), 4) for name, weight in named}


def read_cases(path: Path) -> list[Case]:
    """The conversations to train on; ends the program if one of them is kept for testing."""
    rows = _rows(path)
    texts = [TrainingText(row["id"], row.get("split") or "", _texts(row)) for row in rows]
    try:
        refuse_test_items(
            [text for text in texts if text.split == "train"],
            kept_back=[text for text in texts if text.split == TEST],
        )
    except TestItems as refused:
        sys.exit(str(refused))
    return [_case(row) for row in rows if row.get("split") == "train"]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _texts(row: Mapping[str, Any]) -> list[str]:
    return [message["content"] for message in row["messages"]]


def _case(row: Mapping[str, Any]) -> Case:
    messages = tuple(
        Message(
            index=at,
            role=message["role"],
            speaker=message.get("speaker") or "",
            content=message["content"],
            time=message.get("time"),
        )
        for at, message in enumerate(row["messages"])
    )
    return Case(case_id=row["id"], domain=row["domain"], messages=messages)


def read_gold(paths: Sequence[Path]) -> dict[str, list[Mapping[str, Any]]]:
    gold: dict[str, list[Mapping[str, Any]]] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            gold.setdefault(row["id"], row.get("requirements", []))
    return gold


def note_training(
    cases: Sequence[Case],
    gold: Collection[str],
    interviews: Sequence[Case] = (),
) -> None:
    """Write next to the weights what they have read."""
    texts = {
        f"{TRAINED}{case.case_id}": [message.content for message in case.messages]
        for case in cases
        if case.case_id in gold
    }
    heard = {
        f"{CONFIDENCE}{case.case_id}": [message.content for message in case.messages]
        for case in interviews
    }
    trained_on.replace(WEIGHTS, texts, starting=TRAINED)
    if heard:
        trained_on.replace(WEIGHTS, heard, starting=CONFIDENCE)


def train(cases: Sequence[Case], gold: Gold) -> None:
    """Fit what is kept; the second model sees only what the first one lets through."""
    encoder = MiniLM()
    statements = [
        example
        for case in cases
        if case.case_id in gold
        for example in examples(case, gold[case.case_id], encoder)
    ]
    stored = json.loads(WEIGHTS.read_text("utf-8"))
    _store({**stored, KEEP: _fitted(statements, NAMES, KEEP)})


def train_confidence(cases: Sequence[Case], gold: Gold) -> list[tuple[float, bool]]:
    """Fit confidence; what each requirement got from the weights that never saw its talk."""
    encoder = MiniLM()
    pipeline = RequirementsLocal(LocalConfig(merge_duplicates=False, min_keep_quoted=1), None)
    by_case = [
        matches(case, gold[case.case_id], pipeline, encoder)
        for case in cases
        if case.case_id in gold
    ]
    everything = [example for one in by_case for example in one]
    stored = json.loads(WEIGHTS.read_text("utf-8"))
    _store({**stored, MATCH: _fitted(everything, MATCH_NAMES, MATCH)})
    return _left_out(by_case, MATCH_NAMES, MATCH)


def _left_out(
    by_case: Sequence[Sequence[Example]], names: Sequence[str], model: str
) -> list[tuple[float, bool]]:
    """Confidence and truth of each example, by weights fitted on the other conversations."""
    found: list[tuple[float, bool]] = []
    for at, held_out in enumerate(by_case):
        others = [example for to, one in enumerate(by_case) if to != at for example in one]
        weights = fit(others, names, model=model)
        found += [
            (features.score(weights, example.features), example.correct) for example in held_out
        ]
    return found


def reliability(points: Sequence[tuple[float, bool]], bins: int = BINS) -> list[str]:
    """Lines of a table: how sure it was, and how often it was right; the last is the ECE."""
    ordered = sorted(points)
    size = len(ordered) / bins
    parts = [ordered[round(at * size) : round((at + 1) * size)] for at in range(bins)]
    lines, error = [], 0.0
    for part in filter(None, parts):
        sure = sum(stated for stated, _ in part) / len(part)
        right = sum(correct for _, correct in part) / len(part)
        error += len(part) / len(ordered) * abs(sure - right)
        lines.append(f"{len(part):4d} requirements  stated {sure:.2f}  matched {right:.2f}")
    return [*lines, f"ECE {error:.3f} over {len(ordered)} requirements, {_told_apart(ordered)}"]


def _told_apart(points: Sequence[tuple[float, bool]]) -> str:
    """The area under the curve of matched against missed: the chance that a match is surer."""
    right = [sure for sure, correct in points if correct]
    wrong = [sure for sure, correct in points if not correct]
    if not right or not wrong:
        return "AUC undefined: all alike"
    above = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    return f"AUC {above / len(right) / len(wrong):.2f}"


class Fitted(TypedDict):
    """A trained model, as it is kept."""

    examples: int
    correct: int
    weights: dict[str, float]


def _fitted(examples: Sequence[Example], names: Sequence[str], model: str) -> Fitted:
    return {
        "examples": len(examples),
        "correct": sum(example.correct for example in examples),
        "weights": fit(examples, names, model=model),
    }


def _store(models: Mapping[str, Any]) -> None:
    WEIGHTS.write_text(json.dumps(models, indent=2) + "\n", encoding="utf-8")
    features.weights.cache_clear()


def read_interviews(path: Path, labels: Path) -> tuple[list[Case], Gold]:
    """The interviews to develop with, and what was decided about them; never the other half."""
    gold = {
        row["id"]: [label for decision in row["decisions"] for label in decision["labels"]]
        for row in _rows(labels)
        if row["split"] == "dev" and row.get("decisions")
    }
    return [_case(row) for row in _rows(path) if row["id"] in gold], gold


def fit_usable(judged_wordings: Path, files: Sequence[Path]) -> None:
    verdicts: dict[str, dict[str, str]] = {}
    for row in _rows(judged_wordings):
        verdicts.setdefault(row["id"], {})[row["words"]] = row["verdict"]
    rows = [row for path in files for row in _rows(path) if row["id"] in verdicts]
    train_usable([_case(row) for row in rows], verdicts)
    texts = {f"{JUDGED}{row['id']}": _texts(row) for row in rows}
    trained_on.replace(WEIGHTS, texts, starting=JUDGED)


def fit_listed(gold: Gold, files: Sequence[Path]) -> None:
    cases = [case for path in files for case in read_cases(path) if case.case_id in gold]
    train_listed(cases, gold)
    texts = {
        f"{QUOTED}{case.case_id}": [message.content for message in case.messages] for case in cases
    }
    trained_on.replace(WEIGHTS, texts, starting=QUOTED)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the models of requirements-local.")
    parser.add_argument("--conversations", type=Path)
    parser.add_argument("--gold", type=Path, action="append", default=[])
    parser.add_argument("--verdicts", type=Path, metavar="VERDICTS.jsonl")
    parser.add_argument("--texts", type=Path, nargs="+", metavar="TEXTS.jsonl")
    parser.add_argument("--interviews", type=Path, metavar="INTERVIEWS.jsonl")
    parser.add_argument("--interview-labels", type=Path, metavar="LABELS.jsonl")
    parser.add_argument("--confidence-only", action="store_true", help="leave alone what is kept")
    parser.add_argument("--texts-only", action="store_true", help="note what was read, and no more")
    options = parser.parse_args()
    if options.verdicts and options.texts:
        return fit_usable(options.verdicts, options.texts)
    if options.gold and options.texts:
        return fit_listed(read_gold(options.gold), options.texts)
    if not (options.conversations and options.gold):
        parser.error("name --conversations and --gold, or --texts and --verdicts or --gold")
    cases, gold = read_cases(options.conversations), read_gold(options.gold)
    if not (options.texts_only or options.confidence_only):
        train(cases, gold)
    interviews: list[Case] = []
    decided: Gold = {}
    if options.interviews and options.interview_labels:
        interviews, decided = read_interviews(options.interviews, options.interview_labels)
    if not options.texts_only:
        everything = {**decided, **gold}
        print("\n".join(reliability(train_confidence([*cases, *interviews], everything))))
    note_training(cases, gold, interviews)
    return None


if __name__ == "__main__":
    main()
