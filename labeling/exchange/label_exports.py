"""Everybody's labels as files, for other tools and other projects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import StreamingHttpResponse

from labeling.conversations.formats.answers import FileAnswer, FileConversation, FileDecision
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.importing import Turn
from labeling.domain.batches import batches
from labeling.domain.facts import Fact
from labeling.exchange.building import build
from labeling.exchange.formats import native
from labeling.gold import looks, releases
from labeling.gold.looks import Sight
from labeling.models import (
    Adjudication,
    Annotation,
    Assignment,
    Look,
    Project,
    Round,
    Transcript,
)
from labeling.schema import LAYERS
from labeling.words import in_english
from labeling.work import blindness

FINISHED = (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)
CHUNK = 500  # conversations in memory at a time
FILE = "labels.jsonl"


def download(project: Project, viewer: User) -> StreamingHttpResponse:
    """Who would see answers about test items says why first."""
    looks.require(viewer, looks.test_sets(project), Sight(Look.Purpose.EXPORT))
    return StreamingHttpResponse(
        native_lines(project, viewer),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{project.slug}-{FILE}"'},
    )


def finished(project: Project, viewer: User | None = None) -> QuerySet[Assignment]:
    """Submitted and skipped answers, without open calibration rounds, which nobody may see.

    A viewer who labels conversations again blind sees no answer about them; None is the operator
    of the server.
    """
    answers = Assignment.objects.filter(
        round__project=project, annotation__status__in=FINISHED
    ).exclude(round__in=Round.objects.blind())
    return answers.exclude(conversation__in=blindness.again(viewer)) if viewer else answers


def labeled(project: Project, viewer: User | None = None) -> Iterator[FileConversation]:
    """The project's conversations that have answers, with all of them, by id.

    Read as values: models of all answers would take longer than the rest of an export.
    """
    everything = finished(project, viewer)
    has_any = Exists(everything.filter(conversation=OuterRef("pk")))
    conversations = project.conversations.filter(has_any).order_by("external_id")
    for rows in batches(conversations.values_list(*_COLUMNS).iterator(chunk_size=CHUNK), CHUNK):
        pks = [pk for pk, *_ in rows]
        texts = dict(Transcript.objects.filter(pk__in=pks).values_list("pk", "messages"))
        answers = _answers(everything.filter(conversation__in=pks))
        decisions = _decisions(pks)
        for pk, name, domain, difficulty, split, *origin in rows:
            yield FileConversation(
                id=name,
                turns=tuple(
                    Turn(said.role, said.content, said.speaker, said.time)
                    for said in transcripts.read(texts[pk])
                ),
                answers=tuple(answers[pk]),
                domain=domain,
                difficulty=difficulty,
                split=split,
                **releases.origin_said(*origin),
                decisions=tuple(decisions[pk]),
            )


_COLUMNS = ("pk", "external_id", "domain", "difficulty", "split", "origin", "generator")


def _answers(rows: QuerySet[Assignment]) -> dict[int, list[FileAnswer]]:
    """By conversation, in the order of names and rounds."""
    answers: dict[int, list[FileAnswer]] = defaultdict(list)
    ordered = rows.order_by("annotator__username", "round__number").values_list(
        "conversation",
        "annotator__username",
        "annotation__payload",
        "annotation__status",
        "annotation__empty",
        "annotation__skip_reason",
        "round__number",
        "annotation__guideline__version",
        "annotation__created_at",
        "annotation__submitted_at",
        "annotation__active_seconds",
        "annotation__unanswered",
    )
    for conversation, *answer, unanswered in ordered.iterator():
        file_answer = replace(FileAnswer(*answer), unanswered=tuple(unanswered or ()))
        answers[conversation].append(file_answer)
    return answers


def _decisions(conversations: Sequence[int]) -> dict[int, list[FileDecision]]:
    decisions: dict[int, list[FileDecision]] = defaultdict(list)
    rows = Adjudication.objects.filter(conversation__in=conversations).order_by("pk")
    for row in rows.select_related("guideline", "decided_by").defer("guideline__body"):
        decisions[row.conversation_id].append(_decided(row))
    return decisions


def _decided(row: Adjudication) -> FileDecision:
    why = row.why
    return FileDecision(
        layer=row.layer,
        labels=row.payload.get(LAYERS[row.layer].key, []),
        reason=in_english(why) if isinstance(why, Fact) else why,
        reason_code=why.code if isinstance(why, Fact) else None,
        decided_by=row.decided_by.get_username(),
        kind=row.kind,
        guideline_flag=row.guideline_flag,
        guideline_version=row.guideline.version,
        decided_at=row.decided_at,
    )


def native_lines(project: Project, viewer: User | None = None) -> Iterator[str]:
    return (native.write(conversation) + "\n" for conversation in labeled(project, viewer))


def export_labels(project: Project, *, folder: Path) -> list[Path]:
    """Write all labels into an empty folder and return the files."""

    def write(draft: Path) -> list[Path]:
        with (draft / FILE).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(native_lines(project))
        return [draft / FILE]

    return build(folder, write)
