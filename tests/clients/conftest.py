"""Programs that talk to the whole server in this process, and a worker that works meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler

from assay_client import Client, Retries
from evaluation.models import Run
from evaluation.services.run import execution
from labeling.agreement import vectors
from labeling.agreement.matching.similarity import Ruler
from labeling.core import tokens
from labeling.gold import gold_requests
from labeling.models import Project
from labeling.settling import processing
from tests import wsgi
from tests.fakes import WordOverlap

ClientOf = Callable[[str], Client]


@pytest.fixture
def server() -> Iterator[WSGIHandler]:
    with wsgi.server() as application:
        yield application


@pytest.fixture
def word_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are as similar as the words that they share: no encoder is loaded."""
    monkeypatch.setattr(vectors, "ruler", lambda: Ruler(WordOverlap()))


@pytest.fixture
def client_of(server: WSGIHandler, people: dict[str, User]) -> Iterator[ClientOf]:
    """A client of a person, with a token of theirs."""
    opened: list[Client] = []

    def open_one(name: str) -> Client:
        token = tokens.issue(user=people[name], name="client").secret
        opened.append(new_client(server, token))
        return opened[-1]

    yield open_one
    for client in opened:
        client.close()


def new_client(server: WSGIHandler, token: str) -> Client:
    return Client(
        "http://localhost",
        token,
        transport=httpx.WSGITransport(server),
        retries=Retries(sleep=lambda _: worker()),
    )


def worker() -> None:
    """Whatever a worker would do by now."""
    for project in Project.objects.all():
        processing.process(project, ruler=lambda: vectors.ruler())
    for asked in gold_requests.all_waiting():
        gold_requests.answer(asked.project, ruler=lambda: vectors.ruler())
    for run in Run.objects.filter(scored_at=None, failure=None, cancelled=False, paused=False):
        execution.work(run.pk, uuid4())
