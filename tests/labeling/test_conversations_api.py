"""Conversations by the API: as the page and the command take them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from labeling.models import Conversation, Event

pytestmark = pytest.mark.django_db
URL = "/api/projects/orders/conversations/"
TABLE = "wer;was\nDana;Ça va?\nZoé;Oui\n".encode()


def send(client, *files, **fields):
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(URL, {"file": sent, **fields})


def test_files_are_read_as_the_command_reads_them(signed_in, project, rita):
    how = {"format": "csv", "columns": "speaker=wer,text=was", "roles": "Dana=analyst,*=user"}
    client = signed_in(rita)

    planned = send(client, ("calls.csv", TABLE), **how, dry_run="true")
    assert (planned.status_code, planned.json()["new"]) == (200, 1)
    assert not Conversation.objects.exists()
    stored = send(client, ("calls.csv", TABLE), **how)

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
def test_options_that_nobody_knows_are_refused(signed_in, project, rita, fields, said):
    answer = send(signed_in(rita), ("calls.csv", TABLE), **fields)

    assert answer.status_code == 400
    assert said in answer.content.decode()


def test_what_is_wrong_has_file_line_and_reason_and_stores_nothing(signed_in, project, rita):
    good = b"speaker,text\nA,1\nB,2\n"

    files = [("good.csv", good), ("bad.csv", TABLE)]
    answer = send(signed_in(rita), *files, leave_out="nothing")

    assert answer.status_code == 400
    assert answer.json()["code"] == "import_refused"
    assert "bad.csv:1" in answer.content.decode()
    assert not Conversation.objects.exists()

    report = send(signed_in(rita), *files).json()

    assert (report["new"], report["n_refused"]) == (1, 1)
    [left_out] = report["left_out"]
    assert (left_out["file"], left_out["is_whole"]) == ("bad.csv", True)


@pytest.mark.parametrize("body", ["{}", "[]", '{"file": "a.csv"}'])
def test_json_without_files_is_told_what_is_missing(signed_in, project, rita, body):
    answer = signed_in(rita).post(URL, body, content_type="application/json")

    assert answer.status_code == 400
    assert "file" in answer.content.decode()
