"""The kinds of things that are odd in published chats, and what became of each."""

from typing import NamedTuple


class FaultKind(NamedTuple):
    """``effect``: ``read`` (used all the same), ``lost`` (could not be used) or ``noted``."""

    effect: str
    title: str


class ChatFault(NamedTuple):
    """One thing that is not as it should be: where it is in the file, and its text."""

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
    "unscorable": FaultKind("lost", "Nothing that is cited can be found: kept, but never scored"),
    "phase_unscorable": FaultKind("lost", "A phase of which nothing that is cited can be found"),
    "list": FaultKind("read", "Several ids in one text"),
    "range": FaultKind("read", "A range of ids"),
    "wrong_separator": FaultKind("read", "; where : belongs"),
    "extra_colon": FaultKind("read", "A colon too many"),
    "no_letter": FaultKind("read", "An id without its D"),
    "zero_padded": FaultKind("read", "An id with zeros in front"),
    "stray": FaultKind("read", "Spaces, full stops or small letters in an id"),
    "repeated": FaultKind("read", "The same message cited twice"),
    "answer_number": FaultKind("read", "An answer that is a number"),
    "no_answer": FaultKind("noted", "A question without an answer, as published"),
    "no_place": FaultKind("noted", "Words that are not in the text: kept without a place"),
    "few_phases": FaultKind("noted", "A narrative of fewer than two phases"),
    "picture_gap": FaultKind("noted", "Message numbers missing next to a picture"),
    "gap": FaultKind("noted", "Message numbers missing, no picture next to them"),
    "no_time": FaultKind("noted", "A message without a time: it stays where it stands"),
    "made_time": FaultKind("read", "Messages without times: their part's time and a second each"),
    "unused_time": FaultKind("noted", "A time of a part that has no messages"),
    "other_name": FaultKind("noted", "A speaker whom the questions call by another name"),
    "speaker_name": FaultKind(
        "noted", "A speaker whose name is written differently in the messages"
    ),
}
