import json
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO, RawIOBase
from typing import Any

import pytest

from labeling.conversations.rules.importing import (
    Fingerprint,
    Problem,
    Record,
    conflict,
    content_sha256,
    read_native,
)
from labeling.domain.facts import Fact
from labeling.words import in_english


def conversation(id_: str = "a", **keys: Any) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "The report must show late orders."},
        {"role": "analyst", "content": "Every day?"},
    ]
    return {"id": id_, "messages": messages, **keys}


def line(**keys: Any) -> bytes:
    return json.dumps(conversation(**keys)).encode() + b"\n"


def read(data: bytes, **limits: int) -> list[Any]:
    return list(read_native(BytesIO(data), **limits))


def records(data: bytes) -> list[Record]:
    reading = read(data)
    assert not [each for each in reading if isinstance(each, Problem)]
    return [record for _, record in reading]


def reason(data: bytes, **limits: int) -> str:
    (found,) = read(data, **limits)
    assert isinstance(found, Problem)
    said = in_english(found.reason)
    assert "\n" not in said
    return said


def with_message(**keys: Any) -> bytes:
    document = conversation()
    document["messages"][1].update(keys)
    return json.dumps(document).encode()


def test_a_whole_conversation_is_read():
    document = conversation(
        domain="retail",
        difficulty="hard",
        split="test",
        messages=[
            {"role": "user", "content": "Bonjour – ça va?", "speaker": "Zoé"},
            {"role": "analyst", "content": "Yes.", "time": "2026-01-31T14:05:00+02:00"},
        ],
    )

    (record,) = records(json.dumps(document, ensure_ascii=False).encode())

    assert (record.id, record.domain, record.difficulty, record.split) == (
        "a",
        "retail",
        "hard",
        "test",
    )
    assert record.speakers == ["Zoé", "analyst"]
    assert record.turns[0].content == "Bonjour – ça va?"
    assert record.turns[1].time == datetime(2026, 1, 31, 12, 5, tzinfo=UTC)


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_zone_is_taken_as_utc():
    (record,) = records(with_message(time="2026-01-31T14:05:00"))

    assert record.turns[1].time == datetime(2026, 1, 31, 14, 5, tzinfo=UTC)


def test_blank_lines_and_a_byte_order_mark_do_not_count_but_lines_keep_their_numbers():
    data = b"\xef\xbb\xbf" + line() + b"\n  \r\n" + line(id_="b").replace(b"\n", b"\r\n")

    assert [number for number, _ in read(data)] == [1, 4]


def test_a_last_line_without_line_end_is_read():
    assert len(records(line() + line(id_="b").rstrip(b"\n"))) == 2


def test_reading_goes_on_after_a_bad_line():
    reading = read(line() + b"{\n" + line(id_="c"))

    assert [each.line if isinstance(each, Problem) else each[0] for each in reading] == [1, 2, 3]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b" \t\r\n"])
def test_an_empty_file_is_a_problem_of_the_whole_file(data):
    assert read(data) == [Problem(None, Fact("file.empty"))]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"id": "a", "mess', "not valid JSON: Unterminated string at column 13"),
        (b"{'id': 1}", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON: nested too deeply"),
        (b'{"id": ' + b"1" * 5000 + b"}", "not valid JSON: a number of thousands of digits"),
        (b"[]", "a line must be an object, not a list"),
        (b"null", "a line must be an object, not null"),
        (b"true", "a line must be an object, not true or false"),
        (b'{"id": "a", "id": "b"}', 'the key "id" is in one object twice'),
        (
            json.dumps(conversation("caf\u00e9"), ensure_ascii=False).encode("latin-1"),
            # {"id": "caf is 11 bytes long
            "the line is not UTF-8 (byte 0xE9 at position 12 of the line); save the file as UTF-8",
        ),
        (line().decode().encode("utf-16"), "the line is not UTF-8 (byte 0xFF at position 1"),
    ],
)
def test_what_is_no_json_object_in_utf8_is_named(data, said):
    assert reason(data.rstrip(b"\n\0") if data[:1] == b"\xff" else data).startswith(said)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"id_": ""}, '"id" is empty'),
        ({"id_": "  "}, '"id" is empty'),
        ({"id_": None}, '"id" is missing'),
        ({"id_": 7}, '"id" must be text, not a number'),
        ({"id_": " a"}, '"id" has white space around it or a control character in it'),
        ({"id_": "a\nb"}, '"id" has white space around it or a control character in it'),
        ({"id_": "x" * 201}, '"id" has 201 characters; 200 are allowed'),
        ({"domain": "x" * 101}, '"domain" has 101 characters; 100 are allowed'),
        ({"domain": ["retail"]}, '"domain" must be text, not a list'),
        ({"mesages": []}, 'unknown key "mesages"; did you mean "messages"?'),
        (
            {"q": 1},
            'unknown key "q"; known are id, domain, difficulty, split, origin, generator, '
            "priority, messages",
        ),
        ({"difficulty": "Easy"}, 'unknown difficulty "Easy"; known are easy, medium, hard'),
        ({"split": "validation"}, 'unknown split "validation"; known are train, dev, test'),
        ({"messages": None}, '"messages" is missing'),
        ({"messages": {}}, '"messages" must be a list, not an object'),
        ({"messages": []}, "a conversation needs at least 2 messages, not 0"),
        (
            {"messages": [{"role": "user", "content": "Hi"}]},
            "a conversation needs at least 2 messages, not 1",
        ),
        ({"messages": ["Hi", "Hello"]}, "messages[0] must be an object, not text"),
    ],
)
def test_what_is_wrong_with_a_conversation_is_named(keys, said):
    assert reason(line(**keys)) == said


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"content": None}, '"messages[1].content" is missing'),
        ({"content": " \n"}, '"messages[1].content" is empty'),
        ({"content": ["Hi"]}, '"messages[1].content" must be text, not a list'),
        ({"role": None}, '"messages[1].role" is missing'),
        ({"role": "r" * 51}, '"messages[1].role" has 51 characters; 50 are allowed'),
        ({"speaker": "s" * 201}, '"messages[1].speaker" has 201 characters; 200 are allowed'),
        (
            {"content": "a\0b"},
            '"messages[1].content" contains a NUL character (\\u0000), which cannot be stored',
        ),
        (
            {"content": "\ud83d"},
            '"messages[1].content" contains half of a surrogate pair, which is not text',
        ),
        ({"contents": "Hi"}, 'messages[1]: unknown key "contents"; did you mean "content"?'),
        (
            {"time": "yesterday"},
            '"messages[1].time" is "yesterday", which is not an ISO 8601 time '
            "such as 2026-01-31T14:05:00Z",
        ),
        (
            {"time": "0001-01-01T00:00:00+14:00"},
            '"messages[1].time" is "0001-01-01T00:00:00+14:00", which is not an ISO 8601 time '
            "such as 2026-01-31T14:05:00Z",
        ),
    ],
)
def test_what_is_wrong_with_a_message_is_named_with_its_position(keys, said):
    assert reason(with_message(**keys)) == said


def test_text_of_the_file_cannot_break_the_line_of_an_error():
    assert reason(line(difficulty="a\nb\x1b[31m")) == (
        'unknown difficulty "a\\nb\\x1b[31m"; known are easy, medium, hard'
    )


def test_a_line_over_the_limit_is_passed_over_and_the_next_one_read():
    reading = read(line() + b"x" * 5000 + b"\n" + line(id_="b"), max_line_bytes=300)

    assert [each if isinstance(each, Problem) else each[0] for each in reading] == [
        1,
        Problem(2, Fact("file.line_too_long", limit=300)),
        3,
    ]


def test_a_line_of_exactly_the_limit_is_read():
    data = line().rstrip(b"\n")

    assert isinstance(read(data, max_line_bytes=len(data))[0], tuple)
    assert reason(data, max_line_bytes=len(data) - 1).startswith("the line is longer than")


class Endless(RawIOBase):
    """A stream of many bytes that are never all in memory."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readline(self, size: int = -1) -> bytes:  # type: ignore[override]
        while len(self._rest) < size and b"\n" not in self._rest:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._rest += chunk
        end = self._rest.find(b"\n") + 1 or len(self._rest)
        taken, self._rest = self._rest[: min(end, size)], self._rest[min(end, size) :]
        return taken


def peak_bytes(stream: Any) -> tuple[int, int]:
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_native(stream))
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_200_megabytes_is_never_held():
    count, peak = peak_bytes(Endless(b"x" * 1_000_000 for _ in range(200)))

    assert count == 1
    assert peak < 60_000_000  # the limit of 16 MB, and what the reading of it takes


def test_memory_does_not_grow_with_the_number_of_conversations():
    count, peak = peak_bytes(Endless(line(id_=f"c{i}") for i in range(10_000)))

    assert count == 10_000
    assert peak < 1_000_000


def test_the_content_hash_covers_the_messages_and_nothing_else():
    (a,) = records(line(id_="a", domain="retail"))
    (b,) = records(line(id_="b", split="dev"))
    (c,) = records(with_message(content="Every week?"))

    assert content_sha256(a.turns) == content_sha256(b.turns)
    assert content_sha256(a.turns) != content_sha256(c.turns)


def test_the_content_hash_does_not_depend_on_how_a_time_is_written():
    (zulu,) = records(with_message(time="2026-01-31T12:05:00Z"))
    (local,) = records(with_message(time="2026-01-31T14:05:00+02:00"))
    (none,) = records(with_message())

    assert content_sha256(zulu.turns) == content_sha256(local.turns)
    assert content_sha256(zulu.turns) != content_sha256(none.turns)


def test_only_what_is_said_anew_can_contradict():
    known = Fingerprint("1", "retail", "easy", "")

    assert conflict(known, known) is None
    assert conflict(known, Fingerprint("1", "", "", "")) is None
    other_text = conflict(known, Fingerprint("2", "retail", "easy", ""))
    assert other_text == Fact("import.known_with_other_text")
    assert conflict(known, Fingerprint("1", "", "", "dev")) is None  # it gets one
    assert conflict(known._replace(split="dev"), Fingerprint("1", "", "", "test")) == Fact(
        "import.known_otherwise", key="split", known="dev", wanted="test"
    )
    assert conflict(known, Fingerprint("1", "x", "", "")) == Fact(
        "import.known_otherwise", key="domain", known="retail", wanted="x"
    )


@pytest.mark.parametrize(("given", "kept"), [("7", 7), ("-3", -3), ("null", 0)])
def test_a_priority_is_a_whole_number(given, kept):
    line = b'{"id": "a", "priority": %s, "messages": %s}' % (given.encode(), TWO)

    ((_, record),) = read_native(BytesIO(line))

    assert record.priority == kept


@pytest.mark.parametrize("given", ["1.5", '"high"', "true", "40000"])
def test_what_is_no_priority_is_refused(given):
    line = b'{"id": "a", "priority": %s, "messages": %s}' % (given.encode(), TWO)

    (problem,) = read_native(BytesIO(line))

    assert '"priority" must be a whole number' in in_english(problem.reason)


TWO = b'[{"role": "user", "content": "Hello"}, {"role": "analyst", "content": "Hi"}]'


def test_line_ends_of_any_kind_become_line_feeds():
    (record,) = records(with_message(content="one\r\ntwo\rthree\nfour"))

    assert record.turns[1].content == "one\ntwo\nthree\nfour"


@pytest.mark.parametrize(
    "file",
    [
        b"id,role,content\r\nc1,user,Hello\r\n",
        "\ufeffUser: I need a shop\n\nAnalyst: Which?\n".encode(),
        b'{\n  "id": "a",\n  "messages": []\n}\n',
        b'\n[\n{"id": "a"}\n]\n',
        b'[{"id": "a"}, {"id": "b"}]\n[]\n',
    ],
    ids=["table", "text", "indented", "list", "list on a line"],
)
def test_a_file_of_another_kind_is_one_problem_that_shows_a_line(file):
    (problem,) = read_native(BytesIO(file))

    said = ("not valid JSON, but a table, plain text or one long document:", "a line must be")
    assert in_english(problem.reason).startswith(said)
    assert '{"id": "a", "messages": [{"role": "user"' in in_english(problem.reason)
