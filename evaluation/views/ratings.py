"""Where people rate what a run inferred or answered, blind to the pipeline and to its judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.metrics.judges import REQUIRED
from evaluation.models import (
    CaseRun,
    JudgeCertificate,
    RatedPlace,
    Rating,
    RatingKind,
    RatingPanel,
    Run,
)
from evaluation.services import looks
from evaluation.services.judging import certificates, ratings, samples
from evaluation.services.judging.answers import shown
from evaluation.services.judging.samples import NEED
from evaluation.views.opening import get_run, opened_run
from labeling.core import access
from labeling.core.views.access import refusals_told, refused
from labeling.core.views.paging import page_of
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.models import Conversation, GoldRelease
from labeling.translation import lazy as _
from labeling.translation import translated_keys
from labeling.work import blindness
from labeling.work.rules.keys import RATING_KEYS

PAGE = 25
NO_SCORE = -1
CHOICES = ((2, _("definitely needed")), (1, _("recommended")), (0, _("not needed")))
SHOWN = ("actor", "action", "condition", "acceptance_criteria")
"""Of a predicted label. Not what the pipeline itself thinks that it is worth."""
SCALES = {
    "faithfulness": _(
        "How far do the messages bear the answer out? 0: it contradicts or invents; 5: partly; "
        "10: every claim is in the messages."
    ),
    "relevance": _(
        "Is the answer about the question? 0: about something else; 5: vague; 10: it says what "
        "was asked for. It does not matter whether it is right."
    ),
    "completeness": _(
        "How much of the question does it answer? 0: nothing; 5: a part; 10: all of it."
    ),
    "correctness": _(
        "Does it say the same as the reference answer? 0: it contradicts it or says nothing; "
        "5: a part; 10: all of it and nothing wrong."
    ),
}


@require_GET
def rating_list(request: HttpRequest) -> HttpResponse:
    panels = RatingPanel.objects.to_rate_by(request.user)
    page = page_of(_light(panels), order=["-pk"], after=request.GET.get("after"), anchors=panels)
    places = RatedPlace.objects.filter(sample__panel__in=[panel.pk for panel in page.rows])
    still_open = places.filter(sample__closed_at=None)
    counts = [
        dict(rows.order_by().values_list("sample__panel").annotate(n=Count("pk")))
        for rows in (places.rated_by(request.user), places, still_open)
    ]
    listed = [(panel, *(each.get(panel.pk, 0) for each in counts)) for panel in page.rows]
    return render(request, "evaluation/ratings.html", {"rows": listed, "page": page})


@require_GET
def rating(request: HttpRequest, code: UUID) -> HttpResponse:
    panel = _panel(request, code)
    n = ratings.places(panel).count()
    after = _after(panel, request, n)
    rows = list(ratings.places(panel).filter(number__gt=after).select_related("sample")[:PAGE])
    closed = panel.samples.filter(kind=NEED, closed_at__isnull=False).first()
    context = {
        **_progress(panel, request.user),
        "size": PAGE,
        "before": max(after - PAGE, 0) if after else None,
        "after": after + PAGE if after + PAGE < n else None,
        "entries": _entries(panel, rows, request.user),
        "keys": translated_keys(RATING_KEYS),
        "of_answers": not gold_layer(panel.run.release.layer).rated,
        "pairs": ratings.agreement(closed) if closed else [],
    }
    return render(request, "evaluation/rating.html", context)


@require_POST
def rating_store(request: HttpRequest, code: UUID, number: int) -> HttpResponse:
    """One rating; an empty score takes it back."""
    panel = _panel(request, code)
    place = get_object_or_404(ratings.places(panel).select_related("sample"), number=number)
    said = request.POST.get("score", "")
    number_said = whole_number(said)
    score = NO_SCORE if said and number_said is None else number_said  # anything else is refused
    try:
        ratings.rate(place, rater=request.user, score=score, note=request.POST.get("note", ""))
    except RuleError as error:
        return refused(request, error, panel.get_absolute_url())
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{panel.get_absolute_url()}?after={(number - 1) // PAGE * PAGE}")
    (entry,) = _entries(panel, [place], request.user)
    context = {**_progress(panel, request.user), "entry": entry, "swapped": True}
    return render(request, "evaluation/_rated.html", context)


def _light(panels: QuerySet[Any]) -> QuerySet[Any]:
    loaded = panels.select_related("run__release__project")
    return loaded.defer("run__spec", "run__config", "run__release__header")


def _panel(request: HttpRequest, code: UUID) -> RatingPanel:
    panels = _light(RatingPanel.objects.to_rate_by(request.user))
    panel: RatingPanel = get_object_or_404(panels, code=code)
    about = Conversation.objects.filter(gold_items__case_runs__run=panel.run_id)
    blindness.refuse(request.user, about)  # the page shows what was stated, too
    looks.require_of_readers(request.user, panel.run)
    return panel


def _after(panel: RatingPanel, request: HttpRequest, n: int) -> int:
    """Where the page starts: as asked for, else with the first that is not rated yet."""
    asked = request.GET.get("after")
    if asked is not None:
        return min(whole_number(asked) or 0, n)
    left = ratings.places(panel).filter(sample__closed_at=None).not_rated_by(request.user)
    first = left.values_list("number", flat=True).first()
    return (first - 1) // PAGE * PAGE if first else 0


def _progress(panel: RatingPanel, user: Any) -> dict[str, Any]:
    places = ratings.places(panel)
    return {
        "panel": panel,
        "mine": places.rated_by(user).count(),
        "all": places.count(),
        "still_open": panel.samples.filter(closed_at=None).exists(),
    }


def _entries(panel: RatingPanel, places: Sequence[RatedPlace], user: Any) -> list[dict[str, Any]]:
    """Each thing to rate with what the reader says of it; an answer above the first of the page
    that is about it."""
    documents = [f"run__release__{name}" for name in GoldRelease.DOCUMENTS]
    related = CaseRun.objects.select_related("item", "answer", "run__release")
    cases = related.defer("item__canonical", *documents).in_bulk([at.case_id for at in places])
    mine = Rating.objects.filter(case__in=cases, rater=user)
    own = {(rating.case_id, rating.kind, rating.position): rating for rating in mine}
    entries, seen = [], set[int]()
    for place in places:
        case, kind = cases[place.case_id], place.sample.kind
        entry = {
            "number": place.number,
            "address": reverse("rating-store", args=[panel.code, place.number]),
            "kind": kind,
            "rating": own.get((case.pk, kind, place.position)),
            "closed": place.sample.closed_at is not None,
        }
        if kind == NEED:
            label = _label(case, place.position)
            title = str(label["title"] or gettext("Untitled"))
            entry |= {"title": title, "choices": CHOICES, "label": label, "case": _case(case)}
        else:
            title, points = str(RatingKind(kind).label), [(at, "") for at in range(11)]
            entry |= {"title": title, "choices": points, "scale": SCALES[kind]}
            entry["answer"] = None if case.pk in seen else _answer(case)
        entries.append(entry)
        seen.add(case.pk)
    return entries


def _label(case: CaseRun, position: int) -> dict[str, Any]:
    predicted = gold_layer(case.run.release.layer).predicted(case.output)[position]
    shown_fields = {name: predicted.get(name) for name in ("title", *SHOWN)}
    return {**shown_fields, "triggers": _triggers(predicted, _case(case)["requirements"])}


def _case(case: CaseRun) -> dict[str, Any]:
    content = adapters.content_of(case)
    return {
        "name": case.item.item_id,
        "messages": content["conversation"],
        "requirements": gold_layer(case.run.release.layer).requirements(content) or [],
    }


def _triggers(predicted: Mapping[str, Any], stated: Sequence[Any]) -> list[str]:
    """What it follows from, by title; a reference to nothing is left out."""
    titles = {
        str(requirement[name]): str(requirement.get("title") or requirement["uid"])
        for name in ("id", "uid")
        for requirement in stated
        if name in requirement
    }
    return [titles[uid] for uid in predicted.get("triggered_by") or [] if uid in titles]


def _answer(case: CaseRun) -> dict[str, Any]:
    layer = gold_layer(case.run.release.layer)
    example = adapters.to_example(case, layer)
    return {
        "text": case.answer.text,
        "question": layer.question(example.gold),
        "reference": example.gold[0].get("answer"),
        "messages": shown(case.answer.message_ids, example.messages),
    }


# --- for those who run it: samples, who rates, how they agree -------------------------------------


@require_GET
def run_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    panel = RatingPanel.objects.filter(run=run).select_related("run__release").first()
    problem = samples.why_not_ratable(run)
    context = {
        "run": run,
        "panel": panel,
        "problem": problem,
        "may_write": access.leads(request.user, run.release.project),
        "of_answers": NEED not in samples.kinds_of(run),
        "required": REQUIRED,
        "drawable": [] if problem else _drawable(run),
        "size": samples.DEFAULT_SIZE,
        **(_of_panel(panel) if panel else {}),
    }
    return render(request, "evaluation/run_ratings.html", context)


@require_POST
def run_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    if not access.leads(request.user, run.release.project):
        raise PermissionDenied(gettext("Only a lead of the project may change its ratings."))
    panel = RatingPanel.objects.filter(run=run).select_related("run__release__project").first()
    with refusals_told(request):
        messages.success(request, _act(run, panel, request))
    return redirect("run-ratings", run.pk)


def _of_panel(panel: RatingPanel) -> dict[str, Any]:
    drawn = list(panel.samples.select_related("panel", "drawn_by", "closed_by"))
    rows = [
        {"progress": done, "kind": str(RatingKind(done.sample.kind).label)}
        for done in samples.progress(drawn)
    ]
    closed = [sample for sample in drawn if sample.kind == NEED and sample.closed_at]
    invited = set(panel.invited.values_list("pk", flat=True))
    return {
        "samples": rows[::-1],
        "raters": ratings.raters(panel),
        "pairs": ratings.agreement(closed[0]) if closed else [],
        "people": [
            {"user": person, "invited": person.pk in invited} for person in ratings.invitable(panel)
        ],
    }


def _drawable(run: Run) -> list[dict[str, Any]]:
    """Kinds with something to draw; ``blocked_by`` is the run whose sample is still open."""
    opened = samples.of_project(run.release.project_id).filter(closed_at=None).exclude(kind=NEED)
    blocking = dict(opened.order_by().values_list("kind", "panel__run"))
    return [
        {
            "kind": kind,
            "title": str(RatingKind(kind).label),
            "left": number,
            "blocked_by": blocking.get(kind),
        }
        for kind, number in samples.available(run).items()
        if number
    ]


def _act(run: Run, panel: RatingPanel | None, request: HttpRequest) -> str:
    posted = request.POST
    action = posted.get("action", "")
    if action == "draw":
        size = whole_number(posted.get("size", "")) or 0
        samples.draw(run, size=size, kinds=posted.getlist("kind"), by=request.user)
        return gettext("The sample is drawn: pass the link on to the raters.")
    if panel is None or action not in ("invite", "close", "give_up"):
        raise samples.RatingRefused(msgid("There is no such action."))
    if action == "invite":
        ratings.invite(panel, posted.getlist("judge"), by=request.user)
        return gettext("The invitations are stored.")
    sample = get_object_or_404(panel.samples, pk=whole_number(posted.get("sample", "")) or 0)
    reason = posted.get("reason", "")
    if action == "give_up":
        samples.give_up(sample, by=request.user, reason=reason)
        return gettext("The sample is given up. It stays listed with its reason.")
    samples.close(sample, by=request.user, reason=reason)
    if sample.kind == NEED:
        return gettext("The sample is closed; the figures are computed with its ratings.")
    return _compared(certificates.attempt_all(sample, by=request.user))


def _compared(issued: list[JudgeCertificate]) -> str:
    if not issued:
        return gettext("The sample is closed. No judge has judged all of it yet.")
    certified = sum(certificate.passed for certificate in issued)
    return gettext("The sample is closed. Judges compared: {all}; certified: {certified}.").format(
        all=len(issued), certified=certified
    )
