"""What may be a requirement: the client's sentence, the analyst's with the client's yes, a question
with its short answer. What was refused, taken back or only complained of is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.requirements.extraction import acts, asked, neutral, plain_words
from pipelines.requirements.extraction.clauses import find_cue
from pipelines.requirements.extraction.sayings import OWN_WISH
from pipelines.requirements.extraction.state import (
    Candidate,
    Commitment,
    Evidence,
    Source,
    Statement,
    Utterance,
)
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import any_base, content_words, tokens, upper_first
from pipelines.requirements.validation import reading

_TURNED = re.compile(
    r"\b(?:no,? wait|wait,? no|actually,? no|forget|scrap|no longer|hopeless|let's not|against|"
    r"not (?:needed|necessary|now)|dropped?|leave (?:it|them|that|this)|whatever|never mind|"
    r"skip (?:it|that)|(?:do not|don't) (?:want|need|care|like|allow)|"
    r"doesn't (?:want|need|care|like|allow)|abolish\w*|hate|would quit)\b",
    re.I,
)
_NEGATIVE = re.compile(r"\b(?:no|not|never|nobody|but|cannot|against)\b|n't\b", re.I)
_CANNOT = re.compile(
    r"\b(?:can't|cannot|can not|cant|couldn't|(?:is|are|am|was|were)(?:n't| not) able to|unable)\b"
    r"(?! (?:be|have)\b)",
    re.I,
)
_TODAY = re.compile(
    r"\b(?:at (?:the moment|present)|presently|currently|nowadays|sometimes|today|these days|"
    r"right now|so far|until now|usually|(?:had|used) to|by hand)\b",
    re.I,
)
_SAYS_HOW = re.compile(
    r"\b(?:must|should|shall|has to|have to|needs?|wants?|would like|i'd|we'd|(?<!the )only|"
    r"at most|at least|prefer|may|allowed|be able to|please|enough|at the end|"
    r"would (?:be (?:nice|good|great|useful|helpful|perfect|handy)|help))\b",
    re.I,
)
_ORDERS = re.compile(
    r"(?:make|let|keep|add|put|show|send|use|allow|mark|set)\b(?! me\b)",
    re.I,
)
_LIMITS = re.compile(
    r"\W*(?:only|just|up to|at most|at least|within|until|by|for|at|after|before|once|twice|every|"
    r"per|\d|(?:one|two|three|four|five|six|ten) )",
    re.I,
)
_CODE = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE)\b.*\b(?:FROM|INTO|SET|WHERE)\b|[{}]|==|=['\"]|\w\(\)|"
    r"<\w+[^<>]*>.*</\w+>|\w \[(?:inaudible|unintelligible|unclear)\b"
)
_TALK = re.compile(
    r"\b(?:(?:i'll|i will|i can|we'll|let me) (?:send|show|e-?mail|forward|give|tell) (?:you|it)|"
    r"(?:send|e-?mail|draw|write|type|share) (?:you|me|us|this|it|up|my|the|a)(?: \w+)? ?"
    r"(?:up|notes|minutes|summary|slides|sketch(?:es)?|mock-?ups?|screen|invite|link|recording)|"
    r"(?:hear|see) (?:me|us|my screen)|hear you|let me (?:clarify|explain|repeat|rephrase)|"
    r"(?:are|am|is|were) (?:you|i|it) (?:audible|muted|recording)|"
    r"record (?:this|the|our) (?:call|talk|meeting|conversation|interview|session)|"
    r"(?:shed light|before (?:this|that|your) question|"
    r"call it a day|wrap (?:it|this)? ?up|stop here|take a break)|"
    r"(?:next|last|another|more|other) questions?|(?:this|our|next|today's) (?:meeting|"
    r"interview|talk|call|session)|(?:meet|talk|speak) again|"
    r"have a (?:\w+ )?(?:day|evening|weekend|week|trip|holiday)|"
    r"how (?:are you|was (?:the|your)))\b",
    re.I,
)
_HOW_IT_IS = re.compile(r"(?:and |so |but )?(?:you|we|i) (?!(?:must|should|need|want|can)\b)", re.I)
_BEGINS_INSIDE = re.compile(
    r"(?:because|regarding|except that|the case|or|not|primarily|whether|how)\b",
    re.I,
)
_RULES = re.compile(r"\b(?:must|should|shall|has to|have to|want|needs?)\b", re.I)
_OF_OTHERS = re.compile(r"(?:it|that|this|they|he|she|you)\b", re.I)
_YES_AT_END = re.compile(r", (?:then )?(?:yes|yeah|yep|sure|okay|ok)(?: please)?\W*$", re.I)
_KIDS = re.compile(r"\b(?:just|only|i'm|am) (?:kidding|joking)\b|\bj/?k\b", re.I)
_OF_SELF = re.compile(
    r"(?:(?:and|then|so|yeah|yes|but|well|also|(?:in|at) [^,]{3,30}),? )*"
    r"(?:i|we) (?:also |still |always |then |just )*"
    r"(?:(?P<must>need to|have to|have got to|got to)|(?P<could>could))\b",
    re.I,
)
_BURDEN = re.compile(
    r"\b(?:tedious|cumbersome|manually|by hand|on paper|every (?:single )?time|over and over|"
    r"takes? (?:\w+ ){0,3}(?:time|hours?|days?|forever)|still (?:have|need) to|"
    r"at the moment|right now|currently|nowadays|today)\b",
    re.I,
)
_RISKS = re.compile(r"\b(?:maybe|may|might)(?: or (?:maybe|may|might))? not\b|\brisks?\b", re.I)
_NO_GOOD = re.compile(r"\b(?:that|this|it) (?:wouldn't|would not|won't) be (?:\w+ )?good\b", re.I)
_HAS_TO_DO = re.compile(
    r"\b(?:sometimes|for example|often|usually|typically|so)\b.*\byou (?:will )?(?:have|need) to\b",
    re.I,
)
"""Of anybody: "Sometimes it is not in the flat; you have to share it"."""
_DANGLES = re.compile(
    r"(?:\w+ly )?\w+ such (?!as\b|an?\b)\w|(?!let )(?:\w+ |(?:\w+ ){1,3}(?:wants?|needs?) )"
    r"(?:it|this|that|them)(?: as such)?\W*$|(?:an?|the) (?:thing|point|topic|issue)\b",
    re.I,
)
_OF_IT = re.compile(r"^it(?= (?!is\b|was\b|has\b)[a-z]{3,}s\b)", re.I)
_PAST = re.compile(r"\b(?:was|were|had|did|used to|provided|went|made|got)\b", re.I)
_TO_COME = re.compile(
    r"\b(?:new|should|would|could|want|expect|instead|in (?:the )?future)\b", re.I
)
_ARRANGES = re.compile(r"(?:i|we)(?: (?:should|will|can|could)|'ll) ", re.I)
_SELF = re.compile(r"(?:and |so |well,? )*(?:i|we)\b", re.I)
LEAST_WANT = 4  # words
_POINTS_ON = re.compile(r"\b(?:it|them|they|that|those|this|these|one|ones|so)\b", re.I)
BRIEF = 3  # words in the place of what was offered: "No, once a week"
SHORT = 6  # words of an answer that only chooses
_RECONSIDERS = re.compile(r"\b(?:hm+|wait|actually|instead|on second thoughts?)\b", re.I)
AGREES = frozenset({"yes", "partial"})
FIRST = 2  # messages of the client's, which may tell how it is done today
_OF_THE_PAST = re.compile(
    r"\b(?:have|had|did|were|was) (?:you|they|it|there)\b|\b(?:ever|experiences?|happened)\b", re.I
)
_OF_NOW = re.compile(
    r"\b(?:today|at the moment|currently|a typical|walk (?:me|us) through|brings you|"
    r"problems?|what happens(?! (?:if|when))|how (?:are|is) (?:you|things)|so far)\b",
    re.I,
)
_WH = re.compile(r"\b(?:(?:what|how)(?! about\b| if\b)|which|who|when|where|whose|whom)\b", re.I)

_UNABLE = (
    r"(?:can't|cannot|can not|couldn't|could not|won't let|wouldn't let|"
    r"(?:do|does|did)(?: not|n't) (?:let|allow)|"
    r"(?:am|is|are|was|were|'m|'re)(?: not|n't) able to|(?:am|is|are|'m|'re) unable to)"
)
_OF_ME = re.compile(
    rf"^(?:(?:and|but|so|then|because) )*(?:(?:i|we)\b[^,;]{{0,20}}?)?{_UNABLE}", re.I
)
_OF_THE_SYSTEM = re.compile(
    r"\b(?:it|(?:the|this|our|that) (?:\w+ )?(?:app|application|system|software|program|platform|"
    r"(?:web)?site|page|tool))"
    rf" (?:{_UNABLE}(?! (?:be|take|have)\b)|(?:do|does|did|will)(?: not|n't)|won't|never)\b",
    re.I,
)
_STILL = re.compile(r"\b(?:today|now|still|even|yet|anymore|any more|so far|currently)\b", re.I)
_DENIED = re.compile(r"n't\b|\b(?:cannot|not|never|nobody|no one|none|unable)\b", re.I)
_COULD_NOT = re.compile(r"\b(?:couldn't|could not|didn't|did not|wasn't|weren't)\b", re.I)
_RULE = re.compile(
    r"\b(?:must|should|shall|may|ought|allowed|permitted)\b|mustn't|shouldn't|"
    r"(?:\bnot|n't) want|\b(?:(?:wants?|needs?|would like|'d like)\b[^,;]{0,200}?"
    r"(?:\b(?:cannot|not|never|nobody|no one)\b|n't\b))",
    re.I,
)
_IRONY = re.compile(
    r"\b(?:i|we) (?:just |really |absolutely |simply )*love (?:how|that|it when) |"
    r"\bbut\b[^.]*? was\b",
    re.I,
)
_YOU = re.compile(r"\byou (?:\w+ )?(?:can't|cannot|can not|couldn't)\b", re.I)
AFTER_TROUBLE = re.compile(
    r"\b(?:problems?|issues?|troubles?|difficult\w*|challenges?|bother\w*|annoy\w*|frustrat\w*|"
    r"pains?|struggle\w*|complain\w*|dislike|hate|wrong|missing|worst|bad|weakness\w*|obstacles?)\b",
    re.I,
)


def candidates(
    commitments: Sequence[Commitment], sentences: Sequence[Utterance]
) -> list[Candidate]:
    ended = {each.sentence.place for each in commitments if each.state in {"refused", "withdrawn"}}
    answers: dict[int, list[Utterance]] = {}
    offered: dict[int, list[Utterance]] = {}
    last: list[Utterance] = []
    heard, opening = set[int](), set[int]()
    before: dict[tuple[int, int], str] = {}
    previous = ""
    for each in sentences:
        before[each.place], previous = previous, each.text
        if each.asked:
            heard.add(each.message)
            last = [*last, each] if last and last[0].message == each.message else [each]
        else:
            opening |= {each.message} if len(heard) == 1 and each.message <= FIRST else set()
            answers.setdefault(each.message, []).append(each)
            offered[each.message] = last
    found = _candidates(commitments, ended, answers, offered)
    named = (each._replace(said=_named(each, before)) for each in found)
    wants = (each for each in named if not _of_opening(each, opening))
    parts = (each._replace(said=said) for each in wants for said in _each_want(each.said))
    return [each for each in parts if not _DANGLES.match(each.said.text)]


def _each_want(said: Statement) -> list[Statement]:
    """ "See the list, and type in the pitch": two wants, where both can stand alone."""
    first, joint, other = said.text.partition(", and ")
    verb = any_base(first.split()[0].lower()) if first else None
    whole = said.quoted or _POINTS_ON.search(other) or len(tokens(other)) < LEAST_WANT
    if not joint or whole or verb is None or any_base(other.split()[0]) != other.split()[0]:
        return [said]
    return [replace(said, text=upper_first(part)) for part in (first, other)]


def _named(candidate: Candidate, before: dict[tuple[int, int], str]) -> Statement:
    """A pronoun that can only stand for one thing, which was named just before, gives way to it."""
    one, said = candidate.commitment, candidate.said
    if said.asked:
        return said
    question = one.question.text if one.question and one.sentence.first else ""
    earlier = said.condition or question or before.get(one.sentence.place, "")
    text = neutral.named(said.text, earlier)
    return replace(said, text=text)


def stands_alone(candidate: Candidate) -> bool:
    """Its words can be used without what was said before them, and without who said them."""
    said = candidate.said
    if said.quoted and _BEGINS_INSIDE.match(said.said):
        return False
    return said.asked or not reading.flaw((said.said if said.quoted else said.text).rstrip("."))


def says_how(candidate: Candidate) -> bool:
    """Its words say that it is to be so."""
    return bool(_SAYS_HOW.search(candidate.said.said))


def _of_opening(candidate: Candidate, opening: set[int]) -> bool:
    """ "Restaurants, mostly", "soon six if …": who they are, said before the second question."""
    one, said = candidate.commitment, candidate.said
    if max(one.messages) not in opening:
        return False
    if one.sentence.asked:
        return acts.pattern("recalls").match(one.sentence.text) is not None
    part = said.quoted and asked.is_part(said.said.split(" if ")[0]) and not says_how(candidate)
    return candidate.evidence == "told" and (said.asked or part)


def _candidates(
    commitments: Sequence[Commitment],
    ended: set[tuple[int, int]],
    answers: dict[int, list[Utterance]],
    offered: dict[int, list[Utterance]],
) -> Iterator[Candidate]:
    apart = _in_parts(commitments)
    answered = {one.sentence.message: one.question for one in reversed(commitments) if one.question}
    refusing = {
        one.ended_by.message
        for one in commitments
        if one.ended_by and (one.state == "refused" or _says_no(one.ended_by.words))
    }
    told: set[tuple[int, int]] = set()
    replies = {each.message: to for to, put in reversed(offered.items()) for each in put}
    for one in commitments:
        own = one.sentence
        if own.message in refusing and not own.asked and _tells_why(own.text):
            continue
        if own.place in ended or _is_talk(own.text if own.asked else one.text):
            continue
        if not (one.wanted or one.in_other_words):
            if maybe := _maybe_agreed(one, answers.get(replies.get(own.message, -1), [])):
                yield maybe
            continue
        answer: Utterance = own
        evidence: Evidence = "worded"
        if own.asked:
            answer = next(iter(answers.get(max(one.messages), [])), own)
            said = _accepted(one, answers.get(max(one.messages), []))
        elif own.place in told - apart and one.state != "corrected":
            continue
        else:
            told.add(own.place)
            first, before = answered.get(own.message), _joined(offered[own.message])
            if own.message in sorted(answers)[:FIRST] and _describes(own.text, before):
                continue
            said = _stated(one, answers[own.message], first, before, own.place not in apart)
            ordered = one.reading.strength >= OWN_WISH or _ORDERS.match(plain_words.clean(own.text))
            weighed = said is not None and said.text.startswith("Consider")
            evidence = "worded" if ordered or weighed else "told"
        if said is not None:
            question = own if own.asked else next(reversed(offered[own.message]), None)
            yield Candidate(one, said, question.text if question else "", answer.text, evidence)


def _maybe_agreed(one: Commitment, answer: Sequence[Utterance]) -> Candidate | None:
    """A yes-or-no question whose answer says neither by its words: "That would save my life."."""
    own = one.sentence
    stances = {acts.reply_of(each.text).stance for each in answer}
    if one.state not in {"replaced", "open"} or not own.question or stances != {"none"}:
        return None
    cue = find_cue(answer[0].text)
    by_itself = cue is not None and cue.cue.strength >= OWN_WISH
    if by_itself or acts.choice_of(one.text) or _TURNED.search(_joined(answer)):
        return None
    said = plain_words.of_offer(f"{one.text}?", answer[0].text)
    if said is None or said.asked:
        return None
    sources = (*one.sources, Source(answer[0].message, "accepted"))
    agreed = replace(one, sources=sources, state="standing", ended_by=None)
    return Candidate(agreed, said, own.text, answer[0].text, "untold")


def _joined(said: Sequence[Utterance]) -> str:
    return " ".join(each.text for each in said)


def _describes(text: str, offered: str) -> bool:
    """ "They get a list on paper": how it is done today, where a talk begins."""
    both = f"{offered} {text}"
    return bool(signal("by_hand").search(text)) and not (
        _RULES.search(both) or _TO_COME.search(both)
    )


def _tells_why(text: str) -> bool:
    """ "They'd only sort them. No.": of an answer that refuses, what says nothing is to be."""
    no = _says_no(text)
    own = plain_words.clean(acts.reply_of(text).rest if no else text)
    said = _RULES if _OF_OTHERS.match(text) else _SAYS_HOW
    return not (said.search(own) or _LIMITS.match(own) or (no and len(tokens(own)) <= BRIEF))


def _says_no(text: str) -> bool:
    return acts.reply_of(text).stance == "no"


def _in_parts(commitments: Sequence[Commitment]) -> set[tuple[int, int]]:
    """The sentences of which a part is a plain wish by itself."""
    parts: dict[tuple[int, int], list[Commitment]] = {}
    for one in commitments:
        if not one.sentence.asked:
            parts.setdefault(one.sentence.place, []).append(one)
    return {
        place
        for place, ones in parts.items()
        if len(ones) > 1 and any(plain_words.stands_alone(one.text) for one in ones)
    }


def _accepted(one: Commitment, answer: Sequence[Utterance]) -> Statement | None:
    """What the analyst put forward; a yes may go on with a limit."""
    whole = _joined(answer)
    reply = acts.reply_of(answer[0].text) if answer else acts.Reply("none", "")
    if answer and (last := _YES_AT_END.search(answer[0].text)):
        reply = acts.Reply("yes", answer[0].text[: last.start()])
    if one.state == "corrected":
        return plain_words.of_statement(one.text)
    risk = not one.sentence.question and _RISKS.search(one.sentence.text)
    if risk or (_CANNOT.search(one.text) and complains(one.text, accepted=True)):
        return None
    if _TURNED.search(whole) or _HOW_IT_IS.match(one.text) or not answer:
        return None
    if any(_turns_back(each, answer) for each in answer[:2]):
        return None
    said_yes = reply.stance in AGREES
    if not said_yes and (one.in_other_words or _NEGATIVE.search(whole)):
        return None
    if one.sentence.question and acts.choice_of(one.text) and len(tokens(whole)) <= SHORT:
        told = f"{plain_words.question_of(one.text)} – {plain_words.clean(whole).rstrip('.!')}"
        return Statement(told, told, quoted=True, asked=True)
    offer = f"{one.text}?" if one.sentence.question else one.text
    offer = _OF_IT.sub("the system", offer)
    return plain_words.of_offer(offer, reply.rest if reply.stance != "none" else "")


def _stated(
    one: Commitment, answer: Sequence[Utterance], first: Utterance | None, offered: str, whole: bool
) -> Statement | None:
    """``first``: what its message answers, if it does not itself; ``offered``: what was said to
    the client before it."""
    own = one.sentence
    question = one.question.text if one.question else ""
    said = own.text if whole and one.state != "corrected" else one.text
    if own.question or "small_talk" in own.acts or complains(said, question=question):
        return None
    if _turns_back(own, answer) or (_ARRANGES.match(said) and _is_talk(offered)):
        return None
    is_order = _ORDERS.match(plain_words.clean(said)) is not None
    if _CANNOT.search(said) and not (is_order or _RULES.search(said)):
        return None
    before = next((each.text for each in reversed(answer) if each.start < own.start), "")
    if _HAS_TO_DO.search(f"{before} {own.text}") or _NO_GOOD.search(said):
        return None
    if _is_own_work(own, said, answer):
        return None
    of_now = question and _OF_NOW.search(question)
    how = re.sub(r"\bonly\b", "", said) if of_now else said
    if not (is_order or _SAYS_HOW.search(how)) and (
        (not offered and _SELF.match(said))  # who they are and what they do
        or _TODAY.search(said)
        or one.features.get("says:existing")
        or signal("existing").search(said)
        or _only_comments(one, answer, first)
        or _reconsidered(own, answer)
    ):
        return None
    answered = plain_words.of_answer(said, question)
    if answered is None:
        return None
    if answered.asked:
        return answered if _settles(question, said, answer) else _by_itself(said)
    told = answered.quoted or not (_SAYS_HOW.search(said) or answered.text.startswith("Consider"))
    return None if told and neutral.narrates(answered.said) else answered


def _by_itself(said: str) -> Statement | None:
    """An answer that says how it is to be in a sentence that needs no question."""
    own = plain_words.clean(said)
    if asked.is_part(own) or _WH.match(own) or not (_SAYS_HOW.search(own) or _ORDERS.match(own)):
        return None
    put = plain_words.of_statement(said)
    return put if put and not reading.flaw(put.text.rstrip(".")) else None


def _settles(question: str, said: str, answer: Sequence[Utterance]) -> bool:
    """A short answer that decides what was asked, where both together make no sentence."""
    own = plain_words.clean(said)
    if _is_talk(question) or _OF_THE_PAST.search(question) or not asked.is_part(own):
        return False
    if any(acts.turned(each.text) for each in answer):
        return False
    named = content_words(own) & content_words(question)
    return bool(_WH.search(question)) or (
        bool(named or _LIMITS.match(own)) and not _NEGATIVE.search(_joined(answer[1:]))
    )


def complains(text: str, *, question: str = "", accepted: bool = False) -> bool:
    """Whether a sentence tells what somebody cannot do today, or what a system fails to do."""
    if _IRONY.search(text):
        return True
    if _RULE.search(text) or not _DENIED.search(text):
        return False
    if accepted:
        return _YOU.search(text) is not None
    of_today = _STILL.search(text) or signal("existing").search(text) or _COULD_NOT.search(text)
    after = AFTER_TROUBLE.search(question)
    return bool(of_today or after or _OF_ME.match(text) or _OF_THE_SYSTEM.search(text))


def _turns_back(own: Utterance, answer: Sequence[Utterance]) -> bool:
    """By its own end or by the next sentence: put off, refused, somebody else's job, a joke."""
    following = next((each.text for each in answer if each.start > own.start), "")
    joke = _KIDS.search(own.text) or _KIDS.match(following)
    return bool(joke) or acts.turned(own.text, following)


def _is_own_work(own: Utterance, said: str, answer: Sequence[Utterance]) -> bool:
    """ "It is tedious. I need to run a script": what somebody has to do today, or could once."""
    found = _OF_SELF.match(said)
    if found is None:
        return False
    whole = _joined(answer)
    if found["could"]:
        return bool(_PAST.search(whole)) and not re.search(
            r"\bif\b|\bcould (?:we|you)\b", said, re.I
        )
    before = " ".join(each.text for each in answer if each.start <= own.start)
    return bool(_BURDEN.search(whole)) and not (
        _TO_COME.search(said) or _TO_COME.search(before.rpartition(". ")[2])
    )


def _reconsidered(own: Utterance, answer: Sequence[Utterance]) -> bool:
    """ "5 euros. Hmm. Let's say 3 instead." """
    return any(each.start > own.start and _RECONSIDERS.search(each.text) for each in answer)


def _only_comments(one: Commitment, answer: Sequence[Utterance], first: Utterance | None) -> bool:
    """It is of an answer that does not say yes to what could have been answered by yes."""
    question = one.question
    if acts.reply_of(answer[0].text).stance == "no":
        return not _LIMITS.match(plain_words.clean(one.sentence.text))
    now = question or first
    if now and (_OF_NOW.search(now.text) or AFTER_TROUBLE.search(now.text)):
        return True
    if question is None or not question.question or _WH.search(question.text):
        return False
    if acts.reply_of(answer[0].text).stance in AGREES:
        return bool(_TURNED.search(_joined(answer)))
    return not _LIMITS.match(plain_words.clean(one.sentence.text))


def _is_talk(text: str) -> bool:
    return bool(_CODE.search(text) or _TALK.search(text) or acts.about_talk(text))
