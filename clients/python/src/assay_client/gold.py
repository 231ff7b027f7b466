"""Gold: frozen, verified, read, downloaded; and looks at its test items."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Unpack

from assay_client import models
from assay_client.errors import WorkFailed
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.waiting import wait_until

Purpose = Literal["labels", "export", "run", "results", "compare"]


class Gold(models.GoldDetail):
    """A release; of a list, without what only one release is asked for."""

    def __str__(self) -> str:
        """As launches and commands name it."""
        return f"{self.name}@{self.version}"


class Freeze(models.Freeze):
    """A release that was asked for."""

    _part: Part

    def wait(
        self, *, timeout: float | None = None, progress: Callable[[Freeze], object] | None = None
    ) -> Gold:
        """The release, when it is there. Raises :class:`WorkFailed` if it was refused."""
        over = wait_until(
            lambda: self._part._get(Freeze, ["freezes", self.id]),
            lambda freeze: freeze.state != "waiting",
            what="Freezing",
            timeout=timeout,
            progress=progress,
            sleep=self._part._transport.sleep,
        )
        if over.release is None:
            raise WorkFailed(f"Nothing was frozen ({over.state}): {over.reason}", over)
        return GoldReleases(self._part._transport).get(over.release)


class Freezes(Part):
    """Requests for gold of one project."""

    def list(self) -> Rows[Freeze]:
        """Who asked for gold and what came of it, newest first."""
        return self._rows(Freeze, "freezes")

    def get(self, id: int) -> Freeze:
        return self._get(Freeze, ["freezes", id])

    def ask(self, layer: str, /, **options: Unpack[models.FreezeIn]) -> Freeze:
        """Have a worker freeze what is settled (leads).

        ``waive`` has the reasons for accepting what lint finds, by kind.
        """
        return self._post(Freeze, "freezes", {**options, "layer": layer})


class GoldReleases(Part):
    """Releases are named ``name@version``, as commands name them."""

    def list(self, *, project: str | None = None, name: str | None = None) -> Rows[Gold]:
        """The releases that you may read, newest first."""
        return self._rows(Gold, "gold", project=project, name=name)

    def get(self, release: str | Gold) -> Gold:
        return self._get(Gold, self._of(release))

    def verify(self, release: str | Gold) -> models.Verified:
        """Have every hash computed again."""
        return self._post(models.Verified, self._of(release, "verify"))

    def export(
        self, release: str | Gold, to: str | os.PathLike[str], form: str | None = None
    ) -> Path:
        """The items as JSON Lines, as they were hashed; or the files of a format as a zip."""
        path = self._path(*self._of(release, "export"))
        return self._transport.download(path, to, said(form=form))

    def _of(self, release: str | Gold, *parts: str) -> Sequence[str]:
        name, _, version = str(release).rpartition("@")
        if not name:
            raise ValueError(f"Name the version, too: {release}@1.")
        return ["gold", name, version, *parts]


class Looks(Part):
    def state(self, gold: str | Gold, purpose: Purpose, reason: str) -> models.Standing:
        """Say why you look at the test items of a release; what was refused opens for you."""
        body = {"gold": str(gold), "purpose": purpose, "reason": reason}
        return self._post(models.Standing, "looks", body)
