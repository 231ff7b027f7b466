"""Gold: frozen, verified, read, downloaded; and looks at its test items."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr

from assay_client import models
from assay_client.errors import WorkFailed
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.waiting import wait_until

Purpose = Literal["labels", "export", "run", "results", "compare"]


class Freeze(models.Model):
    """A release that was asked for."""

    id: int
    state: Literal["waiting", "frozen", "linted", "refused", "given_up"]
    layer: str
    name: str
    asked_by: str | None
    asked_at: datetime
    ended_at: datetime | None
    release: str | None
    reason: str

    _freezes: Freezes = PrivateAttr()

    def wait(
        self, *, timeout: float | None = None, progress: Callable[[Freeze], object] | None = None
    ) -> models.Gold:
        """The release, when it is there. Raises :class:`WorkFailed` if it was refused."""
        over = wait_until(
            lambda: self._freezes.get(self.id),
            lambda freeze: freeze.state != "waiting",
            what="Freezing",
            timeout=timeout,
            progress=progress,
            sleep=self._freezes._transport.sleep,
        )
        if over.release is None:
            raise WorkFailed(f"Nothing was frozen ({over.state}): {over.reason}", over)
        return GoldReleases(self._freezes._transport).get(over.release)


class Freezes(Part):
    """Requests for gold of one project."""

    def list(self) -> Rows[Freeze]:
        """Who asked for gold and what came of it, newest first."""
        return self._rows(self._path("freezes"), self._freeze)

    def get(self, id: int) -> Freeze:
        return self._freeze(self._transport.get(self._path("freezes", id)))

    def ask(
        self,
        layer: str,
        *,
        name: str | None = None,
        message: str | None = None,
        at_least: Literal["patch", "minor", "major"] | None = None,
        with_synthetic: bool | None = None,
        only_lint: bool | None = None,
    ) -> Freeze:
        """Have a worker freeze what is settled (leads); ``only_lint``: say what lint finds."""
        body = said(
            layer=layer,
            name=name,
            message=message,
            at_least=at_least,
            with_synthetic=with_synthetic,
            only_lint=only_lint,
        )
        return self._freeze(self._transport.post(self._path("freezes"), body))

    def _freeze(self, answer: Any) -> Freeze:
        freeze = Freeze.model_validate(answer)
        freeze._freezes = self
        return freeze


class Lint(Part):
    """What stands in the way of gold of one project."""

    def look(self, layer: str, *, timeout: float | None = None) -> models.LintReport:
        """Have a worker look at the labels that would be frozen, and wait for what it says."""
        freezes = Freezes(self._transport, self._root)
        asked = freezes.ask(layer, only_lint=True)
        over = wait_until(
            lambda: freezes.get(asked.id),
            lambda freeze: freeze.state != "waiting",
            what="Lint",
            timeout=timeout,
            sleep=self._transport.sleep,
        )
        if over.state != "linted":
            raise WorkFailed(f"Lint came to nothing ({over.state}): {over.reason}", over)
        return self.report(layer)

    def report(self, layer: str) -> models.LintReport:
        """What it said the last time."""
        said_last = self._transport.get(self._path("lint"), {"layer": layer})
        return models.LintReport.model_validate(said_last)

    def findings(self, layer: str, *, kind: str | None = None) -> Rows[models.LintFinding]:
        """Those of the last report."""
        query = said(layer=layer, kind=kind)
        return self._rows(self._path("lint", "findings"), models.LintFinding.model_validate, query)

    def waive(self, layer: str, kind: str, reason: str, *, key: str = "") -> int:
        """Accept what is open of a kind, or one finding (leads). Says how many it were."""
        body = {"layer": layer, "kind": kind, "reason": reason, "key": key}
        answer = self._transport.post(self._path("lint", "waivers"), body)
        number: int = answer["number"]
        return number

    def waivers(self, layer: str | None = None) -> Rows[models.LintWaiver]:
        """What was accepted, and what of it no longer is."""
        path = self._path("lint", "waivers")
        return self._rows(path, models.LintWaiver.model_validate, said(layer=layer))


class GoldReleases(Part):
    """Releases are named ``name@version``, as commands name them."""

    def list(self, *, project: str | None = None, name: str | None = None) -> Rows[models.Gold]:
        """The releases that you may read, newest first."""
        query = said(project=project, name=name)
        return self._rows(self._path("gold"), models.Gold.model_validate, query)

    def get(self, release: str | models.Gold) -> models.Gold:
        return models.Gold.model_validate(self._transport.get(self._of(release)))

    def items(
        self, release: str | models.Gold, *, split: str | None = None
    ) -> Rows[models.GoldItem]:
        """Its items in their order, without their labels."""
        path = self._of(release, "items")
        return self._rows(path, models.GoldItem.model_validate, said(split=split))

    def item(self, release: str | models.Gold, item_id: str) -> models.GoldItemDetail:
        """One item: the conversation, its labels, and where each comes from."""
        path = self._of(release, "items", item_id)
        return models.GoldItemDetail.model_validate(self._transport.get(path))

    def diff(
        self, release: str | models.Gold, other: str | models.Gold | None = None
    ) -> Rows[models.GoldChange]:
        """What differs from another release, or from its parent."""
        query = said(**{"with": other and str(other)})
        return self._rows(self._of(release, "diff"), models.GoldChange.model_validate, query)

    def verify(
        self, release: str | models.Gold, *, timeout: float | None = None
    ) -> models.Verified:
        """Have every hash computed again; of a large release a worker does it."""
        path = self._of(release, "verify")
        before = self._transport.get(path)["last"]
        asked = self._transport.post(path)["last"]

        def look() -> Any:
            return asked if asked != before else self._transport.get(path)["last"]

        last = wait_until(
            look,
            lambda check: check is not None and check != before,
            what="Verifying",
            timeout=timeout,
            sleep=self._transport.sleep,
        )
        return models.Verified.model_validate(last)

    def export(
        self, release: str | models.Gold, to: str | os.PathLike[str], form: str | None = None
    ) -> Path:
        """The items as JSON Lines, as they were hashed; or the files of a format as a zip."""
        return self._transport.download(self._of(release, "export"), to, said(form=form))

    def _of(self, release: str | models.Gold, *parts: str) -> str:
        name, _, version = str(release).rpartition("@")
        if not name:
            raise ValueError(f"Name the version, too: {release}@1.")
        return self._path("gold", name, version, *parts)


class Looks(Part):
    def list(self, gold: str | None = None) -> Rows[models.Look]:
        """The looks at test items of releases that you may read, newest first."""
        return self._rows(self._path("looks"), models.Look.model_validate, said(gold=gold))

    def state(self, gold: str | models.Gold, purpose: Purpose, reason: str) -> models.LookStanding:
        """Say why you look at the test items of a release; what was refused opens for you."""
        body = {"gold": str(gold), "purpose": purpose, "reason": reason}
        return models.LookStanding.model_validate(self._transport.post(self._path("looks"), body))
