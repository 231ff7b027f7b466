"""What every format is written from and read into: conversations with their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from labeling.conversations.rules.importing import Turn
from labeling.domain.canonical import UNSTORABLE, with_line_feeds
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.schema import SCHEMA_VERSION
from labeling.schema.labels import Payload as Labels

SUBMITTED, SKIPPED = "submitted", "skipped"
Payload = Mapping[str, Any]

Unchecked = dict[str, Any]
"""An object of a user's file: its fields are read by ``as_text``, ``as_number``, …, which check."""

Written = dict[str, Any]
"""An object of a file of ours; the names of its fields are said once, where it is written."""


Where: TypeAlias = str | Fact
"""A value in a file: its path as it is written there, or a fact with the words for what it is."""


class Unreadable(FileFault):
    """A part of a file cannot be taken."""


class LineFault(NamedTuple):
    """Why a line cannot be taken; ``line`` None means the whole file."""

    line: int | None
    reason: Fact


class FileNote(NamedTuple):
    """What was converted or left out of a file that says more than there is a place for."""

    line: int
    why: Fact


class Unnamed(NamedTuple):
    """What a file of labels may leave unsaid: which conversation they are about, and whose."""

    conversation: str = ""
    annotator: str = ""


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """One annotator's answer to one conversation, as files hold it.

    ``round`` and ``guideline_version`` may be unknown. ``unanswered`` names the layers that it
    says nothing of, not even that there is nothing.
    """

    annotator: str
    payload: Payload
    status: str = SUBMITTED
    empty: bool = False
    skip_reason: str = ""
    round: int | None = None
    guideline_version: int | None = None
    created_at: datetime | None = None
    submitted_at: datetime | None = None
    active_seconds: int = 0
    unanswered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileDecision:
    """What somebody decided about one layer of a conversation, after its annotators.

    ``reason_code`` is there where nobody wrote the reason: the words are the product's.
    """

    layer: str
    labels: Sequence[Payload]
    reason: str
    decided_by: str
    kind: str = ""
    guideline_flag: bool = False
    guideline_version: int | None = None
    decided_at: datetime | None = None
    reason_code: str | None = None


@dataclass(frozen=True, slots=True)
class FileConversation:
    """One conversation and its answers, and the decisions about it from the first to the newest.

    Without ``turns`` a file does not hold the text.
    """

    id: str
    turns: tuple[Turn, ...]
    answers: tuple[FileAnswer, ...]
    domain: str = ""
    difficulty: str = ""
    split: str = ""
    origin: str = ""
    """``synthetic``, or nothing for a conversation between people."""
    generator: str = ""
    decisions: tuple[FileDecision, ...] = ()
    notes: tuple[FileNote, ...] = ()

    @property
    def head(self) -> Written:
        """What every format says of a conversation."""
        head = {"domain": self.domain, "difficulty": self.difficulty, "split": self.split}
        of = {"origin": self.origin, "generator": self.generator} if self.origin else {}
        return head | of

    @property
    def texts(self) -> list[str]:
        return [turn.content for turn in self.turns]


ReadLine = tuple[int, FileConversation] | LineFault


def without_empty_layers(payload: Payload) -> Labels:
    """Files leave out a layer without labels."""
    return {key: labels for key, labels in payload.items() if labels}


def with_line_feeds_in(value: Any) -> Any:
    """The texts of a JSON value with every line end as one line feed."""
    if isinstance(value, str):
        return with_line_feeds(value)
    if isinstance(value, list):
        return [with_line_feeds_in(item) for item in value]
    if isinstance(value, dict):
        return {key: with_line_feeds_in(item) for key, item in value.items()}
    return value


def moment(value: Any, where: Where) -> datetime | None:
    """A time of a file; None where it gives none."""
    if value in (None, ""):
        return None
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise Unreadable("file.not_a_time", path=where) from None
    if time.tzinfo is None:
        raise Unreadable(
            msgid("{path} names no time zone: write it like 2026-01-31T14:05:00Z"), path=where
        )
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise Unreadable(msgid("{path} is outside of the years 1 to 9999"), path=where) from None
    return time


CLOCKS_DIFFER = timedelta(days=1)  # also by the zones of those that know none


def past(value: Any, where: Where) -> datetime | None:
    """When somebody did something: not later than now, but for clocks that differ a little."""
    time = moment(value, where)
    if time is not None and time > datetime.now(UTC) + CLOCKS_DIFFER:
        raise Unreadable(
            msgid("{path} is {time}, which has not come yet"), path=where, time=time.isoformat()
        )
    return time


def check_version(document: Mapping[str, Any]) -> None:
    """Refuse what a newer version wrote: it would be read as if it meant what it means here."""
    version = document.get("schema_version", SCHEMA_VERSION)
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise Unreadable(
            msgid(
                "schema_version is {version}, and this server reads {ours:d}: a newer "
                "version of Assay wrote it, or it is a mistake"
            ),
            version=ascii(version)[:40],
            ours=SCHEMA_VERSION,
        )


def in_task(task: Any, why: Fact) -> Fact:
    """``why`` of a document that people know by its number or name."""
    named = Fact(msgid("task {task}"), task=str(task)[:60])
    return Fact("file.in_place", place=named, why=why)


def written(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def as_dict(value: Any, where: Where) -> Unchecked:
    if not isinstance(value, dict):
        raise Unreadable("file.must_be_object", path=where)
    return value


def as_list(value: Any, where: Where) -> list[Any]:
    if not isinstance(value, list):
        raise Unreadable("file.must_be_list", path=where)
    return value


def as_text(value: Any, where: Where, *, required: bool = False) -> str:
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise Unreadable(
            msgid("{path} must be text and not empty") if required else "file.must_be_text",
            path=where,
        )
    return _storable(value, where)


def _storable(text: str, where: Where) -> str:
    if UNSTORABLE.search(text):
        raise Unreadable("file.bad_character", path=where)
    return text


def as_number(value: Any, where: Where) -> int:
    """A whole number from 0; ``2.0`` counts as 2."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unreadable(msgid("{path} must be a whole number from 0"), path=where)
    return value


def as_id(value: Any, where: Where) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Unreadable(msgid("{path} must be a number or text"), path=where)
    return _storable(value, where) if isinstance(value, str) else value


def head_in(document: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """What a file says of a conversation: see ``FileConversation.head``."""
    names = ("domain", "difficulty", "split", "origin", "generator")
    return {name: as_text(document.get(name), f'"{within}{name}"') for name in names}


def choice_of(value: Any, known: Sequence[str], where: Where) -> str:
    if not isinstance(value, str) or value not in known:
        raise Unreadable(msgid("{path} must be one of {known}"), path=where, known=list(known))
    return value
