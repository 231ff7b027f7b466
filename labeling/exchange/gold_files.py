"""Freezing gold from files made elsewhere: all of them or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.db import transaction

from labeling.conversations import chats, conversations
from labeling.conversations.formats.answers import LineFault
from labeling.conversations.published.cases import (
    ArcCase,
    ChatLabels,
    arc_labels,
    evidence_counts,
    question_labels,
    read_arc_cases,
)
from labeling.conversations.published.chats import (
    FORMATS,
    MAX_FILE_BYTES,
    Chat,
    ChatRefused,
    Question,
    parse,
    read_questions,
)
from labeling.conversations.published.faults import ChatFault
from labeling.core.spool import Spool
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.exchange.gold_imports import Imported, Source, freeze_imported
from labeling.exchange.gold_lines import GoldLine, conversations_named, read_duee, read_native_gold
from labeling.gold.exported import Folder
from labeling.gold.releases import AnswersChanged
from labeling.gold.rules.normal import is_normal
from labeling.gold.rules.statement import ITEMS_FILE
from labeling.models import Conversation, GoldRelease, Project
from labeling.schema import LAYERS
from labeling.schema.layers import published_as
from labeling.schema.targets import stages_of

GOLD_FORMATS = ("auto", "native", "cases", "duee")
BEGINNING = 1024 * 1024


class _File(NamedTuple):
    source: Source
    stream: BinaryIO  # at its beginning, and can go back there


@dataclass(slots=True)
class GoldOutcome:
    """What an import of gold did, or on a dry run would do; ``release`` None: nothing is new.

    ``counts`` has what a report says of each file: its conversation, questions or labels, items,
    faults by kind, and of questions whether their evidence is there (``tolerant``).
    """

    release: GoldRelease | None = None
    counts: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)
    new: int = 0
    project_created: bool = False
    notes: list[Fact] = field(default_factory=list)


def import_gold(
    *,
    project_slug: str,
    layer: str,
    files: Iterable[tuple[str, BinaryIO]],
    format: str = "auto",
    name: str = "",
    conversation: str = "",
    message: str = "",
    exports: Mapping[str, Path] | None = None,
    waive: Mapping[str, str] | None = None,
    dry_run: bool = False,
    actor: Any = None,
) -> GoldOutcome:
    """Freeze the labels of files as a release of one layer.

    Cases (a JSON list) are about a conversation that is stored: the one called ``conversation``,
    or the one whose speakers are in the file's name. Native and DuEE lines bring their text along;
    what is stored already under the same id must say the same. Items of ``exports``, by the name
    of their file, are taken over as they are, if their folder is intact. All files are read before
    anything is locked.
    """
    layers = stages_of(layer)
    project = conversations.planned_project(project_slug, layers=layers)
    importing = _GoldImport(project, layer, conversation, GoldOutcome(), exports or {})
    for file, stream in files:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        stream.seek(0)
        importing.take(_File(Source(file, sha256), stream), format)
    if importing.problems:
        raise conversations.ImportRefused(importing.problems)
    importing.store(name=name, message=message, waive=waive or {}, dry_run=dry_run, actor=actor)
    return importing.outcome


@dataclass(slots=True)
class _GoldImport:
    """One import of gold on its way."""

    project: Project
    layer: str
    conversation: str
    outcome: GoldOutcome
    exports: Mapping[str, Path] = field(default_factory=dict)
    imported: Spool[Imported] = field(default_factory=Spool)
    reading: conversations.Reading = field(default_factory=conversations.Reading)
    sources: dict[Source, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    problems: list[Fact] = field(default_factory=list)

    def take(self, file: _File, format: str) -> None:
        try:
            folder = self.exports.get(file.source.file)
            kind = "native" if folder else format
            kind = _kind(file, self.layer) if kind == "auto" else kind
            if kind == "cases":
                self._take_cases(file)
            else:
                self._take_lines(file, kind, folder)
        except FileFault as refused:
            self._refuse(file.source.file, refused.fact)

    def store(
        self, *, name: str, message: str, waive: Mapping[str, str], dry_run: bool, actor: Any
    ) -> None:
        """Conversations and items in one transaction, which a dry run takes back."""
        plan = conversations.Plan(self.reading, self.project, actor=actor)
        with transaction.atomic():
            project, created = conversations.open_project(
                self.project.slug, actor, layers=stages_of(self.layer)
            )
            if project.event_schema != self.project.event_schema:
                raise AnswersChanged("gold.answers_changed")
            stored = plan.store(project)
            self.outcome.project_created = created
            self.outcome.new, self.outcome.notes = stored.new, stored.notes
            self.outcome.release = freeze_imported(
                project=project,
                layer=self.layer,
                imported=self.imported,
                name=name,
                message=message,
                waive=waive,
                by=actor,
            )
            chats.store_report(
                project=project,
                format=self.layer,
                sources=list(self.sources),
                counts=self.outcome.counts,
                faults=self.outcome.faults,
                dia_ids={},
                actor=actor,
            )
            transaction.set_rollback(dry_run)

    def _refuse(self, place: str, reason: Fact) -> None:
        self.problems.append(Fact("import.problem", place=place, why=reason))

    def _add(self, place: str, labels: Imported) -> None:
        if labels.conversation in self.names:
            self._refuse(
                place,
                Fact(
                    msgid("a second set of labels for {conversation}"),
                    conversation=labels.conversation,
                ),
            )
        else:
            self.imported.append(labels)
            self.names.add(labels.conversation)
            self.sources[labels.source] = None

    def _take_cases(self, file: _File) -> None:
        if not self._is_published("question cases", "arc cases"):
            layers = [*published_as("question cases"), *published_as("arc cases")]
            raise ChatRefused(
                msgid("cases are of the layers {layers}, not {layer}"),
                layers=layers,
                layer=self.layer,
            )
        chat, labeled, odd, questions = self._labeled(file)
        gold = {LAYERS[self.layer].key: labeled.labels}
        self._add(file.source.file, Imported(chat.id, file.source, gold, labeled.origins))
        faults = [*odd, *labeled.faults]
        self.outcome.faults += chats.rows_of(file.source.file, faults)
        found = evidence_counts(chat, questions)
        self._count(file.source, chat.id, len(labeled.labels), faults, found)

    def _labeled(self, file: _File) -> tuple[Chat, ChatLabels, list[ChatFault], Sequence[Question]]:
        odd: list[ChatFault] = []
        document = parse(file.stream.read(MAX_FILE_BYTES + 1))  # what is longer is refused there
        chat = self._chat_of(file.source.file)
        if self._is_published("arc cases"):
            cases = read_arc_cases(document, faults=odd)
            asked = [
                Question(case.place, case.question, "", tuple(chain(*_evidence(case))), "")
                for case in cases
            ]
            return chat, arc_labels(chat, cases), odd, asked
        format = chat.format if chat.format in FORMATS else "realtalk"
        questions = read_questions(document, format=format, faults=odd, where="case")
        return chat, question_labels(chat, questions), odd, questions

    def _is_published(self, *kinds: str) -> bool:
        return self.layer in LAYERS and not LAYERS[self.layer].published.isdisjoint(kinds)

    def _chat_of(self, file: str) -> Chat:
        """The stored chat that a file of cases is about."""
        rows = Conversation.objects.filter(project=self.project.pk)  # none of one yet to be made
        ids = rows.values_list("external_id", flat=True)
        named = [self.conversation] if self.conversation else conversations_named(file, ids)
        if not named:
            raise ChatRefused(
                msgid(
                    "which conversation is it about? The file's name fits none; say "
                    "it with --conversation ID"
                )
            )
        if len(named) > 1:
            raise ChatRefused(
                msgid(
                    "which conversation is it about? The file's name fits {fitting}; say "
                    "it with --conversation ID"
                ),
                fitting=list(named),
            )
        stored = rows.filter(external_id=named[0]).first()
        if stored is None:
            raise ChatRefused(
                msgid(
                    "there is no conversation {conversation} in {project}: import it "
                    "first with import_conversations"
                ),
                conversation=named[0],
                project=self.project.slug,
            )
        chat = chats.stored_chat(self.project, stored)
        if chat is None:
            raise ChatRefused(
                msgid(
                    "{conversation} was not imported as a published chat, so its messages"
                    " have no ids"
                ),
                conversation=named[0],
            )
        return chat

    def _take_lines(self, file: _File, kind: str, folder: Path | None) -> None:
        """Those of a folder as they are: what is said of their release is what was verified."""
        if kind == "duee" and not self._is_published("duee"):
            raise ChatRefused(
                msgid("DuEE files are of these layers: {layers}"), layers=list(published_as("duee"))
            )
        source = self._verified(file.source, folder) if folder else file.source
        if self.problems:
            return
        items, labels, faults = 0, 0, []
        own: Any = (folder / ITEMS_FILE).open("rb") if folder else nullcontext(repeat(b""))
        with own as texts:
            for entry, text in zip(self._lines(file, kind), texts, strict=False):
                if len(self.problems) >= conversations.MAX_PROBLEMS:
                    return
                if isinstance(entry, LineFault):
                    place = f"{source.file}:{entry.line}" if entry.line else source.file
                    self._refuse(place, entry.reason)
                    continue
                line, gold_line = entry
                canonical = text.decode().rstrip("\n")
                self._take_line(f"{source.file}:{line}", source, gold_line, canonical)
                faults += gold_line.faults
                layers = stages_of(self.layer)
                labels += sum(len(gold_line.gold[LAYERS[name].key]) for name in layers)
                items += 1
        self.outcome.faults += chats.rows_of(source.file, faults)
        self._count(source, "", labels, faults, items=items)

    def _lines(self, file: _File, kind: str) -> Iterator[tuple[int, GoldLine] | LineFault]:
        if kind == "duee":
            return read_duee(file.stream)
        schema = self.project.event_schema
        return read_native_gold(file.stream, self.layer, event_schema=schema)

    def _verified(self, source: Source, path: Path) -> Source:
        folder = Folder(path)
        for fault in islice(folder.faults(), conversations.MAX_PROBLEMS):
            self._refuse(f"{source.file} {fault.item_id}".strip(), fault.fact)
        about = folder.described
        return source._replace(
            release=about.release, release_sha256=about.sha256, signed_by=about.key
        )

    def _take_line(self, place: str, source: Source, line: GoldLine, canonical: str) -> None:
        self.reading.keep(place, line.record)
        texts = [turn.content for turn in line.record.turns]
        texts = [] if all(map(is_normal, texts)) else texts
        labels = (line.gold, line.origins, line.published, line.context)
        self._add(place, Imported(line.record.id, source, *labels, canonical, texts))

    def _count(
        self,
        source: Source,
        name: str,
        labels: int,
        faults: Sequence[ChatFault],
        evidence: dict[str, int] | None = None,
        **counted: int,
    ) -> None:
        asks = self._is_published("question cases", "arc cases")
        row: dict[str, Any] = {
            "file": source.file,
            "conversation": name,
            "faults": dict(sorted(Counter(fault.kind for fault in faults).items())),
            "questions" if asks else "labels": labels,
            **counted,
        }
        if evidence:
            row["tolerant"] = evidence
        self.outcome.counts.append(row)


def _evidence(case: ArcCase) -> Iterator[Sequence[str]]:
    return (phase.evidence for phase in case.phases)


def _kind(file: _File, layer: str) -> str:
    """How a file is written, by its first bytes."""
    head = file.stream.read(BEGINNING)
    file.stream.seek(0)
    if head.lstrip().startswith(b"["):
        return "cases"
    published = LAYERS[layer].published if layer in LAYERS else frozenset()
    is_duee = "duee" in published and b'"event_list"' in head.split(b"\n", 1)[0]
    return "duee" if is_duee else "native"
