"""The eleven sections of a requirements document. An empty body means that nothing was said.

A requirement is in exactly one of the sections 4 to 8, by its type; an inferred one that is needed
for security or by law is in the seventh, regardless of its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pipelines.requirements.document.markdown import (
    bullets,
    counted,
    message_links,
    number_link,
    plain,
    table,
)
from pipelines.requirements.labels import Document, Issue, Requirement, name_of
from pipelines.requirements.text import content_words
from pipelines.types import Case, Message

QUOTED = 120  # characters of a message in the traceability matrix
SYSTEM = "system"
PLACES = {
    "functional": "functional",
    "non-functional": "non_functional",
    "constraint": "non_functional",
    "data": "data_model",
    "security": "security_compliance",
    "interface": "interfaces",
}
PROTECTING = ("security", "compliance")


@dataclass(frozen=True)
class Findings:
    """All that the document is made of."""

    case: Case
    requirements: Sequence[Requirement]
    inferred: Sequence[Requirement]
    issues: Sequence[Issue]

    @cached_property
    def by_name(self) -> dict[str, Requirement]:
        return {name_of(requirement): requirement for requirement in self.requirements}

    @cached_property
    def messages(self) -> dict[int, Message]:
        return {message.index: message for message in self.case.messages}

    def number_of(self, name: str) -> str:
        """The number that a requirement has in the document."""
        return plain(self.by_name[name].get("id") or name) if name in self.by_name else plain(name)

    def link_to(self, name: str) -> str:
        number = self.number_of(name)
        return number_link(number) if name in self.by_name else number

    def placed(self, section: str) -> Iterator[Requirement]:
        for requirement in (*self.requirements, *self.inferred):
            if _place(requirement) == section:
                yield requirement


class Section(NamedTuple):
    id: str
    title: str
    body: Callable[[Findings], str]


def write(findings: Findings) -> Document:
    about = findings.case.domain or findings.case.case_id
    return {
        "title": f"Requirements document: {about}",
        "sections": [
            {"id": section.id, "title": section.title, "body": section.body(findings)}
            for section in SECTIONS
        ],
    }


def _place(requirement: Requirement) -> str:
    if requirement.get("inference_type") in PROTECTING:
        return "security_compliance"
    return PLACES.get(str(requirement.get("type")), "functional")


def _overview(findings: Findings) -> str:
    about = f" about {plain(findings.case.domain)}" if findings.case.domain else ""
    speakers = sorted({plain(message.speaker) for message in findings.case.messages})
    sentence = (
        f"A conversation{about} between {' and '.join(speakers)}" if speakers else "Nobody spoke"
    )
    counts = [
        counted(len(findings.requirements), "stated requirement", "stated requirements"),
        counted(len(findings.inferred), "inferred one", "inferred ones")
        + ", which nobody asked for",
        counted(len(findings.issues), "open issue", "open issues"),
    ]
    long = counted(len(findings.case.messages), "message", "messages")
    return f"{sentence}, {long} long.\n\n{bullets(counts)}"


def _stakeholders(findings: Findings) -> str:
    actors = Counter(str(label.get("actor") or "").strip() for label in findings.requirements)
    named = [(actor, count) for actor, count in actors.most_common() if actor]
    return table(("Who", "Requirements"), ((plain(actor), str(n)) for actor, n in named))


def _use_cases(findings: Findings) -> str:
    people = dict.fromkeys(str(label.get("actor") or "") for label in findings.requirements)
    parts = []
    for actor in people:
        if actor.strip() and actor.strip().lower() != SYSTEM:
            does = [label for label in findings.requirements if label.get("actor") == actor]
            lines = (f"{plain(label.get('action'))} ({_number(label)})" for label in does)
            parts.append(f"**{plain(actor)}**\n\n{bullets(lines)}")
    return "\n\n".join(parts)


def _of_place(section: str) -> Callable[[Findings], str]:
    def body(findings: Findings) -> str:
        return "\n\n".join(_entry(label, findings) for label in findings.placed(section))

    return body


def _data_model(findings: Findings) -> str:
    """Things that several requirements mention, and what is said about data."""
    spoken = Counter(
        word
        for label in findings.requirements
        for word in content_words(str(label.get("title") or ""))
    )
    things = sorted(word for word, count in spoken.items() if count > 1)
    named = f"Spoken of more than once: {', '.join(map(plain, things))}." if things else ""
    return "\n\n".join(filter(None, [named, _of_place("data_model")(findings)]))


def _edge_cases(findings: Findings) -> str:
    conditions = [
        f"{plain(label['condition'])}: {plain(label.get('action'))} ({_number(label)})"
        for label in findings.requirements
        if str(label.get("condition") or "").strip()
    ]
    issues = [
        f"**{findings.number_of(str(issue.get('requirement')))}** ({plain(issue.get('severity'))}, "
        f"{plain(str(issue.get('issue_type')).replace('_', ' '))}): {plain(issue.get('message'))}. "
        f"{plain(issue.get('suggested_fix'))}."
        for issue in findings.issues
    ]
    parts = [
        f"Conditions\n\n{bullets(conditions)}" if conditions else "",
        f"Open issues\n\n{bullets(issues)}" if issues else "",
    ]
    return "\n\n".join(filter(None, parts))


def _acceptance_tests(findings: Findings) -> str:
    return "\n\n".join(
        f"**{_number(label)} {plain(label.get('title'))}**\n\n{bullets(map(plain, criteria))}"
        for label in (*findings.requirements, *findings.inferred)
        if (criteria := [text for text in label.get("acceptance_criteria") or [] if text.strip()])
    )


def _traceability(findings: Findings) -> str:
    stated = ([*_traced(label), _quote(label, findings)] for label in findings.requirements)
    inferred = (
        [
            f"{_number(label)} {plain(label.get('title'))}",
            message_links(_messages_behind(label, findings)),
            f"follows from {', '.join(_triggers(label, findings))}",
        ]
        for label in findings.inferred
    )
    return table(("Requirement", "Messages", "Said there"), [*stated, *inferred])


def _traced(label: Requirement) -> list[str]:
    title = f"{_number(label)} {plain(label.get('title'))}"
    return [title, message_links(label.get("source_messages") or []) or "none"]


def _quote(label: Requirement, findings: Findings) -> str:
    cited = [index for index in label.get("source_messages") or [] if index in findings.messages]
    if not cited:
        return ""
    message = findings.messages[cited[0]]
    text = " ".join(message.content.split())
    shown = text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()}…"
    return f"{plain(message.speaker)}: {plain(shown)}"


def _entry(label: Requirement, findings: Findings) -> str:
    """Under its number, to which links lead."""
    parts = [
        f"### {_number(label)}\n\n**{plain(label.get('title'))}** ({plain(label.get('priority'))})",
        f"{plain(label.get('actor'))}: {plain(label.get('action'))}.",
    ]
    if str(label.get("condition") or "").strip():
        parts.append(f"{plain(label['condition'])}.")
    if "triggered_by" in label:
        because = (
            f"{plain(label.get('necessity'))}, follows from {', '.join(_triggers(label, findings))}"
        )
        parts.append(f"*Inferred: {because}.* {plain(label.get('rationale'))}")
    else:
        cited = label.get("source_messages") or []
        word = "Message" if len(cited) == 1 else "Messages"
        parts.append(f"{word} {message_links(cited) or 'none'}.")
    return " ".join(parts)


def _triggers(label: Requirement, findings: Findings) -> list[str]:
    return [findings.link_to(str(name)) for name in label.get("triggered_by") or []]


def _messages_behind(label: Requirement, findings: Findings) -> list[int]:
    """Those of the requirements that it follows from."""
    bases = (findings.by_name.get(str(name), {}) for name in label.get("triggered_by") or [])
    return sorted({index for base in bases for index in base.get("source_messages") or []})


def _number(label: Requirement) -> str:
    return plain(label.get("id") or name_of(label))


SECTIONS = (
    Section("overview", "Overview", _overview),
    Section("stakeholders", "Stakeholders", _stakeholders),
    Section("use_cases", "Use cases", _use_cases),
    Section("functional", "Functional requirements", _of_place("functional")),
    Section("non_functional", "Non-functional requirements", _of_place("non_functional")),
    Section("data_model", "Data model", _data_model),
    Section("security_compliance", "Security and compliance", _of_place("security_compliance")),
    Section("interfaces", "Interfaces", _of_place("interfaces")),
    Section("edge_cases", "Edge cases and errors", _edge_cases),
    Section("acceptance_tests", "Acceptance criteria and tests", _acceptance_tests),
    Section("traceability", "Traceability matrix", _traceability),
)
