"""Gold that was corrected: runs that are scored on it, and doubts about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Answer, CaseRun, Run
from evaluation.services.launch import carrying
from evaluation.services.launch.predictions import from_list
from evaluation.services.run import comparisons
from evaluation.services.work.steering import RunRefused
from labeling.domain.canonical import canonical_json
from labeling.gold import looks
from labeling.gold.looks import Sight
from labeling.gold.rules.release import item_sha256
from labeling.models import GoldItem, GoldRelease, Look, Reopening
from pipelines.types import Case, Output
from tests.evaluation.chat_gold import where_and_when
from tests.evaluation.conftest import work
from tests.evaluation.releases import following
from tests.pages import text_of


def corrected(release: GoldRelease, change: Callable[[dict[str, Any]], None]) -> GoldRelease:
    """The next version, with one thing changed in its items."""
    items = list(release.items.order_by("position"))
    newer = following(release)
    for item in items:
        content = item.content
        change(content)
        item.pk, item.release = None, newer
        item.canonical, item.sha256 = canonical_json(content), item_sha256(content)
    GoldItem.objects.bulk_create(items)
    return newer


def evidence(content: dict[str, Any]) -> None:
    """“When?” is answered by message 11, which the pipeline returns, not by message 0."""
    content["gold"]["questions"][1]["evidence"] = [11]


def other_question(content: dict[str, Any]) -> None:
    content["gold"]["questions"][0]["question"] = "Where was it?"


def another_message(content: dict[str, Any]) -> None:
    content["conversation"][0]["content"] = "Something else."


@pytest.fixture
def run(chat: Any, script: Any, finished: Any) -> Run:
    script(where_and_when)
    done: Run = finished(release=chat())
    return done


# --- carrying -------------------------------------------------------------------------------------


def test_outputs_are_scored_on_other_gold_and_no_pipeline_runs(run, script, people):
    def refuse(case: Case) -> Output:
        raise AssertionError("a pipeline ran")

    script(refuse)
    newer = corrected(run.release, evidence)

    carried = work(carrying.carry(run, newer, by=people["noor"]))

    assert [case.output for case in carried.cases.order_by("pk")] == [
        case.output for case in run.cases.order_by("pk")
    ]
    recalls = {
        which.pk: which.aggregates.get(metric="evidence_recall").mean for which in (run, carried)
    }
    # “Where?” returns one of two in both; “When?” nothing of one, then one of one
    assert recalls == {run.pk: 0.25, carried.pk: 0.75}
    assert carried.carried_from == run
    assert carried.spec.carried.taken == 3
    assert carried.spec.gold.version == 2


@pytest.mark.parametrize(
    ("change", "left_out"),
    [
        (other_question, ["Chat_1:QA-001"]),
        (lambda content: content["gold"]["questions"].pop(0), ["Chat_1:QA-001"]),
    ],
)
def test_cases_that_are_asked_otherwise_are_left_out_and_named(run, change, left_out):
    carried = carrying.carry(run, corrected(run.release, change))

    assert carried.spec.carried.left_out == left_out
    assert carried.cases.count() == 2


def test_answers_made_elsewhere_are_carried_and_measured_on_the_new_gold(chat, finished):
    lines = [
        {"case_id": "Chat_1:QA-001", "output": {"evidence": [4, 8], "answer": "In Rome"}},
        {"case_id": "Chat_1:QA-002", "output": {"evidence": [1]}},
    ]
    run = finished(release=chat(), pipeline="", predictions=from_list(lines))

    def other_reference(content: dict[str, Any]) -> None:
        content["gold"]["questions"][0]["answer"] = "In Rome"

    carried = work(carrying.carry(run, corrected(run.release, other_reference)))

    (answer,) = Answer.objects.filter(case__run=carried)
    assert (answer.text, answer.case.part_id, answer.message_ids) == ("In Rome", "QA-001", [4, 8])
    values = {
        which.pk: which.aggregates.get(metric="answer_token_f1").mean for which in (run, carried)
    }
    # one of three questions has an answer
    assert values == {run.pk: pytest.approx(2 / 3 / 3), carried.pk: pytest.approx(1 / 3)}


def test_runs_on_two_versions_of_gold_are_compared_on_one_of_them(run: Run) -> None:
    newer = corrected(run.release, evidence)
    carried = work(carrying.carry(run, newer))
    after = work(carrying.carry(run, newer))

    assert comparisons.why_not(run, after) is not None
    assert comparisons.why_not(carried, after) is None


def test_a_run_is_not_carried_to_another_conversation(run: Run) -> None:
    with pytest.raises(RunRefused) as refused:
        carrying.carry(run, corrected(run.release, another_message))

    assert refused.value.fact.code == "carry.nothing_fits"
    assert Run.objects.count() == 1


def test_new_questions_have_no_output(run: Run) -> None:
    def add(content: dict[str, Any]) -> None:
        content["gold"]["questions"].append(
            {"uid": "q4", "id": "QA-004", "question": "Why?", "answer": "", "evidence": [1]}
        )

    carried = carrying.carry(run, corrected(run.release, add))

    assert carried.spec.carried.unanswered == ["Chat_1:QA-004"]


def test_carrying_to_test_gold_is_a_look_at_it(chat, script, finished, people):
    script(where_and_when)
    run = finished(release=chat(split="test"), split="test", reason="The last check.")

    carried = carrying.carry(run, corrected(run.release, evidence), by=people["noor"])

    look = carried.look
    assert (look.n_items, look.user) == (1, people["noor"])
    assert carried.reason == "The last check."


def test_a_person_who_carries_to_test_gold_by_the_page_is_asked_why(
    chat, script, finished, signed_in
):
    script(where_and_when)
    run = finished(release=chat(split="test"), split="test", reason="The last check.")
    newer, client = corrected(run.release, evidence), signed_in("rita")
    looks.state(
        User.objects.get(username="rita"),
        [run.release],
        Sight(Look.Purpose.RESULTS, Look.Subject.RUN, str(run.pk)),
        "To read it.",
    )
    carry = reverse("run-carry", args=[run.pk])

    asked = client.post(carry, {"gold": str(newer)})

    assert f"Score run {run.pk} on chat@2" in text_of(asked)
    assert 'name="reason"' in asked.content.decode()
    assert not Run.objects.filter(carried_from=run).exists()
    client.post(carry, {"gold": str(newer), "reason": "The gold was corrected."})
    assert Run.objects.get(carried_from=run).reason == "The gold was corrected."


def test_a_run_is_carried_by_page_and_by_command(signed_in: Any, run: Run) -> None:
    newer = corrected(run.release, evidence)
    client = signed_in("noor")
    shown = text_of(client.get(run.get_absolute_url()))

    response = client.post(reverse("run-carry", args=[run.pk]), {"gold": str(newer)})

    assert "This gold has a newer version, chat@2." in shown
    carried = Run.objects.get(carried_from=run)
    assert response.url == carried.get_absolute_url()
    work(carried)
    assert f"Carried over from run {run.pk}" in text_of(client.get(carried.get_absolute_url()))
    assert "newer version" not in text_of(client.get(run.get_absolute_url()))


def test_a_doubt_on_a_case_proposes_what_the_pipeline_returned(signed_in, run, people):
    case = CaseRun.objects.get(run=run, part="q2")
    client = signed_in("noor")
    assert (
        reverse("run-case-reopen", args=[run.pk, case.pk])
        in client.get(case.get_absolute_url()).content.decode()
    )

    client.post(
        reverse("run-case-reopen", args=[run.pk, case.pk]), {"reason": "See 11.", "propose": "on"}
    )

    proposal = Reopening.objects.get().proposal
    assert (proposal["evidence"], proposal["answer"]) == ([11], "May")
