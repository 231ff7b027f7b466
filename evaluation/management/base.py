"""The parent of the commands about pipelines and runs."""

from __future__ import annotations

from evaluation.models import Run
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
