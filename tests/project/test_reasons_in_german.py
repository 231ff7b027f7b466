"""What rows hold as facts is said in the language of the reader; old texts stay as they are."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from evaluation.models import CaseRun, Run
from labeling.core import events
from labeling.domain.facts import Fact
from labeling.models import GoldRelease, Project
from labeling.words import words
from tests import everything


def test_what_a_server_said_stays_within_a_translated_frame() -> None:
    failed = Fact("model.server_failed", status=500, said="the engine is overloaded")

    with override("de"):
        assert words(failed) == "Der Server des Modells versagte (500): the engine is overloaded"
        assert words(Fact("error.unforeseen", kind="OSError", said="gone")) == "OSError: gone"


def test_a_reason_within_a_reason_is_said_too() -> None:
    disputed = Fact("gold.disputed_and_more", titles=[Fact("text.quoted", text="Log in")], number=2)
    base = Fact(
        "gold.base_not_settled",
        layer=Fact("layer_within.extraction"),
        why=Fact("gold.nobody_submitted"),
    )

    with override("de"):
        assert words(Fact("gold.nothing_settled", total=3, reasons=[disputed, base])) == (
            "Keines von 3 gelabelten Gesprächen ist entschieden: strittig: „Log in“ und 2 "
            "weitere; in der Schlichtung entscheiden; nicht entschieden: Anforderungen "
            "(niemand hat Labels abgegeben)."
        )


@pytest.mark.parametrize("said", ["a; " * 600, "{braces} %(and) {others", "Round 3 is open."])
def test_a_text_from_outside_is_never_looked_into(said: str) -> None:
    failed = Fact("model.server_failed", status=500, said=said)

    with override("de"):
        assert words(failed) == f"Der Server des Modells versagte (500): {said}"


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
    release.pk, release.version, release.meaning = None, 99, "99.0.0"
    reason = Fact("gold.not_all_submitted", submitted=1, overlap=2)
    release.left_out = [
        {"conversation": "C-8", "reason": "1 of 3 annotators have submitted"},  # an old row
        {"conversation": "C-9", "reason": reason.as_json()},
    ]
    release.save(force_insert=True)
    about["gold-release"][2] = 99
    shown = said(german, "gold-release", about)
    assert "1 von 2 Annotatoren haben abgegeben" in shown
    assert "1 of 3 annotators have submitted" in shown
    events.record(
        "gold.freeze_refused",
        project,
        project=project,
        actor=people["rita"],
        layer=release.layer,
        message=Fact("gold.nothing_labelled").as_json(),
    )

    assert "<td>Anforderungen</td>" in said(german, "gold", {"gold": [project.slug]})
    for name in ("gold", "audit"):
        assert "Noch wurde nichts gelabelt" in said(german, name, {name: [project.slug]}), name


def said(client: Client, name: str, about: dict[str, list[object]]) -> str:
    return client.get(reverse(name, args=about[name])).content.decode()
