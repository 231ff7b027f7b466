"""Pipelines on conversations without gold."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr

from assay_client import models
from assay_client.errors import WorkFailed
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.waiting import wait_until


class Trial(models.Model):
    id: int
    name: str
    maker: str
    project: str | None
    pipeline: str
    layer: str
    status: str
    n_cases: int
    n_done: int
    n_failed: int
    failure: str
    created_at: datetime
    expires_at: datetime

    _trials: Trials = PrivateAttr()

    def refresh(self) -> Trial:
        return self._trials.get(self.id)

    def wait(
        self, *, timeout: float | None = None, progress: Callable[[Trial], object] | None = None
    ) -> Trial:
        """Until every case has a result. Raises as :meth:`Run.wait` does."""
        over = wait_until(
            self.refresh,
            lambda trial: trial.status not in ("queued", "running"),
            what=f"Trial {self.id}",
            timeout=timeout,
            progress=progress,
            sleep=self._trials._transport.sleep,
        )
        if over.status != "finished":
            raise WorkFailed(f"Trial {self.id} is {over.status}. {over.failure}".strip(), over)
        return over

    def cases(self) -> Rows[models.TrialCase]:
        """What came out, case by case."""
        return self._trials._rows(self._path("cases"), models.TrialCase.model_validate)

    def document(
        self, case: int, to: str | os.PathLike[str], form: Literal["md", "html", "docx"] = "html"
    ) -> Path:
        """The requirements document of a case, as a file."""
        path = self._path("cases", case, "document")
        return self._trials._transport.download(path, to, {"form": form})

    def download(
        self, to: str | os.PathLike[str], form: Literal["predictions", "labels"] = "predictions"
    ) -> Path:
        """All outputs as JSON Lines, or all labels as CSV."""
        return self._trials._transport.download(self._path("file"), to, {"form": form})

    def suggest(self, project: str) -> models.Adopted:
        """Carry what came out into a project that you lead, as suggestions."""
        answer = self._trials._transport.post(self._path("suggestions"), {"project": project})
        return models.Adopted.model_validate(answer)

    def cancel(self) -> Trial:
        return self._control("cancel")

    def again(self) -> Trial:
        """Try once more what has no result."""
        return self._control("again")

    def delete(self) -> None:
        self._trials._transport.delete(self._path())

    def _control(self, action: str) -> Trial:
        path = self._path("control")
        return self._trials._trial(self._trials._transport.post(path, {"action": action}))

    def _path(self, *parts: str | int) -> str:
        return self._trials._path("trials", self.id, *parts)


class Trials(Part):
    def list(self) -> Rows[Trial]:
        """Your trials and those of projects that you lead, newest first."""
        return self._rows(self._path("trials"), self._trial)

    def get(self, id: int) -> Trial:
        return self._trial(self._transport.get(self._path("trials", id)))

    def begin(
        self,
        pipeline: str,
        *,
        text: str | None = None,
        conversations: Sequence[Mapping[str, Any]] | None = None,
        conversation_ids: Sequence[str] | None = None,
        project: str | None = None,
        **options: Any,
    ) -> Trial:
        """Try a pipeline on a transcript, on conversations, or on those of a project."""
        body = said(
            pipeline=pipeline,
            text=text,
            conversations=conversations,
            conversation_ids=conversation_ids,
            project=project,
            **options,
        )
        return self._trial(self._transport.post(self._path("trials"), body))

    def _trial(self, answer: Any) -> Trial:
        trial = Trial.model_validate(answer)
        trial._trials = self
        return trial
