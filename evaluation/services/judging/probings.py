"""Asking a judge the probes, by the client that runs use: within a budget, each call counted.

Of each probe the first reply counts, also where the asking broke off later. A probing asks again
all the same: its replies are kept under a separate repetition, so that none comes from an
earlier probing, but one that was broken off goes on without paying twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from evaluation import adapters, judge, probes
from evaluation.metrics.answers import PARSER_VERSION, Unreadable
from evaluation.models import Probing, WorkQuerySet
from evaluation.probes import Probe, ProbeReply
from evaluation.services.judging import certificates
from evaluation.services.judging.panels import KINDS
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.language_models.metering import PaidModel
from evaluation.services.work import leases, working
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Project
from labeling.services import events, wakeups
from pipelines.chat.endpoint import JUDGE
from pipelines.llm import InvalidReply, ModelError, Refused, Reply

logger = logging.getLogger(__name__)

TOLD_ANOTHER = Fact("probing.several_models")

Progress = Callable[[], None]


class ProbingRefused(RuleError):
    """There is no such judge to be asked."""

    code = "probing_refused"


class _BrokenOff(Exception):
    """The other probes cannot be asked either; ``fact`` says why."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(str(fact))
        self.fact = fact


class _Lost(Exception):
    """Somebody else has taken the probing over."""


def request(
    project: Project,
    *,
    kinds: Iterable[str] = KINDS,
    prompts: dict[str, str] | None = None,
    budget_tokens: int | None = None,
    by: Any,
    queue: bool = True,
) -> list[Probing]:
    """Have the judges of these kinds asked; by the model that is set up, and the shipped prompts
    where none is given."""
    endpoints.require(Fact("task.ask_probes"), JUDGE)
    chosen = list(dict.fromkeys(kinds))
    if unknown := sorted(set(chosen) - set(KINDS)):
        raise _unknown(unknown[0])
    if problem := budgets.problem_with(None, budget_tokens):
        raise ProbingRefused(problem)
    checked = judge.prompts(prompts)
    asked = [_open(project, kind, checked[kind], budget_tokens, by) for kind in chosen]
    if queue:
        for probing in asked:
            transaction.on_commit(partial(wake, probing.pk))
    return asked


def _open(
    project: Project, kind: str, prompt: judge.Prompt, budget_tokens: int | None, by: Any
) -> Probing:
    """While the same judge is being asked, asking again changes nothing."""
    model = endpoints.describe(JUDGE)
    assert model is not None  # the caller has asked for it
    sha256 = judge.judge_sha256(model, prompt.sha256)
    same = {"project": project, "kind": kind, "judge_sha256": sha256}
    known = Probing.objects.unfinished().filter(**same).first()
    if known:
        return known
    try:
        with transaction.atomic():
            probing = Probing.objects.create(
                **same,
                model=model["id"],
                prompt_name=prompt.name,
                prompt=prompt.text,
                prompt_sha256=prompt.sha256,
                parser_version=PARSER_VERSION,
                probes_version=probes.load().version,
                budget_tokens=budget_tokens,
                requested_by=by,
            )
    except IntegrityError:  # somebody asked for the same just now
        return Probing.objects.unfinished().get(**same)
    events.record("judge.probed", probing, project=project, actor=by, kind=kind, judge=sha256[:12])
    return probing


def open_probings() -> WorkQuerySet:
    return Probing.objects.unfinished()


def wake(probing_id: int) -> None:
    """Tell a worker. A lost message does no harm: the sweep sends another."""
    wakeups.wake("evaluation.tasks.ask_probes", probing_id)


def wake_unattended() -> None:
    for pk in open_probings().claimable().values_list("pk", flat=True):
        wake(pk)


def work(probing_id: int, owner: UUID, *, progress: Progress | None = None) -> None:
    """Ask what is left to ask, unless somebody else is at it, and then compare with people."""
    taken = leases.claim(Probing.objects.filter(pk=probing_id), owner)
    if taken is None:
        return
    probing = Probing.objects.select_related("project", "requested_by").get(pk=taken)
    longest = settings.CASE_TIMEOUT_SECONDS * len(probes.load().of(probing.kind))
    lease = leases.lease_of(probing, owner)
    with leases.KeepAlive(lease, seconds=longest):
        try:
            _ask_all(probing, owner, progress)
            ended = working.done()
        except _BrokenOff as problem:
            ended = leases.failed(problem.fact, Probing.ErrorClass.PERMANENT)
        except _Lost:
            logger.warning("Probing %s was taken over.", probing_id)
            return
        except Exception as error:  # the page of the judge says why
            working.log_failure(logger, probing, error)
            ended = working.failure_fields(error, attempts=probing.attempts)
        except BaseException:  # Ctrl-C, or the process is told to end
            lease.give_back()
            raise
    if leases.finish(probing, owner, **ended):
        _compare(probing, ended["state"])


def _compare(probing: Probing, state: str) -> None:
    """Where people have rated a sample already; otherwise when it is closed."""
    if state != Probing.State.DONE:
        return
    probing.refresh_from_db()
    try:
        certificates.attempt(probing, by=probing.requested_by)
    except certificates.NothingToCompute as problem:
        logger.info("Probing %s: %s", probing.pk, problem.fact)


def _ask_all(probing: Probing, owner: UUID, progress: Progress | None) -> None:
    model = _model(probing)
    results = {result["id"]: result for result in probing.results}
    for probe in probes.load().of(probing.kind):
        if probe.id not in results:
            model.begin(probing, repetition=probing.pk + 1)
            results[probe.id] = _ask(probing, probe, model)
            leased = Probing.objects.filter(pk=probing.pk, owner=owner)
            if not leased.update(results=list(results.values()), served_model=probing.served_model):
                raise _Lost
        if progress:
            progress()


def _model(probing: Probing) -> PaidModel:
    model = PaidModel.named(JUDGE, check=lambda: budgets.check_probing(probing.pk))
    here = endpoints.describe(JUDGE)
    if model is None or here is None or model.id != probing.model:
        if model is None:
            raise _BrokenOff(Fact("probing.model_missing", model=probing.model))
        raise _BrokenOff(Fact("probing.other_model", model=probing.model, here=model.id))
    if judge.judge_sha256(here, probing.prompt_sha256) != probing.judge_sha256:
        raise _BrokenOff(
            Fact("probing.other_settings", model=probing.model, here=endpoints.parameters(here))
        )
    if probing.probes_version != probes.load().version:
        raise _BrokenOff(Fact("probing.probes_changed"))
    return model


def _ask(probing: Probing, probe: Probe, model: PaidModel) -> ProbeReply:
    """What the judge said; after a reply without a usable score, the judge failed the probe."""
    prompt = judge.Prompt(probing.prompt_name, probing.prompt)
    try:
        reply = model.complete(prompt.messages(**probe.inputs))
        _hold_to_one_model(probing, reply)
        shown = [message["id"] for message in probe.messages]
        verdict = judge.read(probing.kind, reply.text, shown=shown)
        why = verdict.reason.as_json() if verdict.reason else None
        result = {"score": verdict.score, "reasoning": verdict.reasoning, "problem": why}
    except Unreadable as error:
        model.forget_replies()
        result = {"score": None, "reasoning": "", "problem": error.fact.as_json()}
    except (InvalidReply, Refused) as error:
        fact = adapters.fact_of(error)
        result = {"score": None, "reasoning": "", "problem": fact.as_json()}
    except ModelError as error:
        raise _BrokenOff(working.fact_of(error)) from error
    stored: ProbeReply = adapters.storable({"id": probe.id, **result})
    return stored


def _hold_to_one_model(probing: Probing, reply: Reply) -> None:
    served = adapters.storable(reply.model)[:200]
    if probing.served_model and probing.served_model != served:
        raise _BrokenOff(TOLD_ANOTHER)
    probing.served_model = served


def asked_last(project: Project, kind: str, prompts: dict[str, str] | None = None) -> Probing:
    """Of the judge that would be asked now: what it said when it was asked to the end."""
    endpoints.require(Fact("task.look_at_judge"), JUDGE)
    if kind not in KINDS:
        raise _unknown(kind)
    model = endpoints.describe(JUDGE)
    assert model is not None  # just asked for
    sha256 = judge.judge_sha256(model, judge.prompts(prompts)[kind].sha256)
    return last_of(project, kind, sha256)


def last_of(project: Project, kind: str, judge_sha256: str) -> Probing:
    probing = certificates.last_probing(project, kind, judge_sha256)
    if probing is None:
        raise certificates.NothingToCompute(certificates.NOT_PROBED, kind=kind)
    return probing


def _unknown(kind: str) -> ProbingRefused:
    return ProbingRefused("probing.unknown_kind", kind=kind, known=KINDS, details={"kind": kind})
