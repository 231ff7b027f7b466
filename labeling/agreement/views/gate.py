"""The calibration gate in words: its state and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from labeling.models import Project, Round
from labeling.schema import LAYERS
from labeling.templatetags.figures import against, exact
from labeling.templatetags.words import within
from labeling.words import words, words_of
from labeling.work import round_counts
from labeling.work.round_counts import count_work


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
        """The color class of the state."""
        return {"open": "ok", "locked": "bad", "measuring": "info"}.get(self.state, "warn")

    @property
    def title(self) -> str:
        return {
            "open": _("Open"),
            "locked": _("Locked"),
            "measuring": _("Measuring"),
            "overridden": _("Overridden"),
        }[self.state]


def gates(projects: Iterable[Project]) -> dict[int, Gate]:
    """The gate of each project, by its id, in two queries."""
    projects = list(projects)
    rounds: dict[int, list[Round]] = {project.pk: [] for project in projects}
    all_rounds = list(
        Round.objects.filter(project__in=rounds).select_related("opened_by").order_by("-number")
    )
    # the gate shows the progress of blind rounds alone
    count_work([round_ for round_ in all_rounds if round_.is_blind])
    for round_ in all_rounds:
        rounds[round_.project_id].append(round_)
    return {project.pk: gate_of(project, rounds[project.pk]) for project in projects}


def gate_of(project: Project, newest_first: Iterable[Any]) -> Gate:
    """``newest_first`` are the project's rounds; the work of a blind one is counted."""
    rounds = list(newest_first)
    state, decisive = round_counts.gate_of(rounds)
    if state == "open":
        return Gate(state, f"{reached(decisive)}.", _("Full labeling can be opened."))
    if state == "locked" and decisive and decisive.state == Round.State.PASSED:
        return Gate(state, words(round_counts.decision(rounds).why_locked))
    if state == "overridden":
        by = decisive.opened_by.get_username() if decisive.opened_by else _("the command line")
        return Gate(
            state,
            _(
                "The gate is locked. Round {number} was opened past it by {by}: “{override_reason}”"
            ).format(number=decisive.number, by=by, override_reason=decisive.override_reason),
            _("The reason is printed on every gold release."),
        )
    return _not_passed(project, decisive)


def _not_passed(project: Project, latest: Any) -> Gate:
    wanted = _("κ of more than {value} is needed").format(value=exact(project.kappa_threshold))
    if latest is None:
        return Gate(
            "locked",
            _("No calibration round has been held; {wanted} ({statistic_words}).").format(
                wanted=wanted, statistic_words=statistic_words(project)
            ),
            _("Open a calibration round to measure whether the annotators agree."),
        )
    if latest.state == Round.State.OPEN:
        return Gate(
            "measuring",
            _(
                "Calibration round {number} is open: {n_done} of {n_assigned} "
                "assignments are answered."
            ).format(number=latest.number, n_done=latest.n_done, n_assigned=latest.n_assigned),
            _("Agreement is computed as soon as the last one is in."),
        )
    return Gate(
        "locked",
        f"{reached(latest)}.",
        _(
            "Discuss the disagreements, write a new version of the guidelines, then "
            "open the next calibration round."
        ),
    )


def statistic_words(project: Project) -> str:
    return (
        _("for every pair") if project.kappa_statistic == "min" else _("on average over the pairs")
    )


def reached(measured: Round) -> str:
    """“Round 1 reached κ 0.61 (lowest pair ana–ben), more than 0.75 is needed”."""
    return _("Round {number} {verdict}").format(
        number=measured.number, verdict=verdict(measured.agreement or {})
    )


def verdict(figures: Mapping[str, Any]) -> str:
    """Every layer in its own words, if there are several; the gate takes all of them."""
    layers: Mapping[str, Any] = figures.get("layers", {})
    needed = _("more than {value} is needed").format(value=exact(figures["threshold"]))
    if len(layers) < 2 and figures.get("outcome") == "not_measured":
        return _("was not measured: {why_none}").format(why_none=_why_none(figures))
    if len(layers) < 2:
        units = _("reached {reached}, {needed}").format(
            reached=_of_units(figures, ""), needed=needed
        )
        return units + _of_content(figures)
    each = [
        _reached(layers[name], _(" on {titled}").format(titled=within(LAYERS[name].title)))
        for name in LAYERS  # PostgreSQL reorders the keys of JSON
        if name in layers
    ]
    return _("reached {each}; {needed} on each that was used").format(
        each=", ".join(each), needed=needed
    )


def _reached(figures: Mapping[str, Any], where: str = "") -> str:
    if figures.get("outcome") == "not_measured":
        return _("nothing{where} ({why_none})").format(where=where, why_none=_why_none(figures))
    return _of_units(figures, where) + _of_content(figures)


def _of_content(figures: Mapping[str, Any]) -> str:
    """What the gate says of the labels themselves, where they kept the round from passing."""
    content = figures.get("content")
    if not content or content["passed"]:
        return ""
    reason = words_of(content["reason"])
    if content["value"] is None:
        return _(", and the labels cannot be compared ({reason})").format(reason=reason)
    return _(", and label F1 {value} where at least {needed} is needed ({reason})").format(
        value=against(content["value"], content["threshold"]),
        needed=exact(content["threshold"]),
        reason=reason,
    )


def _of_units(figures: Mapping[str, Any], where: str) -> str:
    if figures.get("value") is None:
        return _("no {measure}{where} ({why_none})").format(
            measure=_measure(figures), where=where, why_none=_why_none(figures)
        )
    comparison = against(figures["value"], figures["threshold"])
    return f"{_measure(figures)} {comparison}{where} ({_basis(figures)})"


def _why_none(figures: Mapping[str, Any]) -> str:
    reason = figures.get("reasons", {}).get("value")
    return words_of(reason) or _("it was not measured")


def _measure(figures: Mapping[str, Any]) -> str:
    """Which figure the gate looks at."""
    return "F1" if figures.get("measure") == "f1" else "κ"


def _basis(figures: Mapping[str, Any]) -> str:
    if figures["statistic"] == "mean":
        return _("mean of {pairs} pairs").format(pairs=len(figures["pairs"]))
    pair = lowest_pair(figures)
    return _("lowest pair {a}–{b}").format(a=pair["a"], b=pair["b"]) if pair else _("lowest pair")


def lowest_pair(figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    name = "positive_f1" if figures.get("measure") == "f1" else "kappa"
    defined = [pair for pair in figures.get("pairs", []) if pair[name] is not None]
    return min(defined, key=lambda pair: pair[name], default=None)
