"""The pages of a project in five groups, for the bar above each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import template
from django.urls import reverse

from labeling.models import Project
from labeling.templatetags.people import leads, reads
from labeling.translation import lazy as _

register = template.Library()


class Entry(NamedTuple):
    """A page of the bar. ``below`` are the names of the pages that are reached from it."""

    name: str
    title: str
    below: tuple[str, ...] = ()
    only_leads: bool = False


class Group(NamedTuple):
    """Pages under one heading; a group of one page is that page."""

    title: str
    entries: tuple[Entry, ...]


GROUPS = (
    Group(_("Overview"), (Entry("project", _("Overview"), ("table",)),)),
    Group(
        _("Conversations"),
        (
            Entry(
                "conversations",
                _("Conversations"),
                (
                    "conversation",
                    "conversations-import",
                    "conversations-preview",
                    "conversations-store",
                    "layers",
                ),
            ),
        ),
    ),
    Group(
        _("Labeling"),
        (
            Entry("progress", _("Progress"), ("work-move",)),
            Entry(
                "calibration",
                _("Calibration"),
                (
                    *("round-new", "round-close"),
                    *("agreement", "disagreements"),
                    "screening",
                ),
            ),
            Entry(
                "guidelines", _("Guidelines"), ("guideline", "guideline-new", "guideline-worklist")
            ),
            Entry("adjudication", _("Adjudication")),
            Entry("reviews", _("Review")),
            Entry("checks", _("Hidden checks"), ("check-person",)),
            Entry("suggestions", _("Suggestions")),
            Entry("labels", _("Labels as files"), ("labels-preview", "labels-import")),
        ),
    ),
    Group(
        _("Gold"),
        (
            Entry(
                "gold",
                _("Releases"),
                (
                    *("gold-release", "gold-item", "gold-compare", "gold-freeze"),
                    *("gold-verify", "gold-planning", "reopening-new"),
                ),
            ),
            Entry("gold-lint", _("Lint")),
            Entry("reopenings", _("Reopened items"), ("reopening", "gold-corrections")),
            Entry("looks", _("Looks at test items"), ("gold-look",)),
        ),
    ),
    Group(
        _("Settings"),
        (
            Entry(
                "members",
                _("Members"),
                ("member-remove",),
            ),
            Entry("project-settings", _("Project settings"), only_leads=True),
            Entry("gate-thresholds", _("Run thresholds")),
            Entry(
                "webhooks",
                _("Webhooks"),
                ("webhook", "webhook-remove"),
                only_leads=True,
            ),
            Entry("audit", _("Audit log")),
        ),
    ),
)


class Link(NamedTuple):
    """``current`` is the value of ``aria-current``: the page itself, or one below it."""

    title: str
    url: str
    current: str


class ShownGroup(NamedTuple):
    title: str
    links: list[Link]
    is_here: bool


class Bar(NamedTuple):
    """``here`` names the page that is open, for the narrow bar that shows no other."""

    project: Project
    groups: list[ShownGroup]
    here: str


@register.simple_tag(takes_context=True)
def project_bar(context: Mapping[str, Any]) -> Bar | None:
    """For the pages of a project and those who may read them all; None elsewhere."""
    project, request = context.get("project"), context.get("request")
    match = request and request.resolver_match
    if not isinstance(project, Project) or not match or match.kwargs.get("slug") != project.slug:
        return None
    user = context["user"]
    if not reads(user, project):
        return None
    is_lead = leads(user, project)
    groups = [_shown(group, project, match.url_name, is_lead=is_lead) for group in GROUPS]
    here = next((group for group in groups if group.is_here), None)
    return Bar(project, groups, _path(here) if here else "")


def _shown(group: Group, project: Project, name: str, *, is_lead: bool) -> ShownGroup:
    links = [
        Link(entry.title, reverse(entry.name, args=[project.slug]), _current(entry, name))
        for entry in group.entries
        if is_lead or not entry.only_leads
    ]
    return ShownGroup(group.title, links, any(link.current for link in links))


def _current(entry: Entry, name: str) -> str:
    if name == entry.name:
        return "page"
    return "true" if name in entry.below else ""


def _path(group: ShownGroup) -> str:
    link = next(link for link in group.links if link.current)
    return group.title if len(group.links) == 1 else f"{group.title} › {link.title}"
