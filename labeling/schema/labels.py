"""The shapes of labels: what people (and pipelines) may say about a conversation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from labeling.schema.fields import (
    MIN_CRITERIA,
    MIN_PHASES,
    Confidence,
    Criteria,
    FieldSpan,
    Label,
    Line,
    Messages,
    MessageSpan,
    Named,
    OpenLine,
    OpenProse,
    Prose,
    References,
    Shape,
    Uid,
    asked,
    broken,
)

StoredLabel = dict[str, Any]
"""A label as plain JSON: what a person or a program said, by the names of its shape's fields."""

Payload = dict[str, list[StoredLabel]]
"""Labels as they are stored: by the keys of their layers."""

TYPES = {
    "functional": "What the system does: features and behavior",
    "non-functional": "How well it does it: speed, reliability, scale",
    "security": "Protection, access control, encryption",
    "data": "Storage, retention, privacy of data",
    "interface": "Screens, user experience, APIs",
    "constraint": "A technical or business limit",
}
PRIORITIES = {
    "must": "Essential: it does not work without it",
    "should": "Important, but it works without",
    "could": "Nice to have",
}
INFERENCE_TYPES = {
    "security": "Protection that nobody asked for but that is needed",
    "performance": "Speed or response time",
    "scalability": "Growth in users or data",
    "compliance": "Law, regulation, standards",
    "usability": "Ease of use and accessibility",
}
NECESSITIES = {
    "necessary": "The stated requirements do not work without it",
    "recommended": "Good practice; most would want it",
    "optional": "Useful, but nobody would miss it",
}
ISSUE_TYPES = {
    "ambiguous_verb": "A verb that may mean several things: handle, support, manage",
    "missing_actor": "Nobody is named who acts",
    "too_broad": "Several requirements in one, or no limit",
    "contradictory": "It contradicts itself or another requirement",
    "pii": "It holds personal data: a name, an address, a number",
    "untestable": "No test could tell whether it is met",
}
SEVERITIES = {
    "error": "It must be corrected before anybody builds on it",
    "warning": "It should be corrected",
    "info": "Worth a remark",
}
REQUIREMENT_FIELDS = {
    "title": "Title",
    "type": "Type",
    "actor": "Actor",
    "action": "Action",
    "condition": "Condition",
    "acceptance_criteria": "Acceptance criteria",
    "priority": "Priority",
    "source_messages": "Source messages",
    "rationale": "Rationale",
}
CATEGORIES = {
    "single-hop": "One message holds the answer",
    "multi-hop": "Several messages have to be combined",
    "temporal": "It asks when, how long, or in what order",
    "commonsense": "The messages and general knowledge together give the answer",
    "open-domain": "It needs knowledge from outside the conversation",
    "adversarial": "It sounds as if it were answered, but it is not",
}
SCORES = {0: "Not needed", 1: "Recommended", 2: "Definitely needed"}


class _RequirementText(Label):
    """The fields that stated and inferred requirements share."""

    id: str
    title: Line = asked("Title", help="A noun phrase: User Authentication", widget="text")
    type: Literal[*TYPES] = asked(  # type: ignore[valid-type]
        "Type", help="What kind of requirement it is", widget="choice", choices=TYPES
    )
    actor: Line = asked("Actor", help="One, and specific: Customer, System", widget="text")
    action: Prose = asked(
        "Action",
        help="An active verb and its object: Log in with email and password. No should, could",
        widget="textarea",
    )
    condition: OpenProse = asked(
        "Condition",
        help="When it applies; empty if always",
        widget="text",
        default=None,
    )
    acceptance_criteria: Criteria = asked(
        "Acceptance criteria",
        help="Two to five tests that can be measured, one per line",
        widget="lines",
        at_least=MIN_CRITERIA,
    )
    priority: Literal[*PRIORITIES] = asked(  # type: ignore[valid-type]
        "Priority", help="How much they need it", widget="choice", choices=PRIORITIES
    )


class Requirement(_RequirementText):
    """Something the people in the conversation want the system to do or to be."""

    id: str = Field(pattern=r"^REQ-\d{3,}$", title="ID", description="REQ-001, REQ-002, …")
    source_messages: Messages = asked(
        "Source messages",
        help="The messages that say it; link them with m or a click on their number",
        widget="messages",
    )
    rationale: Prose = asked(
        "Rationale", help="Why this is a requirement, naming the message", widget="textarea"
    )
    confidence: Confidence = asked(
        "Confidence",
        help="1 is completely certain; below 0.7 say why in the rationale",
        widget="confidence",
    )


class InferredRequirement(_RequirementText):
    """Something nobody said, but that follows from what was said."""

    id: str = Field(pattern=r"^INF-\d{3,}$", title="ID", description="INF-001, INF-002, …")
    inference_type: Literal[*INFERENCE_TYPES] = asked(  # type: ignore[valid-type]
        "Inference type",
        help="What kind of need was left unsaid",
        widget="choice",
        choices=INFERENCE_TYPES,
    )
    triggered_by: References = asked(
        "Triggered by",
        help="The requirements it follows from",
        widget="references",
        of=("extraction",),
    )
    necessity: Literal[*NECESSITIES] = asked(  # type: ignore[valid-type]
        "Necessity",
        help="How much the stated requirements depend on it",
        widget="choice",
        choices=NECESSITIES,
    )
    rationale: Prose = asked("Rationale", help="Why it follows", widget="textarea")
    confidence: Confidence = asked(
        "Confidence",
        help="1 is completely certain; below 0.7 say why in the rationale",
        widget="confidence",
    )


class Issue(Label):
    """Something wrong with how a requirement is written."""

    requirement: Uid = asked(
        "Requirement", help="The requirement it is about", widget="references", of=("extraction",)
    )
    issue_type: Literal[*ISSUE_TYPES] = asked(  # type: ignore[valid-type]
        "Issue type", help="What is wrong", widget="choice", choices=ISSUE_TYPES
    )
    severity: Literal[*SEVERITIES] = asked(  # type: ignore[valid-type]
        "Severity", help="How bad it is", widget="choice", choices=SEVERITIES
    )
    field: Literal[*REQUIREMENT_FIELDS] = asked(  # type: ignore[valid-type]
        "Field",
        help="Where in the requirement it is",
        widget="choice",
        choices=REQUIREMENT_FIELDS,
    )
    span: FieldSpan | None = asked(
        "Exact text",
        help="Mark the words in that field; none when something is missing",
        widget="span",
        default=None,
        within="field",
    )
    message: Prose = asked("Message", help="What is wrong, in one sentence", widget="textarea")
    suggested_fix: Prose = asked("Suggested fix", help="How it should read", widget="textarea")


class Question(Label):
    """A question about the conversation, its answer, and the messages that prove it."""

    question: Prose = asked(
        "Question", help="A question that the conversation answers", widget="textarea"
    )
    answer: Prose = asked("Answer", help="Short, and only what was said", widget="textarea")
    evidence: Messages = asked(
        "Evidence",
        help="Every message that is needed to answer; link them with m",
        widget="messages",
    )
    category: Literal[*CATEGORIES] = asked(  # type: ignore[valid-type]
        "Category", help="What it takes to answer", widget="choice", choices=CATEGORIES
    )


class Phase(Named):
    """One step of a narrative."""

    title: Line = asked("Title", help="What happens in this phase", widget="text")
    time_range: OpenLine = asked(
        "Time range",
        help="When, as one would say it: Dec 29–30; empty if it is not said",
        widget="text",
        default=None,
    )
    evidence: Messages = asked(
        "Evidence", help="The messages that tell of it; link them with m", widget="messages"
    )


def _two_phases(phases: list[Phase]) -> list[Phase]:
    if len(phases) < MIN_PHASES:
        raise broken("schema.few_phases")
    uids = [phase.uid for phase in phases]
    if len(set(uids)) < len(uids):
        raise broken("schema.phase_uid_twice")
    return phases


class Arc(Label):
    """A question about how something went, answered by phases in their order."""

    question: Prose = asked(
        "Question", help="A question about a development over time", widget="textarea"
    )
    phases: Annotated[list[Phase], Field(max_length=50), AfterValidator(_two_phases)] = asked(
        "Phases",
        help="At least two, in the order in which they happened",
        widget="phases",
        at_least=MIN_PHASES,
    )


class Argument(Shape):
    """Who or what takes part in an event, as the text says it."""

    role: Line = asked("Role", help="Its part in the event", widget="choice")
    span: MessageSpan = asked("Text", help="The words that name it", widget="span")


class Event(Label):
    """Something that happens, by the project's own event types and roles."""

    type: Line = asked("Event type", help="What kind of event it is", widget="choice")
    trigger: MessageSpan = asked(
        "Trigger", help="The word that says that it happens", widget="span"
    )
    arguments: Annotated[list[Argument], Field(max_length=50)] = asked(
        "Arguments",
        help="Who and what takes part, each with its role and its words",
        widget="arguments",
        at_least=0,
        default=[],
    )


class Rating(Label):
    """How relevant another label is."""

    target: Uid = asked(
        "Label",
        help="The label that is rated",
        widget="references",
        of=("inference", "extraction"),
    )
    score: Literal[*SCORES] = asked(  # type: ignore[valid-type]
        "Relevance", help="How much it is needed", widget="choice", choices=SCORES
    )
