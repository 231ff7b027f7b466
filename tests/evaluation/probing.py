"""Judges who answer probes well or badly, and the probing of them."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from evaluation import probes
from evaluation.models import AnswerRating, AnswerSample, JudgeCertificate, Probing, Run
from evaluation.probes import Expectation, Probe
from evaluation.services.judging import certificates, judgings, probings, samples
from labeling.models import Project
from tests.evaluation import answers as asked
from tests.evaluation.answers import data_of, kind_of, verdict
from tests.llm_server import Body

KIND = "faithfulness"
CHATS = 3


def probe_in(body: Body) -> Probe:
    """The probe that a request is about."""
    data = data_of(body)
    return next(
        probe
        for probe in probes.load().probes
        if data.endswith(f"Answer to judge: {as_data(probe.answer)}")
    )


def as_data(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def decent(body: Body) -> str:
    """A judge that says of every probe what a person would; of other answers, see ``of_answer``."""
    kind = kind_of(body)
    if kind in ("answer", "claims"):
        return asked.speak(body)
    data = data_of(body)
    if "oven" not in data and "library" not in data:
        return verdict(of_answer(data))
    return verdict(fair(probe_in(body).expectations[kind]))


def fair(expected: Expectation) -> float:
    if expected.at_most is not None:
        return expected.at_most - 1
    return 8.0


def of_answer(data: str) -> int:
    """Scores that differ from chat to chat."""
    return next(2 * number + 1 for number in range(1, CHATS + 1) if f"(Chat_{number})" in data)


def lenient(body: Body) -> str:
    kind = kind_of(body)
    return asked.speak(body) if kind in ("answer", "claims") else verdict(10, "Splendid.")


def probe(project: Project, *kinds: str, by: Any = None, **options: Any) -> list[Probing]:
    made = probings.request(project, kinds=kinds or (KIND,), by=by, queue=False, **options)
    for one in made:
        probings.work(one.pk, uuid4())
    return [Probing.objects.get(pk=one.pk) for one in made]


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
    sample: AnswerSample, raters: list[Any], *, off: int = 0
) -> list[JudgeCertificate]:
    judging = judgings.counting(sample.panel.run)
    assert judging is not None
    drawn = sample.answers.values("answer")
    for judged in judging.judgements.filter(kind=sample.kind, answer__in=drawn):
        for rater in raters:
            score = min(round(judged.score or 0) + off, 10)
            AnswerRating.objects.create(
                answer=judged.answer, kind=sample.kind, rater=rater, score=score
            )
    samples.close(sample, by=None, reason="There is nobody else.")
    return certificates.attempt_all(sample, by=None)
