"""What a system under measurement can do, and the work that all of them get."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypedDict

from benchmarks.peers import machine
from benchmarks.peers.client import answers

SECONDS_TO_START = 300
SECONDS_TO_RUN = 900
MESSAGES = 12
TOPICS = ("order", "other")
WORDS = re.findall(
    r"\w+",
    "we need to track every order on one page with its status and a history of changes so that "
    "nobody has to call the shop and ask again where the parcel is or when the refund arrives",
)


class Message(TypedDict):
    role: str
    speaker: str
    content: str


class Talk(TypedDict):
    id: str
    messages: list[Message]


def conversations(number: int) -> list[Talk]:
    """The same for all systems and rounds: 12 messages, about 2 kB."""
    dice = random.Random(0)
    return [
        {"id": f"talk-{n:06}", "messages": [_message(dice, index) for index in range(MESSAGES)]}
        for n in range(number)
    ]


def _message(dice: random.Random, index: int) -> Message:
    role = ("user", "analyst")[index % 2]
    text = " ".join(dice.choices(WORDS, k=dice.choice((8, 20, 50))))
    return {"role": role, "speaker": role, "content": text}


def share(talks: list[Talk]) -> int:
    """How many conversations a person may answer without asking for the next one."""
    return min(100, len(talks) // 20)


def as_text(talk: Talk) -> str:
    return "\n".join(f"{message['speaker']}: {message['content']}" for message in talk["messages"])


def topic(talk: int, annotator: int) -> str:
    """What a stored answer says: three annotators mostly agree."""
    return TOPICS[(talk + (talk % 7 == annotator)) % 2]


def lines(rows: list[dict[str, object]]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


class Annotator(Protocol):
    """A signed-in person: asks for the next conversation, and answers it."""

    def next(self) -> str: ...

    def page(self, key: str) -> None:
        """Open it for labeling, where ``next`` has not brought its text along."""

    def submit(self, key: str) -> None: ...

    def own(self) -> list[str]:
        """Conversations that this person may answer without asking for the next one."""
        ...


class System(ABC):
    """One system in its own folder. What it does not have raises ``Lacking``."""

    name: str
    version: str
    next_has_text = True  # the answer to "next" is what the annotator reads

    def __init__(self, folder: Path, talks: list[Talk]) -> None:
        self.folder, self.talks = folder, talks
        self.programs: list[subprocess.Popen[bytes]] = []
        self.port = _free_port()

    @classmethod
    @abstractmethod
    def install(cls, cache: Path) -> None: ...

    @abstractmethod
    def start(self) -> None:
        """From an empty folder until the first page is served."""

    def prepare(self) -> None:  # noqa: B027 (most need nothing)
        """What has to be there before anything is imported; not measured."""

    @abstractmethod
    def fill(self) -> None:
        """Import all conversations."""

    def fill_by_command(self) -> None:
        raise Lacking("there is no command")

    @abstractmethod
    def people(self, number: int) -> list[Annotator]:
        """Make annotators and sign them in; the work is ready for them."""

    @abstractmethod
    def stored(self) -> Counter[str]:
        """How many answers each conversation has, by key, as the store has them."""

    @abstractmethod
    def list_page(self) -> None:
        """A hundred conversations for a lead."""

    @abstractmethod
    def answer_everything(self) -> None:
        """Store answers to all conversations by the shortest way; not measured."""

    @abstractmethod
    def export(self) -> int:
        """All answers; the bytes that came."""

    @abstractmethod
    def agreement(self) -> None: ...

    def stop(self) -> None:
        machine.end(self.programs)
        self.programs.clear()

    def run(self, log: str, command: list[str], **environment: str) -> None:
        machine.run(command, self.folder, log, seconds=SECONDS_TO_RUN, **environment)

    def launch(self, log: str, command: list[str], **environment: str) -> None:
        self.programs.append(machine.start(command, self.folder, log, **environment))

    def wait_for(self, path: str) -> None:
        self.wait_until(lambda: answers(self.port, path), f"no answer at {path}")

    def wait_until(self, done: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while not done():
            if any(program.poll() is not None for program in self.programs):
                logs = sorted(self.folder.glob("*.log"), key=lambda log: log.stat().st_mtime)
                raise machine.Failed(f"it ended: {machine.tail(logs[-1])}")
            if time.monotonic() > deadline:
                raise machine.Failed(f"{otherwise} in {SECONDS_TO_START} s")
            time.sleep(0.1)


class Lacking(machine.Failed):
    """The system does not offer this; its cell has a dash."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
