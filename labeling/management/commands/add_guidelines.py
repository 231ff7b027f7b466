from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.words import in_english
from labeling.work import guidelines
from labeling.work.forms.guidelines import GuidelineForm


class Command(AssayCommand):
    help = "Write a Markdown file as the next version of a project's guidelines."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--summary",
            default="",
            metavar="TEXT",
            help="what changed, in one line; annotators read it first (default: the file's name)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project, path = self.project_named(options["project"]), options["file"]
        newest = project.guidelines.first()
        form = GuidelineForm(
            {
                "body": _text(path),
                "summary": options["summary"] or f"From {path.name}",
                "base_version": newest.version if newest else 0,
            }
        )
        if not form.is_valid():
            name, (problem, *_) = next(iter(form.errors.items()))
            raise CommandError(f"{path.name}: {name}: {problem}")
        try:
            added = guidelines.add_version(project=project, by=acting.person(), **form.cleaned_data)
        except guidelines.GuidelineUnchanged as same:
            self.stdout.write(in_english(same.fact))
        else:
            self.stdout.write(f"Version {added.version} of the guidelines of {project.slug}.")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path.name}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path.name}: is not UTF-8; save the file as UTF-8.") from None
