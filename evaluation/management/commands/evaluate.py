"""``manage.py evaluate``: measure a pipeline here and now, with a progress bar."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from evaluation.management.settings import read_settings, settings_in
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.services import bills, budgets, execution, predictions, results, runs
from labeling.domain.errors import RuleError
from labeling.services import gold

NOT_MEASURABLE = 2  # exit status; 1 is kept for a gate that failed
WAIT_SECONDS = 1.0  # for cases that another worker holds, or that wait for another attempt
OPEN = {Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.SCORING}


class Command(BaseCommand):
    help = (
        "Measure a pipeline, or predictions made elsewhere, against a frozen gold release, in the "
        "foreground. Exit status: 0 measured, 2 not measurable. A run that was stopped goes on "
        "with --resume."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--gold", metavar="RELEASE", help="name (newest) or name@version")
        parser.add_argument("--pipeline", metavar="NAME")
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FILE.jsonl",
            help='lines {"case_id", "output"}: no pipeline is run',
        )
        splits = parser.add_mutually_exclusive_group()
        for split in ("train", "dev", "test"):
            splits.add_argument(
                f"--{split}-only",
                dest="split",
                action="store_const",
                const=split,
                default="",
                help=f"only items of the {split} split",
            )
        parser.add_argument("--reason", default="", help="why the test split is looked at")
        parser.add_argument("--repetitions", type=int, default=1, metavar="N")
        parser.add_argument(
            "--config",
            type=Path,
            metavar="FILE.yaml",
            help="settings of the pipeline and, under metrics, of the metrics",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the intervals (default: 0)")
        parser.add_argument("--name", default="", help="what is tried, for the experiments log")
        parser.add_argument(
            "--budget", type=float, metavar="MONEY", help="what language models may cost"
        )
        parser.add_argument(
            "--budget-tokens", type=int, metavar="N", help="tokens that language models may use"
        )
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would probably cost"
        )
        parser.add_argument("--output-dir", type=Path, help="write results.json and cases.csv here")
        parser.add_argument("--resume", type=int, metavar="RUN", help="go on with a stopped run")
        parser.add_argument("--verbose", action="store_true", help="print every case")

    def handle(self, **options: Any) -> None:
        folder: Path | None = options["output_dir"]
        try:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
            if options["estimate"]:
                self.stdout.write(bills.estimate(runs.estimate(**_what(options))))
                return
            run = _started(options)
            self._work(run.pk)
        except RuleError as error:
            raise CommandError(error.message, returncode=NOT_MEASURABLE) from error
        except OSError as error:
            raise CommandError(_file_problem(error), returncode=NOT_MEASURABLE) from error
        self._report(_reload(run.pk), folder, verbose=options["verbose"])

    def _work(self, run_id: int) -> None:
        try:
            with _progress_bar(run_id) as show:
                _work_until_done(run_id, show)
        except KeyboardInterrupt:
            runs.pause(Run.objects.select_related("release__project").get(pk=run_id), by=None)
            message = f"Stopped. Go on with: manage.py evaluate --resume {run_id}"
            raise CommandError(message, returncode=130) from None

    def _report(self, run: Run, folder: Path | None, *, verbose: bool) -> None:
        if verbose:
            for case in results.cases_with_scores(run):
                self.stdout.write(_case_line(case))
        self.stdout.write(_rendered(_summary_table(run)))
        for line in results.ids_report(run):
            self.stdout.write(line)
        if run.spec.get("model"):
            self.stdout.write(_usage_line(run))
        if folder:
            _write(run, folder)
            self.stdout.write(f"Wrote {folder / 'results.json'} and {folder / 'cases.csv'}.")
        problem = _why_not_measurable(run)
        if problem:
            raise CommandError(problem, returncode=NOT_MEASURABLE)


def _started(options: dict[str, Any]) -> Run:
    if options["resume"]:
        return _resumed(options)
    return _on_predictions(options) if options["predictions"] else _launched(options)


def _launched(options: dict[str, Any]) -> Run:
    return runs.launch(
        **_what(options),
        metrics=_settings(options)[1],
        reason=options["reason"],
        budget_cost=options["budget"],
        budget_tokens=options["budget_tokens"],
        seed=options["seed"],
        name=options["name"],
        queue=False,
    )


def _what(options: dict[str, Any]) -> dict[str, Any]:
    if not options["gold"] or not options["pipeline"]:
        raise CommandError(
            "Name --gold and --pipeline or --predictions (or --resume).",
            returncode=NOT_MEASURABLE,
        )
    return {
        "release": gold.find(options["gold"]),
        "pipeline": options["pipeline"],
        "config": _settings(options)[0],
        "split": options["split"],
        "repetitions": options["repetitions"],
    }


def _settings(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the pipeline, and those of the metrics."""
    settings = read_settings(options["config"])
    metrics = settings_in(settings, "metrics")
    return settings, metrics


def _on_predictions(options: dict[str, Any]) -> Run:
    path: Path = options["predictions"]
    config, metrics = _settings(options)
    if not options["gold"]:
        raise CommandError("Name --gold too.", returncode=NOT_MEASURABLE)
    if options["pipeline"] or options["repetitions"] != 1 or config:
        raise CommandError(
            "With --predictions no pipeline is run: leave out --pipeline, --repetitions and "
            "settings of a pipeline.",
            returncode=NOT_MEASURABLE,
        )
    release = gold.find(options["gold"])
    with path.open("rb") as file:
        return predictions.launch(
            release,
            predictions.from_file(file, path.name),
            metrics=metrics,
            split=options["split"],
            reason=options["reason"],
            seed=options["seed"],
            name=options["name"],
            queue=False,
        )


def _resumed(options: dict[str, Any]) -> Run:
    run_id, budget = options["resume"], (options["budget"], options["budget_tokens"])
    run = Run.objects.select_related("release__project").filter(pk=run_id).first()
    if run is None:
        raise CommandError(f"There is no run {run_id}.", returncode=NOT_MEASURABLE)
    if run.scored_at is None and (run.paused or any(one is not None for one in budget)):
        runs.resume(run, by=None, budget_cost=budget[0], budget_tokens=budget[1])
    return run


def _work_until_done(run_id: int, show: Callable[[], None]) -> None:
    while True:
        execution.work(run_id, uuid4(), progress=show)
        if _reload(run_id).status not in OPEN:
            return
        time.sleep(WAIT_SECONDS)


class _progress_bar:
    """Shows the rows' own counts, so that cases done by other workers count too."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )

    def __enter__(self) -> Callable[[], None]:
        self._bar.start()
        self._task = self._bar.add_task(f"Run {self._run_id}", total=None)
        self._show()
        return self._show

    def __exit__(self, *problem: object) -> None:
        self._bar.stop()

    def _show(self) -> None:
        run: Any = _reload(self._run_id)
        self._bar.update(self._task, total=run.n_cases, completed=run.n_done + run.n_failed)


def _reload(run_id: int) -> Run:
    return Run.objects.with_progress().select_related("release").get(pk=run_id)


def _summary_table(run: Run) -> Table:
    counts: Any = run
    title = f"Run {run.pk}: {run.pipeline} on {run.release}, {counts.n_cases} cases"
    table = Table(title=title)
    table.add_column("metric")
    for name in ("mean", "median", "std", "95 % interval", "n", "undefined", "failed"):
        table.add_column(name, justify="right")
    for row in results.aggregates_of(run):
        arrow = "↑" if METRICS[row.metric].direction == "higher" else "↓"
        figures = [_figure(value) for value in (row.mean, row.median, row.std)]
        counted = [str(value) for value in (row.n, row.n_undefined, row.n_failed)]
        table.add_row(f"{row.metric} {arrow}", *figures, _interval(row), *counted)
    return table


def _interval(row: Aggregate) -> str:
    if row.ci_low is None or row.ci_high is None:
        return "–"
    return f"{row.ci_low:.3f} – {row.ci_high:.3f}"


def _usage_line(run: Run) -> str:
    told = "; ".join(f"{name.lower()} {text}" for name, text in bills.usage(budgets.spent(run.pk)))
    return f"Model {run.spec['model']['id']}: {told}."


def _how_to_go_on(run: Run) -> str:
    option = ""
    if run.budget_tokens is not None:
        option = " --budget-tokens N"
    if run.budget_cost is not None:
        option = " --budget MONEY"
    return f"manage.py evaluate --resume {run.pk}{option}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _rendered(table: Table) -> str:
    console = Console(width=110, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _case_line(case: Any) -> str:
    f1 = next((score.value for score in case.scores.all() if score.metric.endswith("_f1")), None)
    said = f"failed: {case.error}" if case.error else f"F1 {_figure(f1)}"
    return f"{case.case_id} #{case.repetition}: {said}"


def _write(run: Run, folder: Path) -> None:
    document = results.results_document(run)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "cases.csv").open("w", encoding="utf-8", newline="") as file:
        file.writelines(results.case_table(run))


def _why_not_measurable(run: Run) -> str:
    counts: Any = run
    if run.failure:
        return run.failure
    if run.status == Run.Status.PAUSED and run.pause_reason:
        return f"Run {run.pk} is paused. {run.pause_reason} Go on with: {_how_to_go_on(run)}"
    if run.status != Run.Status.FINISHED:
        return f"Run {run.pk} is {run.status}; go on with: manage.py evaluate --resume {run.pk}"
    if counts.n_done == 0:
        case = run.cases.only("error").first()
        return f"The pipeline failed on every case. {case.error if case else ''}"
    return ""


def _file_problem(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}." if error.filename else str(error)
