"""Whether a conversation is in English, the only language that the rules read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.types import Case, Message

_WORD = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS = 60
"""Less says too little of its language."""
_MOST_ENGLISH = 0.15
"""Share of small words. Plain English has more than twice that, terse notes may have less."""
_MOST_OTHER_SCRIPT = 0.5
_ENGLISH = """
    a an the and or but of to for with at by from as is are was be it this that these those we
    you they our your their my not do does did have has had can could should would will must if
    when then what which who how there here any some only just yes like want need
"""
_OTHER = """
    der die das den dem und ist sind nicht ich wir sie ein eine einen mit für auf zu von wenn
    el la los las del que y en un una es por para con se lo al no
    le les des du et est pas nous vous une dans pour sur avec qui ce
    il che di e non per sono con della gli
    het een van niet wij ook voor met zijn
    o os uma não com em dos das
"""
NOTICE = (
    "This conversation does not seem to be in English, the only language that the rules read. "
    "They have taken nothing from it."
)
_SMALL, _OTHER_SMALL = frozenset(_ENGLISH.split()), frozenset(_OTHER.split())


def is_foreign(messages: Sequence[Message]) -> bool:
    """Only if both are so: there is hardly any English, and another language shows.

    Examples
    --------
    >>> german = "Wir brauchen ein System, mit dem die Kunden ihre Termine online buchen können."
    >>> [is_foreign([Message(0, "client", "", text)]) for text in (german, "Add CSV export.")]
    [True, False]
    """
    words = [word.lower() for message in messages for word in _WORD.findall(message.content)]
    letters = sum(map(len, words))
    other_script = sum(letter > "\u024f" for word in words for letter in word)
    if letters and other_script > _MOST_OTHER_SCRIPT * letters:
        return True
    english, other = (sum(word in small for word in words) for small in (_SMALL, _OTHER_SMALL))
    return letters >= _LEAST_LETTERS and english < _MOST_ENGLISH * len(words) and other > english


def readable(case: Case) -> Case:
    """Without its messages where the rules would only guess at them."""
    return replace(case, messages=()) if is_foreign(case.messages) else case
