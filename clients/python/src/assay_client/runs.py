"""Runs: launched, waited for, compared, gated, reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay_client import models
from assay_client.errors import WorkFailed
from assay_client.gold import Gold
from assay_client.paging import Rows, to_pandas
from assay_client.part import Part, said
from assay_client.transport import File, uploads
from assay_client.waiting import wait_until

if TYPE_CHECKING:
    import pandas

Form = Literal["html", "markdown", "junit", "json", "csv", "predictions"]
WAITED_FOR = {"queued", "running", "answering", "judging", "scoring"}
"""Statuses that pass without anybody doing anything."""


class Comparison(models.Comparison):
    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run and metric."""
        return to_pandas(
            models.Record(run=run.name or run.run, metric=name, **figures)
            for run in self.runs
            for name, figures in run.metrics.items()
        )


class Run(models.RunDetail):
    """One pipeline measured on one gold release, as it was when it was last asked for.

    Of a list it has no figures: :meth:`refresh` asks for them.
    """

    _part: Part

    def refresh(self) -> Run:
        """As it is now, with figures and all that is needed to repeat it."""
        return self._part._get(Run, ["runs", self.id])

    def wait(
        self, *, timeout: float | None = None, progress: Callable[[Run], object] | None = None
    ) -> Run:
        """Until it has its figures.

        Raises :class:`WorkFailed` if it was paused or cancelled or failed, and
        :class:`StillAtWork` after ``timeout`` seconds (None: waits as long as it takes).
        """
        over = wait_until(
            self.refresh,
            lambda run: run.status not in WAITED_FOR,
            what=f"Run {self.id}",
            timeout=timeout,
            progress=progress,
            sleep=self._part._transport.sleep,
        )
        if over.status != "finished":
            why = over.failure or over.pause_reason
            raise WorkFailed(f"Run {self.id} is {over.status}" + (f": {why}" if why else "."), over)
        return over

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each metric."""
        return to_pandas(self.aggregates)

    def figure(self, metric: str) -> models.Aggregate:
        """The aggregate of one metric."""
        by_name = {row.metric: row for row in self.aggregates}
        if metric not in by_name:
            known = ", ".join(by_name) or "none yet"
            raise KeyError(f"Run {self.id} has no figure {metric!r}; it has: {known}.")
        return by_name[metric]

    def cases(self) -> Rows[models.Case]:
        """Its cases with their scores."""
        return self._part._rows(models.Case, ["runs", self.id, "cases"])

    def case(self, id: int) -> models.CaseDetail:
        """One case: output, gold, and every score with its detail."""
        return self._part._get(models.CaseDetail, ["runs", self.id, "cases", id])

    def compare(self, *others: Run) -> Comparison:
        """``others`` next to this one, which is the baseline."""
        return Runs(self._part._transport).compare(self.id, [other.id for other in others])

    def gate(
        self,
        *,
        baseline: Run | None = None,
        strict: bool = False,
    ) -> models.Gate:
        """Check the thresholds of the project, and with ``baseline`` what became worse since.

        With ``strict`` a drop beyond its limit fails also where it is undecided.
        """
        body = said(baseline=baseline and baseline.id, strict=strict)
        return self._part._post(models.Gate, ["runs", self.id, "gate"], body)

    def last_gate(self) -> models.Gate | None:
        """What its gate said last; None: nobody has asked it."""
        return self._part._get(models.LastGate, ["runs", self.id, "gate"]).last

    def report(
        self,
        to: str | os.PathLike[str],
        form: Form = "html",
        *,
        baseline: Run | None = None,
        cases: int | None = None,
    ) -> Path:
        """A report as a file, which is complete as soon as it is there."""
        query = said(form=form, baseline=baseline and baseline.id, cases=cases)
        path = self._part._path("runs", self.id, "report")
        return self._part._transport.download(path, to, query)

    def pause(self) -> Run:
        return self._control("pause")

    def resume(self, **budgets: Any) -> Run:
        """With more to spend, if that is why it was paused: ``budget_cost``, ``budget_tokens``."""
        return self._control("resume", **budgets)

    def cancel(self) -> Run:
        return self._control("cancel")

    def retry(self) -> Run:
        """Try again what failed."""
        return self._control("retry")

    def rescore(self) -> Run:
        """Compute the scores again from the stored outputs."""
        return self._control("rescore")

    def _control(self, action: str, **options: Any) -> Run:
        return self._part._post(Run, ["runs", self.id, "control"], said(action=action, **options))


class Runs(Part):
    def list(self, **filters: Unpack[models.GetRuns]) -> Rows[Run]:
        """The runs that you may read, newest first."""
        return self._rows(Run, "runs", **filters)

    def get(self, id: int) -> Run:
        return self._get(Run, ["runs", id])

    def launch(
        self, gold: str | Gold, pipeline: str = "", /, **options: Unpack[models.RunIn]
    ) -> Run:
        """Launch a run of a pipeline, or on ``predictions`` (``{case_id, output}`` each).

        ``reason`` is needed once for test items.
        """
        body = said(**{"pipeline": pipeline, **options, "gold": str(gold)})
        return self._post(Run, "runs", body)

    def launch_file(self, gold: str | Gold, file: File, **options: str) -> Run:
        """Launch a run on the predictions of a file (JSON Lines), however many there are.

        ``options`` are ``split``, ``reason``, ``name``.
        """
        fields = {**options, "gold": str(gold)}
        return self._upload(Run, ["runs", "predictions"], uploads([file]), fields)

    def compare(self, baseline: int, runs: Sequence[int]) -> Comparison:
        """Runs next to a baseline."""
        query = said(baseline=baseline, run=[*runs])
        return self._get(Comparison, ["runs", "compare"], query)


class Pipelines(Part):
    """What can be launched."""

    def list(self, *, layer: str | None = None) -> Rows[models.Pipeline]:
        return self._rows(models.Pipeline, "pipelines", layer=layer)
