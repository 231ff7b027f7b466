"""MiniLM is changed by what is small, each talk by what the others have taught."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import train_vectors as adapters
from benchmarks.train_vectors import GoldTalk, by_people, note_training, published
from labeling.domain.encoding.network import Network, packaged_folder
from pipelines.encoder import MiniLM
from pipelines.memory.retrieval import adapter, late, question
from pipelines.memory.retrieval.adapter import EVERY, NAMES, Adapted, Adapter, Change
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.memory.retrieval.speakers import learn
from pipelines.types import Message, Vectors

LINES = (
    ("Emi", "Hi Elise! What do you do on weekends?"),
    ("Elise", "Hey Emi, I go skiing in Aspen."),
    ("Emi", "Hello Elise. My cat Fluffy hates snow."),
    ("Elise", "Have you ever been to Japan?"),
    ("Emi", "Twice, in spring."),
    ("Elise", "I love eating pho."),
)
TALK = tuple(
    Message(index=at, role="speaker", speaker=who, content=what)
    for at, (who, what) in enumerate(LINES)
)
ASKED = [
    ("What foods does Elise like?", frozenset({5})),
    ("Which sports does Elise do?", frozenset({1})),
    ("What pets does Emi have?", frozenset({2})),
]
GOLD = GoldTalk("talk", TALK, ASKED)


def some_adapter(seed: int) -> Adapter:
    random, model = np.random.default_rng(seed), published(packaged_folder())[0].auto_model

    def thin(*shape: int) -> Vectors:
        """As a file holds it."""
        return random.normal(0, 0.1, shape).astype(np.float16).astype(np.float32)

    parts = {name: model.get_submodule(name) for name in NAMES}
    return Adapter(
        {
            name: Change(thin(part.in_features, 2), thin(2, part.out_features))
            for name, part in parts.items()
        }
    )


@pytest.fixture
def shipped_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that adapters are read from, for one test."""
    path = tmp_path / "adapters.safetensors"
    monkeypatch.setattr(adapter, "ADAPTERS", path)
    forget()
    yield path
    forget()


def forget() -> None:
    adapter.shipped.cache_clear()


# --- an adapted MiniLM --------------------------------------------------------------------------


@pytest.mark.slow
def test_vectors_are_those_of_the_published_model_with_the_change_added_to_each_matrix() -> None:
    texts, some = ["I love eating pho.", "", "Grüße, 你好 🙂", "snow in May " * 90], some_adapter(1)
    oracle = deepcopy(published(packaged_folder()))
    plain = oracle.encode(texts, normalize_embeddings=True)
    for name, (down, up) in some.changes.items():
        part = oracle[0].auto_model.get_submodule(name)
        part.weight.data += torch.from_numpy(down @ up).T

    changed = oracle.encode(texts, normalize_embeddings=True)

    folder = packaged_folder()
    assert Network(folder).sentences(texts) == pytest.approx(plain, abs=1e-5)
    assert Network(folder, some.changes).sentences(texts) == pytest.approx(changed, abs=1e-4)
    assert MiniLM().encode(texts) == pytest.approx(plain, abs=5e-3)  # perhaps in bfloat16
    assert Adapted(some).encode(texts) == pytest.approx(changed, abs=5e-3)


def test_vectors_are_other_ones_under_another_name_and_the_same_in_both_ways() -> None:
    texts, plain, adapted = ["I love eating pho.", "Snow"], MiniLM(), Adapted(some_adapter(1))
    vectors = adapted.encode(texts)
    sentences, tokens = adapted.encode_both(texts)

    assert adapted.id not in {plain.id, Adapted(some_adapter(2)).id}
    assert adapted.id == Adapted(some_adapter(1)).id
    assert not np.allclose(vectors, plain.encode(texts), atol=0.01)
    assert sentences == pytest.approx(vectors, abs=1e-5)
    assert [pieces[1:-1] for pieces, _ in tokens][1] == ("snow",)


def test_a_talk_that_taught_is_read_by_what_was_taught_without_it(shipped_from: Path) -> None:
    every, without = some_adapter(1), some_adapter(2)
    adapters.write({EVERY: every, "1": without}, shipped_from)
    note_training(shipped_from, {"1": [GOLD]})
    copy = [replace(line, speaker="X", content=f"{line.content} ") for line in TALK]

    own, copied, other = (adapter.suited(MiniLM(), talk) for talk in (TALK, copy, TALK[:1]))

    assert own.id == copied.id == Adapted(without).id
    assert other.id == Adapted(every).id
    assert ConversationIndex(TALK, own).rank_by("late", "Snow?").indexes


def test_talks_that_taught_nothing_share_one_model() -> None:
    one, other = (adapter.suited(MiniLM(), TALK[:size]) for size in (2, 3))

    assert isinstance(one, Adapted)
    assert isinstance(other, Adapted)
    assert one._network() is other._network()


# --- learning -----------------------------------------------------------------------------------


def test_talks_that_share_people_by_way_of_others_are_of_one_group() -> None:
    pairs = [("Ann", "Bob"), ("Cy", "Di"), ("Eve", "Di"), ("Bob", "Eve"), ("Flo", "Gus")]
    talks = [
        GoldTalk(
            " ".join(pair),
            tuple(Message(at, "speaker", who, "Hi") for at, who in enumerate(pair)),
            [],
        )
        for pair in pairs
    ]

    groups = [{gold.name for gold in group} for group in by_people(talks).values()]

    assert groups == [{"Ann Bob", "Cy Di", "Eve Di", "Bob Eve"}, {"Flo Gus"}]
    with pytest.raises(ValueError, match="two groups of people"):
        adapters.taught_by(by_people(talks[:1]))


@pytest.fixture(scope="module")
def lesson() -> adapters.Lesson:
    return adapters.lesson(GOLD)


def test_what_is_learned_repeats_and_brings_evidence_nearer(lesson: adapters.Lesson) -> None:
    one, again = (adapters.learn([lesson], epochs=12) for _ in range(2))

    assert one.digest == again.digest
    assert lead(Adapted(one)) > lead(MiniLM()) + 0.05


def lead(encoder: MiniLM) -> float:
    """How much nearer evidence is to its question than the nearest other of the one asked about."""
    said_all, speakers = [one.content for one in TALK], learn(TALK)
    encoded = late.encode_both(said_all, encoder)
    leads = []
    for text, (expected,) in ASKED:
        asked = question.read(text, speakers, span=None)
        first = late.encode_both([asked.first], encoder)[asked.first].tokens
        near = [
            float((first.vectors @ encoded[text].tokens.vectors.T).max(axis=1).mean())
            for text in said_all
        ]
        said = [at for at, one in enumerate(TALK) if one.speaker in asked.about and at != expected]
        leads.append(near[expected] - max(near[at] for at in said))
    return sum(leads) / len(leads)
