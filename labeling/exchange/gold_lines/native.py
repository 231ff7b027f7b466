"""The native form of gold: one item a line, as an export of a release writes it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from labeling.conversations.formats.answers import (
    LineFault,
    Unreadable,
    as_dict,
    as_list,
    as_text,
    check_version,
    choice_of,
    moment,
)
from labeling.conversations.formats.reading import json_lines, read_each
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.rules.importing import (
    DIFFICULTIES,
    MAX_LENGTHS,
    ORIGINS,
    SPLITS,
    Record,
    Turn,
)
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical
from labeling.domain.facts import Fact
from labeling.gold.rules.content import LabelOrigin
from labeling.gold.rules.release import text_sha256
from labeling.schema import LAYERS, EventSchema, check_payload
from labeling.schema.labels import Payload
from labeling.schema.links import NOT_THERE
from labeling.schema.targets import stages_of


@dataclass(frozen=True, slots=True)
class GoldLine:
    """A conversation with its labels. ``published`` is the provenance that the file gives, and
    ``context`` are the labels of other layers that these refer to, by payload key."""

    record: Record
    gold: Payload
    origins: dict[str, LabelOrigin]
    published: Mapping[str, Any] | None = None
    faults: list[ChatFault] = field(default_factory=list)
    context: Payload = field(default_factory=dict)


ReadLine = tuple[int, GoldLine] | LineFault

_MAY_BE_OPEN = re.compile(
    r"questions\.\d+\.(evidence|answer)|arcs\.\d+\.phases(\.\d+\.evidence)?|empty"
)
"""What published labels may lack: a question without evidence is kept, and never scored."""
_OPTIONAL = {name: layer.may_be_open for name, layer in LAYERS.items()}
"""A project may do without these fields, and its gold is read wherever it goes."""
_SHOWN = 3  # problems of one line


def read_native_gold(
    stream: BinaryIO, layer: str, *, event_schema: EventSchema | None = None
) -> Iterator[ReadLine]:
    """The items of a file, each checked against the schema; a fault for each that is none."""
    return read_each(
        json_lines(stream),
        lambda _, document: _line(as_dict(document, Fact("place.line")), layer, event_schema),
    )


def id_of(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    name = str(value) if type(value) is int else as_text(value, f'"{key}"', required=True)
    if name != name.strip() or not name.isprintable() or len(name) > MAX_LENGTHS["id"]:
        raise Unreadable("file.bad_conversation_id", path=f'"{key}"')
    return name


def _line(document: Mapping[str, Any], layer: str, event_schema: EventSchema | None) -> GoldLine:
    if document.get("layer", layer) != layer:
        raise Unreadable("gold_file.other_layer", named=ascii(document["layer"]), layer=layer)
    check_version(document)
    _check_hash(document)
    messages = as_list(document.get("conversation"), '"conversation"')
    record = Record(
        id=id_of(document, "item_id"),
        turns=tuple(_turn(each, f"conversation[{n}]") for n, each in enumerate(messages)),
        domain=as_text(document.get("domain"), '"domain"')[: MAX_LENGTHS["domain"]],
        difficulty=_choice(document, "difficulty", DIFFICULTIES),
        split=_choice(document, "split", SPLITS),
        origin=_choice(document, "origin", ORIGINS),
        generator=as_text(document.get("generator"), '"generator"')[: MAX_LENGTHS["generator"]],
    )
    if not record.turns:
        raise Unreadable("gold_file.no_message")
    gold = as_dict(document.get("gold"), '"gold"')
    context = _context(document, layer)
    _check({**context, **gold}, layer, record.turns, event_schema)
    published = as_dict(document.get("provenance") or {}, '"provenance"')
    return GoldLine(record, gold, _origins(gold, layer, published), published, context=context)


def _check_hash(document: Mapping[str, Any]) -> None:
    """An item may bring its own hash along, which is of everything else that it says."""
    stated = document.get("sha256")
    if stated is None:
        return
    rest = {key: value for key, value in document.items() if key != "sha256"}
    try:
        actual = text_sha256(canonical_json(rest))
    except NotCanonical as error:
        raise Unreadable(error.fact) from None
    if stated != actual:
        raise Unreadable("gold_file.item_hash", stated=ascii(stated)[:80], actual=actual)


def _context(document: Mapping[str, Any], layer: str) -> Payload:
    """The labels of other layers that the gold refers to."""
    context = as_dict(document.get("given") or {}, '"given"')
    stages = stages_of(layer)
    known = [LAYERS[name].key for stage in stages for name in LAYERS[stage].needs]
    if unknown := sorted(set(context) - set(known)):
        raise Unreadable("gold_file.unknown_context", key=unknown[0], layer=layer)
    return context


def _turn(value: Any, where: str) -> Turn:
    message = as_dict(value, where)
    texts = {
        key: as_text(message.get(key), f"{where}.{key}", required=key != "speaker")
        for key in ("role", "content", "speaker")
    }
    for key in ("role", "speaker"):
        if len(texts[key]) > MAX_LENGTHS[key]:
            raise Unreadable("file.longer_than", path=f"{where}.{key}", most=MAX_LENGTHS[key])
    return Turn(**texts, time=moment(message.get("time"), f"{where}.time"))


def _choice(document: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
    value = document.get(key)
    return choice_of(value, known, f'"{key}"') if value else ""


def _check(
    gold: Mapping[str, Any],
    layer: str,
    turns: Sequence[Turn],
    event_schema: EventSchema | None,
) -> None:
    """Refuse what scoring could not rely on; labels may refer to such of other layers in it."""
    asked = stages_of(layer)
    for stage in asked:
        if not isinstance(gold.get(LAYERS[stage].key), list):
            raise Unreadable("gold_file.no_list", key=LAYERS[stage].key)
    needs = dict.fromkeys(name for stage in asked for name in LAYERS[stage].needs)
    needed = [name for name in needs if LAYERS[name].key in gold]
    surroundings: dict[str, Any] = {
        "layers": list(dict.fromkeys([*asked, *needed])),
        "message_count": len(turns),
        "messages": [turn.content for turn in turns],
        "event_schema": event_schema,
        "empty": not any(gold.values()),
    }
    shape = check_payload(gold, complete=False, **surroundings)
    whole = [
        problem
        for problem in check_payload(gold, complete=True, open_fields=_OPTIONAL, **surroundings)
        if not _MAY_BE_OPEN.fullmatch(problem.path) and (needed or problem.fact != NOT_THERE)
    ]
    problems = [
        Fact("labels.problem", path=f"gold.{path}", why=why)
        for path, why in dict.fromkeys([*shape, *whole])
    ]
    more = len(problems) - _SHOWN
    if more > 0:
        raise Unreadable("labels.problems_and_more", problems=problems[:_SHOWN], number=more)
    if problems:
        raise Unreadable("labels.problems", problems=problems)


def _origins(
    gold: Mapping[str, Any], layer: str, published: Mapping[str, Any]
) -> dict[str, LabelOrigin]:
    """By uid; what the file's own provenance says of a published label's evidence is kept."""
    labels = published.get("labels")
    known = labels if isinstance(labels, dict) else {}
    return {
        str(label["uid"]): _origin(known.get(str(label["uid"])))
        for stage in stages_of(layer)
        for label in gold[LAYERS[stage].key]
    }


def _origin(value: Any) -> LabelOrigin:
    published = value if isinstance(value, dict) else {}
    kept = {name: published[name] for name in _KEPT if name in published}
    return {"how": "imported", "by": [], **kept}  # type: ignore[typeddict-item]


_KEPT = ("cited", "unresolved", "unscorable")


# --- naming conversations -------------------------------------------------------------------------


def conversations_named(file: str, ids: Iterable[str]) -> list[str]:
    """The conversations whose people are in the file's name in the same order.

    Examples
    --------
    >>> conversations_named("arc_cases_emi_elise.json", ["Chat_1_Emi_Elise", "Chat_4_Emi_Paola"])
    ['Chat_1_Emi_Elise']
    """
    words = _words(file.rsplit(".", 1)[0])
    return [name for name in ids if _stands_in(_people(name), words)]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def _people(name: str) -> list[str]:
    return [word for word in _words(name) if word != "chat"]


def _stands_in(people: list[str], words: list[str]) -> bool:
    size = len(people)
    starts = range(len(words) - size + 1)
    return bool(people) and any(words[start : start + size] == people for start in starts)
