"""Prompts in files with a version in their name: a new wording is a new file.

A file holds the system's part and the user's part, divided by a line of three dashes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from pipelines import mending, parsing
from pipelines.llm import ChatMessage

DIVIDER = "\n---\n"
READING = tuple(Path(str(each)) for each in (__file__, parsing.__file__, mending.__file__))
"""How prompts are filled and replies are read; versions of pipelines with prompts depend on it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    system: Template
    user: Template

    def filled(self, **values: Any) -> list[ChatMessage]:
        """Both parts with these values as JSON: no text can pass for one of our instructions.

        Nor can it close a tag that a prompt puts around it.
        """
        data = {key: _data(value) for key, value in values.items()}
        return [
            ChatMessage("system", self.system.substitute(data)),
            ChatMessage("user", self.user.substitute(data)),
        ]


@cache
def read(folder: Path, version: str) -> Prompt:
    text = (folder / f"{version}.md").read_text(encoding="utf-8")
    system, user = (Template(part.strip()) for part in text.split(DIVIDER, 1))
    return Prompt(version, system, user)


def versions(folder: Path, name: str) -> list[str]:
    return sorted(file.stem for file in folder.glob(f"{name}.v*.md"))


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every prompt in the folder, by its id."""
    files = sorted(folder.glob("*.md"))
    return {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _data(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
