"""``assay evaluate``: measure a pipeline here and now, with a progress bar."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.management import foreground, summary
from evaluation.management.base import (
    RunCommand,
    add_model,
    add_prompt,
    budget_in,
    problem,
    read_prompts,
    read_settings,
    settings_in,
)
from evaluation.models import EVERY, OPEN, Run
from evaluation.report.content import Report
from evaluation.report.reading import FORMS
from evaluation.services import looks
from evaluation.services.language_models import bills
from evaluation.services.launch import batches, config_files, launch, measuring
from evaluation.services.launch.config_files import FORMATS
from evaluation.services.launch.launch import LAUNCHED, LaunchRefused, LaunchRequest
from evaluation.services.launch.predictions import Source, from_file
from evaluation.services.run import gates, planning, results
from evaluation.services.work import slots, steering
from labeling.core import acting
from labeling.exchange import building
from labeling.gold import gold
from labeling.models import Conversation, GoldRelease
from labeling.schema.layers import published_as
from labeling.words import in_english

GATE_FAILED = 1


class Command(RunCommand):
    help = (
        "Measure a pipeline, or predictions made elsewhere, against a frozen gold release, in the "
        "foreground. Exit status: 0 measured, 1 a threshold of the configuration file was missed, "
        "2 not measurable. A run that was stopped goes on with --resume."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        _add_what(parser)
        _add_how(parser)
        parser.add_argument(
            "--output-dir",
            type=Path,
            help="write results.json, cases.csv and predictions.jsonl here",
        )
        parser.add_argument(
            "--resume", type=int, nargs="+", metavar="RUN", help="continue stopped runs"
        )

    def handle(self, **options: Any) -> None:
        try:
            file = _configuration(options)
            folder = _folder(options, file)
            asked = batches.requests(file) if file else []
            if options["estimate"]:
                self._estimate(options, asked)
                return
            at_once = options["concurrency"]
            wanted = [replace(each.request, concurrency=at_once) for each in asked]
            started = [launch.launch(request, queue=False) for request in wanted]
            started = started or self._started(options)
            # runs of this command line were asked for the reason when it launched them
            others = [
                run
                for run in (started if options["resume"] else [])
                if run.scored_at or (run.requested_by and not acting.is_console(run.requested_by))
            ]
            self.state_results(others, options["reason"])
            self.work([run.pk for run in started])
        except LaunchRefused as error:
            faults = (f"{_option(each.field)}: {in_english(each.fact)}" for each in error.faults)
            raise self.problem(" ".join(faults)) from error
        done = [foreground.reload(run.pk) for run in started]
        self._report(done, asked, folder, file.content.reporting.formats if file else [*FORMATS])
        self._judge(done)

    def _estimate(self, options: dict[str, Any], asked: Sequence[batches.Asked]) -> None:
        """What each run would probably cost, and the smallest difference that it could show."""
        named = [(each.name, each.request) for each in asked]
        for name, request in named or [("", _request(options))]:
            left_out = looks.left_out(request.release, request.selection)
            lines = [
                bills.estimate(launch.estimate(request)),
                *planning.said(request.release, split=request.selection, size=request.size),
                *([in_english(left_out)] if left_out else []),
            ]
            for line in lines:
                self.stdout.write(f"{name}: {line}" if name else line)

    def _started(self, options: dict[str, Any]) -> list[Run]:
        if options["resume"]:
            return [self._resumed(number, options) for number in options["resume"]]
        if options["predictions"]:
            with options["predictions"].open("rb") as file:
                source = from_file(file, options["predictions"].name)
                return [launch.launch(_request(options, source), queue=False)]
        return [launch.launch(_request(options), queue=False)]

    def _resumed(self, number: int, options: dict[str, Any]) -> Run:
        budget = budget_in(options)
        run = self.run_numbered(number)
        slots.keep_for_command([run.pk])
        if run.scored_at is None and (
            run.paused or any(each is not None for each in budget.values())
        ):
            steering.resume(run, by=acting.person(), **budget)
        return run

    def _report(
        self,
        done: Sequence[Run],
        asked: Sequence[batches.Asked],
        folder: Path | None,
        formats: Sequence[str],
    ) -> None:
        """Of a configuration file all runs in one table."""
        names = [each.name for each in asked] or [f"run-{run.pk}" for run in done]
        if asked:
            self.print(summary.batch_table(zip(asked, done, strict=True)))
        for run, name in zip(done, names, strict=True):
            if not asked:
                self.print(*summary.summary_tables(run))
                for line in [*summary.notes(run), *results.ids_report(run)]:
                    self.stdout.write(line)
            self._say_more(run)
            if folder:
                self._write(run, folder / name if asked or done[1:] else folder, formats)

    def _say_more(self, run: Run) -> None:
        if left_out := looks.left_out(run.release, run.split):
            self.stdout.write(in_english(left_out))
        if run.spec.model:
            self.stdout.write(summary.usage_line(run))
        if synthetic := results.synthetic_cases(run):
            self.stdout.write(f"{synthetic} of {run.cases.count()} cases are synthetic.")

    def _write(self, run: Run, folder: Path, formats: Sequence[str]) -> None:
        """A file of predictions has each case once: every further repetition has its own."""
        if run.scored_at is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        for name in formats:
            for number in range(1, 1 + (run.repetitions if name == "predictions" else 1)):
                path = folder / FORMATS[name]
                own = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
                with building.whole(own) as file:
                    file.writelines(FORMS[name].text(Report(run, repetition=number)))
        written = ", ".join(str(folder / FORMATS[name]) for name in formats)
        self.stdout.write(f"Wrote {written}.")

    def _judge(self, done: Sequence[Run]) -> None:
        """The exit status: of what cannot be measured nothing can be said."""
        problems = [why for run in done if (why := foreground.why_not_measurable(run))]
        if problems:
            raise self.problem(" ".join(problems))
        failures = [failure for run in done if run.spec.thresholds for failure in self._gate(run)]
        if failures:
            raise CommandError(" ".join(failures), returncode=GATE_FAILED)

    def _gate(self, run: Run) -> list[str]:
        """Every check that a run fails, for runs whose configuration file has thresholds."""
        result = gates.ask(run)
        if result.passed:
            self.stdout.write(f"Run {run.pk} passed the gate.")
        failed = (check for check in gates.as_json(result)["checks"] if not check["passed"])
        reasons = (f"{check['metric']} ({check['reason']})" for check in failed)
        return [] if result.passed else [f"Run {run.pk} failed the gate: {', '.join(reasons)}."]


OPTIONS = {
    "release": "gold",
    **{name: name for name in ("pipeline", "split", "reason", "size", "repetitions", "seed")},
    **{name: name for name in ("name", "evaluate_answers", "model", "concurrency")},
    "budget_cost": "budget",
    "budget_tokens": "budget_tokens",
    "metrics": "config",
    "judge_prompts": "judge_prompt",
}
"""By field of a request what it is called here."""
OF_COMMAND = ("mode", "arc_cases", "judge_prompt")
PLAIN = [name for name in OPTIONS if name not in ("release", "metrics", "judge_prompts")]


def _add_what(parser: ArgumentParser) -> None:
    """What is measured, on which gold."""
    parser.add_argument("--gold", metavar="RELEASE", help="name (newest) or name@version")
    parser.add_argument("--pipeline", metavar="NAME")
    parser.add_argument(
        "--predictions",
        type=Path,
        metavar="FILE.jsonl",
        help='lines {"case_id", "output"}: no pipeline is run',
    )
    splits, names = parser.add_mutually_exclusive_group(), Conversation.Split.values
    for option, split, said in (
        *((f"--{name}-only", name, f"only items of the {name} split") for name in names),
        ("--without-test", OPEN, "every item that is not a test item (the default)"),
        ("--with-test", EVERY, "every item, test items too"),
    ):
        splits.add_argument(
            option, dest="split", action="store_const", const=split, default="", help=said
        )
    parser.add_argument(
        "--reason", default="", help="why test items are looked at: needed where the run has any"
    )


def _add_how(parser: ArgumentParser) -> None:
    """How often, with which settings, and for how much."""
    parser.add_argument("--repetitions", type=int, default=LAUNCHED["repetitions"], metavar="N")
    parser.add_argument("--size", type=int, metavar="N", help="only the first N items")
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE.yaml",
        help="alone: a configuration file, which names data sets and agents; with --pipeline: "
        "its settings and, under metrics, those of the metrics",
    )
    parser.add_argument(
        "--mode", choices=["oneshot", "agent"], help="the setting “mode” of the pipeline"
    )
    parser.add_argument(
        "--arc-cases",
        action="store_true",
        help="measure on the gold of arcs in the project of the release",
    )
    parser.add_argument(
        "--evaluate-answers",
        action="store_true",
        help="have a language model answer from the returned messages, and judge the answers",
    )
    add_prompt(parser, "--judge-prompt", "with --evaluate-answers: ")
    parser.add_argument(
        "--seed",
        type=int,
        default=LAUNCHED["seed"],
        help="kept with the run; no interval is drawn at random (default: 0)",
    )
    parser.add_argument("--name", default="", help="what is tried, for the experiments log")
    parser.add_argument(
        "--concurrency",
        type=int,
        metavar="N",
        help="cases at a time, where a language model is asked (default: what its entry allows)",
    )
    add_model(parser)
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="only say what it would probably cost, and which differences it could show",
    )


def _configuration(options: dict[str, Any]) -> config_files.ConfigFile | None:
    """The configuration file; next to a pipeline or predictions a file only holds settings."""
    what = ("gold", "pipeline", "predictions", "resume")
    if options["config"] is None or any(options[name] for name in what):
        return None
    said_elsewhere = {OPTIONS[field]: LAUNCHED[field] for field in PLAIN if field != "concurrency"}
    for name, default in {**said_elsewhere, **dict.fromkeys(OF_COMMAND)}.items():
        if options[name] and options[name] != default:
            named = "*-only, --with-test or --without-test" if name == "split" else name
            said = named.replace("_", "-")
            raise problem(f"Leave out --{said}: a configuration file says that itself.")
    return config_files.read(options["config"])


def _folder(options: dict[str, Any], file: config_files.ConfigFile | None) -> Path | None:
    """Where the results are written; created before anything runs, so that no result is lost."""
    folder: Path | None = options["output_dir"]
    if folder is None and file and file.content.reporting.output_dir:
        folder = Path(file.content.reporting.output_dir)
    if folder and not options["estimate"]:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _request(options: dict[str, Any], source: Source | None = None) -> LaunchRequest:
    if not options["gold"] or not (options["pipeline"] or source):
        raise problem("Name --gold and --pipeline or --predictions (or --resume).")
    config, metrics = _settings(options)
    plain = {name: options[OPTIONS[name]] for name in PLAIN}
    return LaunchRequest(
        release=_release(options),
        config=config,
        predictions=source,
        metrics=metrics,
        judge_prompts=read_prompts(options["judge_prompt"]),
        **plain | {"pipeline": options["pipeline"] or ""},
    )


def _option(field: str) -> str:
    name = field.partition(".")[0]
    return "--*-only" if name == "split" else f"--{OPTIONS.get(name, name).replace('_', '-')}"


def _settings(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the pipeline, and those of the metrics."""
    settings = read_settings(options["config"])
    metrics = settings_in(settings, "metrics")
    measuring.check_version("protocol", settings_in(settings, "protocol").get("version"))
    if {"datasets", "agents"} & set(settings):
        raise problem(f"{options['config']} names data sets and agents: give --config alone.")
    if options["mode"]:
        settings["mode"] = options["mode"]
    return settings, metrics


def _release(options: dict[str, Any]) -> GoldRelease:
    named = gold.find(options["gold"])
    arc_layers = published_as("arc cases")
    if not options["arc_cases"] or named.layer in arc_layers:
        return named
    arcs = GoldRelease.objects.filter(project=named.project, layer__in=arc_layers)
    names = sorted(set(arcs.values_list("name", flat=True)))
    if len(names) == 1:
        return gold.find(names[0], among=arcs.select_related("project"))
    raise problem(
        f"{named.project} has several golds of arcs: name one by --gold: {', '.join(names)}."
        if names
        else f"{named.project} has no gold of arcs: freeze or import some."
    )
