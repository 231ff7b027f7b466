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
    BuiltLayer,
    CachedReply,
    CaseRun,
    GateResult,
    GateThresholds,
    HumanCeiling,
    JudgeCertificate,
    Judgement,
    Judging,
    LayerBuild,
    Probing,
    RatedLabel,
    Rating,
    RatingPanel,
    Run,
    Score,
    SplitAccess,
    StageTrace,
)
from evaluation.services.language_models import bills
from labeling.admin import GoldReleaseAdmin, ReadOnly, ReadOnlyAdmin, worded
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease
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
        asked = map(whole_number, request.GET.get("ids", "").split(","))
        numbers = [one for one in asked if one is not None]
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
    """What each run would cost, as a sentence; none if a rule is broken (see the form's errors)."""
    found = [(release, form.estimate(release)) for release in releases]
    return [] if form.errors else [(release, bills.estimate(one)) for release, one in found]


def _launch_all(form: LaunchForm, releases: list[GoldRelease], request: HttpRequest) -> list[Run]:
    launched = form.launch(releases, by=request.user)
    for run in launched:
        said = _("Run {number} on {release} is queued.")
        messages.success(request, said.format(number=run.pk, release=run.release))
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
        return super().get_queryset(request).defer("detail")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    heavy = (
        "spec",
        "config",
        "release__header",
        "release__agreement",
        "release__left_out",
        "release__overrides",
    )
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
    list_select_related = ("release", "requested_by")
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


@admin.register(CaseRun)
class CaseRunAdmin(ReadOnlyAdmin):
    heavy = ("output", "usage", "item__canonical", "run__spec", "run__config")
    list_display = (
        "id",
        "run",
        "item",
        "repetition",
        "state",
        "attempts",
        "error_class",
        "seconds",
        "finished_at",
    )
    list_filter = ("state", "error_class", "run__pipeline")
    search_fields = ("item__item_id", "error", "=run__id")
    list_select_related = ("run", "item__release")


@admin.register(Score)
class ScoreAdmin(ReadOnlyAdmin):
    heavy = ("detail", "case__output", "case__usage")
    list_display = ("id", "case", "metric", "metric_version", "value", "reason")
    list_filter = ("metric", "metric_version")
    search_fields = ("metric", "case__item__item_id", "=case__run__id")
    list_select_related = ("case",)


@admin.register(Aggregate)
class AggregateAdmin(ReadOnlyAdmin):
    heavy = ("detail", "run__spec", "run__config")
    list_display = ("id", "run", "metric", *FIGURES, *COUNTS)
    list_filter = ("metric", "run__pipeline")
    search_fields = ("metric", "=run__id")
    list_select_related = ("run",)


@admin.register(SplitAccess)
class SplitAccessAdmin(ReadOnlyAdmin):
    heavy = ("run__spec", "run__config", "release__header")
    list_display = ("id", "release", "run", "user", "n_items", "reason", "at")
    list_filter = ("release__name",)
    search_fields = ("reason", "release__name", "=run__id")
    list_select_related = ("release", "run", "user")


@admin.register(StageTrace)
class StageTraceAdmin(ReadOnlyAdmin):
    heavy = ("ids", "scores", "case__output", "case__usage")
    list_display = ("id", "case", "checkpoint", "set_size", "corpus_size")
    list_filter = ("checkpoint",)
    search_fields = ("=case__run__id", "case__part_id")
    list_select_related = ("case",)


@admin.register(Rating)
class RatingAdmin(ReadOnlyAdmin):
    heavy = ("case__output", "case__usage")
    list_display = ("id", "case", "position", "judge", "score", "rated_at")
    list_filter = ("score",)
    search_fields = ("note", "judge__username", "=case__run__id")
    list_select_related = ("case", "judge")


@admin.register(RatingPanel)
class RatingPanelAdmin(ReadOnlyAdmin):
    heavy = ("run__spec", "run__config")
    list_display = ("id", "run", "n_labels", "opened_by", "opened_at", "closed_at")
    search_fields = ("code", "=run__id")
    list_select_related = ("run", "opened_by")


@admin.register(RatedLabel)
class RatedLabelAdmin(ReadOnlyAdmin):
    heavy = ("case__output", "case__usage")
    list_display = ("id", "panel", "number", "case", "position")
    search_fields = ("=panel__id",)
    list_select_related = ("panel", "case")


@admin.register(HumanCeiling)
class HumanCeilingAdmin(ReadOnlyAdmin):
    heavy = ("detail", "release__header")
    list_display = ("id", "release", "split", "metric", "mean", "ci_low", "ci_high", "n")
    list_filter = ("metric", "release__name")
    search_fields = ("metric", "release__name")
    list_select_related = ("release",)


@admin.register(GateThresholds)
class GateThresholdsAdmin(ReadOnlyAdmin):
    list_display = ("project", "thresholds", "max_drop", "changed_by", "changed_at")
    list_select_related = ("project", "changed_by")


@admin.register(GateResult)
class GateResultAdmin(ReadOnlyAdmin):
    heavy = ("checks", "run__spec", "run__config", "baseline__spec", "baseline__config")
    list_display = ("id", "run", "baseline", "passed", "asked_by", "at")
    list_filter = ("passed",)
    search_fields = ("=run__id",)
    list_select_related = ("run", "baseline", "asked_by")


@admin.register(BuiltLayer)
class BuiltLayerAdmin(ReadOnlyAdmin):
    heavy = ("payload", "config")
    list_display = ("id", "conversation", "kind", "implementation", "seconds", "built_at")
    list_filter = ("kind", "implementation")
    search_fields = ("conversation__external_id", "config_sha256")
    list_select_related = ("conversation",)


@admin.register(LayerBuild)
class LayerBuildAdmin(ReadOnlyAdmin):
    list_select_related = ("conversation",)


@admin.register(CachedReply)
class CachedReplyAdmin(ReadOnlyAdmin):
    heavy = ("reply",)
    list_display = ("id", "provider", "model", "key", "hits", "created_at", "last_used_at")
    list_filter = ("provider", "model")
    search_fields = ("key", "model")


# --- answers and judging --------------------------------------------------------------------------


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    heavy = ("text", "message_ids", "usage", "case__output", "case__usage")
    list_display = ("id", "case", "state", "attempts", "model", "error_class", "finished_at")
    list_filter = ("state", "error_class", "model")
    search_fields = ("error", "=case__run__id", "case__item__item_id")
    list_select_related = ("case",)


@admin.register(Judging)
class JudgingAdmin(ReadOnlyAdmin):
    heavy = ("spec", "run__spec", "run__config")
    list_display = ("id", "run", "model", "judge_sha256", "requested_by", "created_at")
    list_filter = ("model", "parser_version", "cancelled")
    search_fields = ("model", "judge_sha256", "=run__id")
    list_select_related = ("run", "requested_by")


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    heavy = (
        "reasoning",
        "detail",
        "raw",
        "usage",
        "judging__spec",
        "answer__text",
        "answer__message_ids",
        "answer__usage",
    )
    list_display = ("id", "judging", "answer", "kind", "state", "score", "clamped", "reason")
    list_filter = ("kind", "state", "error_class", "clamped")
    search_fields = ("error", "=judging__run__id", "=answer__id")
    list_select_related = ("judging", "answer")


@admin.register(AnswerRating)
class AnswerRatingAdmin(ReadOnlyAdmin):
    heavy = ("answer__text", "answer__message_ids", "answer__usage")
    list_display = ("id", "answer", "kind", "rater", "score", "rated_at")
    list_filter = ("kind", "score")
    search_fields = ("note", "rater__username", "=answer__case__run__id")
    list_select_related = ("answer", "rater")


@admin.register(AnswerPanel)
class AnswerPanelAdmin(ReadOnlyAdmin):
    heavy = ("run__spec", "run__config")
    list_display = ("id", "run", "opened_by", "opened_at")
    search_fields = ("=run__id",)
    list_select_related = ("run", "opened_by")


@admin.register(Probing)
class ProbingAdmin(ReadOnlyAdmin):
    heavy = ("prompt", "results", "usage")
    list_display = ("id", "project", "kind", "model", "state", "requested_by", "created_at")
    list_filter = ("kind", "state", "model")
    search_fields = ("judge_sha256", "model", "error")
    list_select_related = ("project", "requested_by")


@admin.register(JudgeCertificate)
class JudgeCertificateAdmin(ReadOnlyAdmin):
    heavy = ("probes", "comparison", "reasons")
    list_display = ("id", "project", "kind", "model", "passed", "kappa", "n", "issued_at")
    list_filter = ("passed", "kind", "model")
    search_fields = ("judge_sha256", "model")
    list_select_related = ("project", "issued_by")
