"""Each way of ranking finds what it is made for, on talks of a few lines."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks import train_memory as train
from benchmarks.train_vectors import GoldTalk
from pipelines.memory import text
from pipelines.memory.retrieval import late, question, ranker, speakers
from pipelines.memory.retrieval.index import METHODS, ConversationIndex
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.types import Message
from tests.fakes import WordOverlap

LINES = (
    ("Emi", "Hi Elise! What do you do on weekends?"),
    ("elise", "Hey Kate, I go skiing in Aspen."),
    ("Emi", "Hello Elise. My cat Fluffy hates snow."),
    ("elise", "Thanks Kate! Have you ever been to Japan?"),
    ("Emi", "Twice, in spring."),
    ("elise", "Hi Kate! Look at this\n[image: a bowl of noodle soup]"),
)


def said(*lines: tuple[str, str], start: str = "2024-01-01T10:00:00+00:00") -> tuple[Message, ...]:
    return tuple(
        Message(index=at, role="speaker", speaker=who, content=what, time=start)
        for at, (who, what) in enumerate(lines)
    )


TALK = said(*LINES)


class Kept(dict[str, bytes]):
    def put(self, key: str, value: bytes) -> None:
        self[key] = value


@pytest.fixture
def encoder() -> WordOverlap:
    return WordOverlap()


@pytest.fixture
def index(encoder: WordOverlap) -> ConversationIndex:
    return ConversationIndex(TALK, encoder)


# --- words and people ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("skiing", "ski"),
        ("hobbies", "hobby"),
        ("planned", "plan"),
        ("went", "go"),
        ("Emi’s", "emi"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert text.stem(text.words(one)[0]) == text.stem(other)


def test_a_name_called_out_to_a_speaker_becomes_the_speakers() -> None:
    result = speakers.learn(TALK)

    assert result.names["Emi"] == {"emi", "kate"}
    assert result.names["elise"] == {"elise"}
    assert result.about("Has Kate's cat met Elise?") == ("Emi", "elise")


def test_a_name_called_out_once_is_nobodys() -> None:
    assert speakers.learn(TALK[:2]).names["Emi"] == {"emi"}


def test_a_slip_in_a_long_name_is_forgiven_and_a_word_is_no_name() -> None:
    result = speakers.learn(said(("Nicolas", "Hi"), ("Vanessa", "Hi")))

    assert result.about("What does Nikolas eat?") == ("Nicolas",)
    assert result.about("What nice things are eaten?") == ()


@pytest.mark.parametrize(
    ("asked", "first", "bare"),
    [
        ("When did Kate's cat die?", "When did my cat die?", "When did cat die?"),
        ("Do Kate and Elise ski?", "Do we ski?", "Do ski?"),
        ("What did Kate eat on 29 Dec 2023?", "What did I eat?", "What did eat?"),
    ],
)
def test_a_question_is_asked_as_the_person_would_say_it(asked: str, first: str, bare: str) -> None:
    reading = question.read(asked, speakers.learn(TALK), span=None)

    assert (reading.first, reading.bare) == (first, bare)


# --- single retrievers --------------------------------------------------------------------------


def test_bm25_prefers_rare_words_and_short_messages() -> None:
    result = Lexical([["ski", "day"], ["day"], ["day", "ski", "hut", "sun", "ice"]])

    scores = result.score(["ski", "day", "never"])

    assert list(np.argsort(-scores)) == [0, 2, 1]
    assert result.covered(["ski"]).tolist() == [1.0, 0.0, 1.0]


def test_every_word_of_a_question_finds_its_nearest(encoder: WordOverlap) -> None:
    encoded = late.encode_both(["cat snow", "dog", "snow", "snow cat"], encoder)
    *messages, asked = (text.tokens for text in encoded.values())
    matrix = late.TokenMatrix.of(messages)

    assert matrix.nearest(asked.vectors).tolist() == [[1, 1], [0, 0], [1, 0]]
    assert matrix.weights(["dog"]) > matrix.weights(["snow"])


# --- the index ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_plain_answer_first(index: ConversationIndex, method: str) -> None:
    assert index.rank_by(method, "Elise go skiing in Aspen").indexes[0] == 1


@pytest.mark.parametrize("method", ["dense", "late", "fusion"])
def test_who_is_asked_about_comes_before_who_says_the_same_words(
    encoder: WordOverlap, method: str
) -> None:
    same = "I ski in Aspen"
    talk = said(("Emi", same), ("Elise", same), ("Emi", "It rains"), ("Elise", "We eat noodles"))
    index = ConversationIndex(talk, encoder)

    assert index.rank_by(method, "Where does Emi ski?").indexes[0] == 0
    assert index.rank_by(method, "Where does Elise ski?").indexes[0] == 1


def test_pictures_are_searched(index: ConversationIndex) -> None:
    assert index.rank_by("late", "Who ate noodle soup?").indexes[0] == 5


@pytest.mark.parametrize("asked", ["", "?", "and", "\0", "Kate Kate Kate", "x" * 5000])
@pytest.mark.parametrize(
    "lines", [LINES, LINES[:1], (("", ""),), (("A", ""), ("B", ""), ("C", ""))]
)
def test_odd_questions_and_talks_give_finite_scores(
    encoder: WordOverlap, asked: str, lines: Sequence[tuple[str, str]]
) -> None:
    index = ConversationIndex(said(*lines, start="no time"), encoder)

    result = index.rank_by("learned", asked)

    assert len(result.indexes) == len(lines)
    assert np.isfinite(result.scores).all()
    assert np.isfinite(result.probabilities).all()


def test_what_is_stored_is_not_computed_again_and_ranks_the_same(encoder: WordOverlap) -> None:
    store = Kept()
    first = ConversationIndex(TALK, encoder, store)
    encoder.batches.clear()

    again = ConversationIndex(TALK, encoder, store)

    assert encoder.batches == []
    assert again.rank_by("learned", "Aspen") == first.rank_by("learned", "Aspen")


@pytest.mark.parametrize(("says", "said_to"), [("You love it", [0, 1]), ("We love it", [0, 0])])
def test_what_is_said_to_the_one_asked_about_is_told_apart(
    encoder: WordOverlap, says: str, said_to: list[float]
) -> None:
    index = ConversationIndex(said(("Emi", "You ski"), ("Elise", says)), encoder)

    columns = index.columns(index.evidence("Does Emi ski?"))

    assert columns["said by"].tolist() == [1, 0]
    assert columns["said to"].tolist() == said_to


def test_the_likelier_message_has_the_higher_chance_and_a_clear_best_one_a_high_one() -> None:
    learned = ranker.shipped()

    clear = learned.chances(np.array([9.0, 0.0, -1.0, -1.5, -2.0]), "Who?")
    vague = learned.chances(np.array([0.4, 0.3, 0.2, 0.1, 0.0]), "Who?")

    assert clear[0] > vague[0]
    assert list(clear) == sorted(clear, reverse=True)
    assert ((clear >= 0) & (clear <= 1)).all()


# --- training -----------------------------------------------------------------------------------

ASKED = [("Where does Elise go skiing?", frozenset({1})), ("What is Kate's cat?", frozenset({2}))]


@pytest.fixture
def pupils(encoder: WordOverlap) -> list[train.Pupil]:
    talks = [GoldTalk(f"of {size}", TALK[:size], ASKED) for size in (4, 5, 6)]
    return [train.make_ready(gold, gold.name[-1], encoder) for gold in talks]


def test_people_who_taught_are_ranked_by_weights_made_without_them(
    pupils: list[train.Pupil], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And training repeats to the byte."""
    taught, again = tmp_path / "ranker.safetensors", tmp_path / "again"
    monkeypatch.setattr(ranker, "WEIGHTS", taught)
    rankers = train.ranking_by(pupils)
    train.write(rankers, taught)
    train.write(train.ranking_by(pupils), again)
    ranker.shipped.cache_clear()

    assert taught.read_bytes() == again.read_bytes()
    assert list(rankers) == [ranker.EVERY, "4", "5", "6"]
    for without in ("4", "5", "6", ""):
        kept, made = ranker.shipped(without), rankers[without or ranker.EVERY]
        assert np.allclose(kept.hidden, made.hidden, atol=1e-6)
        assert np.allclose(kept.sure, made.sure, rtol=1e-5)
    ranker.shipped.cache_clear()


def test_chances_are_told_by_conversations_that_did_not_teach(
    pupils: list[train.Pupil], monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[set[str]] = []
    asked: list[tuple[str, set[str]]] = []
    learn, scored = train.learn, train.scored

    def learning(others):  # type: ignore[no-untyped-def]
        taught.append({pupil.gold.name for pupil in others})
        return learn(others)

    def scoring(pupil, learned):  # type: ignore[no-untyped-def]
        asked.append((pupil.gold.name, taught[len(asked)]))
        return scored(pupil, learned)

    monkeypatch.setattr(train, "learn", learning)
    monkeypatch.setattr(train, "scored", scoring)
    train.ranking_by(pupils)

    assert all(name not in teachers for name, teachers in asked)
    assert len(asked) == 3


def test_a_report_is_of_all_questions(pupils: list[train.Pupil]) -> None:
    result = train.report(pupils, train.ranking_by(pupils))

    assert result["recall@10"] == 1.0
    assert set(result) == {"recall@10", "MRR", "recall", "precision", "returned"}


def test_the_shipped_weights_fit_the_features(index: ConversationIndex) -> None:
    columns = index.columns(index.evidence("Where?"))

    assert len(ranker.shipped().mean) == len(columns)
    assert ranker.WEIGHTS.stat().st_size < 300_000
