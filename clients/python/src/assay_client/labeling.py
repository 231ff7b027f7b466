"""One's own work as an annotator, and verdicts on that of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any
from uuid import uuid4

from assay_client import models
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.transport import Transport


class OwnWork(Part):
    """Assignments of the token's owner."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._page = str(uuid4())
        self._saves = count(1)

    def queue(self) -> Rows[models.Assignment]:
        """In the order in which it is to be done."""
        return self._rows(self._path("queue"), models.Assignment.model_validate)

    def next(self) -> int | None:
        """The assignment to label next, taken from a pool if nothing is planned."""
        answer = self._transport.post(self._path("queue", "next"), again=True)
        number: int | None = answer["assignment"]
        return number

    def open(self, assignment: int) -> models.Workspace:
        """The conversation of an assignment with what is needed to label it."""
        path = self._path("annotations", assignment, "conversation")
        return models.Workspace.model_validate(self._transport.get(path))

    def get(self, assignment: int) -> models.Annotation:
        path = self._path("annotations", assignment)
        return models.Annotation.model_validate(self._transport.get(path))

    def save(self, assignment: int, payload: models.Labels, **answer: Any) -> models.Annotation:
        """Save a draft. The options are those of :meth:`submit`."""
        body = self._body(assignment, payload, **answer)
        path = self._path("annotations", assignment)
        return models.Annotation.model_validate(self._transport.put(path, body))

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
        path = self._path("annotations", assignment, "submit")
        return models.Annotation.model_validate(self._transport.post(path, body, again=True))

    def skip(self, assignment: int, reason: str) -> models.Annotation:
        """Put the conversation aside."""
        current = self.get(assignment)
        body = self._body(assignment, current.payload, base_version=current.version)
        path = self._path("annotations", assignment, "skip")
        answer = self._transport.post(path, {**body, "reason": reason}, again=True)
        return models.Annotation.model_validate(answer)

    def reopen(self, assignment: int) -> models.Annotation:
        """Take a submission or a skip back as a draft."""
        path = self._path("annotations", assignment, "reopen")
        return models.Annotation.model_validate(self._transport.post(path, again=True))

    def revisions(self, assignment: int) -> Rows[models.Revision]:
        """Every accepted save, newest first."""
        return self._rows(
            self._path("annotations", assignment, "revisions"), models.Revision.model_validate
        )

    def revision(self, assignment: int, version: int) -> models.RevisionDetail:
        """One of them with its labels, and what has changed since."""
        path = self._path("annotations", assignment, "revisions", version)
        return models.RevisionDetail.model_validate(self._transport.get(path))

    def restore(self, assignment: int, version: int) -> models.Annotation:
        """Make the labels of an earlier revision the newest draft."""
        body = {
            "version": version,
            "base_version": self.get(assignment).version,
            "client": self._page,
            "seq": next(self._saves),
        }
        path = self._path("annotations", assignment, "restore")
        return models.Annotation.model_validate(self._transport.post(path, body, again=True))

    def hold(self, assignment: int) -> None:
        """Reserve what was taken from a pool for longer."""
        self._transport.post(self._path("queue", assignment, "lease"), again=True)

    def give_back(self, assignment: int) -> None:
        """Give it back to the pool."""
        self._transport.delete(self._path("queue", assignment, "lease"))

    def suggestions(self, assignment: int) -> models.Suggestions:
        """What pipelines suggest, after your own first pass."""
        path = self._path("annotations", assignment, "suggestions")
        return models.Suggestions.model_validate(self._transport.get(path))

    def finish_first_pass(self, assignment: int) -> models.Suggestions:
        path = self._path("annotations", assignment, "first-pass")
        return models.Suggestions.model_validate(self._transport.post(path, again=True))

    def dismiss(
        self, assignment: int, suggestions: Sequence[Mapping[str, Any]]
    ) -> models.Suggestions:
        """Say which suggested labels you do not want, each as ``{"id": …, "uid": …}``."""
        path = self._path("annotations", assignment, "suggestions")
        answer = self._transport.put(path, {"dismissed": list(suggestions)})
        return models.Suggestions.model_validate(answer)

    def resolve(self, comment: int, *, resolved: bool = True) -> models.Comment:
        """Settle the thread of a comment, or take it up again."""
        path = self._path("comments", comment, "resolve")
        answer = self._transport.post(path, {"resolved": resolved}, again=True)
        return models.Comment.model_validate(answer)

    def comments(self, assignment: int) -> Rows[models.Comment]:
        """Comments on the conversation, oldest first."""
        return self._rows(
            self._path("annotations", assignment, "comments"), models.Comment.model_validate
        )

    def comment(
        self,
        assignment: int,
        body: str,
        *,
        message_index: int | None = None,
        label_uid: str | None = None,
        reply_to: int | None = None,
    ) -> models.Comment:
        sent = said(body=body, message_index=message_index, label_uid=label_uid, reply_to=reply_to)
        path = self._path("annotations", assignment, "comments")
        return models.Comment.model_validate(self._transport.post(path, sent))

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
