"""Runs and their results for staff: launched from a gold release, read, and never changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.forms import LaunchForm
from evaluation.models import (
    Aggregate,
    Answer,
    AnswerPanel,
    AnswerRating,
    AnswerSample,
    BuiltLayer,
    CachedReply,
    CaseRun,
    GateResult,
    GateThresholds,
    JudgeCertificate,
    Judgement,
    Judging,
    LayerBuild,
    PrimaryMetric,
    Probing,
    RatedLabel,
    Rating,
    RatingPanel,
    Run,
    RunNote,
    RunTag,
    SampledAnswer,
    Score,
    StageTrace,
    Yardstick,
    YardstickCase,
)
from evaluation.services.language_models import bills
from evaluation.services.run import planning
from labeling.admin import GoldReleaseAdmin, ReadOnly, ReadOnlyAdmin, read_only, worded
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease, Look
from labeling.services.gold import looks
from labeling.translation import lazy as _

admin.site.unregister(GoldRelease)


@admin.register(GoldRelease)
class MeasurableGoldAdmin(GoldReleaseAdmin):
    """Gold releases as labeling shows them, and from here they can be measured against."""

    actions = ("evaluate",)

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evaluation.add_run")

    @admin.action(description=_("Evaluate with a pipeline…"), permissions=["launch"])
    def evaluate(self, request: HttpRequest, chosen: QuerySet[GoldRelease]) -> HttpResponse:
        numbers = ",".join(str(pk) for pk in chosen.values_list("pk", flat=True))
        return redirect(f"{reverse('admin:labeling_goldrelease_evaluate')}?ids={numbers}")

    def get_urls(self) -> list[URLPattern]:
        launch = self.admin_site.admin_view(self.launch_view)
        own = [path("evaluate/", launch, name="labeling_goldrelease_evaluate")]
        return [*own, *super().get_urls()]

    def launch_view(self, request: HttpRequest) -> HttpResponse:
        """Pipeline and configuration for the ticked releases; each of them gets a run."""
        if not self.has_launch_permission(request):
            raise PermissionDenied
        ids = map(whole_number, request.GET.get("ids", "").split(","))
        numbers = [number for number in ids if number is not None]
        releases = list(GoldRelease.objects.filter(pk__in=numbers).select_related("project"))
        if not releases:
            messages.error(request, _("Tick the gold releases to evaluate first."))
            return redirect("admin:labeling_goldrelease_changelist")
        form = LaunchForm(request.POST or None)
        estimates: list[tuple[GoldRelease, str]] = []
        complete = request.method == "POST" and form.is_valid()
        if complete and "estimate" in request.POST:
            estimates = _estimates(form, releases)
        elif complete:
            launched = _launch_all(form, releases, request)
            if not form.errors:
                return _to_runs(launched)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Evaluate with a pipeline"),
            "opts": self.opts,
            "form": form,
            "releases": releases,
            "estimates": estimates,
        }
        return TemplateResponse(request, "admin/evaluation/launch.html", context)


def _estimates(form: LaunchForm, releases: list[GoldRelease]) -> list[tuple[GoldRelease, str]]:
    """What each run would cost and could show; none if a rule is broken (see the form's errors)."""
    costs = [(release, form.estimate(release)) for release in releases]
    split = form.cleaned_data["split"]
    return (
        []
        if form.errors
        else [
            (release, " ".join([bills.estimate(cost), *planning.said(release, split=split)]))
            for release, cost in costs
        ]
    )


def _launch_all(form: LaunchForm, releases: list[GoldRelease], request: HttpRequest) -> list[Run]:
    launched = form.launch(releases, by=request.user)
    for run in launched:
        queued = _("Run {number} on {release} is queued.")
        messages.success(request, queued.format(number=run.pk, release=run.release))
    return launched


def _to_runs(launched: list[Run]) -> HttpResponse:
    if len(launched) == 1:
        return redirect("admin:evaluation_run_change", launched[0].pk)
    return redirect("admin:evaluation_run_changelist")


class StatusFilter(admin.SimpleListFilter):
    title = _("Status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in Run.Status.choices]

    def queryset(self, request: HttpRequest, runs: QuerySet[Any]) -> QuerySet[Any]:
        return runs.filter(state=self.value()) if self.value() else runs


def _rounded(name: str) -> Callable[[Aggregate], str | None]:
    @admin.display(description=name.replace("_", " "), ordering=name)
    def shown(row: Aggregate) -> str | None:
        value = getattr(row, name)
        return None if value is None else f"{value:.4f}"

    return shown


FIGURES: tuple[Any, ...] = tuple(
    _rounded(name) for name in ("mean", "median", "std", "ci_low", "ci_high")
)
COUNTS = ("n", "n_undefined", "n_failed")
ROW: tuple[Any, ...] = ("metric", *FIGURES, *COUNTS, worded("reason"))


class AggregateInline(ReadOnly, admin.TabularInline):
    model = Aggregate
    extra = 0
    fields = ROW
    readonly_fields = ROW

    def get_queryset(self, request: HttpRequest) -> QuerySet[Aggregate]:
        sealed = looks.sealed(request.user, Look.Purpose.RESULTS)
        rows = super().get_queryset(request).defer("detail", "yardsticks")
        return rows.exclude(run__look__isnull=False, run__release__in=sealed)


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "pipeline",
        "release",
        "split",
        "status",
        "progress",
        "requested_by",
        "created_at",
    )
    list_filter = (StatusFilter, "pipeline", "split", "release")
    search_fields = ("pipeline", "release__name", "requested_by__username", "reason")
    inlines = (AggregateInline,)
    fields = (
        "screen",
        "status",
        "progress",
        "failure",
        "pause_reason",
        "release",
        "pipeline",
        "pipeline_version",
        "config",
        "split",
        "reason",
        "repetitions",
        "seed",
        "budget_cost",
        "budget_tokens",
        "requested_by",
        "created_at",
        "scored_at",
        "spec",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        return rows.with_progress()

    @admin.display(description=_("Results"))
    def screen(self, run: Run) -> SafeString:
        return format_html('<a href="{}">Open run {}</a>', run.get_absolute_url(), run.pk)

    @admin.display(description=_("Status"), ordering="state")
    def status(self, run: Run) -> str:
        return run.status

    @admin.display(description=_("Cases"))
    def progress(self, run: Any) -> str:
        failed = f", {run.n_failed} failed" if run.n_failed else ""
        return f"{run.n_done + run.n_failed} of {run.n_cases}{failed}"


@admin.register(Aggregate)
class AggregateAdmin(ReadOnlyAdmin):
    sealed_by = ("run__look__isnull", "run__release")
    sealed_as = False
    list_display = ("id", "run", "metric", *FIGURES, *COUNTS)
    list_filter = ("metric", "run__pipeline")
    search_fields = ("metric", "=run__id")


read_only(
    CaseRun,
    "id run item repetition state attempts error_class seconds finished_at",
    "state error_class run__pipeline",
    "item__item_id error =run__id",
    sealed_by=("item__split", "run__release"),
)
read_only(
    Score,
    "id case metric metric_version value reason",
    "metric metric_version",
    "metric case__item__item_id =case__run__id",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    StageTrace,
    "id case checkpoint set_size corpus_size",
    "checkpoint",
    "=case__run__id case__part_id",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    Rating,
    "id case position judge score rated_at",
    "score",
    "note judge__username =case__run__id",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    RatingPanel,
    "id run n_labels opened_by opened_at closed_at",
    search="code =run__id",
)
read_only(RatedLabel, "id panel number case position", search="=panel__id")
read_only(
    Yardstick,
    "id release pipeline pipeline_version config failure computed_at",
    "pipeline",
    "release__name",
)
read_only(
    YardstickCase,
    "id yardstick item part",
    search="=yardstick__id",
    sealed_by=("item__split", "yardstick__release"),
)
read_only(RunTag, "id run tag", "tag", "tag =run__id")
read_only(RunNote, "id run text", search="text =run__id")
read_only(GateThresholds, "project thresholds max_drop min_coverage changed_by changed_at")
read_only(PrimaryMetric, "id project layer metric margin by at", "layer", "project__name")
read_only(
    GateResult,
    "id run baseline passed asked_by at",
    "passed",
    "=run__id",
    sealed_by=("run__look__isnull", "run__release"),
    sealed_as=False,
)
read_only(
    BuiltLayer,
    "id conversation kind implementation seconds built_at",
    "kind implementation",
    "conversation__external_id config_sha256",
)
read_only(LayerBuild, "id conversation step requested_by requested_at finished_at", "step")
read_only(
    CachedReply,
    "id provider model key hits created_at last_used_at",
    "provider model",
    "key model",
)
read_only(
    Answer,
    "id case state attempts model error_class finished_at",
    "state error_class model",
    "error =case__run__id case__item__item_id",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    Judging,
    "id run model judge_sha256 requested_by created_at",
    "model parser_version cancelled",
    "model judge_sha256 =run__id",
)
read_only(
    Judgement,
    "id judging answer kind state score clamped reason",
    "kind state error_class clamped",
    "error =judging__run__id =answer__id",
    sealed_by=("answer__case__item__split", "answer__case__run__release"),
)
read_only(
    AnswerRating,
    "id answer kind rater score frozen rated_at",
    "kind score",
    "note rater__username =answer__case__run__id",
    sealed_by=("answer__case__item__split", "answer__case__run__release"),
)
read_only(AnswerPanel, "id run opened_by opened_at", search="=run__id")
read_only(
    AnswerSample,
    "id panel kind drawn_from drawn_by drawn_at closed_by closed_at given_up",
    "kind given_up",
    "reason =panel__run__id",
)
read_only(SampledAnswer, "id sample number answer", search="=sample__id =answer__id")
read_only(
    Probing,
    "id project kind model state requested_by created_at",
    "kind state model",
    "judge_sha256 model error",
)
read_only(
    JudgeCertificate,
    "id project kind model passed attempt bias kappa n issued_at",
    "passed kind model",
    "judge_sha256 model",
)
