"""Where webhooks may lead: never into private networks, never to what was not checked."""

import socket

import pytest

from labeling.operation.webhooks import transport, webhooks

pytestmark = pytest.mark.django_db


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
