"""A lead asks a pipeline for suggestions: a run without gold, whose labels are then added."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.run import execution
from evaluation.services.unmeasured import adopting
from labeling.domain.errors import RuleError
from labeling.models import Project, Suggestion
from labeling.work import suggestions as seen
from pipelines.types import Case, Output
from tests import factories
from tests.evaluation.conftest import requirement
from tests.refusals import refused

PIPELINE = "requirements-local"


@pytest.fixture
def full(project: Project) -> Any:
    return factories.open_full(project, 3, overlap=2)


def found(case: Case) -> Output:
    return {"requirements": [requirement(1, title=f"Of {case.case_id}")], "model": None}


def ids(run: Run) -> list[str]:
    return list(run.conversations.order_by("position").values_list("external_id", flat=True))


def test_a_lead_asks_on_the_page_and_adds_what_came(project, full, script, signed_in):
    script(found)
    rita, url = signed_in("rita"), reverse("suggestions", args=[project.slug])
    assert "No suggestions yet" in rita.get(url).content.decode()

    asked = rita.post(reverse("suggestions-ask", args=[project.slug]), {"pipeline": PIPELINE})
    run = Run.objects.get()
    assert asked["Location"] == run.get_absolute_url()
    assert (run.spec.layer, ids(run)) == ("extraction", ["c-001", "c-002", "c-003"])
    assert "Add as suggestions" not in rita.get(url).content.decode()

    execution.work(run.pk, uuid4())
    assert "Add as suggestions" in rita.get(url).content.decode()
    assert "Add as suggestions" not in signed_in("noor").get(url).content.decode()
    rita.post(reverse("run-suggest", args=[run.pk]), {"project": project.slug})

    made = Suggestion.objects.get(conversation__external_id="c-002")
    (label,) = made.payload["requirements"]
    assert (label["uid"], label["id"], label["title"]) == ("s1", "REQ-001", "Of c-002")
    assert seen.made(project) == [("extraction", PIPELINE, "1", 3)]
    assert "Of c-001" not in rita.get(url).content.decode()  # never what is suggested


def test_what_has_no_suggestion_yet_is_asked_for_first(project, full, people):
    factories.suggest(project.conversations.get(external_id="c-001"), [], pipeline=PIPELINE)
    project.conversations.filter(external_id="c-003").update(split="test")
    assert ids(adopting.ask(project, PIPELINE, by=people["rita"])) == ["c-002"]

    factories.suggest(project.conversations.get(external_id="c-002"), [], pipeline=PIPELINE)
    assert ids(adopting.ask(project, PIPELINE, by=people["rita"])) == ["c-001", "c-002"]


REFUSED = [
    ("everything", {}, "m", "suggests nothing for"),
    ("no", {}, "m", "suggests nothing for"),
    ("requirements-model", {}, "", "set LLM_MODEL in the environment"),
    ("requirements-model", {"budget_tokens": 0}, "m", "more than nothing"),
    (PIPELINE, {"budget_tokens": 5}, "m", "uses no language model"),
]


def test_what_cannot_be_made_is_refused_at_once(project, full, people, server, settings):
    for pipeline, budget, model, said in REFUSED:
        settings.LLM_MODEL = model
        with refused(RuleError, match=said):
            adopting.ask(project, pipeline, by=people["rita"], **budget)
        assert not Run.objects.exists()


def test_without_full_labeling_there_is_nothing_to_ask_for(project: Project, people: Any) -> None:
    factories.open_calibration(project, 2)
    with refused(RuleError, match="open a round of full labeling first"):
        adopting.ask(project, PIPELINE, by=people["rita"])
