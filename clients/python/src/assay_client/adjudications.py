"""What people do about differences: decide them, review answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from assay_client import models
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.waiting import wait_until

Tab = Literal["disputed", "agreed", "decided"]
Choice = Callable[[models.Cluster], Mapping[str, Any] | None]
"""From a cluster the label that is right, or None to leave it out."""


class Adjudications(Part):
    """What is settled in a project and what is not (leads and researchers)."""

    def list(
        self,
        tab: Tab = "disputed",
        *,
        layer: str | None = None,
        timeout: float | None = 60.0,
    ) -> Rows[models.AdjudicationCase]:
        """Lowest agreement first; waits until a worker has merged the newest answers."""
        query = said(tab=tab, layer=layer)
        self._prepared(query, timeout)
        return self._rows(models.AdjudicationCase, "adjudications", **query)

    def get(self, conversation: int, layer: str) -> models.Merge:
        """The labels of a conversation in clusters, with the newest decision."""
        return self._top._get(models.Merge, ["adjudications", conversation, layer])

    def decide(
        self,
        conversation: int,
        layer: str,
        choice: Choice,
        *,
        added: Sequence[Mapping[str, Any]] = (),
        kind: str = "",
        note: str = "",
        guideline_flag: bool = False,
    ) -> models.Decision:
        """Decide about each cluster by ``choice``, as the answers stand now.

        If an answer changes before the decision arrives, it is refused with :class:`Conflict`.
        """
        merge = self.get(conversation, layer)
        body = {
            "answers": merge.answers,
            "labels": [choice(cluster) for cluster in merge.clusters],
            "added": list(added),
            "kind": kind,
            "note": note,
            "guideline_flag": guideline_flag,
        }
        return self._top._post(models.Decision, ["adjudications", conversation, layer], body)

    def _prepared(self, query: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        path = self._path("adjudications")
        return wait_until(
            lambda: dict(self._transport.get(path, query)),
            lambda page: not page["preparing"],
            what="Merging",
            timeout=timeout,
            sleep=self._transport.sleep,
        )


class Reviews(Part):
    """Verdicts on submitted answers."""

    def give(
        self,
        annotation: int,
        version: int,
        verdict: Literal["accepted", "fixed", "returned"],
        *,
        comment: str = "",
        payload: models.Labels | None = None,
    ) -> models.Review:
        """About one version of an answer (leads); the newest verdict counts."""
        body = said(version=version, verdict=verdict, comment=comment, payload=payload)
        return self._top._post(models.Review, ["reviews", annotation], body)
