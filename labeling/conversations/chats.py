"""Taking in published chats with their questions: all of the files or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings
from django.db import transaction

from labeling.conversations import conversations
from labeling.conversations.published.cases import count_of, question_labels
from labeling.conversations.published.chats import (
    MAX_FILE_BYTES,
    Chat,
    Line,
    NoChat,
    gaps_of,
    number_of,
    read_chats,
)
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.published.splits import Splits, read_splits
from labeling.conversations.rules.evidence import MessageId
from labeling.conversations.rules.importing import Record
from labeling.core import acting
from labeling.domain.facts import Fact
from labeling.domain.numbers import natural_key
from labeling.exchange.gold_imports import Imported, Source, freeze_imported
from labeling.models import Conversation, GoldRelease, ImportReport, Project
from labeling.schema.layers import published_as


class ChatFile(NamedTuple):
    """One file as it was read."""

    source: Source
    chat: Chat
    split: str


@dataclass(slots=True)
class Outcome:
    """What an import did, or on a dry run would do."""

    done: conversations.ImportReport
    counts: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)
    release: GoldRelease | None = None


def import_chats(
    *,
    project_slug: str,
    files: Iterable[tuple[str, BinaryIO]],
    format: str,
    split: str = "",
    waive: Mapping[str, str] | None = None,
    dry_run: bool = False,
    actor: Any = None,
    leave_out: str = conversations.UNREADABLE,
) -> Outcome:
    """Store chats that are not stored yet, and their questions as gold.

    The number in a file's name proposes the split of a chat; a copy of a stored conversation gets
    the split of that one. Importing the same files again changes nothing. What is no chat is left
    out and named, unless ``leave_out`` says that nothing may be.
    """
    chat_files, left_out = _read(files, format, read_splits(settings.CHAT_SPLITS))
    if left_out and (leave_out == conversations.NOTHING or not chat_files):
        problems = [Fact("import.problem", place=e.shown, why=e.reason) for e in left_out]
        raise conversations.ImportRefused(problems)
    layers = [*published_as("question cases"), *published_as("arc cases")]
    with transaction.atomic():
        project, created = conversations.open_project(project_slug, actor, layers=layers)
        records = (
            (source.file, Record(chat.id, chat.turns, domain=chat.format, split=proposal))
            for source, chat, proposal in chat_files
        )
        done = conversations.store_records(
            project=project, records=records, split=split, proposed=not split, actor=actor
        )
        done.project_created = created
        done.left_out, done.n_refused = left_out, len(left_out)
        outcome = _with_gold(project, chat_files, format, done, waive or {}, actor)
        if done.has_changes:
            names = [file.source.file for file in chat_files]
            conversations.record_import(project, names, done, actor)
        transaction.set_rollback(dry_run)
    return outcome


def stored_chat(project: Project, conversation: Conversation) -> Chat | None:
    """A chat as it was imported, with the published id of each message; None if it was not."""
    ids = dia_ids_of(project, conversation.external_id)
    if ids is None:
        return None
    lines = []
    for key, said in zip(ids, conversation.messages, strict=True):
        id = MessageId(*map(int, key.removeprefix("D").split(":")))
        pictured = "[image" in said.content.rsplit("\n", 1)[-1]
        lines.append(Line(id, said.speaker, said.content, said.time, pictured))
    gaps, _ = gaps_of(sorted(lines, key=lambda line: line.key))
    return Chat(conversation.external_id, "", tuple(lines), gaps=gaps)


def store_report(
    *,
    project: Project,
    format: str,
    sources: Sequence[Source],
    counts: Sequence[Mapping[str, object]],
    faults: list[dict[str, str]],
    dia_ids: dict[str, list[str]],
    actor: Any,
) -> None:
    """Store an import's report; the same files are reported once."""
    files = [source._asdict() for source in sources]
    if project.import_reports.filter(format=format, files=files, counts=counts).exists():
        return
    ImportReport.objects.create(
        project=project,
        format=format,
        files=files,
        counts=counts,
        faults=faults,
        dia_ids=dia_ids,
        created_by=actor or acting.person(),
    )


def rows_of(file: str, faults: Iterable[ChatFault]) -> list[dict[str, str]]:
    return [{"file": file, **fault._asdict()} for fault in faults]


def _read(
    files: Iterable[tuple[str, BinaryIO]], format: str, splits: Splits
) -> tuple[list[ChatFile], list[conversations.LeftOutIn]]:
    """Every chat, in the order of their numbers, and everything that is none."""
    chat_files: list[ChatFile] = []
    left_out: list[conversations.LeftOutIn] = []
    for name, stream in files:
        raw = stream.read(MAX_FILE_BYTES + 1)
        sha256 = hashlib.sha256(raw).hexdigest()
        own_name = name.rsplit(".", 1)[0]
        for chat in read_chats(name, raw, format=format):
            if isinstance(chat, NoChat):
                left_out.append(conversations.LeftOutIn(name, 0, chat.reason, chat.name, True))
                continue
            place = name if chat.id == own_name else f"{name}#{chat.id}"
            chat_files.append(ChatFile(Source(place, sha256), chat, splits.of(number_of(chat.id))))
    return sorted(chat_files, key=lambda file: natural_key(file.source.file)), left_out


def _with_gold(
    project: Project,
    chat_files: Sequence[ChatFile],
    format: str,
    done: conversations.ImportReport,
    waive: Mapping[str, str],
    actor: Any,
) -> Outcome:
    outcome = Outcome(done)
    imported = []
    stored = project.conversations.filter(external_id__in=[file.chat.id for file in chat_files])
    splits = dict(stored.values_list("external_id", "split"))
    for file in chat_files:
        labeled = question_labels(file.chat, file.chat.questions)
        faults = (*file.chat.faults, *labeled.faults)
        kinds = Counter(fault.kind for fault in faults)
        outcome.counts.append(
            {
                "file": file.source.file,
                "split": splits[file.chat.id],
                **count_of(file.chat),
                "faults": dict(sorted(kinds.items())),
            }
        )
        outcome.faults += rows_of(file.source.file, faults)
        if labeled.labels:
            gold = {"questions": labeled.labels}
            imported.append(Imported(file.chat.id, file.source, gold, labeled.origins))
    if imported:
        (layer,) = published_as("chat")
        outcome.release = freeze_imported(
            project=project, layer=layer, imported=imported, waive=waive, by=actor
        )
    store_report(
        project=project,
        format=format,
        sources=[file.source for file in chat_files],
        counts=outcome.counts,
        faults=outcome.faults,
        dia_ids={file.chat.id: file.chat.dia_ids for file in chat_files},
        actor=actor,
    )
    return outcome


def dia_ids_of(project: Project, conversation: str) -> list[str] | None:
    """From the newest report about the conversation."""
    reports = project.import_reports.filter(dia_ids__has_key=conversation).order_by("-pk")
    for dia_ids in reports.values_list("dia_ids", flat=True)[:1]:
        ids: list[str] = dia_ids[conversation]
        return ids
    return None
