"""A freeze that somebody asked for on a page, made by a worker and answered exactly once.

The request is an event, and so is its outcome: ``gold.frozen``, or ``gold.freeze_refused`` with the
reason. A message to the worker only says where to look, so a lost one is sent again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.gold.meaning import Level
from labeling.domain.matching.similarity import Ruler
from labeling.models import Event, Project
from labeling.services import events
from labeling.services.gold import gold
from labeling.services.wakeups import RESEND_SECONDS, Wakeups

logger = logging.getLogger(__name__)

ASKED = "gold.freeze_requested"
OUTCOMES = ("gold.frozen", "gold.freeze_refused")
GIVEN_UP_AFTER = timedelta(days=1)

_messages = Wakeups("labeling.tasks.freeze_gold")


def request_freeze(
    *,
    project: Project,
    layer: str,
    name: str = "",
    message: str = "",
    with_synthetic: bool = False,
    at_least: Level = "patch",
    by: User,
) -> None:
    """Freeze in the worker: settling compares texts, which needs the encoder."""
    gold.check_name(project, layer, name or project.slug)
    asked = events.record(
        ASKED,
        project,
        project=project,
        actor=by,
        layer=layer,
        name=name,
        message=message,
        with_synthetic=with_synthetic,
        at_least=at_least,
    )
    transaction.on_commit(partial(_messages.send, asked.pk), robust=True)


def answer(request_id: int, *, ruler: Callable[[], Ruler]) -> None:
    """Freeze what was requested, unless it is done. Repeating it changes nothing."""
    asked = Event.objects.select_related("project", "actor").get(pk=request_id, verb=ASKED)
    if is_answered(asked):
        return
    try:
        _freeze(asked, ruler())
    except gold.NotWanted:
        return  # another worker has answered while this one computed
    except RuleError as error:
        _refuse(asked, error.fact)
    except OperationalError:  # somebody else is writing: the sweep asks again
        raise
    except Exception:  # any error: the requester must learn of it; it also goes to the log
        _refuse(asked, Fact("gold.freeze_broke_off"))
        raise


def is_answered(asked: Event) -> bool:
    later = Event.objects.filter(project=asked.project_id, verb__in=OUTCOMES, pk__gt=asked.pk)
    return later.filter(data__request=asked.pk).exists()


def _freeze(asked: Event, ruler: Ruler) -> None:
    gold.freeze(
        project=Project.objects.get(events=asked),
        layer=asked.data["layer"],
        ruler=ruler,
        name=asked.data["name"],
        message=asked.data["message"],
        by=asked.actor,
        request=asked.pk,
        with_synthetic=asked.data.get("with_synthetic", False),
        at_least=asked.data.get("at_least", "patch"),
        is_wanted=lambda: not is_answered(asked),
    )


def _refuse(asked: Event, why: Fact) -> None:
    events.record(
        "gold.freeze_refused",
        asked.project or asked,
        project=asked.project,
        actor=asked.actor,
        layer=asked.data["layer"],
        message=why.as_json(),
        request=asked.pk,
    )


def wake_unattended() -> list[int]:
    """Send another message for each request that has no outcome; its own may be lost."""
    now = timezone.now()
    asked = Event.objects.filter(
        verb=ASKED,
        at__gt=now - GIVEN_UP_AFTER,
        at__lt=now - timedelta(seconds=RESEND_SECONDS),
        data__has_key="name",  # older requests have nothing to match an outcome by
    )
    waiting = [event.pk for event in asked.order_by("pk") if not is_answered(event)]
    return [pk for pk in waiting if _messages.send_again(pk)]
