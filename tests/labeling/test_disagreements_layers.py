"""The discussion of layers whose units are not messages, and what its page reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labeling import tasks
from labeling.agreement import discussions, vectors
from labeling.jobs import pending
from labeling.models import Comment, Disagreement, Round
from tests import factories
from tests.layers import event, inferred, issue, question, rating
from tests.pages import page

URL = "/projects/orders/rounds/1/disagreements/"
SCHEMA = {"tracking": ["what"]}


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Round], None]:
    monkeypatch.setattr(vectors, "ruler", factories.ruler)

    def work(round_: Round) -> None:
        pending.request(round_.project, measure=round_)
        tasks.process_answers(round_.project_id)
        round_.refresh_from_db()

    return work


def answered(layers: list[str], given: Callable[[str], dict[str, Any]], number: int = 1) -> Round:
    schema = SCHEMA if "events" in layers else {}
    project = factories.make_project(layers=layers, event_schema=schema)
    opened = factories.open_calibration(project, number)
    return factories.answer_each(opened, given)


def own(who: str) -> dict[str, Any]:
    return factories.requirement(1, uid=f"{who}-1", sources=[2])


def with_issue(who: str) -> dict[str, Any]:
    issues = [issue(f"{who}-1", message=f"{who} finds it vague")] if who == "ana" else []
    return {"requirements": [own(who)], "issues": issues}


def with_inference(who: str) -> dict[str, Any]:
    labels = [inferred("Encrypt", triggered_by=[f"{who}-1"])] if who != "cleo" else []
    return {"requirements": [own(who)], "inferred_requirements": labels}


def with_rating(who: str) -> dict[str, Any]:
    scores = {"ana": 2, "ben": 0, "cleo": 2}
    return {"requirements": [own(who)], "ratings": [rating(f"{who}-1", scores[who])]}


def with_event(who: str) -> dict[str, Any]:
    return {"events": [event(0), *([event(2)] if who == "ben" else [])]}


def with_question(who: str) -> dict[str, Any]:
    return {"questions": [question("What", evidence=[0, 1] if who == "ana" else [0])]}


@pytest.mark.parametrize(
    ("layers", "given", "shown"),
    [
        (
            ["extraction", "validation"],
            with_issue,
            ["Order Tracking 1 · action", "ana found there", "ben cleo found nothing wrong there"],
        ),
        (
            ["extraction", "inference"],
            with_inference,
            ["Order Tracking 1", "ana inferred from it INF-001 Encrypt", "cleo inferred nothing"],
        ),
        (
            ["extraction", "relevance"],
            with_rating,
            ["ana rated it 2", "ben rated it 0", "cleo rated it 2"],
        ),
        (["events"], with_event, ["tracking: “track”", "ben marked it as", "ana cleo did not"]),
        (["qa"], with_question, ["ana marked it with", "ben cleo did not mark it"]),
    ],
)
def test_every_layer_is_discussed(people, signed_in, worker, layers, given, shown):
    closed = answered(layers, given)
    worker(closed)

    text = page(signed_in(people["rita"]), f"{URL}?layer={layers[-1]}")

    assert "0 of 1 discussed , 0 decided" in text
    assert all(one in text for one in shown)


def test_a_layer_that_needs_the_encoder_is_prepared_by_a_worker(people, signed_in, worker):
    closed = answered(["extraction", "validation"], with_issue)
    closed.measurements.all().delete()  # as before the migration

    before = page(signed_in(people["rita"]), f"{URL}?layer=validation")
    worker(closed)
    after = page(signed_in(people["rita"]), f"{URL}?layer=validation")

    assert "Being prepared." in before
    assert "0 of 1 discussed" in after


def test_what_is_said_and_decided_stays_with_its_layer(people, signed_in, worker):
    closed = answered(["extraction", "validation"], with_issue)
    worker(closed)
    (place,) = discussions.found_in(closed, "validation")
    client = signed_in(people["rita"])

    client.post(f"{URL}comment/", {"place": str(place), "body": "Is it vague?"})
    response = client.post(
        f"{URL}decide/", {"place": str(place), "outcome": "guideline", "note": "Say who tracks."}
    )

    assert response.headers["Location"] == f"{URL}?layer=validation&at={place}#d-{place}"
    row = Disagreement.objects.get()
    assert (row.layer, row.outcome) == ("validation", "guideline")
    assert Comment.objects.get().message_index == 2  # where the requirement comes from
    assert "1 of 1 discussed , 1 decided" in page(client, f"{URL}?layer=validation")
    link = f"/projects/orders/guidelines/new/?disagreement={row.pk}"
    body = client.get(link).context["form"].initial["body"]
    assert "c-001, Order Tracking 1 · action" in body
    assert "> Message 2 of c-001" in body
