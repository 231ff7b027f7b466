"""What Label Studio and doccano export: each answer is stored, or listed with the reason."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.conversations.formats.answers import FileConversation, LineFault
from labeling.exchange.formats import doccano, labelstudio
from labeling.exchange.formats.labelstudio_reading import to_utf16
from labeling.models import Annotation, Project, Round
from labeling.words import in_english
from tests import factories

TEXTS = ["We order books & 😀 books & pens", "Who is Nele?", "ok, books, ok"]
SCHEMA: dict[str, list[str]] = {"order": []}


def region(text: str | None, start: int, end: int, *, message: int = 0, **value: Any) -> Any:
    value |= {} if text is None else {"text": text}
    place = {"start": str(message), "end": str(message), "startOffset": start, "endOffset": end}
    return {
        "id": "r1",
        "from_name": "events",
        "to_name": "dialogue",
        "type": "paragraphlabels",
        "value": {**place, "paragraphlabels": ["order"], **value},
    }


def annotation(*results: Any, who: str = "ana", **fields: Any) -> dict[str, Any]:
    return {"completed_by": {"username": who}, "result": list(results), **fields}


def task(*annotations: Any, id: str = "c-1", number: int = 7, **fields: Any) -> dict[str, Any]:
    dialogue = [{"author": f"P{n % 2}", "text": text} for n, text in enumerate(TEXTS)]
    data = {"id": id, "dialogue": dialogue}
    return {"id": number, "data": data, "annotations": list(annotations), **fields}


def read(*tasks: Any) -> tuple[list[FileConversation], list[str]]:
    stream = BytesIO(json.dumps(list(tasks)).encode())
    entries = list(labelstudio.read(stream))
    faults = [in_english(one.reason) for one in entries if isinstance(one, LineFault)]
    return [one[1] for one in entries if not isinstance(one, LineFault)], faults


def said(conversation: FileConversation) -> list[str]:
    return [in_english(note.why) for note in conversation.notes]


FIRST = TEXTS[0].index("books")
SECOND = TEXTS[0].rindex("books")


@pytest.mark.parametrize(
    ("text", "start", "end", "found", "is_moved"),
    [
        ("books", to_utf16(TEXTS[0], SECOND), to_utf16(TEXTS[0], SECOND) + 5, SECOND, False),
        ("books", SECOND, SECOND + 5, SECOND, True),  # counted in code points
        ("pens", 20, 24, TEXTS[0].index("pens"), True),
        ("books &amp; 😀", FIRST, FIRST + 10, FIRST, False),
        ("books &amp; 😀", 0, 5, FIRST, True),
        (" books ", FIRST, FIRST + 5, FIRST, False),
        (None, FIRST, FIRST + 5, FIRST, False),
    ],
)
def test_a_region_is_where_its_words_are(text, start, end, found, is_moved):
    [conversation], faults = read(task(annotation(region(text, start, end))))

    [answer] = conversation.answers
    trigger = answer.payload["events"][0]["trigger"]
    assert (faults, trigger["start"]) == ([], found)
    assert bool(said(conversation)) == is_moved


def test_words_that_are_elsewhere_or_twice_are_never_taken_for_others():
    other = annotation(region("books", 7, 12, message=1), who="ben")
    twice = annotation(region("ok", 5, 7, message=2), who="cleo")

    [conversation], faults = read(task(annotation(region(None, 0, 2)), other, twice))

    assert [answer.annotator for answer in conversation.answers] == ["ana"]
    assert "task 7: annotations[1]: a region says “books”, and “Nele?” lies between" in faults[0]
    assert faults[1].startswith("task 7: annotations[2]: a region says “ok”")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (task(drafts=[{}], predictions=[{}, {}]), "drafts: 1, predictions: 2; submit them"),
        (task(annotation() | {"result": None}), "task 7: annotations[0]: it has no result"),
        ({"id": 3, "data": {"text": "Hello"}}, "task 3: "),
        ({"id": 5, "dialogue": [], "annotator": 1, "lead_time": 2}, "this is JSON_MIN"),
        (task(annotation(), id="\ud83d"), "task 7: "),
        (task(annotation(region("\ud83d", 0, 1))), "task 7: annotations[0]: "),
        (task({"result": []}), "task 7: annotations[0]: it does not say who labeled it"),
    ],
)
def test_what_is_no_answer_is_called_by_its_task(given, says):
    conversations, faults = read(given)

    assert not any(conversation.answers for conversation in conversations)
    assert says in faults[0]


def test_drafts_beside_answers_are_counted():
    [conversation], _ = read(task(annotation(), drafts=[{}, {}]))

    assert conversation.answers[0].empty
    assert said(conversation) == ["task 7: drafts that nobody has submitted are left out: 2"]


@st.composite
def annotations(draw: st.DrawFn) -> Any:
    """As tools and people make them, right or not."""
    start = draw(st.integers(0, len(TEXTS[0]) - 1))
    end = draw(st.integers(start + 1, len(TEXTS[0])))
    text = draw(
        st.sampled_from([None, "books", "We", "nowhere", "", "\ud83d", TEXTS[0][start:end]])
    )
    made = annotation(
        *draw(st.sampled_from([[], [region(text, start, end)], [{"type": "rating"}], ["x"]])),
        who=draw(st.sampled_from(["ana", "ben", ""])),
        was_cancelled=draw(st.booleans()),
    )
    for key in draw(st.sets(st.sampled_from(["result", "completed_by"]))):
        made.pop(key)
    return draw(st.sampled_from([made, made, made, None, 3, []]))


@given(st.lists(st.lists(annotations(), max_size=3), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_every_annotation_is_an_answer_or_listed(tasks):
    given = [task(*own, number=n) for n, own in enumerate(tasks)]

    conversations, faults = read(*given)

    taken = sum(len(conversation.answers) for conversation in conversations)
    assert taken + len(faults) == sum(map(len, tasks))
    for n, (conversation, own) in enumerate(zip(conversations, tasks, strict=True)):
        listed = [fault for fault in faults if fault.startswith(f"task {n}: ")]
        assert len(conversation.answers) + len(listed) == len(own)
        for answer in conversation.answers:
            for label in answer.payload.get("events", []):
                span = label["trigger"]
                assert TEXTS[0][span["start"] : span["end"]] == span["text"]


@given(st.lists(st.sampled_from(["said", "nothing", "open", "outside", "json"]), min_size=1))
def test_every_line_of_doccano_is_an_answer_or_listed(kinds):
    entity = {"id": 1, "label": "Requirement/security", "start_offset": 3, "end_offset": 8}
    change = {
        "said": {"entities": [entity]},
        "nothing": {"entities": [], "empty": True},
        "open": {"entities": []},
        "outside": {"entities": [entity | {"end_offset": 99}]},
    }
    base = {"text": "A: Hello\nB: Yes", "annotator": "ana"}
    lines = [
        json.dumps({"id": n, **base, **change[kind]}) if kind != "json" else "{"
        for n, kind in enumerate(kinds)
    ]

    entries = list(doccano.read(BytesIO("\n".join(lines).encode())))

    assert len(entries) == len(kinds)
    for n, (kind, entry) in enumerate(zip(kinds, entries, strict=True)):
        assert isinstance(entry, LineFault) == (kind not in ("said", "nothing"))
        if isinstance(entry, LineFault) and kind != "json":
            assert in_english(entry.reason).startswith(f"task {n}: ")


# --- stored ---------------------------------------------------------------------------------------


@pytest.fixture
def project(people: Any) -> Project:
    project = factories.make_project(layers=["events"], event_schema=SCHEMA)
    for name in ("c-1", "c-2"):
        turns = [factories.Turn(f"P{n % 2}", text) for n, text in enumerate(TEXTS)]
        factories.make_talk(project, name, turns)
    return project


MIXED = [
    task(annotation(region("We", 0, 2)), annotation(who="ben") | {"result": None}, number=1),
    task(annotation(region("Nele", 0, 2)), number=2, id="c-2"),
    task(annotation(), number=3, id="elsewhere"),
]


def run(tmp_path: Path, tasks: list[Any], **options: Any) -> str:
    path, out = tmp_path / "export.json", StringIO()
    path.write_text(json.dumps(tasks))
    options = {"project": "orders", "format": "labelstudio", "reason": "Pilot.", **options}
    call_command("import_labels", str(path), stdout=out, stderr=out, **options)
    return out.getvalue()


@pytest.mark.django_db
def test_a_bad_task_does_not_block_the_others(project, tmp_path):
    told = run(tmp_path, MIXED)

    assert "1 answers read, 1 new" in told
    assert "Left out: 3\n" in told
    assert "task 1: annotations[1]: it has no result" in told
    assert "task 2: annotations[0]: a region says “Nele”" in told
    assert "conversation 'elsewhere': is not in the project" in told
    [stored] = Annotation.objects.all()
    assert stored.assignment.conversation.external_id == "c-1"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "tasks", [[task()], [task(drafts=[{}])], [task(predictions=[{}])], MIXED[1:], [task(number=9)]]
)
def test_where_nothing_could_be_read_nothing_is_stored_and_that_is_no_success(
    project, tmp_path, tasks
):
    with pytest.raises(SystemExit) as ended:
        run(tmp_path, tasks)

    assert ended.value.code == 1
    assert not Round.objects.exists()


@pytest.mark.django_db
def test_a_file_that_breaks_off_is_refused_whole(project, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(MIXED)[:-1])

    with pytest.raises(SystemExit):
        call_command("import_labels", str(path), project="orders", format="labelstudio")

    assert not Round.objects.exists()
