"""How a message to a webhook is signed, when it is tried again, and where it may go.

Signatures follow the Standard Webhooks specification, version 1: HMAC-SHA256 with the bytes of the
secret over ``id.timestamp.body``.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from secrets import token_bytes
from urllib.parse import urlsplit

from labeling.domain.facts import Fact

PREFIX = "whsec_"
SECRET_BYTES = 32
WAITS = (5, 30, 120, 600, 1800, 7200, 18000, 36000, 86400)
"""Seconds before the second attempt, the third …; after the last attempt it is given up."""
MAX_ATTEMPTS = len(WAITS) + 1
LONGEST_REST = 600
"""Seconds that an address rests at most, however often it failed."""
NAT64 = ip_network("64:ff9b::/96")
OF_PROVIDERS = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
"""Services that providers of machines run inside of their networks, under addresses that look
public: they hand out credentials of the machine.
"""
UNICAST = ip_network("2000::/3")  # all of IPv6 that is handed out in the public internet

Address = IPv4Address | IPv6Address


def make_webhook_secret() -> str:
    return PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """One signature of the header ``webhook-signature``.

    Examples
    --------
    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> named = {"message_id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "timestamp": 1614265330}
    >>> signature(secret, **named, body=b'{"test": 2432232314}')  # that of the specification
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = b64decode(secret.removeprefix(PREFIX))
    signed = b".".join([message_id.encode(), str(timestamp).encode(), body])
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def headers(secret: str, *, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(
            secret, message_id=message_id, timestamp=timestamp, body=body
        ),
    }


def wait_after(attempts: int) -> int | None:
    """Seconds until the next attempt after this many; None when it is given up.

    Examples
    --------
    >>> wait_after(1), wait_after(9), wait_after(10)
    (5, 86400, None)
    """
    return WAITS[attempts - 1] if attempts < MAX_ATTEMPTS else None


def rest_after(failures: int) -> int:
    """Seconds that an address rests after this many failures in a row.

    Examples
    --------
    >>> rest_after(1), rest_after(4), rest_after(1000)
    (5, 40, 600)
    """
    return min(5 << min(failures - 1, 10), LONGEST_REST)


def host_of(url: str) -> str:
    """Host and port of an address, without its path, user and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def is_public(address: Address) -> bool:
    """Whether an address is in the public internet, also one wrapped in another.

    Examples
    --------
    >>> [is_public(ip_address(text)) for text in ("93.184.215.14", "10.0.0.1", "::ffff:127.0.0.1")]
    [True, False, False]
    >>> [is_public(ip_address(text)) for text in ("2606:4700::1", "64:ff9b:1::a00:1", "::a00:1")]
    [True, False, False]
    >>> [is_public(ip_address(text)) for text in ("192.0.0.192", "168.63.129.16", "192.0.1.1")]
    [False, False, True]
    """
    inner = _wrapped(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, IPv6Address) and address not in UNICAST:
        return False  # also what a router of the local network may translate to IPv4
    if any(address in network for network in OF_PROVIDERS):
        return False
    return address.is_global and not address.is_multicast


def _wrapped(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return None
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def why_unusable(url: str, *, allow_private: bool) -> Fact | None:
    """What is wrong with an address, as far as its text tells; None if nothing is."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return Fact("webhook.not_an_address")
    if parts.scheme not in ("http", "https") or not host:
        return Fact("webhook.not_http")
    if "@" in parts.netloc:
        return Fact("webhook.address_with_password")
    if any(not "!" <= letter <= "~" for letter in url):
        return Fact("webhook.not_ascii")
    if not allow_private and _is_private_literal(host):
        return Fact("webhook.private_address")
    return None


def _is_private_literal(host: str) -> bool:
    try:
        return not is_public(ip_address(host))
    except ValueError:  # a name: where it leads is looked up whenever something is sent
        return host == "localhost" or host.endswith(".localhost")
