"""Guidelines that are kept as files."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def add(path: Path, **options: str) -> str:
    out = StringIO()
    call_command("add_guidelines", path, project="orders", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_bytes(b"\xef\xbb\xbf# Guide\r\n\r\nLabel what they ask for.\r\n")
    return path


def test_a_file_becomes_the_next_version(project, guide):
    said = add(guide, summary="Ask, not want")

    newest = project.guidelines.first()
    assert said == "Version 2 of the guidelines of orders.\n"
    assert (newest.version, newest.summary) == (2, "Ask, not want")
    assert newest.body == "# Guide\n\nLabel what they ask for.\n"


def test_the_same_text_again_changes_nothing(project, guide):
    add(guide)

    assert add(guide) == "This is the text of version 2: nothing was changed.\n"
    assert project.guidelines.count() == 2
    assert project.guidelines.first().summary == "From guide.md"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "guide.md: cannot be read (No such file or directory)."),
        (b"\xff\xfe", "guide.md: is not UTF-8; save the file as UTF-8."),
        (b" \n", "guide.md: body: This field is required."),
        (b"a\x00b", "guide.md: body: Null characters are not allowed."),
        (b"a" * 200_001, "guide.md: body: Ensure this value has at most 200000 characters"),
    ],
)
def test_what_is_no_text_is_refused(project, guide, raw, reason):
    guide.unlink()
    if raw is not None:
        guide.write_bytes(raw)

    with pytest.raises(CommandError) as refused:
        add(guide)

    assert str(refused.value).startswith(reason)
    assert project.guidelines.count() == 1
