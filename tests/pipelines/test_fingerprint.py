from pathlib import Path

import pytest

from pipelines.fingerprint import fingerprint


@pytest.mark.parametrize("name", ["a.py", "a.yaml", "a.json", "a.md", "code.pyc"])
def test_every_kind_of_source_and_nothing_else_is_part_of_the_version(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "code.py").write_text("pass")
    first = fingerprint(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / name).write_text("other")
    fingerprint.cache_clear()

    assert (fingerprint(tmp_path) == first) is name.endswith(".pyc")
