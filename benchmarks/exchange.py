"""What a question and a talk cost with a language model, if it reads perfectly.

    .venv/bin/python benchmarks/exchange.py --chats CHAT.json… --talks TALKS.jsonl…

CHAT.json are chats of REALTALK or LoCoMo as published, of which `memory` answers the last question;
TALKS.jsonl are conversations of which `requirements-model` puts down what a reader found
(``fixtures/reading``), with guideline and without examples. In the model's place stands a stub
that names at once what people named: calls, tokens and money, and no word about quality.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pipelines  # noqa: F401 - one thread, which must be said before numpy comes

# isort: split
from benchmarks.retrieval import asked_of, read
from pipelines.chat.endpoint import Endpoint
from pipelines.llm import Reply, Usage
from pipelines.parsing import schema_problem
from pipelines.registry import build
from pipelines.types import Case, Message

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CHARACTERS_PER_TOKEN = 4  # of English, by the tokenizers of today's models


class PerfectReader:
    """Replies what it is told, and counts what it is sent."""

    id = "stub/perfect-reader"

    def __init__(self, reply: Any) -> None:
        self._reply = reply
        self.prompts: list[str] = []

    def complete(self, messages: Any, *, schema: Any = None, repetition: int = 0) -> Reply:
        if problem := schema_problem(self._reply, schema):
            raise ValueError(problem)
        self.prompts.append("\n".join(message.content for message in messages))
        return Reply("", data=self._reply, usage=Usage(), model=self.id)


def question(path: Path) -> tuple[int, PerfectReader, str]:
    chat, messages = read(path)
    asked = asked_of(chat, [])[-1]
    phase = {"title": "Found", "summary": "It is said.", "evidence": sorted(asked.evidence)}
    reply = {"phases": [phase], "answer": "So it is.", "search": [], "read": []}
    reader = PerfectReader(reply)
    build("memory", {"use_model": True}, model=reader).run(
        Case(asked.question, "", messages, asked.question, chat.id, asked.task)
    )
    return len(messages), reader, "Question:"


def talk(row: dict[str, Any], found: list[dict[str, Any]]) -> tuple[int, PerfectReader, str]:
    messages = tuple(
        Message(at, line["role"], line["role"], line["content"])
        for at, line in enumerate(row["messages"])
    )
    added = {"how": "stated", "accepted_in": None}
    asked_for = (
        *("title", "type", "actor", "action", "condition", "acceptance_criteria", "priority"),
        *("source_messages", "rationale", "confidence"),
    )
    labels = [{name: label[name] for name in asked_for} | added for label in found]
    reader = PerfectReader({"requirements": labels, "left_out": []})
    guideline = (FIXTURES / "interviews" / "guidelines.md").read_text(encoding="utf-8")
    case = Case(row["id"], row["domain"], messages, task="extraction", guideline=guideline)
    build("requirements-model", {}, model=reader).run(case)
    return len(messages), reader, "The subject"


def told(name: str, asked: tuple[int, PerfectReader, str], endpoint: Endpoint) -> str:
    size, reader, last = asked
    sent = sum(map(len, reader.prompts)) // CHARACTERS_PER_TOKEN
    same = len(reader.prompts[0].rpartition(last)[0]) // CHARACTERS_PER_TOKEN
    written = len(json.dumps(reader._reply, ensure_ascii=False)) // CHARACTERS_PER_TOKEN
    first = endpoint.cost(Usage(sent, written))
    again = endpoint.cost(Usage(sent, written, cached_tokens=same))
    cells = [name, size, len(reader.prompts), sent, same, written, f"{first:.4f}", f"{again:.4f}"]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chats", type=Path, nargs="*", default=[])
    parser.add_argument("--talks", type=Path, nargs="*", default=[])
    parser.add_argument("--price", type=float, nargs=3, default=[0.25, 0.025, 2.0],
                        help="of a million tokens: read, read again, written")  # fmt: skip
    given = parser.parse_args()
    prices = zip(("input_price", "cached_price", "output_price"), given.price, strict=True)
    endpoint = Endpoint(model="stub", **dict(prices))
    labels = (FIXTURES / "reading" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    answers = {row["id"]: row["answers"][0]["labels"] for row in map(json.loads, labels)}
    print("| | messages | calls | tokens sent | cacheable | written | first | cached |")
    print(f"|{' --- |' * 8}")
    for path in given.chats:
        print(told(f"a question, {path.stem}", question(path), endpoint))
    for path in given.talks:
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            asked = talk(row, answers[row["id"]]["requirements"])
            print(told(f"a talk, {row['id']}", asked, endpoint))


if __name__ == "__main__":
    main()
