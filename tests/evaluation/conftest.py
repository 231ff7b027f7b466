"""People, a frozen release of any size, and a pipeline whose behaviour a test decides."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluation.models import Answer, CaseRun, Judgement, Run
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.usage import Spent
from evaluation.services.run import execution
from evaluation.services.work import steering
from labeling.agreement import vectors
from labeling.agreement.matching.similarity import Ruler
from labeling.models import GoldRelease, Guideline, Membership, Project
from pipelines import registry
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import Endpoint
from pipelines.types import Case, Output
from tests import llm_server
from tests.evaluation import launching
from tests.evaluation.asking import ENTRY as ASKING
from tests.evaluation.chat_gold import content
from tests.evaluation.events import make_events_release
from tests.evaluation.releases import freeze, item, said
from tests.fakes import WordOverlap
from tests.layers import REQUIREMENT
from tests.llm_server import LanguageServer


@pytest.fixture(autouse=True)
def word_overlap_ruler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores without loading the real encoder."""
    monkeypatch.setattr(vectors, "ruler", lambda: Ruler(WordOverlap()))


@pytest.fixture
def people(db: None) -> dict[str, User]:
    names = ("ana", "ben", "rita", "noor", "olga")
    users = {name: User.objects.create(username=name) for name in names}
    users["admin"] = User.objects.create(username="admin", is_staff=True, is_superuser=True)
    return users


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    project = Project.objects.create(slug="demo", name="Demo")
    roles = {"ana": "annotator", "ben": "annotator", "rita": "lead", "noor": "researcher"}
    for name, role in roles.items():
        Membership.objects.create(project=project, user=people[name], role=role)
    Guideline.objects.create(project=project, version=2, body="Label what they want.")
    return project


def requirement(number: int = 1, **fields: Any) -> dict[str, Any]:
    return REQUIREMENT | {
        "uid": f"u{number}",
        "id": f"REQ-{number:03d}",
        "title": f"Login {number}",
        "actor": "User",
        "action": f"Sign in by way {number}",
        "acceptance_criteria": ["It opens", "It closes"],
        "rationale": "Message 0 asks for it",
        "confidence": 0.8,
        **fields,
    }


MakeRelease = Callable[..., GoldRelease]


@pytest.fixture
def make_release(project: Project) -> MakeRelease:
    def make(cases: int = 3, *, name: str = "demo", splits: tuple[str, ...] = ("dev",)) -> Any:
        contents = [_content(number, splits[number % len(splits)]) for number in range(cases)]
        return freeze(project, "extraction", name=name, contents=contents)

    return make


def _content(number: int, split: str) -> dict[str, Any]:
    talk = said((f"I must sign in by way {number}", "Noted."), roles=("user", "analyst"))
    at = {"guideline_version": 2, "submitted_at": "2026-01-02T03:04:05Z"}
    provenance = {
        "how": "majority",
        "annotators": [{"username": name, **at} for name in ("ana", "ben")],
        "labels": {f"u{number}": _origin(number)},
        "adjudicated_by": None,
        "reason": None,
        "guideline_version": 2,
    }
    more = {"schema_version": 1, "domain": "shop", "difficulty": "easy", "split": split}
    gold = {"requirements": [requirement(number)]}
    return item(f"case-{number:03d}", "extraction", gold, talk, provenance=provenance, **more)


def _origin(number: int) -> dict[str, Any]:
    """As a freeze keeps it: one person has no such label, another had it in other words."""
    other = requirement(number, action="Be let in")
    dissent = [
        {"annotator": "ana", "label": other, "differs": ["action"]},
        {"annotator": "ben", "label": None, "differs": []},
    ]
    return {"how": "majority", "by": ["ana"], "dissent": dissent}


@pytest.fixture
def release(make_release: MakeRelease) -> GoldRelease:
    return make_release(3)


class Scripted:
    """A pipeline that does what the test says."""

    name, version = "everything", "1"
    config: dict[str, Any] = {}

    def __init__(self, behave: Callable[[Case], Output]) -> None:
        self.behave = behave
        self.seen: list[str] = []

    def run(self, case: Case) -> Output:
        self.seen.append(case.case_id)
        return self.behave(case)


def nothing(case: Case) -> Output:
    return {"requirements": [], "model": None}


def nothing_in_every(nth: int) -> Callable[[Case], Output]:
    """A pipeline that finds nothing in every n-th conversation."""
    return lambda case: perfect(case) if int(case.case_id[-3:]) % nth else nothing(case)


def perfect(case: Case) -> Output:
    number = int(case.case_id[-3:])
    return {"requirements": [requirement(number)], "model": None}


def fails(
    error: BaseException, *, at: str = "", otherwise: Callable[[Case], Output] = perfect
) -> Callable[[Case], Output]:
    """At every case, or at the one of this id or question alone."""

    def behave(case: Case) -> Output:
        if not at or at in (case.case_id, case.question):
            raise error
        return otherwise(case)

    return behave


def sometimes_right() -> Callable[[Case], Output]:
    """The first case is right in its first try alone, the second always, the others never."""
    tries: Counter[str] = Counter()

    def behave(case: Case) -> Output:
        tries[case.case_id] += 1
        number = int(case.case_id[-1])
        is_right = number == 1 or (number == 0 and tries[case.case_id] == 1)
        return perfect(case) if is_right else {"requirements": [], "model": None}

    return behave


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Case], Output]], Scripted]:
    def use(behave: Callable[[Case], Output]) -> Scripted:
        pipeline = Scripted(behave)
        monkeypatch.setattr(registry, "build", lambda *_, **__: pipeline)
        return pipeline

    return use


@pytest.fixture
def launch(release: GoldRelease, people: dict[str, User]) -> Callable[..., Run]:
    def launch(**options: Any) -> Run:
        given = {"pipeline": "everything", "requested_by": people["noor"], "queue": False}
        return launching.launch(options.pop("release", release), **(given | options))

    return launch


@pytest.fixture
def queued(launch: Callable[..., Run]) -> Callable[..., Run]:
    def queue(**options: Any) -> Run:
        run = launch(**options)
        steering.wake(run.pk)
        return run

    return queue


def work(run: Run) -> Run:
    execution.work(run.pk, uuid4())
    hold_spending_to_its_pieces(run)
    return Run.objects.with_progress().get(pk=run.pk)


def hold_spending_to_its_pieces(run: Run) -> None:
    """Whatever happened to the run, what it has spent is the sum over its rows."""
    summed = Spent()
    for model, of_run in ((CaseRun, "run"), (Answer, "case__run"), (Judgement, "judging__run")):
        for usage in model.objects.filter(**{of_run: run}).values_list("usage", flat=True):
            summed += Spent.read(usage)
    stored = budgets.spent(run.pk)
    assert bool(stored.estimated) == bool(summed.estimated)
    for field in fields(Spent):
        one, other = (getattr(each, field.name) for each in (stored, summed))
        if field.name in ("models", "schema_by"):
            assert set(one) == set(other)
        elif field.name != "estimated":  # seconds of each piece of work are rounded
            assert one == pytest.approx(other, abs=0.1 if field.name == "seconds" else None)


@pytest.fixture
def finished(launch: Callable[..., Run]) -> Callable[..., Run]:
    """A run that is executed and scored."""

    def finish(**options: Any) -> Run:
        return work(launch(**options))

    return finish


@pytest.fixture
def signed_in(people: dict[str, User]) -> Callable[[str], Client]:
    def sign_in(name: str) -> Client:
        client = Client()
        client.force_login(people[name])
        return client

    return sign_in


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageServer]:
    """A language model's server, and the settings that name it."""
    monkeypatch.setattr("pipelines.chat.client.FIRST_WAIT_SECONDS", 0.0)
    made: list[OpenAIModel] = []

    @cache
    def client_of(endpoint: Endpoint) -> OpenAIModel:
        made.append(OpenAIModel(endpoint))
        return made[-1]

    monkeypatch.setattr(endpoints, "client_of", client_of)
    with llm_server.named_by(settings) as server:
        server.retry_after = "0"
        yield server
        for client in made:
            client.close()


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that asks a language model."""
    monkeypatch.setitem(registry.PIPELINES, "asking", ASKING)


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without loading the real encoder."""
    monkeypatch.setattr(execution, "MiniLM", lambda *_: WordOverlap())


@pytest.fixture
def news(project: Project) -> GoldRelease:
    return make_events_release(project)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A file of predictions, one a line."""

    def write(*lines: Any, name: str = "predictions.jsonl") -> Path:
        path = tmp_path / name
        text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def chat(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., GoldRelease]:
    """A release of one chat; the scripted pipeline may answer it."""
    entry = registry.PIPELINES["everything"]
    able = replace(entry, layers=("extraction", "qa", "arc"))
    monkeypatch.setitem(registry.PIPELINES, "everything", able)

    def make(layer: str = "qa", *, split: str = "train") -> GoldRelease:
        return freeze(project, layer, name="chat", contents=[content(layer, split)])

    return make
