"""What the server answers with.

A field that a newer server adds is kept: it is an attribute, and in ``model_extra``.
``None`` is undefined; a field next to it says why.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import pandas

Labels = dict[str, Any]
"""Labels by their key, as in ``{"requirements": […]}``."""


class Model(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


# --- projects and people ------------------------------------------------------------------------


class Work(Model):
    """Assignments by status."""

    pending: int
    draft: int
    submitted: int
    skipped: int


class Round(Model):
    number: int
    kind: str
    state: str
    guideline: int
    overlap: int
    pool: bool
    skip_policy: str
    conversations: int
    work: Work
    opened_at: datetime
    closed_at: datetime | None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to label: a calibration is closed, full labeling answered."""
        if self.state != "open" or self.kind != "full":
            return self.state != "open"
        answers = self.work.submitted + (self.work.skipped if self.skip_policy == "never" else 0)
        is_taken = not self.pool or answers >= self.conversations * self.overlap
        return is_taken and self.work.pending == self.work.draft == 0


class RoundPlan(Model):
    conversations: int
    annotators: list[str]
    overlap: int
    assignments: int
    quotas: dict[str, int] | None


class Project(Model):
    slug: str
    name: str
    description: str
    layers: list[str]
    overlap: int
    kappa_threshold: float
    kappa_statistic: str
    label_f1_threshold: float
    roles: list[str]


class ProjectDetail(Project):
    gate_open: bool
    guideline: int | None
    conversations: int
    unplanned: int
    progress: Work
    rounds: list[Round]


class Member(Model):
    id: int
    username: str
    name: str
    role: str
    by_invitation: bool


class MemberDetail(Member):
    open_work: int


class HandedOn(Model):
    """Where the open work of a member went."""

    to: dict[str, int]
    pool: int
    left_open: int


class Invitation(Model):
    id: int
    role: str
    invitee: str
    uses_left: int
    created_by: str
    created_at: datetime
    expires_at: datetime


class NewInvitation(Invitation):
    link: str = Field(repr=False)
    """Shown this once: the server stores only its digest."""


class Event(Model):
    """An entry of the audit log."""

    id: int
    at: datetime
    actor: str | None
    verb: str
    object_type: str
    object_id: str
    details: dict[str, Any]


class Job(Model):
    """Something that a worker does or has to do."""

    kind: str
    key: int
    project: str | None
    title: str
    is_at_work: bool
    is_stuck: bool
    since: datetime
    done: int | None
    total: int | None


class Status(Model):
    at: datetime
    workers_alive: int
    last_worker_seen_at: datetime | None
    waiting_since: datetime | None
    jobs: list[Job]
    failures: list[dict[str, Any]]


# --- conversations and guidelines ---------------------------------------------------------------


class Message(Model):
    index: int
    role: str
    speaker: str
    content: str
    time: datetime | None


class Conversation(Model):
    id: int
    external_id: str
    domain: str
    difficulty: str
    split: str
    n_messages: int
    stage: str
    answers: int


class ConversationDetail(Conversation):
    messages: list[Message]
    content_sha256: str


class Answer(Model):
    annotation: int
    round: int
    annotator: str
    status: str
    version: int
    empty: bool
    payload: Labels


class Answers(Model):
    answers: list[Answer]
    blind: list[int]


class LeftOut(Model):
    file: str
    line: int
    reason: str
    text: str
    is_whole: bool


class Imported(Model):
    read: int
    new: int
    unchanged: int
    messages: int
    n_refused: int
    n_left_out: int
    left_out: list[LeftOut]
    notes: list[str]


class StoredLabels(Model):
    """What a file of labels held; counts are answers."""

    read: int
    new: int
    unchanged: int
    decisions: int
    rounds: list[int]
    annotators: list[str]
    created: list[str]
    needs_reason: bool
    left_out: list[str]
    notes: list[str]


class Guideline(Model):
    version: int
    summary: str
    created_by: str | None
    created_at: datetime


class GuidelineDetail(Guideline):
    body: str
    against: int | None
    changes: list[dict[str, Any]]


# --- labeling -----------------------------------------------------------------------------------


class Assignment(Model):
    id: int
    project: str
    round: int
    conversation: str
    status: str
    returned_reason: str
    lease_expires_at: datetime | None


class Workspace(Model):
    """What an annotator needs to label one conversation."""

    assignment: int
    project: str
    round: int
    kind: str
    conversation: str
    blind: bool
    read_only: bool
    messages: list[Message]
    layers: list[dict[str, Any]]


class Annotation(Model):
    status: str
    version: int
    saved_at: datetime | None
    payload: Labels
    empty: bool
    skip_reason: str
    active_seconds: int
    locked_at: datetime | None


class Revision(Model):
    version: int
    kind: str
    saved_at: datetime
    author: str
    empty: bool


class RevisionDetail(Revision):
    payload: Labels
    current_version: int
    since: dict[str, Any]
    """What has changed up to the current version."""


class Suggestions(Model):
    state: str
    reason: str
    suggestions: list[dict[str, Any]]
    dismissed: list[dict[str, Any]]


class Comment(Model):
    id: int
    parent: int | None
    message_index: int | None
    label_uid: str
    body: str
    author: str
    mentions: list[str]
    created_at: datetime
    resolved_by: str | None


# --- agreement, discussion, adjudication --------------------------------------------------------


class Pair(Model):
    a: str
    b: str
    kappa: float | None
    n: int
    undefined: str | None


class Agreement(Model):
    statistic: str
    measure: str
    value: float | None
    threshold: float
    passed: bool
    pairs: list[Pair]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    measured_at: datetime | None

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each pair of annotators."""
        from assay_client.paging import to_pandas

        return to_pandas(self.pairs)


class ConversationAgreement(Model):
    conversation_id: int
    conversation: str
    annotators: int
    units: int
    differing: int


class Disagreement(Model):
    """Something that annotators of a closed round marked differently; ``place`` names it."""

    place: str
    id: int | None
    conversation: str
    layer: str
    message: int | None
    name: str
    sides: list[dict[str, Any]]
    outcome: str
    note: str
    remarks: int


class DisagreementDetail(Disagreement):
    thread: list[dict[str, Any]]
    answered_in: list[int]


class SettlingGate(Model):
    """Whether calibration lets full labeling begin, and which round decided that."""

    state: str
    is_open: bool
    kappa_threshold: float
    kappa_statistic: str
    label_f1_threshold: float
    round: Round | None


class SettledCase(Model):
    """One conversation and layer among the work of adjudicators."""

    conversation: int
    external_id: str
    layer: str
    round: int
    state: str
    agreement: float | None


class ReviewRow(Model):
    annotation: int
    conversation: str
    annotator: str
    round: int
    verdict: str
    agreement: float | None


class Cluster(Model):
    how: str
    label: dict[str, Any]
    sides: list[dict[str, Any]]
    differs: list[str]
    by_field: dict[str, list[str]] = {}
    tied: list[str] = []


class Decision(Model):
    layer: str
    version: int
    payload: Labels
    kind: str
    reason: str
    decided_by: str
    decided_at: datetime


class Merge(Model):
    """What annotators gave for one conversation and layer, and what was decided."""

    layer: str
    state: str
    answers: str | None
    agreement: float | None
    clusters: list[Cluster]
    decision: Decision | None


class Review(Model):
    version: int
    verdict: str
    comment: str
    payload: Labels | None
    reviewer: str
    reviewed_at: datetime


# --- gold ---------------------------------------------------------------------------------------


class Gold(Model):
    name: str
    version: int
    meaning: str | None
    project: str
    layer: str
    n_items: int
    sha256: str
    frozen_at: datetime

    def __str__(self) -> str:
        """As launches and commands name it."""
        return f"{self.name}@{self.version}"


class GoldItem(Model):
    position: int
    item_id: str
    split: str
    how: str
    sha256: str
    synthetic: bool


class GoldItemDetail(GoldItem):
    document: dict[str, Any]
    """The text, the labels and where each comes from, as hashed."""


class GoldChange(Model):
    item_id: str
    kind: str
    how: list[str] | None
    split: list[str] | None
    text: bool
    messages: list[dict[str, Any]]
    labels: list[dict[str, Any]]


class LintKind(Model):
    kind: str
    number: int
    open: int


class LintReport(Model):
    layer: str
    at: datetime | None
    items: int | None
    kinds: list[LintKind]


class LintFinding(Model):
    id: int
    kind: str
    key: str
    message: str
    conversation: str | None
    is_open: bool


class LintWaiver(Model):
    id: int
    layer: str
    kind: str
    number: int
    reason: str
    by: str | None
    at: datetime
    withdrawn_at: datetime | None


class Verified(Model):
    at: datetime
    by: str | None
    intact: bool
    n_faults: int
    faults: list[dict[str, Any]]


class Look(Model):
    id: int
    gold: str
    user: str | None
    purpose: str
    reason: str
    n_items: int
    at: datetime


class LookStanding(Model):
    gold: str
    looks: int
    budget: int | None


# --- runs ---------------------------------------------------------------------------------------


class Aggregate(Model):
    """One metric of a run over its cases."""

    metric: str
    metric_version: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    reason: str


class Score(Model):
    metric: str
    metric_version: int
    value: float | None
    reason: str


class Case(Model):
    id: int
    case_id: str
    repetition: int
    state: str
    attempts: int
    error_class: str
    error: str
    seconds: float | None
    scores: list[Score]


class CaseDetail(Case):
    item_id: str
    split: str
    output: dict[str, Any] | None
    gold: dict[str, Any]
    answer: dict[str, Any] | None


class Pipeline(Model):
    name: str
    title: str
    summary: str
    layers: list[str]
    needs_model: bool
    floor: bool
    suggests: bool
    defaults: dict[str, Any]
    options: dict[str, Any]


class MetricComparison(Model):
    direction: str
    role: str
    n: int
    conversations: int
    before: float | None
    after: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value_corrected: float | None
    verdict: str
    sentence: str


class ComparedRun(Model):
    run: int
    name: str
    pipeline: str
    cases: int
    verdict: str
    sentence: str
    primary: dict[str, Any]
    metrics: dict[str, MetricComparison]


class Comparison(Model):
    baseline: dict[str, Any]
    gold: str
    runs: list[ComparedRun]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run and metric."""
        import pandas

        rows = [
            {"run": run.name or run.run, "metric": name, **figures.model_dump()}
            for run in self.runs
            for name, figures in run.metrics.items()
        ]
        return pandas.DataFrame(rows)


class Check(Model):
    metric: str
    kind: str
    passed: bool
    value: float | None
    limit: float
    reason: str


class Gate(Model):
    run: int
    baseline: int | None
    strict: bool
    passed: bool
    failed: list[str]
    checks: list[Check]


class Estimate(Model):
    """What a run would probably cost, and which differences it could show."""

    cost: dict[str, Any] | None
    planning: dict[str, Any] | None
