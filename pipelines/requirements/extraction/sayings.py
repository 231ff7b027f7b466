"""What the client says unasked, or besides the answer."""

from __future__ import annotations

from dataclasses import replace

from pipelines.requirements.extraction import acts, discourse, stances
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.answering import Outcomes
from pipelines.requirements.extraction.book import Book, Pending
from pipelines.requirements.extraction.clauses import clauses, find_cue, finite, read
from pipelines.requirements.extraction.features import features
from pipelines.requirements.extraction.state import Commitment, Reading, Source, Utterance
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import content_words, lower_first, plain, strip_openers, tokens

OWN_WISH = 0.6  # strength of a cue
VAGUE = 3  # words after "I have to ask"


class Sayings:
    def __init__(self, book: Book, outcomes: Outcomes) -> None:
        self.book = book
        self.outcomes = outcomes
        self._telling: int | None = None

    def say(
        self,
        each: Utterance,
        reply: Reply,
        pending: Pending | None,
        asked: Utterance | None,
        *,
        offered: bool,
    ) -> None:
        """``asked``: what was asked last, if the sentence answers nothing in particular;
        ``offered``: its message answers an offer, to which "it" points."""
        if says_nothing(reply):
            return
        if acts.withdraws(each.text) and self.outcomes.withdraw(
            each, offered or pending is not None
        ):
            return
        aside = pending is None or (pending.kind == "question" and not each.first)
        puts_right = not each.first and stances.MAKES_IT.match(each.text) is not None
        if (
            "correction" in each.acts
            and (aside or puts_right)
            and self.outcomes.correct(each, reply)
        ):
            return
        if each.place in self.outcomes.amended:
            return
        self.outcomes.outdate(each)
        known = pending is not None and pending.place is not None
        question = pending.utterance if pending else asked
        stated = _stated(
            each,
            reply,
            question,
            leans_on=self.outcomes.leans_on.get(each.place),
            asked=self._newly_asked(pending),
            told=self._tells(each),
        )
        for commitment in stated:
            if known and self._adds_nothing(commitment, pending):
                continue
            self.book.add(commitment)

    @staticmethod
    def _newly_asked(pending: Pending | None) -> bool:
        """The first words about this question, be they in the middle of an answer."""
        if pending is None or pending.begun:
            return False
        pending.begun = True
        return True

    def _tells(self, each: Utterance) -> bool:
        """It goes on telling how things are today, which a sentence before it began."""
        cue = find_cue(each.text)
        if cue and cue.cue.strength >= OWN_WISH:
            self._telling = None
            return False
        if signal("existing").search(each.text):
            self._telling = each.message
            return True
        return self._telling == each.message and finite(each.text) is not None

    def _adds_nothing(self, commitment: Commitment, pending: Pending | None) -> bool:
        """What follows a yes only repeats or narrows what it says yes to."""
        if pending is None or pending.place is None:
            return False
        before = self.book.commitments[pending.place]
        if not before.wanted:
            return False
        own = content_words(commitment.text)
        asked = self.book.about[pending.place]
        weak = commitment.reading.cue is None and commitment.reading.shape in {"fragment", "state"}
        if len(own - asked) > max(1, len(own) // 2) and not weak:
            return False
        if own - asked:
            self.book.put(
                pending.place, replace(before, details=(*before.details, commitment.text))
            )
        return True


def says_nothing(reply: Reply) -> bool:
    """It asks back, or says that the speaker does not know."""
    if reply.stance != "unsure":
        return reply.stance in {"clarify", "delegate"} and not tokens(reply.rest)
    later = signal("talk").search(reply.rest) or acts.reply_of(reply.rest).stance == "unsure"
    brief = len(tokens(reply.rest)) <= VAGUE and find_cue(reply.rest) is None
    return brief or bool(later)


def _stated(
    each: Utterance,
    reply: Reply,
    question: Utterance | None,
    *,
    leans_on: Utterance | None,
    asked: bool,
    told: bool,
) -> list[Commitment]:
    """What a sentence of the client's says by itself."""
    if signal("bare").match(plain(each.text)):
        return []
    answers = "answer" in each.acts
    said = reply.rest if answers or reply.stance == "delegate" else each.text
    if not tokens(said):
        return []
    said = under_heading(each, said)
    parts = [part for part in clauses(said) if tokens(part)]
    made = [
        _statement(part, each, question, first=at == 0, leans_on=leans_on, asked=asked, told=told)
        for at, part in enumerate(parts)
        if not signal("bare").match(plain(part)) and not _asks_for_nothing(part)
    ]
    taking_back = acts.withdraws(each.text)
    return [
        one
        for one in made
        if content_words(one.reading.predicate) and (one.reading.cue or not taking_back)
    ]


def _asks_for_nothing(part: str) -> bool:
    """It says what does not matter, or speaks of the talk itself."""
    return any(acts.pattern(name).search(part) for name in ("unwanted", "of_this_talk"))


def _statement(
    text: str,
    each: Utterance,
    question: Utterance | None,
    *,
    first: bool,
    leans_on: Utterance | None,
    asked: bool,
    told: bool,
) -> Commitment:
    said = discourse.own_words(text) if first and each.first else text
    reading: Reading = read(said or text)
    place = each if first else replace(each, first=False)
    values = features(text, reading, sentence=place, question=question)
    if told and reading.strength < OWN_WISH:
        values["says:existing"] = 1.0
    return Commitment(
        sentence=each,
        text=strip_openers(said or text),
        reading=reading,
        question=question if place.first or (first and asked) else None,
        sources=(
            (Source(leans_on.message, "proposed"), Source(each.message, "accepted"))
            if leans_on
            else (Source(each.message, "stated"),)
        ),
        features=values,
    )


def under_heading(each: Utterance, text: str) -> str:
    """A list item with the words before the list, where it says too little alone."""
    if not each.heading or find_cue(text) or not find_cue(each.heading):
        return text
    return f"{acts.content_of(each.heading)} {lower_first(text)}"
