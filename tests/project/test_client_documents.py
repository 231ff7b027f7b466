"""Every form in the client's documents is read, and every name there is ours or a departure.

The texts are next to the project, not in it; without them there is nothing to hold it to. The same
forms are tested by examples of our own in ``tests/labeling/domain/formats/test_samples.py``,
``tests/labeling/test_sample_files.py`` and ``tests/evaluation/test_config_files.py``.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command, load_command_class

from evaluation import judge
from evaluation.metrics.calibration import calibration
from evaluation.metrics.event_options import SPECIFICATION, read_options
from evaluation.metrics.registry import METRICS
from evaluation.services.launch import config_files, measuring
from labeling.agreement.rules.kappa import cohen_kappa
from labeling.conversations.formats import conversations
from labeling.conversations.formats.answers import FileConversation, Unnamed
from labeling.conversations.rules.importing import Problem, Record
from labeling.domain.yaml_files import read_documents
from labeling.exchange.formats import sample_labels
from labeling.models import Annotation, Conversation, Guideline, Project
from labeling.operation.views.docs import FOLDER, PAGES
from labeling.schema import LAYERS, check_payload, form_fields
from labeling.schema.layers import stages

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SOURCES = Path(os.environ.get("ASSAY_CHAT_DATA", SHARED)).parent / "sources"
TEXTS = {path.stem: path.read_text("utf-8") for path in sorted(SOURCES.glob("*.txt"))}

pytestmark = pytest.mark.skipif(not TEXTS, reason="the client's documents are not here")


class Block(NamedTuple):
    """A fenced piece of a text; one in Markdown may hold others, which are blocks as well."""

    text: str
    line: int
    language: str
    body: str


def blocks() -> Iterator[Block]:
    for name, text in TEXTS.items():
        yield from sorted(_blocks(name, text), key=lambda block: block.line)


def _blocks(name: str, text: str) -> Iterator[Block]:
    opened: list[tuple[int, str, list[str]]] = []
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = line.strip()
        if not mark.startswith("```"):
            for _, _, body in opened:
                body.append(line)
        elif mark != "```" or not opened or (_is_text(opened[-1]) and before != "```"):
            for _, _, body in opened:
                body.append(line)
            opened.append((number, mark.removeprefix("```").strip(), []))
        else:
            at, language, lines = opened.pop()
            yield Block(name, at, language, "\n".join(lines) + "\n")
            for _, _, body in opened:
                body.append(line)
        before = mark or before
    assert not opened, f"{name}: a fence is never closed"


def _is_text(opened: tuple[int, str, list[str]]) -> bool:
    return opened[1] == "markdown"


BLOCKS = list(blocks())


# --- what reads a block ---------------------------------------------------------------------------


def labeled(document: str, name: str, *, messages: int = 3) -> FileConversation:
    """Labels as answers, of which nothing is missing or wrong."""
    unnamed = Unnamed("sample_001", "ana")
    stream = BytesIO(document.encode())
    [entry] = list(sample_labels.read(stream, name=name, unnamed=unnamed))
    conversation = entry[1]
    assert isinstance(conversation, FileConversation), entry
    [answer] = conversation.answers
    problems = check_payload(
        answer.payload,
        layers=stages(),
        message_count=messages,
        complete=True,
        empty=answer.empty,
    )
    assert problems == []
    return conversation


def talk(body: str, name: str) -> Record:
    [entry] = list(conversations.read(BytesIO(body.encode()), format="auto", name=name))
    assert not isinstance(entry, Problem), entry
    return entry[1]


def labels_in_yaml(block: Block) -> None:
    conversation = labeled(block.body, "sample_001.yaml")

    written = next(iter(read_documents(block.body.encode()))).value
    labels = conversation.answers[0].payload["requirements"]
    assert [{**label, "uid": None} for label in labels] == [{**one, "uid": None} for one in written]
    assert conversation.notes == ()


def label_schema(block: Block) -> None:
    """Labels made of the schema, once with each of its choices, and its choices are ours."""
    written = next(iter(read_documents(block.body.encode()))).value
    fields = {
        wrapper: {key: _merged(listed) for key, listed in section.items()}
        for wrapper, section in written.items()
    }
    choices = _choices(block.body, fields)
    for number in range(max(map(len, choices.values()))):
        document = _filled(fields, choices, number)
        conversation = labeled(json.dumps(document), "sample_001.json")
        labels = conversation.answers[0].payload
        assert [len(labels[LAYERS[name].key]) for name in stages()] == [1, 1, 1]
        codes = [(note.why.code, note.why.values["path"]) for note in conversation.notes]
        nested = "inference_labels.inferred_requirements[0]"
        assert codes == [  # as the page of departures says
            ("sample.left_out", f"{nested}.requirement.source_messages"),
            ("sample.renamed", f"{nested}.id"),
        ]


def _merged(listed: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema lists one field an item."""
    return {name: kind for field in listed for name, kind in field.items()}


def _choices(body: str, fields: dict[str, Any]) -> dict[str, list[str]]:
    said = re.findall(r"^\W*(\w+): enum\W+#\s*(\S+)$", body, re.M)
    ours = {
        field["name"]: {str(choice["value"]) for choice in field["choices"]}
        for wrapper in fields
        for field in form_fields(wrapper.removesuffix("_labels"))
    }
    assert len(said) == body.count(": enum")
    assert {name: set(offered.split("|")) for name, offered in said} == {
        name: ours[name] for name, _ in said
    }
    return {name: offered.split("|") for name, offered in said}


def _filled(
    fields: dict[str, Any], choices: dict[str, list[str]], number: int
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    def value(name: str, kind: Any) -> Any:
        if name in choices:
            return choices[name][number % len(choices[name])]
        return special[name] if name in special else plain[kind]

    plain: dict[str, Any] = {
        "string": "a short text",
        "string | null": None,
        "list[string]": ["one", "two"],
        "list[int]": [0],
        "float": 0.9,
    }
    special: dict[str, Any] = {
        "id": "REQ-001",
        "triggered_by": ["REQ-001"],
        "field": "action",
        "location": "short",
    }
    requirement = fields["extraction_labels"]["requirements"]
    special["requirement"] = {name: value(name, kind) for name, kind in requirement.items()}
    return {
        wrapper: {
            key: [{name: value(name, kind) for name, kind in label.items()}]
            for key, label in section.items()
        }
        for wrapper, section in fields.items()
    }


def transcript(block: Block) -> None:
    record = talk(block.body, "sample_001.txt")

    assert [turn.role for turn in record.turns] == ["user", "analyst", "user"]
    said = [line.partition(": ")[2] for line in block.body.splitlines()]
    assert [turn.content for turn in record.turns] == said


def guide(block: Block) -> None:
    """What it tells annotators to fill in is what our form asks for."""
    asked = {field["label"].casefold() for field in form_fields(stages()[0])} | {"id"}
    headings = re.findall(r"^### (.*?)(?: Classification| \(if applicable\))?$", block.body, re.M)
    edges = {heading for heading in headings if heading.startswith("When ")}

    assert {heading.casefold() for heading in {*headings} - edges} == asked


def labeling_tool(block: Block) -> None:
    """The sample that the printed page loads and the labels that it saves."""
    page = block.body
    sample_keys = set(re.findall(r"currentSample\.(\w+)", page))
    message_keys = set(re.findall(r"msg\.(\w+)", page))
    message: dict[str, Any] = {"role": "user", "content": "We need it."}
    sample = {"domain": "shop", "difficulty": "easy", "conversation": [message, message]}
    assert (sample_keys, message_keys) == (set(sample), set(message))
    record = talk(json.dumps(sample), "sample_001.json")
    assert (record.id, record.domain, record.difficulty, record.left_out) == (
        "sample_001",
        "shop",
        "easy",
        (),
    )

    requirement = {
        "id": "REQ-001",
        "title": "Order Tracking",
        "type": "functional",
        "actor": "Customer",
        "action": "View status",
        "condition": None,
        "acceptance_criteria": ["One line\nand another"],  # as the printed script splits them
        "priority": "must",
        "source_messages": [0],
        "rationale": "Said",
        "confidence": 1,
    }
    assert _keys_of(page, "req") == list(requirement)
    for name in ("type", "priority"):
        select = re.search(rf'<select name="{name}".*?</select>', page, re.S)
        assert select is not None
        field = next(field for field in form_fields(stages()[0]) if field["name"] == name)
        offered = {choice["value"] for choice in field["choices"]}
        assert set(re.findall(r'value="([^"]+)"', select[0])) == offered
    saved = {
        "sample_id": "sample_001",
        "annotator": "ana",
        "labeled_at": "2026-01-31T14:05:00.000Z",
        "requirements": [requirement],
    }
    assert _keys_of(page, "labels") == list(saved)
    conversation = labeled(json.dumps(saved), "saved.json")
    [label] = conversation.answers[0].payload["requirements"]
    assert label["acceptance_criteria"] == ["One line", "and another"]
    assert conversation.notes == ()


def _keys_of(page: str, name: str) -> list[str]:
    literal = re.search(rf"const {name} = \{{\n(.*?)\n\s*\}};", page, re.S)
    assert literal is not None
    return re.findall(r"^\s*(\w+):", literal[1], re.M)


FIGURES = {
    "calculate_agreement": "kappa",
    "compute_requirement_recall": "requirement_recall",
    "compute_requirement_precision": "requirement_precision",
    "actors_match": "actor_accuracy",
    "compute_ac_completeness": "criteria_completeness",
    "compute_confidence_calibration": "ece",
    "plot_calibration_curve": "ece",
    "compute_inference_relevance": "inference_relevance",
    "compute_pii_f1": "pii_f1",
}
"""What each printed function computes is one of our figures."""


def program(block: Block) -> None:
    """Its functions are figures of ours, what they return is named, its data can be measured."""
    tree = ast.parse(block.body.replace('\\"', '"'))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        assert FIGURES[function.name] in {*METRICS, "kappa"}
        returned = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        keys = {
            key.value
            for node in returned
            for each in ast.walk(node)
            if isinstance(each, ast.Dict)
            for key in each.keys
            if isinstance(key, ast.Constant)
        }
        assert keys <= words(), keys - words()
    data = list(_data(tree))
    assert functions or data, "neither a function nor data"
    for name, value in data:
        DATA[name](value)


def _data(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """Lists outside of functions: by the name that they have there."""
    calls: dict[str, Any] = {}
    for node in tree.body if isinstance(tree, ast.Module) else []:
        if not isinstance(node, ast.Assign):
            continue
        if isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, ast.literal_eval(node.value)
        elif isinstance(node.value, ast.Call):
            lists = [word for word in node.value.keywords if isinstance(word.value, ast.List)]
            calls |= {str(word.arg): ast.literal_eval(word.value) for word in lists}
    if calls:
        yield ",".join(sorted(calls)), calls


def _two_annotators(lists: Any) -> None:
    assert cohen_kappa(lists["annotator1"], lists["annotator2"]) == pytest.approx(7 / 15)


def _predictions(rows: Any) -> None:
    assert all(set(row) == {"confidence", "correct"} for row in rows)
    stated, correct = [row["confidence"] for row in rows], [int(row["correct"]) for row in rows]
    squares = [(said - came) ** 2 for said, came in zip(stated, correct, strict=True)]
    assert calibration(stated, correct).brier == pytest.approx(sum(squares) / len(rows))


def _requirements(rows: Any) -> None:
    fields = {field["name"] for field in form_fields(stages()[0])}
    assert all(set(row) <= fields for row in rows)


DATA: dict[str, Callable[[Any], None]] = {
    "annotator1,annotator2": _two_annotators,
    "predictions": _predictions,
    "extracted": _requirements,
    "ground_truth": _requirements,
}


def evaluation_run(block: Block) -> None:
    call = re.search(r"Evaluation\.run\(\n(.*?)\n\)", block.body, re.S)
    assert call is not None
    options = re.findall(r"^\s+(\w+):", call[1], re.M)
    keys = re.findall(r"^#\s+(\w+):", block.body, re.M)

    assert options
    assert {*options, *keys} <= words(), {*options, *keys} - words()


def judge_module(block: Block) -> None:
    """Its prompt is taken word for word, by a file and by a configuration."""
    [(name, text)] = re.findall(r'@(\w+_prompt) """\n(.*?)"""', block.body, re.S)
    assert name == "default_faithfulness_prompt"
    prompt = judge.checked("faithfulness", text)
    [message] = prompt.messages(question="Why?", messages=["Because."], answer="So.")
    for sent in ('"Why?"', '["Because."]', '"So."', '{"score": <0-10>'):
        assert sent in message.content
    assert not re.search(r"\{(question|chunks|answer)\}", message.content)
    agent = config_files.Agent(pipeline="memory", faithfulness_prompt=text)
    assert agent.prompts == {"faithfulness": text}
    functions = re.findall(r"def (\w+)", block.body)
    assert all(any(name in word for word in words()) for name in functions)


def drawing(block: Block) -> None:
    """A picture of a flow or of a screen, with nothing to read."""
    assert set(re.findall(r"`|\{", block.body)) == set()


def reader_of(block: Block) -> Callable[[Block], None]:
    """By what a block is, not by which one it is: another one of its kind is read alike."""
    first = block.body.strip().partition("\n")[0]
    match block.language:
        case "yaml" if "enum" in block.body and "string" in block.body:
            return label_schema
        case "yaml":
            return labels_in_yaml
        case "markdown":
            return guide
        case "html" if "saveLabels" in block.body:
            return labeling_tool
        case "python":
            return program
        case "elixir" if "Evaluation.run(" in block.body:
            return evaluation_run
        case "elixir" if "_prompt" in block.body:
            return judge_module
        case "" if re.match(r"(User|Analyst): ", first):
            return transcript
        case "" if re.match(r"Test Case$|\[ \] |┌", first):
            return drawing
    return pytest.fail(f"Nobody reads {block.text}:{block.line} ({block.language}): {first}")


@pytest.mark.no_database
@pytest.mark.parametrize("block", BLOCKS, ids=[f"{each.text[:3]}-{each.line}" for each in BLOCKS])
def test_every_block_is_read(block: Block) -> None:
    reader_of(block)(block)


@pytest.mark.no_database
def test_a_form_that_nobody_reads_is_noticed() -> None:
    with pytest.raises(pytest.fail.Exception, match="Nobody reads new:7"):
        reader_of(Block("new", 7, "toml", "a = 1\n"))


# --- names in lines -------------------------------------------------------------------------------


@cache
def words() -> frozenset[str]:
    """Everything that is code in a line of our documents, and the words within it."""
    found = set(METRICS)
    for page in PAGES:
        for code in re.findall(r"`([^`\n]+)`", (FOLDER / f"{page}.md").read_text("utf-8")):
            found |= {code, *re.findall(r"[\w.]+", code)}
    return frozenset(found)


def _outside(name: str, text: str) -> str:
    """The text without its blocks."""
    lines = text.splitlines()
    for block in _blocks(name, text):
        for number in range(block.line - 1, block.line + block.body.count("\n") + 1):
            lines[number] = ""
    return "\n".join(lines)


INLINE = sorted(
    {
        code
        for name, text in TEXTS.items()
        for code in re.findall(r"`([^`\n]+)`", _outside(name, text))
    }
)
SETTING = re.compile(r"(metrics\.[a-z_.]+)(?:: ?(.+)|=(.+))?")


@pytest.mark.no_database
@pytest.mark.parametrize("code", INLINE)
def test_every_name_is_ours_or_a_named_departure(code: str, tmp_path: Path) -> None:
    setting = SETTING.fullmatch(code)
    if setting and setting[1] != "metrics.version":
        _read_as_setting(setting, code, tmp_path)
    elif code.startswith("--"):
        parser = load_command_class("evaluation", "evaluate").create_parser("assay", "evaluate")
        assert code in parser._option_string_actions
    elif "/" in code and re.fullmatch(r"[a-z_]+/[a-z0-9/]+", code):
        first, *others = code.split("/")
        family = first.rpartition("_")[0]
        assert {first, *(f"{family}_{other}" for other in others)} <= set(METRICS)
    elif " = " in code:
        assert set(re.findall(r"[a-z_]{4,}", code)) <= words()
    else:
        assert code in words()


def _read_as_setting(setting: re.Match[str], code: str, folder: Path) -> None:
    name, alternatives, assigned = setting.groups()
    values = alternatives.split(" | ") if alternatives else [assigned or "0.5"]
    for value in values:
        path = folder / "settings.yaml"
        path.write_text(code if assigned else f"{name}: {value}\n", encoding="utf-8")
        options = read_options(config_files.read_settings(path)["metrics"])
        stored = getattr(options, name.removeprefix("metrics.").replace(".", "_"))
        assert str(stored).lower() == value


@pytest.mark.no_database
def test_the_version_of_the_metric_specification_is_recognised() -> None:
    versions = re.findall(r"# Metric Specification \((.*?)\)", "\n".join(TEXTS.values()))

    assert versions == [f"v{SPECIFICATION}"]
    for version in (SPECIFICATION, *versions):
        measuring.check_version("metrics", version)


# --- all of it, by the commands -------------------------------------------------------------------


@pytest.mark.django_db
def test_the_commands_take_the_guide_its_example_and_its_labels(
    people: Any, tmp_path: Path
) -> None:
    by_reader = {reader_of(block): block.body for block in BLOCKS}
    files = {
        "guide.md": by_reader[guide],
        "sample_001.txt": by_reader[transcript],
        "sample_001.yaml": by_reader[labels_in_yaml],
    }
    for name, body in files.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    talk_file, labels_file = str(tmp_path / "sample_001.txt"), str(tmp_path / "sample_001.yaml")
    out = StringIO()

    call_command("import_conversations", talk_file, project="pilot", format="auto", stdout=out)
    call_command("add_guidelines", str(tmp_path / "guide.md"), project="pilot", stdout=out)
    project = Project.objects.get(slug="pilot")
    project.memberships.create(user=people["ana"], role="annotator")
    call_command(
        "import_labels",
        labels_file,
        project="pilot",
        format="sample",
        annotator="ana",
        reason="Printed in the guide.",
        stdout=out,
    )

    assert Guideline.objects.get(project=project).body.strip() == files["guide.md"].strip()
    assert Conversation.objects.get(project=project).external_id == "sample_001"
    labels = Annotation.objects.get().payload["requirements"]
    assert [label["title"] for label in labels] == [
        "Order Tracking",
        "Order Status Email Notifications",
    ]


@pytest.mark.no_database
def test_the_two_printed_annotators_can_be_compared_by_the_command(tmp_path: Path) -> None:
    [lists] = [
        value
        for block in BLOCKS
        if block.language == "python"
        for name, value in _data(ast.parse(block.body.replace('\\"', '"')))
        if name == "annotator1,annotator2"
    ]
    rows = [
        f"sample,{unit},{who},{label}"
        for who, labels in lists.items()
        for unit, label in enumerate(labels)
    ]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["item,unit,annotator,label", *rows]), encoding="utf-8")
    out = StringIO()

    call_command("agreement", from_csv=path, format="json", stdout=out)

    assert json.loads(out.getvalue())["pairs"][0]["kappa"] == pytest.approx(7 / 15)
