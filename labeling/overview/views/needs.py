"""What needs somebody, in words: one line with one link each, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from labeling.models import Project
from labeling.overview import needs
from labeling.overview.needs import Discussion, Standing
from labeling.translation import lazy

SHOWN = 8


class Need(NamedTuple):
    """``action`` is what the link does. Lines with a smaller ``rank`` come first."""

    rank: int
    text: str
    action: str
    url: str
    project: str = ""


COUNTED = {
    "disputed": (
        25,
        ngettext_lazy(
            "{n} conversation is disputed and not decided",
            "{n} conversations are disputed and not decided",
            "n",
        ),
        lazy("Decide them"),
        "adjudication",
    ),
    "reopened": (
        26,
        ngettext_lazy(
            "{n} item of gold is doubted and not settled",
            "{n} items of gold are doubted and not settled",
            "n",
        ),
        lazy("Settle them"),
        "reopenings",
    ),
    "not_in_gold": (
        60,
        ngettext_lazy(
            "{n} settled conversation is not in gold yet",
            "{n} settled conversations are not in gold yet",
            "n",
        ),
        lazy("Freeze them"),
        "gold",
    ),
    "unplanned": (
        70,
        ngettext_lazy(
            "{n} conversation is not in a round yet",
            "{n} conversations are not in a round yet",
            "n",
        ),
        lazy("Open a round"),
        "round-new",
    ),
}
"""What a lead needs to know the number of: rank, text, what the link does, and its page."""


def of_annotator(user: Any, counts: Mapping[str, int]) -> list[Need]:
    """``counts`` are those of the queue, by tab. What the queue itself begins with is not said."""
    lines = []
    if returned := counts["returned"]:
        text = ngettext(
            "{n} answer came back to you with what has to change",
            "{n} answers came back to you with what has to change",
            returned,
        )
        lines.append(Need(10, text.format(n=returned), _("Change it"), "?tab=returned"))
    lines += [_talk(discussion) for discussion in needs.waiting_discussions(user)]
    return lines


def _talk(discussion: Discussion) -> Need:
    round_ = discussion.round
    return Need(
        20,
        _waiting(discussion),
        _("Discuss them"),
        reverse("disagreements", args=[round_.project.slug, round_.number]),
        round_.project.name,
    )


def _waiting(discussion: Discussion) -> str:
    number = discussion.round.number
    if discussion.total is None:
        return _("The disagreements of round {number} are being prepared for a discussion").format(
            number=number
        )
    left = discussion.left
    return ngettext(
        "{left} disagreement of round {number} waits for a discussion",
        "{left} disagreements of round {number} wait for a discussion",
        left,
    ).format(left=left, number=number)


def of_lead(projects: Iterable[Project]) -> list[Need]:
    standings = needs.standings(list(projects))
    lines = [line for standing in standings for line in of_project(standing)]
    lines += [
        _need(80, standing.project, _("Not set up yet"), _("Set it up"), "project")
        for standing in standings
        if not standing.has_rounds
    ]
    return sorted(lines, key=lambda line: line.rank)


def of_project(standing: Standing) -> list[Need]:
    """What a lead of the project can do next, the most urgent first."""
    project = standing.project
    lines = _calibration(standing)
    for round_ in standing.answered:
        said = _("Everybody has answered round {number}").format(number=round_.number)
        lines.append(_need(24, project, said, _("Close it"), "round-close", round_.number))
    for what, (rank, text, action, page) in COUNTED.items():
        n = standing.counts[what]
        if n and (standing.has_rounds or what != "unplanned"):
            lines.append(_need(rank, project, text.format(n=n), str(action), page))
    return sorted(lines, key=lambda line: line.rank)


def _calibration(standing: Standing) -> list[Need]:
    project, discussion = standing.project, standing.discussion
    if standing.passed:
        text = _("Round {number} has passed: full labeling can begin")
        text = text.format(number=standing.passed.number)
        return [_need(22, project, text, _("Open full labeling"), "round-new")]
    if discussion is None:
        return []
    number = discussion.round.number
    if discussion.has_new_guideline:
        text = _("Version {version} of the guidelines is ready: calibrate with it").format(
            version=discussion.newest_guideline
        )
        again = f"{reverse('round-new', args=[project.slug])}?fresh_after={number}"
        return [Need(22, text, _("Open the next round"), again, project.name)]
    if discussion.is_open:
        return [_talk(discussion)]
    if not discussion.total:
        text = _("Round {number} has not passed: read why").format(number=number)
        return [_need(21, project, text, _("Read it"), "calibration")]
    text = _("All disagreements of round {number} are decided: update the guidelines")
    text = text.format(number=number)
    return [_need(21, project, text, _("Change the guidelines"), "guideline-new")]


def _need(rank: int, project: Project, text: str, action: str, name: str, *args: Any) -> Need:
    return Need(rank, text, action, reverse(name, args=[project.slug, *args]), project.name)
