"""Chats as REALTALK and LoCoMo publish them: one JSON file per chat, with questions about it.

What cannot be a chat at all refuses the file (:class:`ChatRefused`). What is merely odd (a message
that is missing, an id written wrongly) is kept as a :class:`ChatFault`, so that nothing is lost
unseen.
"""

from labeling.conversations.published.arcs import ArcCase, read_arc_cases
from labeling.conversations.published.chat import Chat, ChatRefused, Line, Question
from labeling.conversations.published.counts import count_of, evidence_counts
from labeling.conversations.published.faults import KINDS, ChatFault, FaultKind
from labeling.conversations.published.files import (
    FORMATS,
    NoChat,
    format_of,
    natural_bytes,
    natural_key,
    number_of,
    read_chat,
    read_chats,
)
from labeling.conversations.published.labels import ChatLabels, arc_labels, question_labels
from labeling.conversations.published.questions import read_questions
from labeling.conversations.published.splits import BadSplits, Splits, read_splits

__all__ = [
    "FORMATS",
    "KINDS",
    "ArcCase",
    "BadSplits",
    "Chat",
    "ChatFault",
    "ChatLabels",
    "ChatRefused",
    "FaultKind",
    "Line",
    "NoChat",
    "Question",
    "Splits",
    "arc_labels",
    "count_of",
    "evidence_counts",
    "format_of",
    "natural_bytes",
    "natural_key",
    "number_of",
    "question_labels",
    "read_arc_cases",
    "read_chat",
    "read_chats",
    "read_questions",
    "read_splits",
]
