from pathlib import Path

import pytest

from pipelines.fingerprint import fingerprint


def before(folder: Path) -> str:
    (folder / "code.py").write_text("pass")
    return fingerprint(folder)


@pytest.mark.parametrize("kind", ["*.py", "*.yaml", "*.json", "*.md"])
def test_every_kind_of_source_is_part_of_the_version(tmp_path: Path, kind: str) -> None:
    first = before(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / kind.replace("*", "rules")).write_text("other")
    fingerprint.cache_clear()

    assert fingerprint(tmp_path) != first


def test_what_is_no_source_changes_no_version(tmp_path: Path) -> None:
    first = before(tmp_path)
    (tmp_path / "code.pyc").write_bytes(b"\0")
    fingerprint.cache_clear()

    assert fingerprint(tmp_path) == first
