"""The registry of label layers: its entry says what a layer is, and everything else asks it.

An entry is data alone. It says what its labels look like, which of them mean the same, what
annotators can agree on, what the layer is for, and its words. To add a layer, write the shape of
its labels in :mod:`labeling.schema.labels` and an entry here; to measure pipelines on it,
an entry of the same name in :mod:`evaluation.layers`. No other module names a layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from labeling.schema.fields import Label
from labeling.schema.labels import (
    REQUIREMENT_FIELDS,
    Arc,
    Event,
    InferredRequirement,
    Issue,
    Question,
    Rating,
    Requirement,
)

# --- which labels mean the same -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SameRecord:
    """Requirements: by the one matcher that scores pipelines, so people are compared by F1, too.

    ``cites``: the labels name their source messages, which decide between equals.
    """

    cites: bool


@dataclass(frozen=True, slots=True)
class SameText:
    """The text of ``field`` is similar; common messages in ``cites`` decide between equals."""

    field: str
    cites: str


@dataclass(frozen=True, slots=True)
class SameKey:
    """All of ``fields`` are equal; those in ``prefer`` decide between equals.

    Of several such labels the one whose ``text`` is nearest to the others' is chosen.
    """

    fields: tuple[str, ...]
    prefer: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class SameSpan:
    """The types are equal and the words of ``span`` overlap."""

    span: str


Matching = SameRecord | SameText | SameKey | SameSpan


# --- what annotators agree on -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Messages:
    """The unit is a message: some label of the layer cites it, or none does."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The unit is a label of another layer, matched between the annotators first.

    ``reference`` is the field that names it. Without ``value`` the unit is marked where a label
    names it; with it, the value is the judgement. ``ordinal``: values are scores of one scale, so
    0 against 2 is a worse disagreement than 1 against 2. With ``part`` a unit is one part of the
    judged label, of those in ``parts``: the one that the field ``part`` names.
    """

    reference: str
    value: str = ""
    ordinal: bool = False
    part: str = ""
    parts: Mapping[str, str] | None = None

    @property
    def slots(self) -> list[str]:
        """The parts of a judged label; one without a name where it is judged as a whole."""
        return list(self.parts) if self.parts else [""]


@dataclass(frozen=True, slots=True)
class NoUnits:
    """Nobody says what is not such a label, so annotators are compared by F1."""


Units = Messages | Judged | NoUnits


# --- the entries --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What screens say of a layer. ``units`` tells what the unit of agreement is.

    ``content`` says what is wrong where people agree on the units and not on the labels. It is
    there for layers whose labels are compared as records. The others need no second look: questions
    and arcs are chosen freely among many; of an issue, an event or a rating the unit or the F1
    holds what is said already.
    """

    units: str
    content: str = ""
    marked: str = "marked it with"
    unmarked: str = "did not mark it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One kind of label.

    ``key`` names its list in a payload and ``label`` is the shape of its labels. ``prefix`` begins
    the names by which labels are shown (REQ-001), ``heading`` is the field that heads a label and
    ``badges`` those shown next to it; ``type_field`` distinguishes the labels. They refer to
    labels of one of the layers in ``needs``. ``may_be_open``: fields that a project may do without.
    What decides whether two labels mean the same can't be left out. ``remarks``: fields in which a
    person explains the label, and which may differ without dissent; all others are compared.

    ``is_stage``: it is part of the whole way from conversation to document. ``project_types``: a
    project names the types of its labels and their roles. ``published``: in which published files
    its labels are found.
    """

    name: str
    title: str
    key: str
    label: type[Label]
    prefix: str
    heading: str
    matching: Matching
    units: Units
    words: Words
    badges: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    type_field: str = ""
    may_be_open: tuple[str, ...] = ()
    is_stage: bool = False
    project_types: bool = False
    published: frozenset[Literal["question cases", "arc cases", "chat", "duee"]] = frozenset()
    remarks: tuple[str, ...] = ("rationale", "confidence")

    @property
    def by_message(self) -> bool:
        return isinstance(self.units, Messages)

    @property
    def has_units(self) -> bool:
        return not isinstance(self.units, NoUnits)

    @property
    def level(self) -> Literal["nominal", "interval"]:
        """Whether people's judgements are scores, so that κ weighs how far apart they are."""
        is_scored = isinstance(self.units, Judged) and self.units.ordinal
        return "interval" if is_scored else "nominal"

    @property
    def has_records(self) -> bool:
        """Whether labels of two people are compared as records: by F1, and field by field."""
        return isinstance(self.matching, SameRecord)

    @property
    def stores_id(self) -> bool:
        """Whether a label holds its name (REQ-001), or is only shown by its position."""
        return "id" in self.label.model_fields


DEFAULT_LAYER = "extraction"
"""What a project labels, a command works on and an address means unless it says otherwise."""

_ENTRIES = (
    Layer(
        name="extraction",
        title="Requirements",
        key="requirements",
        label=Requirement,
        prefix="REQ",
        heading="title",
        badges=("type", "priority"),
        type_field="type",
        may_be_open=("acceptance_criteria", "priority", "rationale", "confidence"),
        matching=SameRecord(cites=True),
        units=Messages(),
        is_stage=True,
        words=Words(
            units="The unit is the message: it counts as marked when a requirement of the "
            "annotator cites it. “Nothing here” marks no message.",
            content="they mark the same messages and write different requirements",
        ),
    ),
    Layer(
        name="inference",
        title="Inferred requirements",
        key="inferred_requirements",
        label=InferredRequirement,
        prefix="INF",
        heading="title",
        badges=("inference_type", "necessity"),
        needs=("extraction",),
        type_field="inference_type",
        may_be_open=("acceptance_criteria", "priority", "necessity", "rationale", "confidence"),
        matching=SameRecord(cites=False),
        units=Judged("triggered_by"),
        is_stage=True,
        words=Words(
            units="The unit is the requirement, matched between the annotators: it counts as "
            "marked when an inferred requirement is triggered by it. Anyone who has no such "
            "requirement judges nothing.",
            content="they infer from the same requirements and write different inferred "
            "requirements",
            marked="inferred from it",
            unmarked="inferred nothing from it",
        ),
    ),
    Layer(
        name="validation",
        title="Validation issues",
        key="issues",
        label=Issue,
        prefix="ISS",
        heading="message",
        badges=("issue_type", "severity"),
        needs=("extraction",),
        type_field="issue_type",
        may_be_open=("severity", "suggested_fix"),
        remarks=("message", "suggested_fix"),
        matching=SameKey(
            fields=("requirement", "issue_type", "field"),
            prefer=("span", "severity", "message"),
            text="message",
        ),
        units=Judged("requirement", part="field", parts=REQUIREMENT_FIELDS),
        is_stage=True,
        words=Words(
            units="The unit is one field of one requirement, matched between the annotators: it "
            "counts as marked when an issue names it. Anyone who has no such requirement judges "
            "nothing.",
            marked="found there",
            unmarked="found nothing wrong there",
        ),
    ),
    Layer(
        name="qa",
        title="Questions with evidence",
        key="questions",
        label=Question,
        prefix="QA",
        heading="question",
        badges=("category",),
        type_field="category",
        matching=SameText("question", cites="evidence"),
        units=Messages(),
        published=frozenset({"question cases", "chat"}),
        words=Words(
            units="The unit is the message: it counts as marked when it is evidence for a question."
        ),
    ),
    Layer(
        name="arc",
        title="Narrative arcs",
        key="arcs",
        label=Arc,
        prefix="ARC",
        heading="question",
        matching=SameText("question", cites="evidence"),
        units=Messages(),
        published=frozenset({"arc cases"}),
        words=Words(
            units="The unit is the message: it counts as marked when it is evidence for a phase."
        ),
    ),
    Layer(
        name="events",
        title="Events",
        key="events",
        label=Event,
        prefix="EVT",
        heading="trigger",
        badges=("type",),
        type_field="type",
        matching=SameSpan("trigger"),
        units=NoUnits(),
        project_types=True,
        published=frozenset({"duee"}),
        words=Words(
            units="Nobody marks what is not an event, so there is no κ: two events are the same "
            "if their types are equal and their triggers overlap, and the figure is the F1 of the "
            "two.",
            marked="marked it as",
        ),
    ),
    Layer(
        name="relevance",
        title="Relevance ratings",
        key="ratings",
        label=Rating,
        prefix="REL",
        heading="target",
        badges=("score",),
        needs=("inference", "extraction"),
        matching=SameKey(fields=("target",)),
        units=Judged("target", value="score", ordinal=True),
        words=Words(
            units="The unit is the rated label, matched between the annotators; the rating is the "
            "label.",
        ),
    ),
)
LAYERS = {layer.name: layer for layer in _ENTRIES}


def stages() -> list[str]:
    """The layers that make the whole way from conversation to document, in their order."""
    return [layer.name for layer in LAYERS.values() if layer.is_stage]


def referred_to() -> list[str]:
    """The layers whose labels others refer to, in their order."""
    needed = {name for layer in LAYERS.values() for name in layer.needs}
    return [name for name in LAYERS if name in needed]


def published_as(kind: str) -> list[str]:
    """The layers whose labels are found in published files of this kind."""
    return [layer.name for layer in LAYERS.values() if kind in layer.published]
