"""Which of the things that were put to the client a message answers, and how."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import acts, corrections, stances
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.book import COVERED, Book
from pipelines.requirements.extraction.outcomes import Outcomes
from pipelines.requirements.extraction.overlaps import share
from pipelines.requirements.extraction.pending import Pending, chosen
from pipelines.requirements.extraction.state import (
    Decision,
    Ending,
    OpenQuestion,
    Outcome,
    Utterance,
)
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import content_words, tokens

MEANT = 0.3  # share of the words of an answer that speaks of one of several questions
SHORT_ANSWER = 6  # words
VAGUE = 2


def _objects(each: Utterance) -> bool:
    """It takes something back, denies it, or says no."""
    said = each.text
    return (
        signal("negate").search(said) is not None
        or acts.withdraws(said)
        or acts.reply_of(said).stance == "no"
    )


@dataclass(frozen=True, slots=True)
class Answering:
    """One message of the client's, held against what waits for an answer."""

    book: Book
    outcomes: Outcomes
    floor: Sequence[Pending]
    asks_for_more: bool
    """The analyst asked last whether there is anything to add."""
    repeated: Collection[str]
    """Items of a sum-up that the client repeats, to put them right."""

    def answer(
        self, turn: Sequence[Utterance], replies: Sequence[Reply]
    ) -> dict[tuple[int, int], Pending]:
        """Which pending question each sentence answers; yes and no take effect at once."""
        taken: dict[tuple[int, int], Pending] = {}
        waiting = [pending for pending in self.floor if not pending.answered]
        recaps = [pending for pending in waiting if pending.kind == "recap"]
        offers = [pending for pending in waiting if pending.kind == "proposal"]
        opens = [pending for pending in waiting if pending.kind == "question"]
        heads = [
            (each, reply)
            for each, reply in zip(turn, replies, strict=True)
            if reply.stance in {"yes", "partial", "no", "unsure"}
        ]
        numbered = {each.number: each for each in turn if each.number is not None}
        for pending in list(offers):
            if pending.utterance.number in numbered and pending.utterance.number is not None:
                each = numbered[pending.utterance.number]
                taken[each.place] = pending
                self.outcomes.take_up(pending, each, acts.reply_of(each.text))
                offers.remove(pending)
                heads = [(one, reply) for one, reply in heads if one is not each]
        single = recaps + offers
        alike = len(single) == 1 or (not recaps and offers and len(heads) <= 1)
        if alike and (whole := stances.whole_answer(turn, replies, single[-1].text)):
            turned = bool(heads) and heads[0][1].stance in {"yes", "partial"}
            heads = [whole]
            if recaps and turned and whole[1].stance == "no":
                offers, recaps = recaps, []
        if heads:
            each, reply = heads[0]
            if recaps:
                taken[each.place] = recaps[0]
                self._take_up_recap(recaps, each, reply, turn, taken)
            self._pair(offers, heads if not recaps else heads[1:] or heads, taken)
        elif recaps:
            self._take_up_recap(recaps, None, Reply("none", ""), turn, taken)
        if not heads and offers:
            self._answer_in_words(offers, turn, taken)
        self._map_open(opens, turn, replies, taken)
        self._say_no_more(waiting, turn)
        return taken

    def take_back(
        self, offer: Pending, turn: Sequence[Utterance], replies: Sequence[Reply]
    ) -> bool:
        """An offer that was accepted a moment ago is refused; False where it is not."""
        back = stances.takes_back(turn, replies, offer.text)
        if back is None or offer.place is None or not self.book.commitments[offer.place].wanted:
            return False
        each, _ = back
        before = self.book.commitments[offer.place]
        ending = Ending("refused", each.message, each.text)
        self.book.put(offer.place, replace(before, state="refused", ended_by=ending))
        self.book.decisions.append(Decision(offer.text, "refused", each, offer.utterance))
        self._say_no_more([offer], turn)
        return True

    def _say_no_more(self, offers: Sequence[Pending], turn: Sequence[Utterance]) -> None:
        """A sentence that only refuses an offer is neither a wish nor a ban."""
        for offer in offers:
            if offer.place is None or self.book.commitments[offer.place].wanted:
                continue
            refusing = (each for each in turn if stances.only_refuses(each.text, offer.text))
            self.outcomes.amended.update(each.place for each in refusing)

    def _pair(
        self,
        offers: list[Pending],
        heads: list[tuple[Utterance, Reply]],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """Several yes-or-no questions and their answers, in order or by what the answers name."""
        if not offers:
            return
        if len(heads) == 1:
            each, reply = heads[0]
            taken[each.place] = offers[-1]
            for pending in offers:
                self.outcomes.take_up(pending, each, reply)
            return
        left = list(offers)
        for each, reply in heads:
            if not left:
                break
            about = content_words(reply.rest)
            shares = [share(about, content_words(pending.text)) for pending in left]
            best = max(
                range(len(left)),
                key=lambda at: (shares[at] >= MEANT, shares[at] if shares[at] >= MEANT else 0, -at),
            )
            pending = left.pop(best)
            taken[each.place] = pending
            self.outcomes.take_up(pending, each, reply)

    def _answer_in_words(
        self,
        offers: Sequence[Pending],
        turn: Sequence[Utterance],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """An answer without yes or no: a choice, the same again, or other words."""
        for pending in offers:
            for each in turn:
                if each.place in taken or each.question:
                    continue
                about, asked = content_words(each.text), content_words(pending.text)
                same = share(about, asked) >= COVERED and not any(map(_objects, turn))
                picked = chosen(pending, each.text)
                if picked or (about and same):
                    taken[each.place] = pending
                    outcome: Outcome = "chosen" if picked else "accepted"
                    self.outcomes.accept(pending, each, outcome, picked)
                    break
                if about & asked or (each.first and len(tokens(each.text)) <= SHORT_ANSWER):
                    taken[each.place] = pending
                    self.outcomes.replace(pending, each)
                    break

    def _map_open(
        self,
        opens: Sequence[Pending],
        turn: Sequence[Utterance],
        replies: Sequence[Reply],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """Open questions are answered in their order, or where an answer names one of them."""
        left = list(opens)
        current: Pending | None = None
        for each, reply in zip(turn, replies, strict=True):
            if each.place in taken or (not left and current is None):
                continue
            if reply.stance in {"unsure", "delegate"} and left and not reply.rest:
                pending = left.pop(0)
                pending.answered = True
                self.book.open.append(OpenQuestion(pending.utterance, "undecided", each))
                continue
            chosen = _named(left, each)
            if chosen is None and left and (current is None or len(left) >= len(turn)):
                chosen = left[0]
            if chosen is not None:
                left.remove(chosen)
                current = chosen
            if current is not None:
                current.answered = True
                taken[each.place] = current

    def _take_up_recap(
        self,
        recaps: Sequence[Pending],
        each: Utterance | None,
        reply: Reply,
        turn: Sequence[Utterance],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """What is put right is changed; without a yes or no the rest is left as it was."""
        objections = self._objected(recaps, turn, reply)
        for at, objection in objections.items():
            self.outcomes.change(recaps[at], objection)
            taken[objection.place] = recaps[at]
        if each is None or reply.stance == "unsure":
            return
        brief = len(turn) == 1 and len(tokens(reply.rest)) <= VAGUE
        nothing_more = self.asks_for_more and brief and not tokens(reply.rest)
        refused = reply.stance == "no" and brief and not objections and not nothing_more
        for at, pending in enumerate(recaps):
            if refused:
                self.outcomes.refuse(pending, each, Reply("no", ""))
            elif at not in objections:
                self.outcomes.accept(pending, each, "accepted")

    def _objected(
        self, recaps: Sequence[Pending], turn: Sequence[Utterance], reply: Reply
    ) -> dict[int, Utterance]:
        """Which items of a sum-up are put right, and by which sentence."""
        objections: dict[int, Utterance] = {}
        for each in turn:
            own = acts.reply_of(each.text)
            negative = own.stance in {"no", "partial"} or acts.corrects(each.text)
            if not negative and reply.stance != "no":
                continue
            said = own.rest or each.text
            shares = [share(content_words(said), content_words(pending.text)) for pending in recaps]
            best = max(range(len(recaps)), key=lambda at: shares[at])
            quoted = [
                at for at, item in enumerate(recaps) if spoken(item.utterance) in self.repeated
            ]
            if quoted:
                objections |= dict.fromkeys(quoted, each)
            elif shares[best] >= MEANT or corrections.amended(recaps[best].text, said):
                objections[best] = each
        return objections


def spoken(each: Utterance) -> str:
    return " ".join(tokens(each.text.lower()))


def _named(left: Sequence[Pending], each: Utterance) -> Pending | None:
    """The question of which an answer has the number, or most words."""
    about = content_words(each.text)
    shares = [share(about, content_words(one.text)) for one in left]
    for one in left:
        if each.number is not None and one.utterance.number == each.number:
            return one
    best = max(range(len(left)), key=lambda at: shares[at], default=None)
    return left[best] if best is not None and shares[best] >= MEANT else None
