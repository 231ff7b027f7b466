"""Conversations out of templates: quick, the same for the same seed, and no language model.

They are for load tests. What they say is as regular as the templates are, so that figures on them
tell little about conversations that people hold.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

import yaml

from evaluation.synthetic.sample import DIFFICULTIES, USER, Sample, Turn
from labeling.schema.labels import StoredLabel
from pipelines.fingerprint import fingerprint

ANALYST = "analyst"
PRIORITIES = {"must": 5, "should": 3, "could": 2}
"""A wish is said with its priority as the verb; the number is how often it is drawn."""


class Feature(TypedDict):
    """A wish with places for what it is about, and how it is said."""

    title: str
    actor: str
    action: str
    condition: NotRequired[str]
    type: str
    criteria: list[str]
    numbers: list[int]
    says: list[str]
    question: str
    detail: str


class DomainWords(TypedDict):
    """The words of one domain; things and people in the singular and the plural."""

    starters: list[str]
    things: list[list[str]]
    people: list[list[str]]
    events: list[str]


class Book(TypedDict):
    domains: dict[str, DomainWords]
    features: list[Feature]
    acknowledgements: list[str]
    asides: list[str]
    fillers: list[str]


class Wish(TypedDict):
    """A feature about something: its label, the sentence that says it, and its figures."""

    label: StoredLabel
    says: str
    question: str
    detail: str


@cache
def _book() -> Book:
    path = Path(__file__).with_name("domains.yaml")
    book: Book = yaml.safe_load(path.read_text(encoding="utf-8"))
    return book


def domains() -> list[str]:
    return list(_book()["domains"])


def starters(domain: str) -> list[str]:
    texts: list[str] = _book()["domains"][domain]["starters"]
    return texts


def version() -> str:
    return f"templates/{fingerprint(Path(__file__).parent)}"


def generate(number: int, *, domain: str, difficulty: str, seed: int) -> Sample:
    """The sample with this number; no other sample has any influence on it."""
    draw = random.Random(f"{seed}:{domain}:{difficulty}:{number}")
    asked = DIFFICULTIES[difficulty]
    messages = draw.randint(*asked.messages)
    talk = _Talk(draw, domain, difficulty)
    wanted = min(draw.randint(*asked.requirements), _most(messages, difficulty))
    talk.hold(messages, max(wanted, asked.requirements.least))
    name = f"synthetic-{seed}-{domain}-{difficulty}-{number:05d}"
    labels = [
        {"uid": f"{name}-{at}", "id": f"REQ-{at:03d}", **label}
        for at, label in enumerate(talk.labels, start=1)
    ]
    return Sample(name, domain, difficulty, tuple(talk.turns), tuple(labels))


def _most(messages: int, difficulty: str) -> int:
    """At most two wishes in a message, and two only from people who talk at length."""
    users = (messages + 1) // 2
    return users if difficulty == "easy" else 2 * users


@dataclass
class _Talk:
    draw: random.Random
    domain: str
    difficulty: str
    turns: list[Turn] = field(default_factory=list)
    labels: list[StoredLabel] = field(default_factory=list)
    open: Wish | None = None
    """A wish whose figures are stated later."""

    def hold(self, messages: int, requirements: int) -> None:
        words = _book()["domains"][self.domain]
        wishes = self._wishes(words, requirements)
        shares = _shared(len(wishes), (messages + 1) // 2)
        opening = self.draw.choice(words["starters"])
        for share in shares:
            sentences = [opening, self._detail()]
            for left in reversed(range(share)):
                sentences.append(
                    self._say(wishes.pop(0), last=not left and len(self.turns) + 2 < messages)
                )
            self.turns.append(
                Turn(USER, " ".join(filter(None, sentences)) or self._small_talk(words))
            )
            opening = ""
            if len(self.turns) < messages:
                self.turns.append(Turn(ANALYST, self._ask()))

    def _wishes(self, words: DomainWords, number: int) -> list[Wish]:
        """Different features, each about something."""
        chosen = self.draw.sample(_book()["features"], number)
        return [
            self._filled(feature, self.draw.choice(words["things"]), words) for feature in chosen
        ]

    def _filled(self, feature: Feature, thing: Sequence[str], words: DomainWords) -> Wish:
        person = self.draw.choice(words["people"])
        slots = {"thing": thing[0], "things": thing[1], "person": person[0], "people": person[1]}
        slots |= {name.capitalize(): text.title() for name, text in slots.items()}
        slots["event"] = self.draw.choice(words["events"])
        slots["n"] = str(self.draw.choice(feature["numbers"]))
        slots["cue"] = self.draw.choices(list(PRIORITIES), list(PRIORITIES.values()))[0]
        criteria = feature["criteria"][: DIFFICULTIES[self.difficulty].criteria]
        texts = {
            "title": feature["title"].format(**slots),
            "actor": feature["actor"].format(**slots),
            "action": feature["action"].format(**slots),
        }
        condition = feature.get("condition")
        return {
            "label": texts
            | {
                "type": feature["type"],
                "condition": condition.format(**slots) if condition else None,
                "acceptance_criteria": [criterion.format(**slots) for criterion in criteria],
                "priority": slots["cue"],
            },
            "says": self.draw.choice(feature["says"]).format(**slots),
            "question": feature["question"],
            "detail": feature["detail"].format(**slots),
        }

    def _say(self, wish: Wish, *, last: bool) -> str:
        """State a wish; its figures are said with it, or only when the analyst asks."""
        at = len(self.turns)
        cited = {"source_messages": [at], "rationale": f"Message {at} asks for it"}
        self.labels.append(wish["label"] | cited | {"confidence": 1.0})
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

    def _ask(self) -> str:
        if self.open:
            return str(self.open["question"])
        return str(self.draw.choice(_book()["acknowledgements"]))

    def _small_talk(self, words: DomainWords) -> str:
        """Nothing to extract: what already exists, or what is off topic."""
        thing = self.draw.choice(words["things"])
        text = self.draw.choice([*_book()["asides"], *_book()["fillers"]])
        return str(text).format(thing=thing[0], things=thing[1])


def _shared(number: int, places: int) -> list[int]:
    """``number`` wishes over ``places`` turns, as evenly as it goes, the first turns first."""
    return [number // places + (at < number % places) for at in range(places)]
