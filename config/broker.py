"""A message queue made of files, for one machine without a broker to install.

kombu's own file transport writes a message where readers already look for it and may hand on half
of it; and it moves what it reads through the system's temporary folder, which other users share.
Here a message appears and is taken by a rename: one reader gets it, and gets all of it.
"""

from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.transport.virtual import BrokerState
from kombu.utils.json import dumps, loads

SCHEME = "assayfiles"
TRANSPORT_ALIASES[SCHEME] = "config.broker:Transport"


class Channel(filesystem.Channel):
    # kombu's own two classes disagree on the arguments.
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # Read in the order of the names; the zeros keep the order of numbers.
        name = f"{time_ns():020d}_{uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        unfinished = folder / f"{name}.part"
        unfinished.write_text(dumps(message), encoding="utf-8")
        unfinished.replace(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for path in sorted(Path(self.data_folder_in).glob(f"*.{queue}.msg")):
            taken = Path(self.processed_folder) / path.name
            try:
                path.replace(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            payload = loads(taken.read_text(encoding="utf-8"))
            taken.unlink()
            return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # kombu shares this among all queues of a process and then drops, without a word, what is
        # sent to a second folder: it takes that one's routes for written.
        self.state = BrokerState()


def options(folder: Path) -> dict[str, Any]:
    """Transport options for a queue below ``folder``, which is made when it is missing."""
    parts = {name: folder / name for name in ("messages", "taken", "control")}
    for part in parts.values():
        part.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(parts["messages"]),
        "data_folder_out": str(parts["messages"]),
        "processed_folder": str(parts["taken"]),
        "control_folder": str(parts["control"]),
        "polling_interval": 0.3,  # seconds
    }
