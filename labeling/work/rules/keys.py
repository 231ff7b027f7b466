"""The workspace's keys: the one table behind the key handler, the help overlay and the docs."""

from collections.abc import Sequence
from typing import NamedTuple


class Key(NamedTuple):
    """One key and what it does.

    ``key`` is written as people read it (``j``, ``Ctrl+Enter``, ``1-9``); Ctrl also means Command.
    ``typing`` keys work inside a text field and when single-key shortcuts are turned off.
    """

    key: str
    action: str
    label: str
    group: str
    typing: bool = False


KEYS = (
    Key("j", "message-next", "Next message", "Read"),
    Key("ArrowDown", "message-next", "Next message", "Read"),
    Key("k", "message-previous", "Previous message", "Read"),
    Key("ArrowUp", "message-previous", "Previous message", "Read"),
    Key("Alt+ArrowDown", "message-next", "Next message", "Read", typing=True),
    Key("Alt+ArrowUp", "message-previous", "Previous message", "Read", typing=True),
    Key("Home", "message-first", "First message", "Read"),
    Key("End", "message-last", "Last message", "Read"),
    Key("g", "guidelines", "Show or hide the guidelines", "Read"),
    Key("r", "history", "Show or hide the history of your answer", "Read"),
    Key("c", "comments", "Show or hide the comments", "Read"),
    Key("m", "link", "Link the message to the open label, or start one and write", "Label"),
    Key(
        "Alt+Enter",
        "link",
        "Link the message to the open label, or start one and write",
        "Label",
        typing=True,
    ),
    Key("x", "words", "Select words of the text for the label, or take the selected ones", "Label"),
    Key("n", "label-new", "New label", "Label"),
    Key("e", "label-edit", "Edit the current label", "Label"),
    Key("Enter", "label-edit", "Edit the current label", "Label"),
    Key("u", "label-unfinished", "Next label with open fields", "Label"),
    Key("Shift+J", "label-next", "Next label", "Label"),
    Key("Shift+K", "label-previous", "Previous label", "Label"),
    Key("]", "layer-next", "Next layer", "Label"),
    Key("[", "layer-previous", "Previous layer", "Label"),
    Key("d", "label-duplicate", "Duplicate the current label", "Label"),
    Key("Delete", "label-delete", "Delete the current label (can be undone)", "Label"),
    Key("Escape", "close", "Leave the field; again: close the label", "Label", typing=True),
    Key(
        "1-9",
        "choose",
        "Choose in the field that has the focus; of a confidence, its tenths",
        "Open label",
    ),
    Key("t", "write", "Write in the first field", "Open label"),
    Key("h", "first-pass", "My first pass is done: show suggestions", "Suggestions"),
    Key(".", "suggestion-next", "Next suggestion", "Suggestions"),
    Key(",", "suggestion-previous", "Previous suggestion", "Suggestions"),
    Key("a", "suggestion-accept", "Accept the suggestion", "Suggestions"),
    Key("o", "suggestion-edit", "Take the suggestion over and edit it", "Suggestions"),
    Key("0", "nothing-here", "Say “nothing here”, or take it back; in a rating: 0", "Finish"),
    Key("s", "skip", "Skip with a reason", "Finish"),
    Key("Ctrl+Enter", "submit", "Submit and continue", "Finish", typing=True),
    Key("Ctrl+S", "save", "Save now", "Finish", typing=True),
    Key("Ctrl+Z", "undo", "Undo, also a submission (in a text field: its own undo)", "Finish"),
    Key("Ctrl+Shift+Z", "redo", "Redo", "Finish"),
    Key("?", "help", "Show all keys", "Finish"),
)

DISCUSSION_KEYS = (
    Key("j", "next", "Next disagreement", "Discuss"),
    Key("k", "previous", "Previous disagreement", "Discuss"),
    Key("t", "write", "Write a remark", "Discuss"),
    Key("Ctrl+Enter", "send", "Send the remark", "Discuss", typing=True),
    Key("Escape", "leave", "Leave the field", "Discuss", typing=True),
    Key("1-4", "decide", "Choose the outcome (leads)", "Discuss"),
    Key("g", "guideline", "Write it into the guidelines (leads)", "Discuss"),
)
"""The keys of the page where a closed round is discussed."""

RATING_KEYS = (
    Key("j", "next", "Next thing to rate", "Rate"),
    Key("k", "previous", "Previous thing to rate", "Rate"),
    Key("0-9", "rate", "Rate it: an inferred requirement 0 to 2, an answer 0 to 9", "Rate"),
    Key("x", "ten", "Rate an answer with 10 points", "Rate"),
    Key("t", "write", "Write a note", "Rate"),
    Key("c", "talk", "Show or hide the conversation", "Rate"),
    Key("Escape", "leave", "Leave the note", "Rate", typing=True),
)
"""The keys of the page where people rate what a run inferred or answered."""

CASE_KEYS = (
    Key("j", "next", "Next case", "Read"),
    Key("k", "previous", "Previous case", "Read"),
    Key("f", "next-failure", "Next failure", "Read"),
    Key("Shift+F", "previous-failure", "Previous failure", "Read"),
)
"""The keys of the page of a case of a run."""


def adjudication_keys(letters: Sequence[str]) -> list[Key]:
    """The keys of adjudication; ``letters`` are the annotators' (A, B, C, …)."""
    adopt = [
        Key(letter.lower(), "side", TAKE[letter], "Decide") for letter in letters[:ADOPTING_LETTERS]
    ]
    return [*adopt, *ADJUDICATION_KEYS]


TAKE = {letter: f"Take the label of {letter}" for letter in "ABCD"}
ADOPTING_LETTERS = len(TAKE)  # further ones would take keys that do something else
ADJUDICATION_KEYS = (
    Key(
        "1-9", "side", "Take the first, second … label; in its form: choose in the field", "Decide"
    ),
    Key("0", "agreed", "Take the agreed label, or leave it undecided again", "Decide"),
    Key("x", "reject", "Leave this label out", "Decide"),
    Key("e", "edit", "Edit the label", "Decide"),
    Key("Shift+N", "label-new", "New label, one that nobody had", "Decide"),
    Key("m", "link", "Link the message to the label, while it is edited", "Decide"),
    Key("s", "words", "Select words for the label, or take the selected ones", "Decide"),
    Key("Escape", "close", "Leave the field; again: close the form", "Decide", typing=True),
    Key("j", "next", "Next label", "Read"),
    Key("k", "previous", "Previous label", "Read"),
    Key("n", "undecided", "Next label that is not decided", "Read"),
    Key("ArrowDown", "message-next", "Next message", "Read"),
    Key("ArrowUp", "message-previous", "Previous message", "Read"),
    Key("g", "guidelines", "Show or hide the guidelines", "Read"),
    Key("v", "names", "Show names instead of letters, or letters again", "Read"),
    Key("w", "kind", "Next reason why they differed", "Finish"),
    Key("t", "note", "Write the note", "Finish"),
    Key("f", "flag", "Flag it for the guidelines", "Finish"),
    Key("Ctrl+Enter", "decide", "Decide and continue", "Finish", typing=True),
    Key("?", "help", "Show all keys", "Finish"),
)
"""The keys of the page where a disputed conversation is decided."""

REVIEW_KEYS = (
    Key("a", "accept", "Accept the answer", "Decide"),
    Key("f", "fix", "Accept the answer as you have corrected it", "Decide"),
    Key("x", "return", "Return it with the comment", "Decide"),
    Key("e", "edit", "Correct the label", "Correct"),
    Key(
        "1-9",
        "choose",
        "Choose in the field that has the focus, while a label is corrected",
        "Correct",
    ),
    Key("Delete", "reject", "Leave this label out, or take it back in", "Correct"),
    Key("0", "agreed", "Take the label as it was", "Correct"),
    Key("m", "link", "Link the message to the label, while it is edited", "Correct"),
    Key("s", "words", "Select words for the label, or take the selected ones", "Correct"),
    Key("Escape", "close", "Leave the field; again: close the form", "Correct", typing=True),
    Key("j", "next", "Next label", "Read"),
    Key("k", "previous", "Previous label", "Read"),
    Key("ArrowDown", "message-next", "Next message", "Read"),
    Key("ArrowUp", "message-previous", "Previous message", "Read"),
    Key("g", "guidelines", "Show or hide the guidelines", "Read"),
    Key("t", "note", "Write the comment", "Decide"),
    Key("?", "help", "Show all keys", "Decide"),
)
"""The keys of the page where a submitted answer is reviewed."""
