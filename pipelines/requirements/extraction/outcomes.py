"""What an answer does to what was put forward: it is accepted, refused, changed or taken back."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction import acts, corrections
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.book import COVERED, Book
from pipelines.requirements.extraction.clauses import find_cue, read
from pipelines.requirements.extraction.overlaps import share
from pipelines.requirements.extraction.pending import (
    Pending,
    chosen,
    proposed,
)
from pipelines.requirements.extraction.state import (
    Decision,
    Ending,
    OpenQuestion,
    Outcome,
    Source,
    Standing,
    Utterance,
)
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import content_words, is_base_verb, tokens

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
            self.accept(pending, each, "chosen", picked)
        elif reply.stance == "no":
            self.refuse(pending, each, reply)
        elif reply.stance not in {"yes", "partial"} or (pending.choice and not tokens(reply.rest)):
            self.leave_undecided(pending, each)  # "One or the other?" "Okay."
        elif pending.choice:
            self.accept(pending, each, "accepted", pending.choice.first)
        elif elaborates(reply, pending.text):
            self.replace(pending, each, taken_up=True)
        else:
            self.accept(pending, each, "accepted")

    def leave_undecided(self, pending: Pending, each: Utterance) -> None:
        pending.answered = True
        self.book.open.append(OpenQuestion(pending.utterance, "undecided", each))
        ending = Ending("unanswered", each.message, each.text)
        pending.place = self.book.add(replace(proposed(pending), state="open", ended_by=ending))

    def accept(
        self, pending: Pending, each: Utterance, outcome: Outcome, picked: str | None = None
    ) -> None:
        """``picked``: of two things to choose between, what holds."""
        pending.answered, pending.text = True, picked or pending.text
        own = pending.utterance
        self.book.decisions.append(Decision(pending.text, outcome, each, own))
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
        amended = corrections.amended(pending.text, reply.rest) if reply.rest else None
        if amended and not pending.drops:
            self.book.decisions.append(Decision(amended, "changed", each, pending.utterance))
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
            self.book.decisions.append(Decision(pending.text, "refused", each, pending.utterance))
            return
        self.book.decisions.append(Decision(pending.text, "refused", each, pending.utterance))
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
        text = corrections.amended(before.text, said)
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
        self.book.decisions.append(Decision(text, "changed", each, before.question))
        return True

    def correct(self, each: Utterance, reply: Reply) -> bool:
        """Exchange words in what was said before; False where nothing fits."""
        said = reply.rest or each.text
        cue = find_cue(said)
        own = cue is not None and cue.cue.strength >= 0.6 and len(content_words(said)) > 3
        about = frozenset(content_words(said))
        latest = range(len(self.book.commitments) - 1, max(-1, len(self.book.commitments) - 9), -1)
        places = sorted(
            self.book.near(about), key=lambda at: (-share(about, self.book.about[at]), -at)
        )
        for at in dict.fromkeys([*places, *(() if own else latest)]):
            before = self.book.commitments[at]
            if not before.wanted or before.sentence is each:
                continue
            if own and share(about, self.book.about[at]) < COVERED:
                continue
            if self.amend(at, each, said):
                return True
        return False

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
