"""What lint found in labels that are to become gold, and what somebody has accepted."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from labeling.core import access
from labeling.core.views.access import refused
from labeling.core.views.paging import Page, page_of, query_of
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import gold_requests, lint
from labeling.gold.forms.lint import LayerForm, WaiveForm, WithdrawForm
from labeling.gold.rules.lint import KINDS, LintKind
from labeling.models import Conversation, LintReport, LintWaiver, Project
from labeling.schema.targets import target_layers
from labeling.words import words

SHOWN = 5
"""Findings of a kind that are shown before somebody asks for all of that kind."""


class Group(NamedTuple):
    """The findings of one kind: the first ones, or a page of them."""

    kind: LintKind
    counted: lint.KindCount
    page: Page
    is_cut: bool


@require_GET
def gold_lint(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    layers = target_layers(project.layers)
    layer = request.GET.get("layer", "")
    layer = layer if layer in layers else layers[0]
    report = LintReport.objects.filter(project=project, layer=layer).select_related("by").first()
    waivers = lint.waivers_of(project, layer)
    waiting = [each for each in gold_requests.waiting(project) if each.data["only_lint"]]
    context: dict[str, Any] = {
        "project": project,
        "layer": layer,
        "layers": layers,
        "report": report,
        "groups": _groups(request, report) if report else [],
        "one_kind": request.GET.get("kind") in KINDS,
        "waiting": next((each for each in waiting if each.data["layer"] == layer), None),
        "waivers": page_of(
            waivers, order=["-pk"], after=request.GET.get("waiver"), anchors=waivers
        ),
        "query": query_of(request, "waiver"),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "labeling/gold_lint.html", context)


def _groups(request: HttpRequest, report: LintReport) -> list[Group]:
    asked = request.GET.get("kind", "")
    visible = Conversation.objects.visible_to(request.user)
    groups = []
    covering = lint.covered(report.project, report.layer)
    for count in lint.counts_of(report):
        if asked in KINDS and count.kind != asked:
            continue
        findings = report.findings.filter(kind=count.kind)
        page = page_of(
            findings.select_related("conversation", "other"),
            order=["pk"],
            after=request.GET.get("after") if asked else None,
            anchors=findings,
        )
        rows = page.rows if asked else page.rows[:SHOWN]
        groups.append(
            Group(
                KINDS[count.kind],
                count,
                Page(rows, page.after if asked else None),
                is_cut=not asked and count.number > SHOWN,
            )
        )
        for row in rows:
            row.is_accepted = row.key in covering
    _hide_others(groups, visible)
    return groups


def _hide_others(groups: list[Group], visible: Any) -> None:
    """Take away the names of conversations in projects that the reader does not know of."""
    others = {row.other_id for group in groups for row in group.page.rows if row.other_id}
    known = set(visible.filter(pk__in=others).values_list("pk", flat=True)) if others else set()
    for group in groups:
        for row in group.page.rows:
            row.shows_other = row.other_id in known


@require_POST
def gold_lint_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a worker to check; the page shows the result when it is there."""
    project = access.led(request.user, slug)
    form = LayerForm(project, request.POST)
    if not form.is_valid():
        return refused(request, _("Choose a layer of this project."), _page(project))
    layer = form.cleaned_data["layer"]
    try:
        gold_requests.request_freeze(
            project=project,
            layer=layer,
            only_lint=True,
            by=request.user,  # type: ignore[arg-type]
        )
    except RuleError as error:
        return refused(request, error, _page(project, layer))
    messages.success(request, _("A worker is checking; the result appears here."))
    return redirect(_page(project, layer))


@require_POST
def gold_lint_waive(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    form = WaiveForm(project, request.POST)
    if not form.is_valid():
        return refused(request, _fault_of(form), _page(project))
    asked = form.cleaned_data
    page = _page(project, asked["layer"])
    try:
        waiver = lint.waive(
            project,
            asked["layer"],
            asked["kind"],
            key=asked["key"],
            reason=asked["reason"],
            by=request.user,
        )
    except RuleError as error:
        return refused(request, error, page)
    accepted = ngettext(
        "{number} finding is accepted. Releases state it.",
        "{number} findings are accepted. Releases state it.",
        waiver.number,
    )
    messages.success(request, accepted.format(number=waiver.number))
    return redirect(page)


@require_POST
def gold_lint_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = access.led(request.user, slug)
    waivers = LintWaiver.objects.select_related("project")
    waiver = get_object_or_404(waivers, pk=pk, project=project)
    page = _page(project, waiver.layer)
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        return refused(request, _fault_of(form), page)
    try:
        lint.withdraw(waiver, reason=form.cleaned_data["reason"], by=request.user)
    except RuleError as error:
        return refused(request, error, page)
    messages.success(request, _("Withdrawn: these findings are open again."))
    return redirect(page)


def _fault_of(form: Any) -> str:
    if "reason" in form.errors:
        return words(Fact("lint.no_reason"))
    return _("This form is not complete; load the page again.")


def _page(project: Project, layer: str = "") -> str:
    page = reverse("gold-lint", args=[project.slug])
    return f"{page}?layer={layer}" if layer else page
