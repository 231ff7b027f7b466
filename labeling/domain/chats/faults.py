"""The kinds of things that are odd in published chats, and what became of each."""

from typing import NamedTuple


class Kind(NamedTuple):
    """``effect``: ``read`` (used all the same), ``lost`` (could not be used) or ``noted``."""

    effect: str
    title: str


class Fault(NamedTuple):
    """One thing that is not as it should be: where it stands, and its text."""

    kind: str
    place: str
    text: str


KINDS = {
    "picture_only": Kind("lost", "Cites a message that was only a picture and is not in the file"),
    "absent": Kind("lost", "Cites a message that is not in the file"),
    "past_end": Kind("lost", "Cites a message past the end of its part"),
    "no_part": Kind("lost", "A message number without its part"),
    "no_number": Kind("lost", "A part without a message number"),
    "bad_range": Kind("lost", "A range that ends before it begins, or is too long"),
    "empty": Kind("noted", "An empty piece of evidence"),
    "unreadable": Kind("lost", "Evidence that is no message id"),
    "no_evidence": Kind("lost", "A question without any evidence"),
    "unscorable": Kind("lost", "Nothing that is cited can be found: kept, but never scored"),
    "phase_unscorable": Kind("lost", "A phase of which nothing that is cited can be found"),
    "list": Kind("read", "Several ids in one text"),
    "range": Kind("read", "A range of ids"),
    "wrong_separator": Kind("read", "; where : belongs"),
    "extra_colon": Kind("read", "A colon too many"),
    "no_letter": Kind("read", "An id without its D"),
    "zero_padded": Kind("read", "An id with zeros in front"),
    "stray": Kind("read", "Spaces, full stops or small letters in an id"),
    "repeated": Kind("read", "The same message cited twice"),
    "answer_number": Kind("read", "An answer that is a number"),
    "no_answer": Kind("noted", "A question without an answer, as published"),
    "no_place": Kind("noted", "Words that are not in the text: kept without a place"),
    "few_phases": Kind("noted", "A narrative of fewer than two phases"),
    "picture_gap": Kind("noted", "Message numbers missing beside a picture"),
    "gap": Kind("noted", "Message numbers missing, no picture beside them"),
    "no_time": Kind("noted", "A message without a time: it stays where it stands"),
    "made_time": Kind("read", "Messages without times: their part's time and a second each"),
    "unused_time": Kind("noted", "A time of a part that has no messages"),
    "other_name": Kind("noted", "A speaker whom the questions call by another name"),
    "speaker_name": Kind("noted", "A speaker whose name is written differently in the messages"),
}
