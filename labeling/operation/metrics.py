"""What a monitoring system reads, in Prometheus' text form: figures, never names or texts.

Everything is read from the database, so any web process gives the same. Requests are counted where
they come in: in the proxy, or in the access log, whose lines have status and seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, Max
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from config.version import VERSION
from labeling.core import clock
from labeling.jobs import jobs
from labeling.models import Annotation, AnnotationRevision, WorkerPulse
from labeling.operation import health


class Sample(NamedTuple):
    name: str
    value: float
    labels: dict[str, str] = {}


Source = Callable[[], Iterable[Sample]]

METRICS = {
    "assay_info": "1, with the version of the product and the database.",
    "assay_part_ok": "1 if this part answers as it should, as at /readyz.",
    "assay_scrape_complete": "0 if the database could not be asked.",
    "assay_workers_alive": "Workers that gave a sign of life lately.",
    "assay_jobs_waiting": "Jobs that no worker is at, by kind.",
    "assay_jobs_at_work": "Jobs that a worker is at, by kind.",
    "assay_job_age_seconds": "How long the oldest of them has waited, by kind.",
    "assay_jobs_failed": "Jobs that failed within seven days, 20 at most.",
    "assay_runs": "Runs, by state.",
    "assay_cases": "Cases of runs, by state.",
    "assay_answers": "Answers of annotators, by state.",
    "assay_answers_saved_total": "Times that an answer was saved.",
    "assay_disk_free_bytes": "Room of the data folder.",
}

_SOURCES: list[Source] = []


def register(source: Source) -> None:
    """Evaluation adds what it knows of runs."""
    if source not in _SOURCES:
        _SOURCES.append(source)


def text() -> bytes:
    """All that can be said now. Where the database is away, the rest of it."""
    registry = CollectorRegistry()
    registry.register(_Stored())
    return generate_latest(registry)


class _Stored(Collector):
    def collect(self) -> Iterable[Metric]:
        samples = list(_of_parts())
        try:
            stored = [sample for source in (_stored, *_SOURCES) for sample in source()]
            samples += [*stored, Sample("assay_scrape_complete", 1)]
        except DatabaseError:
            connection.close()
            samples.append(Sample("assay_scrape_complete", 0))
        families: dict[str, Metric] = {}
        for name, value, labels in samples:
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            family = families.setdefault(name, kind(name, METRICS[name]))
            family.add_sample(name, labels, value)
        return families.values()


def _of_parts() -> Iterator[Sample]:
    for name, part in health.look().items():
        yield Sample("assay_part_ok", part["ok"], {"part": name})
    yield Sample("assay_info", 1, {"version": VERSION, "database": connection.vendor})
    yield Sample("assay_disk_free_bytes", health.free_bytes(settings.DATA_DIR))


def _stored() -> Iterator[Sample]:
    now = clock.now()
    open_jobs = jobs.open_jobs()
    failed = [failure.kind for failure in jobs.failures()]
    for name in jobs.kinds():
        own, kind = [job for job in open_jobs if job.kind == name], {"kind": name}
        waiting = [job.since for job in own if not job.is_at_work]
        age = (now - min(waiting)).total_seconds() if waiting else 0
        yield Sample("assay_jobs_waiting", len(waiting), kind)
        yield Sample("assay_jobs_at_work", len(own) - len(waiting), kind)
        yield Sample("assay_job_age_seconds", round(max(0, age), 1), kind)
        yield Sample("assay_jobs_failed", failed.count(name), kind)
    alive = WorkerPulse.objects.filter(seen_at__gt=now - health.SILENT_AFTER)
    yield Sample("assay_workers_alive", alive.count())
    states = Annotation.with_checks.order_by().values_list("status").annotate(n=Count("pk"))
    for state, number in states:
        yield Sample("assay_answers", number, {"state": state})
    saved = AnnotationRevision.objects.order_by().aggregate(last=Max("pk"))["last"]
    yield Sample("assay_answers_saved_total", saved or 0)
