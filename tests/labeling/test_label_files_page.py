"""Labels as files, on the page: downloads for readers, a preview and an upload for leads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labeling.exchange import label_exports
from labeling.models import Annotation, Event, Project
from tests import factories
from tests.pages import text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/labels/"


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def labeled(project: Project) -> Project:
    factories.answer_all(factories.open_full(project, 2))
    return project


@pytest.fixture
def elsewhere(project: Project) -> Project:
    """Another project with the same conversations, where nobody has labeled."""
    other = factories.make_project("other")
    factories.make_conversations(other, 2)
    return other


def download(client: Client, format: str, slug: str = "orders") -> bytes:
    response = client.get(f"/projects/{slug}/labels/export/{format}/")
    assert "attachment" in response["Content-Disposition"]
    return b"".join(response.streaming_content)


def upload(client: Client, data: bytes, **fields: Any) -> Any:
    given = {"format": "native", "reason": "From the pilot", **fields}
    file = SimpleUploadedFile("<b>labels.jsonl", data)
    return client.post("/projects/other/labels/preview/", {**given, "file": file})


def confirmation(response: Any) -> dict[str, str]:
    names = ("upload", "format", "create_annotators", "reason")
    context = response.context
    return {name: context[name].key if name == "upload" else context[name] for name in names}


@pytest.mark.parametrize("format", label_exports.FORMATS)
def test_every_format_is_downloaded(labeled, lead, format):
    data = download(lead, format)

    if format == "native":
        assert [json.loads(line)["id"] for line in data.splitlines()] == ["c-001", "c-002"]
    else:
        assert [len(task["annotations"]) for task in json.loads(data)] == [3, 3]


def test_an_upload_is_shown_first_and_stored_when_confirmed(labeled, elsewhere, lead):
    preview = upload(lead, download(lead, "native"))

    assert "Nothing is stored yet" in text_of(preview)
    assert "ana, ben, cleo" in text_of(preview)
    assert "<b>labels" not in preview.content.decode()
    of_it = Annotation.objects.filter(assignment__round__project=elsewhere)
    assert not of_it.exists()

    stored = lead.post("/projects/other/labels/import/", confirmation(preview), follow=True)

    assert "6 answers are stored" in stored.content.decode()
    assert of_it.count() == 6
    assert Event.objects.get(verb="labels.imported").actor.username == "rita"
    again = upload(lead, download(lead, "native"))
    assert "Nothing new to store" in text_of(again)


def test_without_a_reason_the_preview_cannot_be_stored(labeled, elsewhere, lead):
    preview = upload(lead, download(lead, "native"), reason="")

    assert "write why these labels count" in text_of(preview)
    sent = lead.post("/projects/other/labels/import/", confirmation(preview))
    assert sent.status_code == 400
    assert not elsewhere.rounds.exists()
