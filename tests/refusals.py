"""What is refused, and in which words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from labeling.domain.errors import RuleError
from labeling.words import in_english


@contextmanager
def refused(
    kind: type[RuleError] | tuple[type[RuleError], ...], *, match: str
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """As ``pytest.raises``, but ``match`` is looked for in the sentence that a person reads."""
    with pytest.raises(kind) as caught:
        yield caught
    said = in_english(caught.value.fact)
    assert re.search(match, said), said
