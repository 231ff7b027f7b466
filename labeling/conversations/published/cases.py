"""Published questions and narrative arcs as labels, each with what became of its evidence."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from labeling.conversations.formats.answers import as_dict, as_list
from labeling.conversations.published.chats import (
    Chat,
    ChatRefused,
    Question,
    text_of,
    texts_of,
)
from labeling.conversations.published.faults import KINDS, ChatFault
from labeling.conversations.rules.evidence import Evidence, MessageId, Oddity, resolve
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import LabelOrigin
from labeling.schema.labels import StoredLabel

MIN_PHASES, MAX_PHASES = 2, 50
UNSCORABLE = "none of its evidence names a message of the conversation"
NO_EVIDENCE = "it was published without evidence"


class ArcPhase(NamedTuple):
    place: str
    title: str
    time_range: str
    evidence: tuple[str, ...]


class ArcCase(NamedTuple):
    """A question and the phases that answer it; ``place`` is where it is in its file."""

    place: str
    question: str
    phases: tuple[ArcPhase, ...]


class ChatLabels(NamedTuple):
    """Labels, by uid where each comes from, and what was odd on the way."""

    labels: list[StoredLabel]
    origins: dict[str, LabelOrigin]
    faults: list[ChatFault]


def read_arc_cases(listed: Any, *, faults: list[ChatFault], where: str = "case") -> list[ArcCase]:
    """Every case of a list; oddities are added to ``faults``."""
    rows = as_list(listed, where)
    if not rows:
        raise ChatRefused(msgid("the file holds no case"))
    return [_case(row, f"{where}[{number}]", faults) for number, row in enumerate(rows)]


def _case(value: Any, place: str, faults: list[ChatFault]) -> ArcCase:
    row = as_dict(value, place)
    phases = as_list(row.get("expected_phases"), f'{place}: "expected_phases"')
    if not 0 < len(phases) <= MAX_PHASES:
        raise ChatRefused(
            msgid("{place}: {phases} phases; 1 to {most} are allowed"),
            place=place,
            phases=len(phases),
            most=MAX_PHASES,
        )
    if len(phases) < MIN_PHASES:
        faults.append(ChatFault("few_phases", place, f"{len(phases)}"))
    question = text_of(row, "question", place)
    read = (_read_phase(each, f"{place}.expected_phases[{n}]") for n, each in enumerate(phases))
    return ArcCase(place, question, tuple(read))


def _read_phase(value: Any, place: str) -> ArcPhase:
    row = as_dict(value, place)
    return ArcPhase(
        place=place,
        title=text_of(row, "title", place),
        time_range=text_of(row, "time_range", place, required=False),
        evidence=texts_of(row.get("evidence_dia_ids"), f'{place}: "evidence_dia_ids"'),
    )


def question_labels(chat: Chat, questions: Sequence[Question]) -> ChatLabels:
    """A label for each question, in order. One that cannot be scored is kept and says why."""
    labeled = ChatLabels([], {}, [])
    finder = _Finder(chat)
    for question, uid in zip(questions, _uids("qa", chat.id, questions), strict=True):
        evidence = finder.find(question.evidence)
        labeled.labels.append(
            {
                "uid": uid,
                "question": question.question,
                "answer": question.answer,
                "evidence": list(evidence.positions),
                "category": question.category,
            }
        )
        labeled.origins[uid] = _origin(question.place, question.evidence, evidence)
        if question.adversarial_answer:
            labeled.origins[uid]["adversarial_answer"] = question.adversarial_answer
        labeled.faults.extend(_faults(question.place, question.evidence, evidence, "unscorable"))
    return labeled


def arc_labels(chat: Chat, cases: Sequence[ArcCase]) -> ChatLabels:
    """A label for each case; a phase whose evidence names no message is kept without any."""
    labeled = ChatLabels([], {}, [])
    finder = _Finder(chat)
    for case, uid in zip(cases, _uids("arc", chat.id, cases), strict=True):
        phases = [
            (f"{uid}-{number}", phase, finder.find(phase.evidence))
            for number, phase in enumerate(case.phases, start=1)
        ]
        labeled.labels.append(
            {
                "uid": uid,
                "question": case.question,
                "phases": [_phase(name, phase, evidence) for name, phase, evidence in phases],
            }
        )
        origin = _arc_origin(case, phases)
        labeled.origins[uid] = origin
        if origin["unscorable"]:
            labeled.faults.append(ChatFault("unscorable", case.place, origin["unscorable"]))
        for _, phase, evidence in phases:
            faults = _faults(phase.place, phase.evidence, evidence, "phase_unscorable")
            labeled.faults.extend(faults)
    return labeled


class _Finder:
    """Resolves evidence in one chat, and says why something is not there."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._ends: dict[int, int] = {}
        for part, number in sorted(chat.positions):
            self._ends[part] = number

    def find(self, elements: Sequence[str]) -> Evidence:
        evidence = resolve(elements, self._chat.positions)
        lost = tuple(self._explained(oddity) for oddity in evidence.lost)
        return evidence._replace(lost=lost)

    def _explained(self, oddity: Oddity) -> Oddity:
        if oddity.kind != "absent":
            return oddity
        absent = MessageId(*map(int, oddity.text.removeprefix("D").split(":")))
        is_past = absent.number > self._ends.get(absent.part, absent.number)
        kind = self._chat.gaps.get(absent, "past_end" if is_past else "absent")
        return oddity._replace(kind=kind)


def _uids(layer: str, chat_id: str, rows: Iterable[Question | ArcCase]) -> list[str]:
    """The same for the same question about the same chat, regardless of the rest of its file."""
    seen: Counter[str] = Counter()
    uids = []
    for row in rows:
        seen[row.question] += 1
        named = f"{layer}\n{chat_id}\n{row.question}\n{seen[row.question]}"
        uids.append(hashlib.sha256(named.encode()).hexdigest()[:32])
    return uids


def _origin(place: str, cited: Sequence[str], evidence: Evidence) -> LabelOrigin:
    return {
        "how": "imported",
        "by": [],
        "place": place,
        "cited": list(cited),
        "unresolved": [
            {"text": oddity.text, "kind": oddity.kind, "reason": KINDS[oddity.kind].title}
            for oddity in evidence.lost
        ],
        "unscorable": _why_unscorable(cited, evidence),
    }


def _why_unscorable(cited: Sequence[str], evidence: Evidence) -> str | None:
    if evidence.positions:
        return None
    return UNSCORABLE if cited else NO_EVIDENCE


def _faults(
    place: str, cited: Sequence[str], evidence: Evidence, unscorable: str
) -> list[ChatFault]:
    faults = [
        ChatFault(oddity.kind, place, oddity.text) for oddity in (*evidence.lost, *evidence.odd)
    ]
    if not cited:
        faults.append(ChatFault("no_evidence", place, ""))
    elif not evidence.positions:
        faults.append(ChatFault(unscorable, place, ", ".join(cited)))
    return faults


def _phase(uid: str, phase: ArcPhase, evidence: Evidence) -> StoredLabel:
    return {
        "uid": uid,
        "title": phase.title,
        "time_range": phase.time_range or None,
        "evidence": list(evidence.positions),
    }


def _arc_origin(case: ArcCase, phases: Sequence[tuple[str, ArcPhase, Evidence]]) -> LabelOrigin:
    of_phases = {
        uid: _origin(phase.place, phase.evidence, evidence) for uid, phase, evidence in phases
    }
    is_scorable = any(evidence.positions for _, _, evidence in phases)
    return {
        "how": "imported",
        "by": [],
        "place": case.place,
        "cited": [text for _, phase, _ in phases for text in phase.evidence],
        "unresolved": [
            unresolved for origin in of_phases.values() for unresolved in origin["unresolved"]
        ],
        "unscorable": None if is_scorable else UNSCORABLE,
        "phases": of_phases,
    }


# --- figures --------------------------------------------------------------------------------------

OUTCOMES = ("fully", "partly", "none", "no_evidence")


def count_of(chat: Chat) -> dict[str, Any]:
    """Messages, sessions, questions by category, and questions by whether evidence is found."""
    return {
        "conversation": chat.id,
        "messages": len(chat.lines),
        "sessions": chat.sessions,
        "questions": len(chat.questions),
        "categories": dict(
            sorted(Counter(question.category for question in chat.questions).items())
        ),
        "tolerant": evidence_counts(chat, chat.questions),
    }


def evidence_counts(chat: Chat, questions: Sequence[Question]) -> dict[str, int]:
    """Questions by whether their evidence is found."""
    counts: Counter[str] = Counter()
    for question in questions:
        evidence = resolve(question.evidence, chat.positions)
        lost = [oddity for oddity in evidence.lost if oddity.kind != "empty"]  # it cites nothing
        counts[_outcome(question, len(evidence.positions), len(lost))] += 1
    return {name: counts[name] for name in OUTCOMES}


def _outcome(question: Question, n_resolved: int, n_lost: int) -> str:
    if not question.evidence:
        return "no_evidence"
    if not n_resolved:
        return "none"
    return "partly" if n_lost else "fully"
