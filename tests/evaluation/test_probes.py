"""Judges are tried with probes whose verdict is known."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from evaluation import probes
from evaluation.models import JudgeCertificate, Probing
from evaluation.probes import Expectation
from evaluation.services.judging import panels, probings
from evaluation.services.language_models import metering
from labeling.models import Project
from labeling.words import in_english
from tests.evaluation.answers import verdict
from tests.evaluation.probing import KIND, decent, probe
from tests.llm_server import Body, LanguageServer

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_every_trick_is_there_for_every_kind_that_can_judge_it() -> None:
    result = probes.load()
    assert set(probes.TRICKS) == {probe.trick for probe in result.probes}
    for kind in panels.KINDS:
        tricks = {one.trick for one in result.of(kind)}
        assert {"good", "paraphrase", "vague", "order in the answer"} <= tricks
    assert {"echo", "empty"} <= {one.trick for one in result.of("relevance")}
    assert {"wrong", "order in a message", "honest"} <= {one.trick for one in result.of(KIND)}
    assert len({probe.id for probe in result.probes}) == len(result.probes)


@pytest.mark.parametrize(
    ("expected", "score", "holds"),
    [
        (Expectation(at_least=7), 7, True),
        (Expectation(at_least=7), 6.9, False),
        (Expectation(at_most=3), 3, True),
        (Expectation(at_most=3), 3.1, False),
        (Expectation(within=2, of="good"), 6, True),
        (Expectation(within=2, of="good"), 5.9, False),
        (Expectation(within=2, of="gone"), 8, False),
        (Expectation(at_most=3), None, False),  # a judge that fails has failed the probe
    ],
)
def test_expectations(expected: Expectation, score: float | None, holds: bool) -> None:
    assert expected.holds(score, {"good": 8.0}) is holds


def test_a_judge_that_praises_nothing_or_cannot_be_read_is_caught_too(
    server: LanguageServer, project: Project
) -> None:
    for said, tricks in (
        (lambda body: verdict(0), {"good", "honest", "half"}),
        (lambda body: "Ten points!", set(probes.TRICKS) - {"empty", "echo"}),
    ):
        server.default = said
        (probing,) = probe(project)
        assert probing.state == Probing.State.DONE
        marked = probes.marked(KIND, {reply["id"]: reply for reply in probing.results})
        assert {one["trick"] for one in marked if not one["held"]} == tricks


def test_probes_are_asked_anew_and_a_broken_off_probing_pays_nothing_twice(
    server: LanguageServer, project: Project
) -> None:
    server.default = decent
    n = len(probes.load().of(KIND))
    probe(project)
    probe(project)
    assert len(server.requests) == 2 * n

    server.plan(*[decent] * 4)
    server.default = "no_quota"
    (stopped,) = probe(project)
    assert stopped.state == Probing.State.FAILED
    assert "quota" in in_english(stopped.error)
    assert len(stopped.results) == 4
    assert stopped.usage["calls"] == 5
    assert not JudgeCertificate.objects.exists()

    (killed,) = probings.request(project, kinds=[KIND], by=None, queue=False)
    assert probings.request(project, kinds=[KIND], by=None, queue=False) == [killed]
    server.default = decent
    before = len(server.requests)

    asked_so_far: list[int] = []

    def break_off() -> None:
        asked_so_far.append(len(server.requests))
        if len(asked_so_far) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probings.work(killed.pk, uuid4(), progress=break_off)
    assert len(server.requests) == before + 3
    probings.work(killed.pk, uuid4())
    assert len(server.requests) == before + n
    assert Probing.objects.get(pk=killed.pk).state == Probing.State.DONE

    (lost,) = probings.request(project, kinds=[KIND], by=None, queue=False)
    taken = partial(Probing.objects.filter(pk=lost.pk).update, owner=uuid4())
    probings.work(lost.pk, uuid4(), progress=taken)  # somebody else took it over
    assert len(server.requests) == before + n + 2
    assert Probing.objects.get(pk=lost.pk).state == Probing.State.RUNNING


def test_each_probe_has_the_time_of_a_case_to_itself(
    server: LanguageServer,
    project: Project,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, clock = len(probes.load().of(KIND)), [0.0]
    monkeypatch.setattr(metering, "monotonic", lambda: clock[0])
    settings.CASE_TIMEOUT_SECONDS = 2

    def slow(body: Body) -> Any:
        clock[0] += 2.1 / n
        return decent(body)

    server.default = slow
    (done,) = probe(project)

    assert (done.state, done.error) == (Probing.State.DONE, None)


@pytest.mark.postgres
def test_a_probing_that_meets_a_fault_of_ours_ends_and_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch, server: LanguageServer
) -> None:
    """Or a worker would begin it again with every sweep."""

    def broken(*args: Any) -> Any:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(probings, "_ask", broken)
    (probing,) = probings.request(project, kinds=[KIND], by=None, queue=False)
    with suppress(ZeroDivisionError):
        probings.work(probing.pk, uuid4())

    probing.refresh_from_db()
    assert probing.state == Probing.State.FAILED
    assert "a fault" in in_english(probing.error)


def test_a_probing_keeps_to_its_budget(server: LanguageServer, project: Project) -> None:
    server.default = decent
    (found,) = probe(project, budget_tokens=200)  # 110 a call
    assert found.state == Probing.State.FAILED
    assert "budget" in in_english(found.error)
    assert len(server.requests) == 2
