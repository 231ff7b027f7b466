"""What an item of a gold release holds, as JSON, with where its labels come from.

Releases never change, so keys that were added later are ``NotRequired``: older items lack them.
The labels are what people wrote, by the shapes of their layers (``labeling.schema.labels``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from labeling.agreement.matching.consensus import Dissent
from labeling.schema.labels import Payload

Label = Mapping[str, Any]


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
    and ``origins`` who took it over from a suggestion. ``fields``: of each field in which the
    holders differ, who says what the label says; where nobody is in all of them, nobody gave the
    label as a whole. A label that was published elsewhere has
    what its file cites instead, and what became of it.
    """

    how: str
    by: list[str]
    uids: NotRequired[dict[str, str | None]]
    dissent: NotRequired[list[Dissent]]
    fields: NotRequired[dict[str, list[str]]]
    origins: NotRequired[dict[str, SuggestionUse]]
    place: NotRequired[str]
    cited: NotRequired[list[str]]
    unresolved: NotRequired[list[UnresolvedEvidence]]
    unscorable: NotRequired[str | None]
    adversarial_answer: NotRequired[str]
    phases: NotRequired[dict[str, LabelOrigin]]


class LabelCorrection(TypedDict):
    """A label that a dispute has changed, or a file of corrections (``dispute`` None).

    ``before`` is the label as it was in ``release``; None: it had none. ``decided_by`` are the
    judges in whose majority it was, or the lead who broke a tie; of a file, the person named there.
    """

    dispute: int | None
    layer: str
    uid: str
    decided_by: list[str]
    reason: str
    release: str
    before: Label | None
    file: NotRequired[SourceFile]


class WithoutCalibration(TypedDict):
    """Why somebody did full labeling without having calibrated: ``how`` they were admitted."""

    how: str
    reason: str


class AnsweredBy(TypedDict):
    """An annotator whose answer counted, and the reviewer who corrected it, if one did.

    ``without_calibration``: by layer, why the person labeled without having calibrated on it.
    """

    username: str
    guideline_version: int
    submitted_at: NotRequired[str]  # in items of the first format alone
    fixed_by: NotRequired[str]
    without_calibration: NotRequired[dict[str, WithoutCalibration]]


class SkippedBy(TypedDict):
    username: str
    reason: str


class SourceFile(TypedDict):
    """A file that gold was read from, or the program that generated it.

    ``release`` is the one that an export was taken over from, whose statement has the hash
    ``release_sha256``. ``signed_by`` is the fingerprint of the key whose signature was verified, or
    "unverified"; releases before 0.4 lack it, and nothing was verified.
    """

    file: str
    sha256: str
    release: NotRequired[str]
    release_sha256: NotRequired[str]
    signed_by: NotRequired[str]


class Decided(TypedDict):
    """How the labels of one layer were settled.

    ``guideline_version`` is the newest that somebody labeled under, ``decided_under`` that of a
    decision; in items of the first format the latter takes the place of the former. A decision
    keeps every annotator's own labels in ``answers``. ``without_reference`` are labels
    that were dropped because nothing that they refer to is settled.
    """

    how: str
    adjudicated_by: str | None
    reason: str | None
    guideline_version: int | None
    decided_under: NotRequired[int]
    reason_code: NotRequired[str]
    accepted_by: NotRequired[str]
    answers: NotRequired[Mapping[str, Sequence[Label]]]
    without_reference: NotRequired[Mapping[str, Sequence[Label]]]


class Provenance(Decided):
    """Where the labels of an item come from; ``labels`` is by uid, ``stages`` by layer.

    ``origin`` and ``source`` say where imported or generated gold was read from, and ``published``
    is the provenance that its file itself gave. ``corrections`` are labels that disputes changed.
    ``people`` says that names are pseudonyms.
    """

    labels: dict[str, LabelOrigin]
    annotators: list[AnsweredBy]
    skipped: list[SkippedBy]
    round: int | None
    stages: NotRequired[dict[str, Decided]]
    people: NotRequired[str]
    origin: NotRequired[str]
    source: NotRequired[SourceFile]
    published: NotRequired[dict[str, Any]]
    corrections: NotRequired[list[LabelCorrection]]


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
