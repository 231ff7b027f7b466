"""``ModelAnalyst``: each node asks a language model once, extraction once for each part of a long
conversation, and fails if a reply doesn't fit.

If a reply cannot be used, the model is asked again with the reason, see ``pipelines.chat``. If
the second reply doesn't fit either, the case fails; nothing is guessed in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pipelines.chat.counting import CHARACTERS_PER_TOKEN, tokens_in
from pipelines.llm import ChatModel, context_of
from pipelines.prompting import read
from pipelines.requirements.config import PartsConfig
from pipelines.requirements.document import sections
from pipelines.requirements.document.markdown import plain
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.labels import (
    Document,
    Flaw,
    Issue,
    LeftOut,
    Notes,
    Requirement,
    field_text,
    issue,
    name_of,
)
from pipelines.requirements.model import schemas
from pipelines.requirements.model.parts import Standing, parts_of
from pipelines.requirements.model.schemas import NARRATED, Schema
from pipelines.types import Case, Example, Message

PROMPTS = Path(__file__).parent.parent / "prompts"
SHOWN = ("title", "type", "actor", "action", "condition", "acceptance_criteria", "priority")
STOOD = (*SHOWN[:6], "source_messages")
IN_PROSE = ("id", "title", "actor", "action", "condition")
OF_ISSUES = ("requirement", "issue_type", "message")
PROMPT_TOKENS, REPLY_TOKENS = 4_000, 16_000
"""What is left free of the context: for instructions and overhead, and for the reply."""
NUMBER = re.compile(r"\b(?:REQ|INF)-\d+\b")
PARAGRAPHS = re.compile(r"(?<!\n)\n(?:[^\S\n]*\n)+")


class ModelAnalyst:
    def __init__(self, model: ChatModel, parts: PartsConfig | None = None) -> None:
        self._model = model
        self._parts = parts or PartsConfig()

    def extraction(self, findings: Findings) -> tuple[list[Requirement], Notes]:
        case = findings.case
        if not case.messages:
            return [], {}
        parts = parts_of(case.messages, self._fitting(case))
        standing = Standing(case.messages)
        notes: Notes = {}
        left_out: list[LeftOut] = []
        for part in parts:
            schema = schemas.extraction(part[0].index, part[-1].index, list(standing.by_ref))
            data, notes = self._ask(
                "extraction.v4",
                schema,
                guideline=case.guideline,
                examples=[_example(one) for one in case.examples],
                domain=case.domain,
                standing=[{"ref": ref} | _only(of, STOOD) for ref, of in standing.by_ref.items()],
                messages=_lines(part),
            )
            added = [_asked_for(reply, schema, "requirements") for reply in data["requirements"]]
            standing.take(added, data.get("changes", ()))
            left_out += data["left_out"]
        labels = [
            _requirement(f"REQ-{number:03d}", label)
            for number, label in enumerate(standing.by_ref.values(), start=1)
        ]
        notes |= {"parts": len(parts), "changes": dict(standing.changes), "left_out": left_out}
        notes["examples"] = [one.conversation_id for one in case.examples]
        return labels, notes

    def inference(self, findings: Findings) -> tuple[list[Requirement], Notes]:
        requirements, domain = findings.requirements, findings.case.domain
        if not requirements:
            return [], {}
        names = _names(requirements)
        schema = schemas.inference(list(names))
        shown = _shown(names, requirements, SHOWN)
        data, notes = self._ask("inference.v1", schema, domain=domain, requirements=shown)
        labels = [
            _requirement(
                f"INF-{number:03d}",
                {
                    **_asked_for(reply, schema, "inferred_requirements"),
                    "triggered_by": [names[ref] for ref in dict.fromkeys(reply["triggered_by"])],
                },
            )
            for number, reply in enumerate(data["inferred_requirements"], start=1)
        ]
        return labels, {**notes, "from": len(requirements)}

    def validation(self, findings: Findings) -> tuple[list[Issue], Notes]:
        """Words that are not in the field are left out and counted; the issue stays."""
        requirements = findings.requirements
        if not requirements:
            return [], {}
        names = _names(requirements)
        by_ref = dict(zip(names, requirements, strict=True))
        shown = _shown(names, requirements, (*SHOWN, "rationale"))
        data, notes = self._ask(
            "validation.v1", schemas.validation(list(names)), requirements=shown
        )
        issues = [_issue(reply, by_ref[reply["requirement"]]) for reply in data["issues"]]
        unplaced = sum(
            bool(reply["words"]) and label["span"] is None
            for reply, label in zip(data["issues"], issues, strict=True)
        )
        return issues, {**notes, "of": len(requirements), "unplaced": unplaced}

    def document(self, findings: Findings) -> tuple[Document, Notes]:
        """The model's prose, and below it our own lists, which must be complete and traced."""
        if not findings.requirements:
            return sections.write(findings), {}
        data, notes = self._ask(
            "document.v1",
            schemas.document(),
            domain=findings.case.domain,
            messages=_messages(self._cited(findings)),
            requirements=[_only(label, IN_PROSE) for label in findings.requirements],
            inferred=[_only(label, IN_PROSE) for label in findings.inferred],
            issues=[_only(label, OF_ISSUES) for label in findings.issues],
        )
        document = _narrated(sections.write(findings), data)
        return document, {**notes, "unknown_ids": _unknown_ids(data, findings)}

    def _fitting(self, case: Case) -> PartsConfig:
        """One part where the whole conversation fits into the context, with room for the reply."""
        beside = len(case.guideline) + sum(len(str(_example(one))) for one in case.examples)
        room = context_of(self._model) - REPLY_TOKENS - tokens_in(beside)
        fits = max(1_000, (room - PROMPT_TOKENS) * CHARACTERS_PER_TOKEN)
        most = min(self._parts.part_characters, fits)
        return self._parts.model_copy(update={"part_characters": most})

    def _cited(self, findings: Findings) -> Sequence[Message]:
        """Of a conversation that is too long for one part, the messages that count."""
        messages = findings.case.messages
        if len(parts_of(messages, self._fitting(findings.case))) == 1:
            return messages
        cited = {at for label in findings.requirements for at in label.get("source_messages", ())}
        return [message for message in messages if message.index in cited]

    def _ask(self, prompt: str, schema: Schema, **values: Any) -> tuple[Any, Notes]:
        """What the model wrote, which fits the schema."""
        reply = self._model.complete(read(PROMPTS, prompt).filled(**values), schema=schema)
        return reply.data, {"prompt": prompt, "model": reply.model or self._model.id}


def _lines(messages: Sequence[Message]) -> list[list[object]]:
    """The place, who speaks and the text; names only where a role has several people."""
    named = {(message.role, message.speaker) for message in messages}
    several = {role for role, count in Counter(role for role, _ in named).items() if count > 1}
    return [
        [m.index, f"{m.role} {m.speaker}" if m.role in several else m.role, m.content]
        for m in messages
    ]


def _example(one: Example) -> dict[str, Any]:
    return {"messages": _lines(one.messages), "requirement": _only(one.label, STOOD)}


def _messages(messages: Iterable[Message]) -> list[dict[str, object]]:
    return [
        {"id": m.index, "role": m.role, "speaker": m.speaker, "text": m.content} for m in messages
    ]


def _names(requirements: Sequence[Requirement]) -> dict[str, str]:
    """A short handle for each requirement, and the name behind it."""
    return {f"R{number}": name_of(label) for number, label in enumerate(requirements, start=1)}


def _shown(
    names: Iterable[str], requirements: Sequence[Requirement], fields: Iterable[str]
) -> list[Mapping[str, object]]:
    pairs = zip(names, requirements, strict=True)
    return [{"ref": ref} | _only(requirement, fields) for ref, requirement in pairs]


def _only(label: Mapping[str, object], fields: Iterable[str]) -> dict[str, object]:
    return {field: label[field] for field in fields if label.get(field) is not None}


def _asked_for(reply: Mapping[str, Any], schema: Schema, key: str) -> Mapping[str, Any]:
    """The fields that were asked for, and no others; an empty condition becomes None."""
    fields = schema["properties"][key]["items"]["properties"]
    values = {name: reply[name] for name in fields}
    return values | {"condition": values["condition"] or None}


def _requirement(number: str, fields: Mapping[str, Any]) -> Requirement:
    return cast(Requirement, {"id": number, **fields})


def _issue(reply: Mapping[str, Any], requirement: Requirement) -> Issue:
    words = (reply["words"] or "").strip()
    start = field_text(requirement, reply["field"]).find(words) if words else -1
    place = (start, start + len(words)) if start >= 0 else None
    said = (reply[name] for name in ("message", "suggested_fix"))
    flaw = Flaw(reply["issue_type"], reply["field"], place, *said)
    return {**issue(requirement, flaw), "severity": reply["severity"]}


def _narrated(document: Document, prose: Mapping[str, str]) -> Document:
    paragraphs = {name: _paragraphs(prose[name]) for name in NARRATED}
    return {
        **document,
        "title": " ".join(prose["title"].split()),
        "sections": [
            {
                **section,
                "body": "\n\n".join(
                    filter(None, [paragraphs.get(section["id"], ""), section["body"]])
                ),
            }
            for section in document["sections"]
        ],
    }


def _paragraphs(text: str) -> str:
    return "\n\n".join(
        plain(paragraph) for paragraph in PARAGRAPHS.split(text) if paragraph.strip()
    )


def _unknown_ids(prose: Mapping[str, str], findings: Findings) -> int:
    """How many requirements the prose names that do not exist."""
    known = {str(label.get("id")) for label in (*findings.requirements, *findings.inferred)}
    return len(set(NUMBER.findall(" ".join(prose.values()))) - known)
