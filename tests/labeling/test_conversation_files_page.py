"""Conversations out of an uploaded file: shown first, stored when it is confirmed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from labeling.conversations import uploads
from labeling.conversations.forms import uploads as upload_forms
from labeling.models import Annotation, Conversation, Event, Project
from tests import factories
from tests.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_folder", "project")]
URL = "/projects/orders/conversations/import/"
NAME = "<b>talks.jsonl"


def talk(id: str, **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": f"A shop, {id}"}, {"role": "analyst", "content": "Why?"}]
    return {"id": id, "messages": turns, **more}


def native(*talks: Any) -> bytes:
    return "\n".join(json.dumps(talk) for talk in talks).encode()


def upload(client: Client, data: bytes, **fields: Any) -> Any:
    given = {"format": "native", "file": SimpleUploadedFile(NAME, data), **fields}
    return client.post(f"{URL}preview/", given)


def confirm(client: Client, preview: Any, **fields: Any) -> Any:
    return client.post(f"{URL}store/", {**preview.context["confirm"], **fields})


def test_a_preview_says_what_the_file_holds_and_stores_nothing(lead):
    preview = upload(lead, native(talk("a"), talk("b"), talk("a")), split="train")

    shown = text_of(preview)
    assert "Nothing is stored yet" in shown
    assert "Conversations read 3 New 2, with 4 messages Already stored 1" in shown
    assert "Default split train" in shown
    assert "Preview of &lt;b&gt;talks.jsonl" in preview.content.decode()
    assert not Conversation.objects.exists()
    assert not Event.objects.filter(verb="conversations.imported").exists()


def test_what_a_preview_has_shown_is_stored_when_it_is_confirmed(lead):
    preview = upload(lead, native(talk("a"), talk("b", split="train")), split="train")

    stored = confirm(lead, preview)

    assert stored.url == "/projects/orders/"  # without a round, it says what comes next
    assert "2 conversations imported." in lead.get(stored.url).content.decode()
    splits = Conversation.objects.filter(project__slug="orders").values_list("external_id", "split")
    assert dict(splits) == {"a": "train", "b": "train"}
    assert Event.objects.get(verb="conversations.imported").actor.username == "rita"
    assert "Nothing new to store" in text_of(upload(lead, native(talk("a", split="train"))))


def test_a_faulty_file_is_refused_with_line_and_reason(lead):
    response = upload(lead, native({"id": "b"}, talk("<i>c", messages=[])), split="dev")

    assert response.status_code == 400
    shown = response.content.decode()
    assert "&lt;b&gt;talks.jsonl:1 (b): " in shown
    assert "<b>talks" not in shown
    assert "&quot;messages&quot; is missing; nothing was stored" in shown
    assert "jsonl:2 (&lt;i&gt;c): a conversation needs at least 2 messages" in shown
    assert '<option value="dev" selected>' in shown
    assert "Import 0" not in text_of(response)
    assert not Conversation.objects.exists()


def test_what_cannot_be_imported_is_named_and_left_out_by_choice(lead):
    bad = native(talk("a"), {"id": "b"}, talk("<i>c", messages=[]))
    preview = upload(lead, bad)

    assert preview.status_code == 200
    assert "&lt;i&gt;c: a conversation needs at least 2 messages" in preview.content.decode()
    assert "Leave out what is listed and import the rest" in text_of(preview)
    refused = confirm(lead, preview)
    assert "nothing was stored" in text_of(refused)
    assert not Conversation.objects.exists()

    done = confirm(lead, upload(lead, bad), leave_out="unreadable")

    assert [stored.external_id for stored in Conversation.objects.all()] == ["a"]
    said = lead.get(done.url).content.decode()
    assert "1 conversation imported. Conversations or files left out: 2." in said
    assert "b: &quot;messages&quot; is missing" in said


def test_a_file_that_cannot_be_read_is_removed_or_left_out(lead):
    files = [("bad.csv", b"x,y\n1,2\n"), ("good.jsonl", native(talk("a")))]
    preview = several(lead, *files)
    assert "bad.csv:1: no column is known" in text_of(preview).replace("1: bad.csv:", "1:")
    key = next(upload.key for upload in preview.context["uploads"] if upload.name == "bad.csv")

    without = again(lead, preview, without=str(key))

    assert [upload.name for upload in without.context["uploads"]] == ["good.jsonl"]
    assert "bad.csv" not in text_of(without)


def test_tables_with_other_columns_have_choices_of_their_own(lead):
    first = b"wer,said\nAna,Hello there\nBen,Yes of course\n"
    second = b"speaker,text\nCleo,Another day\nDan,Not so bad\n"
    preview = several(lead, ("a.csv", first), ("b.csv", second))
    keys = {table.files[0]: table.key for table, _ in preview.context["tables"]}

    fields = {f"column_{keys['a.csv']}_text": "said", f"column_{keys['a.csv']}_speaker": "wer"}
    fields |= {f"column_{keys['b.csv']}_text": "text", f"column_{keys['b.csv']}_speaker": "speaker"}
    preview = again(lead, preview, **fields)
    confirm(lead, preview)

    assert Conversation.objects.count() == 2


def test_other_text_under_a_known_id_is_refused_although_the_preview_was_good(lead):
    preview = upload(lead, native(talk("a"), talk("b")))
    other = talk("b", messages=talk("x")["messages"])
    confirm(lead, upload(lead, native(other)))

    late = confirm(lead, preview)

    assert late.status_code == 400
    assert 'jsonl:2: conversation "b" is known with other text' in text_of(late)
    assert Conversation.objects.count() == 1


def test_a_preview_is_confirmed_once_and_by_nobody_else(lead, signed_in, admin):
    preview = upload(lead, native(talk("a")))

    other = confirm(signed_in(admin), preview)
    assert (other.status_code, Conversation.objects.count()) == (400, 0)
    assert "no longer stored" in text_of(other)

    confirm(lead, preview)
    again = confirm(lead, preview)
    assert (again.status_code, Conversation.objects.count()) == (400, 1)
    assert "no longer stored" in text_of(again)


def test_who_sends_files_without_end_keeps_the_newest(lead, monkeypatch):
    file = native(talk("a"))
    monkeypatch.setattr(uploads, "MOST_BYTES", 2 * len(file))
    first, second, third = (upload(lead, file) for _ in range(3))

    assert "no longer stored" in text_of(confirm(lead, first))
    assert [confirm(lead, each).status_code for each in (third, second)] == [302, 302]


@pytest.mark.parametrize("fields", [{"format": "realtalk"}, {"split": "all"}, {"upload": "../key"}])
def test_what_no_preview_offers_is_not_stored(lead, fields):
    answer = confirm(lead, upload(lead, native(talk("a"))), **fields)

    assert answer.status_code == 400
    assert not Conversation.objects.exists()


def test_a_file_that_is_too_large_is_left_to_the_command(lead, monkeypatch):
    monkeypatch.setattr(upload_forms, "MAX_BYTES", 10)

    answer = upload(lead, native(talk("a")))

    assert answer.status_code == 400
    assert "import it with assay import_conversations" in text_of(answer)


# --- files of other kinds -------------------------------------------------------------------------


def several(client: Client, *files: tuple[str, bytes], **fields: Any) -> Any:
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(f"{URL}preview/", {"file": sent, **fields})


def again(client: Client, preview: Any, **fields: Any) -> Any:
    kept = {key: preview.context["confirm"][key] for key in ("upload", "format", "split")}
    return client.post(f"{URL}preview/", {**kept, **fields})


def test_a_preview_shows_conversations_as_they_will_look(lead):
    text = "[00:00:05] Dana: Hello <b>there</b>\nand more\n[01:02:03] منى: نعم\n"

    preview = several(lead, ("talk.txt", text.encode()))

    shown = text_of(preview)
    assert "talk Dana participant 0:00:05 Hello <b>there</b> and more" in shown
    assert "منى participant 1:02:03 نعم" in shown
    assert '<p class="turn-text" dir="auto">نعم</p>' in preview.content.decode()
    assert "Read as: Transcript" in shown


@pytest.mark.parametrize(
    "how", ["[]", "{", '{"columns": {"text": 1}}', '{"roles": []}', '{"encoding": "utf-7"}']
)
def test_choices_that_no_preview_made_are_refused(lead, how):
    answer = confirm(lead, upload(lead, native(talk("a"))), how=how)

    assert answer.status_code == 400
    assert not Conversation.objects.exists()


def test_text_of_old_windows_programs_is_offered_to_be_read_and_then_stored(lead):
    file = SimpleUploadedFile("talk.txt", "Jörg: Grüße für 5 €\nBen: Danke".encode("cp1252"))

    refused = lead.post(f"{URL}preview/", {"format": "auto", "file": file})
    asked = {**refused.context["confirm"], "encoding": "windows-1252"}
    preview = lead.post(f"{URL}preview/", asked)
    confirm(lead, preview)

    assert "read it as windows-1252" in text_of(refused)
    assert "Grüße für 5 €" in text_of(preview)
    (conversation,) = Conversation.objects.filter(project__slug="orders")
    assert conversation.messages[0].content == "Grüße für 5 €"


UNCLEAR = "Ana: Hi\nCara: hm\nBen: Yo\nAna: So\nNote: this\nBen: x"


def test_a_preview_asks_who_is_unclear_and_mends_it_in_both_ways(lead):
    preview = several(lead, ("t.txt", UNCLEAR.encode()), format="auto")

    asked = {one.name: one for one in preview.context["shown"].speakers if one.line}
    assert {name: (one.messages, one.role, one.line) for name, one in asked.items()} == {
        "Cara": (1, "participant", "Cara: hm"),
        "Note": (1, "text", "Note: this"),
    }
    assert "Cara 1 Check Cara: hm" in text_of(preview)

    chosen = {"name": ["Cara", "Note", "Ana"], "role": ["text", "user", "analyst"]}
    mended = again(lead, preview, **chosen)
    confirm(lead, mended)

    messages = Conversation.objects.get().messages
    assert [(one.speaker, one.role, one.content) for one in messages] == [
        ("Ana", "analyst", "Hi\nCara: hm"),
        ("Ben", "participant", "Yo"),
        ("Ana", "analyst", "So"),
        ("Note", "user", "this"),
        ("Ben", "participant", "x"),
    ]
    assert "Cara" in {one.name for one in mended.context["shown"].speakers}


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


# --- labels ------------------------------------------------------------------------------------


LABELS = "/projects/orders/labels/"


@pytest.fixture
def labeled(project: Project) -> Project:
    factories.answer_all(factories.open_full(project, 2))
    return project


@pytest.fixture
def same_talks_elsewhere(project: Project) -> Project:
    """Another project with the same conversations, where nobody has labeled."""
    other = factories.make_project("other")
    factories.make_conversations(other, 2)
    return other


def download(client: Client) -> bytes:
    response = client.get("/projects/orders/labels/export/")
    assert "attachment" in response["Content-Disposition"]
    return b"".join(response.streaming_content)


def upload_labels(client: Client, data: bytes, **fields: Any) -> Any:
    given = {"format": "native", "reason": "From the pilot", **fields}
    file = SimpleUploadedFile("<b>labels.jsonl", data)
    return client.post("/projects/other/labels/preview/", {**given, "file": file})


def confirmation(response: Any) -> dict[str, str]:
    names = ("upload", "format", "create_annotators", "reason")
    context = response.context
    return {name: context[name].key if name == "upload" else context[name] for name in names}


def test_labels_are_downloaded(labeled, lead):
    lines = map(json.loads, download(lead).splitlines())
    assert [(line["id"], len(line["answers"])) for line in lines] == [("c-001", 3), ("c-002", 3)]


def test_an_upload_is_shown_first_and_stored_when_confirmed(labeled, same_talks_elsewhere, lead):
    preview = upload_labels(lead, download(lead))

    assert "Nothing is stored yet" in text_of(preview)
    assert "ana, ben, cleo" in text_of(preview)
    assert "<b>labels" not in preview.content.decode()
    of_it = Annotation.objects.filter(assignment__round__project=same_talks_elsewhere)
    assert not of_it.exists()

    stored = lead.post("/projects/other/labels/import/", confirmation(preview), follow=True)

    assert "6 answers are stored" in stored.content.decode()
    assert of_it.count() == 6
    assert Event.objects.get(verb="labels.imported").actor.username == "rita"
    again = upload_labels(lead, download(lead))
    assert "Nothing new to store" in text_of(again)


def test_without_a_reason_the_preview_cannot_be_stored(labeled, same_talks_elsewhere, lead):
    preview = upload_labels(lead, download(lead), reason="")

    assert "write why these labels count" in text_of(preview)
    sent = lead.post("/projects/other/labels/import/", confirmation(preview))
    assert sent.status_code == 400
    assert not same_talks_elsewhere.rounds.exists()


# --- by the API --------------------------------------------------------------------------------


API = "/api/projects/orders/conversations/"
CALLS = "wer;was\nDana;Ça va?\nZoé;Oui\n".encode()


def send_files(client, *files, **fields):
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(API, {"file": sent, **fields})


def test_files_are_read_as_the_command_reads_them(project, rita, lead):
    how = {"format": "csv", "columns": "speaker=wer,text=was", "roles": "Dana=analyst,*=user"}

    planned = send_files(lead, ("calls.csv", CALLS), **how, dry_run="true")
    assert (planned.status_code, planned.json()["new"]) == (200, 1)
    assert not Conversation.objects.exists()
    stored = send_files(lead, ("calls.csv", CALLS), **how)

    assert (stored.status_code, stored.json()["messages"]) == (201, 2)
    messages = Conversation.objects.get(external_id="calls").messages
    assert [(message.role, message.speaker) for message in messages] == [
        ("analyst", "Dana"), ("user", "Zoé"),
    ]  # fmt: skip
    assert Event.objects.get(verb="conversations.imported").actor == rita


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"encoding": "utf-7"}, "encoding"),
        ({"format": "word"}, "format"),
        ({"columns": "text"}, "not a pair"),
        ({"columns": "mood=was"}, "a column cannot be the mood"),
        ({"split": "some"}, "split"),
    ],
)
def test_options_that_nobody_knows_are_refused(project, fields, said, lead):
    answer = send_files(lead, ("calls.csv", CALLS), **fields)

    assert answer.status_code == 400
    assert said in answer.content.decode()


def test_what_is_wrong_has_file_line_and_reason_and_stores_nothing(project, lead):
    good = b"speaker,text\nA,1\nB,2\n"

    files = [("good.csv", good), ("bad.csv", CALLS)]
    answer = send_files(lead, *files, leave_out="nothing")

    assert answer.status_code == 400
    assert answer.json()["code"] == "import_refused"
    assert "bad.csv:1" in answer.content.decode()
    assert not Conversation.objects.exists()

    report = send_files(lead, *files).json()

    assert (report["new"], report["n_refused"]) == (1, 1)
    [left_out] = report["left_out"]
    assert (left_out["file"], left_out["is_whole"]) == ("bad.csv", True)


@pytest.mark.parametrize("body", ["{}", "[]", '{"file": "a.csv"}'])
def test_json_without_files_is_told_what_is_missing(project, body, lead):
    answer = lead.post(API, body, content_type="application/json")

    assert answer.status_code == 400
    assert "file" in answer.content.decode()
