"""Every pipeline by name: ours and those of packages. Describing them loads no model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypedDict

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

from labeling.domain.plugins import PluginRefused, Registry
from pipelines import events, memory, requirements, trained_on
from pipelines.baselines import Everything, EverythingConfig, Nothing, NothingConfig
from pipelines.encoder import MiniLM
from pipelines.errors import Fact, InvalidSetting, NoModel, UnknownPipeline, UnknownSetting, fact
from pipelines.events.local import EventsLocal, EventsLocalConfig
from pipelines.events.model import EventsModel, EventsModelConfig
from pipelines.llm import ChatModel
from pipelines.memory.config import MemoryConfig
from pipelines.memory.pipeline import Memory
from pipelines.memory.retrieval import adapter, ranker
from pipelines.memory.retrieval.floors import BudgetConfig, LexicalFloor, Random, RandomConfig
from pipelines.memory.retrieval.pipeline import Retrieval, RetrievalConfig
from pipelines.memory.talks import RowsFor, Talks
from pipelines.requirements.agent import (
    RequirementsAgent,
    RequirementsModel,
    RequirementsModelConfig,
)
from pipelines.requirements.analyst import Analyst, LocalAnalyst
from pipelines.requirements.config import NODES, AgentConfig, asks_model, means_of
from pipelines.requirements.extraction import wanted
from pipelines.requirements.graph import Team
from pipelines.requirements.local import LocalConfig, RequirementsLocal
from pipelines.requirements.model.analyst import ModelAnalyst
from pipelines.trained_on import Exposure
from pipelines.types import Config, Encoder, Message, Pipeline, Store


class Setting(TypedDict):
    """A setting of a pipeline, for forms and documents, from its JSON Schema."""

    name: str
    label: str
    type: str | None
    default: Any
    minimum: float | None
    maximum: float | None
    choices: list[str] | None
    help: str | None


@dataclass(frozen=True, slots=True)
class Tools:
    """What the pipelines of a process share. Any of it may be missing."""

    encoder: Encoder | None = None
    """Loaded weights and cached vectors."""
    store: Store | None = None
    """Where expensive results are kept between processes."""
    rows_for: RowsFor | None = None
    """Where the built layers of a case's conversation are kept."""
    model: ChatModel | None = None


class Calls(NamedTuple):
    """How often a pipeline asks a model for one case, each time with its conversation."""

    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known about a pipeline before it is built."""

    name: str
    title: str
    summary: str
    layers: tuple[str, ...]
    config: type[BaseModel]
    make: Callable[[Any, Tools], Pipeline]
    """Gets the validated configuration and the caller's shared resources."""
    needs_model: bool = False
    may_ask: Callable[[Mapping[str, Any]], bool] = lambda config: False
    """Whether a model is asked with this full configuration, where none is needed."""
    calls: Callable[[Mapping[str, Any], str], Calls] = lambda config, layer: Calls()
    """With this full configuration on this layer."""
    prompts: Path | None = None
    """The folder of its prompts."""
    floor: bool = False
    prepares: bool = False
    """Whether it prepares a conversation before the first question about it."""
    trained_on: Callable[[Mapping[str, Any]], tuple[Path, ...]] = lambda config: ()
    """The files of weights that it uses with this full configuration; next to each is what it has
    read. Without any, every conversation is unseen."""
    suggests: bool = True
    """Whether its output has positions in the text, so that people can use it as suggestions."""

    def asks_model(self, config: Mapping[str, Any]) -> bool:
        return self.needs_model or self.may_ask(config)

    @property
    def settings(self) -> list[Setting]:
        fields = self.config.model_fields
        schema = self.config.model_json_schema()["properties"] if fields else {}
        return [
            {
                "name": name,
                "label": name.replace("_", " ").capitalize(),
                "type": schema[name].get("type"),
                "default": field.get_default(call_default_factory=True),
                "minimum": schema[name].get("minimum"),
                "maximum": schema[name].get("maximum"),
                "choices": schema[name].get("enum"),
                "help": field.description,
            }
            for name, field in fields.items()
        ]


def _requirements_agent(config: AgentConfig, tools: Tools) -> Pipeline:
    means = means_of(config.model_dump())
    local = LocalAnalyst(config, tools.encoder or MiniLM())
    analysts: dict[str, Analyst] = {"local": local}
    if "model" in means.values():
        if tools.model is None:
            raise NoModel("pipeline.node_needs_model")
        analysts["model"] = ModelAnalyst(tools.model, config)
    return RequirementsAgent(config, Team(**{node: analysts[by] for node, by in means.items()}))


def _memory(config: MemoryConfig, tools: Tools) -> Pipeline:
    encoder = tools.encoder or MiniLM()
    talks = Talks(encoder, config=config, store=tools.store, rows_for=tools.rows_for)
    return Memory(config, open_talk=talks, model=tools.model)


def _retrieval(config: RetrievalConfig, tools: Tools) -> Pipeline:
    talks = Talks(tools.encoder or MiniLM(), store=tools.store)
    return Retrieval(config, lambda case: talks(case).index)


def _calls_of_agent(config: Mapping[str, Any], layer: str) -> Calls:
    """One call for each node on the path; requirements in the input are not extracted again."""
    whole = config["whole_way"] or layer not in NODES
    way = NODES if whole else NODES[: NODES.index(layer) + 1]
    means = means_of(config)
    most = max(1, sum(means[node] == "model" for node in way))
    return Calls(most if whole else 1, most)


def _calls_of_memory(config: Mapping[str, Any], layer: str) -> Calls:
    """One reads the whole conversation; an agent looks again at one that does not fit."""
    return Calls(1, config["max_rounds"] if config["mode"] == "agent" else 1)


def _weights_of_memory(config: Mapping[str, Any]) -> tuple[Path, ...]:
    adapted = (adapter.ADAPTERS,) if config["encoder"] == "adapted" else ()
    return (*adapted, *((ranker.WEIGHTS,) if config["reranker"] == "context" else ()))


def _weights_of_agent(config: Mapping[str, Any]) -> tuple[Path, ...]:
    return (wanted.WEIGHTS,) if means_of(config)["extraction"] == "local" else ()


def _weights_of_retrieval(config: Mapping[str, Any]) -> tuple[Path, ...]:
    used = {"lexical": (), "learned": (adapter.ADAPTERS, ranker.WEIGHTS)}
    return used.get(config["mode"], (adapter.ADAPTERS,))


def _prompts_of(package: ModuleType) -> Path:
    return Path(str(package.__file__)).parent / "prompts"


REQUIREMENTS = ("extraction", "inference", "validation", "end_to_end")
MEMORY = ("qa", "arc")

_ENTRIES = (
    Entry(
        name="requirements-local",
        title="Requirements, local",
        summary="Finds requirements by wording and by who answers whom; uses no language model.",
        layers=("extraction",),
        config=LocalConfig,
        make=lambda config, tools: RequirementsLocal(config, tools.encoder or MiniLM()),
        trained_on=lambda config: (wanted.WEIGHTS,),
    ),
    Entry(
        name="requirements-agent",
        title="Requirements agent",
        summary="Extracts requirements, infers what follows, finds flaws, writes the document.",
        layers=REQUIREMENTS,
        config=AgentConfig,
        make=_requirements_agent,
        trained_on=_weights_of_agent,
        may_ask=asks_model,
        calls=_calls_of_agent,
        prompts=_prompts_of(requirements),
    ),
    Entry(
        name="requirements-model",
        title="Requirements by a language model",
        summary="Asks a language model for the requirements that a conversation states.",
        layers=("extraction",),
        config=RequirementsModelConfig,
        make=lambda config, tools: RequirementsModel(config, tools.model),
        needs_model=True,
        prompts=_prompts_of(requirements),
    ),
    Entry(
        name="memory",
        title="Conversation memory",
        summary="Finds the messages that answer a question; a language model may help.",
        layers=MEMORY,
        config=MemoryConfig,
        make=_memory,
        trained_on=_weights_of_memory,
        may_ask=lambda config: bool(config["use_model"]),
        calls=_calls_of_memory,
        prompts=_prompts_of(memory),
        prepares=True,
    ),
    Entry(
        name="retrieval",
        title="Retrieval only",
        summary="Ranks messages by words, by meaning or by both, and returns the first ones.",
        layers=MEMORY,
        config=RetrievalConfig,
        make=_retrieval,
        trained_on=_weights_of_retrieval,
        prepares=True,
    ),
    Entry(
        name="events-local",
        title="Events, local",
        summary="Finds events by word lists and patterns; uses no language model.",
        layers=("events",),
        config=EventsLocalConfig,
        make=lambda config, tools: EventsLocal(config),
    ),
    Entry(
        name="events-model",
        title="Events by a language model",
        summary="Asks a language model for events and returns its reply as it is.",
        layers=("events",),
        config=EventsModelConfig,
        make=lambda config, tools: EventsModel(config, tools.model),
        needs_model=True,
        prompts=_prompts_of(events),
        suggests=False,
    ),
    Entry(
        name="nothing",
        title="Nothing (floor)",
        summary="Never finds anything.",
        layers=(*REQUIREMENTS, *MEMORY, "events"),
        config=NothingConfig,
        make=lambda config, tools: Nothing(config),
        floor=True,
    ),
    Entry(
        name="everything",
        title="Everything (floor)",
        summary=(
            "Takes every message for a requirement and for evidence, and all that could follow."
        ),
        layers=REQUIREMENTS + MEMORY,
        config=EverythingConfig,
        make=lambda config, tools: Everything(config),
        floor=True,
    ),
    Entry(
        name="random",
        title="Random (floor)",
        summary="Draws a fixed number of messages by lot.",
        layers=MEMORY,
        config=RandomConfig,
        make=lambda config, tools: Random(config),
        floor=True,
    ),
    Entry(
        name="lexical",
        title="BM25 baseline",
        summary="Returns a fixed number of messages that share words with the question (BM25).",
        layers=MEMORY,
        config=BudgetConfig,
        make=lambda config, tools: LexicalFloor(config),
        floor=True,
    ),
)

LAYERS = frozenset(layer for entry in _ENTRIES for layer in entry.layers)
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
PREDICTIONS = "predictions"
"""What a run is called whose outputs were made elsewhere: no pipeline may have this name."""


def _check_installed(name: str, candidate: object) -> Entry:
    """What an entry point of the group ``assay.pipelines`` must lead to."""
    if not isinstance(candidate, Entry):
        raise PluginRefused("plugin.wrong_type", wanted="Entry", type=type(candidate).__name__)
    if candidate.name != name or not NAME.fullmatch(name) or name == PREDICTIONS:
        raise PluginRefused("plugin.wrong_name", name=str(candidate.name))
    for field in ("title", "summary"):
        text = getattr(candidate, field)
        if not (isinstance(text, str) and text.strip()):
            raise PluginRefused(f"plugin.no_{field}")
    layers = candidate.layers if isinstance(candidate.layers, tuple) else ()
    if not layers or not LAYERS.issuperset(layers):
        raise PluginRefused("plugin.layers", layers=repr(candidate.layers))
    if not callable(candidate.make):
        raise PluginRefused("plugin.not_callable", field="make")
    config: object = candidate.config
    if not (isinstance(config, type) and issubclass(config, BaseModel)):
        raise PluginRefused("plugin.config", config=repr(config))
    # the launch form shows each setting with its default, before anything is chosen
    for each in candidate.settings:
        if each["default"] is PydanticUndefined:
            raise PluginRefused("plugin.no_default", setting=each["name"])
    json.dumps(config().model_dump(mode="json"))
    return candidate


PIPELINES: Registry[Entry] = Registry(
    "assay.pipelines", {entry.name: entry for entry in _ENTRIES}, _check_installed
)

FLOORS = [entry.name for entry in PIPELINES.own.values() if entry.floor]
"""Trivial pipelines: what a figure is worth is seen next to theirs, and they compete with none."""


def build(
    name: str,
    config: Config,
    *,
    encoder: Encoder | None = None,
    store: Store | None = None,
    rows_for: RowsFor | None = None,
    model: ChatModel | None = None,
) -> Pipeline:
    """The pipeline ``name``; a wrong name or setting is refused, naming the closest known one."""
    entry = entry_for(name)
    return entry.make(check_config(entry, config), Tools(encoder, store, rows_for, model))


def exposure(name: str, config: Config, messages: Sequence[Message]) -> Exposure:
    """Whether the weights that this pipeline uses have read the conversation, by its words."""
    entry = entry_for(name)
    weights = entry.trained_on(check_config(entry, config).model_dump(mode="json"))
    return trained_on.exposure(weights, [message.content for message in messages])


def entry_for(name: str) -> Entry:
    if name not in PIPELINES:
        raise UnknownPipeline("pipeline.unknown", name=name, hint=_hint(name, PIPELINES))
    return PIPELINES[name]


def check_config(entry: Entry, config: Config) -> BaseModel:
    _refuse_unknown(entry, config)
    try:
        return entry.config.model_validate(config)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        setting = ".".join(str(part) for part in first["loc"])
        raise InvalidSetting(
            "pipeline.invalid_setting", pipeline=entry.name, setting=setting, said=first["msg"]
        ) from error


def _refuse_unknown(entry: Entry, config: Config) -> None:
    known, retired = entry.config.model_fields, getattr(entry.config, "RETIRED", ())
    for key in config:
        if key not in known and key not in retired:
            raise UnknownSetting(
                "pipeline.unknown_setting",
                pipeline=entry.name,
                setting=key,
                hint=_hint(key, known),
            )


def _hint(word: str, known: Iterable[str]) -> Fact:
    names = sorted(known)
    nearest = get_close_matches(str(word), names, n=1, cutoff=0.5)
    if nearest:
        return fact("hint.nearest", name=nearest[0])
    return fact("hint.known", names=names) if names else fact("hint.no_settings")
