"""Mails to people, sent in the background: no page waits for a mail server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import connections
from django.template.loader import render_to_string
from django.utils.translation import get_language, override

logger = logging.getLogger(__name__)


def work() -> bool:
    return bool(settings.MAIL_URL)


def sending(subject: str, template: str, context: Mapping[str, Any]) -> Callable[[str], None]:
    """Something that sends this mail to an address; it is written when that happens."""

    def send(address: str) -> None:
        text = render_to_string(f"registration/{template}.txt", dict(context))
        send_mail(subject, text, None, [address])

    return send


def in_background(task: Callable[..., None], *args: Any) -> Thread:
    """In a thread, and in the language of now."""
    thread = Thread(target=_carry_out, args=[task, args, get_language()], name="mail")
    thread.start()
    return thread


def _carry_out(task: Callable[..., None], args: list[Any], language: str) -> None:
    try:
        with override(language):
            task(*args)
    except Exception:  # the person has their answer already
        logger.exception("A mail could not be sent.")
    finally:
        connections.close_all()
