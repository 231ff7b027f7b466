"""Transcripts, subtitles and chats of phones: no word is lost, and none gets into another mouth."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from itertools import groupby, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.conversations.formats.conversations import guess_format, read
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.rules.importing import Problem, Record
from labeling.domain.errors import FileFault
from tests.growth import assert_four_times_the_text_takes_no_eight_times_as_long


def read_one(text: str, name: str, **roles: str) -> tuple[Record, HowToRead]:
    how = HowToRead(roles=roles)
    [entry] = list(read(BytesIO(text.encode()), format="auto", name=name, how=how))
    assert not isinstance(entry, Problem), entry
    return entry[1], how


def said(text: str, name: str, **roles: str) -> list[tuple[str, str]]:
    record, _ = read_one(text, name, **roles)
    return [(turn.speaker or turn.role, " ".join(turn.content.split())) for turn in record.turns]


def left_out(text: str, name: str) -> list[tuple[int, str, str]]:
    record, _ = read_one(text, name)
    return [(left.line, left.reason.code.split(".")[1], left.text) for left in record.left_out]


def problem(text: str, name: str) -> Problem:
    [entry] = list(read(BytesIO(text.encode()), format="auto", name=name))
    assert isinstance(entry, Problem)
    return entry


def srt(*cues: str) -> str:
    times = (f"00:00:{n:02},000 --> 00:00:{n + 1:02},000" for n in range(1, len(cues) + 1))
    return "\n".join(
        f"{n}\n{time}\n{cue}\n" for n, (time, cue) in enumerate(zip(times, cues, strict=True), 1)
    )


def vtt(*cues: str) -> str:
    return "WEBVTT\n\n" + re.sub(r"(:\d\d),", r"\1.", srt(*cues))


# --- who speaks -----------------------------------------------------------------------------------

TALK = [("Ana", "Hello"), ("Ben", "Yes"), ("Ana", "ok")]

OTHER_FORMS = {
    "Otter": "Ana  0:03  \nHello\n\nBen  0:05  \nYes\n\nAna  1:02:03\nok",
    "Teams, without blank lines": "Ana   0:03\nHello\nBen   0:05\nYes\nAna   0:09\nok",
    "Teams, with its notes": "Interview\nMarch 12, 2026, 10:15AM\n35m 12s\n\n"
    "Ana started transcription\n\nAna   0:03\nHello\n\nBen   0:05\nYes\n\n"
    "Ana   0:09\nok\n\nAna stopped transcription\n",
    "Teams, by times": "0:0:3.450 --> 0:0:5.000\nAna\nHello\n\n"
    "0:0:6.0 --> 0:0:7.0\nBen\nYes\n\n0:0:8.0 --> 0:0:9.0\nAna\nok\n",
    "Teams, copied": "[Yesterday 10:12 AM] Ana\nHello\n[10:15 AM] Ben\nYes\n[10:16 AM] Ana\nok",
    "Teams, copied with days": "[3/14/2026 10:12 AM] Ana\nHello\n[3/14/2026 10:15 AM] Ben\nYes\n"
    "[3/14/2026 10:16 AM] Ana\nok",
    "Teams, copied from its page": "Ana\nYesterday 10:12 AM\nHello\n\nBen\n10:15 AM\nYes\n\n"
    "Ana\n3/14 10:16\nok",
    "iMessage": "Mar 14, 2026  5:29:42 PM\nAna\nHello\n\nMar 14, 2026  5:30:10 PM (Read by you)\n"
    "Ben\nYes\n\nMar 14, 2026  5:31:10 PM\nAna\nok\n",
    "a thread of mail": "Ana <a@x.org> wrote:\nHello\n\nBen <b@x.org> wrote:\nYes\n\n"
    "Ana <a@x.org>:\nok",
    "Zoom's chat": "10:01:22\t From  Ana : Hello\n10:01:30 From Ben to Everyone:\n\tYes\n"
    "10:02:00\t From Ana to Ben(Direct Message):\tok\n",
    "Zoom's chat, with days": "2026-03-12 10:01:22 From Ana to Everyone:\n\tHello\n"
    "2026-03-12 10:01:30 From Ben to Everyone:\n\tYes\n"
    "2026-03-12 10:01:40 From Ana to Everyone:\n\tok\n",
    "Zoom's chat, copied": "Ana to Everyone 10:01 AM\nHello\nBen to Everyone 10:02 AM\nYes\n"
    "Ana to Everyone 10:03 AM\nok\n",
    "Zoom's chat, copied before": "From Ana to Everyone:  10:01 AM\nHello\n"
    "From Ben to Everyone:  10:02 AM\nYes\nFrom Ana to Everyone:  10:03 AM\nok\n",
    "Google Meet": "00:00:00\n\nAna: Hello\nBen: Yes\n\n00:05:00\n\nAna: ok",
    "Telegram": "Ana, [12.03.2026 09:15]\nHello\n\nBen, [12.03.2026 09:16]\nYes\n\n"
    "Ana, [12.03.2026 09:17]\nok",
    "Fathom": "0:03 - Ana\n  Hello\n0:05 - Ben\n  Yes\n0:09 - Ana\n  ok",
    "Whisper": "[00:00.000 --> 00:03.000]  Ana: Hello\n[00:03.000 --> 00:05.000]  Ben: Yes\n"
    "[00:05.000 --> 00:06.000]  Ana: ok",
    "bold, colon within": "**Ana:** Hello\n\n**Ben:** Yes\n\n**Ana:** ok",
    "bold, colon behind": "**Ana**: Hello\n\n__Ben__: Yes\n\n*Ana*: ok",
    "bold lines": "**Ana: Hello**\n\nBen: Yes\n\n**Ana: ok**",
    "headings": "# Interview\n\n### Ana\n\nHello\n\n### Ben\n\nYes\n\n### Ana\n\nok",
    "a list": "- Ana: Hello\n- Ben: Yes\n- Ana: ok",
    "a bold list": "- **Ana:** Hello\n- **Ben:** Yes\n- **Ana:** ok",
    "brackets": "[Ana] Hello\n[Ben] Yes\n[Ana] ok",
    "IRC": "[10:15] <Ana> Hello\n[10:16] <Ben> Yes\n[10:17] <Ana> ok",
    "LINE": "[LINE] Chat with Ben\nSaved on: 2026/03/13, 09:00\n\nTue, 3/12/2026\n"
    "09:15PM\tAna\tHello\n09:16PM\tBen\tYes\n09:17PM\tAna\tok",
    "Discord, copied": "Ana — Today at 10:15 AM\nHello\nBen — Today at 10:16 AM\nYes\n"
    "Ana — Yesterday at 10:17 AM\nok",
    "ISO times": "2026-03-12T10:15:00Z Ana: Hello\n2026-03-12T10:16:00Z Ben: Yes\n"
    "2026-03-12T10:17:00Z Ana: ok",
    "numbered lines": "1  Ana: Hello\n2  Ben: Yes\n\n3  Ana: ok",
    "a quote": "> **Ana**: Hello\n>\n> **Ben**: Yes\n>\n> **Ana**: ok",
    "brackets and colons": "[Ana]: Hello\n[Ben]: Yes\n[Ana]: ok",
    "odd blanks and marks": "\ufeffAna: Hello\n\u200eBen\u200b: Yes\n\u202aAna\u00a0\u202c: ok",
    "line separators": "Ana: Hello\u2028Ben: Yes\x0bAna: ok",
}


@pytest.mark.parametrize(
    ("form", "time"),
    [("Teams, copied with days", "2026-03-14T10:12"), ("iMessage", "2026-03-14T17:29:42")],
)
def test_a_copied_chat_has_its_times(form, time):
    record, _ = read_one(OTHER_FORMS[form], "talk.txt")

    assert record.turns[0].time is not None
    assert record.turns[0].time.isoformat().startswith(time)
    assert [left.text for left in record.left_out] == re.findall(r"\(Read.*?\)", OTHER_FORMS[form])


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_every_form_of_a_transcript_is_the_same_conversation(form):
    assert said(OTHER_FORMS[form], "talk.md") == TALK


NAMES = [
    "Costa, Ana",
    "Ana Costa (External)",
    "Ben (Guest)",
    "Dr. med. J. van der Berg-Müller (Org, Dept.)",
    "ana",
    "ana maria costa",
    "Ana Maria de la Costa y Vega Ramos",
    "Speaker 2",
    "منى علي",
    "김민수",
    "O’Brien, Pat",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["{}: {}", "**{}:** {}", "[00:0{n}] {}: {}", "{}  0:0{n}\n{}\n"])
def test_names_are_whole_and_nobody_speaks_for_another(name, form):
    pairs = [(name, "One"), ("Zoé", "Two"), (name, "Three: x"), ("Zoé", "Four")]
    text = "\n".join(form.format(*pair, n=n) for n, pair in enumerate(pairs, 1))

    assert said(text, "talk.txt") == pairs


@pytest.mark.parametrize("reader", [srt, vtt])
@pytest.mark.parametrize("name", NAMES)
def test_names_in_subtitles_are_whole(reader, name):
    pairs = [(name, "One"), ("Zoé", "Two"), (name, "Three: x"), ("Zoé", "Four")]

    text = reader(*(f"{who}: {what}" for who, what in pairs))

    assert said(text, f"talk.{reader.__name__}") == pairs


def test_one_person_is_one_however_the_name_is_blanked_and_composed():
    written = ["Zoé Li", "Zoe\u0301 Li", "Zoé\u00a0Li", "\u200eZoé  Li\u200b", "\u2068Zoé Li\u2069"]
    texts = [("\n".join(f"{name}: Hi" for name in written), "t.txt")]
    texts.append(("speaker,text\n" + "\n".join(f"{name},Hi" for name in written), "t.csv"))
    texts.append((vtt(*(f"<v {name}>Hi</v>" for name in written), "<v Ben>Yo"), "t.vtt"))

    for text, name in texts:
        assert {who for who, _ in said(text, name)} - {"Ben"} == {"Zoé Li"}


NOT_NAMES = [
    "The demo starts at 10:30",
    "Open it at 10:15",
    "I said: no",
    "We need three things: a, b and c",
    "Deadline: Friday",
    "Note: all of it",
    "- Speed: fast",
    "1. Budget: 500",
    "Well, Ben: listen",
    "For example: a",
    "See https://example.org: it says so",
    "10:30",
    "5:30 works: yes",
]


@pytest.mark.parametrize("line", NOT_NAMES)
@pytest.mark.parametrize(
    "form", ["{}: {}\n", "{}: {}\n\n", "**{}:** {}\n\n", "[00:0{n}] {}: {}\n", "{}  0:0{n}\n{}\n\n"]
)
def test_a_line_of_what_somebody_says_is_no_speaker(line, form):
    pairs = [("Ana", "One"), ("Ben", f"Two\n{line}\nand more"), ("Ana", "Three"), ("Ben", "Four")]
    text = "".join(form.format(*pair, n=n) for n, pair in enumerate(pairs, 1))

    expected = [(who, " ".join(what.split())) for who, what in pairs]
    assert said(text, "talk.txt") == expected


def test_who_is_unclear_is_asked_for_and_can_be_said_in_both_ways():
    text = "Ana: Hi\nCara: hm\nBen: Yo\nAna: So\nNote: this\nBen: x"

    record, how = read_one(text, "t.txt")
    assert [turn.speaker for turn in record.turns] == ["Ana", "Cara", "Ben", "Ana", "Ben"]
    assert {name: (doubt.times, doubt.is_speaker) for name, doubt in how.doubts.items()} == {
        "Cara": (1, True),
        "Note": (1, False),
    }
    assert how.doubts["Cara"].line == "Cara: hm"

    mended, asked = read_one(text, "t.txt", Cara="text", Note="analyst")
    assert [turn.content for turn in mended.turns] == ["Hi\nCara: hm", "Yo", "So", "this", "x"]
    assert list(asked.doubts) == ["Cara"]  # so that the choice can be seen and changed


@pytest.mark.parametrize(
    ("written", "roles"),
    [
        ('"Costa, Ana"=analyst,*=user', {"Costa, Ana": "analyst", "*": "user"}),
        ("Costa, Ana=analyst, Ben=user", {"Costa, Ana": "analyst", "Ben": "user"}),
        ("Ben=user,Li, Bo (Org, Dept.)=analyst", {"Ben": "user", "Li, Bo (Org, Dept.)": "analyst"}),
        ("Ana\u00a0Costa=text", {"Ana Costa": "text"}),
        ("a=b=user", {"a=b": "user"}),
    ],
)
def test_roles_take_names_with_commas(written, roles):
    assert HowToRead.written(roles=written).roles == roles


@pytest.mark.parametrize("written", ["Ana", "Ana=", "=user", "Ana=user,Ben", "x" * 200_000])
def test_roles_that_are_no_pairs_are_refused(written):
    with pytest.raises(FileFault, match="no_pair"):
        HowToRead.written(roles=written)


# --- subtitles ------------------------------------------------------------------------------------


def test_heads_of_mails_and_dates_are_no_speakers():
    mail = "From: Ana (+49 170)\nType: incoming\nSent: 1710274501000\n\nHello\n"

    assert problem(mail * 2, "t.txt").reason.code == "file.no_speaker_lines"
    assert problem("March 12, 2026, 10:15AM\nHello\n\nMay 1, 2026, 9:00\nYes", "t.txt")


@pytest.mark.parametrize("word", ["Remember", "REPORTER"])
def test_a_name_in_few_cues_of_many_speaks_for_nobody_else(word):
    cues = [
        f"{word}: it rains" if (n in (4, 9) and word.isupper()) or n == 4 else f"so {n}"
        for n in range(40)
    ]

    messages = said(srt(*cues), "t.srt")

    assert len(messages) == 40
    assert {who for who, text in messages if text.startswith("so")} == {"speaker"}


def test_subtitles_are_known_by_their_times_whatever_the_file_is_called():
    text = (
        "0:00:01.000,0:00:04.000\nAna: Hello\n\n0:00:04.000,0:00:06.000\nBen: 10:30,11:30 or so\n"
    )

    assert guess_format("a.txt", BytesIO(text.encode())) == "srt"
    assert guess_format("a.sbv", BytesIO(b"x")) == "srt"
    assert said(text, "a.sbv") == [("Ana", "Hello"), ("Ben", "10:30,11:30 or so")]


SPOKEN: dict[str, tuple[str, str, list[str]]] = {
    "a list in a turn of Markdown is no speaker": (
        "i.md",
        "**Sara:** What?\n\n**Ben:** This:\n\n- Speed: fast\n- Size: big\n\n**Sara:** Noted.",
        ["Sara: What?", "Ben: This: - Speed: fast - Size: big", "Sara: Noted."],
    ),
    "a name in brackets speaks before a colon of what is said": (
        "t.txt",
        "[Ana] What?\n[Ben] Speed: now\n[Ana] Time: when?\n[Ben] Soon.",
        ["Ana: What?", "Ben: Speed: now", "Ana: Time: when?", "Ben: Soon."],
    ),
    "a name in brackets speaks in cues": (
        "t.vtt",
        vtt("[Ana] What?", "[Ben] Speed: now", "[Ana] Time: when?", "[Ben] Soon."),
        ["Ana: What?", "Ben: Speed: now", "Ana: Time: when?", "Ben: Soon."],
    ),
    "a name in parentheses speaks, a sound does not": (
        "t.srt",
        srt("(Ana) What?", "(Ben) Now.", "(laughs) Yes.", "(Ana) When?", "(Ben) Soon."),
        ["Ana: What?", "Ben: Now. (laughs) Yes.", "Ana: When?", "Ben: Soon."],
    ),
    "sounds in parentheses are nobody": (
        "t.srt",
        srt("(laughs) A", "(sighs) B", "(laughs) C", "(sighs) D"),
        ["speaker: (laughs) A", "speaker: (sighs) B", "speaker: (laughs) C", "speaker: (sighs) D"],
    ),
    "surnames before first names stand above what is said": (
        "t.txt",
        "0:0:0.450 --> 0:0:0.999\nCosta, Ana\nHello\n0:0:1.450 --> 0:0:1.999\n"
        "Katz, Ben (Guest)\nHello\n0:0:2.450 --> 0:0:2.999\nCosta, Ana\nHello",
        ["Costa, Ana: Hello", "Katz, Ben (Guest): Hello", "Costa, Ana: Hello"],
    ),
    "the page of a model says who speaks": (
        "t.txt",
        "You said:\nHello\nChatGPT said:\nOne: yes\nYou said:\nok\nChatGPT said:\nBye",
        ["You: Hello", "assistant: One: yes", "You: ok", "assistant: Bye"],
    ),
    "a bar in a name puts no words into another mouth": (
        "t.txt",
        "Ana: What?\nBen | ACME: This\nAna: When?\nBen | ACME: Now",
        ["Ana: What?", "Ben | ACME: This", "Ana: When?", "Ben | ACME: Now"],
    ),
    "times between the parts of a talk are nobody's words": (
        "t.txt",
        "Ana: Hello\n\n00:01:00\n\nBen: Yes\n\n00:02:00\n\nAna: Good\nBen:\n10:30\n",
        ["Ana: Hello", "Ben: Yes", "Ana: Good", "Ben: 10:30"],
    ),
    "only tags of SubRip are markup there": (
        "t.srt",
        srt(
            'A: <i>x</i> <FONT color="#fff">y</font> {\\an8}z',
            "B: a <10 and >5 <v Ana> <c> i<j>k <html>",
            "A: if a --> b then",
        ),
        ["A: x y z", "B: a <10 and >5 <v Ana> <c> i<j>k <html>", "A: if a --> b then"],
    ),
    "only tags of WebVTT are markup there": (
        "t.vtt",
        vtt(
            "<v.loud Ana>a <00:01.500><c.red>b</c> <i>c</i> <ruby>d<rt>e</rt></ruby>"
            " <lang en>f</lang>",
            "<v Ben>a <10 b> <think> <font x> &lt;b&gt; &amp; AT&T &copy",
            "<v Ana>x</v>",
        ),
        ["Ana: a b c de f", "Ben: a <10 b> <think> <font x> <b> & AT&T &copy", "Ana: x"],
    ),
    "a cue goes on after blank lines": (
        "t.vtt",
        "WEBVTT\n\n00:01.000 --> 00:02.000\n \nAna: Hello\n\u00a0\nmore\n\n"
        "00:02.000 --> 00:03.000\n\nBen: Yes\n",
        ["Ana: Hello more", "Ben: Yes"],
    ),
    "a cue ends at the next number": (
        "t.srt",
        "1\n0:0:1.450 --> 0:0:2.5 X1:1 Y1:2\nA: What?\n2\n00:02 --> 00:03  \nB: It is\n42\n3\n"
        "00:00:03.000 --> 00:00:04,0\nA: 7\n9\n",
        ["A: What?", "B: It is 42", "A: 7 9"],
    ),
    "a number in a cue that is not numbered is said": (
        "t.srt",
        "00:01,000 --> 00:02,000\nA: What?\n42\n\n00:02,000 --> 00:03,000\nB: 43\n44\n"
        "00:03,000 --> 00:04,000\nA: x\n",
        ["A: What? 42", "B: 43 44", "A: x"],
    ),
    "arrows change the speaker": (
        "t.srt",
        srt(">> ANA: Hello.", ">> Hi. >> Bye", "and more", ">>> BEN: News"),
        ["ANA: Hello.", "speaker: Hi.", "speaker: Bye and more", "BEN: News"],
    ),
    "arrows change the speaker where nobody is named": (
        "t.vtt",
        vtt("&gt;&gt; Hello there", "my friend. &gt;&gt; Hi", "you", ">> a >> b"),
        ["speaker: Hello there my friend.", "speaker: Hi you", "speaker: a", "speaker: b"],
    ),
    "arrows within a text are said": (
        "t.srt",
        srt("1 >> 0", "x"),
        ["speaker: 1 >> 0", "speaker: x"],
    ),
    "captions that roll keep each line once": (
        "t.vtt",
        vtt("hello<00:01.500><c> world</c>", "hello world\nnext", "next\nthird", "third\nlast"),
        ["speaker: hello world", "speaker: next", "speaker: third", "speaker: last"],
    ),
    "who says the same twice said it twice": (
        "t.srt",
        srt("A: No.", "B: No.", "A: No.", "B: No."),
        ["A: No.", "B: No.", "A: No.", "B: No."],
    ),
    "a contact of WhatsApp has a colon in its name": (
        "_chat.txt",
        "[12.03.24, 10:15:00] Home: Ana: Hi: all\n[12.03.24, 10:15:01] Ben: Note: keys\n"
        "[12.03.24, 10:15:02] Home: Ana: Bye\n[12.03.24, 10:15:03] Ben: Plan: none\n",
        ["Home: Ana: Hi: all", "Ben: Note: keys", "Home: Ana: Bye", "Ben: Plan: none"],
    ),
}


@pytest.mark.parametrize("case", SPOKEN)
def test_every_word_is_said_by_whom_it_is(case):
    name, text, expected = SPOKEN[case]

    assert [": ".join(pair) for pair in said(text, name)] == expected


LISTED: dict[str, tuple[str, str, list[str], list[tuple[int, str, str]]]] = {
    "what stands before anybody speaks": (
        "t.txt",
        "Date: 31 January\nBerlin\n\nAna: Hi\nBen: Yo\nAna: x",
        ["Hi", "Yo", "x"],
        [(1, "before_anybody", "Date: 31 January"), (2, "before_anybody", "Berlin")],
    ),
    "the end of a meeting": (
        "t.txt",
        "Ana: Hello\nBen: Yes\n\nMeeting ended after 00:06:00\n",
        ["Hello", "Yes"],
        [(4, "by_program", "Meeting ended after 00:06:00")],
    ),
    "the name of a recorder": (
        "t.txt",
        "Ana: Hello\nBen: Yes\n\nTranscribed by https://otter.ai\n",
        ["Hello", "Yes"],
        [(4, "by_program", "Transcribed by https://otter.ai")],
    ),
    "what a chat tells of somebody": (
        "t.txt",
        "[14:05] <ana> Hello\n[14:06] <ben> Yes\n[14:06] * ana nods\n[14:07] <ana> Good\n",
        ["Hello", "Yes", "Good"],
        [(3, "by_program", "[14:06] * ana nods")],
    ),
    "notes, styles and names of cues": (
        "t.vtt",
        "WEBVTT - A talk\nKind: captions\n\nNOTE one\ntwo\n\nSTYLE\n::cue {color: red}\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start position:0%\nAna: Hello\n\nNOTE three\n\n"
        "3f2a/12-0\n00:02.000 --> 00:03.000 Stray words\nBen: Yes\n",
        ["Hello Stray words", "Yes"],
        [
            (1, "before_anybody", "- A talk"),
            (2, "before_anybody", "Kind: captions"),
            *((4, "note", "NOTE one"), (5, "note", "two")),
            *((7, "note", "STYLE"), (8, "note", "::cue {color: red}")),
            *((10, "cue_name", "intro"), (14, "note", "NOTE three")),
        ],
    ),
    "captions that grow": (
        "t.srt",
        srt("hello", "hello my", "hello my friend", "so what"),
        ["hello", "my", "friend", "so what"],
        [(7, "repeated", "hello"), (11, "repeated", "hello my")],
    ),
    "captions that roll for a moment": (
        "t.vtt",
        "WEBVTT\n\n00:00.000 --> 00:02.000\n \nwelcome<00:00:00.500><c> to</c>\n\n"
        "00:02.000 --> 00:02.010\nwelcome to\n \n\n"
        "00:02.010 --> 00:04.000\nwelcome to\ntoday<00:00:02.500><c> we</c>\n\n"
        "00:04.000 --> 00:04.010\ntoday we\n \n\n00:04.010 --> 00:06.000\n>> thanks",
        ["welcome to today we", "thanks"],
        [
            (at, "repeated", what)
            for at, what in ((8, "welcome to"), (12, "welcome to"), (16, "today we"))
        ],
    ),
    "what a group of WhatsApp says, and what is no text": (
        "_chat.txt",
        "[12/03/24, 09:15:20] Plan: \u200eOmar created this group\n"
        "[12/03/24, 09:15:21] Omar: \u200eHello\n[12/03/24, 09:15:22] Omar: Hi\n"
        "[12/03/24, 09:15:23] Nele: \u200eimage omitted\n"
        "[12/03/24, 09:15:24] Omar: \u200eThis message was deleted.\n"
        "[12/03/24, 09:15:25] Nele: x \u200e<This message was edited>\n"
        "[12/03/24, 09:15:26] Nele: see\n12/03/24, 09:15 - Omar: quoted",
        ["Hello", "Hi", "[image]", "x", "see 12/03/24, 09:15 - Omar: quoted"],
        [
            (1, "by_program", "Plan: \u200eOmar created this group"),
            (4, "by_program", "image omitted"),
            (5, "no_text", "\u200eThis message was deleted."),
            (6, "by_program", "<This message was edited>"),
        ],
    ),
}


@pytest.mark.parametrize("case", LISTED)
def test_what_nobody_says_is_listed_with_its_line(case):
    name, text, expected, listed = LISTED[case]

    assert [what for _, what in said(text, name)] == expected
    assert left_out(text, name) == listed


# --- WhatsApp -------------------------------------------------------------------------------------

PHONES = {
    "iPhone": "[{d}.03.24, 21:15:22] ",
    "iPhone, 12 hours": "[3/{d}/24, 9:15:22\u202fPM] ",
    "iPhone, marked": "\u200e[{d}/03/2024, 21:15:22] \u200e",
    "Android": "{d}/03/2024, 21:15 - ",
    "Android, German": "{d}.03.24, 21:15 - ",
    "Android, 12 hours": "3/{d}/24, 9:15 pm - ",
    "Android, ISO": "2024-03-{d}, 21:15 - ",
    "dots": "{d}/03/24 21.15 - ",
    "12 hours, narrow": "3/{d}/24, 9:15\u202fPM - ",
    "Spanish": "{d}/3/24, 9:15 p.\u00a0m. - ",
    "older, with a colon": "3/{d}/24, 9:15:22 PM: ",
    "older, 24 hours": "{d}.03.24 21:15:22: ",
    "Korean": "2024. 3. {d}. 오후 9:15 - ",
    "Korean, iPhone": "[2024. 3. {d}. 오후 9:15:22] ",
    "Chinese": "2024/3/{d} 下午9:15 - ",
    "Chinese, iPhone": "\u200e[2024/3/{d} 下午9:15:22] ",
    "Japanese": "[2024/03/{d} 午後9:15:22] ",
    "Arabic": "{d}\u200f/٣\u200f/٢٠٢٤، ٩:١٥ م - ",
    "Solar Hijri, in Persian": "۱۴۰۲/۱۲/{p}،\u200f ۲۱:۱۵ - ",
    "Thai": "{d}/3/2567 21:15 - ",
    "ISO": "2024-03-{d} 21:15 - ",
    "short year first": "24/03/{d}, 21:15 - ",
    "short, German": "{d}.3.24, 21:15 - ",
    "Finnish": "{d}.3.2024 klo 21.15 - ",
    "French, Canada": "2024-03-{d} 21 h 15 - ",
    "time first": "21:15, {d}/03/2024 - ",
    "Hungarian": "2024. 03. {d}. 21:15 - ",
    "Malay": "{d}/03/2024, 9:15 PTG - ",
    "French, older": "{d}/03/2024 à 21:15 - ",
}


@pytest.mark.parametrize("phone", PHONES)
def test_chats_of_any_phone_are_read_with_their_times(phone):
    days = [PHONES[phone].format(d=day, p=day + 10) for day in (13, 14, 15)]
    text = "\r\n".join(
        [f"{days[0]}Ana: Hi: there", f"{days[1]}Bo Li: Yes", "", "- and", f"{days[2]}Ana: x"]
    )

    record, _ = read_one(text, "chat.txt")

    assert [(turn.speaker, turn.content) for turn in record.turns] == [
        ("Ana", "Hi: there"),
        ("Bo Li", "Yes\n\n- and"),
        ("Ana", "x"),
    ]
    moments = [turn.time.strftime("%Y-%m-%d %H:%M") for turn in record.turns if turn.time]
    assert moments == [f"2024-03-{day} 21:15" for day in (13, 14, 15)]


@pytest.mark.parametrize("day", ["2024년 3월 {}일", "2024. 3. {}."])
def test_chats_of_kakaotalk_are_read_without_the_days_between(day):
    first, second = day.format(12), day.format(13)
    lines = [
        "Omar 님과 카카오톡 대화",
        f"저장한 날짜 : {second} 오전 9:00",
        "",
        f"{first} 오후 9:15",
        f"{first} 오후 9:15, Omar : 안녕",
        "",
        f"{second} 수요일",
        f"{second} 오후 9:16, Nele님이 들어왔습니다.",
        f"{second} 오후 9:16, Nele : 네: 좋아요",
        "둘",
    ]
    record, _ = read_one("\n".join(lines), "KakaoTalk.txt")

    turns = [(turn.speaker, turn.content) for turn in record.turns]
    assert turns == [("Omar", "안녕"), ("Nele", "네: 좋아요\n둘")]
    assert [left.line for left in record.left_out] == [1, 2, 4, 7, 8]
    assert [turn.time.day for turn in record.turns if turn.time] == [12, 13]


EVENTS = [
    'Omar created group "Plan: phase 1"',
    "Omar created group Plan: phase 1",
    "Omar changed the subject to “Plan: 1”",
    "Omar hat die Gruppe „Plan: 1“ erstellt",
    "Omar 创建了群组“计划: 1”",
    "You changed the group description: all",
    "Messages and calls are end-to-end encrypted. Learn more: here",
    "Nele left",
]


@pytest.mark.parametrize("event", EVENTS)
def test_what_whatsapp_says_is_no_person(event):
    lines = [
        event,
        "Nele: I need: an export.",
        "Omar: As CSV?",
        "Nele: \u200eYes.",
        "Omar: \u200fنعم",
    ]
    text = "\n".join(f"12/03/2024, 09:15 - {line}" for line in lines)

    assert said(text, "chat.txt") == [
        ("Nele", "I need: an export."),
        ("Omar", "As CSV?"),
        ("Nele", "Yes."),
        ("Omar", "\u200fنعم"),
    ]
    assert left_out(text, "chat.txt") == [(1, "by_program", event)]


@pytest.mark.parametrize("time", ["12/03/24, 9:15 xyzzy - ", "12|03|24 9~15 - "])
def test_a_chat_that_is_nearly_one_of_whatsapp_is_named_with_its_line(time):
    found = problem(f"{time}Ana: Hi\n{time}Bo: Yes\n", "chat.txt")

    assert (found.line, found.reason.code) == (1, "file.nearly_whatsapp")


# --- every word, in the right mouth ---------------------------------------------------------------

WORDS = (
    "order tax 42 10:30 <10 >5 a&b größe nächste café 北京 نعم x: y→z e-mail 3,5 #7 “so” (ok) it's"
)
PEOPLE = ["Ana Costa", "Costa, Ben", "Zoé", "Dr. Li (Guest)", "منى"]
phrases = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=6).map(
    lambda words: "so " + " ".join(words)
)
texts = st.lists(phrases, min_size=1, max_size=3)
talk = st.lists(st.tuples(st.sampled_from(PEOPLE), texts), min_size=1, max_size=6).map(
    lambda pairs: [(who, ["so yes"]) for who in PEOPLE] * 2 + pairs
)
"""Everybody speaks at least twice: who does so once may be asked for."""
ends = st.sampled_from(["\n", "\r\n", "\r"])
marks = st.sampled_from(["", "\ufeff"])
forms = st.sampled_from(["NFC", "NFD"])


def words_of(text: str) -> Counter[str]:
    return Counter(unicodedata.normalize("NFC", text).replace("\ufeff", "").split())


def joined(pairs: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    """By who speaks in a row, with all words."""
    grouped = groupby(pairs, key=lambda pair: pair[0])
    return [(who, " ".join(" ".join(what) for _, what in some)) for who, some in grouped]


def assert_whole(text: str, name: str, pairs: Sequence[tuple[str, Sequence[str]]]) -> Record:
    record, how = read_one(text, name)
    got = [(turn.speaker, [turn.content]) for turn in record.turns]
    spoken = [(who, words_of(what)) for who, what in joined(got)]
    assert spoken == [(who, words_of(what)) for who, what in joined(pairs)]
    assert not how.doubts
    return record


def in_lines(pairs, draw):
    line = draw(st.sampled_from(["{}: {}", "**{}:** {}", "[00:01] {}: {}"]))
    return "t.txt", "\n".join(line.format(who, "\n".join(what)) for who, what in pairs), 0


def under_heads(pairs, draw):
    heads = [f"{who}  0:{n:02}\n" + "\n".join(what) for n, (who, what) in enumerate(pairs)]
    return "t.txt", "\n\n".join(heads), 0


def in_subrip(pairs, draw):
    gap, blank = (
        draw(st.sampled_from(["\n\n", "\n", "\n \n\n"])),
        draw(st.sampled_from(["\n", "\n\n"])),
    )
    cue = "<i>{}</i>" if draw(st.booleans()) else "{}"
    said = [cue.format(f"{who}: " + blank.join(what)) for who, what in pairs]
    cues = [f"{n}\n00:00:{n:02},0 --> 0:0:{n + 1}.000\n{one}" for n, one in enumerate(said, 1)]
    return "t.srt", gap.join(cues), 0


def in_webvtt(pairs, draw):
    voiced, padded, noted = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    cues = []
    for n, (who, what) in enumerate(pairs, 1):
        spoken = "\n".join(what).replace("&", "&amp;").replace("<", "&lt;")
        cue = f"<v {who}>{spoken}</v>" if voiced else f"{who}: {spoken}"
        note = f"NOTE words of a note {n}\n\n" if noted else ""
        blank = "\n \n" if padded else "\n"
        cues.append(f"{note}{n}\n00:{n:02}.000 --> 00:{n + 1:02}.000 align:start{blank}{cue}\n")
    return "t.vtt", "WEBVTT\n\n" + "\n".join(cues), len(pairs) * noted


def on_a_phone(pairs, draw):
    begun = PHONES[draw(st.sampled_from(sorted(PHONES)))].format(d=13, p=23)
    lines = [f"{begun}{who}: " + "\n".join(what) + f"\n{begun}{who} left" for who, what in pairs]
    return "chat.txt", "\n".join(lines), len(pairs)


@pytest.mark.parametrize("write", [in_lines, under_heads, in_subrip, in_webvtt, on_a_phone])
def test_every_form_holds_every_word_of_whom_it_is(write):
    @settings(deadline=None)
    @given(talk, ends, marks, forms, st.data())
    def holds(pairs, end, mark, form, data):
        name, text, listed = write(pairs, data.draw)
        text = mark + unicodedata.normalize(form, text).replace("\n", end)
        assert len(assert_whole(text, name, pairs).left_out) == listed

    holds()


PIECES = [
    "WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "00:01,5 --> 0:0:3", "\n", " ", "Ana: ", "Ben: ",
    "NOTE x", "STYLE", "1\n", "42\n", "<v Ana>", "</v>", "<i>", "<", ">>", "- ", "**", "### ",
    "[", "]", "10:30", "12/03/24, 09:15 - ", "\u200e", "\u00a0", "hello", "world.", ":", '"',
    "10:01:22 From ", " to Everyone:", "(Guest)",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(deadline=None, max_examples=300)
@given(pieces, st.sampled_from(["transcript", "vtt", "srt", "whatsapp"]))
def test_no_word_of_any_text_is_lost_in_silence(text, format):
    how = HowToRead(names=Counter())
    for entry in read(BytesIO(text.encode()), format=format, name="t", how=how):
        if isinstance(entry, Problem):
            continue
        record = entry[1]
        held = " ".join(turn.content for turn in record.turns)
        held += " ".join(left.text for left in record.left_out)
        for word in ("hello", "world."):
            names = sum(turn.speaker.count(word) for turn in record.turns)
            names += sum(str(left.reason).count(word) for left in record.left_out)
            assert held.count(word) + names >= text.count(word)


UNITS_OF_FILES = [
    "Ana: Hi\n", "Ana  0:03\nHi\n", "a b\n", "<v Ana>x", ">> a ", "**Ana** ", "\u200e", ":",
    "- a\n", "00:01.000 --> 00:02.000\nx\n", "12/03/24, 09:15 - Ana: x\n", "Ana a{n}: x\n",
    "12/03/24, 09:15 - Ana a{n}: x\n",
]  # fmt: skip
LONG = [
    *product(["transcript", "vtt", "srt", "whatsapp"], [""], UNITS_OF_FILES),
    ("transcript", "Ana: Hi\n", "Ana: a: b: c (00:01\n"),
    ("transcript", "Ana: Hi\n", "a" * 200 + "\n"),
    ("vtt", "", "00:01.000 --> 00:02.000\n<v <v <i><<b>&amp;\n\n"),
    ("vtt", "00:01.000\n<v", " " * 100),
    ("csv", "speaker,text,chat\n", "Ana,b,c\n"),
    ("whatsapp", "12.03.24, 09:15 - Ana: Hi\n", "12.03.24, 09:15 - Ana: <a" + "<" * 90 + "\n"),
    ("whatsapp", "12.03.24, 09:15 - Ana: Hi\n", "\u200e" * 100 + "\n"),
]


@pytest.mark.parametrize(("format", "start", "unit"), LONG)
def test_time_grows_with_the_file(format, start, unit):
    start = "WEBVTT\n\n" + start if format == "vtt" else start

    def read_all(times: int) -> object:
        text = start + "".join(unit.replace("{n}", str(n)) for n in range(times))
        return list(read(BytesIO(text.encode()), format=format, name="t", how=HowToRead()))

    read_all(100)
    assert_four_times_the_text_takes_no_eight_times_as_long(read_all, 1_000)
