"""What a worker makes of answers, once: merged, measured, closed, stored; everybody else reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from labeling.agreement import agreement, conversations, measurements
from labeling.jobs import pending
from labeling.models import Measurement, Merge, PendingUpdate, Round
from labeling.settling import processing, settling
from labeling.work import annotations
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def nothing_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever measures or merges fails."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("This computes what a worker has to compute.")

    monkeypatch.setattr(agreement, "compute", refuse)
    monkeypatch.setattr(agreement, "summed_events", refuse)
    monkeypatch.setattr(conversations, "counted", refuse)
    monkeypatch.setattr(conversations, "judged", refuse)
    monkeypatch.setattr(conversations, "splits_of", refuse)
    monkeypatch.setattr(settling, "settle", refuse)


def submit(assignment: Any, sources: tuple[int, ...] = (0,)) -> None:
    annotations.submit(assignment, factories.save_of(factories.labels(sources)))


# --- what asks ----------------------------------------------------------------------------------


def test_no_page_and_no_api_measures(project, monkeypatch, request, lead):
    closed = factories.open_calibration(project, 2)
    factories.answer_all(closed)
    opened = factories.open_full(project, 2)
    factories.answer_all(opened)
    factories.measure(opened)
    factories.answer(factories.open_full(project, 1).assignments.first())
    request.getfixturevalue("nothing_computes")

    for address in (
        *(f"/projects/orders/rounds/{number}/agreement/" for number in (1, 2, 3)),
        "/projects/orders/rounds/2/agreement.csv",
        "/projects/orders/rounds/1/disagreements/",
        "/projects/orders/calibration/",
        "/projects/orders/progress/",
        "/projects/orders/adjudication/",
        "/projects/orders/gold/",
        "/projects/orders/",
    ):
        assert lead.get(address).status_code == 200, address
    assert lead.get("/api/projects/orders/rounds/2/agreement/").status_code == 200
    assert lead.get("/api/projects/orders/rounds/3/agreement/").status_code == 409


# --- the worker ---------------------------------------------------------------------------------


def test_a_worker_measures_a_round_once_and_closes_it(project, monkeypatch):
    opened = factories.open_calibration(project, 1)
    for assignment in opened.assignments.all():
        submit(assignment)
    measured = []
    compute = agreement.compute

    def count(*args: Any, **kwargs: Any) -> Any:
        measured.append(1)
        return compute(*args, **kwargs)

    monkeypatch.setattr(agreement, "compute", count)

    factories.work(project)
    factories.work(project)

    opened.refresh_from_db()
    assert (opened.state, len(measured)) == ("passed", 1)
    assert Merge.objects.get().state == "unanimous"
    assert opened.agreement["layers"]["extraction"] == Measurement.objects.get().figures
    assert not PendingUpdate.objects.exists()


def test_nothing_is_computed_in_a_transaction(project, monkeypatch, transactional_db):
    opened = factories.open_calibration(project, 1)
    for assignment in opened.assignments.all():
        submit(assignment)
    compute, settle = agreement.compute, settling.settle

    def outside(computing: Any) -> Any:
        def computed(*args: Any, **kwargs: Any) -> Any:
            assert not connection.in_atomic_block
            return computing(*args, **kwargs)

        return computed

    monkeypatch.setattr(agreement, "compute", outside(compute))
    monkeypatch.setattr(settling, "settle", outside(settle))

    release = factories.freeze(project)

    assert release.items.count() == 1
    assert release.agreement["rounds"][0]["value"] == 1.0
    assert Round.objects.get().state == "passed"


def test_answers_that_changed_meanwhile_leave_a_calibration_round_open(project, monkeypatch):
    opened = factories.open_calibration(project, 1)
    first, *others = opened.assignments.all()
    for assignment in (first, *others):
        submit(assignment)
    compute = agreement.compute

    def reopen_meanwhile(*args: Any, **kwargs: Any) -> Any:
        annotations.reopen(first)
        return compute(*args, **kwargs)

    monkeypatch.setattr(agreement, "compute", reopen_meanwhile)
    factories.work(project)
    monkeypatch.undo()

    opened.refresh_from_db()
    assert (opened.state, opened.agreement) == ("open", None)
    assert not Measurement.objects.exists()

    factories.answer(first)
    opened.refresh_from_db()
    assert opened.state != "open"


def test_a_worker_that_dies_loses_nothing(project, monkeypatch, django_capture_on_commit_callbacks):
    opened = factories.open_calibration(project, 1)
    with django_capture_on_commit_callbacks(execute=True):
        for assignment in opened.assignments.all():
            submit(assignment)

    def die(*args: Any, **kwargs: Any) -> Any:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(measurements, "_publish", die)
        with pytest.raises(SystemExit):
            factories.work(project)
    assert list(pending.due()) == [project.pk]

    factories.work(project)

    opened.refresh_from_db()
    assert opened.state != "open"


# --- gold ---------------------------------------------------------------------------------------


def test_what_comes_in_again_and_again_is_left_out_and_named(project, monkeypatch):
    first, second = factories.make_conversations(project, 2)
    opened = factories.open_full(project, 2)
    for assignment in opened.assignments.filter(conversation=first):
        factories.answer(assignment)
    late = list(opened.assignments.filter(conversation=second))
    catch_up = processing.catch_up

    def answer_afterwards(*args: Any, **kwargs: Any) -> None:
        catch_up(*args, **kwargs)
        for assignment in late:
            annotations.reopen(assignment)
            factories.answer(assignment)

    monkeypatch.setattr(processing, "catch_up", answer_afterwards)

    release = factories.freeze(project)

    assert [item.item_id for item in release.items.all()] == [first.external_id]
    (row,) = release.left_out
    assert row["conversation"] == second.external_id
    assert row["reason"]["code"] == "gold.answer_just_in"
