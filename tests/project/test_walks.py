"""The walks of CONTRIBUTING are what runs: each stage once, in that order, no step back."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from evaluation.services.launch.launch import LaunchRequest, launch
from evaluation.services.run import execution, yardsticks
from labeling import tasks
from labeling.agreement.matching.similarity import Ruler
from labeling.gold import gold, gold_requests
from labeling.models import Assignment, Project
from tests import factories
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db

STEP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)
COMPUTE = {
    "labeling.agreement.agreement.measure",
    "labeling.settling.settling.settle_answers",
}


def walks() -> dict[str, list[list[str]]]:
    """By heading, its numbered lists."""
    text = (settings.BASE_DIR / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.partition("## Three walks through the code\n")[2].partition("\n## ")[0]
    sections = re.split(r"^### (.+)$", part, flags=re.MULTILINE)[1:]
    return {
        heading: [STEP.findall(block) for block in _lists(body)]
        for heading, body in zip(sections[::2], sections[1::2], strict=True)
    }


def _lists(body: str) -> list[str]:
    """A list begins again at 1."""
    blocks = re.split(r"(?=^1\. )", body, flags=re.MULTILINE)
    return [block for block in blocks if block.startswith("1. ")]


def entered(do: Callable[[], Any]) -> list[str]:
    """The functions of the product that were entered meanwhile, in order."""
    names: list[str] = []
    resumed: set[FrameType] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith(("labeling.", "evaluation.")):
            return
        if frame.f_code.co_flags & CO_GENERATOR:
            if frame in resumed:
                return
            resumed.add(frame)
        names.append(f"{module}.{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(before)
    return names


def holds(steps: list[str], names: list[str]) -> None:
    """Each step is entered, and for the first time after the one before it; no step twice."""
    seen = [name for name in names if name in steps]
    assert list(dict.fromkeys(seen)) == steps
    assert {name: seen.count(name) for name in steps} == dict.fromkeys(steps, 1)


def test_every_step_exists() -> None:
    for parts in walks().values():
        for step in (step for part in parts for step in part):
            module, name = _module_of(step)
            assert callable(reduce(getattr, name.split("."), import_module(module))), step


def _module_of(step: str) -> tuple[str, str]:
    *path, last = step.split(".")
    if path[-1][:1].isupper():
        *path, owner = path
        last = f"{owner}.{last}"
    return ".".join(path), last


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.agreement.vectors.ruler", lambda: Ruler(WordOverlap()))


def send(person: User, method: str, assignment: Assignment, action: str = "") -> None:
    client = Client()
    client.force_login(person)
    body = {
        "base_version": 0,
        "client": str(uuid4()),
        "seq": 1,
        "payload": factories.labels([0]),
        "empty": False,
        "active_seconds": 1,
    }
    response = client.generic(
        method, f"/api/annotations/{assignment.pk}/{action}", json.dumps(body), "application/json"
    )
    assert response.status_code == 200, response.content


def test_a_keystroke_to_a_revision(project: Project, ana: User) -> None:
    (steps,) = walks()["A keystroke to a revision"]
    mine = factories.open_full(project, 1).assignments.get(annotator=ana)

    holds(steps, entered(lambda: send(ana, "PUT", mine)))


def test_a_submission_to_stored_agreement_and_gold(
    project: Project, rita: User, worker: None
) -> None:
    submitted, processed, frozen = walks()["A submission to stored agreement and gold"]
    *others, last = factories.open_calibration(project, 1).assignments.select_related("annotator")
    for assignment in others:
        factories.answer(assignment)

    holds(submitted, entered(lambda: send(last.annotator, "POST", last, "submit/")))
    holds(processed, entered(lambda: tasks.process_answers(project.pk)))

    gold_requests.request_freeze(project=project, layer="extraction", by=rita)
    names = entered(lambda: gold_requests.work(project.pk, uuid4()))
    holds(frozen, names)
    assert not COMPUTE & set(names)
    assert project.gold_releases.get().items.count() == 1


def test_a_gold_item_to_a_score(project: Project, ana: User, noor: User) -> None:
    """A release whose floors are measured, as they are soon after freezing."""
    (steps,) = walks()["A gold item to a score"]
    factories.answer_all(factories.open_full(project, 1, annotators=[ana], overlap=1))
    release = gold.freeze(project=project, layer="extraction", ruler=Ruler(WordOverlap()))
    yardsticks.measure_release(release.pk)
    request = LaunchRequest(release=release, pipeline="everything", requested_by=noor)

    names = entered(lambda: execution.work(launch(request, queue=False).pk, uuid4()))

    holds(steps, names)
