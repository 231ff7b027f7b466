"""Evidence is read in every spelling that was published, and nothing is guessed."""

import pytest

from labeling.conversations.rules.evidence import MessageId, resolve


def known(*ids: str) -> dict[MessageId, int]:
    result = (id.removeprefix("D").split(":") for id in ids)
    return {MessageId(int(a), int(b)): position for position, (a, b) in enumerate(result)}


@pytest.mark.parametrize(
    ("text", "ids", "kinds"),
    [
        ("D1:11", ["D1:11"], []),
        ("D1:11; D3:18", ["D1:11", "D3:18"], ["list"]),
        ("D5:12;D5:16", ["D5:12", "D5:16"], ["list"]),
        ("D1:2,D1:3", ["D1:2", "D1:3"], ["list"]),
        ("D1:2 D1:3", ["D1:2", "D1:3"], ["list"]),
        ("D13:4. D14:4", ["D13:4", "D14:4"], ["list"]),
        ("D13:45:D20:19", ["D13:45", "D20:19"], ["list"]),
        ("D20:6.", ["D20:6"], ["stray"]),
        ("D 2:18", ["D2:18"], ["stray"]),
        ("d2:18", ["D2:18"], ["stray"]),
        ("D17;39", ["D17:39"], ["wrong_separator"]),
        ("D:11:26", ["D11:26"], ["extra_colon"]),
        ("23:29", ["D23:29"], ["no_letter"]),
        ("D30:05", ["D30:5"], ["zero_padded"]),
    ],
)
def test_an_odd_spelling_is_read_and_reported(text, ids, kinds):
    evidence = resolve([text], known(*ids))

    assert evidence.positions == tuple(range(len(ids)))
    assert [one.kind for one in evidence.odd] == kinds
    assert evidence.lost == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("D:56", "no_part"),
        ("56", "no_part"),
        ("D58", "no_number"),
        ("D", "no_number"),
        ("", "empty"),
        ("  ", "empty"),
        ("above", "unreadable"),
    ],
)
def test_what_cannot_be_read_is_reported_by_kind(text, kind):
    assert resolve([text], {}) == ((), (), ((kind, text),))


def test_a_half_readable_element_gives_what_can_be_read():
    assert resolve(["D58; D3:2"], known("D3:2")) == ((0,), (), (("no_number", "D58"),))


@pytest.mark.parametrize("text", ["D12:3-D12:5", "D12:3-5", "D12:3 – D12:5"])
def test_a_range_names_every_message_between(text):
    evidence = resolve([text], known("D12:3", "D12:4", "D12:5", "D12:6"))

    assert evidence.positions == (0, 1, 2)


def test_a_message_missing_in_a_range_is_reported():
    evidence = resolve(["D1:1-D1:3"], known("D1:1", "D1:3"))

    assert evidence.positions == (0, 1)
    assert [one.text for one in evidence.lost] == ["D1:2"]


def test_a_range_may_cross_parts_when_both_ends_are_there():
    there = known("D1:8", "D1:9", "D2:1", "D2:2")

    assert resolve(["D1:9-D2:1"], there).positions == (1, 2)
    assert [one.kind for one in resolve(["D1:9-D2:7"], there).lost] == ["bad_range"]


@pytest.mark.parametrize("text", ["D1:3-D1:1", "D1:1-D1:900"])
def test_a_range_that_cannot_be_meant_names_nothing(text):
    evidence = resolve([text], known("D1:1", "D1:2", "D1:3"))

    assert evidence.positions == ()
    assert [one.kind for one in evidence.lost] == ["bad_range"]


def test_a_message_counts_once():
    evidence = resolve(["D1:2", "D1:1", "D1:2"], known("D1:1", "D1:2"))

    assert evidence.positions == (0, 1)
    assert [one.kind for one in evidence.odd] == ["repeated"]
