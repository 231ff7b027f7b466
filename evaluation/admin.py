"""Runs and their results for staff: launched from a gold release, read, and never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format, number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext

from evaluation import adapters
from evaluation.forms import LaunchForm
from evaluation.layers import GOLD_LAYERS, Example, GoldLayer, gold_layer
from evaluation.metrics.registry import METRICS
from evaluation.models import (
    Aggregate,
    Answer,
    AnswerPanel,
    AnswerRating,
    CaseRun,
    ChosenBaseline,
    GateResult,
    GateThresholds,
    JudgeCertificate,
    Judgement,
    Judging,
    PrimaryMetric,
    Rating,
    RatingPanel,
    Run,
    Score,
    selected,
)
from evaluation.services.language_models import bills
from evaluation.services.looks import sealed_among
from evaluation.services.run import lists, planning, results, run_figures
from evaluation.services.run.comparisons import MOST_RUNS
from evaluation.services.work import steering
from evaluation.views.plots import PLOT_TITLES, PLOTS
from evaluation.views.runs import SPLITS
from labeling.admin import (
    NAMED_BY,
    PROJECT_OF,
    GoldReleaseAdmin,
    ReadOnly,
    ReadOnlyAdmin,
    read_only,
    readable,
    reading,
    worded,
)
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease, Look
from labeling.services.gold import looks
from labeling.translation import lazy as _
from labeling.translation import translated
from labeling.words import words, words_of

NAMED_BY[CaseRun] = ("item",)
PROJECT_OF.update(
    {
        Run: "release__project",
        CaseRun: "run__release__project",
        Aggregate: "run__release__project",
        Score: "case__run__release__project",
        GateResult: "run__release__project",
        GateThresholds: "project",
        PrimaryMetric: "project",
        ChosenBaseline: "release__project",
        Answer: "case__run__release__project",
        Judging: "run__release__project",
        Judgement: "judging__run__release__project",
        JudgeCertificate: "project",
    }
)

admin.site.unregister(GoldRelease)


@admin.register(GoldRelease)
class MeasurableGoldAdmin(GoldReleaseAdmin):
    """Gold releases as labeling shows them, and from here they can be measured against."""

    actions = ("evaluate",)

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evaluation.add_run") or bool(reading(request))

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
        offered: Any = self.get_queryset(request).filter(pk__in=numbers)
        if not request.user.has_perm("evaluation.add_run"):
            offered = offered.filter(project__in=reading(request))
        releases = list(offered.select_related("project"))
        if not releases:
            messages.error(request, _("Tick the gold releases to evaluate first."))
            return redirect("admin:labeling_goldrelease_changelist")
        layers = {release.layer for release in releases}
        form = LaunchForm(request.POST or None, layers=layers)
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
            "nothing_fits": not any(layers <= {*row["layers"]} for row in form.pipelines),
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
            (
                release,
                " ".join([bills.estimate(cost), *planning.said(release, split=selected(split))]),
            )
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


class SplitFilter(admin.SimpleListFilter):
    title = _("Split")
    parameter_name = "split"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return SPLITS

    def queryset(self, request: HttpRequest, runs: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value()
        return runs.filter(split="" if asked == "all" else asked) if asked else runs


def _rounded(name: str, title: Any) -> Callable[[Aggregate], str | None]:
    @admin.display(description=title, ordering=name)
    def shown(row: Aggregate) -> str:
        value = getattr(row, name)
        return "–" if value is None else number_format(f"{value:.4f}", 4)

    return shown


FIGURES: tuple[Any, ...] = (
    _rounded("mean", _("Mean")),
    _rounded("ci_low", _("95 % from")),
    _rounded("ci_high", _("to")),
    _rounded("median", _("Median")),
    _rounded("std", _("Std")),
)


def _counted(name: str, title: Any) -> Callable[[Aggregate], int]:
    @admin.display(description=title, ordering=name)
    def shown(row: Aggregate) -> int:
        return int(getattr(row, name))

    return shown


@admin.display(description=_("Metric"), ordering="metric")
def _titled(row: Aggregate) -> str:
    metric = METRICS.get(row.metric)
    return translated(metric.title) if metric else row.metric


COUNTS: tuple[Any, ...] = (
    _counted("n", "n"),
    _counted("n_undefined", _("Undefined")),
    _counted("n_failed", _("Failed")),
)
ROW: tuple[Any, ...] = (_titled, *FIGURES, *COUNTS, worded("reason"))


class AggregateInline(ReadOnly, admin.TabularInline):
    model = Aggregate
    extra = 0
    fields = ROW
    readonly_fields = ROW

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For everybody who sees the run, which is asked before."""
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Aggregate]:
        sealed = looks.sealed(request.user, Look.Purpose.RESULTS)
        rows = super().get_queryset(request).defer("detail", "yardsticks")
        return rows.exclude(run__look__isnull=False, run__release__in=sealed)


MAY_BE_EMPTY = ("failure", "pause_reason", "reason")
"""Fields of a run that most runs have nothing in."""


class RunList(ChangeList):
    """A page of runs, each with the figure that decides about it: a few queries for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        runs: list[Any] = list(self.result_list)
        for run, figure in zip(runs, run_figures.of_runs(runs, request.user), strict=True):
            run.figure = figure
        self.result_list = runs


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    stage = "Runs"
    list_display = (
        "number",
        "page",
        "pipeline",
        "gold",
        "figure",
        "counted",
        "n_failed",
        "status",
        "launched",
    )

    list_filter = (StatusFilter, "pipeline", SplitFilter, "release", "created_at")
    search_fields = ("name", "pipeline", "release__name", "requested_by__username", "reason", "=id")
    actions = ("compare", "export_csv", "export_json", "score_again", "cancel")
    inlines = (AggregateInline,)
    fields = (
        "screen",
        "status",
        "plots",
        "progress",
        "failure",
        "pause_reason",
        "name",
        "release",
        "pipeline",
        "pipeline_version",
        "settings",
        "measured_on",
        "reason",
        "repetitions",
        "seed",
        "budget_cost",
        "budget_tokens",
        "requested_by",
        "created_at",
        "scored_at",
        "written_down",
    )
    readonly_fields = fields

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        return ["release"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = list(super().get_fields(request, obj))
        if obj is None or obj.scored_at is None or sealed_among(request.user, [obj]):
            fields.remove("plots")
        empty = [name for name in MAY_BE_EMPTY if obj is not None and not getattr(obj, name)]
        return [name for name in fields if getattr(name, "of", name) not in empty]

    @admin.display(description=_("Plots"))
    def plots(self, run: Run) -> SafeString:
        aggregates = {row.metric: row for row in results.aggregates_of(run)}
        names = [name for name, drawn in PLOTS.items() if drawn(run, aggregates)]
        return format_html_join(
            " ",
            '<a href="{}?tab=curves"><img src="{}" alt="{}" loading="lazy"></a>',
            (
                (
                    run.get_absolute_url(),
                    reverse("run-plot", args=[run.pk, name, "svg"]),
                    translated(PLOT_TITLES[name]),
                )
                for name in names
            ),
        )

    def get_fieldsets(self, request: HttpRequest, obj: Run | None = None) -> Any:
        """What is needed to repeat the run is folded: it is long."""
        shown = list(self.get_fields(request, obj))
        folded = ["settings", "repetitions", "seed", "budget_cost", "budget_tokens"]
        folded.append("written_down")
        return [
            (None, {"fields": [name for name in shown if name not in folded]}),
            (_("How it was made"), {"fields": folded, "classes": ["collapse"]}),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        return rows.with_progress().defer("release__header", "release__agreement")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RunList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        may = {"may_launch": bool(reading(request))}
        return super().changelist_view(request, {**may, **(extra_context or {})})

    @admin.display(description=_("Run"), ordering="pk")
    def number(self, run: Run) -> int:
        return run.pk

    @admin.display(description=_("Primary metric [95 %]"))
    def figure(self, run: Any) -> SafeString:
        return format_html(
            '<span class="figure">{}</span> <span class="quiet">{}</span>',
            run.figure.value,
            run.figure.title,
        )

    @admin.display(description="n")
    def counted(self, run: Any) -> SafeString:
        return _labelled("n", "–" if run.figure.n is None else run.figure.n)

    @admin.display(description=_("Failed"))
    def n_failed(self, run: Any) -> SafeString:
        return _labelled(gettext("Failed"), run.n_failed)

    @admin.display(description=_("Name and page"), ordering="name")
    def page(self, run: Run) -> SafeString:
        said = run.name or gettext("Open the page")
        return format_html('<a href="{}" dir="auto">{}</a>', run.get_absolute_url(), said)

    @admin.display(description=_("Gold, split"), ordering="release")
    def gold(self, run: Run) -> str:
        return f"{run.release}, {_split_of(run)}"

    @admin.display(description=_("Split"))
    def measured_on(self, run: Run) -> str:
        return _split_of(run)

    @admin.display(description=_("Launched"), ordering="created_at")
    def launched(self, run: Run) -> str:
        return date_format(localtime(run.created_at), "SHORT_DATETIME_FORMAT")

    @admin.display(description=_("Results"))
    def screen(self, run: Run) -> SafeString:
        cases = f"{reverse('admin:evaluation_caserun_changelist')}?run__id__exact={run.pk}"
        page = gettext("Page of run {number}") if run.scored_at else gettext("Watch run {number}")
        links = [
            (run.get_absolute_url(), page.format(number=run.pk)),
            (cases, gettext("All its cases")),
        ]
        if run.scored_at:
            links += [
                (reverse("run-report", args=[run.pk, "html"]), gettext("Report")),
                (reverse("run-report", args=[run.pk, "jsonl"]), gettext("Predictions")),
            ]
        return format_html_join(" · ", '<a href="{}">{}</a>', links)

    @admin.display(description=_("Status"), ordering="state")
    def status(self, run: Run) -> str:
        return str(Run.Status(run.status).label)

    @admin.display(description=_("Cases"))
    def progress(self, run: Any) -> str:
        done = run.n_done + run.n_failed
        if not run.n_failed:
            return gettext("{done} of {total}").format(done=done, total=run.n_cases)
        counts = {"done": done, "total": run.n_cases, "failed": run.n_failed}
        return gettext("{done} of {total}, {failed} failed").format(**counts)

    @admin.display(description=_("Settings"))
    def settings(self, run: Run) -> SafeString:
        return readable(run.config)

    @admin.display(description=_("Written down at the launch"))
    def written_down(self, run: Run) -> SafeString:
        return readable(run.spec.as_json())

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
    def export_csv(self, request: HttpRequest, chosen: QuerySet[Run]) -> HttpResponse:
        rows = run_figures.rows(_own(chosen, request), request.user)
        return _file(run_figures.csv_text(rows), "runs.csv", "text/csv")

    @admin.action(description=_("Export the figures as JSON"), permissions=["read"])
    def export_json(self, request: HttpRequest, chosen: QuerySet[Run]) -> HttpResponse:
        rows = run_figures.rows(_own(chosen, request), request.user)
        return _file(run_figures.json_text(rows), "runs.json", "application/json")

    @admin.action(description=_("Score again"), permissions=["read"])
    def score_again(self, request: HttpRequest, chosen: QuerySet[Run]) -> None:
        self._steer(request, chosen, steering.rescore, _("Run {number} is scored again."))

    @admin.action(description=_("Cancel…"), permissions=["read"])
    def cancel(self, request: HttpRequest, chosen: QuerySet[Run]) -> HttpResponse | None:
        """Asked once more: a cancelled run does not go on again."""
        if "confirmed" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "title": gettext("Cancel runs"),
                "opts": self.opts,
                "runs": _own(chosen, request),
            }
            return TemplateResponse(request, "admin/evaluation/cancel.html", context)
        self._steer(request, chosen, steering.cancel, _("Run {number} is cancelled."))
        return None

    def _steer(
        self,
        request: HttpRequest,
        chosen: QuerySet[Run],
        do: Callable[..., None],
        said: str,
    ) -> None:
        """Each by itself: what one of them refuses does not keep the others."""
        for run in _own(chosen, request).select_related("release__project"):
            try:
                do(run, by=request.user)
            except RuleError as error:
                problem = gettext("Run {number}: {why}")
                messages.error(request, problem.format(number=run.pk, why=words(error.fact)))
            else:
                messages.success(request, said.format(number=run.pk))


def _split_of(run: Run) -> str:
    return words(Fact(f"run_split.{run.split or 'every'}"))


def _labelled(label: str, value: object) -> SafeString:
    """A number with what it counts, which phones show in place of the head of the table."""
    return format_html('<span class="on-phones">{}: </span>{}', label, value)


def _own(chosen: QuerySet[Run], request: HttpRequest) -> QuerySet[Run]:
    """Those that the person may steer and read on the pages, too."""
    return chosen.filter(pk__in=Run.objects.visible_to(request.user).values("pk"))


def _file(text: str, name: str, media_type: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{media_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@admin.register(Aggregate)
class AggregateAdmin(ReadOnlyAdmin):
    stage = "Results"
    sealed_by = ("run__look__isnull", "run__release")
    sealed_as = False
    list_display = ("id", "run", _titled, *FIGURES, *COUNTS)
    list_filter = ("metric", "run__pipeline")
    search_fields = ("metric", "=run__id")


def _in_order(label: Mapping[str, Any], layer: GoldLayer) -> dict[str, Any]:
    """A label's fields as its form has them; gold keeps them by name."""
    first = [name for name in ("id", "title", *layer.shown) if name in label]
    return {name: label[name] for name in (*first, *label)}


class ScoreInline(ReadOnly, admin.TabularInline):
    model = Score
    extra = 0
    fields = ("title", "value_in_words")
    readonly_fields = fields
    verbose_name_plural = _("Scores")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For everybody who sees the case, which is asked before."""
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Score]:
        return super().get_queryset(request).defer("detail", "by_person").select_related("case")

    @admin.display(description=_("Metric"))
    def title(self, score: Score) -> str:
        metric = METRICS.get(score.metric)
        if metric is None or metric.version != score.metric_version:
            older = gettext("{metric}, version {version}, no longer in force")
            return older.format(metric=score.metric, version=score.metric_version)
        return translated(metric.title)

    @admin.display(description=_("Value"))
    def value_in_words(self, score: Score) -> str:
        if score.value is None:
            return gettext("undefined: {why}").format(why=words_of(score.reason))
        said = f" ({words_of(score.reason)})" if score.reason else ""
        return number_format(f"{score.value:.3f}", 3) + said


@admin.register(CaseRun)
class CaseRunAdmin(ReadOnlyAdmin):
    stage = "Runs"
    about = "item__conversation"
    sealed_by = ("item__split", "run__release")
    linked_by = ("run__id__exact",)
    list_display = (*("name", "run", "state", "primary", "problem", "repetition", "took"),)
    list_filter = ("state", "error_class", "item__split", "run__pipeline")
    search_fields = ("item__item_id", "part_id", "=run__id")
    inlines = (ScoreInline,)
    fields = (
        *("name", "page", "run", "state", "problem", "question", "expected", "returned"),
        *("repetition", "attempts", "exposure", "took", "finished_at"),
    )
    readonly_fields = fields

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        return ["item", "run", "run__release"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        declared = lists.primaries(request.user)
        own = {layer.primary for layer in GOLD_LAYERS.values()}
        names = own | {metric.id for metric in declared.values()}
        shown = Score.objects.filter(metric__in=names).defer("detail", "by_person")
        return (
            rows.annotate(deciding=lists.deciding(declared))
            .defer("item__canonical", "run__spec", "run__config", "run__release__header")
            .prefetch_related(Prefetch("scores", shown, to_attr="main_scores"))
        )

    @admin.display(description=_("Case"), ordering="item__item_id")
    def name(self, case: CaseRun) -> str:
        return case.case_id

    @admin.display(description=_("Primary metric"))
    def primary(self, case: Any) -> str:
        """As the project declares it, like the figure of the run."""
        version = METRICS[case.deciding].version
        for score in case.main_scores:
            if (score.metric, score.metric_version) == (case.deciding, version):
                return "–" if score.value is None else number_format(f"{score.value:.3f}", 3)
        return "–"

    @admin.display(description=_("Problem"), ordering="error_class")
    def problem(self, case: CaseRun) -> str:
        return words_of(case.error) or "–"

    @admin.display(description=_("Seconds"), ordering="seconds")
    def took(self, case: CaseRun) -> str:
        return "–" if case.seconds is None else number_format(f"{case.seconds:.2f}", 2)

    @admin.display(description=_("Page"))
    def page(self, case: CaseRun) -> SafeString:
        said = gettext("The case next to its conversation")
        return format_html('<a href="{}">{}</a>', case.get_absolute_url(), said)

    @admin.display(description=_("Question"))
    def question(self, case: CaseRun) -> str:
        layer, example = self._example(case)
        return layer.question(example.gold) or "–"

    @admin.display(description=_("Expected"))
    def expected(self, case: CaseRun) -> SafeString:
        layer, example = self._example(case)
        return readable([_in_order(label, layer) for label in example.gold])

    @admin.display(description=_("Returned"))
    def returned(self, case: CaseRun) -> SafeString:
        layer, example = self._example(case)
        return readable([_in_order(label, layer) for label in layer.predicted(example.output)])

    def _example(self, case: CaseRun) -> tuple[GoldLayer, Example]:
        layer = gold_layer(case.run.release.layer)
        return layer, adapters.to_example(case, layer)


read_only(
    Score,
    "Results",
    "id case metric metric_version value reason",
    "metric metric_version",
    "metric case__item__item_id =case__run__id",
    about="case__item__conversation",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    Rating,
    "Results",
    "id case position judge score rated_at",
    "score",
    "note judge__username =case__run__id",
    about="case__item__conversation",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    RatingPanel,
    "Results",
    "id run n_labels opened_by opened_at closed_at",
    search="code =run__id",
)
read_only(
    GateThresholds, "Results", "project thresholds max_drop min_coverage changed_by changed_at"
)
read_only(
    PrimaryMetric, "Results", "id project layer metric margin by at", "layer", "project__name"
)
read_only(ChosenBaseline, "Results", "id release split run by at", "release split")
read_only(
    GateResult,
    "Results",
    "id run baseline passed asked_by at",
    "passed",
    "=run__id",
    sealed_by=("run__look__isnull", "run__release"),
    sealed_as=False,
)
read_only(
    Answer,
    "Judges",
    "id case state attempts model error_class finished_at",
    "state error_class model",
    "error =case__run__id case__item__item_id",
    about="case__item__conversation",
    sealed_by=("case__item__split", "case__run__release"),
)
read_only(
    Judging,
    "Judges",
    "id run model judge_sha256 requested_by created_at",
    "model parser_version cancelled",
    "model judge_sha256 =run__id",
)
read_only(
    Judgement,
    "Judges",
    "id judging answer kind state score clamped reason",
    "kind state error_class clamped",
    "error =judging__run__id =answer__id",
    about="answer__case__item__conversation",
    sealed_by=("answer__case__item__split", "answer__case__run__release"),
)
read_only(
    AnswerRating,
    "Judges",
    "id answer kind rater score frozen rated_at",
    "kind score",
    "note rater__username =answer__case__run__id",
    about="answer__case__item__conversation",
    sealed_by=("answer__case__item__split", "answer__case__run__release"),
)
read_only(AnswerPanel, "Judges", "id run opened_by opened_at", search="=run__id")
read_only(
    JudgeCertificate,
    "Judges",
    "id project kind model passed attempt bias kappa n issued_at",
    "passed kind model",
    "judge_sha256 model",
)
