import pytest

from pipelines.registry import build
from pipelines.types import Pipeline


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    """Finds requirements by rules, and keeps those that are alike apart."""
    return build("requirements-local", {"merge_duplicates": False})
