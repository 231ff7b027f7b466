"""Conversations with the requirements stated in them, out of templates.

They are for load tests: the same for the same seed, and so regular that figures on them tell little
about conversations that people hold.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from labeling.conversations.rules.importing import Turn
from labeling.schema.labels import StoredLabel
from pipelines.fingerprint import fingerprint

USER, ANALYST = "user", "analyst"
FOLDER = Path(__file__).parent
DRAWN = {"must": 5, "should": 3, "could": 2}
"""A wish is said with its priority as the verb; the number is how often it is drawn."""


class Difficulty(NamedTuple):
    """Ranges hold both their ends."""

    messages: tuple[int, int]
    requirements: tuple[int, int]
    share: float
    """Of a mixed set."""
    criteria: int
    """At least one requirement has this number of acceptance criteria."""


DIFFICULTIES = {
    "easy": Difficulty((2, 4), (1, 3), 0.3, 2),
    "medium": Difficulty((4, 8), (3, 6), 0.5, 3),
    "hard": Difficulty((8, 15), (6, 12), 0.2, 4),
}
MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    domain: str
    difficulty: str
    turns: tuple[Turn, ...]
    requirements: tuple[StoredLabel, ...]


def difficulties(name: str, count: int) -> list[str]:
    """One for each of ``count`` samples; of a mixed set in the shares of the difficulties.

    Examples
    --------
    >>> difficulties("mixed", 4)
    ['easy', 'medium', 'medium', 'hard']
    """
    if name != MIXED:
        return [name] * count
    names: list[str] = []
    passed = 0.0
    for difficulty, what in DIFFICULTIES.items():
        passed += what.share
        names += [difficulty] * (round(passed * count) - len(names))
    return names


@cache
def _book() -> Any:
    return yaml.safe_load((FOLDER / "domains.yaml").read_text(encoding="utf-8"))


def domains() -> list[str]:
    return list(_book()["domains"])


def version() -> str:
    return f"templates/{fingerprint(FOLDER)}"


def generate(number: int, *, domain: str, difficulty: str, seed: int) -> Sample:
    """The sample with this number; no other sample has any influence on it."""
    draw = random.Random(f"{seed}:{domain}:{difficulty}:{number}")
    asked = DIFFICULTIES[difficulty]
    messages = draw.randint(*asked.messages)
    talk = _Talk(draw, domain, difficulty)
    users = (messages + 1) // 2  # two wishes in a message only from people who talk at length
    most = users if difficulty == "easy" else 2 * users
    wanted = min(draw.randint(*asked.requirements), most)
    talk.hold(messages, max(wanted, asked.requirements[0]))
    name = f"synthetic-{seed}-{domain}-{difficulty}-{number:05d}"
    numbered: tuple[StoredLabel, ...] = tuple(
        {**label, "uid": f"{name}-{at}", "id": f"REQ-{at:03d}", "confidence": 1.0}
        for at, label in enumerate(talk.labels, start=1)
    )
    return Sample(name, domain, difficulty, tuple(talk.turns), numbered)


@dataclass
class _Talk:
    draw: random.Random
    domain: str
    difficulty: str
    turns: list[Turn] = field(default_factory=list)
    labels: list[StoredLabel] = field(default_factory=list)
    open: Any = None
    """A wish whose figures are stated later."""

    def hold(self, messages: int, requirements: int) -> None:
        words = _book()["domains"][self.domain]
        chosen = self.draw.sample(_book()["features"], requirements)
        wishes = [self._filled(feature, self.draw.choice(words["things"])) for feature in chosen]
        places = (messages + 1) // 2
        opening = self.draw.choice(words["starters"])
        for at in range(places):
            sentences = [opening, self._detail()]
            share = requirements // places + (at < requirements % places)
            for left in reversed(range(share)):
                is_last = not left and len(self.turns) + 2 < messages
                sentences.append(self._say(wishes.pop(0), last=is_last))
            said = " ".join(filter(None, sentences)) or self._small_talk(words)
            self.turns.append(Turn(USER, said))
            opening = ""
            if len(self.turns) < messages:
                asked = self.open and self.open["question"]
                reply = asked or self.draw.choice(_book()["acknowledgements"])
                self.turns.append(Turn(ANALYST, reply))

    def _filled(self, feature: Any, thing: list[str]) -> Any:
        """A feature about something: its label, the sentence that says it, and its figures."""
        words = _book()["domains"][self.domain]
        person = self.draw.choice(words["people"])
        slots = {"thing": thing[0], "things": thing[1], "person": person[0], "people": person[1]}
        slots |= {name.capitalize(): text.title() for name, text in slots.items()}
        slots["event"] = self.draw.choice(words["events"])
        slots["n"] = str(self.draw.choice(feature["numbers"]))
        slots["cue"] = self.draw.choices(list(DRAWN), list(DRAWN.values()))[0]
        criteria = feature["criteria"][: DIFFICULTIES[self.difficulty].criteria]
        condition = feature.get("condition")
        label = {
            **{name: feature[name].format(**slots) for name in ("title", "actor", "action")},
            "type": feature["type"],
            "condition": condition.format(**slots) if condition else None,
            "acceptance_criteria": [criterion.format(**slots) for criterion in criteria],
            "priority": slots["cue"],
        }
        said = {name: feature[name].format(**slots) for name in ("question", "detail")}
        return {"label": label, "says": self.draw.choice(feature["says"]).format(**slots), **said}

    def _say(self, wish: Any, *, last: bool) -> str:
        """State a wish; its figures are said with it, or only when the analyst asks."""
        at = len(self.turns)
        cited = {"source_messages": [at], "rationale": f"Message {at} asks for it"}
        self.labels.append(wish["label"] | cited)
        sentence = f"{wish['says'][0].upper()}{wish['says'][1:]}."
        if not last or self.difficulty == "easy" or self.draw.random() < 0.4:
            return f"{sentence} {wish['detail']}"
        self.open = wish
        return sentence

    def _detail(self) -> str:
        """What the analyst asked for; it belongs to the wish before."""
        if self.open is None:
            return ""
        detail, self.open = str(self.open["detail"]), None
        self.labels[-1]["source_messages"].append(len(self.turns))
        return detail

    def _small_talk(self, words: Any) -> str:
        """Nothing to extract: what already exists, or what is off topic."""
        thing = self.draw.choice(words["things"])
        text = self.draw.choice([*_book()["asides"], *_book()["fillers"]])
        return str(text).format(thing=thing[0], things=thing[1])
