"""Judges from launch to gate: a point too generous is refused, level with people is certified."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.models import JudgeCertificate, RatingSample, Run
from evaluation.services.judging import ratings, samples
from evaluation.services.run import execution, gates, results
from labeling.models import Project
from labeling.words import words_of
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.evaluation.answers import data_of, kind_of, verdict
from tests.evaluation.judges import KIND
from tests.llm_server import Body, LanguageServer
from tests.pages import markup


def worth(question: str) -> int:
    """What people say of the answer to a question."""
    return 1 + hashlib.sha256(question.encode()).digest()[0] % 8


def judge_off_by(points: float) -> Any:
    """Half a point more or less than people in turn, and that many points on top."""

    def say(body: Body) -> str:
        kind = kind_of(body)
        if kind in ("answer", "claims"):
            return asked.speak(body)
        question = re.search(r"\w+\? \(Chat_\d+\)", data_of(body))
        half = hashlib.sha256(question[0].encode()).digest()[1] % 2 - 0.5
        return verdict(worth(question[0]) + half + points)

    return say


@pytest.fixture
def answered(server: LanguageServer, project: Project, people: Any, script: Any) -> Any:
    def launch(judge: Any, chats: int) -> Run:
        script(asked.retrieve)
        server.default = judge
        release = asked.questions(project, chats=chats)
        options = {"requested_by": people["noor"], "queue": False, "evaluate_answers": True}
        run = launching.launch(release, pipeline="lexical", **options)
        execution.work(run.pk, uuid4())
        return Run.objects.with_progress().select_related("release__project").get(pk=run.pk)

    return launch


def have_rated(sample: RatingSample, first: User, second: User) -> None:
    """All of it by one person and 20 answers by a second one, who gives a point more at times."""
    layer = gold_layer(sample.panel.run.release.layer)
    for at, place in enumerate(sample.places.select_related("case__item", "case__run__release")):
        score = worth(layer.question(adapters.to_example(place.case, layer).gold))
        ratings.rate(place, rater=first, score=score)
        if at < 20:
            ratings.rate(place, rater=second, score=score + at // 10)


def test_a_judge_a_point_too_generous_is_refused_and_every_attempt_is_listed(
    server, answered, project, people, signed_in
):
    run = answered(judge_off_by(1.0), chats=12)
    rita, change = signed_in("rita"), reverse("run-ratings-change", args=[run.pk])
    rita.post(change, {"action": "draw", "size": "4", "kind": [KIND]})
    first = RatingSample.objects.get()
    rita.post(change, {"action": "give_up", "sample": first.pk, "reason": "Too small."})
    rita.post(change, {"action": "draw", "size": "32", "kind": [KIND]})
    second = RatingSample.objects.get(closed_at=None)
    have_rated(second, people["noor"], people["rita"])
    assert not JudgeCertificate.objects.exists()
    rita.post(change, {"action": "close", "sample": second.pk})

    refused = JudgeCertificate.objects.get()
    assert [reason["code"] for reason in refused.reasons] == ["certificate.too_generous"]
    assert (refused.n, refused.attempt, refused.comparison["people"]["n"]) == (32, 2, 20)
    assert refused.bias_high > 0.5  # the sample is drawn at random: its lower end may be less
    assert refused.ci_low > 0.6  # by rank alone it would have passed

    Run.objects.filter(pk=run.pk).update(spec=run.spec.with_values(thresholds={KIND: 1.0}))
    again = Run.objects.with_progress().select_related("release__project").get(pk=run.pk)
    (check,) = [check for check in gates.ask(again).checks if check["metric"] == KIND]
    assert not check["passed"]
    assert "points more than people" in words_of(check["reason"])

    about = [project.slug, KIND, refused.judge_sha256]
    text = markup(rita, reverse("judge", args=about))
    for said in ("Too small.", "given up", "points more than people", "32/32", "by rita"):
        assert said in text, said
    assert "people_corrected" not in results.results_document(again)["metrics"][KIND]


def test_a_judge_level_with_people_is_certified_and_its_mean_is_corrected_by_them(
    server, answered, project, people, signed_in
):
    run = answered(judge_off_by(0.1), chats=18)
    (sample,) = samples.draw(run, size=50, kinds=[KIND], by=people["rita"])
    have_rated(sample, people["noor"], people["rita"])
    rita = signed_in("rita")
    change = reverse("run-ratings-change", args=[run.pk])
    rita.post(change, {"action": "close", "sample": sample.pk})
    certificate = JudgeCertificate.objects.get()
    assert (certificate.passed, certificate.reasons) == (True, [])

    figures = results.results_document(run)["metrics"][KIND]
    corrected = figures["people_corrected"]
    assert (corrected["n"], corrected["rated"], corrected["conversations"]) == (54, 50, 18)
    assert corrected["judged"] == pytest.approx(figures["mean"])
    assert corrected["value"] == pytest.approx(figures["mean"] - certificate.bias)
    assert corrected["low"] < corrected["value"] < corrected["high"]
    told = signed_in("noor").get(reverse("api-run", args=[run.pk])).json()
    assert told["people_corrected"] == {KIND: corrected}
    page = markup(rita, f"{run.get_absolute_url()}?tab=answers")
    assert f"{corrected['value']:.2f}" in page
    assert "by 50 ratings" in page
