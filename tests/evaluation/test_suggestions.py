"""A lead asks a pipeline for suggestions; what runs it may stop anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.services.launch import suggestions
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.jobs import queue
from labeling.models import Event, Job, Project, Suggestion, SuggestionRequest
from labeling.words import in_english
from labeling.work import suggestion_requests as requests
from labeling.work import suggestions as seen
from pipelines.types import Case, Output
from tests import factories
from tests.evaluation.conftest import requirement
from tests.llm_server import LanguageServer
from tests.refusals import refused

PIPELINE = "requirements-local"


@pytest.fixture
def full(project: Project) -> Any:
    return factories.open_full(project, 3, overlap=2)


def found(case: Case) -> Output:
    return {"requirements": [requirement(1, title=f"Of {case.case_id}")], "model": None}


def ask(project: Project, **options: Any) -> SuggestionRequest:
    return suggestions.ask(project, pipeline=PIPELINE, by=None, queue=False, **options)


def reload(asked: SuggestionRequest) -> SuggestionRequest:
    return SuggestionRequest.objects.get(pk=asked.pk)


def test_a_pipeline_makes_one_suggestion_for_each_conversation(project, full, script, people):
    script(found)
    asked = suggestions.ask(project, pipeline=PIPELINE, by=people["rita"], queue=False)
    suggestions.work(asked.pk, uuid4())

    assert requests.progress(reload(asked)) == (3, 3, 0)
    made = Suggestion.objects.get(conversation__external_id="c-002")
    (label,) = made.payload["requirements"]
    assert (label["uid"], label["id"], label["title"]) == ("s1", "REQ-001", "Of c-002")
    assert (made.pipeline, made.pipeline_version, made.layer) == (PIPELINE, "1", "extraction")
    verbs = Event.objects.filter(verb__startswith="suggestions.").order_by("pk")
    assert [*verbs.values_list("verb", "actor__username")] == [
        ("suggestions.requested", "rita"),
        ("suggestions.made", "rita"),
    ]


def test_what_is_made_is_not_made_again(project, full, script):
    pipeline = script(found)
    for _ in range(2):
        suggestions.work(ask(project).pk, uuid4())

    assert pipeline.seen == ["c-001", "c-002", "c-003"]
    assert Suggestion.objects.count() == 3


def test_a_killed_worker_costs_one_conversation_at_most(project, full, script):
    """What a SIGKILL leaves behind: a lease that nobody renews, and no word about it."""

    def killed(case: Case) -> Output:
        if len(pipeline.seen) == 2:
            raise SystemExit  # neither stored nor failed
        return found(case)

    pipeline = script(killed)
    asked = ask(project)
    with pytest.raises(SystemExit):
        suggestions.work(asked.pk, uuid4())
    Job.objects.update(owner=uuid4(), lease_expires_at=timezone.now() - timedelta(seconds=1))
    pipeline = script(found)
    assert list(requests.due()) == [asked.pk]
    suggestions.work(asked.pk, uuid4())

    assert pipeline.seen == ["c-002", "c-003"]
    assert requests.progress(reload(asked)) == (3, 3, 0)
    assert reload(asked).finished_at is not None


def test_two_workers_never_work_on_the_same_request(project, full, script):
    asked = ask(project)
    assert queue.claim("suggestions", asked.pk, uuid4())
    pipeline = script(found)

    suggestions.work(asked.pk, uuid4())

    assert pipeline.seen == []


def test_what_kills_its_worker_each_time_is_given_up(project, full, script):
    def deadly(case: Case) -> Output:
        if case.case_id == "c-001":
            raise SystemExit
        return found(case)

    script(deadly)
    asked = ask(project)
    for _ in range(requests.MAX_TRIES):
        with pytest.raises(SystemExit):
            suggestions.work(asked.pk, uuid4())
    suggestions.work(asked.pk, uuid4())

    assert requests.progress(reload(asked)) == (3, 2, 1)
    assert [*reload(asked).failures.values()] == [requests.GIVEN_UP.as_json()]


def test_a_failure_is_counted_and_tried_again_when_asked_again(project, full, script):
    def picky(case: Case) -> Output:
        if case.case_id == "c-002":
            raise ValueError("too odd")
        if case.case_id == "c-003":
            return {"requirements": [requirement(1, source_messages=[77])]}
        return found(case)

    script(picky)
    first = ask(project)
    suggestions.work(first.pk, uuid4())
    assert requests.progress(reload(first)) == (3, 1, 2)
    reasons = [in_english(Fact.from_json(why)) for why in reload(first).failures.values()]
    assert sorted(reasons) == [
        "ValueError: too odd",
        "requirements.0.source_messages: There is no message 77.",
    ]

    pipeline = script(found)
    suggestions.work(ask(project).pk, uuid4())
    assert pipeline.seen == ["c-002", "c-003"]


def test_neither_the_test_split_nor_calibration_is_asked_for(project, script):
    factories.make_conversations(project, 1, split="test")
    factories.open_full(project, 1, overlap=2)
    factories.make_conversations(project, 1)
    factories.open_calibration(project, 1, overlap=2)

    with refused(requests.NothingToSuggest, match="open a round of full labeling"):
        ask(project)


@pytest.mark.parametrize(("pipeline", "layer"), [("everything", ""), (PIPELINE, "qa"), ("no", "")])
def test_only_what_makes_labels_of_the_project_can_be_asked(project, full, pipeline, layer):
    with pytest.raises(suggestions.PipelineUnsuitable):
        suggestions.ask(project, pipeline=pipeline, layer=layer, by=None, queue=False)


def test_a_new_version_of_the_pipeline_suggests_anew(project, full, script, people):
    script(found)
    suggestions.work(ask(project).pk, uuid4())
    newer = script(found)
    newer.version = "2"
    suggestions.work(ask(project).pk, uuid4())

    assert Suggestion.objects.count() == 6
    mine = full.assignments.filter(annotator=people["ana"])[0]
    factories.annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    seen.declare_first_pass(mine)
    assert [one.pipeline_version for one in seen.shown(mine)] == ["2"]


def test_a_pipeline_that_cannot_be_built_ends_the_request_with_its_reason(
    project, full, monkeypatch
):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no weights")

    monkeypatch.setattr(suggestions.registry, "build", broken)
    asked = ask(project)
    suggestions.work(asked.pk, uuid4())

    assert "no weights" in in_english(reload(asked).failure)
    assert Event.objects.filter(verb="suggestions.broke_off").exists()


def test_the_command_makes_them_and_says_what_came(project, full, script):
    script(found)
    out = StringIO()
    call_command("suggest", project="demo", pipeline=PIPELINE, stdout=out, stderr=StringIO())

    assert "has suggestions for 3 of 3 conversations; 0 failed" in out.getvalue()
    for slug, name in (("demo", "requirement-locl"), ("dmeo", PIPELINE)):
        with pytest.raises(CommandError, match="There is no p") as caught:
            call_command("suggest", project=slug, pipeline=name, stderr=StringIO())
        assert caught.value.returncode == 2


SignIn = Callable[[str], Client]


@pytest.mark.parametrize(
    ("options", "settings_given", "said"),
    [
        ({"pipeline": "requirements-model"}, False, "set LLM_MODEL in the environment"),
        ({"pipeline": "requirements-model", "budget_tokens": 0}, True, "more than nothing"),
        ({"pipeline": PIPELINE, "budget_tokens": 5}, True, "uses no language model"),
    ],
)
def test_a_model_that_is_missing_and_a_budget_for_nothing_are_refused_at_once(
    project: Project,
    full: Any,
    server: LanguageServer,
    settings: Any,
    options: dict[str, Any],
    settings_given: bool,
    said: str,
) -> None:
    settings.LLM_MODEL = settings.LLM_MODEL if settings_given else ""

    with refused(RuleError, match=said):
        suggestions.ask(project, by=None, queue=False, **options)

    assert not SuggestionRequest.objects.exists()


def test_a_budget_breaks_suggestions_off_and_a_larger_one_goes_on(
    project: Project, full: Any, server: LanguageServer, signed_in: SignIn
) -> None:
    label = {key: value for key, value in requirement(1).items() if key not in ("uid", "id")}
    label |= {"how": "stated", "accepted_in": None}
    server.answer = json.dumps({"requirements": [label], "left_out": []})
    ask_url = reverse("suggestions-ask", args=[project.slug])
    body = {"pipeline": "requirements-model", "layer": "extraction"}
    refused = signed_in("rita").post(ask_url, body | {"budget_tokens": "x"}, follow=True)
    assert "A budget is a number" in refused.content.decode()
    signed_in("rita").post(ask_url, body | {"budget_tokens": "220"})
    asked = SuggestionRequest.objects.get()

    suggestions.work(asked.pk, uuid4())

    asked = reload(asked)
    assert "The budget of 220 tokens is used up" in in_english(asked.failure)
    assert "ask again to continue" in in_english(asked.failure)
    assert len(server.requests) == 2
    page = signed_in("noor").get(reverse("suggestions", args=[project.slug])).content.decode()
    assert "220 tokens; calls 2, 0 from the cache" in page

    out = StringIO()
    named = ["--project=demo", "--pipeline=requirements-model", "--budget=1"]
    call_command("suggest", *named, stdout=out, stderr=StringIO())
    assert "3 of 3 conversations; 0 failed" in out.getvalue()
    assert "calls 1, 0 from the cache" in out.getvalue()
    assert len(server.requests) == 3


def test_a_lead_asks_on_the_page_and_sees_how_far_it_is(
    project: Project, full: Any, script: Any, signed_in: SignIn
) -> None:
    script(found)
    url = reverse("suggestions", args=[project.slug])
    assert "Nothing asked for yet" in signed_in("rita").get(url).content.decode()

    ask_url = reverse("suggestions-ask", args=[project.slug])
    body = {"pipeline": PIPELINE, "layer": "extraction"}
    assert signed_in("rita").post(ask_url, body).status_code == 302
    page = signed_in("rita").get(url).content.decode()
    assert "waiting for a worker" in page
    assert "hx-trigger" in page

    suggestions.work(SuggestionRequest.objects.get().pk, uuid4())
    page = signed_in("noor").get(url).content.decode()
    assert "3 of 3" in page
    assert "Of c-001" not in page  # how far it is, never what is suggested
    assert "Ask for suggestions" not in page


def test_the_page_counts_what_came_from_a_trial(
    project: Project, full: Any, signed_in: SignIn
) -> None:
    for conversation in project.conversations.all()[:2]:
        Suggestion.objects.create(
            conversation=conversation,
            layer="extraction",
            pipeline="requirements-agent",
            pipeline_version="2+tried",
            payload={},
        )

    response = signed_in("rita").get(reverse("suggestions", args=[project.slug]))

    (made,) = seen.made(project)
    assert made == ("extraction", "requirements-agent", "2+tried", 2)
    page = response.content.decode()
    assert "Nothing asked for yet" in page
    assert "2+tried" in page


def test_a_wrong_wish_on_the_page_says_what_to_do(project, full, signed_in):
    ask_url = reverse("suggestions-ask", args=[project.slug])
    page = signed_in("rita").post(ask_url, {"pipeline": "nothing"}, follow=True)

    assert "suggests nothing for" in page.content.decode()
    assert not SuggestionRequest.objects.exists()
