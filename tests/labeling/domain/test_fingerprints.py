"""What counts as the same conversation."""

import pytest

from labeling.domain import fingerprints
from labeling.domain.fingerprints import Fingerprint, fingerprint, is_same, overlap
from tests.talks import copies, talk, texts

CHAT = talk(1)
PRINT = fingerprint(texts(CHAT))


@pytest.mark.parametrize("change", list(copies(CHAT)))
def test_a_copy_is_the_same_conversation_in_both_directions(change):
    copy = fingerprint(texts(copies(CHAT)[change]))

    assert is_same(copy, PRINT)
    assert is_same(PRINT, copy)


def test_chats_of_other_seeds_are_others():
    others = [fingerprint(texts(talk(seed))) for seed in range(2, 12)]

    assert not any(is_same(PRINT, other) for other in others)
    assert max(overlap(PRINT, other).share for other in others) < 0.01


@pytest.mark.parametrize(("messages", "whole"), [(3, 20), (8, 680), (8, 1500), (40, 1500)])
def test_an_excerpt_is_a_part_of_the_whole(messages, whole):
    lines = talk(3, messages=whole)
    excerpts = [fingerprint(texts(lines[start : start + messages])) for start in range(0, 15, 5)]

    assert all(is_same(each, fingerprint(texts(lines))) for each in excerpts)


def test_the_estimate_is_near_what_is_really_shared():
    lines = talk(4)

    half = overlap(fingerprint(texts(lines[:400])), fingerprint(texts(lines[200:600])))

    assert half.share == pytest.approx(0.5, abs=0.05)


def test_three_short_messages_have_a_fingerprint_and_two_greetings_have_none():
    order = ["I need to change my order.", "Which one is it?", "The two green chairs from Monday."]

    assert is_same(fingerprint(order), fingerprint([line + " " for line in order]))
    assert not fingerprint(["Hello!", "Hello, how may I help you today?"])
    assert not is_same(fingerprint([]), fingerprint([]))


def test_one_sentence_in_common_is_not_a_conversation_in_common():
    asked = "Okay, and do you have any other questions for me today"
    one = [asked, "No, thank you, that was really all that I wanted to know about the trip."]
    other = [asked, "How long does it take until the parcel with the lamp comes to my house?"]

    assert not is_same(fingerprint(one), fingerprint(other))


def test_texts_without_blanks_are_compared_as_well():
    order = ["我想买一个可以在手机上使用的应用程序", "请问您需要什么样的功能呢", "管理客户的订单"]
    other = ["明天我们打算去山上看日出你要不要一起来", "好啊几点出发需要带什么东西吗"]

    assert is_same(fingerprint(order), fingerprint([f" {line}。" for line in order[:2]]))
    assert not is_same(fingerprint(order), fingerprint(other))


def test_other_forms_of_the_same_letters_are_the_same_words():
    composed = "Der Käufer möchte für fünf Stühle über zwölf Monate prüfen ob früher später wäre"
    decomposed = composed.replace("ä", "a\u0308").replace("ö", "o\u0308").replace("ü", "u\u0308")

    assert fingerprint([composed + " und warum es so kommt"]) == fingerprint(
        [decomposed + " und warum es so kommt"]
    )


def test_a_stored_fingerprint_is_read_back_and_of_other_rules_refused():
    assert Fingerprint.from_bytes(bytes(PRINT)) == PRINT
    assert Fingerprint.from_text(PRINT.as_text()) == PRINT
    with pytest.raises(ValueError, match="version"):
        Fingerprint.from_bytes(bytes([fingerprints.VERSION + 1]) + bytes(PRINT)[1:])
    with pytest.raises(ValueError, match="version"):
        Fingerprint.from_bytes(b"")


def test_the_values_are_those_that_are_stored_with_the_weights():
    """Other values would make every stored fingerprint useless: then raise the version."""
    known = fingerprint(f"word{n} naïve 订单{n}" for n in range(9))

    assert known.as_text()[:48] == "AQDVcOwM2XmNEXA7oRKy2F0lVxnvORSNpT3zaNM9gvZuSNkG"
