"""The parent of the commands about pipelines and runs."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management.base import CommandError

from evaluation.management import foreground
from evaluation.models import Run
from evaluation.services.work import steering
from labeling.core import acting
from labeling.management.base import AssayCommand


class RunCommand(AssayCommand):
    refused = 2

    def run_numbered(self, number: int) -> Run:
        runs = Run.objects.with_progress()
        related = runs.select_related("release__project", "look", "requested_by")
        run = related.filter(pk=number).first()
        if run is None:
            raise self.problem(f"There is no run {number}.")
        return run

    def work(self, numbers: Sequence[int]) -> None:
        """Here and now; what is not done waits for the person who stops it."""
        with foreground.kept(numbers):
            for at, number in enumerate(numbers):
                try:
                    with foreground.progress_bar(number) as show:
                        foreground.work_until_done(number, show)
                except KeyboardInterrupt:
                    left = list(map(str, numbers[at:]))
                    for run in Run.objects.select_related("release__project").filter(pk__in=left):
                        steering.pause(run, by=acting.person())
                    said = f"Stopped. Go on with: assay evaluate --resume {' '.join(left)}"
                    raise CommandError(said, returncode=130) from None
