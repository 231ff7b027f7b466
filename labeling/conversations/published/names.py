"""Speakers whom the questions call by another name than the file does."""

import re
from collections import Counter
from collections.abc import Sequence

from labeling.conversations.published.chat import Line, Question
from labeling.conversations.published.faults import ChatFault

RARELY = 0.1  # of the questions: a name that is in fewer is not the name they use
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")  # a capital inside a sentence
_NO_NAMES = {"January", "February", "March", "April", "May", "June", "July", "August"} | {
    "September", "October", "November", "December", "Monday", "Tuesday", "Wednesday",
    "Thursday", "Friday", "Saturday", "Sunday", "New", "Year", "Day", "Eve", "Christmas",
}  # fmt: skip


def name_faults(
    names: Sequence[str], lines: Sequence[Line], questions: Sequence[Question]
) -> list[ChatFault]:
    """Names that differ between the head of the file, its messages and its questions."""
    spoken = list(dict.fromkeys(line.speaker for line in lines))
    return [*_differing(names, spoken), *_unnamed(spoken, questions)]


def _differing(names: Sequence[str], spoken: Sequence[str]) -> list[ChatFault]:
    if not names:
        return []
    return [
        ChatFault("speaker_name", name, f"the head of the file names {', '.join(names)}")
        for name in spoken
        if name not in names
    ]


def _unnamed(spoken: Sequence[str], questions: Sequence[Question]) -> list[ChatFault]:
    """Counted, not guessed: which speaker no question names, and whom they name instead."""
    texts = [f"{question.question} {question.answer}" for question in questions]
    named = {name: sum(_says(name, text) for text in texts) for name in spoken}
    unnamed = [name for name in spoken if named[name] < RARELY * len(texts)]
    known = {word.casefold() for name in spoken for word in name.split()}
    others = Counter(
        word
        for question in questions
        for word in set(_NAME.findall(question.question))
        if word.casefold() not in known and word not in _NO_NAMES
    )
    common = [f"{word} in {n}" for word, n in others.most_common(3) if n >= RARELY * len(questions)]
    return [
        ChatFault(
            "other_name",
            name,
            f"named in {named[name]} of {len(texts)} questions; they name {', '.join(common)}",
        )
        for name in unnamed
        if common
    ]


def _says(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None
