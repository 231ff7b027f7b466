"""Where a project sends its events (leads)."""

from __future__ import annotations

from collections.abc import Sequence

from assay_client import models
from assay_client.paging import Rows
from assay_client.part import Part, said


class Webhooks(Part):
    def list(self) -> Rows[models.Webhook]:
        return self._rows(self._path("webhooks"), models.Webhook.model_validate)

    def get(self, id: int) -> models.Webhook:
        return models.Webhook.model_validate(self._transport.get(self._path("webhooks", id)))

    def create(self, url: str, verbs: Sequence[str] = ()) -> models.NewWebhook:
        """Send these events, or every event; the secret that signs them is shown this once."""
        body = {"url": url, "verbs": list(verbs)}
        path = self._path("webhooks")
        return models.NewWebhook.model_validate(self._transport.post(path, body))

    def change(
        self,
        id: int,
        *,
        url: str | None = None,
        verbs: Sequence[str] | None = None,
        active: bool | None = None,
    ) -> models.Webhook:
        """While it is not active, what happens is kept for later."""
        body = said(url=url, verbs=None if verbs is None else [*verbs], active=active)
        path = self._path("webhooks", id)
        return models.Webhook.model_validate(self._transport.patch(path, body))

    def rotate(self, id: int) -> models.NewWebhook:
        """A new secret; for a day the old one signs, too."""
        path = self._path("webhooks", id, "secret")
        return models.NewWebhook.model_validate(self._transport.post(path))

    def test(self, id: int) -> None:
        """Send a test; :meth:`deliveries` say what came of it."""
        self._transport.post(self._path("webhooks", id, "test"))

    def deliveries(self, id: int, *, state: str | None = None) -> Rows[models.Delivery]:
        """What was sent or waits to be, newest first."""
        path = self._path("webhooks", id, "deliveries")
        return self._rows(path, models.Delivery.model_validate, said(state=state))

    def send_again(self, id: int, delivery: int) -> models.Delivery:
        """Under its old id."""
        path = self._path("webhooks", id, "deliveries", delivery, "again")
        return models.Delivery.model_validate(self._transport.post(path))

    def remove(self, id: int) -> None:
        """With its log, and with what waits to be sent."""
        self._transport.delete(self._path("webhooks", id))
