"""Long chats of our own, and copies of them as people make them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

_WORDS = """
morning coffee walk river garden piano lesson exam train ticket market bread neighbour dog holiday
island boat storm doctor letter office meeting cake birthday sister cousin football match coach
film actor concert guitar singer dress colour kitchen paint window winter snow mountain tent fire
soup recipe onion phone camera picture museum bridge castle photo bicycle repair shop price money
bank rent flat move box friend visit airport delay hotel beach swim
"""
WORDS = _WORDS.split()
_GLUE = """
the a my your we I they was is will had to of in on with and but so then really
"""
GLUE = _GLUE.split()


@dataclass(frozen=True)
class Line:
    speaker: str
    text: str


def talk(seed: int, *, messages: int = 680) -> list[Line]:
    """A chat of two people about nothing in particular, different for every seed."""
    rng = random.Random(seed)
    return [
        Line(
            ("Alba", "Bruno")[number % 2],
            " ".join(rng.choice(rng.choice((WORDS, GLUE))) for _ in range(rng.randint(4, 26))),
        )
        for number in range(messages)
    ]


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def copies(lines: list[Line]) -> dict[str, list[Line]]:
    """The same chat as it comes back: what people change without changing the conversation."""
    renamed = {"Alba": "Zoe", "Bruno": "Yann"}
    last = lines[-1]
    return {
        "a blank": [*lines[:-1], replace(last, text=last.text + " ")],
        "a mark": [*lines[:-1], replace(last, text=last.text + "!")],
        "renamed speakers": [replace(line, speaker=renamed[line.speaker]) for line in lines],
        "one more message": [*lines, Line("Alba", "Good night then, see you on Thursday.")],
        "first 400 messages": lines[:400],
        "last 100 messages": lines[-100:],
        "capitals": [replace(line, text=line.text.upper()) for line in lines],
        "two in one": [Line("Alba", f"{lines[0].text}\n{lines[1].text}"), *lines[2:]],
    }
