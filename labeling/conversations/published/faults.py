"""Kinds of problems in published chats, and how each is handled."""

from typing import NamedTuple


class FaultKind(NamedTuple):
    """``effect``: ``read`` (used anyway), ``lost`` (couldn't be used) or ``noted``."""

    effect: str
    title: str


class ChatFault(NamedTuple):
    """A problem: where it is in the file, and its text."""

    kind: str
    place: str
    text: str


KINDS = {
    "picture_only": FaultKind(
        "lost", "Cites a message that was only a picture and is not in the file"
    ),
    "absent": FaultKind("lost", "Cites a message that is not in the file"),
    "past_end": FaultKind("lost", "Cites a message past the end of its part"),
    "no_part": FaultKind("lost", "A message number without its part"),
    "no_number": FaultKind("lost", "A part without a message number"),
    "bad_range": FaultKind("lost", "A range that ends before it begins, or is too long"),
    "empty": FaultKind("noted", "An empty piece of evidence"),
    "unreadable": FaultKind("lost", "Evidence that is not a message id"),
    "no_evidence": FaultKind("lost", "A question without any evidence"),
    "unscorable": FaultKind("lost", "No cited message can be found: kept, but never scored"),
    "phase_unscorable": FaultKind("lost", "A phase whose cited messages can't be found"),
    "list": FaultKind("read", "Several ids in one text"),
    "range": FaultKind("read", "A range of ids"),
    "wrong_separator": FaultKind("read", "; instead of :"),
    "extra_colon": FaultKind("read", "One colon too many"),
    "no_letter": FaultKind("read", "An id without its D"),
    "zero_padded": FaultKind("read", "An id with leading zeros"),
    "stray": FaultKind("read", "Spaces, full stops or small letters in an id"),
    "repeated": FaultKind("read", "The same message cited twice"),
    "answer_number": FaultKind("read", "An answer that is a number"),
    "no_answer": FaultKind("noted", "A question without an answer, as published"),
    "no_place": FaultKind("noted", "Words that are not in the text: kept without a place"),
    "few_phases": FaultKind("noted", "A narrative of fewer than two phases"),
    "picture_gap": FaultKind("noted", "Message numbers missing next to a picture"),
    "gap": FaultKind("noted", "Message numbers missing, without a picture next to them"),
    "no_time": FaultKind("noted", "A message without a time: it keeps its place"),
    "made_time": FaultKind(
        "read", "Messages without times: they get their part's time, a second apart"
    ),
    "unused_time": FaultKind("noted", "A time for a part without messages"),
    "other_name": FaultKind("noted", "A speaker with another name in the questions"),
    "speaker_name": FaultKind(
        "noted", "A speaker whose name is spelled differently in the messages"
    ),
}
