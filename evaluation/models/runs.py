from __future__ import annotations

from typing import Any, TypedDict

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, Func, OuterRef, Q, Subquery, Value, When
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluation.models.spec import RunSpec, SpecField
from evaluation.models.work import Work, WorkQuerySet
from labeling.core.models.fields import FactField
from labeling.core.models.projects import limit_of
from labeling.domain.facts import StoredFact
from labeling.models import (
    Conversation,
    GoldItem,
    GoldRelease,
    Look,
    Membership,
    Project,
    WorkerPulse,
)

OPEN = "open"
"""In place of a split: every item that is not a test item."""

EVERY = "all"
"""Asked for in place of a split: every item, test items too. A run stores it as an empty one."""

SELECTIONS = (*Conversation.Split.values, OPEN, EVERY)
"""What may be asked for; who names none leaves the test items out."""

UNLESS_UNMEASURED: dict[str, Any] = {"null": True}
"""Of columns that a run without gold does not have. Types say that they are there: who reads such
runs asks ``is_measured`` first."""


def selected(asked: str) -> str:
    """What a run stores of the split asked for."""
    return {"": OPEN, EVERY: ""}.get(asked, asked)


def of_split(items: models.QuerySet[GoldItem], split: str) -> models.QuerySet[GoldItem]:
    """The items of a split; empty: of every split."""
    if split == OPEN:
        return items.exclude(split=Conversation.Split.TEST)
    return items.filter(split=split) if split else items


def _count_cases(*states: str) -> Subquery:
    """Counted by a separate query, so that a page of runs counts only the cases it shows."""
    return _number(CaseRun.objects.filter(run=OuterRef("pk"), state__in=states))


def _has_cases(*states: str) -> Exists:
    return Exists(CaseRun.objects.filter(run=OuterRef("pk"), state__in=states))


def number_of_cases(run: str) -> Subquery:
    """Of the run at this path. Of one split, all runs take the first n: as many are the same."""
    return _number(CaseRun.objects.filter(repetition=1, run=OuterRef(run)))


def _number(cases: models.QuerySet[CaseRun]) -> Subquery:
    """Counted without a ``GROUP BY``, which would take three times as long."""
    counted = cases.order_by().annotate(n=Func(F("pk"), function="COUNT")).values("n")
    return Subquery(counted, output_field=models.IntegerField())


def _wanted(model: str, run: str) -> Exists:
    """Whether answers or judgements of a run are still to be made."""
    rows: Any = apps.get_model("evaluation", model)._default_manager
    return Exists(rows.wanted().filter(**{run: OuterRef("pk")}))


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: Any) -> RunQuerySet:
        """Measured runs in the projects that the user leads or reads as a researcher."""
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(release__project__in=reading)

    def with_unmeasured(self, user: Any) -> RunQuerySet:
        """Those of ``visible_to``, and runs without gold: those that the user has launched, while
        they read results somewhere; of a project, its leads see them as well."""
        role, limit = Membership.Role, limit_of(user)
        reading = Project.objects.with_role(user, role.LEAD, role.RESEARCHER)
        seen = Q(project__in=Project.objects.with_role(user, role.LEAD))
        if user.is_superuser:
            seen = Q()
        elif reading.exists():
            seen |= Q(requested_by=user) & (Q(project=None) | Q(project__in=reading))
        if limit is not None:
            seen &= Q(project__in=limit)
        return self.filter(Q(release__project__in=reading) | (Q(release__isnull=True) & seen))

    def with_progress(self) -> RunQuerySet:
        """Adds ``n_cases``, ``n_done``, ``n_failed``, ``n_running`` and ``state``."""
        states = CaseRun.State
        counted = self.annotate(
            n_cases=_number(CaseRun.objects.filter(run=OuterRef("pk"))),
            n_done=_count_cases(states.DONE),
            n_failed=_count_cases(states.FAILED),
            n_running=_count_cases(states.RUNNING),
        )
        return counted.with_state()

    def with_state(self) -> RunQuerySet:
        """Adds ``state`` without counting anything."""
        states, status = CaseRun.State, Run.Status
        all_cases = ~_has_cases(states.QUEUED, states.RUNNING)
        to_write, to_judge = _wanted("Answer", "case__run"), _wanted("Judgement", "judging__run")
        return self.annotate(
            state=Case(
                When(failure__isnull=False, then=Value(status.FAILED)),
                When(scored_at__isnull=False, then=Value(status.FINISHED)),
                When(cancelled=True, then=Value(status.CANCELLED)),
                When(all_cases & ~to_write & ~to_judge, then=Value(status.SCORING)),
                When(paused=True, then=Value(status.PAUSED)),
                When(all_cases & to_write, then=Value(status.ANSWERING)),
                When(all_cases, then=Value(status.JUDGING)),
                When(
                    ~_has_cases(states.DONE, states.FAILED, states.RUNNING),
                    then=Value(status.QUEUED),
                ),
                default=Value(status.RUNNING),
                output_field=models.CharField(),
            )
        )

    def with_synthetic(self) -> RunQuerySet:
        """Adds ``holds_synthetic``: whether the gold has synthetic conversations or labels."""
        marked = GoldRelease.objects.with_synthetic().filter(pk=OuterRef("release"))
        return self.annotate(holds_synthetic=Exists(marked))

    def beside(self, run: Run) -> RunQuerySet:
        """Other finished runs on the same cases."""
        return self.on_cases_of(run).exclude(pk=run.pk)

    def on_cases_of(self, run: Run) -> RunQuerySet:
        """Finished runs on the cases of this one."""
        own = _number(CaseRun.objects.filter(repetition=1, run=run))
        same = self.filter(release=run.release_id, split=run.split, scored_at__isnull=False)
        return same.alias(n_first=number_of_cases("pk")).filter(n_first=own)


class Run(models.Model):
    """One pipeline, with one configuration, measured on one frozen gold release.

    A run without a release is on conversations that it names: nothing is measured, and it goes with
    its results when it expires. Only ``with_unmeasured`` finds it; to whom else reads runs, a run
    has its gold.

    ``spec`` holds what is needed to repeat it. There is no stored status: it follows from the
    cases and from what a person asked for (paused, cancelled), so it cannot be wrong after a crash.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        ANSWERING = "answering", _("Answering")
        JUDGING = "judging", _("Judging")
        SCORING = "scoring", _("Scoring")
        FINISHED = "finished", _("Finished")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Canceled")
        FAILED = "failed", _("Failed")  # could not be executed at all; ``failure`` says why

    release = models.ForeignKey(
        GoldRelease, models.PROTECT, related_name="runs", **UNLESS_UNMEASURED
    )
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        related_name="unmeasured_runs",
        help_text="Without gold: whose leads see it; empty: only who launched it",
    )
    expires_at = models.DateTimeField(null=True, db_index=True, help_text="Without gold alone")
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.CharField(max_length=100, blank=True)
    config = models.JSONField(default=dict)
    config_sha256 = models.CharField(max_length=64)
    name = models.CharField(
        max_length=200, blank=True, help_text="What was changed, for the log of experiments"
    )
    split = models.CharField(
        max_length=5, blank=True, help_text="Empty: every split; open: all but the test split"
    )
    reason = models.TextField(blank=True, help_text="Why test items were looked at")
    look = models.OneToOneField(
        Look,
        models.PROTECT,
        null=True,
        related_name="run",
        help_text="At test items, written down when it was launched; empty: it has none",
    )
    repetitions = models.PositiveSmallIntegerField(default=1)
    seed = models.PositiveIntegerField(default=0)
    spec: RunSpec = SpecField()  # type: ignore[assignment]
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    carried_from = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        related_name="carried",
        help_text="The run on other gold whose outputs this one took over: no pipeline ran",
    )
    budget_cost = models.FloatField(
        null=True, help_text="Money that language models may cost; empty: no limit"
    )
    budget_tokens = models.PositiveBigIntegerField(
        null=True, help_text="Tokens that language models may use; empty: no limit"
    )
    concurrency = models.PositiveSmallIntegerField(
        default=4,
        db_default=4,
        help_text="How many of its cases are worked on at a time, by all workers together",
    )
    paused = models.BooleanField(default=False)
    pause_reason = FactField(help_text="Empty if a person paused it")
    cancelled = models.BooleanField(default=False)
    failure = FactField()
    woken_at = models.DateTimeField(
        null=True, help_text="Since when workers may take it; empty: a command works on it"
    )
    command_until = models.DateTimeField(
        null=True, help_text="Until then it is left to the command that works on it"
    )
    turn_at = models.DateTimeField(null=True, help_text="When a worker last took it up")
    scoring_owner = models.UUIDField(null=True)
    scoring_expires_at = models.DateTimeField(null=True)
    scored_cases = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="While it is scored: of how many cases the scores are stored",
    )
    scored_at = models.DateTimeField(null=True)
    first_scored_at = models.DateTimeField(
        null=True, help_text="Since when its figures could be seen; scoring again leaves it"
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="run_repeats_at_least_once", condition=Q(repetitions__gte=1)
            ),
            models.CheckConstraint(
                name="run_works_on_a_case_at_least", condition=Q(concurrency__gte=1)
            ),
            models.CheckConstraint(
                name="run_budget_is_above_zero",
                condition=(Q(budget_cost__isnull=True) | Q(budget_cost__gt=0))
                & (Q(budget_tokens__isnull=True) | Q(budget_tokens__gt=0)),
                violation_error_message="A budget is more than nothing.",
            ),
            models.CheckConstraint(
                name="run_on_test_has_reason",
                condition=~Q(split="test") | ~Q(reason=""),
                violation_error_message="Say why the test split is looked at.",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.pipeline}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def status(self) -> str:
        """Needs ``with_progress()``."""
        return str(self.state)  # type: ignore[attr-defined]

    @property
    def is_measured(self) -> bool:
        return self.release_id is not None

    @property
    def gold_id(self) -> int:
        """The key of its release, of a measured run."""
        assert self.release_id is not None
        return self.release_id

    @property
    def of_project(self) -> Project | None:
        """None: it has no gold, and only who launched it sees it."""
        return self.release.project if self.is_measured else self.project


class EarlierFailure(TypedDict):
    """Why a case had failed before somebody had it tried again; ``error`` is the JSON of a fact."""

    error: StoredFact | None
    error_class: str
    attempts: int
    at: str | None


class CaseRun(Work):
    """One gold item in one run and repetition: who works on it and what came out.

    In layers that ask one question at a time, a case is one label (``part``) of the item. In a run
    without gold it is a conversation (``talk``), or a question about it (``part``: its id).
    """

    class Exposure(models.TextChoices):
        """What the weights that the pipeline uses had to do with the conversation before."""

        SEEN = "seen", _("seen in training")
        LEFT_OUT = "left_out", _("left out of training")
        UNSEEN = "unseen", _("unseen")

    run = models.ForeignKey(Run, models.CASCADE, related_name="cases")
    item = models.ForeignKey(
        GoldItem, models.PROTECT, related_name="case_runs", **UNLESS_UNMEASURED
    )
    talk = models.ForeignKey(
        "evaluation.RunConversation", models.CASCADE, null=True, related_name="cases"
    )
    part = models.CharField(
        max_length=100, blank=True, help_text="uid of the one gold label asked for; empty: all"
    )
    part_id = models.CharField(max_length=50, blank=True, help_text="That label as shown: QA-012")
    repetition = models.PositiveSmallIntegerField(default=1)
    output = models.JSONField(null=True)
    exposure = models.CharField(
        max_length=8,
        choices=Exposure,
        blank=True,
        help_text="By the words of the conversation; empty: not known",
    )
    seconds = models.FloatField(null=True, help_text="Wall-clock time of the last attempt")
    earlier_failures: list[EarlierFailure] = models.JSONField(  # type: ignore[assignment]
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="Why it had failed each time that somebody had it tried again",
    )

    objects = WorkQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("case"), _("cases")
        ordering = ["run", "item__position", "repetition"]
        constraints = [
            models.UniqueConstraint(
                name="case_once_per_repetition", fields=["run", "item", "part", "repetition"]
            ),
            models.UniqueConstraint(name="case_once_per_talk", fields=["talk", "part"]),
            models.CheckConstraint(
                name="case_of_gold_or_conversation",
                condition=Q(item__isnull=False, talk__isnull=True)
                | Q(item__isnull=True, talk__isnull=False),
            ),
            models.CheckConstraint(
                name="case_state_known",
                condition=Q(state__in=["queued", "running", "done", "failed"]),
            ),
            models.CheckConstraint(
                name="case_exposure_known",
                condition=Q(exposure__in=["", "seen", "left_out", "unseen"]),
            ),
            models.CheckConstraint(
                name="case_result_fits_state",
                condition=Q(state="done", output__isnull=False, error__isnull=True)
                | Q(state="failed", error__isnull=False)
                | Q(state__in=["queued", "running"]),
            ),
        ]
        indexes = [
            # claiming and progress: the open cases of a run, each first one without a sort
            models.Index(name="case_open", fields=["run", "state", "lease_expires_at", "id"]),
            # pages: how many cases are done, failed by which error, seen in training
            models.Index(name="case_counted", fields=["run", "state", "error_class", "exposure"]),
            # pages: how many were tried again; nearly always none, so nothing else is looked at
            models.Index(name="case_retried", fields=["run"], condition=~Q(earlier_failures=[])),
            # pace: the newest cases that have ended
            models.Index(name="case_ended", fields=["run", "finished_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.case_id} in run {self.run_id}"

    def get_absolute_url(self) -> str:
        return reverse("run-case", args=[self.run_id, self.pk])

    @property
    def gold_item_id(self) -> int:
        """The key of its item, in a measured run."""
        assert self.item_id is not None
        return self.item_id

    @property
    def case_id(self) -> str:
        """The name in files and on pages; needs ``item`` or ``talk``."""
        name = self.talk.external_id if self.talk else self.item.item_id
        return f"{name}:{self.part_id}" if self.part else name


class RunNote(models.Model):
    """What people write down about a run; earlier texts are in the log of events."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="note")
    text = models.TextField()

    def __str__(self) -> str:
        return f"note of run {self.run_id}"


class RunSpending(models.Model):
    """What language models were asked for a run, and what it cost: the sum over its calls.

    It changes in the transaction that stores the usage of a piece of work, so it is never behind. A
    run without a row has asked nothing.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="spending")
    usage = models.JSONField(default=dict, help_text="By the names of Spent, in full")

    class Meta:
        verbose_name = verbose_name_plural = "spending"

    def __str__(self) -> str:
        return f"spending of run {self.run_id}"


class Slot(models.Model):
    """A thread of a worker that is at work on a run: one of as many as the run's concurrency.

    What the thread leases has the same ``owner``. So everything that a worker held is known when
    its pulse stops, and others take it over without waiting for the end of leases.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField(help_text="From 1; above the concurrency: leaves")
    owner = models.UUIDField(unique=True)
    worker = models.ForeignKey(WorkerPulse, models.CASCADE, related_name="+")
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(name="slot_once", fields=["run", "number"]),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of run {self.run_id}"
