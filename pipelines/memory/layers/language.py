"""The layers by a language model: where topics begin, how they sound, what belongs together.

The model's mistakes are never filled in: a burst that it didn't divide stays one topic, a mood that
it didn't rate has no value, a pair that it didn't judge is not linked; each is named among the
problems. If the model can't be reached at all, the build stops and continues later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar

from pydantic import BaseModel

from pipelines.errors import Fact, fact
from pipelines.llm import ChatModel, InvalidReply, Refused
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Link, Threads, TopicNode, Topics
from pipelines.memory.layers.threads import closure, similar_pairs
from pipelines.memory.layers.tone import Rating
from pipelines.memory.layers.topics import UNNAMED, key_terms, make_nodes, node_vectors, reason_of
from pipelines.memory.prompts import CURRENT, ask
from pipelines.memory.times import Burst, bursts
from pipelines.types import Encoder, Message

PROMPT_IDS = tuple(CURRENT[name] for name in ("topics", "tones", "links"))
BURSTS_PER_CALL = 8
MESSAGES_PER_CALL = 250
NODES_PER_CALL = 8
PAIRS_PER_CALL = 10
SHOWN_CHARACTERS = 500
FIRST_MESSAGES = 8
CANDIDATE_SIMILARITY = 0.3
NEIGHBOURS = 10
NO_RATING = fact("memory.no_rating")

Progress = Callable[[int, int], None]
Item = TypeVar("Item")
Answer = TypeVar("Answer", bound=BaseModel)


class _Topic(BaseModel):
    name: str
    start: int
    end: int


class _Burst(BaseModel):
    burst: int
    topics: list[_Topic]


class _Bursts(BaseModel):
    bursts: list[_Burst]


class _Tone(BaseModel):
    node_id: str
    emotional_tone: float
    conflict_intensity: float


class _Tones(BaseModel):
    nodes: list[_Tone]


class _Pair(BaseModel):
    pair: int
    linked: bool
    reason: str = ""


class _Pairs(BaseModel):
    pairs: list[_Pair]


def model_topics(
    messages: Sequence[Message], *, model: ChatModel, config: LayersConfig, progress: Progress
) -> Topics:
    in_time = bursts(messages, gap_seconds=config.burst_gap_seconds)
    named: list[tuple[int, Burst, str]] = []
    problems: list[Fact] = []
    for batch in _batches(list(enumerate(in_time, start=1))):
        known = list(dict.fromkeys(name for _, _, name in named))
        answer = _asked(
            model,
            "topics",
            _Bursts,
            problems,
            known=known,
            bursts=[_shown(*item) for item in batch],
        )
        divided = {row.burst: row.topics for row in answer.bursts} if answer else {}
        for number, burst in batch:
            named += _divided(number, burst, divided.get(number, []), problems)
        progress(batch[-1][0], len(in_time))
    nodes = _named_nodes(named)
    return Topics(tuple(nodes), len(in_time), reason_of(messages), tuple(problems), model.id)


def model_ratings(
    nodes: Sequence[TopicNode],
    messages: Sequence[Message],
    *,
    model: ChatModel,
    progress: Progress,
) -> tuple[dict[str, Rating], list[Fact]]:
    """Tone and conflict of every node, and what the model failed to rate."""
    ratings = {node.node_id: Rating(None, None, NO_RATING) for node in nodes}
    problems: list[Fact] = []
    for start in range(0, len(nodes), NODES_PER_CALL):
        batch = nodes[start : start + NODES_PER_CALL]
        shown = [_part(node, messages, len(messages)) for node in batch]
        answer = _asked(model, "tones", _Tones, problems, nodes=shown)
        for row in answer.nodes if answer else []:
            if row.node_id in {node.node_id for node in batch}:
                ratings[row.node_id] = _rating(row)
        progress(start + len(batch), len(nodes))
    missing = [node_id for node_id, rating in ratings.items() if rating.tone is None]
    return ratings, [
        *problems,
        *(fact("memory.node_not_rated", node=node_id) for node_id in missing),
    ]


def model_threads(
    nodes: Sequence[TopicNode],
    messages: Sequence[Message],
    *,
    encoder: Encoder,
    model: ChatModel,
    progress: Progress,
) -> Threads:
    """Similar pairs are proposed by their vectors; the model says which are linked."""
    vectors = node_vectors(nodes, messages, encoder)
    pairs = similar_pairs(nodes, vectors, least=CANDIDATE_SIMILARITY, neighbours=NEIGHBOURS)
    by_id = {node.node_id: node for node in nodes}
    links: list[Link] = []
    problems: list[Fact] = []
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        batch = list(enumerate(pairs[start : start + PAIRS_PER_CALL], start=1))
        shown = [_pair(number, link, by_id, messages) for number, link in batch]
        answer = _asked(model, "links", _Pairs, problems, pairs=shown)
        linked = {row.pair for row in answer.pairs if row.linked} if answer else set()
        links += [link for number, link in batch if number in linked]
        progress(start + len(batch), len(pairs))
    return Threads(tuple(links), tuple(closure(nodes, links)), tuple(problems), model.id)


def _asked(
    model: ChatModel, name: str, answer: type[Answer], problems: list[Fact], **values: Any
) -> Answer | None:
    try:
        return ask(model, name, answer, **values)
    except (InvalidReply, Refused) as error:
        problems.append(error.as_json())
        return None


def _batches(numbered: Sequence[tuple[int, Burst]]) -> Iterator[list[tuple[int, Burst]]]:
    """Few enough bursts and messages for one prompt; a burst is never split."""
    batch: list[tuple[int, Burst]] = []
    for number, burst in numbered:
        size = sum(len(other) for _, other in batch) + len(burst)
        if batch and (len(batch) == BURSTS_PER_CALL or size > MESSAGES_PER_CALL):
            yield batch
            batch = []
        batch.append((number, burst))
    if batch:
        yield batch


def _divided(
    number: int, burst: Burst, topics: Sequence[_Topic], problems: list[Fact]
) -> list[tuple[int, Burst, str]]:
    """By the starts that the model named; messages that it skipped go to the previous topic."""
    place = {message.index + 1: at for at, message in enumerate(burst)}
    usable = [topic for topic in topics if topic.start in place and topic.name.strip()]
    if len(usable) < len(topics) or not usable:
        problems.append(
            fact("memory.topics_unfit", burst=number, fit=len(usable), topics=len(topics))
        )
    if not usable:
        return [(number, burst, UNNAMED)]
    starts = {place[topic.start]: _name(topic) for topic in usable}
    edges = sorted(starts)
    ends = [*edges[1:], len(burst)]
    spans = zip([0, *edges[1:]], ends, edges, strict=True)
    return [(number, burst[start:end], starts[at]) for start, end, at in spans]


def _named_nodes(named: Sequence[tuple[int, Burst, str]]) -> list[TopicNode]:
    parts = [(number, part) for number, part, _ in named]
    nodes = make_nodes(parts, key_terms([part for _, part in parts]))
    latest: dict[str, str] = {}
    result = []
    for node, (_, _, name) in zip(nodes, named, strict=True):
        parent = latest.get(name.casefold())
        result.append(replace(node, topic_name=name, parent_node_id=parent))
        latest[name.casefold()] = node.node_id
    return result


def _name(topic: _Topic) -> str:
    return " ".join(topic.name.split())[:80]


def _rating(row: _Tone) -> Rating:
    tone, conflict = row.emotional_tone, row.conflict_intensity
    if not (-1 <= tone <= 1 and 0 <= conflict <= 1):  # also false for NaN
        return Rating(None, None, NO_RATING)
    return Rating(tone, conflict)


class ShownLine(TypedDict):
    id: int
    speaker: str
    text: str


class ShownBurst(TypedDict):
    burst: int
    messages: list[ShownLine]


class ShownPart(TypedDict):
    """The beginning of a node."""

    node_id: str
    topic: str
    messages: list[ShownLine]


class ShownPair(TypedDict):
    """Two nodes that may belong to one thread."""

    pair: int
    earlier: ShownPart
    later: ShownPart


def _shown(number: int, burst: Burst) -> ShownBurst:
    return {"burst": number, "messages": [_line(message) for message in burst]}


def _part(node: TopicNode, messages: Sequence[Message], most: int) -> ShownPart:
    lines = [_line(messages[local - 1]) for local in node.all_message_ids[:most]]
    return {"node_id": node.node_id, "topic": node.topic_name, "messages": lines}


def _pair(
    number: int, link: Link, by_id: dict[str, TopicNode], messages: Sequence[Message]
) -> ShownPair:
    earlier, later = (by_id[node_id] for node_id in (link.earlier, link.later))
    return {
        "pair": number,
        "earlier": _part(earlier, messages, FIRST_MESSAGES),
        "later": _part(later, messages, FIRST_MESSAGES),
    }


def _line(message: Message) -> ShownLine:
    text = message.content[:SHOWN_CHARACTERS]
    return {"id": message.index + 1, "speaker": message.speaker, "text": text}
