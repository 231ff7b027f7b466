"""What of a talk counts as wanted: what was put forward, and what became of it, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import acts, discourse
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.answering import SHORT_ANSWER, Answering, Outcomes, spoken
from pipelines.requirements.extraction.book import COVERED, Book, Pending, proposed
from pipelines.requirements.extraction.clauses import find_cue
from pipelines.requirements.extraction.sayings import Sayings, under_heading
from pipelines.requirements.extraction.state import (
    Commitment,
    Ending,
    OpenQuestion,
    Utterance,
)
from pipelines.requirements.text import content_words, share, tokens


@dataclass(frozen=True, slots=True)
class Settled:
    commitments: list[Commitment]
    open_questions: list[OpenQuestion]


def settled(spoken: Sequence[Utterance]) -> Settled:
    ledger = Ledger()
    for turn in discourse.turns(spoken):
        if turn[0].asked:
            ledger.hear_analyst(turn)
        else:
            ledger.hear_client(turn)
    return ledger.closed()


class Ledger:
    def __init__(self) -> None:
        self.book = Book()
        self.outcomes = Outcomes(self.book)
        self.sayings = Sayings(self.book, self.outcomes)
        self._floor: list[Pending] = []
        self._asks_for_more = False
        self._client_spoke = False
        self._unclear: Utterance | None = None
        self._puzzled = False
        self._question: Utterance | None = None
        self._summed_up: set[str] = set()
        """What the client repeats of a sum-up only says what is spoken of."""
        self._accepted: Pending | None = None
        """What the client answered last, and may take back in the next breath."""

    # Turns of the analyst

    def hear_analyst(self, turn: Sequence[Utterance]) -> None:
        put = [pending for each in turn for pending in self._put(each)]
        put += self._paraphrased(turn, put)
        confirming = any(acts.asks_to_confirm(each) for each in turn)
        summing = any(acts.pattern("recaps").match(each.text) for each in turn)
        if confirming and self._puzzled and self._floor and not summing:
            put = []  # it explains what was asked before
        if put or (self._client_spoke and not confirming and self._unclear is None):
            self._close_floor(rephrased=self._unclear is not None and bool(put))
        self._floor += put
        self._unclear, self._puzzled = None, False
        self._client_spoke = False
        self._question = next((each for each in reversed(turn) if each.question), turn[-1])
        self._asks_for_more = any(acts.pattern("asks_for_more").search(each.text) for each in turn)
        for each in turn:
            if "question" not in each.acts and acts.pattern("open").search(each.text):
                self.book.open.append(OpenQuestion(each, "named"))

    def _put(self, each: Utterance) -> list[Pending]:
        text = acts.content_of(each.text)
        if each.text.endswith(":") or _only_announces(each):
            return []  # what follows says what is put forward
        drops = bool(acts.pattern("drops").search(text)) and not acts.choice_of(text)
        if "recap" in each.acts:
            listed = under_heading(each, text)
            items = [
                item
                for item in discourse.parts_of(listed)
                if not acts.pattern("covers").match(item)
            ]
            self._summed_up.add(spoken(each))
            return [Pending(each, item, "recap", drops=drops) for item in items]
        if "proposal" in each.acts:
            text = under_heading(each, text)
            if self._checks(text):
                return []
            pending = Pending(each, text, "proposal", acts.choice_of(text), drops)
        elif "question" in each.acts and not acts.asks_to_confirm(each):
            pending = Pending(each, text, "question")
        elif "statement" in each.acts and acts.withdraws(each.text):
            pending = Pending(each, text, "proposal", drops=True)
        else:
            return []
        return [pending]

    def _paraphrased(self, turn: Sequence[Utterance], put: Sequence[Pending]) -> list[Pending]:
        """ "So it rotates every week." asks for a yes without asking."""
        last = turn[-1]
        heard = acts.pattern("paraphrases").match(last.text) and not acts.about_talk(last.text)
        if put or "statement" not in last.acts or not heard or not self.book.commitments:
            return []
        text = acts.pattern("paraphrases").sub("", last.text, count=1)
        return [Pending(last, item, "recap") for item in discourse.parts_of(text)]

    def _checks(self, text: str) -> bool:
        """ "Five minutes, really?" asks about what was said already."""
        about = content_words(text)
        if find_cue(text) or len(tokens(text)) > SHORT_ANSWER or not about:
            return False
        near = (at for at in self.book.near(about) if self.book.commitments[at].wanted)
        return any(share(about, self.book.about[at]) >= COVERED for at in near)

    def _close_floor(self, *, rephrased: bool) -> None:
        if not rephrased:
            for pending in self._floor:
                if not pending.answered:
                    self._leave_open(pending)
        if self._client_spoke:
            self._floor = []

    def _leave_open(self, pending: Pending) -> None:
        if pending.kind == "recap":
            return  # what is summed up is open only where somebody objects
        self.book.open.append(
            OpenQuestion(pending.utterance, "undecided", self._unclear)
            if self._unclear
            else OpenQuestion(pending.utterance, "unanswered")
        )
        if pending.kind != "question" and pending.place is None:
            ending = Ending("unanswered", pending.utterance.message)
            pending.place = self.book.add(replace(proposed(pending), state="open", ended_by=ending))

    # Turns of the client

    def hear_client(self, turn: Sequence[Utterance]) -> None:
        self._client_spoke = True
        repeated = {spoken(each) for each in turn} & self._summed_up
        turn = [each for each in turn if spoken(each) not in repeated] or list(turn)
        replies = [acts.reply_of(each.text) for each in turn]
        asking = all(_asks_back(each, reply) for each, reply in zip(turn, replies, strict=True))
        if self._floor and asking:
            self._unclear = turn[0]
            self._puzzled = all(reply.stance != "delegate" for reply in replies)
            return
        answering = Answering(self.book, self.outcomes, self._floor, self._asks_for_more, repeated)
        again = all(each.answered for each in self._floor)
        if self._accepted and again and not any(acts.withdraws(each.text) for each in turn):
            answering.take_back(self._accepted, turn, replies)
        taken = answering.answer(turn, replies)
        answered = (offer for offer in self._floor if offer.answered and offer.kind != "question")
        self._accepted = next(answered, None)
        offered = self._accepted is not None
        for each, reply in zip(turn, replies, strict=True):
            self.sayings.say(each, reply, taken.get(each.place), self._question, offered=offered)

    def closed(self) -> Settled:
        if self._floor:
            for pending in self._floor:
                if not pending.answered:
                    self._leave_open(pending)
        return Settled(self.book.commitments, self.book.still_open())


def _only_announces(each: Utterance) -> bool:
    """ "Quick recap." """
    return len(tokens(each.text)) <= 3 and bool(acts.pattern("recaps").match(each.text))


def _asks_back(each: Utterance, reply: Reply) -> bool:
    if reply.stance in {"clarify", "delegate"}:
        return not tokens(reply.rest)
    cue = find_cue(each.text)
    return each.question and reply.stance == "none" and not (cue and cue.cue.kind == "request")
