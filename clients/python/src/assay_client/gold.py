"""Gold releases, and looks at their test items."""

from __future__ import annotations

from typing import Literal

from assay_client import models
from assay_client.paging import Rows
from assay_client.part import Part, said

Purpose = Literal["labels", "export", "run", "results", "compare"]


class GoldReleases(Part):
    def list(self) -> Rows[models.Gold]:
        """The releases that you may read, newest first."""
        return self._rows(self._path("gold"), models.Gold.model_validate)

    def get(self, name: str, version: int) -> models.Gold:
        path = self._path("gold", name, version)
        return models.Gold.model_validate(self._transport.get(path))


class Looks(Part):
    def list(self, gold: str | None = None) -> Rows[models.Look]:
        """The looks at test items of releases that you may read, newest first."""
        return self._rows(self._path("looks"), models.Look.model_validate, said(gold=gold))

    def state(self, gold: str, purpose: Purpose, reason: str) -> models.LookStanding:
        """Say why you look at the test items of a release; what was refused opens for you."""
        body = {"gold": gold, "purpose": purpose, "reason": reason}
        return models.LookStanding.model_validate(self._transport.post(self._path("looks"), body))
