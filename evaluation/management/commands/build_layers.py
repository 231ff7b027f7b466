"""``assay build_layers``: topics, signals and threads, here and now, with a progress bar."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management.base import CommandError
from rich.progress import Progress

from evaluation.management.bars import bar
from evaluation.management.settings import NOT_USABLE, read_settings
from evaluation.models import BuiltLayer, LayerBuild
from evaluation.services import memory_builds
from labeling.domain.errors import RuleError
from labeling.jobs import runner
from labeling.management.acting import ActingCommand
from labeling.management.arguments import project_named
from labeling.services import acting
from labeling.words import in_english

WAIT_SECONDS = 1.0  # for a build that a worker holds, or that waits for another attempt


class Command(ActingCommand):
    help = (
        "Build the memory layers of conversations (topics, signals, threads), in the foreground. "
        "What is built is kept; a stopped command continues where it was. Exit status: 0 "
        "built, 2 refused, or some could not be built."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="P")
        parser.add_argument(
            "--conversation",
            action="append",
            default=[],
            metavar="ID",
            help="only this one (may be repeated; default: all of the project)",
        )
        parser.add_argument("--config", type=Path, metavar="FILE.yaml", help="settings of layers")

    def handle(self, **options: Any) -> None:
        try:
            builds = self._asked(options)
            with bar() as shown:
                for build in builds:
                    _work_until_done(build.pk, shown)
        except RuleError as error:
            raise CommandError(in_english(error.fact), returncode=NOT_USABLE) from error
        except KeyboardInterrupt:
            raise CommandError(
                "Stopped; run the same command to continue.", returncode=130
            ) from None
        failed = [self._report(build) for build in builds].count(False)
        if failed:
            problem = f"{failed} of {len(builds)} conversations could not be built."
            raise CommandError(problem, returncode=NOT_USABLE)

    def _asked(self, options: dict[str, Any]) -> list[LayerBuild]:
        project = project_named(options["project"], returncode=NOT_USABLE)
        config = memory_builds.checked_config(read_settings(options["config"]))
        conversations = memory_builds.conversations_of(project, options["conversation"])
        if not conversations:
            problem = f"Project “{project.slug}” has no conversations yet."
            raise CommandError(problem, returncode=NOT_USABLE)
        return memory_builds.request(
            conversations, project=project, config=config, by=acting.person(), queue=False
        )

    def _report(self, asked: LayerBuild) -> bool:
        build = LayerBuild.objects.select_related("conversation").get(pk=asked.pk)
        if build.failure:
            self.stderr.write(f"{build.conversation}: {in_english(build.failure)}")
            return False
        rows = memory_builds.built(build.conversation, build.config_sha256)
        counts = ", ".join(_counted(kind, rows[kind]) for kind in BuiltLayer.Kind.values)
        seconds = sum(row.seconds for row in rows.values())
        self.stdout.write(f"{build.conversation}: {counts} ({seconds:.1f} s)")
        return True


def _counted(kind: str, row: BuiltLayer) -> str:
    listed, named = {
        "topics": ("nodes", "topic"),
        "signals": ("anchors", "anchor"),
        "threads": ("threads", "thread"),
    }[kind]
    number = len(row.payload[listed])
    return f"{number} {named}{'' if number == 1 else 's'}"


def _work_until_done(build_id: int, shown: Progress) -> None:
    conversation = LayerBuild.objects.select_related("conversation").get(pk=build_id).conversation
    task = shown.add_task(str(conversation), total=None)

    def show() -> None:
        build = LayerBuild.objects.get(pk=build_id)
        text = f"{conversation}: {build.get_step_display()}"
        shown.update(task, description=text, total=build.total or None, completed=build.done)

    while LayerBuild.objects.unfinished().filter(pk=build_id).exists():
        if not runner.run(memory_builds.work, build_id, uuid4(), progress=show):
            time.sleep(WAIT_SECONDS)
    shown.remove_task(task)
