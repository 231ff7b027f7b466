"""Lint that somebody asked for, made by a worker: it reads all texts that would be frozen."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.matching.similarity import Ruler
from labeling.models import Event, LintReport, Project
from labeling.services import events
from labeling.services.gold import gold, lint
from labeling.services.wakeups import RESEND_SECONDS, Wakeups

ASKED = "gold.lint_requested"
OUTCOMES = ("gold.linted", "gold.lint_refused")
GIVEN_UP_AFTER = timedelta(days=1)

_messages = Wakeups("labeling.tasks.lint_gold")


def request(*, project: Project, layer: str, by: User) -> None:
    gold.check_layer(project, layer)
    asked = events.record(ASKED, project, project=project, actor=by, layer=layer)
    transaction.on_commit(partial(_messages.send, asked.pk), robust=True)


def answer(request_id: int, *, ruler: Callable[[], Ruler]) -> None:
    """Look, unless it is done. Repeating it changes nothing."""
    asked = Event.objects.select_related("project", "actor").get(pk=request_id, verb=ASKED)
    if is_answered(asked) or asked.project is None:
        return
    try:
        report = look(asked.project, asked.data["layer"], ruler=ruler(), by=asked.actor)
    except RuleError as error:
        _record(asked, OUTCOMES[1], message=error.fact.as_json())
    except OperationalError:  # somebody else is writing: the sweep asks again
        raise
    except Exception:  # any error: the requester must learn of it; it also goes to the log
        _record(asked, OUTCOMES[1], message=Fact("lint.broke_off").as_json())
        raise
    else:
        _record(asked, OUTCOMES[0], findings=report.findings.count(), items=report.items)


def look(project: Project, layer: str, *, ruler: Ruler, by: User | None = None) -> LintReport:
    """Look at everything that a freeze would take now, and keep what was found."""
    return lint.store(project, layer, gold.look(project, layer, ruler=ruler), by=by)


def is_answered(asked: Event) -> bool:
    later = Event.objects.filter(project=asked.project_id, verb__in=OUTCOMES, pk__gt=asked.pk)
    return later.filter(data__request=asked.pk).exists()


def waiting(project: Project, layer: str) -> Event | None:
    """The newest request of this layer, unless it has an outcome or is given up."""
    recent = Event.objects.filter(
        project=project, verb=ASKED, at__gt=timezone.now() - GIVEN_UP_AFTER, data__layer=layer
    )
    asked = recent.order_by("-pk").first()
    return None if asked is None or is_answered(asked) else asked


def all_waiting(projects: Collection[int] | None = None) -> list[Event]:
    """Requests of these projects without an outcome, None: of all; the oldest first."""
    asked = Event.objects.filter(verb=ASKED, at__gt=timezone.now() - GIVEN_UP_AFTER)
    if projects is not None:
        asked = asked.filter(project__in=projects)
    rows = list(asked.select_related("project").order_by("pk"))
    if not rows:
        return []
    outcomes = Event.objects.filter(verb__in=OUTCOMES, pk__gt=rows[0].pk).order_by()
    answered = set(outcomes.values_list("data__request", flat=True))
    return [event for event in rows if event.pk not in answered]


def refused(project: Project, layer: str) -> Event | None:
    """The newest outcome of this layer, if it is a refusal."""
    outcomes = Event.objects.filter(project=project, verb__in=OUTCOMES, data__layer=layer)
    newest = outcomes.order_by("-pk").first()
    return newest if newest and newest.verb == OUTCOMES[1] else None


def _record(asked: Event, verb: str, **data: object) -> None:
    events.record(
        verb,
        asked.project or asked,
        project=asked.project,
        actor=asked.actor,
        layer=asked.data["layer"],
        request=asked.pk,
        **data,
    )


def wake_unattended() -> list[int]:
    """Send another message for each request that has no outcome; its own may be lost."""
    now = timezone.now()
    asked = Event.objects.filter(
        verb=ASKED,
        at__gt=now - GIVEN_UP_AFTER,
        at__lt=now - timedelta(seconds=RESEND_SECONDS),
    )
    unanswered = [event.pk for event in asked.order_by("pk") if not is_answered(event)]
    return [pk for pk in unanswered if _messages.send_again(pk)]
