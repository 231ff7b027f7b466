"""The sections of a requirements document. An empty body means that nothing was said.

A stated requirement is in exactly one section, by its type. What is only assumed has a section of
its own; what was refused or taken back is out of scope. Whatever is told leads to its messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten
from typing import NamedTuple

from pipelines.requirements.document import talk
from pipelines.requirements.document.markdown import (
    bullets,
    counted,
    message_links,
    number_link,
    plain,
    table,
)
from pipelines.requirements.document.talk import Talk
from pipelines.requirements.extraction.plain_words import clean
from pipelines.requirements.extraction.state import Commitment, OpenQuestion, Utterance
from pipelines.requirements.labels import (
    Document,
    Issue,
    Requirement,
    name_of,
    sureness_of,
    text_of,
)
from pipelines.requirements.language import NOTICE, is_foreign
from pipelines.requirements.text import content_words, lower_first, upper_first
from pipelines.requirements.validation import reading
from pipelines.types import Case, Message

QUOTED = 120  # characters of a sentence in a table
SYSTEM = "system"
JOINING = {"if", "when", "whenever", "after", "before", "while", "until", "unless", "once"}
PLACES = {
    "functional": "functional",
    "non-functional": "non_functional",
    "constraint": "non_functional",
    "data": "data_model",
    "security": "security_compliance",
    "interface": "interfaces",
}
PRIORITIES = ("must", "should", "could")
ENDED = {"refused": "not wanted", "withdrawn": "taken back"}
LEFT_OPEN = {
    "unanswered": "not answered",
    "undecided": "not decided",
    "named": "named as open",
}


@dataclass(frozen=True)
class Findings:
    """What is found so far; of all of it the document is made."""

    case: Case
    requirements: Sequence[Requirement] = ()
    inferred: Sequence[Requirement] = ()
    issues: Sequence[Issue] = ()

    @cached_property
    def by_name(self) -> dict[str, Requirement]:
        return {name_of(requirement): requirement for requirement in self.requirements}

    @cached_property
    def messages(self) -> dict[int, Message]:
        return {message.index: message for message in self.case.messages}

    @cached_property
    def talk(self) -> Talk:
        return talk.of(self.case)

    @cached_property
    def unusable(self) -> dict[str, str]:
        return reading.unusable(self.requirements)

    def links(self, names: Sequence[object]) -> str:
        """To requirements, each once."""
        return ", ".join(
            number_link(_number(self.by_name[name])) if name in self.by_name else plain(name)
            for name in dict.fromkeys(map(str, names))
        )


class Section(NamedTuple):
    id: str
    title: str
    body: Callable[[Findings], str]


def write(findings: Findings) -> Document:
    about = findings.case.domain or findings.case.case_id
    document: Document = {
        "title": f"Requirements document: {about}",
        "sections": [
            {"id": section.id, "title": section.title, "body": section.body(findings)}
            for section in SECTIONS
        ],
    }
    if warning := notice(findings):
        document["notice"] = warning
    return document


def notice(findings: Findings) -> str:
    """What has to be read before anything else; empty if the requirements can be used."""
    if is_foreign(findings.case.messages):
        return NOTICE
    count, total = len(findings.unusable), len(findings.requirements)
    if not reading.is_alarm(count, total):
        return ""
    return (
        f"Most of these requirements are not usable: {count} of {total} cannot be built or tested "
        "as they are worded. Each of them says why. Read the conversation before you rely on any."
    )


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


# --- the talk -----------------------------------------------------------------------------------


def _overview(findings: Findings) -> str:
    speakers = sorted({plain(message.speaker) for message in findings.case.messages})
    spoke = f"A conversation of {', '.join(speakers)}" if speakers else "Nobody spoke"
    counts = [
        counted(len(findings.requirements), "stated requirement", "stated requirements"),
        counted(len(findings.inferred), "assumption", "assumptions") + ", which nobody asked for",
        counted(len(findings.talk.open_questions), "open question", "open questions"),
        counted(len(list(_points(findings))), "remark", "remarks") + " on the wording",
    ]
    wanted = any(label.get("wanted") is not None for label in findings.requirements)
    means = "the estimated chance that it is wanted" if wanted else "how sure the program is of it"
    return _paragraphs(
        f"{spoke}, {counted(len(findings.case.messages), 'message', 'messages')} long.",
        "A program made this document from the conversation at its end, and numbers that are links "
        "are those of messages. Confirm it with the client before you build on it.",
        bullets(counts),
        f"Behind each requirement are its priority and {means}, from 0 to 1."
        if any(sureness_of(label) is not None for label in findings.requirements)
        else "",
    )


def _stakeholders(findings: Findings) -> str:
    """Who is named in the talk, and who acts in a requirement."""
    acting: dict[str, list[Requirement]] = {}
    for label in findings.requirements:
        acting.setdefault(str(label.get("actor") or "").strip(), []).append(label)
    named = findings.talk.people()
    everybody = dict.fromkeys([*sorted(named, key=lambda one: -len(named[one])), *acting])
    rows = [
        (
            plain(person),
            message_links(named.get(person) or _all_sources(acting[person])),
            str(len(acting.get(person, ())) or ""),
        )
        for person in everybody
        if person and person.lower() != SYSTEM
    ]
    return table(("Who", "In messages", "Acts in requirements"), rows)


def _scope(findings: Findings) -> str:
    """The requirements by priority, and what was ruled out."""
    inside = []
    for priority in PRIORITIES:
        labels = [label for label in findings.requirements if label.get("priority") == priority]
        if labels:
            links = findings.links([name_of(label) for label in labels])
            inside.append(f"**{upper_first(priority)}** ({len(labels)}): {links}")
    outside = [
        (_as_put(one.text, one.sentence), message_links(one.messages), _ending(one))
        for one in findings.talk.ended
        if one.text.strip()
    ]
    ruled_out = table(("Wish or proposal", "Messages", "What became of it"), outside)
    return _paragraphs(
        f"Within scope:\n\n{bullets(inside)}" if inside else "",
        f"Out of scope:\n\n{ruled_out}" if ruled_out else "",
    )


def _open_questions(findings: Findings) -> str:
    return bullets(map(_open_question, findings.talk.open_questions))


def _open_question(open_question: OpenQuestion) -> str:
    said = f"{_said(open_question.question)}: {LEFT_OPEN[open_question.reason]}"
    return f"{said}, {_said(open_question.reply)}" if open_question.reply else said


def _ending(commitment: Commitment) -> str:
    ending, became = commitment.ended_by, ENDED[commitment.state]
    if ending is None:
        return became
    words = f": “{plain(ending.words)}”" if ending.words.strip() else ""
    return f"{became} in message {message_links([ending.message])}{words}"


def _as_put(text: str, said: Utterance | None) -> str:
    """What is left of a question ends like one."""
    text = upper_first(clean(text))
    asked = said is not None and clean(said.text).endswith("?")  # "…, right?" is no question
    return plain(f"{text}?" if asked and text[-1:] not in (".", "!", "?") else text)


def _said(utterance: Utterance) -> str:
    return f"“{plain(utterance.text)}” ({message_links([utterance.message])})"


# --- the requirements ---------------------------------------------------------------------------


def _of_type(section: str) -> Callable[[Findings], str]:
    """The requirements of a section, what is only quoted last."""

    def body(findings: Findings) -> str:
        here = [
            label
            for label in findings.requirements
            if PLACES.get(str(label.get("type")), "functional") == section
        ]
        here.sort(key=lambda label: bool(label.get("quoted")))
        return _paragraphs(*(_entry(label, findings) for label in here))

    return body


def _entry(label: Requirement, findings: Findings) -> str:
    """Under its number, to which links lead."""
    cited = _sources(label)
    said_in = f"{'Message' if len(cited) == 1 else 'Messages'} {message_links(cited) or 'none'}."
    why = findings.unusable.get(name_of(label))
    return _paragraphs(
        f"### {_number(label)}",
        _headline(label),
        f"{_does(label)} {said_in}",
        f"**Not usable as it is worded:** {plain(why)}." if why else "",
    )


def _headline(label: Requirement) -> str:
    title, known = plain(label.get("title")), sureness_of(label)
    name = "confidence" if label.get("wanted") is None else "likely wanted"
    sure = "" if known is None else f", {name} {known:.2f}"
    return f"**{title}** ({plain(label.get('priority'))}{sure})"


def _does(label: Requirement) -> str:
    """Who does what; words that only quote the talk say so."""
    action = plain(label.get("action"))
    if label.get("quoted"):
        return f"In the words of the talk: {action}"
    condition = str(label.get("condition") or "").strip()
    if condition and condition.lower() not in action.lower():
        joins = condition.split()[0].lower() in JOINING and not action.endswith((".", "!", "?"))
        action += f" {plain(lower_first(condition))}" if joins else f". {plain(condition)}"
    end = "" if action.endswith((".", "!", "?")) else "."
    return f"{plain(label.get('actor'))}: {action}{end}"


def _use_cases(findings: Findings) -> str:
    does: dict[str, list[str]] = {}
    for label in findings.requirements:
        actor = str(label.get("actor") or "").strip()
        if actor and actor.lower() != SYSTEM:
            line = f"{plain(label.get('action'))} ({findings.links([name_of(label)])})"
            does.setdefault(actor, []).append(line)
    return _paragraphs(*(f"**{plain(actor)}**\n\n{bullets(does[actor])}" for actor in does))


def _edge_cases(findings: Findings) -> str:
    conditions = [
        f"{plain(label['condition'])}: {_titled(label)}"
        for label in findings.requirements
        if str(label.get("condition") or "").strip()
    ]
    points = list(_points(findings))
    return _paragraphs(
        f"Conditions\n\n{bullets(conditions)}" if conditions else "",
        f"To be mended in the wording\n\n{bullets(points)}" if points else "",
    )


def _points(findings: Findings) -> Iterator[str]:
    """What is wrong with the wording, each point once, with all that it holds for."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for issue in findings.issues:
        kind = f"{issue.get('severity')}, {str(issue.get('issue_type')).replace('_', ' ')}"
        point = (kind, str(issue.get("message")), str(issue.get("suggested_fix")))
        places.setdefault(point, []).append(str(issue.get("requirement")))
    for (kind, message, fix), names in places.items():
        yield f"{findings.links(names)} ({plain(kind)}): {plain(message)}. {plain(fix)}."


def _assumptions(findings: Findings) -> str:
    return _paragraphs(
        *(
            _paragraphs(
                f"### {_number(label)}",
                _headline(label),
                f"{_does(label)} *Assumed: {plain(label.get('necessity'))}, "
                f"{_follows(label, findings)}.* {plain(label.get('rationale'))}".rstrip(),
            )
            for label in findings.inferred
        )
    )


def _follows(label: Requirement, findings: Findings) -> str:
    return f"follows from {findings.links(label.get('triggered_by') or [])}"


def _acceptance_tests(findings: Findings) -> str:
    """What was said to be tested; what nobody has said is asked for once."""
    entries = [
        f"**{_titled(label)}**\n\n{bullets(map(plain, _criteria(label)))}"
        for label in (*findings.requirements, *findings.inferred)
        if _criteria(label)
    ]
    untold = sum(not _criteria(label) for label in findings.requirements)
    if untold:
        untested = counted(untold, "requirement", "requirements")
        entries.append(f"Nobody has said how to test {untested}: ask for it.")
    return _paragraphs(*entries)


def _criteria(label: Requirement) -> list[str]:
    return [text for text in label.get("acceptance_criteria") or [] if text.strip()]


def _traceability(findings: Findings) -> str:
    said: dict[int, list[Utterance]] = {}
    for utterance in findings.talk.said:
        said.setdefault(utterance.message, []).append(utterance)
    rows = [
        (
            _titled(label),
            message_links(_sources(label)) or "none",
            _quote(label, findings.messages, said),
        )
        for label in findings.requirements
    ]
    for label in findings.inferred:
        names = map(str, label.get("triggered_by") or [])
        bases = [findings.by_name[name] for name in names if name in findings.by_name]
        rows.append((_titled(label), message_links(_all_sources(bases)), _follows(label, findings)))
    return table(("Requirement", "Messages", "Said there"), rows)


def _quote(
    label: Requirement, messages: dict[int, Message], said: dict[int, list[Utterance]]
) -> str:
    """The sentence of the cited messages that has most of its words."""
    cited = [messages[index] for index in _sources(label) if index in messages]
    if not cited:
        return ""
    meant = content_words(text_of(label))
    sentences = [
        (message.speaker, each.text) for message in cited for each in said.get(message.index, ())
    ]
    who, text = max(
        sentences or [(cited[0].speaker, cited[0].content)],
        key=lambda one: len(meant & content_words(one[1])),
    )
    return f"{plain(who)}: {plain(shorten(text, QUOTED, placeholder='…'))}"


def _sources(label: Requirement) -> list[int]:
    return label.get("source_messages") or []


def _all_sources(labels: Sequence[Requirement]) -> list[int]:
    return sorted({index for label in labels for index in _sources(label)})


def _titled(label: Requirement) -> str:
    return f"{number_link(_number(label))} {plain(label.get('title'))}"


def _number(label: Requirement) -> str:
    """The number that a requirement has in the document."""
    return plain(label.get("id") or name_of(label))


SECTIONS = (
    Section("overview", "Overview", _overview),
    Section("scope", "Scope", _scope),
    Section("stakeholders", "Stakeholders", _stakeholders),
    Section("use_cases", "Use cases", _use_cases),
    Section("functional", "Functional requirements", _of_type("functional")),
    Section("non_functional", "Non-functional requirements", _of_type("non_functional")),
    Section("data_model", "Data", _of_type("data_model")),
    Section(
        "security_compliance",
        "Security and compliance",
        _of_type("security_compliance"),
    ),
    Section("interfaces", "Interfaces", _of_type("interfaces")),
    Section("edge_cases", "Conditions and remarks on the wording", _edge_cases),
    Section("open_questions", "Open questions", _open_questions),
    Section("assumptions", "Assumptions", _assumptions),
    Section("acceptance_tests", "Acceptance criteria and tests", _acceptance_tests),
    Section("traceability", "Traceability matrix", _traceability),
)
