"""Answers and what judges say of them: of a run, of a case, and over runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation import adapters, judge
from evaluation.forms import JudgeForm
from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS
from evaluation.models import (
    Aggregate,
    Answer,
    CaseRun,
    Judgement,
    Judging,
    Kind,
    RatingPanel,
    Run,
)
from evaluation.services.judging import certificates, corrections, judgings
from evaluation.services.judging.answers import shown
from evaluation.services.run.answer_scoring import JUDGED
from labeling.words import words


def answers_context(run: Run, aggregates: dict[str, Aggregate]) -> dict[str, Any]:
    """What the page of a run says about its answers, next to the table of figures."""
    history = judgings.history(run)
    counting = judgings.counting(run)
    details = {kind: aggregates[kind].detail for kind in JUDGED if kind in aggregates}
    corrected = corrections.of_run(run)
    return {
        "judged": {
            "history": [_judging_row(judging, counting) for judging in history],
            "counting": counting,
            "rows": [
                {"metric": METRICS[kind], "row": aggregates[kind], **details[kind]}
                | {"corrected": corrected.get(kind)}
                | _worth(run, kind)
                for kind in details
                if "judge" in details[kind]
            ],
            "panel": RatingPanel.objects.filter(run=run).first(),
            "own_model": counting is not None and counting.model == run.spec.model_id,
            "failed_answers": Answer.objects.filter(case__run=run, state="failed").count(),
        }
    }


def _worth(run: Run, kind: str) -> dict[str, Any]:
    """What the judge of the figure is worth; without a certificate, why."""
    standing = certificates.standing_of(run, kind)
    looked = standing.looked
    return {
        "mark": standing.mark,
        "looked": looked if looked and looked.n else None,
        "why": words(standing.why) if standing.why else "",
    }


def _judging_row(judging: Any, counting: Judging | None) -> dict[str, Any]:
    """``edited`` are the kinds whose prompt was changed."""
    if judging.cancelled:
        state, badge = _("called off"), ""
    elif judging.n_wanted:
        state, badge = _("in progress"), "info"
    elif counting and judging.pk == counting.pk:
        state, badge = _("counts"), "ok"
    elif judging.n_failed and not judging.n_scored:
        state, badge = _("not usable"), "bad"
    else:
        state, badge = _("earlier"), ""
    prompts = judging.spec["prompts"].items()
    edited = [str(Kind(kind).label) for kind, prompt in prompts if prompt["name"] == judge.OWN]
    return {"judging": judging, "state": state, "badge": badge, "edited": edited}


def answers_progress(run: Run) -> dict[str, Any]:
    """The progress of writing or judging, while it runs."""
    if run.status == Run.Status.ANSWERING:
        return _counted(Answer.objects.filter(case__run=run), "n_answers", "n_written")
    if run.status == Run.Status.JUDGING:
        judging = judgings.open_judgings(run.pk).first()
        return _counted(Judgement.objects.filter(judging=judging), "n_judgements", "n_judged")
    return {}


def _counted(rows: Any, every: str, ended: str) -> dict[str, Any]:
    over = Q(state__in=[CaseRun.State.DONE, CaseRun.State.FAILED])
    counts: dict[str, Any] = rows.aggregate(**{every: Count("pk"), ended: Count("pk", filter=over)})
    return counts


def called_off(run: Run, action: str) -> str:
    """Whether the run continues to its scores: only answers were cancelled, or a retry."""
    if action != "cancel" or Run.objects.filter(pk=run.pk, cancelled=True).exists():
        return ""
    return "call off retry" if run.first_scored_at else "call off"


def answer_of(case: CaseRun) -> dict[str, Any] | None:
    """The answer of a case, the messages it was written from, and its judgements."""
    answer = Answer.objects.filter(case=case).first()
    if answer is None:
        return None
    layer = gold_layer(case.run.release.layer)
    example = adapters.to_example(case, layer)
    counting = judgings.counting(case.run)
    order = list(judge.KINDS)
    judged = answer.judgements.filter(judging=counting, kind__in=order) if counting else []
    rows = sorted(judged, key=lambda judgement: order.index(judgement.kind))
    f1 = case.scores.filter(metric="answer_token_f1").first()
    return {
        "answer": answer,
        "question": layer.question(example.gold),
        "reference": example.gold[0].get("answer"),
        "messages": shown(answer.message_ids, example.messages),
        "judgements": rows,
        "token_f1": f1.value if f1 else None,
        "waiting": answer.state in (Answer.State.QUEUED, Answer.State.RUNNING),
        "case": case,
    }


@require_http_methods(["GET", "POST"])
def run_judge(request: HttpRequest, pk: int) -> HttpResponse:
    """The prompts of the judge, to be changed and asked again."""
    visible = Run.objects.visible_to(request.user).with_progress()
    run = get_object_or_404(visible.select_related("release__project"), pk=pk)
    if not run.spec.has_answers:
        messages.error(request, _("This run has no answers to judge."))
        return redirect(run)
    newest = run.judgings.first()
    newest_prompts = newest.spec["prompts"] if newest else {}
    prompts = {
        kind: newest_prompts.get(kind, {}).get("text") or judge.shipped(kind).text
        for kind in judge.KINDS
    }
    form = JudgeForm(request.POST or None, prompts=prompts)
    if request.method == "POST" and form.is_valid() and form.request(run, by=request.user):
        messages.success(request, _("The answers are being judged again."))
        return redirect(run)
    context = {"run": run, "form": form, "ready": run.status == Run.Status.FINISHED}
    return render(request, "evaluation/run_judge.html", context, status=422 if form.errors else 200)
