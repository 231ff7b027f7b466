"""Passes of a judge over the answers of a run. Judging again does not write answers again."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from evaluation import adapters
from evaluation import judge as judges
from evaluation.layers import gold_layer
from evaluation.metrics.answers import NO_REFERENCE, Unreadable, read_verdict
from evaluation.models import Answer, Judgement, Judging, Run, WorkQuerySet
from evaluation.services.judging.answers import (
    AnswersRefused,
    prepare_judgements,
    prepare_judging,
    shown,
)
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.work import leases, slots, steering
from labeling.core import events
from labeling.domain.facts import Fact
from labeling.models import GoldRelease
from pipelines.chat.endpoint import JUDGE
from pipelines.llm import ChatModel, InvalidReply

State = Judgement.State


def request(
    run: Run,
    *,
    by: Any,
    prompts: dict[str, str] | None = None,
    budget_cost: float | None = None,
    budget_tokens: int | None = None,
    queue: bool = True,
) -> Judging:
    """Have the answers of a finished run judged again; ``prompts`` differ from the shipped ones."""
    if not run.spec.has_answers:
        raise AnswersRefused("answers.none_in_run", pk=run.pk, details={"run": run.pk})
    endpoints.require(Fact("task.judge_answers"), JUDGE)
    checked = judges.prompts(prompts)
    problem = budgets.problem_with(budget_cost, budget_tokens, judging=True)
    if problem:
        raise steering.BudgetRefused(problem, details={"run": run.pk})
    asked = {"budget_cost": budget_cost, "budget_tokens": budget_tokens}
    changed: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if run.spec.model is None:  # its concurrency was chosen for what computes here
        changed["concurrency"] = endpoints.at_once(JUDGE)
    with transaction.atomic():
        steering.reopen(run, **changed)
        if not queue:
            slots.keep_for_command([run.pk])
        answers = list(Answer.objects.filter(case__run=run).only("pk").order_by("pk"))
        judging = prepare_judging(run, checked, by=by)
        prepare_judgements(judging, answers)
        events.record("run.judged", run, project=run.release.project, actor=by, judging=judging.pk)
        if queue:
            transaction.on_commit(lambda: steering.wake(run.pk))
    return judging


def open_judgings(run_id: int) -> QuerySet[Judging]:
    """Those with something to judge, the oldest first."""
    wanted = Judgement.objects.wanted().filter(judging__run=run_id).values("judging")
    judgings = Judging.objects.filter(pk__in=wanted).order_by("pk")
    return judgings.select_related("run__release__project")


def ready(judging: Judging) -> WorkQuerySet:
    """What is to be judged and has an answer."""
    return Judgement.objects.wanted().filter(judging=judging, answer__state=State.DONE)


def claim(judging: Judging, owner: UUID) -> Judgement | None:
    taken = leases.claim(ready(judging), owner)
    if taken is None:
        return None
    rows = Judgement.objects.select_related(
        "judging", "answer__case__item", "answer__case__run__release"
    )
    documents = [f"answer__case__run__release__{name}" for name in GoldRelease.DOCUMENTS]
    return rows.defer("answer__case__item__canonical", *documents).get(pk=taken)


def judge(judgement: Judgement, model: ChatModel) -> dict[str, Any]:
    """The fields of the finished judgement. A reply that cannot be read is the judge's failure."""
    answer, kind = judgement.answer, judgement.kind
    prompt = judgement.judging.spec["prompts"][kind]
    layer = gold_layer(answer.case.run.release.layer)
    example = adapters.to_example(answer.case, layer)
    slots = {
        "question": layer.question(example.gold),
        "messages": shown(answer.message_ids, example.messages),
        "answer": answer.text,
    }
    if kind == "correctness":
        slots["reference"] = example.gold[0].get("answer")
        if not slots["reference"]:
            return {"reason": NO_REFERENCE}
    asked = judges.Prompt(prompt["name"], prompt["text"]).messages(**slots)
    try:
        reply = model.complete(asked, schema=judges.VERDICT)
    except InvalidReply as error:
        failed = leases.failed(adapters.fact_of(error), Judgement.ErrorClass.PARSE)
        return {"raw": adapters.kept_text(error.text), **failed}
    replied = {"raw": adapters.kept_text(reply.text), "model": reply.model[:200]}
    try:
        verdict = read_verdict(reply.text)
    except Unreadable as problem:
        return {**replied, **leases.failed(problem.fact, Judgement.ErrorClass.PARSE)}
    fields: dict[str, Any] = adapters.storable(asdict(verdict))
    return {**replied, **fields}


def counting(run: Run) -> Judging | None:
    """The newest that is complete: its figures are those of the run.

    One without a single score takes no score of an earlier one away.
    """
    unfinished = Judgement.objects.wanted().filter(judging__run=run).values("judging")
    complete = Judging.objects.filter(run=run, cancelled=False).exclude(pk__in=unfinished)
    scored = Judgement.objects.filter(judging=OuterRef("pk"), score__isnull=False)
    return complete.order_by(Exists(scored).desc(), "-pk").first()


def why_unusable(judging: Judging) -> Fact | None:
    """Why no judgement of a judging that has ended is a score; None: one is, or none was wanted."""
    rows = judging.judgements.order_by()
    if rows.filter(score__isnull=False).exists():
        return None
    failed = rows.filter(state=State.FAILED)
    reasons = Counter(failed.values_list("error", flat=True))
    if not reasons:
        return None
    reason, n = reasons.most_common(1)[0]
    return Fact("judging.unusable", n=n, total=reasons.total(), why=reason)


def history(run: Run) -> list[Any]:
    """All judgings of the run, the newest first, with ``n_scored``, ``n_failed``, ``n_wanted``."""
    failed_judge = Q(judgements__state=State.FAILED)
    wanted = Judgement.objects.wanted().filter(judging=OuterRef("pk"))
    judgings = Judging.objects.filter(run=run).select_related("requested_by")
    return list(
        judgings.annotate(
            n_scored=Count("judgements", filter=Q(judgements__score__isnull=False)),
            n_failed=Count("judgements", filter=failed_judge),
            n_wanted=Exists(wanted),
        ).order_by("-pk")
    )
