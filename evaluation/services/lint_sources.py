"""What lint of gold asks of this part of the product: personal data in texts, and the plan."""

from __future__ import annotations

from labeling.domain.gold.lint import PersonalPiece
from labeling.models import GoldRelease, Project
from labeling.services.gold import lint
from labeling.services.gold.lint import SplitNeed


def register() -> None:
    lint.register(personal_data=personal_data, split_need=split_need)


def personal_data(text: str) -> list[PersonalPiece]:
    from pipelines.requirements.validation.pii import validated_pieces

    return [PersonalPiece(*piece) for piece in validated_pieces(text)]


def split_need(project: Project, layer: str, name: str, split: str) -> SplitNeed | None:
    """How many conversations show the difference that a lead declared, by the newest release.

    None where nobody declared one, and where no run or floor tells how conversations spread.
    """
    from evaluation.layers import GOLD_LAYERS
    from evaluation.services.run import planning, primary_metrics

    if layer not in GOLD_LAYERS:
        return None
    primary = primary_metrics.primary_of(project, layer)
    before = GoldRelease.objects.filter(project=project, layer=layer, name=name)
    release = before.select_related("project").order_by("-version").first()
    if primary.since is None or primary.reach is None or release is None:
        return None
    plan = planning.plan(release, split=split)
    if plan is None or plan.needed is None:
        return None
    return SplitNeed(primary.reach, plan.needed)
