"""Each way of ranking finds what it is made for, on talks of a few lines."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pipelines.memory import text
from pipelines.memory.conversations import key_of
from pipelines.memory.retrieval import features, late, question, ranker, speakers, views
from pipelines.memory.retrieval.index import METHODS, ConversationIndex
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.memory.retrieval.ranker import shipped
from pipelines.memory.training.query import GoldTalk
from pipelines.memory.training.ranking import (
    Pupil,
    as_json,
    held_out,
    make_ready,
    rankers_without,
    report,
    taught_by,
    write_weights,
)
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
    return ConversationIndex.build(TALK, encoder=encoder)


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


def test_a_message_is_worth_its_best_window() -> None:
    assert views.windows(["a", "b", "c"], 2) == ["a\nb", "b\nc"]
    result = features.to_messages(np.array([0.1, 0.9]), width=2, count=3)
    assert result.tolist() == [0.1, 0.9, 0.9]


def test_wider_windows_are_means_of_their_pairs() -> None:
    pairs = np.eye(4, dtype=np.float32)  # of five messages

    three, five = views.mean_of_pairs(pairs, 3), views.mean_of_pairs(pairs, 5)

    assert three == pytest.approx(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]) / 2**0.5)
    assert five.tolist() == [[0.5, 0.5, 0.5, 0.5]]
    assert views.mean_of_pairs(pairs, 2) == pytest.approx(pairs)
    assert views.mean_of_pairs(pairs[:1], 5) == pytest.approx(pairs[:1])  # of two messages


def test_windows_wider_than_the_talk_are_one_window() -> None:
    assert views.windows(["a", "b"], 5) == ["a\nb"]
    assert features.to_messages(np.array([0.5]), width=5, count=2).tolist() == [0.5, 0.5]


def test_every_word_of_a_question_finds_its_nearest(encoder: WordOverlap) -> None:
    encoded = late.encode_both(["cat snow", "dog", "snow", "snow cat"], encoder)
    *messages, asked = (text.tokens for text in encoded.values())
    matrix = late.TokenMatrix.of(messages)

    assert matrix.nearest(asked.vectors).tolist() == [[1, 1], [0, 0], [1, 0]]
    assert matrix.weights(["dog"]) > matrix.weights(["snow"])


def test_words_may_be_found_in_the_message_before(index: ConversationIndex) -> None:
    evidence = index.evidence("Japan spring")

    assert np.argmax(evidence.late_among["before"]) == 4


# --- the index ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks_every_message_once(index: ConversationIndex, method: str) -> None:
    result = index.rank_by(method, "Where does Elise go skiing?")

    assert sorted(result.indexes) == list(range(len(TALK)))
    assert list(result.scores) == sorted(result.scores, reverse=True)
    assert all(0 <= probability <= 1 for probability in result.probabilities)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_plain_answer_first(index: ConversationIndex, method: str) -> None:
    if method == "windows":
        assert 1 in index.rank_by(method, "Elise go skiing in Aspen").indexes[:3]
    else:
        assert index.rank_by(method, "Elise go skiing in Aspen").indexes[0] == 1


@pytest.mark.parametrize("method", ["dense", "late", "fusion"])
def test_who_is_asked_about_comes_before_who_says_the_same_words(
    encoder: WordOverlap, method: str
) -> None:
    same = "I ski in Aspen"
    talk = said(("Emi", same), ("Elise", same), ("Emi", "It rains"), ("Elise", "We eat noodles"))
    index = ConversationIndex.build(talk, encoder=encoder)

    assert index.rank_by(method, "Where does Emi ski?").indexes[0] == 0
    assert index.rank_by(method, "Where does Elise ski?").indexes[0] == 1


def test_pictures_are_searched(index: ConversationIndex) -> None:
    assert index.rank_by("lexical", "Who ate noodle soup?").indexes[0] == 5


def test_a_limit_keeps_the_best(index: ConversationIndex) -> None:
    whole = index.rank("cat")

    assert index.rank("cat", limit=2).indexes == whole.indexes[:2]


def test_questions_asked_together_are_ranked_as_alone_and_encoded_once(
    index: ConversationIndex, encoder: WordOverlap
) -> None:
    asked = ["Where does Elise ski?", "Has Emi a cat?", "Where does Elise ski?"]
    alone = [index.rank(one) for one in asked]
    encoder.batches.clear()

    together = index.rank_all(asked)

    assert [one.scores for one in together] == [one.scores for one in alone]
    sentences = encoder.batches[0]
    assert len(sentences) == len(set(sentences)) == 6
    assert len(encoder.batches) == 2  # of sentences, and of words
    assert index.rank_all([]) == []


def test_words_alone_are_counted_without_an_encoder(
    index: ConversationIndex, encoder: WordOverlap
) -> None:
    encoder.batches.clear()

    index.rank_by("lexical", "Who ate noodle soup?")

    assert encoder.batches == []


def test_an_unknown_method_is_refused_with_those_there_are(index: ConversationIndex) -> None:
    with pytest.raises(ValueError, match="lexical, dense"):
        index.rank_by("magic", "cat")


def test_a_talk_without_messages_has_no_index(encoder: WordOverlap) -> None:
    with pytest.raises(ValueError, match="no message"):
        ConversationIndex.build([], encoder=encoder)


@pytest.mark.parametrize("asked", ["", "?", "and", "\0", "Kate Kate Kate", "x" * 5000])
@pytest.mark.parametrize(
    "lines", [LINES, LINES[:1], (("", ""),), (("A", ""), ("B", ""), ("C", ""))]
)
def test_odd_questions_and_talks_give_finite_scores(
    encoder: WordOverlap, asked: str, lines: Sequence[tuple[str, str]]
) -> None:
    result = ConversationIndex.build(said(*lines, start="no time"), encoder=encoder).rank(asked)

    assert len(result.indexes) == len(lines)
    assert np.isfinite(result.scores).all()


def test_what_is_stored_is_not_computed_again_and_ranks_the_same(encoder: WordOverlap) -> None:
    store = Kept()
    first = ConversationIndex.build(TALK, encoder=encoder, store=store).rank("Aspen")
    encoder.batches.clear()

    again = ConversationIndex.build(TALK, encoder=encoder, store=store)

    assert encoder.batches == []
    assert again.rank("Aspen").scores == first.scores


def test_another_text_is_stored_under_another_key(encoder: WordOverlap) -> None:
    store = Kept()
    for lines in (LINES, LINES[:3]):
        ConversationIndex.build(said(*lines), encoder=encoder, store=store)

    assert len(store) == 2


def test_silence_begins_a_burst(encoder: WordOverlap) -> None:
    late_one = [*said(*LINES[:2]), *said(LINES[2], start="2024-01-01T10:30:00+00:00")]

    assert views.look(late_one, encoder, None).bursts.tolist() == [0, 0, 1]


# --- training -----------------------------------------------------------------------------------

ASKED = [("Where does Elise go skiing?", frozenset({1})), ("What is Kate's cat?", frozenset({2}))]


def test_training_repeats_to_the_byte(encoder: WordOverlap, tmp_path: Path) -> None:
    pupils = two_pupils(encoder)
    for name in ("a.json", "b.json"):
        write_weights(pupils, rankers_without(pupils), tmp_path / name)

    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    stored = json.loads((tmp_path / "a.json").read_text())
    assert stored["features"] == as_json(taught_by(pupils))["features"]


def test_a_conversation_that_taught_is_ranked_by_weights_made_without_it(
    encoder: WordOverlap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pupils = two_pupils(encoder)
    write_weights(pupils, rankers_without(pupils), tmp_path / "weights.json")
    monkeypatch.setattr(ranker, "WEIGHTS", tmp_path / "weights.json")
    ranker.shipped.cache_clear()

    for own, other in (pupils, reversed(pupils)):
        seen = ranker.shipped(key_of(own.gold.messages))
        assert as_json(seen) == as_json(taught_by([other]))
    assert as_json(ranker.shipped("of another talk")) == as_json(taught_by(pupils))
    ranker.shipped.cache_clear()


def two_pupils(encoder: WordOverlap) -> list[Pupil]:
    short = GoldTalk("two", TALK[:5], ASKED)
    return [make_ready(gold, encoder, Kept()) for gold in (GoldTalk("one", TALK, ASKED), short)]


def test_a_conversation_is_ranked_by_what_the_others_taught(encoder: WordOverlap) -> None:
    pupils = [make_ready(GoldTalk(name, TALK, ASKED), encoder, Kept()) for name in ("one", "two")]

    result = report(pupils, held_out(pupils, rankers_without(pupils)))

    assert set(result) == {"all", "one", "two"}
    assert result["all"]["questions"] == 4
    assert result["all"]["recall@10"] == 1.0


def test_the_shipped_weights_are_small_and_fit_the_features(index: ConversationIndex) -> None:
    columns = index.columns(index.evidence("Where?"))

    assert set(shipped().names) == set(columns)
    assert views.FORMAT
