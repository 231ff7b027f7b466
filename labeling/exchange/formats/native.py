"""Assay's own labels: a conversation a line, with every answer and every decision about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import (
    SKIPPED,
    SUBMITTED,
    FileAnswer,
    FileConversation,
    FileDecision,
    ReadLine,
    Unchecked,
    Unreadable,
    Written,
    as_dict,
    as_list,
    as_number,
    as_text,
    check_version,
    choice_of,
    head_in,
    moment,
    past,
    with_line_feeds_in,
    without_empty_layers,
    written,
)
from labeling.conversations.formats.reading import json_lines, read_each
from labeling.conversations.rules.importing import Turn
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.schema import LAYERS, SCHEMA_VERSION


def write(labeled: FileConversation) -> str:
    """One line, without its end."""
    line = {
        "schema_version": SCHEMA_VERSION,
        "id": labeled.id,
        **labeled.head,
        "messages": [_message(turn) for turn in labeled.turns],
        "answers": [_answer(answer) for answer in labeled.answers],
    }
    if labeled.decisions:
        line["decisions"] = [_decision(each) for each in labeled.decisions]
    return json.dumps(line, ensure_ascii=False, allow_nan=False)


def _message(turn: Turn) -> Written:
    message: Written = {"role": turn.role, "content": turn.content}
    if turn.speaker:
        message["speaker"] = turn.speaker
    if turn.time:
        message["time"] = turn.time.isoformat()
    return message


def _answer(answer: FileAnswer) -> Written:
    row: Written = {
        "annotator": answer.annotator,
        "round": answer.round,
        "guideline_version": answer.guideline_version,
        "status": answer.status,
        "empty": answer.empty,
        "skip_reason": answer.skip_reason,
        "created_at": written(answer.created_at),
        "submitted_at": written(answer.submitted_at),
        "active_seconds": answer.active_seconds,
        "labels": without_empty_layers(answer.payload),
    }
    if answer.unanswered:
        row["unanswered"] = list(answer.unanswered)
    return row


def _decision(decided: FileDecision) -> Written:
    code = {"reason_code": decided.reason_code} if decided.reason_code else {}
    return {
        "layer": decided.layer,
        "decided_by": decided.decided_by,
        "decided_at": written(decided.decided_at),
        "guideline_version": decided.guideline_version,
        "kind": decided.kind,
        "reason": decided.reason,
        **code,
        "guideline_flag": decided.guideline_flag,
        "labels": decided.labels,
    }


def read(stream: BinaryIO) -> Iterator[ReadLine]:
    """The conversations of a file with their answers, and a fault for each line that is none."""
    return read_each(
        json_lines(stream), lambda _, document: _labeled(as_dict(document, Fact("place.line")))
    )


def _labeled(document: Unchecked) -> FileConversation:
    check_version(document)
    if "answers" not in document:
        raise Unreadable(msgid('"answers" is missing: this line holds no labels'))
    answers = as_list(document["answers"], '"answers"')
    decisions = as_list(document.get("decisions", []), '"decisions"')
    return FileConversation(
        id=as_text(document.get("id"), '"id"', required=True),
        turns=tuple(_turn(value) for value in as_list(document.get("messages", []), '"messages"')),
        answers=tuple(_read_answer(value, f"answers[{n}]") for n, value in enumerate(answers)),
        **head_in(document),
        decisions=tuple(
            _read_decision(value, f"decisions[{n}]") for n, value in enumerate(decisions)
        ),
    )


def _turn(message: Any) -> Turn:
    document = with_line_feeds_in(as_dict(message, Fact("place.message")))
    return turn_of(document, as_text(document.get("content"), '"content"', required=True))


def turn_of(document: Unchecked, content: str) -> Turn:
    return Turn(
        role=as_text(document.get("role"), '"role"', required=True),
        content=content,
        speaker=as_text(document.get("speaker"), '"speaker"'),
        time=moment(document.get("time"), '"time"'),
    )


def about_answer(document: Unchecked, where: str = "") -> dict[str, Any]:
    """What a file of ours says of an answer beside its labels."""
    at = {name: f"{where}.{name}" if where else f'"{name}"' for name in _ABOUT}
    return {
        "annotator": as_text(document.get("annotator"), at["annotator"], required=True),
        "status": choice_of(document.get("status", SUBMITTED), (SUBMITTED, SKIPPED), at["status"]),
        "skip_reason": as_text(document.get("skip_reason"), at["skip_reason"]),
        **{name: _optional(document, name, at[name]) for name in ("round", "guideline_version")},
        **{name: past(document.get(name), at[name]) for name in ("created_at", "submitted_at")},
        "active_seconds": as_number(document.get("active_seconds", 0), at["active_seconds"]),
    }


_ABOUT = (
    *("annotator", "status", "skip_reason", "round", "guideline_version"),
    *("created_at", "submitted_at", "active_seconds"),
)


def _read_answer(value: Any, where: str) -> FileAnswer:
    document = as_dict(value, where)
    return FileAnswer(
        **about_answer(document, where),
        payload=with_line_feeds_in(as_dict(document.get("labels", {}), f"{where}.labels")),
        empty=_flag(document, "empty", where),
        unanswered=tuple(
            choice_of(name, tuple(LAYERS), f"{where}.unanswered")
            for name in as_list(document.get("unanswered", []), f"{where}.unanswered")
        ),
    )


def _read_decision(value: Any, where: str) -> FileDecision:
    document = as_dict(value, where)
    labels = as_list(document.get("labels"), f"{where}.labels")
    return FileDecision(
        layer=choice_of(document.get("layer"), tuple(LAYERS), f"{where}.layer"),
        labels=[_decided_label(label, f"{where}.labels[{n}]") for n, label in enumerate(labels)],
        reason=as_text(document.get("reason"), f"{where}.reason", required=True),
        decided_by=as_text(document.get("decided_by"), f"{where}.decided_by", required=True),
        kind=as_text(document.get("kind"), f"{where}.kind"),
        guideline_flag=_flag(document, "guideline_flag", where),
        guideline_version=_optional(document, "guideline_version", f"{where}.guideline_version"),
        decided_at=past(document.get("decided_at"), f"{where}.decided_at"),
        reason_code=as_text(document.get("reason_code"), f"{where}.reason_code") or None,
    )


def _decided_label(value: Any, where: str) -> Unchecked:
    """What names people in it has its shape; the rest is checked like any label."""
    label: Unchecked = with_line_feeds_in(as_dict(value, where))
    adopted = label.get("adopted_from") or []  # null: the label of a suggestion
    for name in (
        [adopted] if isinstance(adopted, str) else as_list(adopted, f"{where}.adopted_from")
    ):
        as_text(name, f"{where}.adopted_from", required=True)
    for name, uid in as_dict(label.get("uids", {}), f"{where}.uids").items():
        as_text(name, f"{where}.uids", required=True)
        as_text(uid, f"{where}.uids")
    return label


def _flag(document: Unchecked, key: str, where: str) -> bool:
    value = document.get(key, False)
    if not isinstance(value, bool):
        raise Unreadable(msgid("{path} must be true or false"), path=f"{where}.{key}")
    return value


def _optional(document: Unchecked, key: str, where: str) -> int | None:
    return None if document.get(key) is None else as_number(document[key], where)
