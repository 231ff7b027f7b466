"""What the outputs of the pipelines with prompts stand on, beside their settings."""

from __future__ import annotations

from pathlib import Path

from pipelines import prompting
from pipelines.fingerprint import fingerprint

FOLDER = Path(__file__).parent


def version() -> str:
    return f"1+{fingerprint(FOLDER, *prompting.READING)}"
