"""The runs whose cases are about gold that has changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.db.models import Count

from evaluation.models import CaseRun, Run
from labeling.gold.affected import AffectedRun, Viewer
from labeling.models import GoldRelease

AT_A_TIME = 5000
"""Items that one query names."""


def runs_about(release: GoldRelease, items: Sequence[int], viewer: Viewer) -> list[AffectedRun]:
    """Newest first."""
    visible = Run.objects.all() if viewer is None else Run.objects.visible_to(viewer)
    runs = visible.filter(release=release)
    cases: Counter[int] = Counter()
    for start in range(0, len(items), AT_A_TIME):
        about = CaseRun.objects.filter(run__in=runs, item__in=items[start : start + AT_A_TIME])
        cases.update(dict(about.order_by().values_list("run").annotate(n=Count("pk"))))
    affected = runs.filter(pk__in=cases).annotate(total=Count("cases")).order_by("-pk")
    return [
        AffectedRun(str(run), run.get_absolute_url(), cases[run.pk], run.total) for run in affected
    ]
