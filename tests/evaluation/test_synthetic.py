"""Synthetic conversations: deterministic out of templates, verified from a model, always marked."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.launch import generators
from evaluation.services.launch.generators import Wish
from evaluation.synthetic import talks
from evaluation.synthetic.talks import DIFFICULTIES, Sample, Turn, problems_of
from labeling.domain.facts import Fact
from labeling.gold.verification import verify
from labeling.models import Conversation, GoldRelease
from labeling.words import in_english
from tests.evaluation.conftest import requirement
from tests.llm_server import MODEL
from tests.pages import page


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("generate", "conversations", *arguments, stdout=out)
    return out.getvalue()


# --- templates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("domain", talks.domains())
def test_every_template_makes_samples_that_verify(domain: str, difficulty: str) -> None:
    for number in range(1, 41):
        sample = talks.generate(number, domain=domain, difficulty=difficulty, seed=3)
        assert problems_of(sample) == []
        for turn in sample.turns:
            assert "{" not in turn.content
        assert [turn.role for turn in sample.turns][:2] == ["user", "analyst"]


def test_the_same_seed_says_the_same_whatever_else_is_made() -> None:
    given: dict[str, Any] = {"domain": "logistics", "difficulty": "hard"}

    one = talks.generate(7, seed=1, **given)

    assert one == talks.generate(7, seed=1, **given)
    assert one.turns != talks.generate(7, seed=2, **given).turns
    assert one.turns != talks.generate(8, seed=1, **given).turns


def test_what_a_criterion_counts_was_said() -> None:
    """The figure of a requirement stands in a message that it cites."""
    for number in range(1, 60):
        sample = talks.generate(number, domain="fintech", difficulty="hard", seed=5)
        for label in sample.requirements:
            said = " ".join(sample.turns[index].content for index in label["source_messages"])
            figures = {
                word
                for criterion in label["acceptance_criteria"][1:2]
                for word in criterion.split()
            }
            told = {word for word in figures if word.isdigit() and word != "200"}
            assert all(figure in said for figure in told), (label, said)


# --- verification ---------------------------------------------------------------------------------


def sample_of(*labels: dict[str, Any], turns: int = 3) -> Sample:
    said = tuple(Turn("user" if at % 2 == 0 else "analyst", f"Message {at}") for at in range(turns))
    return Sample("s", "shop", "easy", said, labels)


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (sample_of(requirement(1)), ""),
        (sample_of(), "too few requirements"),
        (sample_of(requirement(1), turns=9), "too many messages"),
        (sample_of(requirement(1, source_messages=[7])), "a requirement that no user states"),
        (sample_of(requirement(1, source_messages=[1])), "a requirement that no user states"),
        (sample_of(requirement(1, source_messages=[0, 99])), "labels: "),
        (
            sample_of(requirement(1), requirement(2, title="Login 1")),
            "a requirement is there twice",
        ),
        (sample_of(requirement(1, acceptance_criteria=["One"])), "too few acceptance criteria"),
        (sample_of(requirement(1, type="wish")), "labels: type"),
    ],
)
def test_what_does_not_verify_is_named(sample: Sample, reason: str) -> None:
    problems = problems_of(sample)

    assert bool(problems) == bool(reason)
    assert reason in "; ".join(map(in_english, problems))


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_is_made_is_marked_everywhere_and_measured_as_such(word_overlap_ruler, client):
    said = command("--project", "load", "--count", "10", "--seed", "4")

    assert "10 synthetic conversations are new, 0 were there already" in said
    stored = Conversation.objects.all()
    assert {one.origin for one in stored} == {"synthetic"}
    assert all(one.generator.endswith("seed 4") for one in stored)
    assert Counter(one.difficulty for one in stored) == {"easy": 3, "medium": 5, "hard": 2}
    release = GoldRelease.objects.get()
    assert str(release) == "load-synthetic@1"
    assert json.loads(release.header)["synthetic"] == 10
    assert {item.how for item in release.items.all()} == {"generated"}
    assert not list(verify(release))
    admin = User.objects.create_superuser("admin")
    client.force_login(admin)
    assert "Nobody labeled these items" in client.get(release.get_absolute_url()).content.decode()

    again = command("--project", "load", "--count", "10", "--seed", "4")
    assert "0 synthetic conversations are new, 10 were there already" in again
    assert GoldRelease.objects.count() == 1

    out = StringIO()
    call_command("evaluate", gold="load-synthetic", pipeline="everything", stdout=out)
    assert "10 of 10 cases are synthetic." in out.getvalue()
    assert Run.objects.get().cases.filter(state="done").count() == 10
    assert "load-synthetic@1 synthetic" in page(client, reverse("runs"))


@pytest.mark.django_db
def test_conversations_alone_can_be_made_for_people_to_label() -> None:
    command("--project", "load", "--count", "2", "--without-gold", "--domain", "healthcare")

    assert {one.domain for one in Conversation.objects.all()} == {"healthcare"}
    assert not GoldRelease.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--count", "0"], "Between 1 and 100,000"),
        (["--count", "1", "--budget-tokens", "5"], "give a budget only with --model"),
        (["--count", "1", "--model"], "set LLM_MODEL"),
        (["--count", "1", "--gold", "a b"], "cannot name a release"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_stored(arguments, sentence, settings):
    settings.LLM_MODEL = ""
    with pytest.raises(CommandError, match=sentence):
        command("--project", "load", *arguments)
    assert not Conversation.objects.exists()


# --- by a language model --------------------------------------------------------------------------


WRITTEN: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "We want to sell online. Customers must search products."},
        {"role": "analyst", "content": "How fast?"},
        {"role": "user", "content": "Within 2 seconds."},
    ],
    "requirements": [
        {
            "title": "Product Search",
            "type": "functional",
            "actor": "Customer",
            "action": "Search products",
            "condition": None,
            "acceptance_criteria": ["Products are found", "Within 2 seconds"],
            "priority": "must",
            "source_messages": [0, 2],
            "rationale": "Messages 0 and 2 say it",
        }
    ],
}
GOOD = {"requirements": [{"id": "REQ-001", "stated": True}], "missing": []}
BAD = {"requirements": [{"id": "REQ-001", "stated": False}], "missing": ["Payment"]}


def written(opening: str) -> dict[str, Any]:
    first, *rest = WRITTEN["messages"]
    said = {**first, "content": f"{opening} {first['content']}"}
    return {**WRITTEN, "messages": [said, *rest]}


def replies(*documents: Any) -> list[Any]:
    return [partial(_said, json.dumps(document)) for document in documents]


def _said(text: str, _body: Any) -> str:
    return text


EASY = ("--project", "made", "--difficulty", "easy", "--model")


@pytest.mark.django_db
def test_only_what_a_second_look_confirms_is_kept(server: Any) -> None:
    without, other, third = written("Nothing."), written("Hello."), written("Good morning.")
    without["requirements"] = []
    server.plan(*replies(WRITTEN, GOOD, without, other, BAD, third, GOOD, WRITTEN, other, BAD))

    out = StringIO()
    with pytest.raises(CommandError, match="Only 2 of 3 were made"):
        call_command("generate", "conversations", *EASY, "--count", "3", stdout=out)

    assert "5 were thrown out" in out.getvalue()
    for reason in ("too few requirements (1)", "is not stated (2)", "conversation again (1)"):
        assert reason in out.getvalue()
    made = Conversation.objects.all()
    assert [one.messages[0].content.split()[0] for one in made] == ["We", "Good"]
    assert made[0].generator.startswith(f"test/{MODEL} {talks.GENERATE}/")
    item = GoldRelease.objects.get().items.all()[0].content
    assert item["gold"]["requirements"][0]["source_messages"] == [0, 2]
    assert item["provenance"]["how"] == "generated"


@pytest.mark.django_db
def test_a_used_up_budget_keeps_what_was_made_and_says_so(server: Any) -> None:
    server.plan(*replies(WRITTEN, GOOD, WRITTEN, GOOD))

    with pytest.raises(CommandError, match=r"Only 1 of 5 were made\. The budget of 230 tokens"):
        command(*EASY, "--count", "5", "--budget-tokens", "230")

    assert Conversation.objects.count() == 1


@pytest.mark.django_db
def test_replies_of_no_use_are_counted_and_a_wrong_key_ends_it(server: Any) -> None:
    server.default = "prose"

    def made_by_model(**wish: Any) -> Any:
        model = generators.model_for("generate_conversations", "default", None, None)
        return generators.make_talks(Wish(project="made", difficulty="easy", **wish), model)

    made = made_by_model(count=1)

    assert made.accepted == []
    assert made.rejected == {Fact("sample.unusable_reply", code="reply.unusable_twice"): 3}
    server.key = "another"
    stopped = made_by_model(count=3, seed=9)
    assert stopped.stopped is not None
    assert stopped.stopped.code == "model.wrong_key"
    assert stopped.n_rejected == 0
