import html
import socket
from uuid import uuid4

import pytest

from labeling.core import events
from labeling.models import Event, Webhook, WebhookDelivery
from labeling.operation.webhooks import sending, transport, webhooks
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
    project, made, lead, signed_in, admin, researcher
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
        (researcher, ["/projects/orders/audit/"]),
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


# --- where they may lead -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "leads_to"),
    [
        ("localhost", "127.0.0.1"),
        ("cloud.example", "169.254.169.254"),
        ("mapped.example", "::ffff:192.168.0.1"),
        ("nat.example", "64:ff9b::7f00:1"),
    ],
)
def test_nothing_is_sent_into_private_networks(monkeypatch, receiver, name, leads_to):
    family = socket.AF_INET6 if ":" in leads_to else socket.AF_INET
    public = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))
    inside = (family, socket.SOCK_STREAM, 6, "", (leads_to, receiver.server_port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [public, inside])

    answer = transport.post(f"http://{name}/", b"{}", {}, allow_private=False)

    assert answer == ("private", None)
    assert receiver.received == []


def test_the_address_that_was_checked_is_the_one_connected_to(monkeypatch, receiver):
    """A name that leads elsewhere at the second look."""
    looked_up = []

    def look_up(host, port, *args, **kwargs):
        looked_up.append(host)
        at = ("127.0.0.1", receiver.server_port) if len(looked_up) == 1 else ("127.0.0.2", 9)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", at)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    answer = transport.post("http://hook.example/x", b"{}", {}, allow_private=True)

    assert answer == ("taken", 204)
    assert looked_up == ["hook.example"]
    assert receiver.received[0].headers["host"] == "hook.example"


def test_a_name_that_nobody_knows_and_a_server_without_tls_are_told_apart(monkeypatch, receiver):
    https = receiver.url.replace("http:", "https:")
    plain = transport.post(https, b"{}", {}, allow_private=True, seconds=30)

    def unknown(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    nameless = transport.post("https://x.example/", b"{}", {}, allow_private=True)

    assert (plain.outcome, nameless.outcome) == ("unreachable", "unknown_host")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "https://",
        "https://user:password@example.org/",
        "http://127.0.0.1/",
        "http://[::1]:80/",
        "http://localhost/",
        "http://example.org:99999/",
        "http://exa mple.org/",
        "http://[fe80::1",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(project, rita, url):
    with pytest.raises(webhooks.WebhookRefused):
        webhooks.add(project=project, url=url, by=rita)
