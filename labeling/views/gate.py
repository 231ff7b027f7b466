"""The calibration gate in words: where it stands and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Q

from labeling.domain.schema import LAYERS
from labeling.models import Project, Round
from labeling.templatetags.figures import figure

DONE = Q(assignments__annotation__status__in=["submitted", "skipped"])


class Gate(NamedTuple):
    """``state`` is open, locked, measuring or overridden; ``sentence`` explains it."""

    state: str
    sentence: str
    next_step: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "overridden")

    @property
    def badge(self) -> str:
        """The colour class of the state."""
        return {"open": "ok", "locked": "bad", "measuring": "info"}.get(self.state, "warn")

    @property
    def title(self) -> str:
        return {
            "open": "Open",
            "locked": "Locked",
            "measuring": "Measuring",
            "overridden": "Overridden",
        }[self.state]


def gates(projects: Iterable[Project]) -> dict[int, Gate]:
    """The gate of each project, by its id, in one query."""
    projects = list(projects)
    rounds: dict[int, list[Round]] = {project.pk: [] for project in projects}
    found = (
        Round.objects.filter(project__in=rounds)
        .select_related("opened_by")
        .annotate(n_assigned=Count("assignments"), n_done=Count("assignments", filter=DONE))
        .order_by("-number")
    )
    for one in found:
        rounds[one.project_id].append(one)
    return {project.pk: gate_of(project, rounds[project.pk]) for project in projects}


def gate_of(project: Project, newest_first: Iterable[Any]) -> Gate:
    """``newest_first`` are the project's rounds with ``n_assigned`` and ``n_done``."""
    rounds = list(newest_first)
    calibrations = [one for one in rounds if one.kind == Round.Kind.CALIBRATION]
    passed = next((one for one in calibrations if one.state == Round.State.PASSED), None)
    if passed is not None:
        return Gate("open", f"{reached(passed)}.", "Full labeling can be opened.")
    overridden = next((one for one in rounds if one.override_reason), None)
    if overridden is not None:
        by = overridden.opened_by.get_username() if overridden.opened_by else "the command line"
        return Gate(
            "overridden",
            f"No calibration round has passed. Round {overridden.number} was opened past the gate "
            f"by {by}: “{overridden.override_reason}”",
            "The reason is printed on every gold release.",
        )
    return _not_passed(project, calibrations[0] if calibrations else None)


def _not_passed(project: Project, latest: Any) -> Gate:
    wanted = f"κ of more than {project.kappa_threshold:g} is needed"
    if latest is None:
        return Gate(
            "locked",
            f"No calibration round has been held; {wanted} ({statistic_words(project)}).",
            "Open a calibration round to measure whether the annotators agree.",
        )
    if latest.state == Round.State.OPEN:
        return Gate(
            "measuring",
            f"Calibration round {latest.number} is open: {latest.n_done} of {latest.n_assigned} "
            "assignments are answered.",
            "Agreement is computed as soon as the last one is in.",
        )
    return Gate(
        "locked",
        f"{reached(latest)}.",
        "Discuss the disagreements, write a new version of the guidelines, then open the next "
        "calibration round.",
    )


def statistic_words(project: Project) -> str:
    return "for every pair" if project.kappa_statistic == "min" else "on average over the pairs"


def reached(measured: Round) -> str:
    """“Round 1 reached κ 0.61 (lowest pair ana–ben), more than 0.75 is needed”."""
    return f"Round {measured.number} {verdict(measured.agreement or {})}"


def verdict(figures: Mapping[str, Any]) -> str:
    """Every layer in its own words, if there are several; the gate takes all of them."""
    layers: Mapping[str, Any] = figures.get("layers", {})
    if len(layers) < 2:
        return _verdict(figures)
    each = [_reached(own, f" on {_titled(name)}") for name, own in layers.items()]
    return f"reached {', '.join(each)}; {_needed(figures)} on each"


def _titled(layer: str) -> str:
    title = LAYERS[layer].title
    return title[0].lower() + title[1:]


def _reached(figures: Mapping[str, Any], where: str = "") -> str:
    if figures.get("value") is None:
        return f"no {_measure(figures)}{where} ({_why_none(figures)})"
    return f"{_measure(figures)} {figure(figures['value'])}{where} ({_basis(figures)})"


def _verdict(figures: Mapping[str, Any]) -> str:
    if figures.get("value") is None:
        return f"has no {_measure(figures)}: {_why_none(figures)}"
    return f"reached {_reached(figures)}, {_needed(figures)}"


def _why_none(figures: Mapping[str, Any]) -> str:
    return str(figures.get("reasons", {}).get("value", "it was not measured"))


def _needed(figures: Mapping[str, Any]) -> str:
    return f"more than {figures['threshold']:g} is needed"


def _measure(figures: Mapping[str, Any]) -> str:
    """Which figure the gate looks at."""
    return "F1" if figures.get("measure") == "f1" else "κ"


def _basis(figures: Mapping[str, Any]) -> str:
    if figures["statistic"] == "mean":
        return f"mean of {len(figures['pairs'])} pairs"
    pair = lowest_pair(figures)
    return f"lowest pair {pair['a']}–{pair['b']}" if pair else "lowest pair"


def lowest_pair(figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    name = "positive_f1" if figures.get("measure") == "f1" else "kappa"
    defined = [pair for pair in figures.get("pairs", []) if pair[name] is not None]
    return min(defined, key=lambda pair: pair[name], default=None)
