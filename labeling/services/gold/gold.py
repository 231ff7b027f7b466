"""Freezing what people agreed on as a gold release."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from labeling.domain.agreement.agreement import AgreementFigures, AgreementSummary
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.gold.meaning import Level, Meaning
from labeling.domain.gold.names import in_figures, with_pseudonyms
from labeling.domain.gold.release import RELEASE_NAME
from labeling.domain.gold.statement import (
    AgreementAtFreeze,
    FrozenAgreement,
    MeasuredRound,
    Override,
    OwnStatement,
)
from labeling.domain.matching.similarity import Ruler
from labeling.domain.numbers import whole_number
from labeling.domain.schema import LAYERS
from labeling.domain.schema.layers import stages
from labeling.domain.targets import END_TO_END, stages_of, target_layers
from labeling.models import Annotation, GoldItem, GoldRelease, Project, Round
from labeling.services import audit_chain, events, processing, projects, pseudonyms
from labeling.services.agreement import agreement, measurements
from labeling.services.gold import lint, releases
from labeling.services.gold.basis import basis_of
from labeling.services.gold.staging import FrozenItem, StagedItems
from labeling.services.settling import merges, settling
from labeling.services.work import locking


class NothingToFreeze(RuleError):
    """No conversation is settled."""

    code = "nothing_to_freeze"


class NothingChanged(RuleError):
    """The newest release holds exactly this already."""

    code = "nothing_changed"


class NameTaken(RuleError):
    """Another project or layer releases under this name."""

    code = "name_taken"


class BadName(RuleError):
    """The name cannot be part of an address."""

    code = "bad_name"


class NotWanted(RuleError):
    """Somebody else has made the release in the meantime."""

    code = "not_wanted"


class UnknownRelease(RuleError):
    """The gold release does not exist."""

    code = "unknown_release"


class UnknownLayer(RuleError):
    """The project does not label this layer."""

    code = "unknown_layer"


class AnswersChanged(RuleError):
    """Somebody answered or decided while items were made."""

    code = "answers_changed"


class SyntheticItems(RuleError):
    """The release would hold synthetic conversations, which nobody has allowed."""

    code = "synthetic_items"


def find(address: str, *, among: QuerySet[GoldRelease] | None = None) -> GoldRelease:
    """The release at ``name`` (its newest version), ``name@3`` or ``name@1.2.0``."""
    releases = GoldRelease.objects.all() if among is None else among
    name, at, version = address.partition("@")
    wanted = releases.filter(name=name)
    if at and Meaning.parse(version):
        wanted = wanted.filter(meaning=version)
    elif at:
        wanted = wanted.filter(version=whole_number(version) or 0)
    release = wanted.order_by("-version").first()
    if release is None:
        newest = [str(release) for release in releases.order_by("-pk")[:5]]
        if not newest:
            raise UnknownRelease("gold.no_release_yet", address=address)
        raise UnknownRelease("gold.unknown_release", address=address, known=newest)
    return release


def proposed(project: Project, layer: str, name: str = "") -> releases.Proposal | None:
    """The version that a freeze of what is stored now would get, and why.

    None while workers have yet to merge answers: what is settled is then not known.
    """
    name = name or project.slug
    check_name(project, layer, name)
    outcomes = settling.outcomes_of_project(project, layer, fitting=_fitting(project, layer))
    splits = (
        (conversation.external_id, conversation.split)
        for conversation, outcome in outcomes
        if not isinstance(outcome, Fact)
    )
    draft = releases.draft(project, layer, name, by=None)
    try:
        return draft.proposal(splits, guideline=project.guidelines.first())
    except settling.NotMerged:
        return None


ATTEMPTS = 3
"""Answers may arrive between computing and freezing; then it is computed again."""


def freeze(
    *,
    project: Project,
    layer: str,
    ruler: Ruler,
    name: str = "",
    message: str = "",
    by: User | None = None,
    with_synthetic: bool = False,
    at_least: Level = "patch",
    request: int | None = None,
    waive: Mapping[str, str] | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> GoldRelease:
    """Release everything that is settled as a new version of ``name`` (default: the slug).

    What is not settled is left out and listed with its reason. A release that would equal the
    newest one is refused, and so are synthetic conversations unless ``with_synthetic`` allows
    them. So is what lint finds, unless it was accepted; ``waive`` accepts all findings of a kind,
    by kind, with the reason.
    The version by meaning follows from what has changed; ``at_least`` can only raise it.
    ``request`` is the event that asked for it; ``is_wanted`` is called once nobody else can
    freeze. Nothing is computed while anything is locked: what is missing or
    out of date is computed before, and what changes meanwhile is computed again.
    """
    name = name or project.slug
    check_name(project, layer, name)
    chosen = Chosen(
        project, layer, name, message, by, with_synthetic, at_least, request, waive or {}
    )
    for is_last in (False, False, True):
        processing.catch_up(project, ruler=lambda: ruler, measure=_measured_rounds(project))
        audit_chain.link_events()  # the release names the end of the log
        with StagedItems() as items:
            try:
                release = _freeze(chosen, ruler.id, is_wanted, items, is_last=is_last)
            except (settling.NotMerged, measurements.NotMeasured, AnswersChanged):
                if is_last:
                    raise
            except lint.LintOpen as refused:
                lint.store(project, layer, refused.findings, by=by)
                raise
            else:
                audit_chain.link_events()
                return release
    raise AssertionError("the last attempt returns or raises")


class Chosen(NamedTuple):
    """What somebody wants to freeze."""

    project: Project
    layer: str
    name: str
    message: str
    by: User | None
    with_synthetic: bool
    at_least: Level
    request: int | None
    waive: Mapping[str, str]


class Settled(NamedTuple):
    """What a freeze would hold, staged, and what it would leave out."""

    items: StagedItems
    left_out: list[settling.LeftOut]
    synthetic: int
    findings: lint.Findings


def _freeze(
    chosen: Chosen,
    ruler_id: str,
    is_wanted: Callable[[], bool],
    items: StagedItems,
    *,
    is_last: bool,
) -> GoldRelease:
    """Settle and stage, then publish; on the last attempt nothing can change in between."""
    if is_last:
        with transaction.atomic():
            _lock(chosen, is_wanted)
            return _publish(chosen, ruler_id, _settle(chosen, items, is_last=True), is_last=True)
    basis = basis_of(chosen.project)
    settled = _settle(chosen, items, is_last=False)
    with transaction.atomic():
        _lock(chosen, is_wanted)
        if basis_of(chosen.project) != basis:
            raise AnswersChanged("gold.answers_changed")
        return _publish(chosen, ruler_id, settled, is_last=False)


def _lock(chosen: Chosen, is_wanted: Callable[[], bool]) -> None:
    """One version after the other, and the answers stay as they are."""
    project = projects.lock(chosen.project)
    if not is_wanted():
        raise NotWanted("gold.frozen_meanwhile")
    locking.keep(Annotation.objects.labelling().filter(assignment__round__project=project))


def _settle(
    chosen: Chosen, items: StagedItems, *, is_last: bool, is_trial: bool = False
) -> Settled:
    """Every labelled conversation, one after the other; what has just changed is left out last."""
    project, layer = chosen.project, chosen.layer
    left_out: list[settling.LeftOut] = []
    synthetic = 0
    names = {} if is_trial else _pseudonyms(project)
    linter = lint.Linter(project, layer, name=chosen.name)
    for conversation, outcome in settling.outcomes_of_project(
        project, layer, fitting=_fitting(project, layer), allow_unmerged=is_last
    ):
        if isinstance(outcome, Fact):
            left_out.append(settling.LeftOut(conversation.external_id, outcome))
        else:
            item = _item(outcome, names)
            items.add(item)
            linter.look(conversation.pk, json.loads(item.canonical))
            synthetic += conversation.is_synthetic
    return Settled(items, left_out, synthetic, linter.findings())


def _pseudonyms(project: Project) -> pseudonyms.Names:
    """By name; empty where the project publishes names."""
    publishes = Project.objects.filter(pk=project.pk, publish_names=True).exists()
    return {} if publishes else pseudonyms.assign(project)


def _publish(chosen: Chosen, ruler_id: str, settled: Settled, *, is_last: bool) -> GoldRelease:
    """Store what is settled; the project is locked."""
    project, layer, name, by = chosen.project, chosen.layer, chosen.name, chosen.by
    check_name(project, layer, name)
    counted = _counted(settled, with_synthetic=chosen.with_synthetic)
    names = _pseudonyms(project)
    agreement = _agreement(project, layer, must_be_current=not is_last)
    draft = releases.draft(project, layer, name, by=by)
    if draft.repeats(settled.items):
        raise NothingChanged("gold.nothing_changed", parent=str(draft.parent))
    waivers = lint.settle(settled.findings, project, layer, waive=chosen.waive, by=by)
    own: OwnStatement = {"ruler": ruler_id, "match_threshold": project.match_threshold, **counted}
    release = draft.store(
        settled.items,
        own,
        message=chosen.message,
        guideline=project.guidelines.first(),
        agreement=in_figures(agreement, names),
        overrides=_overrides(project, names),
        left_out=[row.as_json() for row in settled.left_out],
        waivers=waivers,
        at_least=chosen.at_least,
    )
    frozen = release.items.values("conversation")
    locking.lock(Annotation.objects.labelling().filter(assignment__conversation__in=frozen))
    events.record(
        "gold.frozen",
        release,
        project=project,
        actor=by,
        release=str(release),
        items=len(settled.items),
        left_out=len(settled.left_out),
        sha256=release.sha256,
        **counted,
        **({"request": chosen.request} if chosen.request else {}),
    )
    return release


def look(project: Project, layer: str, *, ruler: Ruler) -> lint.Findings:
    """What lint finds in all that a freeze would take now."""
    check_layer(project, layer)
    processing.catch_up(project, ruler=lambda: ruler)
    newest = GoldRelease.objects.filter(project=project, layer=layer).order_by("-pk").first()
    name = newest.name if newest else project.slug
    chosen = Chosen(project, layer, name, "", None, True, "patch", None, {})
    with StagedItems() as items:
        return _settle(chosen, items, is_last=True, is_trial=True).findings


def _counted(settled: Settled, *, with_synthetic: bool) -> releases.SyntheticCounts:
    """How many are synthetic, if any are; raises if they may not be frozen."""
    synthetic, total = settled.synthetic, len(settled.items)
    if not total:
        raise NothingToFreeze(
            _why_nothing(settled.left_out),
            details={"left_out": [row.as_json() for row in settled.left_out]},
        )
    if synthetic and not with_synthetic:
        raise SyntheticItems(
            "gold.synthetic_items",
            synthetic=synthetic,
            total=total,
            details={"synthetic": synthetic},
        )
    return {"synthetic": synthetic} if synthetic else {}


def _item(settled: settling.SettledConversation, names: Mapping[str, str]) -> FrozenItem:
    provenance = settled.provenance
    if names:
        provenance = with_pseudonyms(provenance, names)
    return releases.item_of(
        settled.conversation,
        settled.layer,
        gold=settled.payload,
        base_payload=settled.base_payload,
        provenance=provenance,
    )


def check_layer(project: Project, layer: str) -> None:
    if layer == END_TO_END and not set(project.layers) >= set(stages()):
        needed = [Fact(f"layer_within.{stage}") for stage in stages_of(layer)]
        raise UnknownLayer("gold.no_whole", slug=project.slug, needed=needed)
    if layer not in target_layers(project.layers):
        raise UnknownLayer(
            "gold.unknown_layer",
            slug=project.slug,
            layer=layer,
            layers=list(project.layers),
        )


def check_name(project: Project, layer: str, name: str) -> None:
    check_layer(project, layer)
    check_free(project, layer, name)
    if GoldItem.objects.filter(release__name=name, how=GoldItem.How.GENERATED).exists():
        raise NameTaken("gold.name_of_generated", name=name)


def check_free(project: Project, layer: str, name: str) -> None:
    """A name is a file name, too, and belongs to one layer of one project."""
    if not RELEASE_NAME.fullmatch(name):
        raise BadName("gold.bad_name", name=name)
    taken = GoldRelease.objects.filter(name=name).exclude(project=project, layer=layer).first()
    if taken:
        raise NameTaken("gold.name_taken", name=name, slug=taken.project.slug, layer=taken.layer)


def _why_nothing(left_out: Sequence[settling.LeftOut]) -> Fact:
    if not left_out:
        return Fact("gold.nothing_labelled")
    reasons = sorted({row.reason for row in left_out}, key=str)
    return Fact("gold.nothing_settled", total=len(left_out), reasons=reasons[:3])


def _overrides(project: Project, names: Mapping[str, str]) -> list[Override]:
    """Every reason for opening full labeling past the gate."""
    overridden = project.rounds.labelling().exclude(override_reason="").select_related("opened_by")
    openers = [
        round_.opened_by.get_username() if round_.opened_by else None for round_ in overridden
    ]
    return [
        {
            "round": round_.number,
            "reason": round_.override_reason,
            "by": names.get(opener, opener) if opener else None,
        }
        for round_, opener in zip(overridden, openers, strict=True)
    ]


def _measured_rounds(project: Project) -> list[Round]:
    """The rounds whose agreement a release reports: with several annotators, and not blind."""
    rounds = (
        project.rounds.labelling().filter(overlap__gte=2).select_related("guideline", "project")
    )
    return [round_ for round_ in rounds if not round_.is_blind]


def _fitting(project: Project, layer: str) -> Callable[[Collection[int]], settling.Fits]:
    layers = _layers_behind(layer)
    return lambda conversations: merges.fitting(project, layers, among=conversations)


def _layers_behind(layer: str) -> list[str]:
    """The layers that gold of this layer holds or refers to."""
    stages = stages_of(layer)
    return list(dict.fromkeys(name for stage in stages for name in (*LAYERS[stage].needs, stage)))


def _agreement(project: Project, layer: str, *, must_be_current: bool) -> AgreementAtFreeze:
    """Agreement of every round that is not blind now, stored with the release."""
    rounds = _measured_rounds(project)
    if must_be_current and not all(measurements.is_current(round_) for round_ in rounds):
        raise measurements.NotMeasured("agreement.changed_since")
    return {"rounds": [_round_agreement(round_, layer) for round_ in rounds]}


def _round_agreement(measured: Round, layer: str) -> FrozenAgreement:
    named: MeasuredRound = {
        "round": measured.number,
        "kind": measured.kind,
        "state": measured.state,
        "guideline_version": measured.guideline.version,
    }
    return cast(FrozenAgreement, {**named, **(_agreement_on(measured, layer) or {})})


def _agreement_on(measured: Round, layer: str) -> AgreementFigures | AgreementSummary | None:
    """The figures of one layer; of the whole, those of each of its stages."""
    if layer != END_TO_END:
        return measurements.figures_of(measured, layer)
    stages = {stage: measurements.figures_of(measured, stage) for stage in stages_of(layer)}
    return agreement.summary({stage: figures for stage, figures in stages.items() if figures})
