"""How large a body may be, at every address: nobody fills the disk or the memory."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client

from labeling.core.views import errors
from tests.project.test_docs import routes

pytestmark = pytest.mark.django_db
PATHS = sorted({re.sub(r"\{\w+\}", "1", path) for _, path in routes()} | {"/admin/login/", "/x/"})
FILES = {
    "/projects/1/conversations/import/preview/",
    "/projects/1/labels/preview/",
    "/runs/new/predictions/",
    "/runs/new/conversations/",
    "/runs/new/",
    "/runs/new/planning/",
    "/api/projects/1/conversations/",
    "/api/runs/predictions/",
}
FORM = "multipart/form-data; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'


@pytest.fixture(autouse=True)
def nothing_on_disk(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1000
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 5000

    def refuse(*args: Any, **options: Any) -> None:
        pytest.fail("Something is written to disk.")

    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", refuse)


def body(size: int) -> bytes:
    return HEAD + b"x" * size + b"\r\n--b--\r\n"


def test_nobody_who_is_signed_out_sends_more_than_fits_memory(client: Client) -> None:
    token = {"HTTP_AUTHORIZATION": "Bearer assay_wrong"}
    for path in PATHS:
        answers = [
            client.generic("POST", path, body(1000), content_type=FORM),
            client.generic("POST", path, b"x" * 1001, content_type="x/y"),
            client.generic("POST", path, body(1000), FORM, **token),
        ]
        assert [answer.status_code for answer in answers] == [413] * 3, path


def test_nobody_sends_files_where_none_is_expected(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("ana"))
    for path in (path for path in PATHS if path not in FILES):
        assert client.generic("POST", path, body(1000), content_type=FORM).status_code == 413, path
        answer = client.generic("PUT", path, b"x" * 5001, content_type="x/y")
        assert answer.status_code == 413, path


@pytest.mark.parametrize("path", sorted(FILES))
def test_files_are_read_of_people_who_are_known_and_not_without_end(
    path, client, django_user_model, monkeypatch
):
    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", lambda *args, **options: None)
    monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", lambda *args: None)
    monkeypatch.setattr(TemporaryFileUploadHandler, "file_complete", lambda *args: None)
    client.force_login(django_user_model.objects.create_user("ana"))

    assert client.generic("POST", path, body(6000), content_type=FORM).status_code != 413
    monkeypatch.setattr(errors, "MOST_BYTES_OF_FILES", 8000)
    assert client.generic("POST", path, body(8000), content_type=FORM).status_code == 413


@pytest.mark.parametrize("length", ["+2000", " 2000", "2_000", "２０００"])
def test_a_length_that_is_written_in_another_way_counts_as_django_reads_it(length, client):
    sent = client.generic("POST", "/sign-in/", body(3000), FORM, CONTENT_LENGTH=length)

    assert sent.status_code == 413


@pytest.mark.parametrize("length", ["", "-1", "many"])
def test_of_a_body_without_a_length_nothing_is_read(length: str, client: Client) -> None:
    sent = client.generic("POST", "/sign-in/", body(1000), FORM, CONTENT_LENGTH=length)

    assert sent.status_code in (200, 400, 403)
