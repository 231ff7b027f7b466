"""Which lines of a text say who speaks: decided on the evidence of the whole file.

A line alone does not say whether "Budget: 500" is what somebody says of a budget. The forms of the
lines and the names which come back do; where they leave it open, the preview asks.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from labeling.conversations.formats.talks import NOT_A_SPEAKER, ROLES, HowToRead, name_of

HEAD_CHARACTERS = 160
NAME_CHARACTERS, NAME_WORDS, CERTAIN_WORDS = 80, 10, 5
_HALF = r"(?:[ \u00a0\u202f]?(?P<{0}half>[AaPp])\.?[Mm]\b\.?)?"
_TIME = (
    r"(?P<{0}day>\d{{4}}-\d{{1,2}}-\d{{1,2}}[T ,]\s?|\d{{1,2}}\.\d{{1,2}}\.\d{{4}},?\s)?"
    r"(?P<{0}clock>(?:\d{{1,3}}:)?\d{{1,2}}:\d{{2}}(?:[.,]\d{{1,6}})?)Z?" + _HALF
)
_UNTIL = r"(?:\s?(?:-->|[-–])\s?[\d:.,]{{4,16}})?"
STAMP = re.compile((r"[\[(]?" + _TIME + _UNTIL + r"(?:[\])]|(?![\w:]))").format(""))
_ENDING = re.compile(
    ("(?:[ \t\u00a0,–—-]{{0,8}}[\\[(]" + _TIME + _UNTIL + "[\\])]").format("in_")
    + ("|[ \t\u00a0,–—-]{{1,8}}(?<=\\s)" + _TIME + ")\\Z").format("at_")
)
_COLON = re.compile(r"(?::(?P<closed>\*{1,3}|_{1,3})?(?=\s|\Z)|：)")
_CHAT = re.compile(
    ("(?:" + _TIME + r"\s{{1,8}})?").format("")
    + r"(?:From|Von|De|Da|Van)\s{1,4}(?P<name>[^:\n]{1,100}?)"
    r"(?P<to>\s{1,4}(?:to|an|a|à|para|aan)\s{1,4}[^:\n]{1,100})?\s{0,4}:(?=\s|\Z)"
)
"""How Zoom saves a chat."""
_NO_PART = re.compile(
    r"\s(?:(?:to|an|a|à|para|aan)\s{1,4}(?:everyone|alle|todos|tous|tutti|iedereen|"
    r"[^:\n]{1,80}\((?:direct message|privately|direktnachricht)\))|"
    r"(?:[–—-]\s)?(?:today|yesterday|heute|gestern)(?:\s(?:at|um))?)\Z",
    re.IGNORECASE,
)
"""Behind a name: to whom a message goes, on which day."""
_GOES_ON = re.compile(r"\s\((?:cont(?:['’]?d|inued)?\.?|fortsetzung|forts\.)\)\Z", re.IGNORECASE)
_SAID = re.compile(r"(You|ChatGPT|Claude|Gemini|Copilot|Grok) said")
_TABS = re.compile(r"\t([^\t]{1,80})\t(.+)")
_MARK = re.compile(r"(?:>\s?)*(?:(?P<heading>#{1,6})\s+|(?P<bullet>[-*+•]|\d{1,3}[.)])\s+)?")
_EMPHASIS = re.compile(r"\*{1,3}|_{1,3}(?=[^\W_])")
_IN_BRACKETS = re.compile(r"(?:\[([^\[\]]{1,80})\]|<([^<>]{1,80})>|\(([^()]{1,80})\))\s+")
_ADDRESS = re.compile(r" ?<[^<>\s]{1,100}@[^<>\s]{1,100}>(?:\s(?:wrote|schrieb))?\Z")
"""Of mail, behind a name."""
_ASIDE = re.compile(r"[(\[][^()\[\]]{0,80}[)\]]")
_NOWHERE_IN_NAMES = frozenset("?!;:={}<>")
_DOUBTS = frozenset('"“”„«»|')


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARTICLES = words_of(
    """
    van von vom zu zur der den de del della di da do dos das du la le el al bin ibn ben y e
    i und and et ter ten af av aus of med phil mult jr sr
    """
)
_NO_NAMES = words_of(
    """
    from to cc bcc sent type von an betreff note notes nb ps example hint tip warning
    important deadline budget total subject date time place location topic agenda
    attendees participants duration summary decision
    decisions todo action actions conclusion result results reason source link url title
    recorded yes no ok okay also plus http https hinweis anmerkung beispiel wichtig thema
    datum uhrzeit ort teilnehmer teilnehmende dauer zusammenfassung ergebnis fazit grund
    quelle titel frist ja nein problem solution idea goal requirement requirements option
    step phase item figure chapter section part point price cost costs speed quality feature
    features status priority remark comment lösung idee ziel anforderung schritt punkt preis
    kosten priorität
    """
)
_BEGIN_SENTENCES = words_of(
    """
    a an the i we you he she it they my our your his her its their this that these those
    there here and but or so because if when then what why how who where which for to in on
    at by with from is are was were do does let please yes no ok okay well also first second
    third finally only just not see hi hello hey dear thanks thank sorry right sure one two
    three as like maybe der die das ein eine mein meine unser unsere ihr ihre ich wir sie er
    es und aber oder weil wenn dann was warum wie wer wo für zu im am bei mit von ist sind
    war ja nein also erstens zweitens nur nicht siehe hallo danke genau
    """
)


class Line(NamedTuple):
    """``opens`` where something new begins: after a blank line, or with a cue."""

    number: int
    text: str
    opens: bool = True


class Head(NamedTuple):
    """How a line would begin what somebody says, and the form in which it would do so."""

    name: str
    time: str
    text: str
    form: str
    is_stamped: bool = False


def time_of(match: re.Match[str], group: str = "") -> str:
    """A time of day without its day is no time of a message."""
    clock, half = match[f"{group}clock"], match[f"{group}half"]
    day = (match[f"{group}day"] or "").strip(" ,T")
    if half:
        hour, rest = clock.split(":", 1)
        clock = f"{int(hour) % 12 + 12 * (half in 'Pp'):02}:{rest}"
    return f"{day} {clock}" if day else "" if half else clock


def head_of(line: str) -> Head | None:
    """Who would speak, when, and what of it stands on the same line; None for any other line.

    Examples
    --------
    >>> head_of("[00:01:02] Dr. Meyer: How are you?")
    Head(name='Dr. Meyer', time='00:01:02', text='How are you?', form='colon', is_stamped=True)
    >>> head_of("**Ana** (1:02):")
    Head(name='Ana', time='1:02', text='', form='bold colon', is_stamped=True)
    >>> head_of("Costa, Ana (Guest)  0:03").name, head_of("## Ben").form, head_of("Go on.")
    ('Costa, Ana (Guest)', 'heading 2', None)
    """
    text = line.strip(" \t\u00a0\u200b\u200e\u200f\ufeff")
    if chat := _CHAT.match(text[: 2 * HEAD_CHARACTERS]):
        return _head_of_chat(chat, text)
    kind, text = _unmarked(text)
    emphasis = _EMPHASIS.match(text)
    begins = emphasis.end() if emphasis else 0
    time = ""
    if stamp := STAMP.match(text[begins : begins + HEAD_CHARACTERS]):
        time = time_of(stamp)
        if tabs := _TABS.match(text, begins + stamp.end()):
            return _made(tabs[1], time, tabs[2].strip(), "tabs colon", is_stamped=True)
        text = text[begins + stamp.end() :].lstrip(" \t-–—|*_")
    if emphasis or _EMPHASIS.match(text):
        kind = f"{kind} bold".strip()
    colon = _COLON.search(text[:HEAD_CHARACTERS])
    written = text[: colon.start()] if colon else text
    if len(written) > HEAD_CHARACTERS:
        return None
    ending = _ENDING.search(written.rstrip(" *_"))
    if ending:
        time = time_of(ending, "in_" if ending["in_clock"] else "at_")
        written = written[: ending.start()]
    is_stamped = bool(stamp or ending)
    if colon:
        said, is_whole = _said(text, colon, emphasis)
        if is_whole:  # the line is bold, not the name
            kind = kind.removesuffix("bold")
        return _made(written, time, said, f"{kind.strip()} colon", is_stamped)
    if is_stamped:
        form = f"{kind} clock" if ending else f"{kind} clock before"
        return _made(_NO_PART.sub("", written), time, "", form, is_stamped)
    return _head_alone(text, kind)


def _unmarked(text: str) -> tuple[str, str]:
    """Whether a line of Markdown is a heading or of a list, and what stands behind the mark."""
    mark = _MARK.match(text)
    if mark is None:
        return "", text
    level = f"heading {len(mark['heading'])}" if mark["heading"] else ""
    return level or ("bullet" if mark["bullet"] else ""), text[mark.end() :]


def _head_alone(text: str, kind: str) -> Head | None:
    """A line without a colon and a time: in bold, or a heading."""
    if kind.startswith(("heading", "bold")) and _is_emphasised(text, kind):
        return _made(text, "", "", kind, is_stamped=False)
    return None


def _in_brackets(lines: Sequence[Line]) -> dict[int, Head]:
    """The lines that begin with a name in brackets, if it is so that the file says who speaks: a
    colon behind it is part of what is said.
    """
    heads = {}
    for at, line in enumerate(lines):
        stamp = STAMP.match(line.text[:HEAD_CHARACTERS])
        text = line.text[stamp.end() if stamp else 0 :].lstrip()
        if bracket := _IN_BRACKETS.match(text):
            said, time = text[bracket.end() :].strip(), time_of(stamp) if stamp else ""
            name = next(filter(None, bracket.groups()))
            is_sound = bracket[3] and certainty(name) < 2  # "(laughs)"
            head = None if is_sound else _made(name, time, said, "bracket", bool(stamp))
            if head:
                heads[at] = head
    names = {head.name for head in heads.values()}
    filled = sum(bool(line.text.strip()) for line in lines)
    is_form = 1 < len(names) < len(heads) and 2 * len(heads) > filled
    return heads if is_form else {}


def _head_of_chat(chat: re.Match[str], text: str) -> Head | None:
    said = text[chat.end() :].strip()
    after = None if chat["clock"] else STAMP.fullmatch(said)
    if not (chat["clock"] or after):
        return None
    time = "" if chat["day"] is None else time_of(chat)
    return _made(chat["name"], time, "" if after else said, "chat", is_stamped=True)


def _said(text: str, colon: re.Match[str], emphasis: re.Match[str] | None) -> tuple[str, bool]:
    """What follows the colon, without the emphasis that began before the name; and whether that
    lasts to the end of the line.
    """
    said = text[colon.end() :].strip()
    name = text[: colon.start()].rstrip()
    mark = emphasis[0] if emphasis else ""
    if not mark or colon["closed"] or name.endswith(mark):
        return said, False
    if said.startswith(mark):
        return said.removeprefix(mark).strip(), False
    if said.endswith(mark) and said.count(mark) == 1:
        return said.removesuffix(mark).strip(), True
    return said, False


def _is_emphasised(text: str, kind: str) -> bool:
    return "bold" not in kind or text.rstrip(" :").endswith(("*", "_"))


def _made(written: str, time: str, text: str, form: str, is_stamped: bool) -> Head | None:
    name = _ADDRESS.sub("", name_of(written).strip(" *_#-–—|,"))
    name = _SAID.sub(r"\1", _GOES_ON.sub("", name.strip(" *_#>-–—|,")))
    bare = name[1:-1]
    if name[:1] + name[-1:] in ("[]", "()") and not set("[]()") & set(bare):
        name = bare.strip()
    return Head(name, time, text, form.strip(), is_stamped) if certainty(name) else None


def certainty(name: str) -> int:
    """How much a text looks like a name: 2 like one, 1 if it comes back, 0 not at all.

    Examples
    --------
    >>> [certainty(name) for name in ("Ana", "Dr. med. J. van der Berg (Org, Dept.)", "منى")]
    [2, 2, 2]
    >>> [certainty(name) for name in ("Costa, Ana", "customer service", "Note", "Well, Ana")]
    [1, 1, 1, 0]
    >>> [certainty(name) for name in ("I said", "12", "It is late. Ana", "The demo starts at")]
    [0, 0, 0, 0]
    """
    words = _ASIDE.sub(" ", name).replace(",", ", ").split()
    if not words or len(name) > NAME_CHARACTERS or len(words) > NAME_WORDS:
        return 0
    if not any(map(str.isalpha, name)) or not _NOWHERE_IN_NAMES.isdisjoint(name):
        return 0
    if any(word.endswith(".") and len(word) > len("Prof..") for word in words[:-1]):
        return 0
    if sum(word.strip(".,").isdecimal() for word in words) > 1:  # a date
        return 0
    folded = [word.strip(".,").casefold() for word in words]
    if " ".join(folded) in ROLES or " ".join(folded).rstrip("0123456789 ") in ROLES:
        return 2
    is_plain = all(map(_may_be_in_name, words))
    if len(words) > 1 and folded[0] in _BEGIN_SENTENCES:
        return int(is_plain and "," not in name and folded[0] in ("the", "der", "die"))
    has_doubts = (
        "," in "".join(words)
        or sum(not word.endswith(".") for word in words) > CERTAIN_WORDS
        or not _DOUBTS.isdisjoint(name)
    )
    return 1 if has_doubts or not is_plain or folded[0] in _NO_NAMES else 2


def _may_be_in_name(word: str) -> bool:
    first = word.lstrip("\"“„«'’")[:1]
    return not first.islower() or word.strip(".,").casefold() in _PARTICLES or "-" in word[1:3]


def who_speaks(
    lines: Sequence[Line], how: HowToRead, *, forms: Collection[str] = (), known: Iterable[str] = ()
) -> dict[int, Head]:
    """The places of the lines which begin what somebody says. ``forms`` limits how they do so,
    ``known`` are names that the file says in another way.
    """
    heads = {at: head for at, line in enumerate(lines) if (head := head_of(line.text))}
    heads |= _in_brackets(lines)
    if forms:
        heads = {at: head for at, head in heads.items() if head.form in forms}
    evidence = _Evidence(lines, heads, frozenset(known), how)
    taken = {}
    for at, head in heads.items():
        chosen = how.chosen(head.name)
        is_speaker = chosen != NOT_A_SPEAKER if chosen else evidence.says(at)
        if is_speaker:
            taken[at] = head
        if chosen == NOT_A_SPEAKER or (not chosen and evidence.is_doubtful(at)):
            how.doubt(head.name, lines[at].text, is_speaker=is_speaker)
    return taken


class _Evidence:
    """What the whole file says about how its lines begin."""

    def __init__(
        self, lines: Sequence[Line], heads: dict[int, Head], known: frozenset[str], how: HowToRead
    ) -> None:
        self._lines, self._heads, self._known = lines, heads, known
        named = Counter((head.form, head.name) for head in heads.values() if self._may(head))
        self._back = {key for key, times in named.items() if times > 1}
        chosen = {head.name for head in heads.values() if how.chosen(head.name)}
        support: Counter[str] = Counter()
        for (form, name), times in named.items():
            is_sure = times > 1 or name in chosen | known or name.casefold() in ROLES
            support[form] += 10 * times if is_sure else 1
        self.forms = self._accepted(support)
        main = [at for at, head in heads.items() if head.form in self.forms[:1]]
        self._sure = self._coming_back(main) or self._said_once(main)
        self.names = {heads[at].name for at in self._sure} | known
        regular = {heads[at].name for at in self._sure if self._is_certain(heads[at])}
        self._has_regulars = len(regular) > 1
        self._open = self._has_regulars and all(lines[at].opens for at in self._sure)
        self._stamped = all(heads[at].is_stamped for at in self._sure)
        self._above = not any(heads[at].text for at in self._sure)

    def _may(self, head: Head) -> bool:
        return certainty(head.name) > 1 or head.name.split()[0].casefold() not in _NO_NAMES

    def _accepted(self, support: Counter[str]) -> list[str]:
        """The forms in which this file says who speaks; the one that says most first."""
        found = sorted(support, key=lambda form: (support[form], len(form)), reverse=True)
        found = [form for form in found if self._is_consistent(form, support[form])]
        if not found:
            return []
        plain = [form for form in found if form.endswith("colon") and "bullet" not in form]
        if not found[0].endswith("colon"):  # then a colon in what is said is no sign
            return found[:1] + [form for form in plain if support[form] >= 10]
        if "bullet" in found[0] and (plain or "bold" not in found[0]):
            others = [form for form in found if "bullet" not in form]
            return others or found[:1]
        return [found[0], *(form for form in plain if form != found[0])]

    def _is_consistent(self, form: str, support: int) -> bool:
        """Whether a form says it by the lines around it, where it has no colon."""
        if form.endswith("colon") or form in ("chat", "bracket"):
            return True
        places = [at for at, head in self._heads.items() if head.form == form and self._may(head)]
        if "clock" not in form:
            return support >= 10 and len(places) > 1
        sure = self._coming_back(places)
        if not sure:
            sure = [at for at in places if certainty(self._heads[at].name) > 1]
            if len(sure) < 2 or not all(self._lines[at].opens for at in sure):
                return False
        followed = sum(self._is_followed(at, form) for at in sure)
        return 10 * followed >= 9 * len(sure) and self._goes_on(sure)

    def _coming_back(self, places: Iterable[int]) -> list[int]:
        """Of them the names that come back; before a time, rather those that look like names."""
        heads = self._heads
        back = [at for at in places if (heads[at].form, heads[at].name) in self._back]
        certain = [at for at in back if certainty(heads[at].name) > 1]
        return certain if certain and "clock" in heads[certain[0]].form else back

    def _said_once(self, places: Sequence[int]) -> list[int]:
        """Where no name comes back: those that look like names, if they are not a few of many."""
        opening = sum(line.opens for line in self._lines if line.text)
        looks = [at for at in places if certainty(self._heads[at].name) > 1]
        roles = [at for at in looks if self._is_certain(self._heads[at])]
        found = looks or places
        return roles or (list(found) if 4 * len(found) >= opening else [])

    def _is_followed(self, at: int, form: str) -> bool:
        following = next((n for n in range(at + 1, len(self._lines)) if self._lines[n].text), None)
        return following is not None and getattr(self._heads.get(following), "form", "") != form

    def _goes_on(self, places: Sequence[int]) -> bool:
        """Whether their times do, but for a clock that begins anew."""
        times = [seconds_of(self._heads[at].time) for at in places]
        back = sum(later < before for before, later in pairwise(times))
        return 10 * back <= len(times)

    def says(self, at: int) -> bool:
        head = self._heads[at]
        if head.name in self._known:
            return head.form.endswith("colon")
        if head.form not in self.forms or not self._may(head) or not self._sure:
            return False
        if head.name in self.names:
            return True
        if (head.form, head.name) in self._back:
            return "clock" not in head.form or self._is_like_others(at)
        return certainty(head.name) > 1 - self._is_alone(head) and self._is_like_others(at)

    def _is_alone(self, head: Head) -> bool:
        """Whether the others are of the same kind: “Last, first”, in small letters, with a time."""
        if self._stamped and head.is_stamped:
            return True
        return any(
            name != head.name and certainty(name) == 1 and ("," in name) == ("," in head.name)
            for name in self.names
        )

    def _is_like_others(self, at: int) -> bool:
        head = self._heads[at]
        return (
            head.form == self.forms[0]
            and (self._lines[at].opens or not self._open)
            and (head.is_stamped or not self._stamped)
            and not (head.text and self._above)
            and self._is_in_time(at)
        )

    def _is_in_time(self, at: int) -> bool:
        place = bisect(self._sure, at)
        near = [*self._sure[max(0, place - 1) : place], at, *self._sure[place : place + 1]]
        times = [seconds_of(self._heads[one].time) for one in near if self._heads[one].time]
        return times == sorted(times)

    def is_doubtful(self, at: int) -> bool:
        """Whether a person should look at it: a name that is said once, a word that comes back."""
        head = self._heads[at]
        if head.form == "chat" or head.name in self._known:
            return False
        if head.name in self.names and self.says(at):
            return self._has_regulars and not self._is_certain(head)
        may_be = "clock" in head.form and certainty(head.name) > 1
        return (may_be or head.form.endswith("colon")) and not self._is_certain(head)

    def _is_certain(self, head: Head) -> bool:
        is_role = head.name.casefold().rstrip("0123456789 ") in ROLES
        return is_role or (head.form, head.name) in self._back or head.name in self._known


def seconds_of(clock: str) -> float:
    """For comparing; a time with its day is compared by its clock."""
    total = 0.0
    for part in clock.rpartition(" ")[2].replace(",", ".").split(":"):
        total = total * 60 + float(part or 0)
    return total
