"""Every table of a project's pages as a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_GET

from labeling.forms.audit import AuditFilter
from labeling.models import Project
from labeling.services import access, progress
from labeling.services.csv_files import csv_file
from labeling.services.gold import looks
from labeling.views import activity
from labeling.views.members import members_of
from labeling.views.projects import rounds_of

Rows = Iterator[Sequence[Any]]
CHUNK = 2000


@require_GET
def table(request: HttpRequest, slug: str, name: str) -> StreamingHttpResponse:
    project = access.readable(request.user, slug)
    if name not in TABLES:
        raise Http404
    return csv_file(f"{project.slug}-{name}", TABLES[name](project, request))


def _states(project: Project, request: HttpRequest) -> Rows:
    yield ["of", "state", "number"]
    for share in progress.by_state(project):
        yield ["conversations", share.title, share.number]
    for share in progress.work_by_status(progress.people(project)):
        yield ["assignments", share.title, share.number]


def _people(project: Project, request: HttpRequest) -> Rows:
    work = ["assigned", "pending", "draft", "submitted", "skipped", "returned"]
    group = ["group_round", "group_kappa", "group_raw", "group_n"]
    gold = ["gold_kappa", "gold_ci_low", "gold_ci_high", "gold_raw", "gold_n"]
    checked = ["checks_f1", "checks_n"]
    yield ["annotator", *work, "median_minutes", "last_active", *group, *gold, *checked]
    for person in progress.people(project):
        yield [
            person.username,
            *(getattr(person, name) for name in work),
            person.minutes,
            person.last_active.isoformat() if person.last_active else None,
            person.group_round,
            *_fields(person.group, "kappa", "raw", "n"),
            *_fields(person.gold, "kappa", "ci_low", "ci_high", "raw", "n"),
            *_fields(person.checked, "value", "n"),
        ]


def _fields(figures: object | None, *names: str) -> list[Any]:
    return [getattr(figures, name) if figures else None for name in names]


def _targets(part: str) -> Callable[[Project, HttpRequest], Rows]:
    def rows(project: Project, request: HttpRequest) -> Rows:
        yield [part, "wanted", "labeled", "gold", "missing"]
        for target in progress.targets(project)[part]:
            yield [target.name, target.wanted, target.labeled, target.gold, target.missing]

    return rows


def _members(project: Project, request: HttpRequest) -> Rows:
    yield ["user", "name", "role", "last_sign_in"]
    for membership in members_of(project):
        seen = membership.user.last_login.isoformat() if membership.user.last_login else None
        yield [
            membership.user.get_username(),
            membership.user.get_full_name(),
            membership.role,
            seen,
        ]


def _rounds(project: Project, request: HttpRequest) -> Rows:
    yield [
        *("round", "kind", "state", "guidelines", "conversations", "overlap", "assigned"),
        *("answered", "value", "opened_at", "closed_at"),
    ]
    for round_ in rounds_of(project):
        yield [
            *(
                round_.number,
                round_.kind,
                round_.state,
                round_.guideline.version,
                round_.n_conversations,
            ),
            *(
                round_.overlap,
                round_.n_assigned,
                round_.n_done,
                (round_.agreement or {}).get("value"),
            ),
            round_.opened_at.isoformat(),
            round_.closed_at.isoformat() if round_.closed_at else None,
        ]


def _audit(project: Project, request: HttpRequest) -> Rows:
    """With the filters of the page, and all of it, newest first."""
    form = AuditFilter(request.GET)
    yield ["at", "actor", "event", "object", "number", "words"]
    events = form.narrow(project.events.select_related("actor"))
    for event in events.iterator(chunk_size=CHUNK):
        actor = event.actor.get_username() if event.actor else None
        what = [event.object_type, event.object_id]
        yield [event.at.isoformat(), actor, event.verb, *what, activity.words(event)]


def _looks(project: Project, request: HttpRequest) -> Rows:
    """Every look at test items, newest first."""
    yield ["at", "user", "release", "purpose", "subject", "named", "reason", "items"]
    for look in looks.of_project(project).order_by("-pk").iterator(chunk_size=CHUNK):
        user = look.user.get_username() if look.user else None
        what = [str(look.release), look.purpose, look.subject, look.named]
        yield [look.at.isoformat(), user, *what, look.reason, look.n_items]


TABLES: dict[str, Callable[[Project, HttpRequest], Rows]] = {
    "states": _states,
    "people": _people,
    "layers": _targets("layers"),
    "difficulty": _targets("difficulty"),
    "members": _members,
    "rounds": _rounds,
    "audit": _audit,
    "looks": _looks,
}
