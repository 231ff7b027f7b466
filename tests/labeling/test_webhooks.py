import json
import logging
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from config.logs import KeylessFormatter
from labeling.core import events
from labeling.jobs import outbox
from labeling.models import Event, Job, Round, Webhook, WebhookDelivery
from labeling.operation.rules.webhooks import MAX_ATTEMPTS, WAITS
from labeling.operation.views.docs import FOLDER
from labeling.operation.webhooks import sending, webhooks
from labeling.work import annotations
from tests import factories
from tests.webhook_receiver import signed_by

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def made(project, rita, receiver):
    """A webhook for every event; the event of its making is out of the way."""
    made = webhooks.add(project=project, url=receiver.url, by=rita)
    WebhookDelivery.objects.all().delete()
    return made


def happen(project, verb="project.changed", **data):
    return events.record(verb, project, project=project, actor=None, **data)


def work(made):
    """What the worker does once the address has rested and the waits are over."""
    Webhook.objects.update(resting_until=None)
    WebhookDelivery.objects.update(next_attempt_at=timezone.now())
    sending.work(made.pk, uuid4())


def test_a_receiver_is_told_what_happened_in_ids_and_signed(project, ana, made, receiver, settings):
    settings.PUBLIC_URL = "https://assay.example.org"
    round_ = factories.open_full(project, 1)
    mine = round_.assignments.get(annotator=ana)
    WebhookDelivery.objects.all().delete()
    receiver.received.clear()

    answered = factories.answer(mine)
    work(made)

    (received,) = receiver.received
    delivery = WebhookDelivery.objects.get()
    assert received.path == "/hook?key=receivers-own"
    assert json.loads(received.body) == {
        "id": delivery.message_id,
        "verb": "annotation.submitted",
        "project": "orders",
        "object": {
            "type": "annotation",
            "id": str(answered.pk),
            "url": f"{settings.PUBLIC_URL}/projects/orders/conversations/{mine.conversation_id}/",
            "conversation": mine.conversation.external_id,
        },
        "actor": "ana",
        "time": delivery.event.at.isoformat().replace("+00:00", "Z"),
    }
    assert received.headers["webhook-id"] == delivery.message_id
    assert abs(int(received.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert signed_by(made.secret, received)
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 204, 1)


def test_nobody_is_told_by_which_conversations_people_are_checked(project, made, receiver):
    (checked,) = factories.make_conversations(project, 1)
    happen(project, "checks.dropped", conversation=checked.external_id, purpose="honeypot")
    work(made)

    (received,) = receiver.received
    told = json.loads(received.body)["object"]
    assert told["conversation"] is None
    assert told["url"].startswith("/projects/orders/audit/")


def test_the_recipe_in_the_documents_knows_a_genuine_message(project, made, receiver):
    text = (FOLDER / "webhooks.md").read_text(encoding="utf-8")
    names = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.S)[0], names)
    happen(project)
    work(made)

    (got,) = receiver.received

    assert names["is_genuine"](made.secret, got.headers, got.body)
    assert not names["is_genuine"](made.secret, got.headers, got.body + b" ")
    late = got.headers | {"webhook-timestamp": "1"}
    assert not names["is_genuine"](made.secret, late, got.body)


def test_only_what_is_wanted_is_told(project, rita, receiver):
    made = webhooks.add(project=project, url=receiver.url, verbs=["gold.frozen"], by=rita)
    other = factories.make_project("other")

    factories.make_release(project, items=1)
    happen(other, "gold.frozen")
    work(made)

    told = [json.loads(one.body)["verb"] for one in receiver.received]
    assert told == ["webhook.added", "gold.frozen"]


@pytest.mark.parametrize(
    ("behaviour", "outcome", "status"),
    [
        (500, "refused", 500),
        (404, "refused", 404),
        ("redirect", "redirect", 302),
        ("hanging", "timeout", None),
        ("dripping", "timeout", None),
        ("reset", "unreachable", None),
    ],
)
def test_what_fails_is_tried_again_under_the_same_id(
    project, made, receiver, monkeypatch, behaviour, outcome, status
):
    happen(project)
    receiver.plan(behaviour)
    began = timezone.now()

    with monkeypatch.context() as patch:
        if outcome == "timeout":
            patch.setattr(sending, "LIMIT_SECONDS", 0.4)
        work(made)

    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.outcome, delivery.status) == ("waiting", outcome, status)
    assert delivery.next_attempt_at >= began + timedelta(seconds=WAITS[0])
    work(made)
    assert WebhookDelivery.objects.get().state == "delivered"
    first, second = receiver.received  # and nothing at the address of the redirect
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_it_is_given_up_in_the_end_and_sent_again_when_a_lead_asks(project, rita, made, receiver):
    happen(project)
    receiver.plan(*[500] * MAX_ATTEMPTS)

    for _ in range(MAX_ATTEMPTS + 2):
        work(made)

    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts) == ("failed", MAX_ATTEMPTS)
    assert len(receiver.received) == MAX_ATTEMPTS
    webhooks.resume(made, by=rita)
    work(made)
    again, told_of_it = receiver.received[MAX_ATTEMPTS:]
    assert again.headers["webhook-id"] == delivery.message_id
    assert json.loads(told_of_it.body)["verb"] == "webhook.resumed"


def test_the_log_forgets_what_is_done_for_long_and_never_what_waits(project, made):
    for _ in range(5):
        happen(project)
    old, young = (timezone.now() - timedelta(days=days) for days in (91, 89))
    states = [("delivered", old), ("failed", old), ("waiting", old), ("delivered", young)]
    for delivery, (state, at) in zip(WebhookDelivery.objects.order_by("pk"), states, strict=False):
        later = timezone.now() + timedelta(days=1)
        same = WebhookDelivery.objects.filter(pk=delivery.pk)
        same.update(state=state, tried_at=at, next_attempt_at=later)

    sending.work(made.pk, uuid4())

    kept = WebhookDelivery.objects.order_by("pk").values_list("state", flat=True)
    assert list(kept) == ["waiting", "delivered", "delivered"]


def test_an_address_that_fails_rests_as_a_whole(project, made, receiver):
    for _ in range(20):
        happen(project)
    receiver.plan(*[503] * 20)

    for _ in range(5):
        sending.work(made.pk, uuid4())

    assert len(receiver.received) == 1
    assert list(outbox.due()) == []


def test_a_worker_that_is_killed_while_it_sends_is_followed_by_another(
    project, made, receiver, monkeypatch
):
    happen(project)
    assert list(outbox.due()) == [made.pk]

    def killed(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sending, "_store", killed)
        with pytest.raises(KeyboardInterrupt):
            sending.work(made.pk, uuid4())
    sending.work(made.pk, uuid4())
    assert len(receiver.received) == 1  # the dead one still holds it
    Job.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))

    sending.work(made.pk, uuid4())

    assert WebhookDelivery.objects.get().state == "delivered"
    assert receiver.received[0].headers["webhook-id"] == receiver.received[1].headers["webhook-id"]


def test_the_answers_of_a_blind_round_are_told_when_it_has_closed(project, ana, made, receiver):
    round_ = factories.open_calibration(project, 1)
    first, *others = round_.assignments.all()
    WebhookDelivery.objects.all().delete()

    factories.answer(first)
    annotations.skip(others[0], factories.save_of({}), reason="half a chat")
    work(made)

    assert receiver.received == []
    assert not outbox.due().exists()
    Round.objects.filter(pk=round_.pk).update(state="passed", closed_at=timezone.now())
    work(made)
    verbs = [json.loads(one.body)["verb"] for one in receiver.received]
    assert verbs == ["annotation.submitted", "annotation.skipped"]
    assert b"half a chat" not in receiver.received[1].body


def test_a_receiver_that_is_gone_is_told_nothing_more_and_everything_when_it_is_back(
    project, rita, made, receiver
):
    happen(project)
    receiver.plan(410)
    work(made)
    happen(project)
    work(made)
    assert len(receiver.received) == 1
    assert Event.objects.filter(verb="webhook.gone").count() == 1

    webhooks.resume(made, by=rita)
    work(made)

    told = [json.loads(one.body)["verb"] for one in receiver.received[1:]]
    assert sorted(told) == ["project.changed"] * 2 + ["webhook.gone", "webhook.resumed"]


def test_a_removed_webhook_leaves_no_secret_and_stops_nobodys_work(project, rita, made, receiver):
    happen(project)
    webhooks.remove(made, by=rita)
    outbox.add(Event.objects.first(), project, [made])  # somebody was at it

    work(made)

    left = Webhook.objects.get()
    assert (left.url, left.secret) == ("", "")
    assert receiver.received == []


def test_secrets_and_addresses_stand_in_no_log_and_no_event(project, rita, made, receiver, caplog):
    with caplog.at_level(logging.DEBUG):
        receiver.plan(500, 410)
        happen(project)
        work(made)
        work(made)

    written = caplog.text + str(list(Event.objects.values()))
    assert "refused (500)" in written
    for secret in (made.secret, "receivers-own"):
        assert secret not in written
    record = logging.LogRecord("x", logging.INFO, "", 0, f"oops {made.secret}", None, None)
    assert made.secret[6:] not in KeylessFormatter("%(message)s").format(record)
