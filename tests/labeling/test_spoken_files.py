"""Recordings and chats of 200 messages, imported whole: words in are words stored and listed."""

from __future__ import annotations

import random
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from labeling.conversations import conversations
from labeling.conversations.conversations import ImportReport
from labeling.models import Conversation
from tests.pages import text_of
from tests.talks import GLUE, WORDS

pytestmark = pytest.mark.django_db
MESSAGES = 200


def sentences(seed: int) -> list[str]:
    draw = random.Random(seed)
    ends = [".", "?", " at 10:30", ": <10 or >5", " 42", ' "so: it is"', "…"]
    return [
        " ".join(draw.choice(WORDS + GLUE) for _ in range(draw.randint(3, 14))) + draw.choice(ends)
        for _ in range(MESSAGES)
    ]


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


PEOPLE = ["Costa, Ana (Org, Dept.)", "Ben (Guest)", "Dr. Zoé van der Berg"]


def of_a_meeting(said: list[str]) -> str:
    """In the manner of Zoom and Teams: numbers, notes, names, some cues padded."""
    blocks = ["WEBVTT\n\nNOTE Recorded in January"]
    for n, text in enumerate(said, 1):
        times = f"{clock(4 * n)}.120 --> {clock(4 * n + 3)}.900"
        text = text.replace("<", "&lt;").replace(">", "&gt;")
        blocks.append(f"{n}\n{times}\n{PEOPLE[n % 3]}: {text}{' ' * (n % 2)}")
    return "\n\n".join(blocks) + "\n"


def of_a_film(said: list[str]) -> str:
    """In the manner of professional subtitles: names in capitals, two lines, no blank lines."""
    cues = []
    for n, text in enumerate(said, 1):
        words = text.split()
        lines = " ".join(words[:3]) + ("\n \n" if n % 9 == 0 else "\n") + " ".join(words[3:])
        times = f"0:{clock(4 * n)[3:]},12 --> {clock(4 * n + 3)},900"
        cues.append(f"{n}\n{times}\n<i>{'ANA' if n % 2 else 'BEN'}: {lines}</i>")
    return "\n".join(cues) + "\n"


def of_a_phone(said: list[str]) -> str:
    """In the manner of WhatsApp, with what it says itself."""
    lines = [
        "12.03.24, 09:00 - Messages and calls are end-to-end encrypted.",
        '12.03.24, 09:00 - Ana created group "Plan: phase 1"',
    ]
    for n, text in enumerate(said):
        who = ("Ana", "Ben 🙂", "~\u202fمنى")[n % 3]
        first, _, rest = text.partition(" ")
        lines.append(
            f"{12 + n // 60}.03.24, {9 + n // 60 % 9:02}:{n % 60:02} - {who}: {first}\n{rest}"
        )
        if n % 25 == 0:
            lines.append(
                f"{12 + n // 60}.03.24, {9 + n // 60 % 9:02}:{n % 60:02} - Ben 🙂: <Media omitted>"
            )
    return "\r\n".join(lines)


def imported(text: str, name: str, dry_run: bool = False) -> ImportReport:
    files = [(name, BytesIO(text.encode()))]
    return conversations.import_files(
        project_slug="shop", files=files, format="auto", dry_run=dry_run
    )


MADE = [("meeting.vtt", of_a_meeting), ("film.srt", of_a_film), ("chat.txt", of_a_phone)]


@pytest.mark.parametrize(("name", "make"), MADE, ids=[name for name, _ in MADE])
def test_the_words_of_a_file_are_those_stored_and_listed(name, make):
    said = sentences(len(name))

    report = imported(make(said), name)

    messages = Conversation.objects.get().messages
    stored = [message.content for message in messages if message.content != "[file]"]
    assert [text.split() for text in stored] == [text.split() for text in said]
    of_program = {"meeting.vtt": 1, "film.srt": 0, "chat.txt": 2 + MESSAGES // 25}
    assert report.n_left_out == len(report.left_out) == of_program[name]
    people = {message.speaker for message in messages}
    assert (
        people
        == {
            "meeting.vtt": set(PEOPLE),
            "film.srt": {"ANA", "BEN"},
            "chat.txt": {"Ana", "Ben 🙂", "~ منى"},
        }[name]
    )


def test_captions_that_roll_are_stored_once_with_every_word():
    said = [text.replace("<", "&lt;") for text in sentences(1)]
    shown = [f"{before}\n{text}" for before, text in zip(["", *said], said, strict=False)]
    cues = [
        f"{clock(2 * n)}.000 --> {clock(2 * n + 2)}.000 align:start\n{text}"
        for n, text in enumerate(shown)
    ]

    report = imported("WEBVTT\nKind: captions\n\n" + "\n\n".join(cues), "talk.vtt")

    stored = [message.content for message in Conversation.objects.get().messages]
    assert [text.replace("<", "&lt;") for text in stored] == [
        " ".join(text.split()) for text in said
    ]
    repeated = [left for left in report.left_out if left.reason.code == "left_out.repeated"]
    assert len(repeated) == MESSAGES - 1


UNCLEAR = "Ana: Hi\nCara: hm\nBen: Yo\nAna: So\nNote: this\nBen: x"


def test_a_preview_asks_who_is_unclear_and_mends_it_in_both_ways(
    project, rita, signed_in, settings, tmp_path
):
    settings.DATA_DIR = tmp_path
    client = signed_in(rita)
    address = "/projects/orders/conversations/import/"
    file = SimpleUploadedFile("t.txt", UNCLEAR.encode())

    preview = client.post(f"{address}preview/", {"format": "auto", "file": file})

    asked = {one.name: one for one in preview.context["shown"].speakers if one.line}
    assert {name: (one.messages, one.role, one.line) for name, one in asked.items()} == {
        "Cara": (1, "participant", "Cara: hm"),
        "Note": (1, "text", "Note: this"),
    }
    assert "Cara 1 Check Cara: hm" in text_of(preview)

    chosen = {"name": ["Cara", "Note", "Ana"], "role": ["text", "user", "analyst"]}
    again = client.post(f"{address}preview/", {**preview.context["confirm"], **chosen})
    client.post(f"{address}store/", again.context["confirm"])

    messages = Conversation.objects.get().messages
    assert [(one.speaker, one.role, one.content) for one in messages] == [
        ("Ana", "analyst", "Hi\nCara: hm"),
        ("Ben", "participant", "Yo"),
        ("Ana", "analyst", "So"),
        ("Note", "user", "this"),
        ("Ben", "participant", "x"),
    ]
    assert "Cara" in {one.name for one in again.context["shown"].speakers}


def test_the_command_asks_too_and_takes_the_answer(tmp_path, capsys):
    path = tmp_path / "t.txt"
    path.write_text(UNCLEAR.replace("Ana", "Costa, Ana"))
    options = {"project": "shop", "format": "auto", "dry_run": True}

    call_command("import_conversations", path, **options)
    assert "Read as text, please check: Note, in “Note: this”" in capsys.readouterr().out

    roles = "Costa, Ana=analyst, Cara=text, Note=user"
    call_command("import_conversations", path, **{**options, "dry_run": False}, roles=roles)
    assert "Note" not in capsys.readouterr().out
    assert Conversation.objects.get().messages[0].role == "analyst"


def test_what_is_left_out_is_listed_with_line_and_reason(tmp_path, capsys):
    path = tmp_path / "t.vtt"
    path.write_text(of_a_meeting(sentences(3)[:4]))

    call_command("import_conversations", path, project="shop", format="auto")

    out = capsys.readouterr().out
    assert "t.vtt:3: a note, a style sheet or a region: NOTE Recorded in January" in out
