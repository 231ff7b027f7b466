"""JSON as models write it, made JSON: comments, other quotes, commas and closers that are missing.

The words of values stay as they are. What has no certain reading is refused.
"""

from __future__ import annotations

import json
import re

DEEPEST = 100  # brackets in brackets
GAP = r"(?:[\s\ufeff\u200b]|//[^\n]*+|\#[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z))*+"
STRING = r"""(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|“[^”\n]*+”)"""
"""One that is closed on its line."""

_GAP = re.compile(GAP, re.S)
_KEY = rf"(?:{STRING}|[\w$-]+){GAP}[:：]"
_BEHIND = re.compile(
    rf"{GAP}(?:\Z|[}}\]]|[,，]{GAP}(?:\Z|[}}\]]|{_KEY})|{_KEY})",
    re.S,
)
"""What stands behind the value of a field: else the quote before it is a part of the value."""
_SAID = re.compile(r"[\"'“”]\s*[:：]|[\n\r]")
"""What no text with quotes in it may hold: it would have swallowed a field."""
_WORD = re.compile(r"[-+.\w$]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.A)
_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_NAN = {"nan", "undefined"}
_SPECIAL = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|.|\Z)|[\"\x00-\x1f]", re.S
)
_WIDE = {"，": ",", "：": ":"}
_CLOSING = {'"': '"', "'": "'", "“": "”"}
_QUOTE_STEPS = {'"': "", "'": "single_quotes", "“": "full_width_punctuation"}
_BODY = {closer: re.compile(rf"(?:[^{closer}\\]|\\.)*+", re.S) for closer in set(_CLOSING.values())}


class Unmendable(ValueError):
    """``at``: how far it could be read."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no JSON at {at}")
        self.at = at


def mend(
    text: str, start: int, limit: int, marks: re.Pattern[str]
) -> tuple[str, int, tuple[str, ...]]:
    """The JSON that begins at ``start``, where it ends there, and the steps that mended it.

    Parameters
    ----------
    limit
        Where the text is cut off, unless its JSON ends before.
    marks
        What no text may hold that runs over a line end or over the end of the reply.

    Raises
    ------
    Unmendable
        If it has no certain reading.

    Examples
    --------
    >>> mend("{a: 'http://x', // all\\n} Good.", 0, 30, re.compile("<think>"))
    ('{"a":"http://x"}', 24, ('unquoted_keys', 'single_quotes', 'comments', 'trailing_commas'))
    """
    mender = _Mender(text, start, limit, marks)
    try:
        mender.value("")
    except ValueError:
        raise Unmendable(mender.at) from None
    return "".join(mender.out), mender.at, tuple(mender.steps)


class _Mender:
    def __init__(self, text: str, start: int, limit: int, marks: re.Pattern[str]) -> None:
        self.text = text
        self.limit = limit
        self.marks = marks
        self.at = start
        self.out: list[str] = []
        self.steps: dict[str, None] = {}

    def value(self, open_: str, *, of_field: bool = False) -> None:
        """``open_``: the closers of all brackets around it."""
        sign = self._sign()
        if sign in ("{", "["):
            if len(open_) >= DEEPEST:
                raise ValueError("too deep")
            self._bracket(sign, open_)
        elif sign in _CLOSING:
            self._string(of_field=of_field)
        else:
            self._word()

    def _bracket(self, sign: str, open_: str) -> None:
        closer = "}" if sign == "{" else "]"
        self.out.append(sign)
        self.at += 1
        first = True
        while not self._is_over(closer, open_):
            self.out.append("" if first else ",")
            first = False
            if sign == "{":
                self._field(open_ + closer)
            else:
                self.value(open_ + closer)
            self._comma(closer, open_)
        self.out.append(closer)

    def _field(self, open_: str) -> None:
        if self._sign() in _CLOSING:
            self._string(of_field=False)
        else:
            key = _WORD.match(self.text, self.at, self.limit)
            if key is None:
                raise ValueError("no field")
            self.steps["unquoted_keys"] = None
            self.out.append(json.dumps(key[0]))
            self.at = key.end()
        self.out.append(":")
        sign = self._sign()
        if sign == ":":
            self.at += 1
            sign = self._sign()
        elif sign:
            raise ValueError("no colon")
        if sign:
            self.value(open_, of_field=True)
        else:
            self.out.append("null")  # cut off behind its name

    def _is_over(self, closer: str, open_: str) -> bool:
        sign = self._sign()
        if sign == closer:
            self.at += 1
            return True
        if sign and sign not in "]}":
            return False
        if sign and sign not in open_:
            raise ValueError("closed twice")
        self.steps["missing_closers"] = None
        return True

    def _comma(self, closer: str, open_: str) -> None:
        sign = self._sign()
        if sign == ",":
            self.at += 1
            if self._sign() in ("]", "}"):
                self.steps["trailing_commas"] = None
        elif sign and sign not in "]}":
            if closer == "]" and sign not in ("{", "["):
                raise ValueError("no comma")
            self.steps["missing_commas"] = None

    def _sign(self) -> str:
        """The next sign of structure, behind white space and comments; empty at the end."""
        gap = _GAP.match(self.text, self.at, self.limit)
        if gap and gap[0].strip(" \t\r\n"):
            comment = gap[0].strip().strip("\ufeff\u200b")
            self.steps["comments" if comment else "white_space"] = None
        self.at = gap.end() if gap else self.at
        sign = self.text[self.at : min(self.at + 1, self.limit)]
        if sign in _WIDE:
            self.steps["full_width_punctuation"] = None
        return _WIDE.get(sign, sign)

    def _string(self, *, of_field: bool) -> None:
        quote = self.text[self.at]
        closer, start = _CLOSING[quote], self.at + 1
        end = self._end_of_body(closer, start)
        quoted = False
        while of_field and end < self.limit and not _BEHIND.match(self.text, end + 1, self.limit):
            quoted = True
            end = self._end_of_body(closer, end + 1)
        body = self.text[start:end]
        self._check(body, quoted=quoted, cut_off=end >= self.limit)
        if step := _QUOTE_STEPS[quote]:
            self.steps[step] = None
        self.out += ['"', _SPECIAL.sub(self._escaped, body), '"']
        self.at = min(end + 1, self.limit)

    def _end_of_body(self, closer: str, start: int) -> int:
        body = _BODY[closer].match(self.text, start, self.limit)
        return body.end() if body else start

    def _check(self, body: str, *, quoted: bool, cut_off: bool) -> None:
        if quoted and (cut_off or _SAID.search(body)):
            raise ValueError("no end of a text")
        if ("\n" in body or cut_off) and self.marks.search(body):
            raise ValueError("a text holds the end of a thought")
        if cut_off and "\n" in body:
            raise ValueError("a text without an end")
        if quoted:
            self.steps["unescaped_quotes"] = None
        if cut_off:
            self.steps["missing_closers"] = None

    def _escaped(self, special: re.Match[str]) -> str:
        """As JSON writes it; a backslash that begins no escape is a backslash."""
        said = special[0]
        if said[0] != "\\":
            if said != '"':
                self.steps["control_characters"] = None
            return json.dumps(said)[1:-1]
        kind = said[1:2]
        if (kind and kind in '"\\/bfnrt') or (len(said) == 6 and kind == "u"):
            return said
        self.steps["escapes"] = None
        if kind in ("x", "U") and len(said) > 2:  # as Python writes them
            number = int(said[2:], 16)
            if number > 0x10FFFF:
                raise ValueError("no character")
            return json.dumps(chr(number))[1:-1]
        if kind in _CLOSING or kind in _CLOSING.values():
            return kind
        return json.dumps(said)[1:-1]

    def _word(self) -> None:
        word = _WORD.match(self.text, self.at, self.limit)
        if word is None:
            raise ValueError("no value")
        self.out.append(self._as_json(word[0]))
        self.at = word.end()

    def _as_json(self, word: str) -> str:
        known = _WORDS.get(word.lower())
        if known is None and word.lower() in _NAN:
            known = "null"
            self.steps["no_number"] = None
        elif known is not None and known != word:
            self.steps["other_words"] = None
        if known is None and not _NUMBER.fullmatch(word):
            raise ValueError("no value")
        return known or word
