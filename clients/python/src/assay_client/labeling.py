"""One's own work as an annotator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any
from uuid import uuid4

from assay_client import models
from assay_client.paging import Rows
from assay_client.part import Part
from assay_client.transport import Transport


class OwnWork(Part):
    """Assignments of the token's owner."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._page = str(uuid4())
        self._saves = count(1)

    def queue(self) -> Rows[models.Assignment]:
        """In the order in which it is to be done."""
        return self._rows(models.Assignment, "queue")

    def next(self) -> int | None:
        """The assignment to label next, taken from a pool if nothing is planned."""
        return self._post(models.Next, ["queue", "next"], again=True).assignment

    def open(self, assignment: int) -> models.Workspace:
        """The conversation of an assignment with what is needed to label it."""
        return self._get(models.Workspace, ["annotations", assignment, "conversation"])

    def get(self, assignment: int) -> models.Annotation:
        return self._get(models.Annotation, ["annotations", assignment])

    def save(self, assignment: int, payload: models.Labels, **answer: Any) -> models.Saved:
        """Save a draft. The options are those of :meth:`submit`."""
        body = self._body(assignment, payload, **answer)
        return self._put(models.Saved, ["annotations", assignment], body)

    def submit(
        self,
        assignment: int,
        payload: models.Labels,
        *,
        nothing: Sequence[str] = (),
        empty: bool = False,
        base_version: int | None = None,
        active_seconds: int = 0,
    ) -> models.Annotation:
        """Submit the complete answer.

        ``nothing`` names the layers of which "nothing here" is said, ``empty`` says it of all.
        ``base_version`` is the version that the answer was made from; None: the newest one.
        """
        body = self._body(
            assignment,
            payload,
            nothing=list(nothing),
            empty=empty,
            base_version=base_version,
            active_seconds=active_seconds,
        )
        at = ["annotations", assignment, "submit"]
        return self._post(models.Annotation, at, body, again=True)

    def skip(self, assignment: int, reason: str) -> models.Skipped:
        """Put the conversation aside."""
        current = self.get(assignment)
        body = self._body(assignment, current.payload, base_version=current.version)
        at = ["annotations", assignment, "skip"]
        return self._post(models.Skipped, at, {**body, "reason": reason}, again=True)

    def reopen(self, assignment: int) -> models.Annotation:
        """Take a submission or a skip back as a draft."""
        return self._post(models.Annotation, ["annotations", assignment, "reopen"], again=True)

    def revisions(self, assignment: int) -> Rows[models.Revision]:
        """Every accepted save, newest first."""
        return self._rows(models.Revision, ["annotations", assignment, "revisions"])

    def revision(self, assignment: int, version: int) -> models.RevisionDetail:
        """One of them with its labels."""
        at = ["annotations", assignment, "revisions", version]
        return self._get(models.RevisionDetail, at)

    def restore(self, assignment: int, version: int) -> models.Annotation:
        """Make the labels of an earlier revision the newest draft."""
        body = {
            "version": version,
            "base_version": self.get(assignment).version,
            "client": self._page,
            "seq": next(self._saves),
        }
        at = ["annotations", assignment, "restore"]
        return self._post(models.Annotation, at, body, again=True)

    def suggestions(self, assignment: int) -> models.Suggestions:
        """What pipelines suggest, after your own first pass."""
        return self._get(models.Suggestions, ["annotations", assignment, "suggestions"])

    def finish_first_pass(self, assignment: int) -> models.Suggestions:
        at = ["annotations", assignment, "first-pass"]
        return self._post(models.Suggestions, at, again=True)

    def _body(
        self,
        assignment: int,
        payload: models.Labels,
        *,
        base_version: int | None = None,
        **answer: Any,
    ) -> dict[str, Any]:
        """``client`` and ``seq`` let the server tell a repeated save from a new one."""
        if base_version is None:
            base_version = self.get(assignment).version
        return {
            "base_version": base_version,
            "client": self._page,
            "seq": next(self._saves),
            "payload": payload,
            **answer,
        }
