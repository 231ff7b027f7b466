"""Rounds, work that is checked, and those who are told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from labeling.agreement.matching.similarity import Ruler
from labeling.models import Assignment, GoldRelease, Membership, Project, Round
from labeling.operation.webhooks import sending
from tests import factories, webhook_receiver
from tests.labeling.agreement import ANA, BEN
from tests.webhook_receiver import Receiver


@pytest.fixture
def ruler() -> Ruler:
    return factories.ruler()


@pytest.fixture
def lead(rita: User, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(rita)


@pytest.fixture
def annotator(ana: User, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(ana)


@pytest.fixture
def researcher(noor: User, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(noor)


@pytest.fixture
def release(project: Project) -> GoldRelease:
    """Three conversations that everybody labeled alike."""
    return factories.make_release(project)


@pytest.fixture
def own_folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def newcomer(project: Project) -> User:
    """Dan comes when gold is frozen already."""
    factories.make_release(project, items=6)
    dan = User.objects.create_user("dan", password=factories.PASSWORD)
    Membership.objects.create(project=project, user=dan, role="annotator")
    return dan


@pytest.fixture
def full(project: Project) -> Round:
    return factories.open_full(project, 1)


@pytest.fixture
def mine(full: Round, ana: User) -> Assignment:
    return full.assignments.get(annotator=ana)


@pytest.fixture
def blind(project: Project) -> Round:
    return factories.open_calibration(project, 1)


@pytest.fixture
def example(project: Project, people: dict[str, User]) -> Round:
    """Ana and Ben on one conversation of eight messages."""
    factories.make_conversations(project, 1, messages=8)
    opened = factories.open_calibration(project, 1, annotators=[people["ana"], people["ben"]])
    return factories.answer_each(opened, lambda who: ANA if who == "ana" else BEN)


@pytest.fixture
def receiver(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    monkeypatch.setattr(sending, "LIMIT_SECONDS", 30)
    with webhook_receiver.running() as server:
        yield server
