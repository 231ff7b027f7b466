"""Synthetic conversations: the same out of the same templates, and always marked."""

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
from evaluation.synthetic import talks
from evaluation.synthetic.talks import DIFFICULTIES
from labeling.gold.verification import verify
from labeling.models import Conversation, GoldRelease
from labeling.schema import DEFAULT_LAYER, check_payload
from tests.evaluation.commands import said_by
from tests.pages import page

command = partial(said_by, "generate", "conversations")


# --- templates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("domain", talks.domains())
def test_every_template_makes_samples_that_hold_what_their_difficulty_promises(domain, difficulty):
    promised = DIFFICULTIES[difficulty]
    for number in range(1, 41):
        sample = talks.generate(number, domain=domain, difficulty=difficulty, seed=3)
        size, labels = len(sample.turns), sample.requirements
        given = {"layers": [DEFAULT_LAYER], "message_count": size, "complete": True}
        assert check_payload({"requirements": [*labels]}, **given) == []
        for found, (least, most) in (
            (size, promised.messages),
            (len(labels), promised.requirements),
        ):
            assert least <= found <= most
        assert len({label["title"].lower() for label in labels}) == len(labels)
        assert max(len(label["acceptance_criteria"]) for label in labels) >= promised.criteria
        for label in labels:
            assert "user" in {sample.turns[at].role for at in label["source_messages"]}
        assert "{" not in "".join(turn.content for turn in sample.turns)


def test_the_same_seed_says_the_same_whatever_else_is_made() -> None:
    given: dict[str, Any] = {"domain": "logistics", "difficulty": "hard"}

    one = talks.generate(7, seed=1, **given)

    assert one == talks.generate(7, seed=1, **given)
    assert one.turns != talks.generate(7, seed=2, **given).turns
    assert one.turns != talks.generate(8, seed=1, **given).turns


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
    assert "load-synthetic@1 every synthetic" in page(client, reverse("runs"))


@pytest.mark.django_db
def test_conversations_alone_can_be_made_for_people_to_label() -> None:
    command("--project", "load", "--count", "2", "--without-gold", "--domain", "healthcare")

    assert {one.domain for one in Conversation.objects.all()} == {"healthcare"}
    assert not GoldRelease.objects.exists()


REFUSED = [
    (["--count", "0"], "Between 1 and 100,000"),
    (["--count", "1", "--budget-tokens", "5"], "does not go with conversations"),
    (["--count", "1", "--gold", "a b"], "cannot name a release"),
]


@pytest.mark.django_db
def test_what_cannot_be_made_is_refused_and_nothing_stored():
    for arguments, sentence in REFUSED:
        with pytest.raises(CommandError, match=sentence):
            command("--project", "load", *arguments)
        assert not Conversation.objects.exists()
