import html
from uuid import uuid4

import pytest

from labeling.core import events
from labeling.models import Event, Webhook, WebhookDelivery
from labeling.operation.webhooks import sending, webhooks
from tests import factories
from tests.pages import page, queries
from tests.webhook_receiver import running

pytestmark = pytest.mark.django_db

HERE = "/projects/orders/webhooks/"
URL = "https://hooks.example.org/in?key=receivers-own"


@pytest.fixture
def made(project, rita):
    return webhooks.add(project=project, url=URL, by=rita)


def test_a_lead_makes_one_and_sees_its_secret_once(project, lead):
    sent = {"url": URL, "verbs": ["gold.frozen"]}
    response = lead.post(HERE, sent, follow=True)

    stored = Webhook.objects.get()
    assert response.redirect_chain == [(HERE, 302)]  # reloading the page makes no second one
    assert stored.secret in html.unescape(response.content.decode())
    assert response["Cache-Control"].count("no-store")
    assert (stored.url, stored.verbs, stored.active) == (URL, ["gold.frozen"], True)
    shown = page(lead, HERE)
    assert "hooks.example.org" in shown
    assert "1 event" in shown


def test_the_secret_and_the_key_of_the_receiver_are_shown_nowhere_else(
    project, made, lead, signed_in, noor, admin
):
    of_lead = [
        HERE,
        f"{HERE}{made.pk}/",
        "/projects/orders/audit/",
        "/projects/orders/tables/audit.csv",
    ]
    of_staff = [f"/admin/labeling/webhook/{made.pk}/change/", "/admin/labeling/webhook/"]
    of_staff.append("/admin/labeling/event/")
    for client, addresses in [
        (lead, of_lead),
        (signed_in(noor), ["/projects/orders/audit/"]),
        (signed_in(admin), of_staff),
    ]:
        for address in addresses:
            response = client.get(address)
            assert response.status_code == 200, address
            said = html.unescape(response.getvalue().decode())
            assert made.secret not in said, address
            assert "receivers-own" not in said, address


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"url": "ftp://example.org/"}, "begins with https:// or http://"),
        ({"url": "http://10.0.0.1/"}, "lies in a private network"),
        ({"url": "http://10.0.0.1/"}, "ASSAY_WEBHOOK_ALLOW_PRIVATE"),
        ({"url": "https://example.org/", "verbs": ["no.such"]}, "no.such"),
        ({}, "This field is required"),
    ],
)
def test_what_cannot_be_used_is_said_at_its_field(project, lead, sent, says):
    response = lead.post(HERE, sent)

    assert response.status_code == 400
    assert says in html.unescape(response.content.decode())
    assert not Webhook.objects.exists()


def test_a_project_has_no_more_than_each_event_can_be_written_down_for(project, rita, lead):
    for _ in range(webhooks.MOST):
        webhooks.add(project=project, url=URL, by=rita)

    response = lead.post(HERE, {"url": URL})

    assert "20 webhooks at most" in response.content.decode()
    assert Webhook.objects.count() == webhooks.MOST


def test_the_first_message_shows_at_once_what_came_of_it(project, rita, lead, settings):
    settings.WEBHOOK_ALLOW_PRIVATE = True
    with running() as receiver:
        receiver.plan(500)
        made = webhooks.add(project=project, url=receiver.url, verbs=["gold.frozen"], by=rita)
        here = f"{HERE}{made.pk}/"
        sending.work(made.pk, uuid4())

        shown = page(lead, here)

        assert "webhook.added" in shown
        assert "the receiver refused it (500)" in shown
        lead.post(f"{here}resume/")
        sending.work(made.pk, uuid4())
    assert "taken (204)" in page(lead, here)


def test_it_is_removed_after_a_question(project, made, lead):
    here = f"{HERE}{made.pk}/"

    assert "Remove the webhook to hooks.example.org?" in page(lead, f"{here}remove/")
    assert "1 message waits" in page(lead, f"{here}remove/")
    lead.post(f"{here}remove/")

    written = Event.objects.filter(verb__startswith="webhook.").order_by("pk")
    assert [event.verb.partition(".")[2] for event in written] == ["added", "removed"]
    assert lead.get(here).status_code == 404
    assert "No webhooks" in page(lead, HERE)


def test_what_waits_for_a_blind_round_is_said_to(project, made, lead):
    round_ = factories.open_calibration(project, 1)
    factories.answer(round_.assignments.all()[0])

    shown = page(lead, f"{HERE}{made.pk}/")

    assert "waiting until the calibration round has closed" in shown


def test_the_log_is_paged_at_a_constant_cost(project, made, lead):
    here = f"{HERE}{made.pk}/"
    few = len(queries(lead, here)), len(queries(lead, HERE))
    for number in range(120):
        events.record("project.changed", project, project=project, number=number)
    webhooks.add(project=project, url=URL, by=made.created_by)
    first = WebhookDelivery.objects.order_by("pk")[0]

    assert (len(queries(lead, here)), len(queries(lead, HERE))) == few
    assert first.message_id not in page(lead, here)
    after = WebhookDelivery.objects.filter(webhook=made)[99].pk
    assert first.message_id in page(lead, f"{here}?after={after}")
