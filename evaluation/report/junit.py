"""A run as JUnit XML, which servers of continuous integration read: a test case per gold item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from evaluation.metrics.gate import TOLERANCE
from evaluation.metrics.registry import Metric
from evaluation.report.content import Report
from evaluation.services.run import gates, results
from labeling.words import in_english

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML may hold, however it is escaped."""
TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Ending(NamedTuple):
    """Of a case that did not pass."""

    tag: str
    message: str
    type: str = ""


def written(report: Report, address: str) -> list[str]:
    return [render(report, report.primary.metric)]


def render(report: Report, metric: Metric) -> str:
    """Failed: its pipeline did, or its figure is beyond the run's threshold for the metric.

    Without a threshold a case fails that reached the worst value. Undefined is skipped.
    """
    run, limits = report.run, gates.settings_of(report.run)[0]
    document = results.results_document(run)
    suites = Element("testsuites", name=f"run {run.pk}")
    suite = SubElement(suites, "testsuite", name=_xml(f"{run.pipeline} on {run.release}"))
    suite.set("timestamp", document["timestamp"])
    properties = SubElement(suite, "properties")
    for name, value in _properties(report, metric, document):
        SubElement(properties, "property", name=name, value=_xml(value))
    for case in document["cases"]:
        again = f" #{case['repetition']}" if case["repetition"] > 1 else ""
        named = {"name": _xml(case["case_id"] + again), "classname": _xml(run.pipeline)}
        element = SubElement(suite, "testcase", named, time=f"{case['seconds'] or 0.0:.3f}")
        if ending := _ending(case, metric, limits.get(metric.id)):
            said = {name: _xml(text) for name, text in ending._asdict().items() if text}
            tag = said.pop("tag")
            SubElement(element, tag, said).text = said["message"]
    counts = {name: len(suite.findall(f"testcase/{tag}")) for name, tag in TAGS.items()}
    for name, n in {"tests": len(document["cases"]), **counts}.items():
        suite.set(name, str(n))
        suites.set(name, str(n))
    suite.set("time", f"{sum(case['seconds'] or 0.0 for case in document['cases']):.3f}")
    xml = tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n'


def _properties(
    report: Report, metric: Metric, document: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    yield "run", str(report.run.pk)
    yield "gold", f"{report.run.release} {document['gold']['sha256']}"
    for name in ("pipeline_version", "config_sha256", "seed", "metrics_version"):
        yield name, str(document[name])
    rows = [row for row in report.rows if row.metric == metric.id]
    for fact in results.remarks(report.run, rows) if rows else []:
        yield "remark", in_english(fact)
    yield from ((row.metric, f"{row.mean:.6f}") for row in rows if row.mean is not None)


def _ending(case: Mapping[str, Any], metric: Metric, limit: float | None) -> Ending | None:
    value = case["metrics"].get(metric.id)
    if case["state"] == "failed":
        why = case["error"] or "The pipeline failed."
        return Ending("error", why, case["error_class"] or "failed")
    if value is None:
        why = case["undefined"].get(metric.id) or "Undefined."
        return Ending("skipped", f"{metric.id} is undefined: {why}")
    why = _why_failed(value, metric, limit)
    return Ending("failure", why, metric.id) if why else None


def _why_failed(value: float, metric: Metric, limit: float | None) -> str:
    higher = metric.direction == "higher"
    if limit is None:
        return f"{metric.id} {value:.3f}: the worst value there is" if value == metric.worst else ""
    short = value < limit - TOLERANCE if higher else value > limit + TOLERANCE
    side = "below" if higher else "above"
    return f"{metric.id} {value:.6g} is {side} {limit:g}" if short else ""


def _xml(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
