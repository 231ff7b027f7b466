"""Rows of a project held against its audit log: what was put down must still be there, as it was.

``CHECKS`` is a registry: other apps add what they keep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from labeling.domain.facts import Fact
from labeling.gold.looks import LONGEST_REASON
from labeling.models import Event, GoldRelease, Look, LookBudget, Project

Check = Callable[[Project], Iterator[Fact]]

FREEZING = ("gold.frozen", "gold.imported", "gold.corrected")


def releases(project: Project) -> Iterator[Fact]:
    """Each release that was frozen is there; each version follows the one before."""
    there = set(GoldRelease.objects.filter(project=project).values_list("pk", flat=True))
    for event in Event.objects.filter(project=project, verb__in=FREEZING).order_by("pk"):
        if int(event.object_id) not in there:
            gone = str(event.data.get("release", event.object_id))
            yield Fact("held.release_gone", release=gone, event=event.pk)
    versions: dict[str, int] = {}
    for release in GoldRelease.objects.filter(project=project).order_by("name", "version"):
        if release.version != versions.get(release.name, 0) + 1:
            yield Fact("held.version_gone", release=str(release))
        versions[release.name] = release.version


def looks(project: Project) -> Iterator[Fact]:
    """Each look that was recorded is there with its reason."""
    rows = {row.pk: row for row in Look.objects.filter(release__project=project)}
    now = Counter(map(_look, rows.values()))
    said: Counter[tuple[str, str, str]] = Counter()
    for event in Event.objects.filter(project=project, verb="gold.looked_at").order_by("pk"):
        data = event.data
        look = (event.object_id, str(data.get("purpose")), str(data.get("reason"))[:LONGEST_REASON])
        said[look] += 1
        row = rows.get(data.get("look"))
        is_other = "look" in data and (  # events before 0.4 do not say which row
            row is None or _look(row) != look or row.user_id != data.get("user")
        )
        if is_other or said[look] > now[look]:
            yield Fact("held.look_gone", event=event.pk, release=str(data.get("release")))


def _look(row: Look) -> tuple[str, str, str]:
    return str(row.release_id), row.purpose, row.reason


def budgets(project: Project) -> Iterator[Fact]:
    """The budgets of looks are those that were set, in their order."""
    events = Event.objects.filter(project=project, verb="looks.budget_set").order_by("pk")
    said = [(event.data.get("looks"), event.data.get("reason")) for event in events]
    rows = LookBudget.objects.filter(project=project).order_by("pk")
    if list(rows.values_list("looks", "reason")) != said:
        yield Fact("held.budget_changed")


CHECKS: list[Check] = [releases, looks, budgets]
