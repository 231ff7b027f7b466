from __future__ import annotations

import gc
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import Progress

from labeling.conversations import chats, conversations
from labeling.conversations.formats import conversations as formats
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.published.chats import FORMATS as CHAT_FORMATS
from labeling.conversations.rules.importing import SPLITS
from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.management.fault_tables import print_faults, project_message
from labeling.management.waivers import add_waivers, waiver_line, waivers_in
from labeling.words import in_english

SHOWN_LEFT_OUT, SHOWN_DOUBTS = 20, 10
FORMATS = (*formats.FORMATS, *CHAT_FORMATS)


class Command(AssayCommand):
    help = (
        "Store conversations from files. What cannot be read is left out and listed; a "
        "conversation that is stored already is left alone; a missing project is created."
    )

    nothing_stored = "; nothing was stored"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
        parser.add_argument(
            "--project",
            metavar="SLUG",
            help=f"Needed, unless --format is {' or '.join(CHAT_FORMATS)} (default: its name).",
        )
        parser.add_argument(
            "--format",
            default="native",
            metavar="NAME",
            help=f"How the files are written: {', '.join(FORMATS)} (default: native).",
        )
        parser.add_argument(
            "--columns",
            default="",
            metavar="WHAT=COLUMN,…",
            help="Of a table: conversation, speaker, role, text, time and order, where their names "
            "do not say it. A column of “-” is none.",
        )
        parser.add_argument(
            "--roles",
            default="",
            metavar="NAME=ROLE,…",
            help="Who is the user and who the analyst: “Ana=analyst,*=user”; a name may have a "
            "comma, “Costa, Ana=analyst”. A role of “-” leaves the messages out, “text” says "
            "that the name is none, any other role that it is one.",
        )
        parser.add_argument(
            "--encoding",
            choices=ENCODINGS,
            default="",
            help="Of files that are not UTF-8, which are refused otherwise.",
        )
        parser.add_argument(
            "--split",
            choices=SPLITS,
            default="",
            help="For conversations that name none; a copy of one in another split is refused.",
        )
        parser.add_argument(
            "--strict",
            dest="leave_out",
            action="store_const",
            const=conversations.NOTHING,
            default=conversations.UNREADABLE,
            help="Store nothing if anything cannot be read.",
        )
        parser.add_argument(
            "--leave-out-conflicts",
            dest="leave_out",
            action="store_const",
            const=conversations.CONFLICTS,
            help="Leave out, too, what is stored with other text or cannot have its split.",
        )
        add_waivers(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="Check and report, and store nothing."
        )

    def handle(self, **options: Any) -> None:
        if options["format"] not in FORMATS:
            raise CommandError(
                f"Format “{options['format']}” cannot be read; available now: {', '.join(FORMATS)}."
            )
        if options["project"] is None:
            options["project"] = _project_of(options["format"])
        gc.freeze()  # the collector looks at what comes in only: a sixth less processor time
        started = time.perf_counter()
        outcome = self._import(options)
        self._say(outcome.done, options, seconds=time.perf_counter() - started)
        if outcome.counts:
            print_faults(outcome.counts, outcome.faults, out=self.stdout)
            self._say_gold(outcome, options)

    def _import(self, options: dict[str, Any]) -> chats.Outcome:
        arguments = {
            "project_slug": options["project"],
            "files": _opened(options["files"]),
            "split": options["split"],
            "dry_run": options["dry_run"],
            "actor": acting.chosen(),
        }
        if options["format"] in CHAT_FORMATS:
            waive = waivers_in(options["waive"])
            arguments |= {"waive": waive, "leave_out": options["leave_out"]}
            return chats.import_chats(format=options["format"], **arguments)
        how = HowToRead.written(*(options[name] for name in ("columns", "roles", "encoding")))
        names = ("format", "leave_out")
        arguments |= {name: options[name] for name in names} | {"how": how}
        report = conversations.import_files(**arguments)
        self._ask(how)
        return chats.Outcome(report)

    def _ask(self, how: HowToRead) -> None:
        """For names that the files leave unclear."""
        for name, doubt in islice(how.doubts.items(), SHOWN_DOUBTS):
            taken = "a speaker" if doubt.is_speaker else "text"
            self.stdout.write(f"Read as {taken}, please check: {name}, in “{doubt.line[:80]}”")
        if how.doubts:
            self.stdout.write("Say it otherwise by --roles NAME=ROLE or NAME=text.")

    def _say(
        self, report: conversations.ImportReport, options: dict[str, Any], *, seconds: float
    ) -> None:
        if report.project_created:
            self.stdout.write(project_message(options["project"], dry_run=options["dry_run"]))
        self.stdout.write(
            f"{report.read} read, {report.new} new ({report.messages} messages), "
            f"{report.unchanged} unchanged, {seconds:.1f} s"
        )
        self._say_left_out(report, whole=options["verbosity"] > 1)
        if report.inherited or report.given:
            self.stdout.write(
                f"Splits: {len(report.inherited)} inherited from the same conversation, "
                f"{len(report.given)} given to stored conversations"
            )
        for note in report.notes:
            self.stdout.write(f"  {in_english(note)}")
        if len(report.notes) < len(report.inherited) + len(report.given):
            self.stdout.write("  …")
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")

    def _say_left_out(self, report: conversations.ImportReport, *, whole: bool) -> None:
        counts = {True: report.n_refused, False: report.n_left_out}
        for is_whole, what in ((True, "conversations or files"), (False, "messages or values")):
            if not counts[is_whole]:
                continue
            self.stdout.write(f"{counts[is_whole]} {what} left out:")
            listed = [each for each in report.left_out if each.is_whole is is_whole]
            shown = listed if whole else listed[:SHOWN_LEFT_OUT]
            for each in shown:
                self.stdout.write(f"  {in_english(each.fact)}")
            if more := counts[is_whole] - len(shown):
                self.stdout.write(f"  and {more} more" + ("" if whole else " (-v 2 lists them)"))

    def _say_gold(self, outcome: chats.Outcome, options: dict[str, Any]) -> None:
        release = outcome.release
        if options["dry_run"]:
            self.stdout.write(f"Gold: {release or 'unchanged'} (dry run: not stored)")
        elif release:
            self.stdout.write(f"Gold: {release} was frozen, sha256 {release.sha256}")
            for waiver in release.waivers:
                self.stdout.write(waiver_line(waiver))
        else:
            self.stdout.write("Gold: unchanged")


def _project_of(format: str) -> str:
    """Published chats are a dataset with its own name."""
    if format in CHAT_FORMATS:
        return format
    raise CommandError("Say which project they belong to: --project SLUG.")


def _opened(paths: list[Path]) -> Iterator[tuple[str, BinaryIO]]:
    """Each file while it is read; how far that is shows on a terminal."""
    sizes = [path.stat().st_size for path in paths]  # reports a missing file immediately
    hidden = not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), disable=hidden, transient=True) as progress:
        task = progress.add_task("Reading", total=sum(sizes))
        for path in paths:
            with path.open("rb") as file:
                yield path.name, progress.wrap_file(file, task_id=task)
