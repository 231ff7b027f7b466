"""Gold and runs in the admin: launched, compared and exported from there, read, never changed."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db import models
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run, Score
from evaluation.models.runs import RunQuerySet
from evaluation.services.run.comparisons import MOST_RUNS
from evaluation.views.runs import log_file
from labeling.admin import ReadOnly, ReadOnlyAdmin, presented, reading, register, way
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold import looks
from labeling.models import GoldItem, GoldRelease, Look
from labeling.translation import lazy as _
from labeling.translation import translated
from labeling.words import words

TABLES = {
    msgid("Runs"): "CaseRun",
    msgid("Results"): "Aggregate Score Rating RatingSample RatingPanel GateResult GateThresholds"
    " PrimaryMetric ChosenBaseline",
    msgid("Judges"): "Answer Judging Judgement JudgeCertificate",
}
BY_ROLE = (
    "CaseRun Aggregate Score GateResult GateThresholds PrimaryMetric ChosenBaseline Answer Judging"
    " Judgement JudgeCertificate"
)
FIGURES = "mean ci_low ci_high median std n n_undefined n_failed"


class ResultAdmin(ReadOnlyAdmin):
    purpose = Look.Purpose.RESULTS

    def hidden(self, user: Any) -> list[Q]:
        """Figures of a run on test items wait for a reason, as its cases do."""
        is_of_run = "run" in self.own(models.Field) and way(self.model, GoldItem) is None
        return [*super().hidden(user), *([_unexplained(user)] if is_of_run else [])]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        run = way(self.model, Run)
        return [*super().get_search_fields(request), *([f"={run}id"] if run else [])]


def _unexplained(user: Any) -> Q:
    sealed = looks.sealed(user, Look.Purpose.RESULTS)
    return Q(run__look__isnull=False, run__release__in=sealed)


@admin.display(description=_("Metric"))
def titled(row: Any) -> str:
    metric = METRICS.get(row.metric)
    return translated(metric.title) if metric else row.metric


def of_row(model: type[Model], names: str) -> type[admin.TabularInline]:
    """Values of metrics on the page of the run or case that they belong to."""

    class Rows(ReadOnly, admin.TabularInline):
        fields: ClassVar[Any] = [titled, *presented(model, names.split())]
        readonly_fields = fields
        extra = 0

        def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
            """For everybody who sees that one, which is asked before."""
            return True

        def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
            rows = super().get_queryset(request)
            return rows.exclude(_unexplained(request.user)) if model is Aggregate else rows

    Rows.model = model  # type: ignore[misc]
    return Rows


EXCEPTIONS: dict[str, dict[str, Any]] = {name: {"by_role": True} for name in BY_ROLE.split()}
EXCEPTIONS["Aggregate"] |= {"columns": f"id run metric {FIGURES}"}
EXCEPTIONS["CaseRun"] |= {
    "columns": "id item run part_id state error_class repetition seconds",
    "inlines": (of_row(Score, "metric_version value reason"),),
}
register("evaluation", TABLES, ResultAdmin, EXCEPTIONS)


@admin.register(GoldRelease)
class GoldReleaseAdmin(ReadOnlyAdmin):
    """What is measured against; the form of the product launches the run."""

    stage = "Gold"
    by_role = True
    exclude: ClassVar[Any] = ("header", "listing")
    actions = ("evaluate",)

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return bool(reading(request))

    @admin.action(description=_("Evaluate with a pipeline…"), permissions=["launch"])
    def evaluate(self, request: HttpRequest, chosen: QuerySet[GoldRelease]) -> HttpResponse | None:
        releases = list(chosen[:2])
        if len(releases) != 1:
            said = gettext("Select one gold release; a configuration file launches on several.")
            messages.error(request, said)
            return None
        return redirect(f"{reverse('run-new')}?{urlencode({'release': str(releases[0])})}")


class StatusFilter(admin.SimpleListFilter):
    title = _("Status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in Run.Status.choices]

    def queryset(self, request: HttpRequest, runs: QuerySet[Any]) -> QuerySet[Any]:
        return runs.filter(state=self.value()) if self.value() else runs


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    stage = "Runs"
    by_role = True
    columns = "id page n_failed status pipeline release measured_on created_at"
    actions = ("compare", "export_csv")
    inlines = (of_row(Aggregate, f"{FIGURES} reason"),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        return rows.with_progress()

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        others = super().get_list_filter(request)
        return [StatusFilter, *(name for name in others if name != "split")]  # often without one

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return [*super().get_search_fields(request), "release__name", "reason"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["status", *super().get_fields(request, obj)]

    get_readonly_fields = get_fields

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        may = {"may_launch": bool(reading(request))}
        return super().changelist_view(request, {**may, **(extra_context or {})})

    @admin.display(description=_("Name and page"), ordering="name")
    def page(self, run: Run) -> SafeString:
        said = run.name or gettext("Open the page")
        return format_html('<a href="{}" dir="auto">{}</a>', run.get_absolute_url(), said)

    @admin.display(description=_("Failed"))
    def n_failed(self, run: Any) -> Any:
        return run.n_failed

    @admin.display(description=_("Split"), ordering="split")
    def measured_on(self, run: Run) -> str:
        return words(Fact(f"run_split.{run.split or 'every'}"))

    @admin.display(description=_("Status"), ordering="state")
    def status(self, run: Run) -> str:
        return str(Run.Status(run.status).label)

    # --- actions ------------------------------------------------------------------------------

    def has_read_permission(self, request: HttpRequest) -> bool:
        return bool(reading(request))

    @admin.action(description=_("Compare the selected runs"), permissions=["read"])
    def compare(self, request: HttpRequest, chosen: QuerySet[Run]) -> HttpResponse | None:
        """On the page: the oldest is the baseline, as it is where somebody asks for two runs."""
        numbers = sorted(_own(chosen, request).values_list("pk", flat=True))
        if not 2 <= len(numbers) <= MOST_RUNS:
            said = gettext("Select two to {most} runs on the same gold.").format(most=MOST_RUNS)
            messages.error(request, said)
            return None
        baseline, *others = numbers
        named = urlencode([("baseline", baseline), *(("run", pk) for pk in others)])
        return redirect(f"{reverse('run-compare')}?{named}")

    @admin.action(description=_("Export the figures as CSV"), permissions=["read"])
    def export_csv(self, request: HttpRequest, chosen: QuerySet[Run]) -> HttpResponseBase:
        return log_file(_own(chosen, request), request.user)


def _own(chosen: QuerySet[Run], request: HttpRequest) -> RunQuerySet:
    """Those that the person may read on the pages, too."""
    return Run.objects.visible_to(request.user).filter(pk__in=chosen.values("pk"))
