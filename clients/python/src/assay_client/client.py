"""The way in: an address and a token."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

import httpx

from assay_client import models
from assay_client.gold import GoldReleases, Looks
from assay_client.labeling import OwnWork
from assay_client.projects import ProjectPart, Projects
from assay_client.runs import Pipelines, Runs
from assay_client.transport import Retries, Transport

VERSION = "0.2.0"


class Client:
    """An Assay server, as one person sees it.

    >>> with Client("https://assay.example.org", token="assay_…") as assay:  # doctest: +SKIP
    ...     for project in assay.projects.list():
    ...         print(project.slug)

    It may be used by several threads. There is no asynchronous one: a script waits for a worker
    most of the time, and what is worth doing at the same time fits into a pool of threads.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """``timeout``: seconds without a byte. ``transport``: how bytes travel, for tests."""
        http = httpx.Client(
            base_url=url,
            headers={
                "Authorization": f"Bearer {token}",
                "Accept": "application/json, */*;q=0.5",
                "User-Agent": f"assay-client/{VERSION}",
            },
            timeout=timeout,
            transport=transport,
        )
        self._url = url
        self._transport = Transport(http, retries or Retries())
        self.projects = Projects(self._transport)
        self.work = OwnWork(self._transport)
        self.gold = GoldReleases(self._transport)
        self.looks = Looks(self._transport)
        self.pipelines = Pipelines(self._transport)
        self.runs = Runs(self._transport)

    @classmethod
    def from_environment(cls) -> Self:
        """The server of ``ASSAY_URL``, with the token of ``ASSAY_TOKEN``."""
        return cls(os.environ["ASSAY_URL"], os.environ["ASSAY_TOKEN"])

    def project(self, slug: str) -> ProjectPart:
        """Everything of one project. Asks the server nothing yet."""
        return self.projects[slug]

    def status(self) -> models.Status:
        """What workers do and have to do (administrators)."""
        return models.Status(self._transport.get("/api/status/"))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self._url}>"
