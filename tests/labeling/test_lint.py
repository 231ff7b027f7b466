"""Lint of what is to become gold: every fault planted once, and the clean twin of the same."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from labeling.conversations.rules.importing import Turn
from labeling.core import acting
from labeling.gold import gold_requests, lint, releases, reopenings
from labeling.gold.rules.lint import KINDS
from labeling.gold.verification import verify
from labeling.models import (
    Conversation,
    GoldRelease,
    Guideline,
    LintReport,
    Project,
)
from labeling.words import in_english
from tests import factories
from tests.pages import page
from tests.talks import talk, texts

pytestmark = pytest.mark.postgres
MAIL = "Write to ana.diaz@example.org, please."


# --- every kind once ------------------------------------------------------------------------------


class Planted:
    """A project with items, each made for one kind of fault; ``clean`` leaves the faults out."""

    def __init__(self, project: Project, people: dict[str, User], *, clean: bool) -> None:
        self.project, self.people, self.clean = project, people, clean
        self.items: list[tuple[int, Any]] = []

    def store(self, name: str, seed: int, **fields: Any) -> Conversation:
        """A conversation of its own words, unless another has the same seed."""
        said = fields.pop("said", None) or texts(talk(seed, messages=12))
        speakers = fields.pop("speakers", (f"Alba {seed}", f"Bruno {seed}"))
        fields = {"split": "dev", "difficulty": "easy", "content_sha256": name, **fields}
        turns = [Turn("user", text, speakers[n % 2]) for n, text in enumerate(said)]
        project = fields.pop("project", self.project)
        return factories.make_talk(project, name, turns, **fields)

    def item(self, stored: Conversation, *labels: dict[str, Any], **provenance: Any) -> None:
        origin: Any = {
            "how": "unanimous",
            "labels": {},
            "skipped": [],
            "adjudicated_by": None,
            "reason": None,
            "guideline_version": 2,
            "round": None,
            "annotators": [{"username": "ana", "guideline_version": 2}],
            **provenance,
        }
        frozen = releases.item_of(
            stored,
            "extraction",
            gold={"requirements": list(labels)},
            base_payload={},
            provenance=origin,
        )
        self.items.append((stored.pk, json.loads(frozen.canonical)))

    def plant(self) -> None:
        first, second = factories.requirement(1), factories.requirement(2)
        same = {**first, "uid": "another", "id": "REQ-002"}
        chat = texts(talk(9, messages=40))
        other = texts(talk(90, messages=40))

        self.item(self.store("twice", 2), first, second if self.clean else same)
        self.item(self.store("nothing", 3), annotators=[{}] if self.clean else [])
        self.item(self.store("chat", 9, said=chat), first)
        self.item(self.store("copy", 9, said=texts(talk(91)) if self.clean else chat), first)
        long = texts(talk(95, messages=40))
        self.item(self.store("long", 95, said=long), first)
        near = other if self.clean else [*long[:20], *other[:20]]
        self.item(self.store("near", 92, said=near), first)
        train = self.store("train", 10, split="train")
        self.item(train, first)
        test = self.store("test", 11 if self.clean else 10, split="test", speakers=("C", "D"))
        self.item(test, first)
        self.speakers(first)
        self.labeled()
        said = "It costs 1 250 000 in 2026." if self.clean else MAIL
        self.item(self.store("mail", 12, said=[said, *texts(talk(12, messages=9))]), first)

    def speakers(self, label: dict[str, Any]) -> None:
        second = "Zoe" if self.clean else "Yann"
        self.item(self.store("yann", 13, split="train", speakers=("Client", "Yann")), label)
        self.item(self.store("again", 14, split="test", speakers=("Client", second)), label)

    def labeled(self) -> None:
        """Faults that rows about the conversation tell: answers and doubts."""
        rita = self.people["rita"]
        old, disputed = self.project.conversations.filter(external_id__startswith="c-")
        self.item(old, factories.requirement(), round=1)
        self.item(disputed, factories.requirement())
        item = GoldRelease.objects.get(project=self.project).items.get(conversation=disputed)
        uid = item.content["gold"]["requirements"][0]["uid"]
        doubt = reopenings.ask(item=item, layer="extraction", uid=uid, reason="No need.", by=rita)
        if self.clean:
            reopenings.withdraw(doubt, reason="It is one.", by=rita)


@pytest.fixture
def plant(project: Project, people: dict[str, User]) -> Any:
    def planted(*, clean: bool) -> dict[str, int]:
        if clean:
            Guideline.objects.create(project=project, version=2, body="# Two")
        factories.make_release(project, items=2)
        if not clean:
            Guideline.objects.create(project=project, version=2, body="# Two")
        made = Planted(project, people, clean=clean)
        made.plant()
        found = lint.look(project, "extraction", made.items)
        return lint.stored(lint.store(project, "extraction", found)).counts()

    return planted


@pytest.mark.django_db
def test_each_planted_fault_is_found_once(plant):
    assert plant(clean=False) == dict.fromkeys(KINDS, 1)


@pytest.mark.django_db
def test_the_clean_twin_has_none(plant):
    assert plant(clean=True) == {}


# --- freezing -------------------------------------------------------------------------------------


@pytest.fixture
def superseded(project: Project) -> Project:
    """Two items; the guidelines have a second version since."""
    factories.answer_all(factories.open_full(project, 2))
    Guideline.objects.create(project=project, version=2, body="# Two")
    return project


def test_a_freeze_with_findings_is_refused_and_says_how_to_go_on(superseded):
    with pytest.raises(lint.LintOpen) as refused:
        factories.freeze(superseded)

    said = in_english(refused.value.fact)
    assert "Labels under superseded guidelines: 2 (superseded)" in said
    assert "--waive KIND=REASON" in said
    assert not GoldRelease.objects.exists()
    assert len(LintReport.objects.get().findings) == 2  # kept for the page


def test_what_was_accepted_is_stated_signed_and_asked_for_again(superseded, rita):
    release = factories.freeze(superseded, by=rita, waive={"superseded": " Only typing errors. "})

    [stated] = json.loads(release.header)["waivers"]
    assert (stated["kind"], stated["findings"], stated["by"]) == ("superseded", 2, "rita")
    assert stated["reason"] == "Only typing errors."
    assert release.waivers == [stated]
    assert verify(release) == []

    factories.answer_all(factories.open_full(superseded, 1))
    Guideline.objects.create(project=superseded, version=3, body="# Three")
    with pytest.raises(lint.LintOpen) as refused:
        factories.freeze(superseded)
    assert refused.value.details["kinds"] == {"superseded": 3}


@pytest.mark.parametrize(
    ("waive", "error"),
    [
        ({"superseded": "\u200b "}, lint.WaiverWithoutReason),
        ({"typos": "Fine."}, lint.UnknownKind),
    ],
)
def test_a_kind_that_is_known_is_accepted_for_a_reason_that_can_be_read(superseded, waive, error):
    with pytest.raises(error):
        factories.freeze(superseded, waive=waive)


# --- commands -------------------------------------------------------------------------------------


def command(name: str, *arguments: str) -> tuple[int, str, str]:
    out, errors = StringIO(), StringIO()
    try:
        call_command(name, *arguments, stdout=out, stderr=errors)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue(), errors.getvalue()
    except CommandError as error:
        return 1, out.getvalue(), f"{errors.getvalue()}\n{error}"
    return 0, out.getvalue(), errors.getvalue()


def test_the_commands_list_refuse_and_go_on_with_a_reason(superseded):
    of_project = ("--project", superseded.slug)
    accepted = ("--waive", "superseded=Typos.")
    code, _, errors = command("freeze_gold", *of_project)
    assert (code, "c-002: labeled under version 1" in errors) == (1, True)
    code, _, errors = command("freeze_gold", *of_project, "--waive", "superseded")
    assert (code, "write KIND=REASON" in errors) == (1, True)

    code, out, _ = command("freeze_gold", *of_project, *accepted)

    assert (code, "guidelines: 2 (superseded): Typos." in out) == (0, True)
    assert GoldRelease.objects.get().waivers[0]["by"].startswith(acting.CONSOLE_BEGINS)


def native(path: Path, *rows: tuple[str, list[str], list[dict[str, Any]]]) -> Path:
    """Gold made elsewhere, as ``export_gold`` writes it."""
    lines = [
        {
            "schema_version": 1,
            "item_id": name,
            "split": "test",
            "conversation": [{"role": "user", "content": text} for text in said],
            "layer": "extraction",
            "gold": {"requirements": labels},
        }
        for name, said, labels in rows
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.django_db
def test_an_import_refuses_personal_data_and_states_what_was_published(tmp_path):
    label = factories.requirement()
    twice = {**label, "uid": "another", "id": "REQ-002"}
    file = native(tmp_path / "gold.jsonl", ("a", [MAIL], [label, twice]), ("b", ["Hello"], []))
    arguments = (str(file), "--project", "shop", "--layer", "extraction")

    code, _, errors = command("import_gold", *arguments)
    assert (code, "a: an e-mail address in message 1" in errors) == (1, True)
    assert "ana.diaz" not in errors
    assert not Project.objects.exists()

    code, out, _ = command("import_gold", *arguments, "--waive", "personal_data=A made-up name.")

    assert code == 0
    assert "The same label twice in one conversation: 1 (doubled): It was published like" in out
    stated = GoldRelease.objects.get().waivers
    assert [(row["kind"], row["findings"], row["reason"]) for row in stated] == [
        ("personal_data", 1, "A made-up name."),
        ("doubled", 1, None),
        ("empty", 1, None),
    ]


# --- page -----------------------------------------------------------------------------------------


def test_a_lead_asks_and_accepts_on_the_page(superseded, lead, researcher):
    address = reverse("gold-lint", args=[superseded.slug])
    ask = reverse("gold-freeze", args=[superseded.slug])
    assert "Nothing has been checked yet" in page(lead, address)

    of_layer = {"layer": "extraction", "name": superseded.slug}
    lead.post(ask, of_layer)
    gold_requests.answer(superseded, ruler=factories.ruler)

    assert "Labels under superseded guidelines 2" in page(lead, address)
    assert "c-001: labeled under version 1 of the guidelines" in page(lead, address)
    assert "Accept and freeze" not in page(researcher, address)

    lead.post(ask, {**of_layer, "waive-superseded": "Only <b>typos</b>."})
    gold_requests.answer(superseded, ruler=factories.ruler)

    shown = lead.get(GoldRelease.objects.get().get_absolute_url()).content.decode()
    assert "Labels under superseded guidelines" in shown
    assert "Only &lt;b&gt;typos&lt;/b&gt;." in shown
    assert "Nothing has been checked yet" in page(lead, address)
