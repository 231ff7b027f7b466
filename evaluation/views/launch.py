"""The form that launches a run, and the one that measures predictions made elsewhere."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.access import require_reader
from evaluation.forms import LaunchForm, PredictionsForm
from evaluation.models import Run, selected
from evaluation.services import plugins
from evaluation.services.language_models import bills
from evaluation.services.launch import cloning, launch, predictions
from evaluation.services.launch.launch import LaunchRequest
from evaluation.services.run import foreseeing, planning
from evaluation.services.run.foreseeing import Foreseen
from evaluation.services.run.planning import Plan
from evaluation.views.plots import planning_plot
from labeling.core.views.errors import expects_files
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.gold.views.gold import release_of
from labeling.models import GoldRelease
from labeling.translation import translated
from labeling.words import words


@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    releases = GoldRelease.objects.visible_to(request.user).light()
    form = LaunchForm(request.POST or None, releases=releases, initial=_start(request, releases))
    asked = request.method == "POST" and form.is_valid()
    if asked and "estimate" in request.POST:
        form.estimate(form.cleaned_data["release"])  # writes faults on the form
    elif asked:
        run = form.launch(by=request.user)
        if run is not None:
            messages.success(request, _("Run {number} is queued.").format(number=run.pk))
            return redirect(run)
    context = {
        "form": form,
        "has_releases": releases.exists(),
        "query": _query(request),
        "plugin_faults": plugins.faults(),
        **_foreseen_by(form, request.user),
    }
    return render(request, "evaluation/run_new.html", context, status=422 if form.errors else 200)


@expects_files
@require_http_methods(["GET", "POST"])
def run_predictions(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    releases = GoldRelease.objects.visible_to(request.user).light()
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = PredictionsForm(*posted, releases=releases, initial=_start(request, releases))
    if request.method == "POST" and form.is_valid():
        run = form.launch(by=request.user)
        if run is not None:
            message = _("The predictions were read; run {number} scores them.")
            messages.success(request, message.format(number=run.pk))
            return redirect(run)
    context = {
        "form": form,
        "has_releases": releases.exists(),
        "query": _query(request),
        **_of_predictions(form, releases, request.user),
    }
    status = 422 if form.errors else 200
    return render(request, "evaluation/run_predictions.html", context, status=status)


@require_POST
def run_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Exactly as the run was: the same gold, cases, pipeline, settings, prompts and seed."""
    require_reader(request.user)
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    run = get_object_or_404(visible, pk=pk)
    try:
        again = launch.launch(cloning.request(run, by=request.user))
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)
    messages.success(request, _("Run {number} is queued.").format(number=again.pk))
    return redirect(again)


@require_http_methods(["GET", "POST"])
def run_planning(request: HttpRequest) -> HttpResponse:
    """What the run on the form would take and could show: asked for at each choice."""
    require_reader(request.user)
    chosen = request.POST or request.GET
    releases = GoldRelease.objects.visible_to(request.user).light()
    form = LaunchForm(chosen, releases=releases)
    form.is_valid()
    context = {
        **_foreseen_by(form, request.user),
        "is_part": True,
        "is_predictions": "predictions" in chosen,
    }
    return render(request, "evaluation/_launch_planning.html", context)


@require_GET
def release_planning(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """A part of the pages of gold."""
    release = release_of(request.user, slug, name, version)
    plan = planning.plan(release, split=selected(request.GET.get("split", "")))
    context = {
        "release": release,
        "plan": plan,
        "said": planning.sentences(plan) if plan else [],
        "chart": planning_plot(plan) if plan else None,
        "rows": rows(plan) if plan else [],
    }
    return render(request, "evaluation/_gold_planning.html", context)


def rows(plan: Plan) -> list[tuple[int, str]]:
    """Numbers of conversations with what they show: now, with more of them, and with as many as
    the difference of interest takes."""
    if plan.basis is None:
        return []
    now = plan.conversations
    counts = {now, now + 10, 2 * now, 3 * now, 5 * now} | ({plan.needed} if plan.needed else set())
    effects = [(count, plan.effect_with(count)) for count in sorted(counts)]
    return [(count, planning.figure(effect)) for count, effect in effects if effect is not None]


def _start(request: HttpRequest, releases: Any) -> dict[str, Any]:
    """What the address asks for: the gold by its name, or everything as it was in a run."""
    start = _as_in(request) if "like" in request.GET else {}
    if "release" in request.GET:
        start["release"] = _named(releases, request.GET["release"])
    return start


def _as_in(request: HttpRequest) -> dict[str, Any]:
    number = whole_number(request.GET["like"])
    if number is None:
        return {}
    run = Run.objects.visible_to(request.user).filter(pk=number).first()
    if run is None or run.pipeline == predictions.NAME:
        return {}
    return LaunchForm.as_in(run)


def _named(releases: Any, text: str) -> int | None:
    """The release that an address calls by its name and version."""
    name, _, version = text.rpartition("@")
    chosen = releases.filter(name=name, version=whole_number(version) or 0)
    return cast("int | None", chosen.values_list("pk", flat=True).first())


def _query(request: HttpRequest) -> str:
    """The gold stays when somebody changes to the other tab."""
    chosen = request.GET.urlencode()
    return f"?{chosen}" if chosen else ""


def _foreseen_by(form: LaunchForm, reader: Any) -> dict[str, Any]:
    if not form.is_bound:
        form = LaunchForm(
            {name: value for name, value in form.initial.items() if value is not None}
            | {"split": form["split"].value()},
            releases=form.fields["release"].queryset,  # type: ignore[attr-defined]
        )
        form.is_valid()
    release = form.cleaned_data.get("release")
    if release is None:
        return {"foreseen": None}
    return _shown(foreseeing.foresee(form.request(release), by=reader))


def _of_predictions(form: PredictionsForm, releases: Any, reader: Any) -> dict[str, Any]:
    number = whole_number(str(form["release"].value() or ""))
    release = releases.filter(pk=number).first()
    if release is None:
        return {"foreseen": None, "is_predictions": True}
    asked = LaunchRequest(release=release, split=form["split"].value() or "")
    return {**_shown(foreseeing.foresee(asked, by=reader)), "is_predictions": True}


def _shown(foreseen: Foreseen) -> dict[str, Any]:
    plan = foreseen.plan
    effect = plan.effect if plan else None
    cost = foreseen.cost
    return {
        "foreseen": foreseen,
        "standing": foreseen.standing,
        "known_reason": foreseen.known_reason,
        "price": _price(foreseen),
        "price_basis": bills.estimate(cost) if cost else "",
        "faults": [words(fault) for fault in foreseen.faults],
        "effect": planning.figure(effect) if effect is not None else "",
        "metric": translated(plan.primary.metric.title) if plan else "",
        "said": planning.sentences(plan) if plan else [],
    }


def _price(foreseen: Foreseen) -> str:
    """In one word where it can be; empty where nothing is chosen that could cost anything."""
    if not foreseen.cost_known:
        return ""
    return _("nothing") if foreseen.cost is None else bills.price(foreseen.cost)
