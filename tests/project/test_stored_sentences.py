"""What rows hold in English is told in the language of the reader, and stays in English inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from evaluation.models import CaseRun, Run
from labeling.domain.facts import Fact
from labeling.domain.sentences import Sentence, most_literal_first, recognised
from labeling.models import GoldRelease, Project
from labeling.services import events
from labeling.templatetags.words import decided, stored
from labeling.translation import STORED, from_store
from tests import everything

BASE = settings.BASE_DIR
RAISED = {
    "CannotRun",
    "InvalidReply",
    "InvalidSetting",
    "MalformedOutput",
    "ModelError",
    "NoModel",
    "NoQuestion",
    "NoQuota",
    "OutOfTime",
    "OverBudget",
    "PromptTooLong",
    "RateLimited",
    "Refused",
    "Unavailable",
    "UnknownModel",
    "UnknownPipeline",
    "UnknownSetting",
    "Unparsable",
    "WrongKey",
    "WrongWeights",
    "_BrokenOff",
}
"""The errors whose sentence becomes a reason in a row."""

RETURNED = {"labeling/services/settling/settling.py", "labeling/services/gold/gold.py"}
"""Whose functions return reasons as plain text."""

VALUE = "requirements"
"""Stands for any value: one place takes nothing but the name of a layer."""

IN_A_TERMINAL = {"asking.py", "config_files.py"}


def written(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences that this file makes, with a word for each value."""
    name = str(path.relative_to(BASE))
    for node in ast.walk(ast.parse(path.read_text())):
        text: ast.expr | None = None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISED and node.args:
            text = node.args[0]
        if isinstance(node, ast.keyword) and node.arg in ("error", "failure"):
            text = node.value
        if isinstance(node, ast.Return) and name in RETURNED:
            text = node.value
        sample = _sample(text)
        if text and " " in sample:
            yield text.lineno, sample


def _sample(text: ast.expr | None) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    known = all(isinstance(one, ast.Constant | ast.FormattedValue) for one in parts)
    said = [str(one.value) if isinstance(one, ast.Constant) else VALUE for one in parts if one]
    return "".join(said) if known else ""


def sources() -> list[Path]:
    places = [*(BASE / "pipelines").rglob("*.py"), *(BASE / "evaluation").rglob("*.py")]
    places += [BASE / name for name in RETURNED]
    return sorted(one for one in places if one.name not in IN_A_TERMINAL)


def test_every_reason_that_is_stored_can_be_told_in_other_languages() -> None:
    patterns = most_literal_first(tuple(STORED))
    found = [
        f"{path.relative_to(BASE)}:{line}: {text}"
        for path in sources()
        for line, text in written(path)
        if not isinstance(recognised(text, patterns), Sentence) and from_german(text) == text
    ]
    assert found == []


def from_german(text: str) -> str:
    with override("de"):
        return from_store(text)


@pytest.mark.parametrize("text", STORED)
def test_what_is_recognised_is_the_same_text_in_english(text: str) -> None:
    with override("en-gb"):
        assert from_store(text) == text
    assert recognised(text, most_literal_first(tuple(STORED))) == text


def test_what_a_server_said_stays_within_a_translated_frame() -> None:
    text = "The model's server failed (500): the engine is overloaded"

    with override("de"):
        assert stored(text) == "Der Server des Modells versagte (500): the engine is overloaded"
        assert stored("ZeroDivisionError: division by zero") == (
            "ZeroDivisionError: division by zero"
        )


def test_a_reason_within_a_reason_is_told_too() -> None:
    text = (
        "None of 3 labelled conversations is settled: disputed: “Log in” and 2 more; decide in "
        "adjudication; its requirements are not settled (nobody has submitted labels)."
    )

    with override("de"):
        assert stored(text) == (
            "Keines von 3 gelabelten Gesprächen ist entschieden: strittig: “Log in” und 2 "
            "weitere; in der Schlichtung entscheiden; seine Anforderungen stehen nicht fest "
            "(niemand hat Labels abgegeben)."
        )


@pytest.mark.parametrize(
    "said",
    [
        "a; " * 600,
        "None of 3 labelled conversations is settled: " * 50,
    ],
)
def test_a_text_from_outside_may_look_like_any_number_of_sentences(said: str) -> None:
    text = f"The model's server failed (500): {said}"

    with override("de"):
        assert stored(text) == f"Der Server des Modells versagte (500): {said}"


def test_a_text_of_any_length_is_not_looked_into() -> None:
    text = "The run was started with version " + " of " * 3000 + ", and this is version " * 500

    with override("de"):
        assert stored(text) == text


def test_what_a_person_wrote_of_a_decision_stays_as_it_is() -> None:
    with override("de"):
        assert decided("requirements: nobody has submitted labels") == (
            "requirements: nobody has submitted labels"
        )
        assert decided("decided among the annotators' labels") != (
            "decided among the annotators' labels"
        )


@pytest.fixture
def german(project: Project, rita: User) -> Client:
    client = Client(headers={"accept-language": "de"})
    client.force_login(rita)
    return client


def test_pages_of_runs_tell_in_german_why_something_waits_or_failed(
    german: Client, project: Project, people: dict[str, User]
) -> None:
    about = everything.addresses(project, people)
    run = Run.objects.get(pk=about["run"][0])
    Run.objects.filter(pk=run.pk).update(
        paused=True,
        scored_at=None,
        pause_reason=Fact("budget.tokens_used_up", tokens=1000, used=1200),
    )
    case = CaseRun.objects.get(pk=about["run-case"][1])
    case.state, case.output = CaseRun.State.FAILED, None
    case.error = Fact("model.server_declined", said="no")
    case.save()

    assert "Der Server des Modells lehnte die Anfrage ab: no" in said(german, "run-case", about)
    CaseRun.objects.filter(run=run).update(state="queued", error=None, output=None)
    assert "Das Budget von 1.000 Token ist aufgebraucht" in said(german, "run", about)
    Run.objects.filter(pk=run.pk).update(
        failure=Fact("run.cannot_build", text=Fact("error.unforeseen", kind="OSError", said="gone"))
    )
    assert "Die Pipeline kann nicht gebaut werden: OSError: gone" in said(german, "run", about)


def test_pages_of_gold_tell_in_german_what_was_left_out_or_refused(
    german: Client, project: Project, people: dict[str, User]
) -> None:
    about = everything.addresses(project, people)
    release = GoldRelease.objects.get(project=project, name=about["gold-release"][1])
    release.pk, release.version = None, 99
    reason = "1 of 2 annotators have submitted"
    release.left_out = [{"conversation": "C-9", "reason": reason}]
    release.save(force_insert=True)
    about["gold-release"][2] = 99
    assert "1 von 2 Annotatoren haben abgegeben" in said(german, "gold-release", about)
    events.record(
        "gold.freeze_refused",
        project,
        project=project,
        actor=people["rita"],
        layer=release.layer,
        message="Nothing has been labelled yet: open a round and have it submitted.",
    )

    assert "<td>Anforderungen</td>" in said(german, "gold", {"gold": [project.slug]})
    for name in ("gold", "audit"):
        assert "Noch wurde nichts gelabelt" in said(german, name, {name: [project.slug]}), name


def said(client: Client, name: str, about: dict[str, list[object]]) -> str:
    return client.get(reverse(name, args=about[name])).content.decode()
