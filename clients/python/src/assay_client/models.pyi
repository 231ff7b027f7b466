"""Made from the description of the API: ``make client`` writes it again."""

from datetime import datetime
from typing import Any, TypedDict

Labels = dict[str, Any]

class Record(dict[str, Any]):
    def model_dump(self) -> dict[str, Any]: ...

def is_time(name: str) -> bool: ...

class AdjudicationCase(Record):
    conversation: int
    external_id: str
    layer: str
    round: int
    state: str
    agreement: float
    decision: ShortDecision | None

class Aggregate(Record):
    metric: str
    metric_version: int
    mean: float | None
    median: float | None
    std: float | None
    min: float | None
    max: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_undefined: int
    n_failed: int
    conversations: int | None
    chance: float | None
    reason: str
    over_chance: float | None
    yardsticks: dict[str, Any]

class Agreement(Record):
    measured_at: datetime
    statistic: str
    value: float | None
    threshold: float
    passed: bool
    pairs: list[PairAgreement]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    reasons: dict[str, str]
    excluded: list[Excluded]
    measure: str
    by_origin: dict[str, dict[str, Any]]
    chance_above: float | None
    outlook: list[Outlook]
    intervals: dict[str, list[float]]
    ordinal: bool
    outcome: str
    content: ContentAgreement | None

class Annotation(Record):
    status: str
    version: int
    payload: Any
    empty: bool
    unanswered: Any
    skip_reason: str
    active_seconds: int
    locked_at: datetime | None
    saved_at: datetime | None

class Answer(Record):
    annotation: int
    round: int
    annotator: str
    status: str
    guideline: int
    version: int
    empty: bool
    unanswered: list[str]
    skip_reason: str
    payload: dict[str, Any]

class Answers(Record):
    answers: list[Answer]
    blind: list[int]

class Assignment(Record):
    id: int
    returned_reason: str
    lease_expires_at: datetime | None
    status: str
    conversation: str
    project: str
    round: int

class CaseCounts(Record):
    disputed: int
    agreed: int
    decided: int

class CaseDetail(Record):
    id: int
    repetition: int
    state: str
    exposure: str
    attempts: int
    error_class: str
    earlier_failures: Any
    seconds: float | None
    case_id: str
    error: str
    scores: list[CaseScore]
    item_id: str | None
    split: str | None
    output: dict[str, Any] | None
    gold: dict[str, Any] | None
    answer: WrittenAnswer | None

class Case(Record):
    id: int
    repetition: int
    state: str
    exposure: str
    attempts: int
    error_class: str
    earlier_failures: Any
    seconds: float | None
    case_id: str
    error: str
    scores: list[Score]

class CaseScore(Record):
    metric: str
    metric_version: int
    value: float | None
    reason: str
    chance: float | None
    numerator: float | None
    weight: float | None
    detail: dict[str, Any]

class Cluster(Record):
    by_field: dict[str, list[str]]
    how: str
    label: dict[str, Any]
    sides: list[Side]
    differs: list[str]
    tied: list[str]

class ComparedRun(Record):
    run: int
    name: str
    pipeline: str
    pipeline_version: str
    config_sha256: str
    split: str | None

class Comparison(Record):
    baseline: ComparedRun
    gold: str
    metrics_version: str
    runs: list[RunVerdict]
    exposure: dict[str, Exposures]

class ContentAgreement(Record):
    value: float | None
    threshold: float
    passed: bool
    low: float | None
    high: float | None
    chance_above: float | None
    reason: str | None

class ControlIn(TypedDict, total=False):
    action: str
    budget_cost: float
    budget_tokens: int

class ConversationDetail(Record):
    id: int
    external_id: str
    domain: str
    difficulty: str
    split: str
    origin: str
    generator: str
    priority: int
    n_messages: int
    imported_at: datetime
    stage: str
    answers: int
    content_sha256: str
    messages: list[Message]
    rounds: list[RoundOf]

class Conversation(Record):
    id: int
    external_id: str
    domain: str
    difficulty: str
    split: str
    origin: str
    generator: str
    priority: int
    n_messages: int
    imported_at: datetime
    stage: str
    answers: int

class ConversationsIn(TypedDict, total=False):
    file: list[str]
    format: str
    columns: str
    roles: str
    encoding: str
    split: str
    leave_out: str
    dry_run: bool

class Decides(Record):
    metric: str
    margin: float | None
    margin_share: float
    declared_at: str | None
    declared_by: str | None
    declared_after_runs: list[int]

class DecisionIn(TypedDict, total=False):
    answers: str
    labels: list[dict[str, Any] | None]
    added: list[dict[str, Any]]
    kind: str
    note: str
    guideline_flag: bool

class Decision(Record):
    layer: str
    version: int
    kind: str
    guideline_flag: bool
    decided_at: datetime
    decided_by: str
    reason: str
    reason_code: str | None
    payload: Any

class Error(Record):
    code: str
    message: str
    details: dict[str, Any]

class Excluded(Record):
    conversation: str
    annotator: str
    reason: str

class Exposures(Record):
    seen: int
    left_out: int
    unseen: int
    unknown: int

class Failure(Record):
    project: str | None
    kind: str
    at: datetime
    why: str
    title: str

class FreezeIn(TypedDict, total=False):
    layer: str
    name: str
    message: str
    with_synthetic: bool
    waive: dict[str, str]

class Freeze(Record):
    id: int
    state: str
    layer: str
    name: str
    asked_by: str | None
    asked_at: datetime
    ended_at: datetime | None
    release: str | None
    reason: str
    reason_code: str | None

class GateIn(TypedDict, total=False):
    baseline: int | None
    strict: bool

class Gate(Record):
    run: int
    baseline: int | None
    strict: bool
    passed: bool
    failed: list[str]
    checks: list[ShownCheck]
    at: str

class GoldDetail(Record):
    name: str
    version: int
    layer: str
    sha256: str
    signature: str
    public_key: str
    frozen_at: datetime
    project: str
    n_items: int
    message: str
    overrides: Any
    frozen_by: str | None
    left_out: list[dict[str, Any]]

class Gold(Record):
    name: str
    version: int
    layer: str
    sha256: str
    signature: str
    public_key: str
    frozen_at: datetime
    project: str
    n_items: int

class GuidelineDetail(Record):
    version: int
    summary: str
    created_at: datetime
    created_by: str | None
    body: str

class GuidelineIn(TypedDict, total=False):
    body: str
    summary: str
    base_version: int

class Guideline(Record):
    version: int
    summary: str
    created_at: datetime
    created_by: str | None

class GuidelineText(Record):
    version: int
    body: str

class HandedOn(Record):
    to: dict[str, int]
    pool: int
    left_open: int

class ImportReport(Record):
    read: int
    new: int
    unchanged: int
    messages: int
    n_refused: int
    n_left_out: int
    inherited: dict[str, str]
    given: dict[str, str]
    notes: list[str]
    left_out: list[LeftOutIn]

class Job(Record):
    project: str | None
    kind: str
    key: int
    since: datetime
    is_at_work: bool
    title: str
    done: int | None
    total: int | None

class LastGate(Record):
    last: Gate | None

class Layer(Record):
    name: str
    title: str
    key: str
    fields: list[dict[str, Any]]

class LeftOutIn(Record):
    file: str
    line: int
    reason: str
    text: str
    is_whole: bool

class LookIn(TypedDict, total=False):
    gold: str
    purpose: str
    reason: str

class MemberIn(TypedDict, total=False):
    username: str
    role: str

class Member(Record):
    id: int
    role: str
    username: str
    name: str

class Merge(Record):
    layer: str
    state: str
    answers: str | None
    agreement: float | None
    clusters: list[Cluster]
    decision: Decision | None

class Message(Record):
    index: int
    role: str
    speaker: str
    content: str
    time: datetime | None

class MetricVerdict(Record):
    n: int
    n_undefined: int
    n_before: int
    n_after: int
    conversations: int
    before: float | None
    after: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    std_error: float | None
    df: float | None
    detectable: float | None
    here_low: float | None
    here_high: float | None
    here_p_value: float | None
    wins: int
    losses: int
    ties: int
    direction: str
    role: str
    p_value_corrected: float | None
    level: float
    margin: float | None
    conversations_needed: int | None
    verdict: str
    sentence: str

class Next(Record):
    assignment: int | None

class Outlook(Record):
    true: float
    passes: float

class PairAgreement(Record):
    a: str
    b: str
    kappa: float | None
    band: str | None
    n: int
    raw: float | None
    positive_f1: float | None
    ac1: float | None
    ci_low: float | None
    ci_high: float | None
    undefined: str | None
    conversations: int
    prevalence: float | None
    bias: float | None
    chance_above: float | None
    intervals: dict[str, list[float]]

class Pipeline(Record):
    name: str
    title: str
    summary: str
    layers: list[str]
    needs_model: bool
    asks_model: bool
    floor: bool
    suggests: bool
    defaults: dict[str, Any]
    options: dict[str, Any]

class PredictionsIn(TypedDict, total=False):
    file: str
    gold: str
    metrics: Any
    split: str
    reason: str
    name: str

class ProjectDetail(Record):
    slug: str
    name: str
    description: str
    overlap: int
    created_at: datetime
    kappa_threshold: float
    kappa_statistic: str
    label_f1_threshold: float
    layers: list[str]
    roles: list[str]
    gate_open: bool
    guideline: int | None
    conversations: int
    unplanned: int
    progress: WorkCounts
    rounds: list[Round]

class ProjectIn(TypedDict, total=False):
    name: str
    slug: str
    description: str
    layers: list[str]
    kappa_threshold: float
    kappa_statistic: str
    label_f1_threshold: float
    overlap: int

class Project(Record):
    slug: str
    name: str
    description: str
    overlap: int
    created_at: datetime
    kappa_threshold: float
    kappa_statistic: str
    label_f1_threshold: float
    layers: list[str]
    roles: list[str]

class RestoreIn(TypedDict, total=False):
    base_version: int
    client: str
    seq: int
    version: int

class ReviewIn(TypedDict, total=False):
    version: int
    verdict: str
    comment: str
    payload: dict[str, Any] | None

class Review(Record):
    version: int
    verdict: str
    comment: str
    payload: Any
    reviewed_at: datetime
    reviewer: str

class RevisionDetail(Record):
    version: int
    kind: str
    saved_at: datetime
    empty: bool
    unanswered: Any
    author: str
    payload: dict[str, Any]

class Revision(Record):
    version: int
    kind: str
    saved_at: datetime
    empty: bool
    author: str
    labels: int

class RoundIn(TypedDict, total=False):
    conversations: list[str] | None
    number: int | None
    split: str
    domain: str
    annotators: list[str] | None
    seed: int
    kind: str
    same_as: int | None
    overlap: int | None
    pool: bool
    override_reason: str

class RoundOf(Record):
    number: int
    kind: str
    state: str

class Round(Record):
    number: int
    state: str
    overlap: int
    pool: bool
    seed: int
    override_reason: str
    label_f1_threshold: float
    anonymous: bool
    opened_at: datetime
    closed_at: datetime | None
    kind: str
    guideline: int
    opened_by: str | None
    conversations: int
    work: WorkCounts

class RunDetail(Record):
    id: int
    name: str
    pipeline: str
    pipeline_version: str
    split: str
    repetitions: int
    created_at: datetime
    scored_at: datetime | None
    gold: str | None
    status: str
    n_cases: int
    n_done: int
    n_failed: int
    requested_by: str | None
    reason: str
    budget_cost: float | None
    budget_tokens: int | None
    concurrency: int
    config: Any
    spec: dict[str, Any]
    test_look: TestLook | None
    exposure: Exposures
    failure: str
    pause_reason: str
    waiting_since: datetime | None
    has_worker: bool
    aggregates: list[Aggregate]
    people_corrected: dict[str, Any]

class RunIn(TypedDict, total=False):
    gold: str
    project: str
    conversations: list[str]
    questions: list[str]
    predictions: list[dict[str, Any]] | None
    pipeline: str
    config: dict[str, Any]
    split: str
    reason: str
    repetitions: int
    seed: int
    name: str
    metrics: dict[str, Any]
    evaluate_answers: bool
    judge_prompts: dict[str, str]
    model: str
    budget_cost: float | None
    budget_tokens: int | None
    concurrency: int | None

class Run(Record):
    id: int
    name: str
    pipeline: str
    pipeline_version: str
    split: str
    repetitions: int
    created_at: datetime
    scored_at: datetime | None
    gold: str | None
    status: str
    n_cases: int
    n_done: int
    n_failed: int
    requested_by: str | None

class RunVerdict(Record):
    run: int
    name: str
    pipeline: str
    pipeline_version: str
    config_sha256: str
    split: str | None
    cases: int
    only_baseline: int
    only_run: int
    changed: dict[str, Any]
    judges_differ: list[str]
    selection: Selection
    primary: Decides
    verdict: str
    sentence: str
    metrics: dict[str, MetricVerdict]

class SaveIn(TypedDict, total=False):
    base_version: int
    client: str
    seq: int
    payload: dict[str, Any]
    empty: bool
    nothing: list[str]
    active_seconds: int

class Saved(Record):
    status: str
    version: int
    payload: Any
    empty: bool
    unanswered: Any
    skip_reason: str
    active_seconds: int
    locked_at: datetime | None
    saved_at: datetime | None
    hints: list[SentHint]

class Score(Record):
    metric: str
    metric_version: int
    value: float | None
    reason: str

class Selection(Record):
    runs: int
    p_value: float | None

class SentHint(Record):
    uid: str
    field: str
    kind: str
    text: str

class ShortDecision(Record):
    layer: str
    version: int
    kind: str
    guideline_flag: bool
    decided_at: datetime
    decided_by: str
    reason: str
    reason_code: str | None

class ShownCheck(Record):
    metric: str
    kind: str
    passed: bool
    value: float | None
    limit: float
    direction: str
    reason: str | None
    ci_low: float | None
    ci_high: float | None
    verdict: str | None
    chance: float | None
    strict: bool | None
    change: str | None
    code: str

class ShownSuggestion(Record):
    id: int
    layer: str
    pipeline: str
    pipeline_version: str
    labels: list[dict[str, Any]]

class Side(Record):
    annotator: str
    label: dict[str, Any] | None

class SkipIn(TypedDict, total=False):
    base_version: int
    client: str
    seq: int
    payload: dict[str, Any]
    empty: bool
    nothing: list[str]
    active_seconds: int
    reason: str

class Skipped(Record):
    status: str
    version: int
    payload: Any
    empty: bool
    unanswered: Any
    skip_reason: str
    active_seconds: int
    locked_at: datetime | None
    saved_at: datetime | None
    can_reopen: bool

class Standing(Record):
    gold: str
    looks: int

class Status(Record):
    at: datetime
    workers_alive: int
    last_worker_seen_at: datetime | None
    waiting_since: datetime | None
    jobs: list[Job]
    failures: list[Failure]

class Suggestions(Record):
    state: str
    reason: str
    suggestions: list[ShownSuggestion]

class TestLook(Record):
    number: int
    n_items: int
    looks: int

class Verified(Record):
    intact: bool
    faults: list[dict[str, Any]]

class WorkCounts(Record):
    pending: int
    draft: int
    submitted: int
    skipped: int

class Workspace(Record):
    assignment: int
    project: str
    round: int
    kind: str
    conversation: str
    blind: bool
    read_only: bool
    messages: list[Message]
    guideline: GuidelineText
    layers: list[Layer]
    event_schema: dict[str, list[str]]
    open_fields: dict[str, list[str]]

class WrittenAnswer(Record):
    state: str
    text: str

class GetAdjudications(TypedDict, total=False):
    layer: str | None
    tab: str | None

class GetConversations(TypedDict, total=False):
    difficulty: str | None
    domain: str | None
    origin: str | None
    search: str | None
    split: str | None
    stage: str | None

class GetGold(TypedDict, total=False):
    name: str | None
    project: str | None

class GetPipelines(TypedDict, total=False):
    layer: str | None

class GetRuns(TypedDict, total=False):
    gold: str | None
    mine: bool | None
    pipeline: str | None
    search: str | None
    split: str | None
    status: str | None
