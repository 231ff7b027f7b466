"""All that was tried with a judge: its probes, the samples of its project, what came of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from evaluation import probes
from evaluation.models import AnswerSample, JudgeCertificate, Probing, SampledAnswer
from evaluation.services.judging import certificates, samples
from labeling.models import Project
from labeling.words import in_english


class TriedProbes(TypedDict):
    """One asking of the probes. ``counted``: how many of its replies are the first to a probe."""

    probing: int
    at: str
    by: str | None
    state: str
    served_model: str
    probes_version: str
    replies: int
    counted: int
    passed: int | None


class DrawnSample(TypedDict):
    """A sample of the project for this kind, whether or not this judge was compared on it.

    ``other_judges``: how many others were, which is why this one may have been chosen.
    """

    sample: int
    run: int
    state: str
    size: int
    drawn_from: int
    seed: int
    drawn_at: str
    drawn_by: str | None
    closed_at: str | None
    closed_by: str | None
    reason: str
    rated: int
    rated_twice: int
    raters: int
    answers: list[int]
    other_judges: int


class Comparison(TypedDict):
    """What came of one comparison with people. ``counts``: the newest does."""

    certificate: int
    attempt: int | None
    sample: int | None
    at: str
    by: str | None
    passed: bool
    counts: bool
    reasons: list[str]
    figures: dict[str, Any]


class Attempts(TypedDict):
    probes: list[TriedProbes]
    samples: list[DrawnSample]
    comparisons: list[Comparison]


def of_judge(project: Project, kind: str, judge_sha256: str) -> Attempts:
    """The newest first. A number of queries that does not depend on how many there are."""
    own = {"project": project, "kind": kind, "judge_sha256": judge_sha256}
    rows = JudgeCertificate.objects.filter(**own).select_related("issued_by").order_by("-pk")
    probings = Probing.objects.filter(**own).select_related("requested_by").order_by("pk")
    return {
        "probes": _probes(kind, list(probings))[::-1],
        "samples": _samples(project, kind, judge_sha256)[::-1],
        "comparisons": [
            _comparison(row, counts=at == 0 and row.sample_id is not None)
            for at, row in enumerate(rows)
        ],
    }


def _probes(kind: str, probings: list[Probing]) -> list[TriedProbes]:
    seen: set[tuple[str, str, str]] = set()
    fresh = probes.load().version
    tried: list[TriedProbes] = []
    for probing in probings:
        same = probing.served_model, probing.probes_version
        ids = [(*same, reply["id"]) for reply in probing.results]
        counted = len(set(ids) - seen)
        seen.update(ids)
        replies = {reply["id"]: reply for reply in probing.results}
        marked = probes.marked(kind, replies) if probing.probes_version == fresh else None
        tried.append(
            {
                "probing": probing.pk,
                "at": probing.created_at.isoformat(),
                "by": _name(probing.requested_by),
                "state": probing.state,
                "served_model": probing.served_model,
                "probes_version": probing.probes_version,
                "replies": len(ids),
                "counted": counted,
                "passed": None if marked is None else sum(probe["held"] for probe in marked),
            }
        )
    return tried


def _samples(project: Project, kind: str, judge_sha256: str) -> list[DrawnSample]:
    rows = samples.of_project(project.pk).filter(kind=kind).order_by("pk")
    drawn = list(rows.select_related("panel", "drawn_by", "closed_by"))
    answers: dict[int, list[int]] = {sample.pk: [] for sample in drawn}
    for sample, answer in SampledAnswer.objects.filter(sample__in=drawn).values_list(
        "sample", "answer"
    ):
        answers[sample].append(answer)
    others = _other_judges(drawn, kind, judge_sha256)
    return [
        {
            "sample": done.sample.pk,
            "run": done.sample.panel.run_id,
            "state": state_of(done.sample),
            "size": done.size,
            "drawn_from": done.sample.drawn_from,
            "seed": done.sample.seed,
            "drawn_at": done.sample.drawn_at.isoformat(),
            "drawn_by": _name(done.sample.drawn_by),
            "closed_at": done.sample.closed_at.isoformat() if done.sample.closed_at else None,
            "closed_by": _name(done.sample.closed_by),
            "reason": done.sample.reason,
            "rated": done.rated,
            "rated_twice": done.twice,
            "raters": done.raters,
            "answers": answers[done.sample.pk],
            "other_judges": len(others.get(done.sample.pk, set())),
        }
        for done in samples.progress(drawn)
    ]


def state_of(sample: AnswerSample) -> str:
    if sample.closed_at is None:
        return "open"
    return "given_up" if sample.given_up else "complete"


def _other_judges(
    drawn: Iterable[AnswerSample], kind: str, judge_sha256: str
) -> dict[int, set[str]]:
    rows = JudgeCertificate.objects.filter(sample__in=list(drawn), kind=kind)
    others: dict[int, set[str]] = {}
    for sample, sha256 in rows.exclude(judge_sha256=judge_sha256).values_list(
        "sample", "judge_sha256"
    ):
        others.setdefault(sample, set()).add(sha256)
    return others


def _comparison(row: JudgeCertificate, *, counts: bool) -> Comparison:
    return {
        "certificate": row.pk,
        "attempt": row.attempt,
        "sample": row.sample_id,
        "at": row.issued_at.isoformat(),
        "by": _name(row.issued_by),
        "passed": row.passed,
        "counts": counts,
        "reasons": [in_english(reason) for reason in certificates.reasons_of(row)],
        "figures": row.comparison,
    }


def _name(user: Any) -> str | None:
    return user.get_username() if user else None
