"""What a gold release holds, as JSON: its header, and its items with where their labels come from.

Releases never change, so keys that were added later are ``NotRequired``: older items lack them.
The labels are what people wrote, by the shapes of their layers (``labeling.domain.schema.labels``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from labeling.domain.agreement.agreement import AgreementSummary
from labeling.domain.facts import StoredFact
from labeling.domain.matching.consensus import Dissent
from labeling.domain.schema.labels import Payload

Label = Mapping[str, Any]

# --- an item --------------------------------------------------------------------------------------


class GoldMessage(TypedDict):
    """A message as it was when the item was frozen; ``index`` counts from 0."""

    index: int
    role: str
    speaker: str
    content: str
    time: str | None


class TakenFrom(TypedDict):
    """A label of a pipeline's suggestion."""

    id: int
    uid: str


class SuggestionUse(TypedDict):
    """What an annotator made of a suggested label: accepted it as it is, or edited it."""

    origin: str
    suggestion: TakenFrom | None


class UnresolvedEvidence(TypedDict):
    """A piece of published evidence that names no message, and why."""

    text: str
    kind: str
    reason: str


class LabelOrigin(TypedDict):
    """Where one label comes from.

    ``by`` are the annotators who hold it, ``uids`` their own labels, ``dissent`` what others say,
    and ``origins`` who took it over from a suggestion. A label that was published elsewhere has
    what its file cites instead, and what became of it.
    """

    how: str
    by: list[str]
    uids: NotRequired[dict[str, str | None]]
    dissent: NotRequired[list[Dissent]]
    origins: NotRequired[dict[str, SuggestionUse]]
    place: NotRequired[str]
    cited: NotRequired[list[str]]
    unresolved: NotRequired[list[UnresolvedEvidence]]
    unscorable: NotRequired[str | None]
    adversarial_answer: NotRequired[str]
    phases: NotRequired[dict[str, LabelOrigin]]


class AnsweredBy(TypedDict):
    """An annotator whose answer counted, and the reviewer who corrected it, if one did."""

    username: str
    guideline_version: int
    submitted_at: str
    fixed_by: NotRequired[str]


class SkippedBy(TypedDict):
    username: str
    reason: str


class SourceFile(TypedDict):
    """A file that gold was read from, or the program that generated it."""

    file: str
    sha256: str


class Decided(TypedDict):
    """How the labels of one layer were settled.

    A decision keeps every annotator's own labels in ``answers``. ``without_reference`` are labels
    that were dropped because nothing that they refer to is settled.
    """

    how: str
    adjudicated_by: str | None
    reason: str | None
    guideline_version: int | None
    reason_code: NotRequired[str]
    accepted_by: NotRequired[str]
    answers: NotRequired[Mapping[str, Sequence[Label]]]
    without_reference: NotRequired[Mapping[str, Sequence[Label]]]


class Provenance(Decided):
    """Where the labels of an item come from; ``labels`` is by uid, ``stages`` by layer.

    ``origin`` and ``source`` say where imported or generated gold was read from, and ``published``
    is the provenance that its file itself gave.
    """

    labels: dict[str, LabelOrigin]
    annotators: list[AnsweredBy]
    skipped: list[SkippedBy]
    round: int | None
    stages: NotRequired[dict[str, Decided]]
    origin: NotRequired[str]
    source: NotRequired[SourceFile]
    published: NotRequired[dict[str, Any]]


class GoldContent(TypedDict):
    """One item: a conversation, its labels by their layers' keys, and their provenance.

    ``given`` has the labels of other layers that these refer to. Synthetic conversations name
    their ``origin`` and ``generator``.
    """

    schema_version: int
    item_id: str
    domain: str
    difficulty: str
    split: str
    origin: NotRequired[str]
    generator: NotRequired[str]
    conversation: list[GoldMessage]
    layer: str
    gold: Payload
    given: NotRequired[Payload]
    provenance: Provenance


# --- a release ------------------------------------------------------------------------------------


class Override(TypedDict):
    """A round that was opened past the gate."""

    round: int
    reason: str
    by: str | None


class OwnHeader(TypedDict):
    """What one kind of gold adds to the header: labelled here, imported, or generated."""

    message: str
    guideline_version: NotRequired[int | None]
    overrides: NotRequired[list[Override]]
    match_threshold: NotRequired[float]
    ruler: NotRequired[str]
    synthetic: NotRequired[int]
    generated: NotRequired[int]
    imported_from: NotRequired[list[SourceFile]]


class GoldHeader(OwnHeader):
    """What a release's hash covers in addition to its items."""

    schema_version: int
    project: str
    layer: str
    name: str
    version: int
    parent_sha256: str | None
    items: int


class MeasuredRound(TypedDict):
    round: int
    kind: str
    state: str
    guideline_version: int


class FrozenAgreement(MeasuredRound, AgreementSummary, total=False):
    """Agreement in a round when the release was frozen.

    Without figures where nobody has labelled the layer in that round, and with ``layer`` and
    ``layers`` only for a release of the whole.
    """


class AgreementAtFreeze(TypedDict):
    rounds: list[FrozenAgreement]


class LeftOutRow(TypedDict):
    """A labelled conversation that is not in the release, and why."""

    conversation: str
    reason: StoredFact


class ManifestItem(TypedDict):
    item_id: str
    sha256: str
    split: str
    how: str


class Manifest(TypedDict):
    """``manifest.json`` of an export: what is needed to check the items.

    Reasons in ``agreement`` and ``left_out`` are worded, so these are not what the release stores.
    """

    format: str
    release: str
    sha256: str
    header: GoldHeader
    items: list[ManifestItem]
    agreement: Any
    left_out: list[Any]
    frozen_at: str
