"""Files between preview and confirmation: in the data folder, for a day."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from labeling.conversations import uploads
from labeling.models import Project

pytestmark = pytest.mark.django_db
CONTENT = os.urandom(5000) + b"\n" * 5000


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / "uploads"


def keep(project: Project, by: User) -> uploads.Upload:
    file = SimpleUploadedFile("../talks.jsonl", CONTENT)
    return uploads.keep(file, project=project, by=by, purpose="labels")


def make_old(folder: Path) -> None:
    a_day_ago = time.time() - uploads.KEPT
    os.utime(folder, (a_day_ago, a_day_ago))


def test_it_is_read_again_until_somebody_forgets_it(project, rita):
    key = keep(project, rita).key
    for _ in range(2):
        found = uploads.find(key, project=project, by=rita, purpose="labels")
        with found.open() as file:
            assert (found.name, found.size, file.read()) == ("talks.jsonl", 10_000, CONTENT)
    uploads.forget(found)
    with pytest.raises(uploads.UploadGone):
        uploads.find(key, project=project, by=rita, purpose="labels")
    with pytest.raises(uploads.UploadGone):
        found.open()


def test_it_is_kept_for_a_day(project, rita, folder):
    kept = keep(project, rita)
    uploads.sweep()
    assert [*folder.iterdir()] == [kept.folder]
    make_old(kept.folder)
    with pytest.raises(uploads.UploadGone):
        uploads.find(kept.key, project=project, by=rita, purpose="labels")
    uploads.sweep()
    assert not [*folder.iterdir()]


def test_what_was_taken_in_part_is_no_file_and_goes(project, rita, folder, monkeypatch):
    """A web server was killed while it took the file."""

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", die)
        patch.setattr(uploads, "_remove", lambda _: None)
        with pytest.raises(Killed):
            keep(project, rita)
    (part,) = folder.iterdir()
    make_old(part)

    kept = keep(project, rita)

    assert [*folder.iterdir()] == [kept.folder]


def test_it_opens_by_its_key_for_the_same_purpose_person_and_project_only(project, rita, noor):
    kept = keep(project, rita)
    other = Project.objects.create(slug="other", name="Other")
    for whose in (
        {"project": project, "by": rita, "purpose": "conversations"},
        {"project": project, "by": noor, "purpose": "labels"},
        {"project": other, "by": rita, "purpose": "labels"},
    ):
        with pytest.raises(uploads.UploadGone):
            uploads.find(kept.key, **whose)  # type: ignore[arg-type]
    for key in ("", "../talks", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"):
        with pytest.raises(uploads.UploadGone):
            uploads.find(key, project=project, by=rita, purpose="labels")
