"""The walks of CONTRIBUTING name functions that exist."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module

from django.conf import settings

STEP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)


def test_every_step_exists() -> None:
    text = (settings.BASE_DIR / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = STEP.findall(text.partition("## Three walks through the code\n")[2])

    assert len(steps) > 10
    for step in steps:
        *path, last = step.split(".")
        names = [path.pop(), last] if path[-1][:1].isupper() else [last]
        assert callable(reduce(getattr, names, import_module(".".join(path)))), step
