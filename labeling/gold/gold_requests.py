"""A freeze that somebody asked for on a page, made by a worker and answered exactly once.

The request is an event, and so is its outcome: ``gold.frozen``, or ``gold.freeze_refused`` with the
reason.

A project is frozen by one worker at a time, in the order of the requests. Who asks for what has
been asked for already joins that request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from labeling.agreement.matching.similarity import Ruler
from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact, StoredFact
from labeling.gold import gold
from labeling.jobs import queue
from labeling.models import Event, Project

logger = logging.getLogger(__name__)

ASKED = "gold.freeze_requested"
OUTCOMES = ("gold.frozen", "gold.freeze_refused")
GIVEN_UP_AFTER = timedelta(days=1)


@transaction.atomic
def request_freeze(
    *,
    project: Project,
    layer: str,
    name: str = "",
    message: str = "",
    with_synthetic: bool = False,
    waive: Mapping[str, str] | None = None,
    by: User,
) -> Event:
    """Freeze in the worker: settling compares texts, which needs the encoder. Whoever asks for
    what waits already joins that request.
    """
    projects.lock(project)  # or two at once would not see each other
    gold.check_name(project, layer, name or project.slug)
    wanted = {
        "layer": layer,
        "name": name or project.slug,
        "with_synthetic": with_synthetic,
        "waive": dict(waive or {}),
    }
    for request in waiting(project):
        if wanted.items() <= request.data.items():
            return request
    asked = events.record(ASKED, project, project=project, actor=by, **wanted, message=message)
    queue.ask("freeze", project.pk)
    return asked


class Freeze(NamedTuple):
    """What somebody asked for, and what came of it, if anything."""

    asked: Event
    outcome: Event | None

    @property
    def state(self) -> str:
        if self.outcome:
            return "frozen" if self.outcome.verb == OUTCOMES[0] else "refused"
        return "given_up" if self.asked.at <= timezone.now() - GIVEN_UP_AFTER else "waiting"

    @property
    def why(self) -> StoredFact | None:
        """Why it was refused."""
        return self.outcome.data.get("message") if self.outcome else None


def with_outcomes(asked: Sequence[Event]) -> list[Freeze]:
    outcomes = Event.objects.filter(
        verb__in=OUTCOMES,
        project__in={each.project_id for each in asked},
        data__request__in=[each.pk for each in asked],
    )
    by_request = {event.data["request"]: event for event in outcomes}
    return [Freeze(each, by_request.get(each.pk)) for each in asked]


def waiting(project: Project) -> list[Event]:
    """The requests of a project that have no outcome yet, in the order in which they are taken."""
    return _unanswered(_lately_asked().filter(project=project))


def all_waiting() -> list[Event]:
    """The same of all projects, the oldest first."""
    return _unanswered(_lately_asked())


def work(project_id: int, owner: UUID) -> None:
    from labeling.agreement.vectors import ruler  # for workers alone: it may load the encoder

    answer(Project.objects.get(pk=project_id), ruler=ruler, is_held=True)


def due() -> Iterable[int]:
    """Projects with a request."""
    return {asked.project_id for asked in all_waiting() if asked.project_id is not None}


def answer(project: Project, *, ruler: Callable[[], Ruler], is_held: bool = False) -> None:
    """Freeze what was requested first. Nothing is done while somebody else freezes."""
    for asked in waiting(project)[:1]:
        _answer(asked, ruler, is_held)


def _answer(asked: Event, ruler: Callable[[], Ruler], is_held: bool) -> None:
    try:
        _freeze(asked, ruler(), is_held)
    except (gold.NotWanted, gold.UnderWay):
        return  # another has answered while this one computed, or is at it
    except RuleError as error:
        _refuse(asked, error.fact)
    except OperationalError:  # somebody else is writing: the sweep asks again
        raise
    except Exception:  # any error: the requester must learn of it; it also goes to the log
        _refuse(asked, Fact("gold.freeze_broke_off"))
        raise


def _freeze(asked: Event, ruler: Ruler, is_held: bool) -> None:
    project = Project.objects.get(events=asked)
    gold.freeze(
        project=project,
        layer=asked.data["layer"],
        ruler=ruler,
        name=asked.data["name"],
        message=asked.data["message"],
        by=asked.actor,
        request=asked.pk,
        waive=asked.data.get("waive"),  # those of 0.5.0 have none
        with_synthetic=asked.data["with_synthetic"],
        is_wanted=lambda: asked in waiting(project),
        is_held=is_held,
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


def _unanswered(requests: QuerySet[Event]) -> list[Event]:
    """The oldest first."""
    rows = requests.select_related("project", "actor").order_by("pk")
    asked = [row for row in rows if not row.data.get("only_lint")]  # as 0.6.0 could ask
    return [freeze.asked for freeze in with_outcomes(asked) if not freeze.outcome]


def _lately_asked() -> QuerySet[Event]:
    return Event.objects.filter(verb=ASKED, at__gt=timezone.now() - GIVEN_UP_AFTER)
