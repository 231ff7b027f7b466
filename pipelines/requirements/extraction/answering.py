"""Which of the things that were put to the client a message answers, and how."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import acts, stances
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.book import COVERED, Book, Pending, chosen, proposed
from pipelines.requirements.extraction.clauses import find_cue, read
from pipelines.requirements.extraction.state import (
    Ending,
    OpenQuestion,
    Source,
    Standing,
    Utterance,
)
from pipelines.requirements.lexicon import signal, words
from pipelines.requirements.text import content_words, is_base_verb, share, tokens

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


IN_FULL = 4  # words of a thing that is named once more after a yes
MOST_TAKEN_BACK = 4
_POINTS_BACK = re.compile(r"\b(?:that|it|this|those|them|what i said)\b", re.I)
_OF_THAT = re.compile(
    r"\bnever ?mind\b(?! the\b)|\b(?:skip|drop|leave|forget|scrap|scratch) (?:that|it|this|them)\b",
    re.I,
)
_ALL_OF_IT = re.compile(r"\b(?:this|that|the) (?:whole )?(?:feature|function|idea|topic)\b", re.I)
_ENDS_PHRASE = re.compile(r",|\s(?:so|because|and|but|if|when|that)\s", re.I)


class Outcomes:
    def __init__(self, book: Book) -> None:
        self.book = book
        self.amended: set[tuple[int, int]] = set()
        """Sentences that were taken up as a change of something else."""
        self.leans_on: dict[tuple[int, int], Utterance] = {}
        """Sentences that say in full what was proposed, with the proposal."""

    def take_up(self, pending: Pending, each: Utterance, reply: Reply) -> None:
        picked = chosen(pending, reply.rest) or chosen(pending, each.text)
        if picked:
            self.accept(pending, each, picked)
        elif reply.stance == "no":
            self.refuse(pending, each, reply)
        elif reply.stance not in {"yes", "partial"} or (pending.choice and not tokens(reply.rest)):
            self.leave_undecided(pending, each)  # "One or the other?" "Okay."
        elif pending.choice:
            self.accept(pending, each, pending.choice.first)
        elif elaborates(reply, pending.text):
            self.replace(pending, each, taken_up=True)
        else:
            self.accept(pending, each)

    def leave_undecided(self, pending: Pending, each: Utterance) -> None:
        pending.answered = True
        self.book.open.append(OpenQuestion(pending.utterance, "undecided", each))
        ending = Ending("unanswered", each.message, each.text)
        pending.place = self.book.add(replace(proposed(pending), state="open", ended_by=ending))

    def accept(self, pending: Pending, each: Utterance, picked: str | None = None) -> None:
        """``picked``: of two things to choose between, what holds."""
        pending.answered, pending.text = True, picked or pending.text
        own = pending.utterance
        if pending.drops:
            self.book.end(self.book.named(content_words(without_taking_back(pending.text))), each)
            return
        known = self.book.known(pending)
        if known is not None:
            before = self.book.commitments[known]
            recap = pending.kind == "recap" or not before.sentence.asked
            added = (
                (Source(own.message, "repeated"),)
                if recap
                else (Source(own.message, "proposed"), Source(each.message, "accepted"))
            )
            sources = tuple(dict.fromkeys([*before.sources, *added]))
            self.book.put(known, replace(before, sources=sources))
            pending.place = known
            return
        pending.place = self.book.add(proposed(pending, accepted=each))

    def refuse(self, pending: Pending, each: Utterance, reply: Reply) -> None:
        pending.answered = True
        amended = stances.amended(pending.text, reply.rest) if reply.rest else None
        if amended and not pending.drops:
            commitment = proposed(replace(pending, text=amended), accepted=each)
            sources = (
                Source(pending.utterance.message, "proposed"),
                Source(each.message, "corrected"),
            )
            pending.place = self.book.add(replace(commitment, sources=sources, state="corrected"))
            self.amended.add(each.place)
            return
        own = len(tokens(reply.rest)) > 2 and not pending.drops
        ending = Ending("replaced" if own else "refused", each.message, each.text)
        state: Standing = "replaced" if own else "refused"
        if pending.drops:  # "Shall we leave it out?" "No, keep it."
            self.amended.add(each.place)
            return
        pending.place = self.book.add(replace(proposed(pending), state=state, ended_by=ending))
        words_of = acts.taken_back(each.text)
        named = words_of and not _OF_THAT.search(words_of)
        if acts.pattern("keeps").search(pending.text) or named:
            self.book.end(self.book.named(content_words(pending.text)), each)

    def replace(self, pending: Pending, each: Utterance, *, taken_up: bool = False) -> None:
        """The client's own words take the place of the proposal."""
        if taken_up and not pending.utterance.question:
            self.leans_on[each.place] = pending.utterance
        pending.answered = True
        ending = Ending("replaced", each.message, each.text)
        meant = taken_up or content_words(each.text) & content_words(pending.text)
        own = proposed(pending, accepted=each if meant and not pending.choice else None)
        pending.place = self.book.add(replace(own, state="replaced", ended_by=ending))

    def change(self, pending: Pending, each: Utterance) -> None:
        """An item of a sum-up, and what it sums up, in the words of the correction."""
        rest = acts.reply_of(each.text).rest or each.text
        self.refuse(pending, each, Reply("no", rest))
        if pending.place is not None:
            about = frozenset(content_words(pending.text))
            for at in self.book.near(about):
                before = self.book.commitments[at]
                if (
                    at != pending.place
                    and before.wanted
                    and share(about, self.book.about[at]) >= COVERED
                ):
                    ending = Ending("replaced", each.message, each.text)
                    self.book.put(at, replace(before, state="replaced", ended_by=ending))

    def amend(self, at: int, each: Utterance, said: str) -> bool:
        """Put what is said in the place of what was said; False where nothing fits."""
        before = self.book.commitments[at]
        text = stances.amended(before.text, said)
        if text is None:
            return False
        self.book.put(
            at,
            replace(
                before,
                text=text,
                reading=read(text),
                sources=(*before.sources, Source(each.message, "corrected")),
                state="corrected",
            ),
        )
        self.amended.add(each.place)
        return True

    def correct(self, each: Utterance, reply: Reply) -> bool:
        """Exchange words in what was said before; False where nothing fits."""
        said = reply.rest or each.text
        cue = find_cue(said)
        own = cue is not None and cue.cue.strength >= 0.6 and len(content_words(said)) > 3
        about = frozenset(content_words(said))
        latest = range(len(self.book.commitments) - 1, max(-1, len(self.book.commitments) - 9), -1)
        topics = {at: own | self._asked(at) for at, own in enumerate(self.book.about)}
        near = [at for at in topics if about & topics[at]]
        places = sorted(near, key=lambda at: (-share(about, topics[at]), -at))
        for at in dict.fromkeys([*places, *(() if own else latest)]):
            before = self.book.commitments[at]
            if not before.wanted or before.sentence is each:
                continue
            if own and not about & self._asked(at) and share(about, self.book.about[at]) < COVERED:
                continue
            if self.amend(at, each, said):
                return True
        return False

    def _asked(self, at: int) -> frozenset[str]:
        """What an answer was asked: "Deposit?"."""
        question = self.book.commitments[at].question
        return frozenset(content_words(question.text)) if question else frozenset()

    def outdate(self, each: Utterance) -> None:
        """What was said with the figure that a sentence names as not the one: "five, not ten"."""
        about = frozenset(content_words(each.text))
        for at in self.book.near(about):
            before = self.book.commitments[at]
            text = stances.put_right(before.text, each.text) if before.wanted else None
            if text and before.sentence is not each and len(about & self.book.about[at]) > 2:
                sources = (*before.sources, Source(each.message, "corrected"))
                self.book.put(at, replace(before, text=text, sources=sources, state="corrected"))

    def withdraw(self, each: Utterance, answers: bool) -> bool:
        """The wishes that a sentence takes back: those it names, else the one just before."""
        words_of = acts.taken_back(each.text)
        if answers and _OF_THAT.search(words_of):
            return True  # it refuses what was just put forward
        about = content_words(without_taking_back(words_of))
        named = [
            at for at in self.book.named(about) if self.book.commitments[at].sentence is not each
        ]
        if len(named) > MOST_TAKEN_BACK:
            return False  # words that so much has in common mean none of it
        whole = _ALL_OF_IT.search(words_of) and not each.first
        if (
            not named
            and _POINTS_BACK.search(each.text)
            and len(about) <= 4
            and (whole or not answers)
        ):
            last = next(
                (
                    at
                    for at in range(len(self.book.commitments) - 1, -1, -1)
                    if self.book.commitments[at].wanted
                ),
                None,
            )
            named = [] if last is None else [last]
            if whole and named:
                named = self._linked(named, each)
        self.book.end(named, each)
        cue = find_cue(each.text)
        return bool(named) or not (cue and cue.cue.strength >= 0.6 and not cue.cue.negative)

    def _linked(self, places: list[int], each: Utterance) -> list[int]:
        """With what the same message said of the same things before it: "this feature"."""
        about = set(self.book.about[places[0]])
        for at in range(places[0] - 1, -1, -1):
            own = self.book.about[at]
            if self.book.commitments[at].sentence.message != each.message:
                break
            if len(own) > 1 and len(about & own) < 2:
                break
            places, about = [*places, at], about | own
        return places


def elaborates(reply: Reply, asked: str) -> bool:
    """ "Yes, email them when …" says in full what was proposed in short."""
    head = tokens(reply.rest)[:1]
    if reply.joint or not head:
        return False
    first = content_words(_ENDS_PHRASE.split(reply.rest)[0])
    if first and first <= content_words(asked) and not is_base_verb(head[0]):
        return False  # "Yes, the owner, of course" only repeats
    if is_base_verb(head[0]):
        return len(tokens(reply.rest)) > 2
    named = head[0].lower() in words("determiners") - {"that", "this", "these", "those"}
    return named and find_cue(reply.rest) is None and len(tokens(reply.rest)) >= IN_FULL


def without_taking_back(text: str) -> str:
    """What a text is about, without the words that take back ("park it", but not "parking")."""
    return " ".join(word for word in tokens(text) if word.lower() not in words("taking_back"))


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
                    self.outcomes.accept(pending, each, picked)
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
                self.outcomes.accept(pending, each)

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
            elif shares[best] >= MEANT or stances.amended(recaps[best].text, said):
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
