"""What is needed to repeat a run, written down when it is launched.

Only what is named here is recorded. Never the environment: it holds keys and passwords.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

from django.conf import settings

from evaluation import adapters
from evaluation.metrics.registry import METRICS, METRICS_VERSION, PROTOCOL_VERSION, metrics_in
from evaluation.models import Run, RunSpec
from evaluation.services.launch import thresholds
from labeling.agreement.matching.similarity import MINILM_ID
from labeling.domain.canonical import canonical_json
from pipelines import prompting
from pipelines.registry import PIPELINES

PACKAGES = (
    "django",
    "langgraph",
    "numpy",
    "openai",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "torch",
    "transformers",
)


def sha256_of(document: Any) -> str:
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()


def describe(run: Run, measured: Mapping[str, Any], asked: Mapping[str, Any]) -> RunSpec:
    """``measured`` is what ``measuring`` says of the metrics, ``asked`` what the launch adds."""
    release = run.release
    gold = {
        "gold": {"name": release.name, "version": release.version, "sha256": release.sha256},
        "split": run.split,
        **measures(release.layer, answered=False),
        **measured,
        "ruler": MINILM_ID,
        "matching": {
            "threshold": release.project.match_threshold,
            "synonyms": adapters.synonyms_of(release.project),
        },
        "gate": thresholds.describe(release),
    }
    return describe_unmeasured(run, release.layer, {**gold, **asked})


def describe_unmeasured(run: Run, layer: str, asked: Mapping[str, Any]) -> RunSpec:
    """The same without gold."""
    described = {
        "layer": layer,
        "pipeline": run.pipeline,
        "config": run.config,
        "config_sha256": sha256_of(run.config),
        **_source_of(run.pipeline),
        "prompts": prompts_of(run.pipeline, run.config),
        "seed": run.seed,
        "git": _git(),
        "python": platform.python_version(),
        "packages": _packages(),
        **asked,
    }
    return RunSpec.model_validate(described)


def prompts_asked(run: Run) -> list[tuple[str, str]]:
    """The prompts that the run may have asked by, with their texts; empty: it has changed since."""
    entry = PIPELINES.get(run.pipeline)
    folder = entry.prompts if entry else None
    now = prompting.hashes(folder) if folder else {}
    return [
        (name, (folder / f"{name}.md").read_text(encoding="utf-8"))
        if folder and now.get(name) == sha256
        else (name, "")
        for name, sha256 in run.spec.prompts.items()
    ]


def prompts_of(pipeline: str, config: Mapping[str, Any]) -> dict[str, str]:
    """The SHA-256 of every prompt that may be asked; none where no model is."""
    entry = PIPELINES.get(pipeline)
    if entry is None or entry.prompts is None or not entry.asks_model(config):
        return {}
    return prompting.hashes(entry.prompts)


def _source_of(pipeline: str) -> dict[str, Any]:
    """The package that the pipeline came from, if from any."""
    source = PIPELINES.source_of(pipeline)
    return {"pipeline_source": source._asdict()} if source else {}


def measures(layer: str, *, answered: bool) -> dict[str, Any]:
    """The metrics in force. Scoring writes them again: it may come long after the launch."""
    metrics = metrics_in(layer, answered=answered)
    sources = {metric.id: METRICS.source_of(metric.id) for metric in metrics}
    return {
        "metrics_version": METRICS_VERSION,
        "protocol_version": PROTOCOL_VERSION,
        "metrics": {metric.id: metric.version for metric in metrics},
        "metric_sources": {name: source._asdict() for name, source in sources.items() if source},
    }


@cache
def _packages() -> dict[str, str | None]:
    return {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@cache
def _git() -> dict[str, Any] | None:
    """The commit and whether files differ from it, or None for an installed package.

    Asked once: what counts is the code that this process loaded. Only Assay's repository is
    asked, and not one that happens to contain the environment of an installed package.
    """
    if not (settings.BASE_DIR / ".git").exists():
        return None
    commit = _ask_git("rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _ask_git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": changed != ""}


def _ask_git(*arguments: str) -> str | None:
    command = ["git", "-C", str(settings.BASE_DIR), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
