"""The runs that a configuration file asks for: none is launched if one has a fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.metrics.registry import metrics_in
from evaluation.services.launch import launch as launching
from evaluation.services.launch import measuring, thresholds
from evaluation.services.launch.config_files import ConfigFile, ConfigRefused, Place, nearest
from evaluation.services.launch.launch import FieldFault, LaunchRequest
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold import gold
from labeling.models import GoldRelease
from pipelines.errors import PipelineError
from pipelines.registry import entry_for

Releases = Mapping[str, GoldRelease]


class Asked(NamedTuple):
    """One run that the file asks for."""

    dataset: str
    agent: str
    request: LaunchRequest
    shown: list[str]
    """The metrics that the file wants to see."""

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.agent}"


def requests(file: ConfigFile) -> list[Asked]:
    """In the order of the file, each data set with each of its agents; none has a fault."""
    releases = {name: _release(file, name) for name in file.content.datasets}
    answered = any(agent.evaluate_answers for agent in file.content.agents.values())
    known = {name: _metrics_of(each.layer, answered=answered) for name, each in releases.items()}
    _check_versions(file)
    _check_metrics(file, releases, known)
    _check_thresholds(file, {metric for metrics in known.values() for metric in metrics})
    asked = [
        _asked(file, dataset, agent, releases[dataset]) for dataset, agent in _pairs(file, releases)
    ]
    for entry in asked:
        if faults := launching.check(entry.request):  # each is told with the line of its field
            placed = [file.at(fault.fact, *_place_of(fault, entry)) for fault in faults]
            raise ConfigRefused(Fact("config.faults", faults=placed), faults=faults)
    return asked


def _release(file: ConfigFile, dataset: str) -> GoldRelease:
    try:
        return gold.find(file.content.datasets[dataset].gold)
    except RuleError as error:
        raise file.refusal(error.fact, "datasets", dataset, "gold") from error


def _metrics_of(layer: str, *, answered: bool) -> list[str]:
    return [metric.id for metric in metrics_in(layer, answered=answered)]


def _pairs(file: ConfigFile, releases: Releases) -> list[tuple[str, str]]:
    wanted = {name: _datasets_of(file, name, releases) for name in file.content.agents}
    measured = {dataset for names in wanted.values() for dataset in names}
    for dataset in releases:
        if dataset not in measured:
            why = Fact("config.dataset_of_no_agent", dataset=dataset, layer=releases[dataset].layer)
            raise file.refusal(why, "datasets", dataset)
    return [
        (dataset, agent) for dataset in releases for agent in wanted if dataset in wanted[agent]
    ]


def _datasets_of(file: ConfigFile, name: str, releases: Releases) -> list[str]:
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


def _check_metrics(
    file: ConfigFile, releases: Releases, known: Mapping[str, Collection[str]]
) -> None:
    """Lists belong to a data set; everything else is a setting of the event metrics."""
    for name, names in file.content.listed.items():
        if name not in releases:
            raise _no_dataset(file, name, releases, "metrics", name)
        for number, metric in enumerate(names):
            if metric not in known[name]:
                hint = nearest(str(metric), known[name])
                fault = Fact("config.unknown_metric", dataset=name, metric=str(metric), hint=hint)
                raise file.refusal(fault, "metrics", name, number)
    options = file.content.options
    for name in options.keys() & releases.keys():
        raise file.refusal(Fact("config.metrics_not_listed", dataset=name), "metrics", name)
    if options and not any(gold_layer(each.layer).has_options for each in releases.values()):
        name = next(iter(options))
        raise _no_dataset(file, name, releases, "metrics", name)


def _no_dataset(
    file: ConfigFile, name: str, releases: Releases, *place: str | int
) -> ConfigRefused:
    hint = nearest(name, releases)
    return file.refusal(Fact("config.unknown_dataset", dataset=name, hint=hint), *place)


def _check_thresholds(file: ConfigFile, known: Collection[str]) -> None:
    for name, value in file.content.thresholds.items():
        if name not in known:
            hint = nearest(name, sorted(known))
            fault = Fact("config.unknown_threshold", metric=name, hint=hint)
            raise file.refusal(fault, "thresholds", name)
        try:
            thresholds.check(name, value)
        except thresholds.ThresholdRefused as error:
            raise file.refusal(error.fact, "thresholds", name) from error


def _asked(file: ConfigFile, dataset: str, agent: str, release: GoldRelease) -> Asked:
    """Of a floor no threshold is asked: it only shows what the others are worth."""
    content, layer = file.content, gold_layer(release.layer)
    data, by = content.datasets[dataset], content.agents[agent]
    own = _metrics_of(release.layer, answered=by.evaluate_answers)
    limits = {} if entry_for(by.pipeline).floor else content.thresholds
    request = LaunchRequest(
        release=release,
        config=by.settings,
        budget_cost=by.budget,
        **{name: getattr(data, name) for name in ("split", "reason", "size")},
        **{name: getattr(by, name) for name in OF_AGENT},
        **{name: getattr(content, name) for name in ("seed", "name")},
        metrics=content.options if layer.has_options else {},
        thresholds={name: value for name, value in limits.items() if name in own},
        configuration=file.described | {"dataset": dataset, "agent": agent},
    )
    return Asked(dataset, agent, request, content.listed.get(dataset) or list(layer.headline))


OF_AGENT = (
    *("pipeline", "repetitions", "evaluate_answers", "judge_prompts", "model", "budget_tokens"),
)


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
