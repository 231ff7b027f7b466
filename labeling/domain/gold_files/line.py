"""One line of a gold file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labeling.domain.chats import Fault
from labeling.domain.formats.answers import Unreadable, as_text
from labeling.domain.importing import MAX_LENGTHS, Record


@dataclass(frozen=True, slots=True)
class GoldLine:
    """A conversation with its labels. ``published`` is the provenance that the file gives, and
    ``given`` are the labels of other layers that these refer to, by payload key."""

    record: Record
    gold: dict[str, Any]
    origins: dict[str, Any]
    published: Mapping[str, Any] | None = None
    faults: list[Fault] = field(default_factory=list)
    given: Mapping[str, Any] = field(default_factory=dict)


def id_of(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    name = str(value) if type(value) is int else as_text(value, f'"{key}"', required=True)
    if name != name.strip() or not name.isprintable() or len(name) > MAX_LENGTHS["id"]:
        raise Unreadable(f'"{key}" cannot name a conversation')
    return name
