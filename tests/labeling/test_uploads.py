"""Files between preview and confirmation: in the database, in parts, for a day."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F

from labeling.models import Project, Upload, UploadPart
from labeling.services.exchange import uploads
from labeling.services.short_writes import short_write

pytestmark = pytest.mark.django_db
CONTENT = os.urandom(5000) + b"\n" * 5000


@pytest.fixture
def kept(project: Project, rita: User, monkeypatch: pytest.MonkeyPatch) -> Upload:
    monkeypatch.setattr(uploads, "PART_BYTES", 1000)
    return keep(project, rita)


def keep(project: Project, by: User) -> Upload:
    file = SimpleUploadedFile("../talks.jsonl", CONTENT)
    return uploads.keep(file, project=project, by=by, purpose="labels")


def test_another_web_server_reads_what_one_has_taken(
    kept: Upload, project: Project, rita: User, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR, settings.SECRET_KEY = tmp_path, "of another machine"
    found = uploads.find(str(kept.key), project=project, by=rita, purpose="labels")
    with uploads.opened(found) as file:
        assert (found.name, file.read()) == ("talks.jsonl", CONTENT)


def test_it_is_written_and_deleted_a_part_at_a_time(
    kept: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(kept.parts.values_list("number", flat=True)) == list(range(10))
    monkeypatch.setattr(uploads, "DELETED_AT_ONCE", 4)
    left = []

    @contextmanager
    def counted() -> Iterator[None]:
        with short_write():
            yield
        left.append(UploadPart.objects.count())

    monkeypatch.setattr(uploads, "short_write", counted)
    uploads.forget(kept)
    assert (left, Upload.objects.count()) == ([6, 2, 0], 0)


def test_it_is_kept_for_a_day(kept: Upload, project: Project, rita: User) -> None:
    uploads.sweep()
    assert Upload.objects.exists()
    Upload.objects.update(at=F("at") - timedelta(days=1, seconds=1))
    with pytest.raises(uploads.UploadGone):
        uploads.find(str(kept.key), project=project, by=rita, purpose="labels")
    uploads.sweep()
    assert not UploadPart.objects.exists()


def test_what_was_taken_in_part_is_no_file(kept: Upload, project: Project, rita: User) -> None:
    """A web server died while it took it, or somebody deleted it while it was read."""
    kept.parts.filter(number__gte=5).delete()
    with pytest.raises(uploads.UploadGone), uploads.opened(kept):
        pass
    Upload.objects.update(is_complete=False)
    with pytest.raises(uploads.UploadGone):
        uploads.find(str(kept.key), project=project, by=rita, purpose="labels")


def test_it_opens_for_the_same_purpose_person_and_project_only(
    kept: Upload, project: Project, rita: User, noor: User
) -> None:
    other = Project.objects.create(slug="other", name="Other")
    for whose in (
        {"project": project, "by": rita, "purpose": "conversations"},
        {"project": project, "by": noor, "purpose": "labels"},
        {"project": other, "by": rita, "purpose": "labels"},
    ):
        with pytest.raises(uploads.UploadGone):
            uploads.find(str(kept.key), **whose)  # type: ignore[arg-type]
