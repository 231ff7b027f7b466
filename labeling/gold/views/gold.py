from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.core import access
from labeling.core.views.access import refused
from labeling.core.views.paging import page_of, part_of
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.exchange.export import UnknownFormat, download
from labeling.gold import corrections, gold_requests, lint, looks, pseudonyms, signing, verification
from labeling.gold.forms.gold import FreezeForm
from labeling.gold.gold_requests import OUTCOMES
from labeling.gold.looks import Sight
from labeling.gold.rules import statement
from labeling.gold.rules.lint import KINDS
from labeling.gold.rules.names import in_figures
from labeling.gold.rules.proofs import ReleaseFault
from labeling.gold.rules.statement import Waiver
from labeling.gold.views.gold_items import described
from labeling.gold.views.looks import address
from labeling.models import (
    Conversation,
    Event,
    GoldItem,
    GoldRelease,
    Look,
    Project,
    Reopening,
)
from labeling.operation import health
from labeling.schema.targets import stages_of, target_layers
from labeling.translation import lazy
from labeling.words import words
from labeling.work import blindness

FORMAT_WORDS = {
    "native": lazy("Native: items, manifest and guidelines; verified without Assay"),
    "huggingface": lazy("Hugging Face dataset: Parquet"),
    "csv": lazy("CSV: a row for each label"),
}


@require_GET
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    return _gold_page(request, project, FreezeForm(project))


@require_POST
def gold_freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a worker to freeze; the page shows the outcome when it is there."""
    project = access.led(request.user, slug)
    form = FreezeForm(project, request.POST)
    if form.is_valid():
        try:
            gold_requests.request_freeze(
                project=project,
                by=request.user,  # type: ignore[arg-type]
                **form.cleaned_data,
            )
        except RuleError as error:
            form.add_error(None, words(error.fact))
        else:
            messages.success(request, _("A worker freezes the release; it appears here."))
            return redirect("gold", project.slug)
    return _gold_page(request, project, form, status=400)


@require_GET
def gold_release(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    return _release_page(request, release_of(request.user, slug, name, version))


@require_POST
def gold_verify(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """Recompute every hash now. Gold stays as it is, so readers may ask for it."""
    release = release_of(request.user, slug, name, version)
    try:
        faults = verification.verify_at_once(release)
    except RuleError as error:
        return refused(request, error, release.get_absolute_url())
    return _release_page(request, release, verified=True, faults=faults)


@require_GET
def gold_export(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponseBase:
    """The items alone as lines, or with ``format`` all that the command writes, as one file."""
    release = release_of(request.user, slug, name, version)
    try:
        return download(release, request.GET.get("format", ""), request.user)
    except UnknownFormat as error:
        raise Http404 from error


@require_GET
def gold_item(
    request: HttpRequest, slug: str, name: str, version: int, item_id: str
) -> HttpResponse:
    """One frozen answer: the text, the labels and where each label comes from."""
    release = release_of(request.user, slug, name, version)
    item = get_object_or_404(release.items.all(), item_id=item_id)
    blindness.refuse(request.user, Conversation.objects.filter(pk=item.conversation_id))
    item.release = release
    looks.require_item(request.user, item)
    shown = described(item, names_for(request.user, release.project))
    provenance = shown["provenance"]
    why = provenance.get("reason") or (
        "reason_code" in provenance and Fact(provenance["reason_code"])
    )
    context = {
        "project": release.project,
        "release": release,
        "item": item,
        "why_decided": why,
        "layers": stages_of(release.layer),
        "doubted": set(
            Reopening.objects.unsettled()
            .filter(item__conversation=item.conversation_id, item__release__name=release.name)
            .values_list("label_uid", flat=True)
        ),
        **shown,
    }
    return render(request, "labeling/gold_item.html", context)


def names_for(user: Any, project: Project) -> pseudonyms.Names:
    """The names by pseudonym that a lead sees instead; others see pseudonyms."""
    return pseudonyms.names_of(project) if access.leads(user, project) else {}


def release_of(user: Any, slug: str, name: str, version: int) -> GoldRelease:
    visible = GoldRelease.objects.visible_to(user).with_size()
    people = visible.select_related("project", "guideline", "parent", "frozen_by")
    return get_object_or_404(
        people.defer("guideline__body", "parent__header", "parent__left_out"),
        project__slug=slug,
        name=name,
        version=version,
    )


def _gold_page(
    request: HttpRequest, project: Project, form: FreezeForm, *, status: int = 200
) -> HttpResponse:
    releases = GoldRelease.objects.filter(project=project).with_size().order_by("-pk")
    context = {
        "project": project,
        "synthetic": set(releases.with_synthetic().values_list("pk", flat=True)),
        "releases": releases.select_related("guideline", "frozen_by").defer(
            "header", "listing", "left_out", "guideline__body"
        ),
        "form": form,
        "may_write": access.leads(request.user, project),
        "n_reopened": Reopening.objects.of_project(project).unsettled().count(),
        **_requests(project),
    }
    return render(request, "labeling/gold.html", context, status=status)


def _requests(project: Project) -> dict[str, Any]:
    """The requests that have no outcome yet, and why the newest was refused, if it was."""
    outcomes = Event.objects.filter(project=project, verb__in=OUTCOMES)
    by_command = (
        outcomes.exclude(data__has_key="request").order_by("-pk").values_list("pk", flat=True)
    )
    answered = by_command.first() or 0
    waiting = [asked for asked in gold_requests.waiting(project) if asked.pk > answered]
    newest = None if waiting else outcomes.order_by("-pk").first()
    return {
        "waiting": waiting,
        "has_worker": not waiting or health.has_worker(),
        "refused": newest if newest and newest.verb == "gold.freeze_refused" else None,
    }


def _release_page(
    request: HttpRequest,
    release: GoldRelease,
    *,
    verified: bool = False,
    faults: Sequence[ReleaseFault] = (),
) -> HttpResponse:
    items = release.items.all()
    page = page_of(
        items.select_related("conversation").defer("canonical"),
        order=["position"],
        after=request.GET.get("after"),
        anchors=items,
    )
    names = {} if release.is_imported else names_for(request.user, release.project)
    hows = items.order_by().values_list("how").annotate(n=Count("pk"))
    rounds = in_figures((release.agreement or {}).get("rounds", []), names)
    synthetic = items.filter(conversation__origin=Conversation.Origin.SYNTHETIC)
    generated = items.filter(how=GoldItem.How.GENERATED)
    tested = looks.test_items(release).exists()
    labels = Sight(Look.Purpose.LABELS)
    is_sealed = tested and looks.sealed(request.user, labels.purpose, [release.pk]).exists()
    context = {
        "project": release.project,
        "release": release,
        "page": page,
        "overrides": [{**row, "by": names.get(row["by"], row["by"])} for row in release.overrides],
        "standing": looks.looks_at(release).count() if tested else None,
        "sealed": address([release], labels, release.get_absolute_url()) if is_sealed else "",
        "hows": [(GoldItem.How(how).label, number) for how, number in sorted(hows)],
        "waivers": [_waiver(row, names) for row in release.waivers],
        "left_out": part_of(release.left_out, start=request.GET.get("left")),
        "rounds": rounds,
        "synthetic": synthetic.count(),
        "generated": generated.count(),
        "verified": verified,
        "faults": faults,
        "key": signing.key_of(release.public_key),
        "stated": statement.parsed(release.header),
        "formats": FORMAT_WORDS.items(),
        "run_url": _run_url(release),
        "comparable": release.comparable().exists(),
        "corrections": 0 if release.children.exists() else len(corrections.waiting_for(release)),
        "may_correct": access.leads(request.user, release.project),
        "copied": corrections.is_corrected_by_copy(release),
    }
    return render(request, "labeling/gold_release.html", context)


def _waiver(row: Waiver, names: pseudonyms.Names) -> dict[str, Any]:
    by = row["by"] and names.get(row["by"], row["by"])
    why = Fact(row["reason_code"]) if "reason_code" in row else row["reason"]
    return {**row, "title": Fact(f"lint_kind.{row['kind']}"), "why": why, "by": by}


def _run_url(release: GoldRelease) -> str:
    """Where an evaluation on this release is launched, if that part of the product is there."""
    try:
        return f"{reverse('run-new')}?release={release}"
    except NoReverseMatch:
        return ""


# --- lint -----------------------------------------------------------------------------------------


@require_GET
def gold_lint(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    layers = target_layers(project.layers)
    layer = request.GET.get("layer", "")
    layer = layer if layer in layers else layers[0]
    report = lint.report_of(project, layer)
    findings = lint.stored(report)
    requests = Event.objects.filter(project=project, verb=gold_requests.ASKED, data__layer=layer)
    context = {
        "project": project,
        "layer": layer,
        "layers": layers,
        "report": report,
        "groups": [
            {"kind": KINDS[kind], "number": number, "rows": findings.of(kind)}
            for kind, number in findings.counts().items()
        ],
        "last": requests.first(),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "labeling/gold_lint.html", context)
