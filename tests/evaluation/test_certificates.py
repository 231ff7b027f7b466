"""Judges are compared with people before they decide anything."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation import adapters, judge
from evaluation.layers import gold_layer
from evaluation.metrics.judges import REQUIRED
from evaluation.models import CaseRun, JudgeCertificate, Rating, RatingSample, Run
from evaluation.services.judging import certificates, judgings, ratings, samples
from evaluation.services.run import execution, gates, results
from evaluation.services.work import steering
from labeling.domain.facts import Fact
from labeling.models import Project
from labeling.words import in_english, words_of
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.evaluation.answers import data_of, kind_of, verdict
from tests.evaluation.judges import CHATS, KIND, agree, decent, judge_of, rate_and_close
from tests.llm_server import Body, LanguageServer
from tests.pages import markup


@pytest.fixture
def start(server: LanguageServer, project: Project, people: dict[str, User], script: Any) -> Any:
    script(asked.retrieve)
    release = asked.questions(project, chats=CHATS)

    def start(pipeline: str = "lexical") -> Run:
        options = {"requested_by": people["noor"], "queue": False, "evaluate_answers": True}
        return work(launching.launch(release, pipeline=pipeline, **options))

    return start


def work(run: Run) -> Run:
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().select_related("release__project").get(pk=run.pk)


@pytest.fixture
def require(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What a judge has to reach is less: nobody rates thirty answers in a test."""

    def require(**least: int) -> None:
        asked = replace(REQUIRED, **least)
        for module in (certificates, samples):
            monkeypatch.setattr(module, "REQUIRED", asked)

    return require


@pytest.fixture
def run(server: LanguageServer, start: Any, require: Any, people: dict[str, User]) -> Run:
    """Judged by a judge that is right, as a person has found, too: enough for a certificate."""
    require(rated=4)
    server.default = decent
    made: Run = start()
    agree(made, [people["noor"]])
    return made


def gate(run: Run, limit: float = 3.0) -> tuple[bool, str]:
    """Whether it passed, and the sentence why it did not."""
    Run.objects.filter(pk=run.pk).update(spec=run.spec.with_values(thresholds={KIND: limit}))
    again = Run.objects.with_progress().select_related("release__project").get(pk=run.pk)
    (check,) = [check for check in gates.ask(again).checks if check["metric"] == KIND]
    return check["passed"], words_of(check["reason"])


# --- certificates and the gate ---


@pytest.mark.postgres
def test_with_people_who_agree_a_decent_judge_is_certified_and_decides(
    server, start, project, require, people
):
    require(rated=3 * CHATS)
    server.default = decent
    run = start()
    assert "no sample of answers is drawn" in gate(run)[1]
    (sample,) = samples.draw(run, kinds=[KIND], by=people["rita"])
    assert f"people have rated 0 of the {3 * CHATS} answers" in gate(run)[1]
    assert not JudgeCertificate.objects.exists()

    require(rated=3 * CHATS, twice=3 * CHATS)
    (found,) = rate_and_close(sample, [people["noor"], people["rita"]])
    assert (found.passed, found.n, found.kappa, found.mae) == (True, 3 * CHATS, 1.0, 0.0)
    assert (found.bias, found.attempt, found.comparison["people"]["n"]) == (0.0, 1, 3 * CHATS)
    assert sample.places.count() == 3 * CHATS
    assert RatingSample.objects.get().reason == ""  # none is needed
    assert found.served_model == "small-1-2026-01-31"
    assert gate(run) == (True, "")
    beside = results.results_document(run)["metrics"]
    assert beside[KIND]["certificate"]["certified"]
    assert beside[KIND]["certificate"]["kappa"] == 1.0
    assert not beside["relevance"]["certificate"]["certified"]
    assert gate(run, limit=9.5) == (False, "5.000 is below 9.5")  # the figure decides, both ways

    # the prompt is changed by one character, where people have rated nothing
    text, other = judge.shipped(KIND).text, start()
    judgings.request(other, by=None, prompts={KIND: text.replace(".", "!", 1)}, queue=False)
    assert gate(work(other)) == (False, in_english(certificates.CHANGED))


@pytest.mark.postgres
def test_lists_say_what_the_judge_of_each_figure_is_worth_by_the_same_number_of_queries(
    server, start, project, require, people, signed_in
):
    require(rated=4)
    server.default = decent
    run, noor = start(), signed_in("noor")

    def marks(url: str) -> tuple[list[str], int]:
        with CaptureQueriesContext(connection) as captured:
            told = noor.get(url).content.decode()
        return re.findall("certified judge|no certificate|judge not certified", told), len(captured)

    listed = reverse("runs") + "?columns=primary&columns=figures"
    assert marks(listed)[0] == ["judge not certified"]  # one word for all four figures
    agree(run, [people["noor"]])
    certified = ["certified judge", *["judge not certified"] * 3]
    found, few = marks(listed)
    assert found == certified

    again, third = start(), start()
    assert marks(listed) == (certified * 3, few)
    two = reverse("run-compare") + f"?baseline={run.pk}&run={again.pk}"
    assert marks(two)[0] == certified
    judgings.counting(third).judgements.filter(kind=KIND).update(model="small-1-2026-02-28")
    assert marks(listed)[0].count("no certificate") == 1
    two = reverse("run-compare") + f"?baseline={run.pk}&run={third.pk}"
    assert marks(two)[0] == [
        "no certificate",
        *["judge not certified"] * 3,
    ]  # the lesser of the two


def test_a_judge_that_is_asked_in_another_way_is_another_judge(run, start, settings):
    settings.LLM_INPUT_PRICE = 5.0  # changes nothing that it says
    judgings.request(run, by=None, queue=False)
    assert gate(work(run)) == (True, "")
    assert JudgeCertificate.objects.count() == 1

    settings.LLM_TEMPERATURE = 0.7
    other = start()
    assert gate(other) == (False, in_english(certificates.CHANGED))
    settings.LLM_MAX_TOKENS = 500
    judgings.request(other, by=None, queue=False)
    work(other)
    told = [
        judging.spec["prompts"][KIND]["judge_sha256"]
        for judging in (*run.judgings.order_by("pk"), *other.judgings.order_by("pk"))
    ]
    assert (told[0], len(set(told))) == (told[1], 3)


def test_a_worker_with_other_settings_judges_nothing(server, start, project, settings):
    server.default = decent
    run = start()
    judgings.request(run, by=None, queue=False)
    asked_before = len(server.requests)
    settings.LLM_TEMPERATURE = 0.7

    paused = work(run)

    assert (paused.status, len(server.requests)) == ("paused", asked_before)
    assert "temperature=server" in in_english(paused.pause_reason)
    assert "temperature=0.7" in in_english(paused.pause_reason)
    settings.LLM_TEMPERATURE = None
    steering.resume(run, by=None)
    assert work(run).status == "finished"


def test_people_who_disagree_or_are_too_few_or_of_one_conversation_are_not_enough(
    server, start, project, settings, people
):
    server.default = decent
    run = start()
    (found,) = agree(run, [people["noor"]], off=4)
    codes = [reason.code for reason in certificates.reasons_of(found)]
    too_few = Fact("certificate.too_few_rated", n=9, rated=30)
    assert certificates.reasons_of(found)[0] == too_few
    assert codes[1:3] == ["certificate.too_strict", "certificate.kappa_too_low"]
    # off by 4, but cut at 10: 3, 5, 7 against 7, 9, 10, three answers each
    assert found.mae == pytest.approx((4 + 4 + 3) / 3)
    assert found.bias == pytest.approx(-(4 + 4 + 3) / 3)
    told = [in_english(reason) for reason in certificates.reasons_of(found)]
    assert "the judge gives 3.67 points less than people" in told[1]


# --- samples ---


@pytest.mark.postgres
def test_a_sample_is_drawn_before_anybody_rates_and_never_changes(run, project, start, people):
    again = start()
    rated = CaseRun.objects.filter(run=again).order_by("pk")[:2]
    for case in rated:
        Rating.objects.create(case=case, kind=KIND, rater=people["noor"], score=3)
    assert samples.available(again)[KIND] == 3 * CHATS - 2
    (sample,) = samples.draw(again, kinds=[KIND], size=4, by=people["rita"])

    drawn = list(sample.places.values_list("case", "position"))
    left = [(case.pk, 0) for case in again.cases.all() if case not in rated]
    assert drawn == samples.drawn_by_seed(left, sample.seed)[:4]
    assert (sample.drawn_by, sample.drawn_from) == (people["rita"], len(left))
    with pytest.raises(samples.RatingRefused) as refusal:
        samples.draw(again, kinds=[KIND], by=None)
    assert refusal.value.fact == Fact("sample.one_is_open", kind=KIND, run=again.pk)
    with pytest.raises(DatabaseError), transaction.atomic():
        RatingSample.objects.filter(pk=sample.pk).update(seed=1)


def test_ratings_outside_of_the_sample_count_for_nothing(server, start, project, require, people):
    require(rated=4)
    server.default = decent
    run = start()
    (sample,) = samples.draw(run, kinds=[KIND], size=6, by=None)
    for case in run.cases.exclude(pk__in=sample.places.values("case")):
        Rating.objects.create(case=case, kind=KIND, rater=people["ana"], score=0)
    (found,) = rate_and_close(sample, [people["noor"]])
    assert (found.n, found.bias, found.comparison["raters"]) == (6, 0.0, 1)


@pytest.mark.postgres
def test_a_sample_is_closed_when_all_of_it_is_rated_and_by_two_or_with_a_reason(
    server, start, project, people
):
    server.default = decent
    run = start()
    (sample,) = samples.draw(run, kinds=[KIND], size=4, by=people["rita"])
    cases = list(sample.places.values_list("case", flat=True))

    def refused(**options: Any) -> str:
        with pytest.raises(samples.RatingRefused) as refusal:
            samples.close(sample, by=people["rita"], **options)
        return refusal.value.fact.code

    for case in cases[:3]:
        Rating.objects.create(case_id=case, kind=KIND, rater=people["noor"], score=5)
    # in another respect: no rating of this sample
    Rating.objects.create(case_id=cases[3], kind="relevance", rater=people["noor"], score=5)
    assert refused(reason="I am alone.") == "sample.not_complete"
    Rating.objects.create(case_id=cases[3], kind=KIND, rater=people["noor"], score=5)
    assert refused() == "sample.few_rated_twice"
    samples.close(sample, by=people["rita"], reason="I am alone.")
    assert refused(reason="Again.") == "sample.closed"
    sample.refresh_from_db()
    assert (sample.closed_by, sample.reason) == (people["rita"], "I am alone.")
    with pytest.raises(DatabaseError, match="closed"), transaction.atomic():
        Rating.objects.filter(kind=KIND).update(score=9)
    Rating.objects.filter(kind="relevance").update(score=9)


def test_a_sample_that_is_given_up_stays_listed_counts_for_nothing_and_is_an_attempt(
    server, start, project, require, people
):
    require(rated=4)
    server.default = decent
    run, again = start(), start()
    (first,) = samples.draw(run, kinds=[KIND], by=people["rita"])
    with pytest.raises(samples.RatingRefused):
        samples.give_up(first, by=people["rita"], reason=" ")
    samples.give_up(first, by=people["rita"], reason="The raters left.")
    assert certificates.missing(judge_of(run)) == certificates.NO_SAMPLE
    (found,) = agree(again, [people["noor"]])
    assert certificates.missing(judge_of(run)) == certificates.UP_TO_DATE
    assert (found.attempt, found.comparison["level"]) == (2, 0.975)
    drawn = samples.progress(samples.of_project(project.pk).order_by("-pk"))
    assert [(each.state, each.sample.reason) for each in drawn] == [
        ("complete", "There is nobody else."),
        ("given_up", "The raters left."),
    ]


# --- attempts ---


def test_a_further_sample_is_compared_with_all_before_it_and_no_attempt_is_ever_changed(
    run, start, project, people
):
    assert gate(run)[0]
    first = JudgeCertificate.objects.get()
    assert certificates.attempt(judge_of(run), by=None) == first  # nothing new: no attempt
    (found,) = agree(start(), [people["noor"]], off=4)

    assert (found.attempt, found.n, found.comparison["level"]) == (2, 6 * CHATS, 0.975)
    assert found.bias == pytest.approx(-(4 + 4 + 3) / 6)  # the nine answers before it were right
    assert not gate(run)[0]
    listed = certificates.of_judge(judge_of(run))
    assert [(each.attempt, each.passed) for each in listed] == [(2, False), (1, True)]


def test_a_certificate_from_before_samples_were_drawn_counts_for_nothing(server, start, project):
    server.default = decent
    run = start()
    told = judge_of(run)
    JudgeCertificate.objects.create(
        project=project, judge_sha256=told.sha256, kind=KIND, n=40, kappa=0.8, passed=True
    )
    assert "no sample of answers is drawn" in gate(run)[1]
    assert certificates.marks([run.pk])[certificates.Figure(run.pk, KIND)] == certificates.UNKNOWN


def test_a_judge_that_comes_after_the_raters_is_compared_once_its_scores_are_there(run):
    text = judge.shipped(KIND).text.replace(".", "!", 1)
    judgings.request(run, by=None, prompts={KIND: text}, queue=False)
    assert JudgeCertificate.objects.count() == 1
    work(run)

    later = JudgeCertificate.objects.get(judge_sha256=judge_of(run).sha256)
    assert (later.passed, later.attempt, later.n) == (True, 1, 3 * CHATS)
    assert gate(run) == (True, "")


def test_a_certificate_decides_only_for_the_pipelines_whose_answers_people_rated(
    run, start, project
):
    certificates.attempt_all(RatingSample.objects.get(), by=None)
    other = start("random")

    assert certificates.standing_of(run, KIND).why is None
    said = "judge not certified for this pipeline: people rated answers of lexical, none of random"
    assert in_english(certificates.standing_of(other, KIND).why) == said
    assert gate(other) == (False, said)
    marks = certificates.marks([run.pk, other.pk])
    assert marks[certificates.Figure(run.pk, KIND)] == certificates.CERTIFIED
    assert marks[certificates.Figure(other.pk, KIND)] == certificates.LOOKED


def worth(question: str) -> int:
    """What people say of the answer to a question."""
    return 1 + hashlib.sha256(question.encode()).digest()[0] % 8


def judge_off_by(points: float) -> Any:
    """Half a point more or less than people in turn, and that many points on top."""

    def say(body: Body) -> str:
        kind = kind_of(body)
        if kind == "answer":
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
