"""A judge that scores answers as a person would, and people who rate what it has judged."""

from __future__ import annotations

from typing import Any

from evaluation.models import JudgeCertificate, Rating, RatingSample, Run
from evaluation.services.judging import certificates, judgings, samples
from tests.evaluation import answers as asked
from tests.evaluation.answers import data_of, kind_of, verdict
from tests.llm_server import Body

KIND = "faithfulness"
CHATS = 3


def decent(body: Body) -> str:
    """Scores that differ from chat to chat."""
    if kind_of(body) == "answer":
        return asked.speak(body)
    data = data_of(body)
    chat = next(number for number in range(1, CHATS + 1) if f"(Chat_{number})" in data)
    return verdict(2 * chat + 1)


def judge_of(run: Run, kind: str = KIND) -> certificates.Judge:
    judging = judgings.counting(run)
    sha256 = judging.spec["prompts"][kind]["judge_sha256"]
    return certificates.Judge(run.release.project_id, kind, sha256)


def agree(
    run: Run, raters: list[Any], *, off: int = 0, kinds: tuple[str, ...] = (KIND,)
) -> list[JudgeCertificate]:
    """A sample of all answers of which people say what the judge says, or ``off`` points more."""
    return [
        certificate
        for sample in samples.draw(run, kinds=kinds, size=1000, by=None)
        for certificate in rate_and_close(sample, raters, off=off)
    ]


def rate_and_close(
    sample: RatingSample, raters: list[Any], *, off: int = 0
) -> list[JudgeCertificate]:
    judging = judgings.counting(sample.panel.run)
    drawn = judging.judgements.filter(answer__case__in=sample.places.values("case"))
    for judged in drawn.filter(kind=sample.kind).select_related("answer"):
        for rater in raters:
            score = min(round(judged.score or 0) + off, 10)
            case, kind = judged.answer.case_id, sample.kind
            Rating.objects.create(case_id=case, kind=kind, rater=rater, score=score)
    samples.close(sample, by=None, reason="There is nobody else.")
    return certificates.attempt_all(sample, by=None)
