"""A run taken over to other gold: its stored outputs are scored there, and no pipeline runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from django.db import transaction

from evaluation import adapters
from evaluation.layers import GoldLayer, Part, gold_layer
from evaluation.models import CaseRun, Run
from evaluation.models.spec import CarriedSpec, GoldSpec, RunSpec
from evaluation.services import looks
from evaluation.services.judging import answers
from evaluation.services.work import steering
from evaluation.services.work.steering import RunRefused
from labeling.core import acting
from labeling.core.rules.reasons import reason_in
from labeling.models import GoldItem, GoldRelease

MOST_NAMED = 1000
"""Cases that are named in the spec; beyond that their number says enough."""
OF_RUN = (
    *("pipeline", "pipeline_version", "config", "config_sha256", "name", "split"),
    *("repetitions", "seed"),
)
OF_CASE = (
    *("part", "part_id", "repetition", "output", "exposure", "state", "attempts", "error"),
    *("error_class", "seconds", "finished_at"),
)
"""What is the same in the run that carries them."""


class _Fit(NamedTuple):
    """The cases of a run that other gold asks in the same way, and those that it does not."""

    items: dict[int, GoldItem]
    """By the item of the run: that of the other gold."""
    taken: list[CaseRun]
    left_out: list[str]
    unanswered: list[str]


@transaction.atomic
def carry(run: Run, release: GoldRelease, *, reason: str = "", by: Any = None) -> Run:
    """A new run on ``release`` with the outputs of this one, to be scored there.

    Only cases whose conversation and question are the same are taken over; the others are
    listed in its spec. What language models were paid stays with the run that asked them, and so do
    answers that were written and judged. Answers that were made elsewhere are part of the outputs:
    they are carried, and measured on the new gold.
    """
    _check(run, release)
    carried = Run(
        **{name: getattr(run, name) for name in OF_RUN},
        release=release,
        reason=reason_in(reason),
        requested_by=by or acting.person(),
        carried_from=run,
    )
    fit = _fit(run, release)
    if not fit.taken:
        raise RunRefused("carry.nothing_fits", pk=run.pk, release=str(release))
    carried.reason = looks.check_launch(carried, fit.items.values())
    carried.spec = _spec(run, release, fit)
    carried.save()
    rows = [
        CaseRun(
            **{name: getattr(case, name) for name in OF_CASE},
            run=carried,
            item=fit.items[case.gold_item_id],
        )
        for case in fit.taken
    ]
    CaseRun.objects.bulk_create(rows, batch_size=500)
    if carried.spec.has_answers:
        answers.take_over(carried, carried.cases.select_related("item").order_by("pk"))
    looks.record_launch(carried, fit.items.values())
    gold = str(release)
    steering.record("run.carried", carried, by, source=run.pk, pipeline=run.pipeline, gold=gold)
    transaction.on_commit(lambda: steering.wake(carried.pk))
    return carried


def carried_to(run: Run, release_id: int) -> Run | None:
    """The newest run that took over this one's outputs on the release; itself if it is on it."""
    if run.release_id == release_id:
        return run
    rows = Run.objects.filter(carried_from=run, release=release_id, failure=None, cancelled=False)
    return rows.select_related("release__project").order_by("-pk").first()


def _check(run: Run, release: GoldRelease) -> None:
    own = run.release
    if (own.project_id, own.layer) != (release.project_id, release.layer):
        raise RunRefused("carry.other_layer", pk=run.pk, release=str(release))
    if own.pk == release.pk:
        raise RunRefused("carry.same_gold", pk=run.pk, release=str(release))
    if run.scored_at is None:
        raise RunRefused("run.unfinished", pk=run.pk, details={"run": run.pk})


def _fit(run: Run, release: GoldRelease) -> _Fit:
    layer = gold_layer(run.spec.layer)
    schema = run.spec.event_schema
    cases = list(run.cases.select_related("item").defer("item__canonical").order_by("pk"))
    wanted = {item.item_id: item for item in release.items.defer("canonical").order_by("position")}
    fit = _Fit({}, [], [], [])
    answered: set[tuple[str, str]] = set()
    asked: dict[tuple[int, str], bool] = {}
    for case in cases:
        item = wanted.get(case.item.item_id)
        key = (case.gold_item_id, case.part)
        if key not in asked:
            asked[key] = item is not None and _same(case, item, layer, schema)
        if item is None or not asked[key]:
            fit.left_out.append(case.case_id)
        else:
            fit.items[case.gold_item_id] = item
            fit.taken.append(case)
            answered.add((item.item_id, case.part))
    names = {case.item.item_id for case in cases}
    for item in (item for name, item in wanted.items() if name in names):
        for part in layer.parts(item.content):
            if (item.item_id, part.uid) not in answered:
                fit.unanswered.append(f"{item.item_id}:{part.id}" if part.uid else item.item_id)
    return fit


def _same(
    case: CaseRun, item: GoldItem, layer: GoldLayer, schema: adapters.EventSchema | None
) -> bool:
    """Whether a pipeline would see the same in both."""
    if case.item.sha256 == item.sha256:
        return True
    if case.part and not layer.gold(item.content, case.part):
        return False
    part = Part(case.part, case.part_id)
    before, after = (
        replace(adapters.case_of(each, part, layer, schema), case_id="")
        for each in (case.item, item)
    )
    return before == after


def _spec(run: Run, release: GoldRelease, fit: _Fit) -> RunSpec:
    gold = GoldSpec(name=release.name, version=release.version, sha256=release.sha256)
    carried = CarriedSpec(
        run=run.pk,
        gold=str(run.release),
        taken=len(fit.taken),
        left_out=fit.left_out[:MOST_NAMED],
        unanswered=fit.unanswered[:MOST_NAMED],
    )
    stays = {"answers"} if run.spec.asks_for_answers else set()
    kept = {name: value for name, value in run.spec.as_json().items() if name not in stays}
    values = {"gold": gold.model_dump(mode="json"), "carried": carried.model_dump(mode="json")}
    return RunSpec.model_validate({**kept, **values})
