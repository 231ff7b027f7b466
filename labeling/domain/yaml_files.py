"""YAML of users: safe, of bounded size, and with the line of each value.

A few lines of YAML can stand for gigabytes, because an alias repeats what an anchor names. So
values are counted as often as they are repeated, before anything is made of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

MAX_BYTES = 2 * 1024 * 1024
MAX_VALUES = 200_000
MAX_CHARACTERS = 16 * 1024 * 1024
MAX_DEPTH = 50

Place = tuple[str | int, ...]
"""Keys and positions on the way to a value."""


class YamlFault(FileFault):
    """The file is not YAML that can be taken; ``line`` says where, if that is known."""

    def __init__(self, fact: Fact, line: int | None = None) -> None:
        super().__init__(fact)
        self.line = line


class YamlDocument(NamedTuple):
    """One document of a file: what it says, and the line of each value."""

    value: Any
    lines: Mapping[Place, int]

    def line_of(self, place: Place) -> int:
        """Of the value, or of the one that it would be in."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_documents(raw: bytes) -> Iterator[YamlDocument]:
    """The documents of a file, as JSON values; what is quoted is text, and so is a date.

    Only ``true``, ``false``, ``null`` and numbers are anything else than text: “yes” and “no” are
    words that people write, as in YAML 1.2.

    Raises
    ------
    YamlFault
        If it is not YAML, not UTF-8, too large, repeats itself without end, or holds a key twice.

    Examples
    --------
    >>> [document] = read_documents(b"title: No\\nsource_messages: [0, 2]\\ncondition: null")
    >>> document.value
    {'title': 'No', 'source_messages': [0, 2], 'condition': None}
    >>> document.line_of(("source_messages", 1))
    2
    """
    for node in compose(raw, loader=_PlainLoader):
        lines: dict[Place, int] = {}
        yield YamlDocument(_value(node, (), lines), lines)


def compose(raw: bytes, *, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> list[yaml.Node]:
    """The nodes of the documents of a file, none of which is too large or repeats without end."""
    if len(raw) > MAX_BYTES:
        raise YamlFault(Fact("file.too_long", limit=MAX_BYTES))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise YamlFault(Fact("file.not_utf8"), line) from None
    try:
        nodes = [node for node in yaml.compose_all(text, Loader=loader) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        said = error.problem or str(error).splitlines()[0]
        raise YamlFault(Fact("yaml.not_yaml", said=said), mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        said = str(error).splitlines()[0]
        raise YamlFault(Fact("yaml.not_yaml", said=said)) from None
    except RecursionError:
        raise YamlFault(Fact("file.too_deep")) from None
    left = _Left()
    for node in nodes:
        _count(node, left, ())
    return nodes


class _Left:
    """How much more a file may hold."""

    def __init__(self) -> None:
        self.values, self.characters = MAX_VALUES, MAX_CHARACTERS

    def take(self, node: yaml.Node) -> None:
        self.values -= 1
        self.characters -= len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        if self.values < 0 or self.characters < 0:
            raise YamlFault(Fact("yaml.too_much", most=MAX_VALUES), _line(node))


def _count(node: yaml.Node, left: _Left, above: tuple[int, ...]) -> None:
    """Each value as often as it is repeated; one that holds itself never ends."""
    left.take(node)
    if id(node) in above:
        raise YamlFault(Fact("yaml.holds_itself"), _line(node))
    if len(above) >= MAX_DEPTH:
        raise YamlFault(Fact("file.too_deep"), _line(node))
    within = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _count(child, left, within)
    elif isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            _count(key, left, within)
            _count(child, left, within)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


class _PlainLoader(yaml.SafeLoader):
    """Knows the few types of YAML 1.2's core that JSON has; the rest is text."""

    yaml_implicit_resolvers: dict[str, Any] = {}


_PLAIN = {
    "null": (re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    "int": (re.compile(r"[-+]?[0-9]+"), list("-+0123456789")),
    "float": (
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
        ),
        list("-+.0123456789"),
    ),
}
for _name, (_pattern, _first) in _PLAIN.items():
    _PlainLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(f"^(?:{_pattern.pattern})$"), _first
    )


def _value(node: yaml.Node, place: Place, lines: dict[Place, int]) -> Any:
    lines.setdefault(place, _line(node))
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if isinstance(node, yaml.SequenceNode) and kind == "seq":
        return [_value(child, (*place, number), lines) for number, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode) and kind == "map":
        return _mapping(node, place, lines)
    if not isinstance(node, yaml.ScalarNode) or kind not in ("str", *_PLAIN):
        raise YamlFault(Fact("yaml.unknown_tag", tag=node.tag), _line(node))
    return _scalar(node, kind)


def _mapping(node: yaml.MappingNode, place: Place, lines: dict[Place, int]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise YamlFault(Fact("yaml.key_is_no_text"), _line(key))
        name = str(key.value)
        if name in values:
            raise YamlFault(Fact("file.key_twice", key=name), _line(key))
        lines[(*place, name)] = _line(key)
        values[name] = _value(child, (*place, name), lines)
    return values


def _scalar(node: yaml.ScalarNode, kind: str) -> Any:
    text = str(node.value)
    if kind != "str" and not _PLAIN[kind][0].fullmatch(text):  # “!!int two”
        raise YamlFault(Fact("yaml.unknown_tag", tag=f"{node.tag} ({text[:40]})"), _line(node))
    try:
        match kind:
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float" if math.isfinite(number := float(text)):
                return number
            case "str":
                return text
    except ValueError:  # a whole number of thousands of digits
        pass
    raise YamlFault(Fact("yaml.number_too_large"), _line(node))
