"""``ModelAnalyst``: each node asks a language model once, and takes what fits or fails.

A reply that cannot be used is asked for again with the reason, see ``pipelines.chat``. What still
does not fit fails the case; nothing is guessed in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.llm import ChatModel
from pipelines.metered import Metered
from pipelines.prompting import read
from pipelines.requirements.analyst import Found, Written
from pipelines.requirements.document import sections
from pipelines.requirements.document.markdown import plain
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.model import schemas
from pipelines.requirements.model.schemas import NARRATED, Schema
from pipelines.requirements.validation.issues import issue
from pipelines.requirements.wording import Requirement, field_text, name_of
from pipelines.types import Case

PROMPTS = Path(__file__).parent.parent / "prompts"
SHOWN = ("title", "type", "actor", "action", "condition", "acceptance_criteria", "priority")
IN_PROSE = ("id", "title", "actor", "action", "condition")
OF_ISSUES = ("requirement", "issue_type", "message")
NUMBER = re.compile(r"\b(?:REQ|INF)-\d+\b")
PARAGRAPHS = re.compile(r"\n\s*\n")


class ModelAnalyst:
    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def extract(self, case: Case) -> Found:
        if not case.messages:
            return _nothing()
        schema = schemas.extraction(len(case.messages))
        data, notes = self._ask(
            "extraction.v1", schema, domain=case.domain, messages=_messages(case)
        )
        labels = [
            {"id": f"REQ-{number:03d}"}
            | _taken(one, schema, "requirements")
            | {"source_messages": sorted(set(one["source_messages"]))}
            for number, one in enumerate(data["requirements"], start=1)
        ]
        return Found(labels, notes)

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        if not requirements:
            return _nothing()
        names = _names(requirements)
        schema = schemas.inference(list(names))
        shown = _shown(names, requirements, SHOWN)
        data, notes = self._ask("inference.v1", schema, domain=case.domain, requirements=shown)
        labels = [
            {"id": f"INF-{number:03d}"}
            | _taken(one, schema, "inferred_requirements")
            | {"triggered_by": [names[ref] for ref in dict.fromkeys(one["triggered_by"])]}
            for number, one in enumerate(data["inferred_requirements"], start=1)
        ]
        return Found(labels, notes | {"from": len(requirements)})

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        """Words that do not stand in the field are left out and counted; the issue stays."""
        if not requirements:
            return _nothing()
        names = _names(requirements)
        of = dict(zip(names, requirements, strict=True))
        shown = _shown(names, requirements, (*SHOWN, "rationale"))
        data, notes = self._ask(
            "validation.v1", schemas.validation(list(names)), requirements=shown
        )
        labels = [_issue(one, of[one["requirement"]]) for one in data["issues"]]
        unplaced = [
            one
            for one, label in zip(data["issues"], labels, strict=True)
            if one["words"] and label["span"] is None
        ]
        return Found(labels, notes | {"of": len(requirements), "unplaced": len(unplaced)})

    def write(self, findings: Findings) -> Written:
        """The model's prose, and below it what is listed: that must be whole and traced."""
        if not findings.requirements:
            return Written(sections.write(findings), {})
        data, notes = self._ask(
            "document.v1",
            schemas.document(),
            domain=findings.case.domain,
            messages=_messages(findings.case),
            requirements=[_only(one, IN_PROSE) for one in findings.requirements],
            inferred=[_only(one, IN_PROSE) for one in findings.inferred],
            issues=[_only(one, OF_ISSUES) for one in findings.issues],
        )
        return Written(_narrated(sections.write(findings), data), notes | _invented(data, findings))

    def _ask(self, prompt: str, schema: Schema, **given: Any) -> tuple[Any, dict[str, Any]]:
        meter = Metered(self._model)
        reply = meter.complete(read(PROMPTS, prompt).filled(**given), schema=schema)
        notes = {"prompt": prompt, "model": reply.model or self._model.id, **meter.as_json()}
        return reply.data, notes


def _nothing() -> Found:
    """There is nothing to read, so nobody is asked."""
    return Found([], {})


def _messages(case: Case) -> list[dict[str, Any]]:
    return [
        {"id": one.index, "role": one.role, "speaker": one.speaker, "text": one.content}
        for one in case.messages
    ]


def _names(requirements: Sequence[Requirement]) -> dict[str, str]:
    """A short handle for each requirement, and the name that it stands for."""
    return {f"R{number}": name_of(one) for number, one in enumerate(requirements, start=1)}


def _shown(
    names: Iterable[str], requirements: Sequence[Requirement], fields: Iterable[str]
) -> list[dict[str, Any]]:
    return [{"ref": ref} | _only(one, fields) for ref, one in zip(names, requirements, strict=True)]


def _only(label: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    return {field: label[field] for field in fields if label.get(field) is not None}


def _taken(one: Mapping[str, Any], schema: Schema, key: str) -> dict[str, Any]:
    """The fields that were asked for; an empty condition is none."""
    fields = schema["properties"][key]["items"]["properties"]
    taken = {name: one[name] for name in fields}
    return taken | {"condition": taken["condition"] or None}


def _issue(one: Mapping[str, Any], requirement: Requirement) -> dict[str, Any]:
    words = (one["words"] or "").strip()
    start = field_text(requirement, one["field"]).find(words) if words else -1
    made = issue(
        requirement,
        one["issue_type"],
        one["field"],
        message=one["message"],
        fix=one["suggested_fix"],
        place=(start, start + len(words)) if start >= 0 else None,
    )
    return made | {"severity": one["severity"]}


def _narrated(document: dict[str, Any], told: Mapping[str, str]) -> dict[str, Any]:
    prose = {name: _paragraphs(told[name]) for name in NARRATED}
    written = [
        one | {"body": "\n\n".join(filter(None, [prose.get(one["id"], ""), one["body"]]))}
        for one in document["sections"]
    ]
    return {"title": " ".join(told["title"].split()), "sections": written}


def _paragraphs(text: str) -> str:
    return "\n\n".join(plain(one) for one in PARAGRAPHS.split(text) if one.strip())


def _invented(told: Mapping[str, str], findings: Findings) -> dict[str, int]:
    """How many requirements the prose names that there are not."""
    known = {str(one.get("id")) for one in (*findings.requirements, *findings.inferred)}
    return {"unknown_ids": len(set(NUMBER.findall(" ".join(told.values()))) - known)}
