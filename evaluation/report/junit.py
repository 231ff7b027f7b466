"""A run as JUnit XML, which servers of continuous integration read: a test case per gold item."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from evaluation.metrics.gate import TOLERANCE
from evaluation.metrics.registry import Metric
from evaluation.models import CaseRun, Run
from evaluation.services.run import gates, results
from labeling.words import in_english

REPLACEMENT = "\ufffd"


def render(run: Run, metric: Metric) -> str:
    """Failed: its pipeline did, or its figure is beyond the run's threshold for the metric.

    Without a threshold a case fails that reached the worst value. Undefined is skipped.
    """
    limits, _drop = gates.settings_of(run)
    suites = Element("testsuites", name=f"run {run.pk}")
    cases = SubElement(suites, "testsuite", name=_xml(f"{run.pipeline} on {run.release}"))
    cases.set("timestamp", run.scored_at.isoformat() if run.scored_at else "")
    properties = SubElement(cases, "properties")
    for name, value in _properties(run, metric):
        SubElement(properties, "property", name=name, value=_xml(value))
    for case in results.cases_with_scores(run):
        cases.append(_case(case, run.pipeline, metric, limits.get(metric.id)))
    _count(cases)
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _properties(run: Run, metric: Metric) -> Iterator[tuple[str, str]]:
    spec = run.spec
    yield "run", str(run.pk)
    yield "gold", f"{run.release} {spec.gold.sha256}"
    yield "pipeline_version", run.pipeline_version
    yield "config_sha256", run.config_sha256
    yield "seed", str(run.seed)
    yield "metrics_version", spec.metrics_version
    for row in results.aggregates_of(run):
        if row.metric != metric.id:
            continue
        for fact in results.remarks(run, [row]):
            yield "remark", in_english(fact)
        if row.mean is not None:
            yield metric.id, f"{row.mean:.6f}"


def _case(case: CaseRun, pipeline: str, metric: Metric, limit: float | None) -> Element:
    name = case.case_id if case.repetition == 1 else f"{case.case_id} #{case.repetition}"
    element = Element("testcase", name=_xml(name), classname=_xml(pipeline))
    element.set("time", f"{case.seconds or 0.0:.3f}")
    score = next((score for score in case.scores.all() if score.metric == metric.id), None)
    if case.state == CaseRun.State.FAILED:
        why = in_english(case.error) if case.error else "The pipeline failed."
        _add(element, "error", why, kind=case.error_class or "failed")
    elif score is None or score.value is None:
        why = in_english(score.reason) if score and score.reason else "Undefined."
        _add(element, "skipped", f"{metric.id} is undefined: {why}")
    elif why := _why_failed(score.value, metric, limit):
        _add(element, "failure", why, kind=metric.id)
    return element


def _why_failed(value: float, metric: Metric, limit: float | None) -> str:
    higher = metric.direction == "higher"
    if limit is None:
        return f"{metric.id} {value:.3f}: the worst value there is" if value == metric.worst else ""
    short = value < limit - TOLERANCE if higher else value > limit + TOLERANCE
    side = "below" if higher else "above"
    return f"{metric.id} {value:.6g} is {side} {limit:g}" if short else ""


def _add(element: Element, tag: str, message: str, *, kind: str = "") -> None:
    child = SubElement(element, tag, message=_xml(message))
    if kind:
        child.set("type", kind)
    child.text = _xml(message)


def _count(suite: Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _xml(text: str) -> str:
    """Without the characters that no XML may hold, however they are escaped."""
    return "".join(char if _is_allowed(ord(char)) else REPLACEMENT for char in text)


def _is_allowed(code: int) -> bool:
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
