"""Published questions and arc cases as labels, each with what became of its evidence."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeling.conversations.published.arcs import ArcCase, ArcPhase
from labeling.conversations.published.chat import Chat, Question
from labeling.conversations.published.faults import KINDS, ChatFault
from labeling.conversations.published.gaps import ends_of, kind_of
from labeling.conversations.rules.evidence import Evidence, MessageId, Oddity, resolve
from labeling.gold.rules.content import LabelOrigin
from labeling.schema.labels import StoredLabel

UNSCORABLE = "none of its evidence names a message of the conversation"
NO_EVIDENCE = "it was published without evidence"


class ChatLabels(NamedTuple):
    """Labels, by uid where each comes from, and what was odd on the way."""

    labels: list[StoredLabel]
    origins: dict[str, LabelOrigin]
    faults: list[ChatFault]


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
        self._ends = ends_of(chat.lines)

    def find(self, elements: Sequence[str]) -> Evidence:
        evidence = resolve(elements, self._chat.positions)
        lost = tuple(self._explained(oddity) for oddity in evidence.lost)
        return evidence._replace(lost=lost)

    def _explained(self, oddity: Oddity) -> Oddity:
        if oddity.kind != "absent":
            return oddity
        part, number = oddity.text.removeprefix("D").split(":")
        absent = MessageId(int(part), int(number))
        return Oddity(kind_of(absent, self._chat.gaps, self._ends), oddity.text)


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
