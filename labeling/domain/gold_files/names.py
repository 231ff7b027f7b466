"""Which conversation a file of cases is about, by the names in both."""

import re
from collections.abc import Iterable


def conversations_named(file: str, ids: Iterable[str]) -> list[str]:
    """The conversations whose people stand in the file's name in the same order.

    Examples
    --------
    >>> conversations_named("arc_cases_emi_elise.json", ["Chat_1_Emi_Elise", "Chat_4_Emi_Paola"])
    ['Chat_1_Emi_Elise']
    """
    words = _words(file.rsplit(".", 1)[0])
    return [name for name in ids if _stands_in(_people(name), words)]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def _people(name: str) -> list[str]:
    return [word for word in _words(name) if word != "chat"]


def _stands_in(people: list[str], words: list[str]) -> bool:
    size = len(people)
    starts = range(len(words) - size + 1)
    return bool(people) and any(words[start : start + size] == people for start in starts)
