"""What a monitoring system reads, in Prometheus' text form: figures, never names or texts.

What only one process knows is counted elsewhere (``config.web_counts``) and handed in; everything
else is read from the database, so any web process gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, Max

from config.version import VERSION
from labeling.models import Annotation, AnnotationRevision, WorkerPulse
from labeling.services import clock, health, jobs

Labels = Mapping[str, str]


class Metric(NamedTuple):
    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str


class Sample(NamedTuple):
    name: str
    value: float
    labels: Labels = {}


Source = Callable[[], Iterable[Sample]]

METRICS = {
    metric.name: metric
    for metric in (
        Metric("assay_info", "gauge", "1, with the version of the product and the database."),
        Metric("assay_http_requests_total", "counter", "Requests answered, by area and status."),
        Metric("assay_http_request_seconds", "histogram", "Until an answer began, by area."),
        Metric("assay_part_ok", "gauge", "1 if this part answers as it should, as at /readyz."),
        Metric("assay_scrape_complete", "gauge", "0 if the database could not be asked."),
        Metric("assay_workers_alive", "gauge", "Workers that gave a sign of life lately."),
        Metric("assay_jobs_waiting", "gauge", "Jobs that no worker is at, by kind."),
        Metric("assay_jobs_at_work", "gauge", "Jobs that a worker is at, by kind."),
        Metric("assay_jobs_stuck", "gauge", "Jobs whose worker is gone or holds them too long."),
        Metric(
            "assay_job_age_seconds", "gauge", "How long the oldest of them has waited, by kind."
        ),
        Metric("assay_jobs_failed", "gauge", "Jobs that failed within seven days, 20 at most."),
        Metric("assay_broker_messages", "gauge", "Wake-ups that no worker has taken."),
        Metric("assay_runs", "gauge", "Runs, by state."),
        Metric("assay_cases", "gauge", "Cases of runs, by state."),
        Metric("assay_answers", "gauge", "Answers of annotators, by state."),
        Metric("assay_answers_saved_total", "counter", "Times that an answer was saved."),
        Metric("assay_database_connections", "gauge", "Connections of PostgreSQL, by state."),
        Metric("assay_database_connections_max", "gauge", "How many PostgreSQL takes."),
        Metric("assay_disk_free_bytes", "gauge", "Room of the data folder."),
    )
}

_SOURCES: list[Source] = []


def register(source: Source) -> None:
    """Evaluation adds what it knows of runs."""
    if source not in _SOURCES:
        _SOURCES.append(source)


def text(of_web: Iterable[Sample]) -> str:
    """All that can be said now. Where the database is away, the rest of it."""
    samples = [*_of_parts(), *of_web]
    try:
        stored = [sample for source in (_stored, *_SOURCES) for sample in source()]
        samples += [*stored, Sample("assay_scrape_complete", 1)]
    except DatabaseError:
        connection.close()
        samples.append(Sample("assay_scrape_complete", 0))
    return written(samples)


def written(samples: Iterable[Sample]) -> str:
    """
    >>> print(written([Sample("assay_runs", 2, {"state": "done"})]), end="")
    # HELP assay_runs Runs, by state.
    # TYPE assay_runs gauge
    assay_runs{state="done"} 2
    """
    by_metric: dict[str, list[str]] = {name: [] for name in METRICS}
    for sample in samples:
        labels = ",".join(f'{name}="{_quoted(value)}"' for name, value in sample.labels.items())
        place = f"{{{labels}}}" if labels else ""
        by_metric[_metric_of(sample.name)].append(f"{sample.name}{place} {sample.value:.12g}\n")
    return "".join(
        f"# HELP {name} {METRICS[name].help}\n# TYPE {name} {METRICS[name].kind}\n{''.join(lines)}"
        for name, lines in by_metric.items()
        if lines
    )


def _metric_of(name: str) -> str:
    if name in METRICS:
        return name
    return next(name.removesuffix(end) for end in ("_bucket", "_sum", "_count") if end in name)


def _quoted(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _of_parts() -> Iterator[Sample]:
    for name, part in health.look().items():
        yield Sample("assay_part_ok", part["ok"], {"part": name})
    yield Sample("assay_info", 1, {"version": VERSION, "database": connection.vendor})
    yield Sample("assay_disk_free_bytes", health.free_bytes(settings.DATA_DIR))


def _stored() -> Iterator[Sample]:
    now = clock.now()
    open_jobs = jobs.open_jobs()
    for backlog in jobs.backlogs(open_jobs):
        kind = {"kind": backlog.kind}
        yield Sample("assay_jobs_waiting", backlog.waiting, kind)
        yield Sample("assay_jobs_at_work", backlog.at_work, kind)
        age = (now - backlog.since).total_seconds() if backlog.since else 0
        yield Sample("assay_job_age_seconds", round(max(0, age), 1), kind)
    yield Sample("assay_jobs_stuck", sum(job.is_stuck for job in open_jobs))
    failed = [failure.kind for failure in jobs.failures()]
    for name in jobs.kinds():
        yield Sample("assay_jobs_failed", failed.count(name), {"kind": name})
    alive = WorkerPulse.objects.filter(seen_at__gt=now - health.SILENT_AFTER)
    yield Sample("assay_workers_alive", alive.count())
    messages = health.messages_waiting()
    if messages is not None:
        yield Sample("assay_broker_messages", messages)
    states = (
        Annotation.objects.with_checks().order_by().values_list("status").annotate(n=Count("pk"))
    )
    for state, number in states:
        yield Sample("assay_answers", number, {"state": state})
    saved = AnnotationRevision.objects.order_by().aggregate(last=Max("pk"))["last"]
    yield Sample("assay_answers_saved_total", saved or 0)
    yield from _connections()


def _connections() -> Iterator[Sample]:
    """Those of all programs to this database; SQLite has none."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(_OF_DATABASE)
        for state, number in cursor.fetchall():
            yield Sample("assay_database_connections", number, {"state": state})
        cursor.execute("SELECT current_setting('max_connections')")
        yield Sample("assay_database_connections_max", int(cursor.fetchone()[0]))


_OF_DATABASE = """
SELECT coalesce(state, 'none'), count(*) FROM pg_stat_activity
WHERE datname = current_database() GROUP BY 1 ORDER BY 1
"""
