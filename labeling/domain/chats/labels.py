"""Published questions and arc cases as labels, each with what became of its evidence."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from labeling.domain.chats.arcs import ArcCase, ArcPhase
from labeling.domain.chats.chat import Chat, Question
from labeling.domain.chats.faults import KINDS, Fault
from labeling.domain.chats.gaps import ends_of, kind_of
from labeling.domain.exchange.evidence import Evidence, MessageId, Oddity, resolve

UNSCORABLE = "none of its evidence names a message of the conversation"
NO_EVIDENCE = "it was published without evidence"


class Labelled(NamedTuple):
    """Labels, by uid where each comes from, and what was odd on the way."""

    labels: list[dict[str, Any]]
    origins: dict[str, dict[str, Any]]
    faults: list[Fault]


def question_labels(chat: Chat, questions: Sequence[Question]) -> Labelled:
    """A label for each question, in order. One that cannot be scored is kept and says why."""
    found = Labelled([], {}, [])
    finder = _Finder(chat)
    for one, uid in zip(questions, _uids("qa", chat.id, questions), strict=True):
        evidence = finder.find(one.evidence)
        found.labels.append(
            {
                "uid": uid,
                "question": one.question,
                "answer": one.answer,
                "evidence": list(evidence.positions),
                "category": one.category,
            }
        )
        found.origins[uid] = _origin(one.place, one.evidence, evidence)
        if one.adversarial_answer:
            found.origins[uid]["adversarial_answer"] = one.adversarial_answer
        found.faults.extend(_faults(one.place, one.evidence, evidence, "unscorable"))
    return found


def arc_labels(chat: Chat, cases: Sequence[ArcCase]) -> Labelled:
    """A label for each case; a phase of which nothing is found is kept without evidence."""
    found = Labelled([], {}, [])
    finder = _Finder(chat)
    for case, uid in zip(cases, _uids("arc", chat.id, cases), strict=True):
        phases = [
            (f"{uid}-{number}", phase, finder.find(phase.evidence))
            for number, phase in enumerate(case.phases, start=1)
        ]
        found.labels.append(
            {
                "uid": uid,
                "question": case.question,
                "phases": [_phase(name, phase, evidence) for name, phase, evidence in phases],
            }
        )
        origin = _arc_origin(case, phases)
        found.origins[uid] = origin
        if origin["unscorable"]:
            found.faults.append(Fault("unscorable", case.place, origin["unscorable"]))
        for _, phase, evidence in phases:
            faults = _faults(phase.place, phase.evidence, evidence, "phase_unscorable")
            found.faults.extend(faults)
    return found


class _Finder:
    """Resolves evidence in one chat, and says why something is not there."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._ends = ends_of(chat.lines)

    def find(self, elements: Sequence[str]) -> Evidence:
        evidence = resolve(elements, self._chat.positions)
        lost = tuple(self._explained(one) for one in evidence.lost)
        return evidence._replace(lost=lost)

    def _explained(self, one: Oddity) -> Oddity:
        if one.kind != "absent":
            return one
        part, number = one.text.removeprefix("D").split(":")
        absent = MessageId(int(part), int(number))
        return Oddity(kind_of(absent, self._chat.gaps, self._ends), one.text)


def _uids(layer: str, chat_id: str, rows: Iterable[Question | ArcCase]) -> list[str]:
    """The same for the same question of the same chat, whatever else its file says."""
    seen: Counter[str] = Counter()
    uids = []
    for row in rows:
        seen[row.question] += 1
        named = f"{layer}\n{chat_id}\n{row.question}\n{seen[row.question]}"
        uids.append(hashlib.sha256(named.encode()).hexdigest()[:32])
    return uids


def _origin(place: str, cited: Sequence[str], evidence: Evidence) -> dict[str, Any]:
    return {
        "how": "imported",
        "by": [],
        "place": place,
        "cited": list(cited),
        "unresolved": [
            {"text": one.text, "kind": one.kind, "reason": KINDS[one.kind].title}
            for one in evidence.lost
        ],
        "unscorable": _why_unscorable(cited, evidence),
    }


def _why_unscorable(cited: Sequence[str], evidence: Evidence) -> str | None:
    if evidence.positions:
        return None
    return UNSCORABLE if cited else NO_EVIDENCE


def _faults(place: str, cited: Sequence[str], evidence: Evidence, unscorable: str) -> list[Fault]:
    faults = [Fault(one.kind, place, one.text) for one in (*evidence.lost, *evidence.odd)]
    if not cited:
        faults.append(Fault("no_evidence", place, ""))
    elif not evidence.positions:
        faults.append(Fault(unscorable, place, ", ".join(cited)))
    return faults


def _phase(uid: str, phase: ArcPhase, evidence: Evidence) -> dict[str, Any]:
    return {
        "uid": uid,
        "title": phase.title,
        "time_range": phase.time_range or None,
        "evidence": list(evidence.positions),
    }


def _arc_origin(case: ArcCase, phases: Sequence[tuple[str, ArcPhase, Evidence]]) -> dict[str, Any]:
    of_phases = {
        uid: _origin(phase.place, phase.evidence, evidence) for uid, phase, evidence in phases
    }
    found = any(evidence.positions for _, _, evidence in phases)
    return {
        "how": "imported",
        "by": [],
        "place": case.place,
        "cited": [text for _, phase, _ in phases for text in phase.evidence],
        "unresolved": [each for one in of_phases.values() for each in one["unresolved"]],
        "unscorable": None if found else UNSCORABLE,
        "phases": of_phases,
    }
