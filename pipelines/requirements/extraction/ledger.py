"""What of a talk counts as wanted: what was put forward, and what became of it, turn by turn."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipelines.requirements.extraction import acts, choices, choosing, corrections, discourse
from pipelines.requirements.extraction.acts import Reply
from pipelines.requirements.extraction.clauses import clauses, find_cue, finite, read
from pipelines.requirements.extraction.features import features
from pipelines.requirements.extraction.state import (
    Act,
    Commitment,
    Decision,
    Ending,
    OpenQuestion,
    Outcome,
    Reading,
    Source,
    Standing,
    Utterance,
)
from pipelines.requirements.lexicon import load, signal, words
from pipelines.requirements.text import (
    base,
    content_words,
    is_base_verb,
    lower_first,
    plain,
    strip_openers,
    tokens,
)

KEPT_PER_WORD = 12  # commitments that are looked at for a word, the latest
COVERED = 0.6  # share of a sum-up's words that one commitment has said
COVERED_BY_TWO = 0.8
AS_LONG = 0.25  # … and of all words of both: what speaks of everything says nothing again
ECHOED = 0.7
SAME = 0.65  # … and of two proposals' words together, where one repeats the other
NAMED = 0.3  # … of what is taken back
MEANT = 0.3  # … of an answer that speaks of one of several questions
IN_FULL = 4  # words of a thing that is named once more after a yes
LONGEST_CHOICE = 16  # words
SHORT_ANSWER = 6  # words
VAGUE = 3  # words after "I have to ask"
OWN_WISH = 0.6  # strength of a cue
QUOTED = 5  # words of an earlier question that is quoted
_POINTS_BACK = re.compile(r"\b(?:that|it|this|those|them|what i said)\b", re.I)
_ALL = re.compile(r"\b(?:both|all(?: of (?:them|it|those))?|everything|each)\b", re.I)
_ENDS_PHRASE = re.compile(r",|\s(?:so|because|and|but|if|when|that)\s", re.I)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_SPLITS_QUOTE = re.compile(r"[^\w]+")


@dataclass(slots=True)
class Pending:
    """Something that was put to the client."""

    utterance: Utterance
    text: str
    kind: str
    """proposal, recap or question."""
    options: list[str] = field(default_factory=list)
    drops: bool = False
    """It proposes to leave something out."""
    answered: bool = False
    place: int | None = None
    """Of the commitment that it became."""
    checks: int | None = None
    """The commitment that it asks about once more: "Five minutes, really?"."""


@dataclass(frozen=True, slots=True)
class Settled:
    commitments: list[Commitment]
    open_questions: list[OpenQuestion]
    decisions: list[Decision]
    compared: int
    """How many pairs were compared; grows with the length of the talk and no faster."""


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
        self.commitments: list[Commitment] = []
        self.decisions: list[Decision] = []
        self.compared = 0
        self._about: list[frozenset[str]] = []
        self._places: defaultdict[str, deque[int]] = defaultdict(
            lambda: deque[int](maxlen=KEPT_PER_WORD)
        )
        self._floor: list[Pending] = []
        self._asks_for_more = False
        self._client_spoke = False
        self._unclear: Utterance | None = None
        self._puzzled = False
        self._asked: dict[str, Pending] = {}
        self._choosing: Utterance | None = None
        self._noun = ""
        self._leans_on: dict[tuple[int, int], Utterance] = {}
        self._question: Utterance | None = None
        self._echoed: set[str] = set()
        self._disputed: set[str] = set()
        self._amended: set[tuple[int, int]] = set()
        self._open: list[OpenQuestion] = []
        self._begun: set[int] = set()
        self._telling: int | None = None

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
        self._hear_choosing(turn)
        self._question = next((each for each in reversed(turn) if each.question), turn[-1])
        self._asks_for_more = any(acts.pattern("asks_for_more").search(each.text) for each in turn)
        for each in turn:
            if "question" not in each.acts and acts.pattern("open").search(each.text):
                # What is still open is said again at each sum-up; the last one holds.
                self._open = [
                    one for one in self._open if one.reason != "named" or not one.question.asked
                ]
                self._open.append(OpenQuestion(each, "named"))

    def _hear_choosing(self, turn: Sequence[Utterance]) -> None:
        """How somebody chooses is asked here, or once more after an answer to that."""
        texts = [each.text for each in turn if each.question] or [each.text for each in turn]
        whole = replace(turn[-1], text=" ".join(texts))
        noun = choices.asked_after(whole.text, self._noun or "one")
        goes_on = self._choosing is not None and (
            choices.asks_criteria(whole) or choices.topic_of(whole)
        )
        goes_on = goes_on or choices.stays_with(whole, self._noun)
        self._noun = noun or self._noun
        self._choosing = whole if noun or goes_on else None

    def _put(self, each: Utterance) -> list[Pending]:
        text = acts.content_of(each.text)
        if each.text.endswith(":") or _only_announces(each):
            return []  # what follows says what is put forward
        drops = bool(acts.pattern("drops").search(text)) and not acts.options_of(text)
        if "recap" in each.acts:
            listed = _under_heading(each, text)
            items = discourse.parts_of(listed)
            self._echoed.add(_normal(each.text))
            return [Pending(each, item, "recap", drops=drops) for item in items]
        if "proposal" in each.acts:
            text = _under_heading(each, text)
            checks = self._checked(text)
            pending = Pending(each, text, "proposal", acts.options_of(text), drops, checks=checks)
        elif "question" in each.acts and not acts.asks_to_confirm(each):
            pending = Pending(each, text, "question")
        elif "statement" in each.acts and acts.withdraws(each.text):
            pending = Pending(each, text, "proposal", drops=True)
        else:
            return []
        self._asked[_normal(each.text)] = pending
        return [pending]

    def _paraphrased(self, turn: Sequence[Utterance], put: Sequence[Pending]) -> list[Pending]:
        """ "So it rotates every week." asks for a yes without asking."""
        last = turn[-1]
        heard = acts.pattern("paraphrases").match(last.text) and not acts.about_talk(last.text)
        if put or "statement" not in last.acts or not heard or not self.commitments:
            return []
        text = acts.pattern("paraphrases").sub("", last.text, count=1)
        return [Pending(last, item, "recap") for item in discourse.parts_of(text)]

    def _checked(self, text: str) -> int | None:
        about = content_words(text)
        if find_cue(text) or len(tokens(text)) > SHORT_ANSWER or not about:
            return None
        near = (at for at in self._near(about) if self.commitments[at].wanted)
        return next((at for at in near if _share(about, self._about[at]) >= COVERED), None)

    def _close_floor(self, *, rephrased: bool) -> None:
        if not rephrased:
            for pending in self._floor:
                if not pending.answered:
                    self._leave_open(pending)
        if self._client_spoke:
            self._floor = []

    def _leave_open(self, pending: Pending) -> None:
        if pending.checks is not None or pending.kind == "recap":
            return  # what is summed up is open only where somebody objects
        self._open.append(
            OpenQuestion(pending.utterance, "undecided", self._unclear)
            if self._unclear
            else OpenQuestion(pending.utterance, "unanswered")
        )
        if pending.kind != "question" and pending.place is None:
            ending = Ending("unanswered", pending.utterance.message)
            pending.place = self._add(replace(_proposed(pending), state="open", ended_by=ending))

    # Turns of the client

    def hear_client(self, turn: Sequence[Utterance]) -> None:
        self._client_spoke = True
        if self._quotes(turn):
            return
        self._disputed = {_normal(each.text) for each in turn} & self._echoed
        turn = [each for each in turn if _normal(each.text) not in self._disputed] or list(turn)
        replies = [acts.reply_of(each.text) for each in turn]
        asking = all(_asks_back(each, reply) for each, reply in zip(turn, replies, strict=True))
        if self._floor and asking and not self._repeats_choice(turn[0]):
            self._unclear = turn[0]
            self._puzzled = all(reply.stance != "delegate" for reply in replies)
            return
        taken = self._answer(turn, replies)
        chosen_by = choosing.answered(turn, self._choosing, self._noun) if self._choosing else []
        for commitment in chosen_by:
            self._add_criterion(commitment)
        if chosen_by:
            turn, replies = [], []
        for each, reply in zip(turn, replies, strict=True):
            self._say(each, reply, taken.get(each.place))

    def _repeats_choice(self, each: Utterance) -> bool:
        offers = (pending for pending in self._floor if pending.options)
        return any(_echoes(pending, each.text) for pending in offers)

    def _quotes(self, turn: Sequence[Utterance]) -> bool:
        """An earlier question or sum-up is repeated word for word, and answered once more."""
        whole = _normal(" ".join(each.text for each in turn))
        quoted = self._asked.get(_normal(turn[0].text))
        if quoted is None or len(tokens(turn[0].text)) < QUOTED or len(turn) < 2:
            return False
        rest = turn[1:]
        reverse = acts.pattern("reverses").search(rest[0].text)
        stance = acts.reply_of(rest[0].text).stance
        if reverse:
            stance = "yes" if "yes" in (reverse["to"], reverse["to_2"]) else "no"
        if stance not in {"yes", "partial", "no"} or not whole:
            return False
        if quoted.place is not None and stance != "no":
            before = self.commitments[quoted.place]
            self._set(quoted.place, replace(before, state="replaced"))
        quoted.place = None
        self._take_up(quoted, rest[0], Reply(stance, ""))
        return True

    def _answer(
        self, turn: Sequence[Utterance], replies: Sequence[Reply]
    ) -> dict[tuple[int, int], Pending]:
        """Which pending question each sentence answers; yes and no take effect at once."""
        taken: dict[tuple[int, int], Pending] = {}
        waiting = [pending for pending in self._floor if not pending.answered]
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
                self._take_up(pending, each, acts.reply_of(each.text))
                offers.remove(pending)
                heads = [(one, reply) for one, reply in heads if one is not each]
        if heads:
            each, reply = heads[0]
            if recaps:
                taken[each.place] = recaps[0]
                self._take_up_recap(recaps, each, reply, turn, taken)
            self._pair(offers, heads if not recaps else heads[1:] or heads, taken)
        elif recaps:
            self._correct_recap(recaps, turn, taken)
        if not heads and offers:
            self._answer_in_words(offers, turn, taken)
        self._map_open(opens, turn, replies, taken)
        return taken

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
                self._take_up(pending, each, reply)
            return
        left = list(offers)
        for each, reply in heads:
            if not left:
                break
            about = content_words(reply.rest)
            shares = [_share(about, content_words(pending.text)) for pending in left]
            best = max(
                range(len(left)),
                key=lambda at: (shares[at] >= MEANT, shares[at] if shares[at] >= MEANT else 0, -at),
            )
            pending = left.pop(best)
            taken[each.place] = pending
            self._take_up(pending, each, reply)

    def _answer_in_words(
        self,
        offers: Sequence[Pending],
        turn: Sequence[Utterance],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """An answer without yes or no: a choice, the same again, or other words."""
        for pending in offers:
            for each in turn:
                if each.place in taken or (each.question and not _echoes(pending, each.text)):
                    continue
                chosen = _choice(pending, each.text)
                about, asked = content_words(each.text), content_words(pending.text)
                same = _share(about, asked) >= COVERED and not signal("negate").search(each.text)
                if chosen or (about and same):
                    taken[each.place] = pending
                    outcome: Outcome = "chosen" if chosen else "accepted"
                    self._accept(replace_text(pending, chosen or pending.text), each, outcome)
                    break
                if about & asked or (each.first and len(tokens(each.text)) <= SHORT_ANSWER):
                    taken[each.place] = pending
                    self._replace(pending, each)
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
                self._open.append(OpenQuestion(pending.utterance, "undecided", each))
                continue
            numbered = next(
                (
                    one
                    for one in left
                    if one.utterance.number == each.number and each.number is not None
                ),
                None,
            )
            about = content_words(each.text)
            named = max(left, key=lambda one: _share(about, content_words(one.text)), default=None)
            if (
                numbered is None
                and named is not None
                and _share(about, content_words(named.text)) < MEANT
            ):
                named = None
            chosen = (
                numbered
                or named
                or (left[0] if left and (current is None or len(left) >= len(turn)) else None)
            )
            if chosen is not None:
                left.remove(chosen)
                current = chosen
            if current is not None:
                current.answered = True
                taken[each.place] = current

    # What answers do

    def _take_up(self, pending: Pending, each: Utterance, reply: Reply) -> None:
        if reply.stance in {"yes", "partial"}:
            if _elaborates(reply, pending.text):
                self._replace(pending, each, taken_up=True)
            else:
                whole = pending.options and _ALL.search(each.text)
                undecided = _exclude(pending.options) if whole else not tokens(reply.rest)
                if pending.options and undecided:
                    self._leave_undecided(pending, each)  # "One or the other?" "Okay."
                    return
                choice = None if whole else _choice(pending, reply.rest)
                first = pending.options[0] if pending.options else pending.text
                text = acts.together(pending.text) if whole else choice or first
                chosen: Outcome = "chosen" if whole or choice else "accepted"
                self._accept(replace_text(pending, text), each, chosen)
        elif reply.stance == "no":
            choice = _choice(pending, reply.rest)
            if choice:
                self._accept(replace_text(pending, choice), each, "chosen")
            else:
                self._refuse(pending, each, reply)
        else:
            self._leave_undecided(pending, each)

    def _leave_undecided(self, pending: Pending, each: Utterance) -> None:
        pending.answered = True
        self._open.append(OpenQuestion(pending.utterance, "undecided", each))
        ending = Ending("unanswered", each.message, each.text)
        pending.place = self._add(replace(_proposed(pending), state="open", ended_by=ending))

    def _accept(self, pending: Pending, each: Utterance, outcome: Outcome) -> None:
        pending.answered = True
        own = pending.utterance
        self.decisions.append(Decision(pending.text, outcome, each, own))
        if pending.drops:
            self._end(self._named(content_words(_without_taking_back(pending.text))), each)
            return
        if pending.checks is not None:
            return
        known = self._known(pending)
        if known is not None:
            before = self.commitments[known]
            recap = pending.kind == "recap" or not before.sentence.asked
            added = (
                (Source(own.message, "repeated"),)
                if recap
                else (Source(own.message, "proposed"), Source(each.message, "accepted"))
            )
            self._set(
                known,
                replace(
                    before,
                    sources=tuple(dict.fromkeys([*before.sources, *added])),
                    acts=(*before.acts, "recap" if recap else "proposal", "acceptance"),
                    restated=(*before.restated, pending.text) if recap else before.restated,
                    features=before.features | {"said again": 1.0},
                ),
            )
            pending.place = known
            return
        pending.place = self._add(_proposed(pending, accepted=each))

    def _known(self, pending: Pending) -> int | None:
        """The commitment that says it already."""
        about = frozenset(content_words(pending.text))
        near = [at for at in self._near(about) if self.commitments[at].wanted]
        near = [at for at in near if _same_stand(self.commitments[at].text, pending.text)]
        near = [at for at in near if _jaccard(about, self._about[at]) >= AS_LONG]
        if not about or not near:
            return None
        if pending.kind != "recap":
            best = max(near, key=lambda at: _jaccard(about, self._about[at]))
            return best if _jaccard(about, self._about[best]) >= SAME else None
        ordered = sorted(near, key=lambda at: -len(about & self._about[at]))
        best = ordered[0]
        if len(about & self._about[best]) / len(about) >= COVERED:
            return best
        both = self._about[best] | (self._about[ordered[1]] if ordered[1:] else frozenset())
        return best if len(about & both) / len(about) >= COVERED_BY_TWO else None

    def _refuse(self, pending: Pending, each: Utterance, reply: Reply) -> None:
        pending.answered = True
        if pending.checks is not None:
            self._amend(pending.checks, each, reply.rest or each.text)
            return
        amended = corrections.amended(pending.text, reply.rest) if reply.rest else None
        if amended and not pending.drops:
            self.decisions.append(Decision(amended, "changed", each, pending.utterance))
            changed = replace_text(pending, amended)
            commitment = _proposed(changed, accepted=each)
            sources = (
                Source(pending.utterance.message, "proposed"),
                Source(each.message, "corrected"),
            )
            did: tuple[Act, ...] = ("proposal", "correction")
            pending.place = self._add(
                replace(commitment, sources=sources, acts=did, state="corrected")
            )
            self._amended.add(each.place)
            return
        own = len(tokens(reply.rest)) > 2 and not pending.drops
        ending = Ending("replaced" if own else "refused", each.message, each.text)
        state: Standing = "replaced" if own else "refused"
        if pending.drops:  # "Shall we leave it out?" "No, keep it."
            self._amended.add(each.place)
            self.decisions.append(Decision(pending.text, "refused", each, pending.utterance))
            return
        self.decisions.append(Decision(pending.text, "refused", each, pending.utterance))
        pending.place = self._add(replace(_proposed(pending), state=state, ended_by=ending))
        if acts.pattern("keeps").search(pending.text) or acts.withdraws(each.text):
            self._end(self._named(content_words(pending.text)), each)

    def _replace(self, pending: Pending, each: Utterance, *, taken_up: bool = False) -> None:
        """The client's own words take the place of the proposal."""
        if taken_up and not pending.utterance.question:
            self._leans_on[each.place] = pending.utterance
        pending.answered = True
        if pending.checks is not None:
            self._amend(pending.checks, each, each.text)
            return
        ending = Ending("replaced", each.message, each.text)
        pending.place = self._add(replace(_proposed(pending), state="replaced", ended_by=ending))

    def _take_up_recap(
        self,
        recaps: Sequence[Pending],
        each: Utterance,
        reply: Reply,
        turn: Sequence[Utterance],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        no = reply.stance == "no" and not self._asks_for_more_and(turn, reply)
        objections = self._objected(recaps, turn, reply)
        if no and not objections and len(tokens(reply.rest)) <= 2 and len(turn) == 1:
            for pending in recaps:
                self._refuse(pending, each, Reply("no", ""))
            return
        if reply.stance == "unsure":
            return
        for at, pending in enumerate(recaps):
            if at in objections:
                self._change(pending, objections[at])
                taken[objections[at].place] = pending
            else:
                self._accept(pending, each, "accepted")

    def _asks_for_more_and(self, turn: Sequence[Utterance], reply: Reply) -> bool:
        """ "Anything to correct?" "No.": the no is an agreement."""
        return self._asks_for_more and len(turn) == 1 and not tokens(reply.rest)

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
            named = [
                at for at in range(len(recaps)) if _ORDINALS[min(at, 4)] in said.lower().split()
            ]
            shares = [
                _share(content_words(said), content_words(pending.text)) for pending in recaps
            ]
            best = max(range(len(recaps)), key=lambda at: shares[at])
            quoted = [
                at
                for at, item in enumerate(recaps)
                if _normal(item.utterance.text) in self._disputed
            ]
            if quoted:
                objections |= dict.fromkeys(quoted, each)
            elif len(recaps) > 1 and len(named) == 1:
                objections[named[0]] = each
            elif shares[best] >= MEANT or corrections.amended(recaps[best].text, said):
                objections[best] = each
        return objections

    def _correct_recap(
        self,
        recaps: Sequence[Pending],
        turn: Sequence[Utterance],
        taken: dict[tuple[int, int], Pending],
    ) -> None:
        """Neither yes nor no: what is put right is changed, the rest is left as it was."""
        for at, each in self._objected(recaps, turn, Reply("none", "")).items():
            self._change(recaps[at], each)
            taken[each.place] = recaps[at]

    def _change(self, pending: Pending, each: Utterance) -> None:
        """An item of a sum-up, and what it sums up, in the words of the correction."""
        rest = acts.reply_of(each.text).rest or each.text
        self._refuse(pending, each, Reply("no", rest))
        if pending.place is not None:
            about = frozenset(content_words(pending.text))
            for at in self._near(about):
                before = self.commitments[at]
                if (
                    at != pending.place
                    and before.wanted
                    and _share(about, self._about[at]) >= COVERED
                ):
                    ending = Ending("replaced", each.message, each.text)
                    self._set(at, replace(before, state="replaced", ended_by=ending))

    # What the client says unasked, or besides the answer

    def _say(self, each: Utterance, reply: Reply, pending: Pending | None) -> None:
        if _says_nothing(reply):
            return
        if acts.withdraws(each.text) and self._withdraw(each, pending):
            return
        aside = pending is None or (pending.kind == "question" and not each.first)
        if "correction" in each.acts and aside and self._correct(each, reply):
            return
        if each.place in self._amended:
            return
        known = pending is not None and pending.place is not None
        question = pending.utterance if pending else self._question
        stated = _stated(
            each,
            reply,
            question,
            leans_on=self._leans_on.get(each.place),
            asked=self._newly_asked(pending),
            told=self._tells(each),
        )
        for commitment in stated:
            if known and self._adds_nothing(commitment, pending):
                continue
            self._add(commitment)

    def _newly_asked(self, pending: Pending | None) -> bool:
        """The first words about this question, be they in the middle of an answer."""
        new = pending is not None and id(pending) not in self._begun
        if pending is not None:
            self._begun.add(id(pending))
        return new

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

    def _add_criterion(self, commitment: Commitment) -> None:
        about = frozenset(content_words(commitment.reading.predicate))
        for at in self._near(about):
            if self.commitments[at].wanted and choosing.same(commitment, self.commitments[at]):
                self._set(at, choosing.joined(self.commitments[at], commitment))
                return
        self._add(commitment)

    def _adds_nothing(self, commitment: Commitment, pending: Pending | None) -> bool:
        """What follows a yes only repeats or narrows what it says yes to."""
        if pending is None or pending.place is None:
            return False
        before = self.commitments[pending.place]
        if not before.wanted:
            return False
        own = content_words(commitment.text)
        asked = self._about[pending.place]
        weak = commitment.reading.cue is None and commitment.reading.shape in {"fragment", "state"}
        if len(own - asked) > max(1, len(own) // 2) and not weak:
            return False
        if own - asked:
            self._set(pending.place, replace(before, details=(*before.details, commitment.text)))
        return True

    def _withdraw(self, each: Utterance, pending: Pending | None) -> bool:
        """The wishes that a sentence takes back: those it names, else the one just before."""
        about = content_words(_without_taking_back(each.text))
        named = [at for at in self._named(about) if self.commitments[at].sentence is not each]
        if not named and _POINTS_BACK.search(each.text) and len(about) <= 4 and pending is None:
            last = next(
                (
                    at
                    for at in range(len(self.commitments) - 1, -1, -1)
                    if self.commitments[at].wanted
                ),
                None,
            )
            named = [] if last is None else [last]
        self._end(named, each)
        cue = find_cue(each.text)
        return bool(named) or not (cue and cue.cue.strength >= 0.6 and not cue.cue.negative)

    def _end(self, places: Iterable[int], each: Utterance) -> None:
        for at in places:
            before = self.commitments[at]
            if before.wanted:
                ending = Ending("withdrawn", each.message, each.text)
                self._set(at, replace(before, state="withdrawn", ended_by=ending))
                self.decisions.append(Decision(before.text, "withdrawn", each))

    def _correct(self, each: Utterance, reply: Reply) -> bool:
        """Exchange words in what was said before; False where nothing fits."""
        said = reply.rest or each.text
        cue = find_cue(said)
        own = cue is not None and cue.cue.strength >= 0.6 and len(content_words(said)) > 3
        about = frozenset(content_words(said))
        latest = range(len(self.commitments) - 1, max(-1, len(self.commitments) - 9), -1)
        places = sorted(self._near(about), key=lambda at: (-_share(about, self._about[at]), -at))
        for at in dict.fromkeys([*places, *(() if own else latest)]):
            before = self.commitments[at]
            if not before.wanted or before.sentence is each:
                continue
            if own and _share(about, self._about[at]) < COVERED:
                continue
            if self._amend(at, each, said):
                return True
        return False

    def _amend(self, at: int, each: Utterance, said: str) -> bool:
        """Put what is said in the place of what was said; False where nothing fits."""
        before = self.commitments[at]
        text = corrections.amended(before.text, said)
        if text is None:
            return False
        self._set(
            at,
            replace(
                before,
                text=text,
                reading=read(acts.statement_of(text)) if before.sentence.asked else read(text),
                sources=(*before.sources, Source(each.message, "corrected")),
                acts=(*before.acts, "correction"),
                state="corrected",
            ),
        )
        self._amended.add(each.place)
        self.decisions.append(Decision(text, "changed", each, before.question))
        return True

    # The book

    def _add(self, commitment: Commitment) -> int:
        at = len(self.commitments)
        self.commitments.append(commitment)
        self._about.append(frozenset(content_words(commitment.text)))
        for word in self._about[at]:
            self._places[word].append(at)
        return at

    def _set(self, at: int, commitment: Commitment) -> None:
        self.commitments[at] = commitment
        about = frozenset(content_words(commitment.text))
        for word in about - self._about[at]:
            self._places[word].append(at)
        self._about[at] = about

    def _near(self, about: Iterable[str]) -> list[int]:
        """The latest commitments that share a word with it."""
        near = {at for word in about for at in self._places.get(word, ())}
        self.compared += len(near)
        return sorted(near, reverse=True)

    def _named(self, about: set[str]) -> list[int]:
        return [
            at
            for at in self._near(about)
            if self.commitments[at].wanted and _overlap(about, self._about[at]) >= NAMED
        ]

    def closed(self) -> Settled:
        if self._floor:
            for pending in self._floor:
                if not pending.answered:
                    self._leave_open(pending)
        return Settled(self.commitments, self._still_open(), self.decisions, self.compared)

    def _still_open(self) -> list[OpenQuestion]:
        """Without those that a later answer settles."""
        left: list[OpenQuestion] = []
        for each in self._open:
            about = frozenset(content_words(each.question.text))
            later = (
                at
                for at in self._near(about)
                if self.commitments[at].wanted
                and max(self.commitments[at].messages) > each.question.message
            )
            if each.reason == "named" or not any(
                _share(about, self._about[at]) >= SAME for at in later
            ):
                left.append(each)
        return left


def _only_announces(each: Utterance) -> bool:
    """ "Quick recap." """
    return len(tokens(each.text)) <= 3 and bool(acts.pattern("recaps").match(each.text))


def _says_nothing(reply: Reply) -> bool:
    """It asks back, or says that the speaker does not know."""
    if reply.stance != "unsure":
        return reply.stance in {"clarify", "delegate"} and not tokens(reply.rest)
    later = signal("talk").search(reply.rest) or acts.reply_of(reply.rest).stance == "unsure"
    brief = len(tokens(reply.rest)) <= VAGUE and find_cue(reply.rest) is None
    return brief or bool(later)


def _asks_back(each: Utterance, reply: Reply) -> bool:
    if reply.stance in {"clarify", "delegate"}:
        return not tokens(reply.rest)
    cue = find_cue(each.text)
    return each.question and reply.stance == "none" and not (cue and cue.cue.kind == "request")


def _elaborates(reply: Reply, asked: str) -> bool:
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


def _exclude(options: Sequence[str]) -> bool:
    """Both of them cannot be: "public or private", "with or without"."""
    if len(options) != 2:
        return False
    left, right = ({word.lower() for word in tokens(option)} for option in options)
    for group in load("acts")["opposites"]:
        if (left - right) & set(group) and (right - left) & set(group):
            return True
    return not _same_stand(*options)


def _choice(pending: Pending, text: str) -> str | None:
    """The option that an answer picks, by its words or its place."""
    if not pending.options or not text:
        return None
    said = {word.lower() for word in tokens(text)}
    if said & {"first", "former"}:
        return pending.options[0]
    if said & {"second", "latter"}:
        return pending.options[1]
    if _ALL.search(text) and len(tokens(text)) <= 4:
        return acts.together(pending.text)
    left, right = ({word.lower() for word in tokens(option)} for option in pending.options)
    scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1]:  # by the verbs alone
        said, left, right = ({base(word) or word for word in one} for one in (said, left, right))
        scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1] or len(tokens(text)) > LONGEST_CHOICE:
        return None
    return pending.options[0 if scores[0] > scores[1] else 1]


def _echoes(pending: Pending, text: str) -> bool:
    """A question that only repeats part of what was asked, for a choice."""
    about = content_words(text)
    return len(about) > 1 and _share(about, content_words(pending.text)) >= ECHOED


def replace_text(pending: Pending, text: str) -> Pending:
    """The same question, with the words that were taken up."""
    pending.text = text
    return pending


def _proposed(pending: Pending, accepted: Utterance | None = None) -> Commitment:
    own = pending.utterance
    reading = read(acts.statement_of(pending.text))
    did: Act = "recap" if pending.kind == "recap" else "proposal"
    sources = [Source(own.message, "proposed")]
    if accepted:
        sources.append(Source(accepted.message, "accepted"))
    values = features(pending.text, reading, sentence=own, question=None, proposal=True)
    return Commitment(
        sentence=own,
        text=strip_openers(pending.text).rstrip(" ?"),
        reading=reading,
        question=None,
        sources=tuple(sources),
        acts=(did, "acceptance") if accepted else (did,),
        features=values | {"asks back": 0.0, "summed up": float(did == "recap")},
    )


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
    answers = bool({"acceptance", "partial_acceptance", "refusal"} & set(each.acts))
    said = reply.rest if answers or reply.stance == "delegate" else each.text
    if not tokens(said):
        return []
    said = _under_heading(each, said)
    parts = [part for part in clauses(said) if tokens(part)]
    made = [
        _statement(part, each, question, first=at == 0, leans_on=leans_on, asked=asked, told=told)
        for at, part in enumerate(parts)
        if not signal("bare").match(plain(part)) and not acts.pattern("unwanted").search(part)
    ]
    taking_back = acts.withdraws(each.text)
    return [
        one
        for one in made
        if content_words(one.reading.predicate) and (one.reading.cue or not taking_back)
    ]


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
    did: Act = "answer" if "answer" in each.acts else "statement"
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
        acts=(did,),
        features=values,
    )


def _under_heading(each: Utterance, text: str) -> str:
    """A list item with the words before the list, where it says too little alone."""
    if not each.heading or find_cue(text) or not find_cue(each.heading):
        return text
    return f"{acts.content_of(each.heading)} {lower_first(text)}"


def _without_taking_back(text: str) -> str:
    """What a text is about, without the words that take back ("park it", but not "parking")."""
    return " ".join(word for word in tokens(text) if word.lower() not in words("taking_back"))


def _normal(text: str) -> str:
    return _SPLITS_QUOTE.sub(" ", text.lower()).strip()


def _same_stand(left: str, right: str) -> bool:
    """Neither denies the other, and both name the same figures."""
    figures = [set(re.findall(r"\d+", text)) for text in (left, right)]
    denied = [
        bool(re.search(r"\b(?:not|never|no|without)\b|n't\b", text, re.I)) for text in (left, right)
    ]
    return denied[0] == denied[1] and (not all(figures) or figures[0] == figures[1])


def _share(about: Iterable[str], asked: Iterable[str]) -> float:
    left, right = set(about), set(asked)
    return len(left & right) / len(left) if left else 0.0


def _overlap(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, min(len(one), len(other)))


def _jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, len(one | other))
