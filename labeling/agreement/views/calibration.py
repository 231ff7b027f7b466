"""Calibration as a whole: where it stands, who has to act, and how the rounds went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.agreement import agreement, discussions
from labeling.agreement.rules.calibration import ENOUGH, passes_within, standings
from labeling.agreement.rules.intervals import TRUE_FIGURES
from labeling.agreement.views.gate import gates, lowest_pair
from labeling.agreement.views.layer_results import layer_results
from labeling.core import access
from labeling.models import EmptyLayer, Measurement, Project, Round
from labeling.templatetags.figures import figure
from labeling.translation import lazy as _
from labeling.translation import translated
from labeling.work.round_counts import count_work, decision, seen_before

A_LEAD = _("a lead")


class Step(NamedTuple):
    """What has to be done next, by whom, and where. ``state`` is done, now or later."""

    state: str
    title: str
    who: str = ""
    detail: str = ""
    url: str = ""


class Reading(NamedTuple):
    """The gate's figure after one calibration round, with its 95 % interval."""

    number: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    passed: bool


@require_GET
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    rounds = _rounds(project)
    closed = [round_ for round_ in rounds if round_.agreement]
    readings = [_reading(round_) for round_ in closed]
    latest = rounds[-1] if rounds else None
    failed = latest if latest and latest.state == Round.State.FAILED else None
    again = f"?fresh_after={failed.number}" if failed else ""
    way = steps(project, rounds)
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "gate": gates([project])[project.pk],
        "enough": ENOUGH,
        "passes": passes_within([round_.agreement for round_ in closed], TRUE_FIGURES[0]),
        "true": TRUE_FIGURES[0],
        "steps": way,
        "first": next(
            (step for step in way if step.state == "now" and again not in step.url), None
        ),
        "rows": list(zip(closed, readings, strict=True)),
        "last_closed": closed[-1] if closed else None,
        "layers": layer_results(closed[-1]) if closed else [],
        "standings": [
            (round_, standings(agreement.of_messages(round_.agreement)["pairs"]))
            for round_ in reversed(closed)
        ],
        "failed": failed,
        "discussed": seen_before(closed[-1]) if closed else 0,
    }
    return render(request, "labeling/calibration.html", context)


def _rounds(project: Project) -> list[Any]:
    """The calibration rounds, oldest first."""
    rounds = project.rounds.filter(kind=Round.Kind.CALIBRATION).select_related(
        "guideline", "project"
    )
    everything = Measurement.objects.filter(selection="").only("round", "layer", "mean_interval")
    stated = Prefetch("empty_layers", EmptyLayer.objects.select_related("stated_by"))
    rounds = rounds.prefetch_related(Prefetch("measurements", everything), stated)
    counted = list(rounds.defer("guideline__body").order_by("number"))
    count_work(counted)
    return counted


def _reading(measured: Round) -> Reading:
    figures: Mapping[str, Any] = measured.agreement or {}
    low, high = _interval(measured, figures)
    return Reading(
        number=measured.number,
        value=figures["value"],
        low=low,
        high=high,
        threshold=figures["threshold"],
        passed=figures["passed"],
    )


def _interval(
    measured: Round, figures: Mapping[str, Any]
) -> tuple[float, float] | tuple[None, None]:
    """Of the gate's figure: the lowest pair has one, and a mean got one when it was measured."""
    if figures["value"] is None:
        return None, None
    if known := figures.get("intervals", {}).get("value"):
        return known[0], known[1]
    if figures["statistic"] == "mean":
        layer = figures.get("layer") or agreement.first_layer(measured.project)
        stored = [row for row in measured.measurements.all() if row.layer == layer]
        return (
            tuple(stored[0].mean_interval) if stored and stored[0].mean_interval else (None, None)
        )
    pair = lowest_pair(figures)
    return (pair["ci_low"], pair["ci_high"]) if pair else (None, None)


def steps(project: Project, rounds: Sequence[Any]) -> list[Step]:
    """The way to full labeling; exactly one step is the next one, unless all is done.

    ``rounds`` are the calibration rounds with ``n_assigned`` and ``n_done``, oldest first.
    """
    written = _guidelines_step(project)
    latest = rounds[-1] if rounds else None
    if latest is None:
        return _marked([written, _open_step(project), *_later("label", "measure", "full")])
    names = _("calibration round {number}").format(number=latest.number)
    opened = Step("done", _("Open {names}").format(names=names))
    if latest.state == Round.State.OPEN:
        return _marked([written, opened, _label_step(latest), *_later("measure", "full")])
    labeled = Step(
        "done", _("Label it blind"), detail=_("{n_done} answers").format(n_done=latest.n_done)
    )
    value = (latest.agreement or {}).get("value")
    measured = Step(
        "done", _("Measure agreement"), detail=f"{translated(latest.state)}, κ {figure(value)}"
    )
    before = [written, opened, labeled, measured]
    if decision(rounds).opens:
        return _marked([*before, _full_step(project)])
    if latest.state == Round.State.PASSED:
        return _marked([*before, _open_step(project), *_later("full")])
    return _marked([*before, *_after_failure(project, latest), *_later("full")])


def _marked(steps: list[Step]) -> list[Step]:
    """Of the steps that wait, the first one is next."""
    first = next((at for at, step in enumerate(steps) if step.state != "done"), None)
    return [
        step if step.state == "done" else step._replace(state="now" if at == first else "later")
        for at, step in enumerate(steps)
    ]


LATER = {
    "label": Step("later", _("Label it blind"), _("the annotators")),
    "measure": Step("later", _("Measure agreement"), _("the server, with the last answer")),
    "full": Step("later", _("Open full labeling"), A_LEAD),
}


def _later(*names: str) -> list[Step]:
    return [LATER[name] for name in names]


def _guidelines_step(project: Project) -> Step:
    newest = project.guidelines.only("version").first()
    if newest:
        return Step(
            "done",
            _("Write the guidelines"),
            detail=_("version {version}").format(version=newest.version),
        )
    url = reverse("guideline-new", args=[project.slug])
    return Step("later", _("Write the guidelines"), A_LEAD, url=url)


def _open_step(project: Project) -> Step:
    url = reverse("round-new", args=[project.slug])
    return Step("later", _("Open a calibration round"), A_LEAD, url=url)


def _label_step(latest: Any) -> Step:
    missing = (
        latest.assignments.exclude(annotation__status__in=["submitted", "skipped"])
        .order_by("annotator__username")
        .values_list("annotator__username")
        .annotate(n=Count("pk"))
    )
    waiting = ", ".join(_("{name} ({n} left)").format(name=name, n=n) for name, n in missing)
    detail = _("{n_done} of {n_assigned} answers are in").format(
        n_done=latest.n_done, n_assigned=latest.n_assigned
    )
    state = "later" if waiting else "done"  # then a worker still has to match the labels
    return Step(state, _("Label it blind"), waiting, detail, latest.get_absolute_url())


def _after_failure(project: Project, latest: Round) -> list[Step]:
    """Discuss, change the guidelines, try again."""
    wanted, decided = discussions.progress(latest)
    newer = project.guidelines.filter(version__gt=latest.guideline.version).only("version").first()
    done = "done" if newer or decided == wanted else "later"
    slug = project.slug
    return [
        Step(
            done,
            _("Discuss the disagreements"),
            _("the annotators and a lead"),
            _("{decided} of {wanted} decided").format(decided=decided, wanted=wanted)
            if wanted is not None
            else _("being prepared"),
            reverse("disagreements", args=[slug, latest.number]),
        ),
        Step(
            "done" if newer else "later",
            _("Change the guidelines"),
            A_LEAD,
            _("version {version}").format(version=newer.version) if newer else "",
            reverse("guideline-new", args=[slug]),
        ),
        Step(
            "later",
            _("Open the next calibration round"),
            A_LEAD,
            _("with a fresh batch, or the same one"),
            f"{reverse('round-new', args=[slug])}?fresh_after={latest.number}",
        ),
    ]


def _full_step(project: Project) -> Step:
    opened = project.rounds.filter(kind=Round.Kind.FULL).order_by("-number").first()
    if opened:
        return Step(
            "done", _("Open full labeling"), detail=_("round {number}").format(number=opened.number)
        )
    url = reverse("round-new", args=[project.slug])
    return Step("later", _("Open full labeling"), A_LEAD, url=url)
