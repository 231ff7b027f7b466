"""The eleven sections of a requirements document. An empty body says that there is nothing to say.

A requirement stands in exactly one of the sections 4 to 8, by its type; an inferred one that is
needed for security or by law stands in the seventh whatever its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pipelines.requirements.document.markdown import (
    bullets,
    counted,
    message_links,
    number_link,
    plain,
    table,
)
from pipelines.requirements.extraction.text import content_words
from pipelines.requirements.wording import Requirement, name_of
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
    issues: Sequence[Mapping[str, Any]]

    @cached_property
    def by_name(self) -> dict[str, Requirement]:
        return {name_of(one): one for one in self.requirements}

    @cached_property
    def messages(self) -> dict[int, Message]:
        return {message.index: message for message in self.case.messages}

    def number_of(self, name: str) -> str:
        """The number under which a requirement stands in the document."""
        return plain(self.by_name[name].get("id") or name) if name in self.by_name else plain(name)

    def link_to(self, name: str) -> str:
        number = self.number_of(name)
        return number_link(number) if name in self.by_name else number

    def placed(self, section: str) -> Iterator[Requirement]:
        for one in (*self.requirements, *self.inferred):
            if _place(one) == section:
                yield one


class Section(NamedTuple):
    id: str
    title: str
    body: Callable[[Findings], str]


def write(findings: Findings) -> dict[str, Any]:
    """``{"title", "sections": [{"id", "title", "body"}]}``; bodies are Markdown."""
    about = findings.case.domain or findings.case.case_id
    return {
        "title": f"Requirements document: {about}",
        "sections": [
            {"id": one.id, "title": one.title, "body": one.body(findings)} for one in SECTIONS
        ],
    }


def _place(requirement: Requirement) -> str:
    if requirement.get("inference_type") in PROTECTING:
        return "security_compliance"
    return PLACES.get(str(requirement.get("type")), "functional")


def _overview(found: Findings) -> str:
    about = f" about {plain(found.case.domain)}" if found.case.domain else ""
    speakers = sorted({plain(message.speaker) for message in found.case.messages})
    said = f"A conversation{about} between {' and '.join(speakers)}" if speakers else "Nobody spoke"
    counts = [
        counted(len(found.requirements), "stated requirement", "stated requirements"),
        f"{counted(len(found.inferred), 'inferred one', 'inferred ones')}, which nobody asked for",
        counted(len(found.issues), "open issue", "open issues"),
    ]
    long = counted(len(found.case.messages), "message", "messages")
    return f"{said}, {long} long.\n\n{bullets(counts)}"


def _stakeholders(found: Findings) -> str:
    actors = Counter(str(one.get("actor") or "").strip() for one in found.requirements)
    named = [(actor, count) for actor, count in actors.most_common() if actor]
    return table(("Who", "Requirements"), ((plain(actor), str(n)) for actor, n in named))


def _use_cases(found: Findings) -> str:
    people = dict.fromkeys(str(one.get("actor") or "") for one in found.requirements)
    parts = []
    for actor in people:
        if actor.strip() and actor.strip().lower() != SYSTEM:
            does = [one for one in found.requirements if one.get("actor") == actor]
            lines = (f"{plain(one.get('action'))} ({_number(one)})" for one in does)
            parts.append(f"**{plain(actor)}**\n\n{bullets(lines)}")
    return "\n\n".join(parts)


def _of_place(section: str) -> Callable[[Findings], str]:
    def body(found: Findings) -> str:
        return "\n\n".join(_entry(one, found) for one in found.placed(section))

    return body


def _data_model(found: Findings) -> str:
    """The things that several requirements speak of, and what is said of data."""
    spoken = Counter(
        word for one in found.requirements for word in content_words(str(one.get("title") or ""))
    )
    things = sorted(word for word, count in spoken.items() if count > 1)
    named = f"Spoken of more than once: {', '.join(map(plain, things))}." if things else ""
    return "\n\n".join(filter(None, [named, _of_place("data_model")(found)]))


def _edge_cases(found: Findings) -> str:
    conditions = [
        f"{plain(one['condition'])}: {plain(one.get('action'))} ({_number(one)})"
        for one in found.requirements
        if str(one.get("condition") or "").strip()
    ]
    issues = [
        f"**{found.number_of(str(one.get('requirement')))}** ({plain(one.get('severity'))}, "
        f"{plain(str(one.get('issue_type')).replace('_', ' '))}): {plain(one.get('message'))}. "
        f"{plain(one.get('suggested_fix'))}."
        for one in found.issues
    ]
    parts = [
        f"Conditions\n\n{bullets(conditions)}" if conditions else "",
        f"Open issues\n\n{bullets(issues)}" if issues else "",
    ]
    return "\n\n".join(filter(None, parts))


def _acceptance_tests(found: Findings) -> str:
    return "\n\n".join(
        f"**{_number(one)} {plain(one.get('title'))}**\n\n{bullets(map(plain, criteria))}"
        for one in (*found.requirements, *found.inferred)
        if (criteria := [text for text in one.get("acceptance_criteria") or [] if text.strip()])
    )


def _traceability(found: Findings) -> str:
    stated = ([*_traced(one), _quote(one, found)] for one in found.requirements)
    inferred = (
        [
            f"{_number(one)} {plain(one.get('title'))}",
            message_links(_messages_behind(one, found)),
            f"follows from {', '.join(_triggers(one, found))}",
        ]
        for one in found.inferred
    )
    return table(("Requirement", "Messages", "Said there"), [*stated, *inferred])


def _traced(one: Requirement) -> list[str]:
    title = f"{_number(one)} {plain(one.get('title'))}"
    return [title, message_links(one.get("source_messages") or []) or "none"]


def _quote(one: Requirement, found: Findings) -> str:
    cited = [index for index in one.get("source_messages") or [] if index in found.messages]
    if not cited:
        return ""
    message = found.messages[cited[0]]
    text = " ".join(message.content.split())
    shown = text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()}…"
    return f"{plain(message.speaker)}: {plain(shown)}"


def _entry(one: Requirement, found: Findings) -> str:
    """Under its number, to which links lead."""
    parts = [
        f"### {_number(one)}\n\n**{plain(one.get('title'))}** ({plain(one.get('priority'))})",
        f"{plain(one.get('actor'))}: {plain(one.get('action'))}.",
    ]
    if str(one.get("condition") or "").strip():
        parts.append(f"{plain(one['condition'])}.")
    if "triggered_by" in one:
        because = f"{plain(one.get('necessity'))}, follows from {', '.join(_triggers(one, found))}"
        parts.append(f"*Inferred: {because}.* {plain(one.get('rationale'))}")
    else:
        cited = one.get("source_messages") or []
        word = "Message" if len(cited) == 1 else "Messages"
        parts.append(f"{word} {message_links(cited) or 'none'}.")
    return " ".join(parts)


def _triggers(one: Requirement, found: Findings) -> list[str]:
    return [found.link_to(str(name)) for name in one.get("triggered_by") or []]


def _messages_behind(one: Requirement, found: Findings) -> list[int]:
    """Those of the requirements that it follows from."""
    bases = (found.by_name.get(str(name), {}) for name in one.get("triggered_by") or [])
    return sorted({index for base in bases for index in base.get("source_messages") or []})


def _number(one: Requirement) -> str:
    return plain(one.get("id") or name_of(one))


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
