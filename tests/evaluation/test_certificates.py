"""Judges are tried with probes and compared with people before they decide anything."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation import judge, probes
from evaluation.metrics.gate import NO_CERTIFICATE
from evaluation.models import Answer, AnswerRating, JudgeCertificate, Probing, Run
from evaluation.services.judging import certificates, judgings, probings
from evaluation.services.run import execution, gates, results
from evaluation.services.work import steering
from labeling.domain.facts import Fact
from labeling.models import Project
from labeling.words import in_english, words_of
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.evaluation.probing import CHATS, KIND, decent, lenient, probe
from tests.llm_server import LanguageServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(server: LanguageServer, project: Project, people: dict[str, User], script: Any) -> Any:
    script(asked.retrieve)
    release = asked.questions(project, chats=CHATS)

    def start() -> Run:
        options = {"requested_by": people["noor"], "queue": False, "evaluate_answers": True}
        return work(launching.launch(release, pipeline="lexical", **options))

    return start


def work(run: Run) -> Run:
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().select_related("release__project").get(pk=run.pk)


def agree(run: Run, raters: list[User], *, off: int = 0) -> None:
    """People say of every answer what the judge says, or ``off`` points more."""
    judging = judgings.counting(run)
    for one in judging.judgements.filter(kind=KIND, score__isnull=False):
        for rater in raters:
            score = min(round(one.score) + off, 10)
            AnswerRating.objects.create(answer=one.answer, kind=KIND, rater=rater, score=score)


@pytest.fixture
def run(server: LanguageServer, start: Any, settings: Any, people: dict[str, User]) -> Run:
    """Judged by a judge that is right, as a person has found, too: enough for a certificate."""
    settings.JUDGE_MIN_RATED = 4
    server.default = decent
    made: Run = start()
    agree(made, [people["noor"]])
    return made


def gate(run: Run, limit: float = 3.0) -> tuple[bool, str]:
    """Whether it passed, and the sentence why it did not."""
    Run.objects.filter(pk=run.pk).update(spec=run.spec.with_values(thresholds={KIND: limit}))
    again = Run.objects.with_progress().select_related("release__project").get(pk=run.pk)
    (check,) = [one for one in gates.ask(again).checks if one["metric"] == KIND]
    return check["passed"], words_of(check["reason"])


def test_the_probes_catch_a_lenient_judge_and_the_gate_refuses_it(
    server: LanguageServer, start: Any, project: Project, settings: Any, people: dict[str, User]
) -> None:
    settings.JUDGE_MIN_RATED = 4
    server.default = lenient
    run = start()
    agree(run, [people["noor"]])  # people are as lenient: the probes alone have to catch it
    probe(project, *probings.KINDS)

    for found in JudgeCertificate.objects.all():
        caught = {one["trick"] for one in found.probes if not one["held"]}
        assert not found.passed
        assert "order in the answer" in caught
        assert not caught & {"good", "paraphrase"}
    passed, why = gate(run)
    assert not passed
    assert "probes" in why


# --- certificates and the gate ---


def test_with_people_who_agree_a_decent_judge_is_certified_and_decides(
    server: LanguageServer, start: Any, project: Project, settings: Any, people: dict[str, User]
) -> None:
    settings.JUDGE_MIN_RATED = 3 * CHATS
    server.default = decent
    run = start()
    assert gate(run) == (False, in_english(NO_CERTIFICATE))

    probe(project)
    passed, why = gate(run)
    assert not passed
    assert f"people have rated 0 answers that this judge scored, and {3 * CHATS}" in why

    agree(run, [people["noor"], people["rita"]])
    probing = Probing.objects.get()
    found = certificates.look(probing, by=people["rita"])
    assert (found.passed, found.n, found.kappa, found.mae) == (True, 3 * CHATS, 1.0, 0.0)
    assert found.served_model == "small-1-2026-01-31"
    assert gate(run) == (True, "")
    beside = results.results_document(run)["metrics"]
    assert beside[KIND]["certificate"]["certified"]
    assert beside[KIND]["certificate"]["kappa"] == 1.0
    assert not beside["relevance"]["certificate"]["certified"]
    assert gate(run, limit=9.5) == (False, "5.000 is below 9.5")  # the figure decides, both ways

    # the prompt is changed by one character
    text = judge.shipped(KIND).text
    judgings.request(run, by=None, prompts={KIND: text.replace(".", "!", 1)}, queue=False)
    passed, why = gate(work(run))
    assert (passed, why) == (False, in_english(certificates.CHANGED))


def test_lists_say_what_the_judge_of_each_figure_is_worth_by_the_same_number_of_queries(
    server: LanguageServer, start: Any, project: Project, settings: Any, people: Any, signed_in: Any
) -> None:
    settings.JUDGE_MIN_RATED = 4
    server.default = decent
    run, noor = start(), signed_in("noor")

    def marks(url: str) -> tuple[list[str], int]:
        with CaptureQueriesContext(connection) as captured:
            told = noor.get(url).content.decode()
        return re.findall("certified judge|no certificate|judge not certified", told), len(captured)

    assert marks(reverse("runs"))[0] == ["judge not certified"]  # one word for all four figures
    agree(run, [people["noor"]])
    probe(project)
    certified = ["certified judge", *["judge not certified"] * 3]
    found, few = marks(reverse("runs"))
    assert found == certified
    claims = "Claims have no probes and are rated by nobody"
    assert claims in noor.get(run.get_absolute_url()).content.decode()

    again, third = start(), start()
    assert marks(reverse("runs")) == (certified * 3, few)
    two = reverse("run-compare") + f"?before={run.pk}&after={again.pk}"
    assert marks(two)[0] == certified
    judgings.counting(third).judgements.filter(kind=KIND).update(model="small-1-2026-02-28")
    assert marks(reverse("runs"))[0].count("no certificate") == 1
    two = reverse("run-compare") + f"?before={run.pk}&after={third.pk}"
    assert marks(two)[0] == [
        "no certificate",
        *["judge not certified"] * 3,
    ]  # the lesser of the two


def test_a_judge_that_is_asked_in_another_way_is_another_judge(
    run: Run, project: Project, settings: Any
) -> None:
    probe(project)
    assert gate(run) == (True, "")

    settings.LLM_INPUT_PRICE = 5.0  # changes nothing that it says
    judgings.request(run, by=None, queue=False)
    assert gate(work(run)) == (True, "")

    settings.LLM_TEMPERATURE = 0.7
    judgings.request(run, by=None, queue=False)
    assert gate(work(run)) == (False, in_english(certificates.CHANGED))
    settings.LLM_MAX_TOKENS = 500
    judgings.request(run, by=None, queue=False)
    work(run)
    told = [one.spec["prompts"][KIND]["judge_sha256"] for one in run.judgings.order_by("pk")]
    assert (told[0], len(set(told))) == (told[1], 3)


def test_a_worker_with_other_settings_judges_and_probes_nothing(
    server: LanguageServer, start: Any, project: Project, settings: Any
) -> None:
    server.default = decent
    run = start()
    judgings.request(run, by=None, queue=False)
    (probing,) = probings.request(project, kinds=[KIND], by=None, queue=False)
    asked_before = len(server.requests)
    settings.LLM_TEMPERATURE = 0.7

    paused = work(run)
    probings.work(probing.pk, uuid4())

    assert (paused.status, len(server.requests)) == ("paused", asked_before)
    assert "max_tokens=4096, temperature=0.0" in in_english(paused.pause_reason)
    assert "temperature=0.7" in in_english(paused.pause_reason)
    probing.refresh_from_db()
    assert (probing.state, "temperature=0.7" in in_english(probing.error)) == ("failed", True)
    settings.LLM_TEMPERATURE = 0.0
    steering.resume(run, by=None)
    assert work(run).status == "finished"


def test_people_who_disagree_or_are_too_few_or_of_one_conversation_are_not_enough(
    server: LanguageServer, start: Any, project: Project, settings: Any, people: dict[str, User]
) -> None:
    server.default = decent
    run = start()
    agree(run, [people["noor"]], off=4)
    (probing,) = probe(project)
    too_few = Fact("certificate.too_few_rated", n=9, rated=30)
    assert certificates.reasons_of(JudgeCertificate.objects.get())[0] == too_few
    settings.JUDGE_MIN_RATED = 4
    found = certificates.look(probing, by=None)
    assert not found.passed
    assert any("κ" in in_english(one) for one in certificates.reasons_of(found))
    # off by 4, but cut at 10: 3, 5, 7 against 7, 9, 10, three answers each
    assert found.mae == pytest.approx((4 + 4 + 3) / 3)

    first = Answer.objects.filter(case__item__item_id="Chat_1")
    AnswerRating.objects.exclude(answer__in=first).delete()
    settings.JUDGE_MIN_RATED = 3
    found = certificates.look(probing, by=None)
    assert not found.passed


def test_the_newest_look_counts_and_none_is_ever_changed(run: Run, project: Project) -> None:
    (probing,) = probe(project)
    assert gate(run)[0]
    AnswerRating.objects.all().update(score=5)
    assert gate(run)[0]  # what was issued stands for what was rated then
    certificates.look(probing, by=None)
    assert not gate(run)[0]
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        JudgeCertificate.objects.update(passed=True)


def test_another_model_behind_the_same_name_and_newer_probes_end_a_certificate(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe(project)
    assert gate(run)[0]

    judgings.counting(run).judgements.filter(kind=KIND).update(model="small-1-2026-02-28")
    assert "small-1-2026-02-28" in gate(run)[1]

    newer = probes.ProbeSet("2", probes.load().probes)
    monkeypatch.setattr(probes, "load", lambda: newer)
    assert gate(run) == (False, in_english(certificates.OLD_PROBES))


# --- the command ---


def certify(project: Project, *arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("certify_judge", "--project", project.slug, *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_the_command_asks_looks_and_says_what_is_missing(
    server: LanguageServer,
    start: Any,
    project: Project,
    settings: Any,
    people: dict[str, User],
    tmp_path: Path,
) -> None:
    settings.JUDGE_MIN_RATED = 4
    server.default = decent
    run = start()
    status, said = certify(project, "--kind", KIND)
    assert status == 1
    assert "rate answers" in said

    agree(run, [people["noor"]])
    calls = len(server.requests)
    status, said = certify(project, "--kind", KIND, "--compare")
    assert (status, len(server.requests)) == (0, calls)
    assert "certified" in said

    changed = tmp_path / "prompt.md"
    changed.write_text(judge.shipped(KIND).text + " ")  # only spaces at the end: the same prompt
    assert certify(project, "--kind", KIND, "--prompt", f"{KIND}={changed}", "--compare")[0] == 0
    changed.write_text(judge.shipped(KIND).text + ".")
    assert certify(project, "--kind", KIND, "--prompt", f"{KIND}={changed}", "--compare")[0] == 2
    assert certify(project, "--kind", "charm")[0] == 2
    settings.LLM_MODEL = ""
    status, said = certify(project)
    assert status == 2
    assert "LLM_MODEL" in said
