from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.db import OperationalError, connection

from evaluation.forms import LaunchForm
from evaluation.models import CaseRun, Run
from evaluation.services.launch import batches, config_files, storing
from evaluation.services.launch.launch import LaunchRefused
from evaluation.services.work import slots, steering
from labeling.domain.facts import Fact
from labeling.models import Event, GoldRelease
from labeling.operation import health
from tests.refusals import refused

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pipeline": "evrything"}, "Did you mean “everything”"),
        ({"config": {"confidense": 1}}, "Did you mean “confidence”"),
        ({"config": {"confidence": 2}}, "Setting “confidence”"),
        ({"pipeline": "events-local"}, "these do: everything, nothing, requirements-agent, requ"),
        ({"split": "dve"}, "There is no split “dve”. Known are: train, dev, test."),
        ({"split": "train"}, "There is nothing to measure"),
        ({"split": "test"}, "Say why you look at test items"),
        ({"split": "test", "reason": "  "}, "Say why you look at test items"),
        ({"split": "test", "reason": "\u200b \ufeff"}, "Say why you look at test items"),
        ({"repetitions": 0}, "at least once"),
    ],
)
def test_a_launch_that_makes_no_sense_is_refused_in_a_sentence(
    launch: Any, options: dict[str, Any], sentence: str
) -> None:
    with refused(LaunchRefused, match=sentence):
        launch(**options)

    assert not Run.objects.exists()


def test_a_launch_takes_only_the_items_of_its_split(make_release: Any, launch: Any) -> None:
    release = make_release(6, name="mixed", splits=("train", "dev", "test"))

    run = launch(release=release, split="test", reason="Final figures")

    assert sorted(run.cases.values_list("item__split", flat=True)) == ["test", "test"]
    assert run.reason == "Final figures"


def test_a_launch_is_in_the_audit_log(launch: Any, people: Any) -> None:
    run = launch()

    event = Event.objects.get(verb="run.launched")
    assert (event.object_type, event.object_id) == ("run", str(run.pk))
    assert event.actor == people["noor"]


def test_a_worker_is_told_when_the_launch_is_stored(
    launch: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(steering, "wake", woken.append)

    with django_capture_on_commit_callbacks(execute=True):
        run = launch(queue=True)
        assert woken == []

    assert woken == [run.pk]


def test_a_queue_that_is_away_keeps_no_run_waiting(
    launch: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def away(*args: Any, **options: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("celery.current_app.send_task", away)

    with django_capture_on_commit_callbacks(execute=True):
        run = launch(queue=True)

    health.beat("a worker")
    slot = slots.take("a worker")
    assert slot is not None
    assert slot.run_id == run.pk


def test_a_large_launch_is_stored_in_parts_and_is_a_failed_run_until_all_are_there(
    launch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "AT_ONCE", 2)
    monkeypatch.setattr(storing, "PAUSE_SECONDS", 0.0)

    whole = launch()
    assert Run.objects.get(pk=whole.pk).failure is None
    assert whole.cases.count() == 3

    def broken(*args: Any, **data: Any) -> None:
        raise OperationalError("the server has gone")

    monkeypatch.setattr(steering, "record", broken)
    with pytest.raises(OperationalError):
        launch()
    left = Run.objects.exclude(pk=whole.pk).get()
    assert left.failure == Fact("launch.broken_off")
    assert left.cases.count() == 2
    assert not Event.objects.filter(verb="run.launched", object_id=str(left.pk)).exists()
    for again in (steering.retry, steering.rescore):  # on some of the cases, as if they were all
        with refused(steering.RunRefused, match="broke off"):
            again(left, by=None)


def test_open_cases_are_stored_as_the_model_would_store_them(launch: Any) -> None:
    run = launch(repetitions=2)

    rows = list(run.cases.order_by("pk").select_related("item"))
    assert [(row.repetition, row.item.position) for row in rows] == [
        (repetition, position) for repetition in (1, 2) for position in range(3)
    ]
    for row in rows:
        made = CaseRun(run=run, item=row.item, repetition=row.repetition, pk=row.pk)
        for field in CaseRun._meta.concrete_fields:
            assert getattr(row, field.attname) == getattr(made, field.attname), field.name


def test_a_launch_on_test_items_that_breaks_off_is_a_look_and_cannot_be_tried_again(
    make_release: Any, launch: Any, signed_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trying it again would measure some of the items, without anything on record."""
    release = make_release(3, name="secret", splits=("test",))
    monkeypatch.setattr(storing, "AT_ONCE", 1)
    monkeypatch.setattr(storing, "PAUSE_SECONDS", 0.0)

    def broken(*args: Any, **data: Any) -> None:
        raise OperationalError("the server has gone")

    monkeypatch.setattr(steering, "record", broken)
    with pytest.raises(OperationalError):
        launch(release=release, split="test", reason="Final figures")
    monkeypatch.undo()

    left = Run.objects.get()
    assert left.look is not None
    assert (left.look.n_items, left.look.reason) == (3, "Final figures")
    with refused(steering.RunRefused, match="launch the run again"):
        steering.retry(left, by=None)
    page = signed_in("noor").get(left.get_absolute_url(), follow=True)
    assert not page.context["can_retry"]


def test_launches_of_a_form_and_of_a_file_let_others_write_in_between(
    make_release: Any, people: Any, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[int] = []
    monkeypatch.setattr(storing, "AT_ONCE", 1)
    note = lambda: pauses.append(len(connection.savepoint_ids))  # noqa: E731
    monkeypatch.setattr(storing, "let_others_write", note)
    outside, releases = len(connection.savepoint_ids), GoldRelease.objects.all()
    first, _ = make_release(2, name="first"), make_release(2, name="second")
    sealed = make_release(1, name="sealed", splits=("test",))
    asked = {"pipeline": "everything", "split": "open"}
    file = {
        "datasets": {"one": {"gold": "first"}, "two": {"gold": "second"}},
        "agents": {"all": {"pipeline": "everything"}},
    }

    form = LaunchForm({**asked, "release": first.pk}, releases=releases)
    assert form.is_valid()
    assert form.launch(by=people["noor"])
    assert (
        len(batches.launch(config_files.read(write(yaml.safe_dump(file), name="runs.yaml")))) == 2
    )
    assert pauses == [outside] * 3

    refusing = LaunchForm({**asked, "release": sealed.pk}, releases=releases)
    assert refusing.is_valid()
    assert refusing.launch(by=people["noor"]) is None
    assert refusing.errors
    assert Run.objects.count() == 3
