"""What a chat holds, in figures, and how much of its questions' evidence can be found."""

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from labeling.conversations.published.chat import Chat, Question
from labeling.conversations.rules.evidence import resolve, strict_ids

OUTCOMES = ("fully", "partly", "none", "no_evidence")


class EvidenceCounts(TypedDict):
    """Questions by whether their evidence is found, by the strict and the tolerant rule."""

    strict: dict[str, int]
    tolerant: dict[str, int]


class ChatCounts(EvidenceCounts):
    """What a report says of one chat."""

    conversation: str
    messages: int
    sessions: int
    questions: int
    categories: dict[str, int]


def count_of(chat: Chat) -> ChatCounts:
    """Messages, sessions, questions by category, and questions by whether evidence is found.

    ``strict`` counts by the rule with which these data were first scored (split at ``;``, no full
    stop at the end, exact ids), ``tolerant`` by this import's reading.
    """
    return {
        "conversation": chat.id,
        "messages": len(chat.lines),
        "sessions": chat.sessions,
        "questions": len(chat.questions),
        "categories": dict(
            sorted(Counter(question.category for question in chat.questions).items())
        ),
        **evidence_counts(chat, chat.questions),
    }


def evidence_counts(chat: Chat, questions: Sequence[Question]) -> EvidenceCounts:
    """Questions by whether their evidence is found, by both rules."""
    return {
        "strict": _tally([_strict(chat, question) for question in questions]),
        "tolerant": _tally([_tolerant(chat, question) for question in questions]),
    }


def _tally(outcomes: Sequence[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {name: counted[name] for name in OUTCOMES}


def _strict(chat: Chat, question: Question) -> str:
    known = set(chat.dia_ids)
    ids = strict_ids(question.evidence)
    return _outcome(
        question, sum(name in known for name in ids), sum(name not in known for name in ids)
    )


def _tolerant(chat: Chat, question: Question) -> str:
    evidence = resolve(question.evidence, chat.positions)
    lost = [oddity for oddity in evidence.lost if oddity.kind != "empty"]  # it cites nothing
    return _outcome(question, len(evidence.positions), len(lost))


def _outcome(question: Question, n_resolved: int, n_lost: int) -> str:
    if not question.evidence:
        return "no_evidence"
    if not n_resolved:
        return "none"
    return "partly" if n_lost else "fully"
