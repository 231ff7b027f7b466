"""Freezing what people agreed on as a gold release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet

from labeling.agreement import agreement, measurements
from labeling.agreement.matching.similarity import Ruler
from labeling.core import acting
from labeling.core.snapshots import snapshot
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.domain.stored import Stored
from labeling.gold import lint, pseudonyms, releases
from labeling.gold.releases import FrozenItem, Items
from labeling.gold.rules.names import in_figures, with_pseudonyms
from labeling.gold.rules.release import RELEASE_NAME
from labeling.gold.rules.statement import (
    AgreementAtFreeze,
    LeftOutRow,
    Override,
    OwnStatement,
)
from labeling.jobs import queue
from labeling.models import GoldRelease, LintReport, Project, Round
from labeling.schema.layers import stages
from labeling.schema.targets import END_TO_END, stages_of, target_layers
from labeling.settling import merges, processing, settling


class NothingToFreeze(RuleError, code="nothing_to_freeze"):
    """No conversation is settled."""


class NothingChanged(RuleError, code="nothing_changed"):
    """The newest release holds exactly this already."""


class NameTaken(RuleError, code="name_taken"):
    """Another project or layer releases under this name."""


class BadName(RuleError, code="bad_name"):
    """The name cannot be part of an address."""


class NotWanted(RuleError, code="not_wanted"):
    """Somebody else has made the release in the meantime."""


class UnderWay(RuleError, code="freeze_under_way"):
    """Another freeze of the project has not ended yet."""


class UnknownRelease(RuleError, code="unknown_release"):
    """The gold release does not exist."""


class UnknownLayer(RuleError, code="unknown_layer"):
    """The project does not label this layer."""


class SyntheticItems(RuleError, code="synthetic_items"):
    """The release would hold synthetic conversations, which nobody has allowed."""


def find(address: str, *, among: QuerySet[GoldRelease] | None = None) -> GoldRelease:
    """The release at ``name`` (its newest version) or ``name@3``."""
    releases = GoldRelease.objects.all() if among is None else among
    name, at, version = address.partition("@")
    wanted = releases.filter(name=name)
    if at:
        wanted = wanted.filter(version=whole_number(version) or 0)
    release = wanted.order_by("-version").first()
    if release is None:
        newest = [str(release) for release in releases.order_by("-pk")[:5]]
        if not newest:
            raise UnknownRelease("gold.no_release_yet", address=address)
        raise UnknownRelease("gold.unknown_release", address=address, known=newest)
    return release


def freeze(
    *,
    project: Project,
    layer: str,
    ruler: Ruler,
    name: str = "",
    message: str = "",
    by: User | None = None,
    with_synthetic: bool = False,
    request: int | None = None,
    waive: Mapping[str, str] | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
    is_held: bool = False,
) -> GoldRelease:
    """Release everything that is settled as a new version of ``name`` (default: the slug).

    What is not settled is left out and listed with its reason. A release that would equal the
    newest one is refused, and so are synthetic conversations unless ``with_synthetic`` allows
    them. So is what lint finds, unless ``waive`` accepts it: by kind, with the reason.
    One freeze of a project at a time: another is refused as long as it takes; ``is_held``: the
    caller sees to that.
    ``request`` is the event that asked for it; ``is_wanted`` is called once nobody else can
    freeze. All is settled on one snapshot, without a lock: what comes in later is not in this
    release. Then all rows are inserted in one transaction.
    """
    name, by = name or project.slug, by or acting.person()
    check_name(project, layer, name)
    with nullcontext(True) if is_held else queue.held("freeze", project.pk) as mine:
        if not mine:
            raise UnderWay("gold.freeze_under_way")
        if not is_wanted():
            raise NotWanted("gold.frozen_meanwhile")
        processing.catch_up(project, ruler=lambda: ruler, measure=_measured_rounds(project))
        names = _pseudonyms(project)
        wanted = Wanted(message, with_synthetic, waive or {})
        try:
            with snapshot():
                project.refresh_from_db()
                draft = releases.draft(project, layer, name, by=by)
                contents = _settled(draft, wanted, ruler, names)
        except lint.LintOpen as refused:
            lint.store(project, layer, refused.findings, by=by)
            raise

        def check() -> None:
            if not is_wanted():
                raise NotWanted("gold.frozen_meanwhile")
            check_name(project, layer, name)

        synthetic = contents.own.get("synthetic")
        release = releases.publish(
            draft,
            contents,
            "gold.frozen",
            check=check,
            items=len(contents.items),
            left_out=len(contents.left_out),
            **({"synthetic": synthetic} if synthetic else {}),
            **({"request": request} if request else {}),
        )
        LintReport.objects.filter(project=project, layer=layer).delete()  # it is answered
        return release


class Wanted(NamedTuple):
    """What somebody says of the release that they want."""

    message: str
    with_synthetic: bool
    waive: Mapping[str, str]


def _settled(
    draft: releases.Draft, wanted: Wanted, ruler: Ruler, names: pseudonyms.Names
) -> releases.Contents:
    project, layer = draft.project, draft.layer
    items, left_out = _settle(project, layer, names)
    rows: list[LeftOutRow] = [
        {"conversation": name, "reason": why.as_json()} for name, why in sorted(left_out.items())
    ]
    if not len(items):
        raise NothingToFreeze(_why_nothing(left_out), details={"left_out": rows})
    if draft.repeats(items):
        raise NothingChanged("gold.nothing_changed", parent=str(draft.parent))
    own: OwnStatement = {
        "ruler": ruler.id,
        "match_threshold": project.match_threshold,
        "settling": merges.VERSION,
    }
    if synthetic := releases.n_synthetic(project, items):
        own["synthetic"] = synthetic
        if not wanted.with_synthetic:
            values = {"synthetic": synthetic, "total": len(items)}
            details = {"synthetic": synthetic}
            raise SyntheticItems("gold.synthetic_items", **values, details=details)
    waivers = lint.check(project, layer, items, waive=wanted.waive, by=draft.by)
    return releases.Contents(
        items,
        own,
        message=wanted.message,
        guideline=project.guidelines.first(),
        agreement=in_figures(_agreement(project, layer), names),
        overrides=_overrides(project, names),
        left_out=rows,
        waivers=waivers,
    )


def _settle(project: Project, layer: str, names: pseudonyms.Names) -> tuple[Items, dict[str, Fact]]:
    """What a freeze would hold, and what it would leave out, by conversation."""
    items = Items()
    left_out: dict[str, Fact] = {}
    for conversation, outcome in merges.outcomes_of_project(project, layer):
        if isinstance(outcome, Fact):
            left_out[conversation.external_id] = outcome
            continue
        try:
            items.add(_item(outcome, names))
        except KeyError:  # of somebody who has no pseudonym yet, as their first answer just came in
            left_out[conversation.external_id] = settling.JUST_IN
    items.sort(str.encode)
    return items, left_out


def _pseudonyms(project: Project) -> pseudonyms.Names:
    """By name; empty where the project publishes names."""
    publishes = Project.objects.filter(pk=project.pk, publish_names=True).exists()
    return {} if publishes else pseudonyms.assign(project)


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
    if GoldRelease.objects.filter(name=name, header__contains='"generated":').exists():
        raise NameTaken("gold.name_of_generated", name=name)


def check_free(project: Project, layer: str, name: str) -> None:
    """A name is a file name, too, and belongs to one layer of one project."""
    if not RELEASE_NAME.fullmatch(name):
        raise BadName("gold.bad_name", name=name)
    taken = GoldRelease.objects.filter(name=name).exclude(project=project, layer=layer).first()
    if taken:
        raise NameTaken("gold.name_taken", name=name, slug=taken.project.slug, layer=taken.layer)


def _why_nothing(left_out: Mapping[str, Fact]) -> Fact:
    if not left_out:
        return Fact("gold.nothing_labelled")
    reasons = sorted(set(left_out.values()), key=str)
    return Fact("gold.nothing_settled", total=len(left_out), reasons=reasons[:3])


def _overrides(project: Project, names: Mapping[str, str]) -> list[Override]:
    """Every reason for opening full labeling past the gate."""
    overridden = project.rounds.exclude(override_reason="").select_related("opened_by")
    return [
        {"round": round_.number, "reason": round_.override_reason, "by": _opener(round_, names)}
        for round_ in overridden
    ]


def _opener(round_: Round, names: Mapping[str, str]) -> str | None:
    """None where a command opened it in nobody's name."""
    user = round_.opened_by
    if user is None or acting.is_console(user):
        return None
    return names.get(user.get_username(), user.get_username())


def _measured_rounds(project: Project) -> list[Round]:
    """The rounds whose agreement a release reports: with several annotators, and not blind."""
    rounds = project.rounds.filter(overlap__gte=2).select_related("guideline", "project")
    return [round_ for round_ in rounds if not round_.is_blind]


def _agreement(project: Project, layer: str) -> AgreementAtFreeze:
    """Agreement of every round that is not blind, as it was measured for the release."""
    rounds = [
        {
            "round": measured.number,
            "kind": measured.kind,
            "state": measured.state,
            "guideline_version": measured.guideline.version,
            **(_agreement_on(measured, layer) or {}),
        }
        for measured in _measured_rounds(project)
    ]
    return {"rounds": rounds}


def _agreement_on(measured: Round, layer: str) -> Stored | None:
    """The figures of one layer; of the whole, those of each of its stages."""
    if layer != END_TO_END:
        return measurements.figures_of(measured, layer)
    stages = {stage: measurements.figures_of(measured, stage) for stage in stages_of(layer)}
    return agreement.summary({stage: figures for stage, figures in stages.items() if figures})
