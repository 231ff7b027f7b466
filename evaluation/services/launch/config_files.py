"""Configuration files: what is to be measured, on what, by what, and what it has to reach.

A file is checked as a whole; each problem is reported with its line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from evaluation.metrics.registry import PROTOCOL_VERSION
from evaluation.services.launch.launch import LAUNCHED
from labeling.domain.canonical import UNSTORABLE
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.yaml_files import Place, YamlFault, compose

FORMATS = {"json": "results.json", "csv": "cases.csv", "predictions": "predictions.jsonl"}
"""What can be written about a run, and as which file."""

DOTTED = re.compile(r"(metrics|protocol)\.([a-z_.]+)")
"""A setting with its section in its name, as the metric specification writes it."""


class ConfigRefused(RuleError, code="config_refused"):
    """Something in a configuration file is wrong, so nothing was started."""

    def __init__(self, fact: Fact, faults: Sequence[object] = ()) -> None:
        super().__init__(fact)
        self.faults = list(faults)
        """Those of the launch, where it is a launch that makes no sense."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Dataset(_Part):
    gold: Annotated[str, Field(min_length=1)]
    split: str = ""
    size: Annotated[int, Field(ge=1)] | None = None
    """Only the first n items."""
    reason: str = ""


class Agent(_Part):
    pipeline: Annotated[str, Field(min_length=1)]
    settings: dict[str, Any] = {}
    datasets: list[str] | None = None
    """Which it is measured on; by default all whose layer it makes."""
    repetitions: int = LAUNCHED["repetitions"]
    evaluate_answers: bool = False
    judge_prompts: dict[str, str] = {}
    model: str = LAUNCHED["model"]
    budget: float | None = None
    budget_tokens: int | None = None


class Reporting(_Part):
    output_dir: str | None = None
    formats: list[Literal["json", "csv", "predictions"]] = ["json", "csv", "predictions"]


class Protocol(_Part):
    version: str | float = PROTOCOL_VERSION


def _name(name: str) -> str:
    if "/" in name or "\\" in name:
        raise PydanticCustomError("config.slash_in_name", "a name holds a slash")
    return name


Name = Annotated[str, Field(min_length=1), AfterValidator(_name)]


class Configuration(_Part):
    name: Annotated[str, Field(max_length=200)] = ""
    version: str = ""
    seed: int = LAUNCHED["seed"]
    datasets: Annotated[dict[Name, Dataset], Field(min_length=1)]
    agents: Annotated[dict[Name, Agent], Field(min_length=1)]
    metrics: dict[str, Any] = {}
    """Lists name what is shown of a data set; everything else are settings of the metrics."""
    thresholds: dict[str, float] = {}
    reporting: Reporting = Reporting()
    protocol: Protocol = Protocol()

    @property
    def listed(self) -> dict[str, list[str]]:
        return {name: value for name, value in self.metrics.items() if isinstance(value, list)}

    @property
    def options(self) -> dict[str, Any]:
        known = {"version", *self.listed}
        return {name: value for name, value in self.metrics.items() if name not in known}


_PARTS: dict[str, type[BaseModel]] = {
    "datasets": Dataset,
    "agents": Agent,
    "reporting": Reporting,
    "protocol": Protocol,
}
"""Sections with nested keys; entries of the first two have names of the user's choice."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    path: Path
    sha256: str
    content: Configuration
    lines: Mapping[Place, int] = field(repr=False)

    def refusal(self, why: Fact, *place: str | int) -> ConfigRefused:
        return ConfigRefused(self.at(why, *place))

    def at(self, why: Fact, *place: str | int) -> Fact:
        """What is wrong, with the line of the value at ``place``."""
        return _at(self.path, _line(self.lines, place), why)

    @property
    def described(self) -> dict[str, str]:
        """What a run keeps of the file that it was launched by."""
        content = self.content
        named = {"name": content.name, "version": content.version}
        return {"file": self.path.name, "sha256": self.sha256, **named}


def read_settings(path: Path) -> Any:
    """What a file of settings alone holds."""
    return _parsed(path, path.read_bytes())[0]


def read(path: Path) -> ConfigFile:
    raw = path.read_bytes()
    document, lines = _parsed(path, raw)
    try:
        content = Configuration.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # an unknown key first: it is often a typing error
        first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
        place = first["loc"]
        raise ConfigRefused(_at(path, _line(lines, place), _fault(first, place))) from error
    return ConfigFile(path, hashlib.sha256(raw).hexdigest(), content, lines)


def _at(path: Path, line: int, why: Fact) -> Fact:
    return Fact("config.at", file=path.name, line=line, why=why)


def nearest(word: str, known: Iterable[str]) -> Fact:
    """A hint at what was probably meant."""
    names = list(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    return Fact("hint.nearest", name=close[0]) if close else Fact("hint.known", names=names)


def _parsed(path: Path, raw: bytes) -> tuple[Any, dict[Place, int]]:
    """The document, and the line of each of its values."""
    try:
        nodes = compose(raw)
        lines = dict(_lines_of(path, nodes[0])) if nodes else {}
        return _unfolded(path, yaml.safe_load(raw), lines), lines
    except YamlFault as fault:
        raise ConfigRefused(_why(path, fault)) from fault
    except yaml.MarkedYAMLError as error:  # a second document, a date that is none
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        why = Fact("config.not_yaml_here", said=error.problem or "")
        raise ConfigRefused(_at(path, line, why)) from error
    except (yaml.YAMLError, ValueError) as error:
        message = str(error).splitlines()[0]
        raise ConfigRefused(Fact("config.not_yaml", file=path.name, said=message)) from error


def _why(path: Path, fault: YamlFault) -> Fact:
    match fault.fact.code:
        case "file.not_utf8":
            return Fact("config.not_utf8", file=path.name)
        case "file.too_deep":
            return Fact("config.too_deep", file=path.name)
        case "yaml.not_yaml":
            said = fault.fact.values["said"]
            if fault.line is None:
                return Fact("config.not_yaml", file=path.name, said=said)
            return _at(path, fault.line, Fact("config.not_yaml_here", said=said))
    return _at(path, fault.line or 1, Fact("config.unreadable", why=fault.fact))


def _unfolded(path: Path, document: Any, lines: dict[Place, int]) -> Any:
    """``metrics.cot.enabled`` at the top as ``cot.enabled`` under ``metrics``."""
    if not isinstance(document, dict):
        return document
    for key in [key for key in document if isinstance(key, str)]:
        match = DOTTED.fullmatch(key)
        if match is None or not isinstance(document.get(match[1], {}), dict):
            continue
        section = document.setdefault(match[1], {})
        if match[2] in section:
            fault = Fact("config.key_twice", key=key)
            raise ConfigRefused(_at(path, lines[(key,)], fault))
        section[match[2]] = document.pop(key)
        lines[match[1], match[2]] = lines[(key,)]
    return document


def _lines_of(path: Path, node: yaml.Node, place: Place = ()) -> Iterator[tuple[Place, int]]:
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        _check_storable(path, node)
    elif isinstance(node, yaml.SequenceNode):
        for number, child in enumerate(node.value):
            yield from _lines_of(path, child, (*place, number))
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            _check_storable(path, key)
            line = key.start_mark.line + 1
            name = str(key.value)
            if name in seen:
                raise ConfigRefused(_at(path, line, Fact("config.key_twice", key=name)))
            seen.add(name)
            yield from _lines_of(path, value, (*place, name))
            yield (*place, name), line


def _check_storable(path: Path, node: yaml.Node) -> None:
    if UNSTORABLE.search(str(node.value)):
        line = node.start_mark.line + 1
        raise ConfigRefused(_at(path, line, Fact("config.bad_character")))


def _line(lines: Mapping[Place, int], place: Place) -> int:
    """Of the value, or of the section it would be in."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def _fault(error: Any, place: Place) -> Fact:
    where = ".".join(str(part) for part in place if part != "[key]")
    if error["type"] == "extra_forbidden":
        part = _PARTS[str(place[0])] if place[1:] else Configuration
        known = list(part.model_fields)
        return Fact("config.unknown_key", key=where, hint=nearest(str(place[-1]), known))
    if error["type"] == "missing":
        return Fact("config.missing", key=where)
    if not where:
        return Fact("config.not_a_mapping")
    own = Fact(error["type"]) if error["type"].startswith("config.") else None
    return Fact("config.invalid", key=where, said=own or error["msg"])
