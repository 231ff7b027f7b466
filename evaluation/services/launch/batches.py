"""The runs that a configuration file asks for: none is launched if one has a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.metrics.registry import metrics_in
from evaluation.models import Run
from evaluation.services.launch import launch as launching
from evaluation.services.launch import measuring, thresholds
from evaluation.services.launch.config_files import (
    Agent,
    ConfigFile,
    ConfigRefused,
    Place,
    nearest,
)
from evaluation.services.launch.launch import FieldFault, LaunchRequest
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import gold
from labeling.models import GoldRelease
from pipelines.errors import PipelineError
from pipelines.registry import entry_for


class Launched(NamedTuple):
    dataset: str
    agent: str
    run: Run
    shown: list[str]
    """The metrics that the file wants to see."""

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.agent}"


class Asked(NamedTuple):
    """One run that the file asks for."""

    dataset: str
    agent: str
    request: LaunchRequest

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.agent}"


def requests(file: ConfigFile) -> list[Asked]:
    """In the order of the file, each data set with each of its agents; none has a fault."""
    releases = {name: _release(file, name) for name in file.content.datasets}
    _check_versions(file)
    _check_metrics(file, releases)
    _check_thresholds(file, releases)
    asked = [
        Asked(dataset, agent, _request(file, dataset, agent, releases[dataset]))
        for dataset, agent in _pairs(file, releases)
    ]
    for entry in asked:
        if faults := launching.check(entry.request):
            raise _refusal(file, entry, faults)
    return asked


def launch(file: ConfigFile) -> list[Launched]:
    """All of its runs, one after the other, so that others can write in between; nobody works on
    them yet."""
    return [_launched(file, entry) for entry in requests(file)]


def _release(file: ConfigFile, dataset: str) -> GoldRelease:
    try:
        return gold.find(file.content.datasets[dataset].gold)
    except RuleError as error:
        raise file.refusal(error.fact, "datasets", dataset, "gold") from error


def _pairs(file: ConfigFile, releases: dict[str, GoldRelease]) -> list[tuple[str, str]]:
    wanted = {name: _datasets_of(file, name, releases) for name in file.content.agents}
    measured = {dataset for names in wanted.values() for dataset in names}
    for dataset in releases:
        if dataset not in measured:
            why = Fact("config.dataset_of_no_agent", dataset=dataset, layer=releases[dataset].layer)
            raise file.refusal(why, "datasets", dataset)
    return [
        (dataset, agent) for dataset in releases for agent in wanted if dataset in wanted[agent]
    ]


def _datasets_of(file: ConfigFile, name: str, releases: dict[str, GoldRelease]) -> list[str]:
    agent = file.content.agents[name]
    try:
        layers = entry_for(agent.pipeline).layers
    except PipelineError as error:
        raise file.refusal(adapters.fact_of(error), "agents", name, "pipeline") from error
    if agent.datasets is None:
        datasets = [dataset for dataset, release in releases.items() if release.layer in layers]
        if not datasets:
            why = Fact("config.agent_of_no_dataset", pipeline=agent.pipeline)
            raise file.refusal(why, "agents", name)
        return datasets
    for number, dataset in enumerate(agent.datasets):
        if dataset not in releases:
            raise _no_dataset(file, dataset, releases, "agents", name, "datasets", number)
    return agent.datasets


def _check_versions(file: ConfigFile) -> None:
    content = file.content
    asked = {"metrics": content.metrics.get("version"), "protocol": content.protocol.version}
    for what, version in asked.items():
        try:
            measuring.check_version(what, version)
        except measuring.MetricsRefused as error:
            raise file.refusal(error.fact, what, "version") from error


def _check_metrics(file: ConfigFile, releases: dict[str, GoldRelease]) -> None:
    """Lists belong to a data set; everything else is a setting of the event metrics."""
    for name, names in _lists(file):
        if name not in releases:
            raise _no_dataset(file, name, releases, "metrics", name)
        known = _metrics_of(releases[name].layer, answered=_has_answers(file))
        for number, metric in enumerate(names):
            if metric not in known:
                hint = nearest(str(metric), known)
                fault = Fact("config.unknown_metric", dataset=name, metric=str(metric), hint=hint)
                raise file.refusal(fault, "metrics", name, number)
    for name in _options(file).keys() & releases.keys():
        raise file.refusal(Fact("config.metrics_not_listed", dataset=name), "metrics", name)
    if _options(file) and not any(
        gold_layer(release.layer).has_options for release in releases.values()
    ):
        name = next(iter(_options(file)))
        raise _no_dataset(file, name, releases, "metrics", name)


def _no_dataset(
    file: ConfigFile, name: str, releases: dict[str, GoldRelease], *place: str | int
) -> ConfigRefused:
    hint = nearest(name, list(releases))
    return file.refusal(Fact("config.unknown_dataset", dataset=name, hint=hint), *place)


def _has_answers(file: ConfigFile) -> bool:
    return any(agent.evaluate_answers for agent in file.content.agents.values())


def _metrics_of(layer: str, *, answered: bool) -> list[str]:
    return [metric.id for metric in metrics_in(layer, answered=answered)]


def _lists(file: ConfigFile) -> Iterator[tuple[str, list[str]]]:
    return (
        (name, names) for name, names in file.content.metrics.items() if isinstance(names, list)
    )


def _options(file: ConfigFile) -> dict[str, Any]:
    rest = {
        name: value for name, value in file.content.metrics.items() if not isinstance(value, list)
    }
    return {name: value for name, value in rest.items() if name != "version"}


def _check_thresholds(file: ConfigFile, releases: dict[str, GoldRelease]) -> None:
    answered = _has_answers(file)
    known = {
        name
        for release in releases.values()
        for name in _metrics_of(release.layer, answered=answered)
    }
    for name, value in file.content.thresholds.items():
        if name not in known:
            hint = nearest(name, sorted(known))
            fault = Fact("config.unknown_threshold", metric=name, hint=hint)
            raise file.refusal(fault, "thresholds", name)
        try:
            thresholds.check(name, value)
        except thresholds.ThresholdRefused as error:
            raise file.refusal(error.fact, "thresholds", name) from error


def _request(file: ConfigFile, dataset: str, agent: str, release: GoldRelease) -> LaunchRequest:
    content = file.content
    asked, by = content.datasets[dataset], content.agents[agent]
    return LaunchRequest(
        release=release,
        pipeline=by.pipeline,
        config=by.settings,
        split=asked.split,
        reason=asked.reason,
        size=asked.size,
        repetitions=by.repetitions,
        evaluate_answers=by.evaluate_answers,
        judge_prompts=by.prompts,
        model=by.model,
        budget_cost=by.budget,
        budget_tokens=by.budget_tokens,
        seed=content.seed,
        name=content.name,
        metrics=_options(file) if gold_layer(release.layer).has_options else {},
        thresholds=_thresholds_of(file, release.layer, by),
        configuration=file.described | {"dataset": dataset, "agent": agent},
    )


def _launched(file: ConfigFile, asked: Asked) -> Launched:
    run = launching.launch(asked.request, queue=False)
    names = dict(_lists(file)).get(asked.dataset)
    headline = gold_layer(asked.request.release.layer).headline
    return Launched(asked.dataset, asked.agent, run, names or list(headline))


def _refusal(file: ConfigFile, asked: Asked, faults: list[FieldFault]) -> ConfigRefused:
    """Each fault with the line that its field is in."""
    placed = [file.at(fault.fact, *_place_of(fault, asked)) for fault in faults]
    return ConfigRefused(Fact("config.faults", faults=placed), faults=faults)


def _thresholds_of(file: ConfigFile, layer: str, agent: Agent) -> dict[str, float]:
    """Of a floor nothing is asked: it only shows what the others are worth."""
    if entry_for(agent.pipeline).floor:
        return {}
    own = _metrics_of(layer, answered=agent.evaluate_answers)
    return {name: value for name, value in file.content.thresholds.items() if name in own}


def _place_of(fault: FieldFault, asked: Asked) -> Place:
    """Where in the file a field of the request is."""
    name, _, setting = fault.field.partition(".")
    if name in ("split", "size"):
        return "datasets", asked.dataset, name
    if name == "reason":
        own = ("reason",) if asked.request.reason else ("split",)  # what asks for a reason
        return "datasets", asked.dataset, *own
    if name == "release":
        return "datasets", asked.dataset, "gold"
    if name in ("seed", "name", "metrics", "thresholds"):
        return (name,)
    if name == "config":
        return "agents", asked.agent, "settings", setting
    return "agents", asked.agent, "budget" if name == "budget_cost" else name
