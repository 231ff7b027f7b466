"""What a chat holds, in figures, and how much of its questions' evidence can be found."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from labeling.domain.chats.chat import Chat, Question
from labeling.domain.exchange.evidence import resolve, strict_ids

OUTCOMES = ("fully", "partly", "none", "no_evidence")


def count_of(chat: Chat) -> dict[str, Any]:
    """Messages, sessions, questions by category, and questions by found evidence.

    ``strict`` counts by the rule with which these data were first scored (split at ``;``, no full
    stop at the end, exact ids), ``tolerant`` by this import's reading.
    """
    return {
        "conversation": chat.id,
        "messages": len(chat.lines),
        "sessions": chat.sessions,
        "questions": len(chat.questions),
        "categories": dict(sorted(Counter(one.category for one in chat.questions).items())),
        **evidence_counts(chat, chat.questions),
    }


def evidence_counts(chat: Chat, questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Questions by whether their evidence is found, by both rules."""
    return {
        "strict": _tally([_strict(chat, one) for one in questions]),
        "tolerant": _tally([_tolerant(chat, one) for one in questions]),
    }


def _tally(outcomes: Sequence[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {name: counted[name] for name in OUTCOMES}


def _strict(chat: Chat, one: Question) -> str:
    known = set(chat.dia_ids)
    ids = strict_ids(one.evidence)
    return _outcome(one, sum(name in known for name in ids), sum(name not in known for name in ids))


def _tolerant(chat: Chat, one: Question) -> str:
    evidence = resolve(one.evidence, chat.positions)
    lost = [each for each in evidence.lost if each.kind != "empty"]  # it cites nothing
    return _outcome(one, len(evidence.positions), len(lost))


def _outcome(one: Question, found: int, lost: int) -> str:
    if not one.evidence:
        return "no_evidence"
    if not found:
        return "none"
    return "partly" if lost else "fully"
