"""Projects: people, conversations, guidelines, rounds, and what comes of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay_client import models
from assay_client.adjudications import Adjudications, Reviews
from assay_client.errors import Conflict
from assay_client.gold import Freeze, Freezes
from assay_client.paging import Rows, to_pandas
from assay_client.part import Part, said
from assay_client.transport import File, uploads
from assay_client.waiting import wait_until

if TYPE_CHECKING:
    import pandas

Role = Literal["annotator", "researcher", "lead"]


class Projects(Part):
    def list(self) -> Rows[models.Project]:
        """The projects that you have a role in."""
        return self._rows(models.Project, "projects")

    def create(self, name: str, /, **settings: Unpack[models.ProjectIn]) -> models.Project:
        """A new project, which you lead. What is left out is as the server has it by default."""
        return self._post(models.Project, "projects", {**settings, "name": name})

    def get(self, slug: str) -> models.ProjectDetail:
        return self[slug].get()

    def __getitem__(self, slug: str) -> ProjectPart:
        return ProjectPart(self._transport, self._path("projects", slug), slug)


class ProjectPart(Part):
    """One project."""

    def __init__(self, transport: Any, root: str, slug: str) -> None:
        super().__init__(transport, root)
        self.slug = slug
        self.members = Members(transport, root)
        self.conversations = Conversations(transport, root)
        self.guidelines = Guidelines(transport, root)
        self.rounds = Rounds(transport, root)
        self.adjudications = Adjudications(transport, root)
        self.reviews = Reviews(transport, root)
        self.freezes = Freezes(transport, root)

    def get(self) -> models.ProjectDetail:
        """With its rounds and progress (leads and researchers)."""
        return self._get(models.ProjectDetail, [])

    def freeze(self, layer: str, /, **options: Unpack[models.FreezeIn]) -> Freeze:
        """Have a worker freeze what is settled: ``freeze(…).wait()`` is the release (leads)."""
        return self.freezes.ask(layer, **options)

    def __repr__(self) -> str:
        return f"<Project {self.slug}>"


class Members(Part):
    def list(self) -> Rows[models.Member]:
        return self._rows(models.Member, "members")

    def add(self, username: str, role: Role) -> models.Member:
        return self._post(models.Member, "members", {"username": username, "role": role})

    def remove(self, member: models.Member, *, to: str = "") -> models.HandedOn:
        query = {"to": to or None}
        return models.HandedOn(self._transport.delete(self._path("members", member.id), query))


class Conversations(Part):
    def list(self, **filters: Unpack[models.GetConversations]) -> Rows[models.Conversation]:
        return self._rows(models.Conversation, "conversations", **filters)

    def get(self, id: int) -> models.ConversationDetail:
        """With its messages."""
        return self._get(models.ConversationDetail, ["conversations", id])

    def answers(self, id: int) -> models.Answers:
        """What everybody answered, side by side (leads and researchers)."""
        return self._get(models.Answers, ["conversations", id, "answers"])

    def store(self, *files: File, dry_run: bool = False, **options: str) -> models.ImportReport:
        """Store the conversations of files, all or none; with ``dry_run`` only say what.

        ``options`` are ``format``, ``columns``, ``roles``, ``encoding``, ``split``, ``leave_out``.
        """
        fields = {**options, **({"dry_run": "true"} if dry_run else {})}
        return self._upload(models.ImportReport, "conversations", uploads(files), fields)


class Guidelines(Part):
    def list(self) -> Rows[models.Guideline]:
        """The versions, newest first."""
        return self._rows(models.Guideline, "guidelines")

    def get(self, version: int) -> models.GuidelineDetail:
        return self._get(models.GuidelineDetail, ["guidelines", version])

    def write(self, body: str, summary: str, *, base_version: int) -> models.Guideline:
        """The next version after ``base_version``, the newest that you know (0: none)."""
        sent = {"body": body, "summary": summary, "base_version": base_version}
        return self._post(models.Guideline, "guidelines", sent)


class Round(models.Round):
    @property
    def is_over(self) -> bool:
        """Whether nothing is left to label: a calibration is closed, full labeling answered."""
        if self.state != "open" or self.kind != "full":
            return self.state != "open"
        is_taken = not self.pool or self.work.submitted >= self.conversations * self.overlap
        return is_taken and self.work.pending == self.work.draft == 0


class Agreement(models.Agreement):
    def to_pandas(self) -> pandas.DataFrame:
        """A row for each pair of annotators."""
        return to_pandas(self.pairs)


class Rounds(Part):
    def list(self) -> Rows[Round]:
        """Newest first."""
        return self._rows(Round, "rounds")

    def get(self, number: int) -> Round:
        return self._get(Round, ["rounds", number])

    def open(
        self, kind: Literal["calibration", "full"], /, **options: Unpack[models.RoundIn]
    ) -> Round:
        """Open a round on conversations by id, on ``number`` drawn ones, or on those of a round."""
        return self._post(Round, "rounds", said(**{**options, "kind": kind}))

    def ratings(
        self,
        number: int,
        to: str | os.PathLike[str],
        *,
        layer: str | None = None,
    ) -> Path:
        """What annotators said, unit by unit, as CSV."""
        path, query = self._path("rounds", number, "agreement", "ratings"), said(layer=layer)
        return self._transport.download(path, to, query)

    def close(self, number: int) -> Round:
        """End full labeling."""
        return self._post(Round, ["rounds", number, "close"])

    def wait(
        self,
        number: int,
        *,
        timeout: float | None = None,
        progress: Callable[[Round], object] | None = None,
    ) -> Round:
        """Until a calibration is closed, or every place of full labeling has its answer."""
        return wait_until(
            lambda: self.get(number),
            lambda round: round.is_over,
            what=f"Round {number}",
            timeout=timeout,
            progress=progress,
            sleep=self._transport.sleep,
        )

    def agreement(
        self, number: int, layer: str | None = None, *, timeout: float | None = 60.0
    ) -> Agreement:
        """How far annotators agree; waits until a worker has measured the newest answers."""

        def look() -> Agreement | None:
            try:
                return self._get(Agreement, ["rounds", number, "agreement"], said(layer=layer))
            except Conflict as error:
                if error.code != "not_measured":
                    raise
                return None

        measured = wait_until(
            look,
            lambda figures: figures is not None,
            what="Agreement",
            timeout=timeout,
            sleep=self._transport.sleep,
        )
        assert measured is not None
        return measured
