"""What other parts of the product ask of this one, each by the place where it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django.conf import settings
from django.db.models import Count, QuerySet

from evaluation.models import CaseRun, Run
from evaluation.services.language_models import replies
from labeling.gold import lint
from labeling.gold.rules.lint import PersonalPiece
from labeling.operation import metrics
from labeling.operation.metrics import Sample
from labeling.operation.preflight import NOTE, Found, check
from labeling.schema.hints import Hint
from labeling.work import hints
from pipelines.chat.receiving import MEGABYTE

NEARLY_FULL = 0.9
LARGE_MB = 10 * 1024


def register() -> None:
    check(caches)
    hints.register(notes_on)
    lint.register(personal_data)
    metrics.register(samples)


def caches() -> Found:
    """Replies are forgotten when they are too many; files of indexes never are."""
    used, most = replies.size() // MEGABYTE, settings.MAX_CACHE_MB
    if used >= NEARLY_FULL * most:
        yield (
            NOTE,
            f"replies of language models take {used} of {most} MB: the oldest are forgotten and "
            "would be paid again; set ASSAY_MAX_CACHE_MB to keep more.",
        )
    folder = settings.DATA_DIR / "cache"
    files = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // MEGABYTE
    if files > LARGE_MB:
        yield NOTE, f"{folder} takes {files} MB: what is in it can be deleted any time."


def notes_on(labels: Sequence[Mapping[str, Any]]) -> list[Hint]:
    """On the wording of labels, for the workspace."""
    from pipelines.requirements.labels import Requirement
    from pipelines.requirements.validation import guide

    return [Hint(*note) for note in guide.notes(cast("Sequence[Requirement]", labels))]


def personal_data(text: str) -> list[PersonalPiece]:
    from pipelines.requirements.validation.pii import validated_pieces

    return [PersonalPiece(*piece) for piece in validated_pieces(text)]


def samples() -> Iterator[Sample]:
    """Every state, also those that no run is in: a figure that comes and goes makes no line."""
    runs: QuerySet[Any] = Run.objects.with_state().order_by()  # "state" is computed
    states = Counter(runs.values_list("state", flat=True))
    for state in Run.Status.values:
        yield Sample("assay_runs", states[state], {"state": state})
    cases = dict(CaseRun.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for state in CaseRun.State.values:
        yield Sample("assay_cases", cases.get(state, 0), {"state": state})
