"""The sections of a requirements document. An empty body means that nothing was said.

A stated requirement is in exactly one section, by its type. What is only assumed has a section of
its own, and so has what was refused or taken back. Whatever is told leads to its messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
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
from pipelines.requirements.extraction.state import Commitment, Decision, OpenQuestion, Utterance
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

QUOTED = 120  # characters of a message in the traceability matrix
MOST_ALSO_SAID = 8  # sentences about data, or about security, beside the requirements
MOST_SPEAKERS = 8
MOST_PEOPLE = 15
MOST_THINGS = 12
MOST_LINKS = 8
MOST_MENTIONS = 8
MOST_IN_SCOPE = 12  # titles of a priority
ALIKE = 0.5
"""Share of the words of a decision that the requirement made of it has, too."""
MORE_THAN_YES = 2  # words of an answer that are about something
SYSTEM = "system"
UNSURE_BELOW = 0.5
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
OUTCOMES = {
    "accepted": "agreed",
    "chosen": "chosen",
    "changed": "changed",
    "refused": "not wanted",
    "withdrawn": "taken back",
    "put_off": "put off",
}
LEFT_OPEN = {
    "unanswered": "not answered",
    "undecided": "not decided",
    "named": "named as open",
}


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

    @cached_property
    def talk(self) -> Talk:
        return talk.of(self.case)

    @cached_property
    def unusable(self) -> dict[str, str]:
        return reading.unusable(self.requirements)

    def number_of(self, name: str) -> str:
        """The number that a requirement has in the document."""
        return plain(self.by_name[name].get("id") or name) if name in self.by_name else plain(name)

    def link_to(self, name: str) -> str:
        number = self.number_of(name)
        return number_link(number) if name in self.by_name else number

    def placed(self, section: str) -> list[Requirement]:
        """Those of a section; what is only quoted follows what is worded."""
        here = [label for label in self.requirements if _place(label) == section]
        return sorted(here, key=lambda label: bool(label.get("quoted")))


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


def _place(requirement: Requirement) -> str:
    return PLACES.get(str(requirement.get("type")), "functional")


def _overview(findings: Findings) -> str:
    speakers = sorted({plain(message.speaker) for message in findings.case.messages})
    more = f"{len(speakers) - MOST_SPEAKERS} more"
    named = speakers if len(speakers) <= MOST_SPEAKERS else [*speakers[:MOST_SPEAKERS], more]
    if len(named) > 1:
        sentence = f"A conversation between {', '.join(named[:-1])} and {named[-1]}"
    else:
        sentence = f"Only {named[0]} spoke" if named else "Nobody spoke"
    counts = [
        counted(len(findings.requirements), "stated requirement", "stated requirements"),
        counted(len(findings.inferred), "assumption", "assumptions") + ", which nobody asked for",
        counted(len(findings.talk.left_open), "open question", "open questions"),
        counted(len(list(_points(findings))), "remark", "remarks") + " on the wording",
    ]
    long = counted(len(findings.case.messages), "message", "messages")
    parts = [
        f"{sentence}, {long} long.",
        "A program made this document from the conversation at its end, and numbers that are links "
        "are those of messages. Confirm it with the client before you build on it.",
        bullets(counts),
        _figures(findings),
        _sureness(findings),
    ]
    return "\n\n".join(filter(None, parts))


def _figures(findings: Findings) -> str:
    """What stands in brackets behind a requirement."""
    known = [label for label in findings.requirements if sureness_of(label) is not None]
    if not known:
        return ""
    wanted = any(label.get("wanted") is not None for label in known)
    means = "the estimated chance that it is wanted" if wanted else "how sure the program is of it"
    return f"Behind each requirement are its priority and {means}, from 0 to 1."


def _sureness(findings: Findings) -> str:
    sure = [known for label in findings.requirements if (known := sureness_of(label)) is not None]
    if not sure or fmean(sure) >= UNSURE_BELOW:
        return ""
    knows = any(label.get("wanted") is not None for label in findings.requirements)
    what = "the chance that one of them is wanted" if knows else "their confidence"
    return (
        f"The requirements are unsure: {what} is {fmean(sure):.2f} on average. Hold each against "
        "the messages that it cites."
    )


def _stakeholders(findings: Findings) -> str:
    """Who is named in the talk, and who acts in a requirement."""
    acting = Counter(str(label.get("actor") or "").strip() for label in findings.requirements)
    named = findings.talk.people()
    everybody = dict.fromkeys([*sorted(named, key=lambda one: -len(named[one])), *acting])
    shown = [one for one in everybody if one and one.lower() != SYSTEM]
    rows = (
        (
            plain(person),
            _mentions(named.get(person) or _messages_of(person, findings)),
            str(acting[person] or ""),
        )
        for person in shown[:MOST_PEOPLE]
    )
    return table(("Who", "In messages", "Acts in requirements"), rows)


def _messages_of(actor: str, findings: Findings) -> list[int]:
    acts = (label for label in findings.requirements if label.get("actor") == actor)
    return sorted({index for label in acts for index in label.get("source_messages") or []})


def _mentions(messages: Sequence[int]) -> str:
    more = "" if len(messages) <= MOST_MENTIONS else " …"
    return message_links(messages[:MOST_MENTIONS]) + more


def _scope(findings: Findings) -> str:
    aims = "\n\n".join(f"> {_said(each)}" for each in findings.talk.aims())
    inside = [
        f"**{upper_first(priority)}**\n\n{bullets(listed)}"
        for priority in PRIORITIES
        if (listed := list(_inside(priority, findings)))
    ]
    outside = [
        f"{_as_said(one)}: {_became(one)} ({message_links([_last_message(one)])})"
        for one in findings.talk.ended
        if one.text.strip()
    ]
    parts = [
        f"What it is for, in the client's words:\n\n{aims}" if aims else "",
        "\n\n".join(["Within scope:", *inside]) if inside else "",
        f"Out of scope:\n\n{bullets(outside)}" if outside else "",
    ]
    return "\n\n".join(filter(None, parts))


def _inside(priority: str, findings: Findings) -> Iterator[str]:
    """What is worded by its title, and how much has still to be worded."""
    labels = [label for label in findings.requirements if label.get("priority") == priority]
    quoted = [label for label in labels if label.get("quoted")]
    worded = [label for label in labels if not label.get("quoted")]
    shown = worded if len(worded) <= MOST_IN_SCOPE + 1 else worded[:MOST_IN_SCOPE]
    yield from (_listed(label, findings) for label in shown)
    if more := worded[len(shown) :]:
        yield f"{len(more)} more: {', '.join(_link(label, findings) for label in more)}"
    if quoted:
        said = counted(len(quoted), "statement", "statements")
        links = ", ".join(_link(label, findings) for label in quoted)
        yield f"{said} in the words of the talk: {links}"


def _link(label: Requirement, findings: Findings) -> str:
    return findings.link_to(name_of(label))


def _listed(label: Requirement, findings: Findings) -> str:
    return f"{_link(label, findings)} {plain(label.get('title'))}"


def _use_cases(findings: Findings) -> str:
    people = dict.fromkeys(str(label.get("actor") or "") for label in findings.requirements)
    parts = []
    for actor in people:
        if actor.strip() and actor.strip().lower() != SYSTEM:
            does = [label for label in findings.requirements if label.get("actor") == actor]
            lines = (
                f"{plain(label.get('action'))} ({findings.link_to(name_of(label))})"
                for label in does
            )
            parts.append(f"**{plain(actor)}**\n\n{bullets(lines)}")
    return "\n\n".join(parts)


def _of_place(section: str) -> Callable[[Findings], str]:
    def body(findings: Findings) -> str:
        return "\n\n".join(_entry(label, findings) for label in findings.placed(section))

    return body


def _with_what_was_said(section: str, kind: str) -> Callable[[Findings], str]:
    """The requirements of a section, and what else the client said about its subject."""

    def body(findings: Findings) -> str:
        said = findings.talk.about(kind, without=sorted(_cited(findings)))[:MOST_ALSO_SAID]
        also = f"Also said:\n\n{bullets(_said(each) for each in said)}" if said else ""
        return "\n\n".join(filter(None, [_of_place(section)(findings), also]))

    return body


def _data_model(findings: Findings) -> str:
    """Things that several requirements name, and what is said about data."""
    spoken = findings.talk.things()
    naming: dict[str, list[str]] = {}
    for label in findings.requirements:
        for word in content_words(text_of(label)) & spoken.keys():
            naming.setdefault(word, []).append(name_of(label))
    rows = [
        (plain(word), _links(naming[word], findings))
        for word in sorted(naming, key=lambda word: (-spoken[word], word))
        if len(naming[word]) > 1 and spoken[word] > 1
    ]
    things = table(("Thing", "Named by"), rows[:MOST_THINGS])
    return "\n\n".join(filter(None, [things, _with_what_was_said("data_model", "data")(findings)]))


def _links(names: Sequence[str], findings: Findings) -> str:
    """To requirements; of many only the first, and how many more there are."""
    links = [findings.link_to(name) for name in dict.fromkeys(names)]
    shown = links if len(links) <= MOST_LINKS + 1 else links[:MOST_LINKS]
    more = f" and {len(links) - len(shown)} more" if len(links) > len(shown) else ""
    return ", ".join(shown) + more


def _decisions(findings: Findings) -> str:
    """A requirement that was decided on more than once has one row, the last."""
    rows: dict[object, tuple[str, ...]] = {}
    for decision in findings.talk.decisions:
        became = _became_of(decision, findings)
        if decision.outcome == "accepted" and not (became and _says_more_than_yes(decision)):
            continue  # the requirement cites the yes
        outcome = OUTCOMES[talk.outcome_of(decision.outcome, decision.answer.text)]
        row = (
            message_links([decision.answer.message]),
            _as_put(decision.text, decision.question),
            f"{outcome}: {findings.link_to(became)}" if became else outcome,
            f"“{plain(shortened(decision.answer.text))}”",
        )
        rows.pop(became or row, None)
        rows[became or row] = row
    return table(("Message", "What was decided on", "Outcome", "In these words"), rows.values())


def _says_more_than_yes(decision: Decision) -> bool:
    summed_up = decision.question is not None and "recap" in decision.question.acts
    return not summed_up and len(content_words(decision.answer.text)) >= MORE_THAN_YES


def _became_of(decision: Decision, findings: Findings) -> str:
    """The requirement that was made of it, if any."""
    if decision.outcome not in ("accepted", "chosen"):
        return ""
    meant = content_words(decision.text)
    alike = {
        name_of(label): len(meant & _words(label)) / len(meant)
        for label in findings.requirements
        if meant and decision.answer.message in (label.get("source_messages") or [])
    }
    became = max(alike, key=lambda name: alike[name], default="")
    return became if alike.get(became, 0) >= ALIKE else ""


def _words(label: Requirement) -> frozenset[str] | set[str]:
    return content_words(f"{text_of(label)} {label.get('condition') or ''}")


def _open_questions(findings: Findings) -> str:
    return bullets(map(_open_question, findings.talk.left_open))


def _cited(findings: Findings) -> set[int]:
    return {
        index for label in findings.requirements for index in label.get("source_messages") or []
    }


def _open_question(open_question: OpenQuestion) -> str:
    said = f"{_said(open_question.question)}: {LEFT_OPEN[open_question.reason]}"
    return f"{said}, {_said(open_question.reply)}" if open_question.reply else said


def _edge_cases(findings: Findings) -> str:
    conditions = [
        f"{plain(label['condition'])}: {_listed(label, findings)}"
        for label in findings.requirements
        if str(label.get("condition") or "").strip()
    ]
    points = list(_points(findings))
    parts = [
        f"Conditions\n\n{bullets(conditions)}" if conditions else "",
        f"To be mended in the wording\n\n{bullets(points)}" if points else "",
    ]
    return "\n\n".join(filter(None, parts))


def _points(findings: Findings) -> Iterator[str]:
    """What is wrong with the wording, each point once, with all that it holds for."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for issue in findings.issues:
        kind = f"{issue.get('severity')}, {str(issue.get('issue_type')).replace('_', ' ')}"
        point = (kind, str(issue.get("message")), str(issue.get("suggested_fix")))
        places.setdefault(point, []).append(str(issue.get("requirement")))
    for (kind, message, fix), names in places.items():
        yield f"{_links(names, findings)} ({plain(kind)}): {plain(message)}. {plain(fix)}."


def _assumptions(findings: Findings) -> str:
    return "\n\n".join(_assumption(label, findings) for label in findings.inferred)


def _assumption(label: Requirement, findings: Findings) -> str:
    because = f"{plain(label.get('necessity'))}, follows from {_triggers(label, findings)}"
    parts = [
        f"### {_number(label)}",
        _headline(label),
        f"{_does(label)} *Assumed: {because}.* {plain(label.get('rationale'))}".rstrip(),
    ]
    return "\n\n".join(parts)


def _acceptance_tests(findings: Findings) -> str:
    """What was said to be tested; what nobody has said is asked for once."""
    entries = [
        f"**{number_link(_number(label))} {plain(label.get('title'))}**"
        f"\n\n{bullets(map(plain, _criteria(label)))}"
        for label in (*findings.requirements, *findings.inferred)
        if _criteria(label)
    ]
    untold = [label for label in findings.requirements if not _criteria(label)]
    if untold:
        untested = counted(len(untold), "requirement", "requirements")
        entries.append(f"Nobody has said how to test {untested}: ask for it.")
    return "\n\n".join(entries)


def _criteria(label: Requirement) -> list[str]:
    return [text for text in label.get("acceptance_criteria") or [] if text.strip()]


def _traceability(findings: Findings) -> str:
    stated = ([*_traced(label), _quote(label, findings)] for label in findings.requirements)
    inferred = (
        [
            f"{number_link(_number(label))} {plain(label.get('title'))}",
            _mentions(_messages_behind(label, findings)),
            f"follows from {_triggers(label, findings)}",
        ]
        for label in findings.inferred
    )
    return table(("Requirement", "Messages", "Said there"), [*stated, *inferred])


def _traced(label: Requirement) -> list[str]:
    title = f"{number_link(_number(label))} {plain(label.get('title'))}"
    return [title, message_links(label.get("source_messages") or []) or "none"]


def _quote(label: Requirement, findings: Findings) -> str:
    """The sentence of the cited messages that has most of its words."""
    cited = [index for index in label.get("source_messages") or [] if index in findings.messages]
    if not cited:
        return ""
    meant = content_words(f"{label.get('title') or ''} {text_of(label)}")
    said = [each for index in cited for each in findings.talk.sentences_of(index)]
    closest = max(said, key=lambda each: len(meant & each.words), default=None)
    message = findings.messages[closest.utterance.message if closest else cited[0]]
    text = closest.utterance.text if closest else message.content
    return f"{plain(message.speaker)}: {plain(shortened(text, meant))}"


def shortened(text: str, about: Set[str] = frozenset()) -> str:
    """The part of a long text that has most of these words; its beginning if none has more."""
    words = text.split()
    text = " ".join(words)
    if len(text) <= QUOTED:
        return text
    best = max(range(len(words)), key=lambda at: len(about & content_words(_part(words, at))))
    part = _part(words, best)
    return f"{'…' if best else ''}{part}{'' if text.endswith(part) else '…'}"


def _part(words: Sequence[str], at: int) -> str:
    """As many words from there on as are quoted."""
    part = " ".join(words[at:])[: QUOTED + 1]
    return part[:QUOTED].rstrip() if len(part) <= QUOTED else part.rsplit(" ", 1)[0][:QUOTED]


def _withdrawn(findings: Findings) -> str:
    rows = (
        (_text(one), message_links(one.messages), _ending(one))
        for one in findings.talk.ended
        if one.text.strip()
    )
    return table(("Wish or proposal", "Messages", "What became of it"), rows)


def _ending(commitment: Commitment) -> str:
    ending = commitment.ended_by
    became = _became(commitment)
    if ending is None:
        return became
    words = f": “{plain(ending.words)}”" if ending.words.strip() else ""
    return f"{became} in message {message_links([ending.message])}{words}"


def _became(commitment: Commitment) -> str:
    words = commitment.ended_by.words if commitment.ended_by else ""
    return OUTCOMES[talk.outcome_of(commitment.state, words)]


def _last_message(commitment: Commitment) -> int:
    ending = commitment.ended_by
    return ending.message if ending else commitment.sentence.message


def _as_said(commitment: Commitment) -> str:
    return f"“{_text(commitment)}”"


def _text(commitment: Commitment) -> str:
    return _as_put(commitment.text, commitment.sentence)


def _as_put(text: str, said: Utterance | None) -> str:
    """What is left of a question ends like one."""
    text = upper_first(clean(text))
    asked = said is not None and clean(said.text).endswith("?")  # "…, right?" is no question
    asked = asked and text[-1:] not in (".", "!", "?")
    return plain(f"{text}?" if asked else text)


def _said(utterance: Utterance) -> str:
    return f"“{plain(utterance.text)}” ({message_links([utterance.message])})"


def _entry(label: Requirement, findings: Findings) -> str:
    """Under its number, to which links lead."""
    cited = label.get("source_messages") or []
    said_in = f"{'Message' if len(cited) == 1 else 'Messages'} {message_links(cited) or 'none'}."
    why = findings.unusable.get(name_of(label))
    parts = [
        f"### {_number(label)}",
        _headline(label),
        f"{_does(label)} {said_in}",
        f"**Not usable as it is worded:** {plain(why)}." if why else "",
    ]
    return "\n\n".join(filter(None, parts))


def _headline(label: Requirement) -> str:
    """A title that is only the beginning of the quotation below it is not said twice."""
    title = plain(label.get("title"))
    if label.get("quoted") and title.startswith("“"):
        title = "Quotation"
    return f"**{title}** ({_rank(label)})"


def _rank(label: Requirement) -> str:
    known = sureness_of(label)
    name = "confidence" if label.get("wanted") is None else "likely wanted"
    sure = "" if known is None else f", {name} {known:.2f}"
    return f"{plain(label.get('priority'))}{sure}"


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


def _triggers(label: Requirement, findings: Findings) -> str:
    return _links([str(name) for name in label.get("triggered_by") or []], findings)


def _messages_behind(label: Requirement, findings: Findings) -> list[int]:
    """Those of the requirements that it follows from."""
    bases = (findings.by_name.get(str(name), {}) for name in label.get("triggered_by") or [])
    return sorted({index for base in bases for index in base.get("source_messages") or []})


def _number(label: Requirement) -> str:
    return plain(label.get("id") or name_of(label))


SECTIONS = (
    Section("overview", "Overview", _overview),
    Section("scope", "Scope", _scope),
    Section("stakeholders", "Stakeholders", _stakeholders),
    Section("use_cases", "Use cases", _use_cases),
    Section("functional", "Functional requirements", _of_place("functional")),
    Section("non_functional", "Non-functional requirements", _of_place("non_functional")),
    Section("data_model", "Data", _data_model),
    Section(
        "security_compliance",
        "Security and compliance",
        _with_what_was_said("security_compliance", "security"),
    ),
    Section("interfaces", "Interfaces", _of_place("interfaces")),
    Section("edge_cases", "Conditions and remarks on the wording", _edge_cases),
    Section("open_questions", "Open questions", _open_questions),
    Section("decisions", "Decisions", _decisions),
    Section("assumptions", "Assumptions", _assumptions),
    Section("acceptance_tests", "Acceptance criteria and tests", _acceptance_tests),
    Section("traceability", "Traceability matrix", _traceability),
    Section("withdrawn", "Appendix: refused and withdrawn", _withdrawn),
)
