"""Runs: launched, waited for, compared, gated, reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import PrivateAttr

from assay_client import models
from assay_client.errors import WorkFailed
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.transport import File, Query, uploads
from assay_client.waiting import wait_until

if TYPE_CHECKING:
    import pandas

Form = Literal["html", "markdown", "junit", "json", "csv", "predictions"]
WAITED_FOR = {"queued", "running", "answering", "judging", "scoring"}
"""Statuses that pass without anybody doing anything."""


class Run(models.Model):
    """One pipeline measured on one gold release, as it was when it was last asked for."""

    id: int
    gold: str
    name: str
    pipeline: str
    pipeline_version: str
    split: str
    repetitions: int
    status: str
    n_cases: int
    n_done: int
    n_failed: int
    requested_by: str | None
    created_at: datetime
    scored_at: datetime | None

    _runs: Runs = PrivateAttr()

    def refresh(self) -> RunDetail:
        """As it is now, with figures and all that is needed to repeat it."""
        return self._runs.get(self.id)

    def wait(
        self,
        *,
        timeout: float | None = None,
        progress: Callable[[RunDetail], object] | None = None,
    ) -> RunDetail:
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
            sleep=self._runs._transport.sleep,
        )
        if over.status != "finished":
            why = over.failure or over.pause_reason
            raise WorkFailed(f"Run {self.id} is {over.status}" + (f": {why}" if why else "."), over)
        return over

    def cases(self) -> Rows[models.Case]:
        """Its cases with their scores."""
        return self._runs._rows(
            self._runs._path("runs", self.id, "cases"), models.Case.model_validate
        )

    def case(self, id: int) -> models.CaseDetail:
        """One case: output, gold, and every score with its detail."""
        path = self._runs._path("runs", self.id, "cases", id)
        return models.CaseDetail.model_validate(self._runs._transport.get(path))

    def compare(self, *others: Run) -> models.Comparison:
        """``others`` next to this one, which is the baseline."""
        return self._runs.compare(self.id, [other.id for other in others])

    def gate(
        self,
        *,
        baseline: Run | None = None,
        min_coverage: float | None = None,
        strict: bool = False,
    ) -> models.Gate:
        """Check the thresholds of the project, and with ``baseline`` what became worse since.

        With ``strict`` a drop beyond its limit fails also where it is undecided.
        """
        body = said(baseline=baseline and baseline.id, min_coverage=min_coverage, strict=strict)
        return models.Gate.model_validate(self._post("gate", body))

    def last_gate(self) -> models.Gate | None:
        """What its gate said last; None: nobody has asked it."""
        last = self._runs._transport.get(self._runs._path("runs", self.id, "gate"))["last"]
        return None if last is None else models.Gate.model_validate(last)

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
        path = self._runs._path("runs", self.id, "report")
        return self._runs._transport.download(path, to, query)

    def pause(self) -> RunDetail:
        return self._control("pause")

    def resume(
        self, *, budget_cost: float | None = None, budget_tokens: int | None = None
    ) -> RunDetail:
        return self._control("resume", budget_cost=budget_cost, budget_tokens=budget_tokens)

    def cancel(self) -> RunDetail:
        return self._control("cancel")

    def retry(self) -> RunDetail:
        """Try again what failed."""
        return self._control("retry")

    def work_on(self, concurrency: int) -> RunDetail:
        """Change how many cases are worked on at a time."""
        return self._control("concurrency", concurrency=concurrency)

    def rescore(self) -> RunDetail:
        """Compute the scores again from the stored outputs."""
        return self._control("rescore")

    def _control(self, action: str, **options: Any) -> RunDetail:
        return self._read(self._post("control", said(action=action, **options)))

    def _post(self, what: str, body: object) -> Any:
        return self._runs._transport.post(self._runs._path("runs", self.id, what), body)

    def _read(self, answer: Any) -> RunDetail:
        return self._runs._detail(answer)


class RunDetail(Run):
    failure: str
    pause_reason: str
    config: dict[str, Any]
    spec: dict[str, Any]
    aggregates: list[models.Aggregate]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each metric."""
        from assay_client.paging import to_pandas

        return to_pandas(self.aggregates)

    def figure(self, metric: str) -> models.Aggregate:
        """The aggregate of one metric."""
        by_name = {row.metric: row for row in self.aggregates}
        if metric not in by_name:
            known = ", ".join(by_name) or "none yet"
            raise KeyError(f"Run {self.id} has no figure {metric!r}; it has: {known}.")
        return by_name[metric]


class Runs(Part):
    def list(
        self,
        *,
        pipeline: str | None = None,
        gold: str | models.Gold | None = None,
        split: str | None = None,
        status: str | None = None,
        tag: str | None = None,
        search: str | None = None,
        mine: bool = False,
    ) -> Rows[Run]:
        """The runs that you may read, newest first."""
        query = said(
            pipeline=pipeline,
            gold=gold and str(gold),
            split=split,
            status=status,
            tag=tag,
            search=search,
            mine=mine or None,
        )
        return self._rows(self._path("runs"), self._run, query)

    def get(self, id: int) -> RunDetail:
        return self._detail(self._transport.get(self._path("runs", id)))

    def launch(
        self,
        gold: str | models.Gold,
        pipeline: str = "",
        *,
        config: Mapping[str, Any] | None = None,
        split: str | None = None,
        reason: str | None = None,
        predictions: Sequence[Mapping[str, Any]] | None = None,
        name: str | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        **options: Any,
    ) -> RunDetail:
        """Launch a run of a pipeline, or on ``predictions`` (``{case_id, output}`` each).

        ``reason`` is needed once for test items. ``options`` are the other fields of a launch.
        """
        body = _launch(
            gold,
            pipeline=pipeline,
            config=config,
            split=split,
            reason=reason,
            predictions=predictions,
            name=name,
            seed=seed,
            repetitions=repetitions,
            **options,
        )
        return self._detail(self._transport.post(self._path("runs"), body))

    def launch_file(
        self,
        gold: str | models.Gold,
        file: File,
        *,
        split: str | None = None,
        reason: str | None = None,
        name: str | None = None,
    ) -> RunDetail:
        """Launch a run on the predictions of a file (JSON Lines), however many there are."""
        fields = said(gold=str(gold), split=split, reason=reason, name=name)
        path = self._path("runs", "predictions")
        return self._detail(self._transport.upload(path, uploads([file]), fields))

    def estimate(
        self, gold: str | models.Gold, pipeline: str = "", **options: Any
    ) -> models.Estimate:
        """What such a launch would cost, and which differences it could show."""
        body = _launch(gold, pipeline=pipeline, **options)
        path = self._path("runs", "estimate")
        return models.Estimate.model_validate(self._transport.post(path, body, again=True))

    def compare(
        self, baseline: int, runs: Sequence[int], *, slices: str | None = None
    ) -> models.Comparison:
        """Runs next to a baseline; ``slices`` names a metric to compare by groups of cases, too."""
        query: Query = {"baseline": baseline, "run": [*runs], "slices": slices}
        path = self._path("runs", "compare")
        return models.Comparison.model_validate(self._transport.get(path, query))

    def _run(self, answer: Any) -> Run:
        run = Run.model_validate(answer)
        run._runs = self
        return run

    def _detail(self, answer: Any) -> RunDetail:
        run = RunDetail.model_validate(answer)
        run._runs = self
        return run


class Pipelines(Part):
    """What can be launched."""

    def list(self, *, layer: str | None = None) -> Rows[models.Pipeline]:
        query = said(layer=layer)
        return self._rows(self._path("pipelines"), models.Pipeline.model_validate, query)

    def get(self, name: str) -> models.Pipeline:
        return models.Pipeline.model_validate(self._transport.get(self._path("pipelines", name)))


def _launch(gold: str | models.Gold, **fields: Any) -> dict[str, Any]:
    return said(gold=str(gold), **fields)
