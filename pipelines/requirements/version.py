"""What the outputs of the pipelines with prompts stand on, beside their settings."""

from __future__ import annotations

from pathlib import Path

from pipelines import parsing, prompting
from pipelines.fingerprint import fingerprint

FOLDER = Path(__file__).parent
READING = (Path(str(prompting.__file__)), Path(str(parsing.__file__)))
"""How prompts are filled and replies are read."""


def version() -> str:
    return f"1+{fingerprint(FOLDER, *READING)}"
