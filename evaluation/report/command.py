"""The command that carries out a run again, as far as a command can say it."""

from __future__ import annotations

import shlex

import yaml

from evaluation.models import OPEN, Run
from evaluation.services.judging import answers
from evaluation.services.launch import predictions
from pipelines.chat.endpoint import DEFAULT

SPLITS = {
    "": "--with-test",
    OPEN: "--without-test",
    **{name: f"--{name}-only" for name in ("train", "dev", "test")},
}
OPTIONS_FILE = "options.yaml"


def to_repeat(run: Run) -> str:
    """On a server with the same gold, code and model.

    Next to it are the files of ``options_of`` and ``prompts_of``.

    Outputs of another run are carried over from it again, so that run has to be there, too.
    """
    spec = run.spec
    if spec.carried:
        gold = f"{spec.gold.name}@{spec.gold.version}"
        words = ["assay", "steer_run", "carry", str(spec.carried.run), "--gold", gold]
        return shlex.join([*words, *(["--reason", run.reason] if run.reason else [])])
    words = ["assay", "evaluate", "--gold", f"{spec.gold.name}@{spec.gold.version}"]
    if run.pipeline == predictions.NAME:
        words += ["--predictions", spec.predictions.file if spec.predictions else ""]
    else:
        words += ["--pipeline", run.pipeline]
    if run.split or run.look_id:
        words.append(SPLITS[run.split])
    if options_of(run):
        words += ["--config", OPTIONS_FILE]
    if run.repetitions > 1:
        words += ["--repetitions", str(run.repetitions)]
    if spec.size:
        words += ["--size", str(spec.size)]
    words += ["--seed", str(run.seed)]
    if spec.asks_for_answers:
        words.append("--evaluate-answers")
        for kind in sorted(answers.judge_prompts_of(run)):
            words += ["--judge-prompt", f"{kind}={_prompt_file(kind)}"]
    named = {"--model": run.spec.model_name, "--reason": run.reason}
    for option, value in named.items():
        words += [option, value] if value not in ("", DEFAULT) else []
    return shlex.join(words)


def prompts_of(run: Run) -> dict[str, str]:
    """The judge's prompts that were edited for the launch, by the file that the command names."""
    edited = sorted(answers.judge_prompts_of(run).items())
    return {_prompt_file(kind): text for kind, text in edited}


def _prompt_file(kind: str) -> str:
    return f"judge-{kind}.txt"


def options_of(run: Run) -> str:
    """The settings of pipeline and metrics as the YAML that ``--config`` reads."""
    if run.spec.carried:
        return ""
    settings = run.spec.metrics_config
    options = {**run.config, **({"metrics": settings} if settings else {})}
    return yaml.safe_dump(options, allow_unicode=True, sort_keys=True) if options else ""
