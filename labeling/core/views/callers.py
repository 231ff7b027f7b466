"""Where a request comes from."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from labeling.accounts.signing_in import Caller, account_name
from labeling.domain.secrets import make_secret

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}
COOKIE, SALT = "assay_browser", "labeling.browser"
COOKIE_SECONDS = 365 * 24 * 3600
MOST_ACCOUNTS = 5


def caller_of(request: HttpRequest, username: str = "") -> Caller:
    return Caller(
        address=address_of(request),
        is_local=is_local(request),
        knows=_accounts_of(request).get(_tag(username), "") if username else "",
    )


def address_of(request: Any) -> str:
    """Of the person, as far as proxies that are trusted say so; of IPv6 only the network."""
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
    proxies = settings.PROXIES
    is_told = proxies and len(hops) >= proxies
    text = hops[-proxies] if is_told else request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False).network_address)
    return str(getattr(address, "ipv4_mapped", None) or address)


def is_local(request: HttpRequest) -> bool:
    """From this machine itself, and not by way of a proxy on it.

    A site with its own address has one, and not every proxy says for whom it asks.
    """
    if settings.PUBLIC_URL or settings.PROXIES or any(request.META.get(name) for name in FORWARDED):
        return False
    try:
        is_loopback = ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
    return is_loopback and urlsplit(f"//{request.get_host()}").hostname in LOCAL_NAMES


def remember(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """That this person has signed in with this browser: strangers cannot make them wait there."""
    accounts = _accounts_of(request)
    tag = _tag(username)
    if tag in accounts:
        return
    newest = [*accounts.items(), (tag, make_secret()[:16])]
    response.set_cookie(
        COOKIE,
        signing.dumps(dict(newest[-MOST_ACCOUNTS:]), salt=SALT),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _accounts_of(request: HttpRequest) -> dict[str, str]:
    try:
        kept = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return {}
    return {str(tag): str(value) for tag, value in kept.items()}


def _tag(username: str) -> str:
    return signing.Signer(salt=SALT).signature(account_name(username))[:16]
