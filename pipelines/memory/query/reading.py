"""The answer by a language model: whole messages are shown, and only shown ones may be named.

A conversation that fits is the unchanging beginning of the prompt, with the question last, so that
a provider can cache it for the next question. The size is estimated on the safe side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines import prompting
from pipelines.llm import CONTEXT_TOKENS, ChatMessage, ChatModel, InvalidReply, context_of
from pipelines.memory.config import PROMPTS
from pipelines.memory.query import steps
from pipelines.memory.query.phases import Phase
from pipelines.memory.query.steps import Deps, State
from pipelines.memory.talks import Talk

BYTES_PER_TOKEN = 3
RESERVED = 2_000  # tokens for instructions, question and answer
SHARE = 4  # of a longer conversation, the part of the context that one look may fill
NOTE = (
    "Only parts of the conversation are shown. If they do not suffice, ask for more: up to three "
    'short texts in "search", which find messages like them, and ids in "read", such as those '
    'around a shown message; then "phases" is []. Messages found are shown next.'
)
SEARCHES = 3
LAST = "No more messages can be shown: answer now."


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PhaseReply(_Strict):
    title: str
    summary: str
    evidence: list[int]


class Turn(_Strict):
    phases: list[PhaseReply]
    answer: str | None
    search: list[str]
    read: list[int]


def schema_of(size: int) -> dict[str, Any]:
    """The same for every question and look at a conversation, or nothing could be cached."""
    schema = Turn.model_json_schema()
    ids = {"type": "integer", "minimum": 1, "maximum": size}
    schema["$defs"]["PhaseReply"]["properties"]["evidence"]["items"] = ids
    schema["properties"]["read"]["items"] = ids
    return schema


def tokens_in(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def shown(talk: Talk, positions: Iterable[int]) -> list[dict[str, Any]]:
    """Whole messages by day, in the order of the conversation."""
    short = {name: letter for letter, name in talk.short_names.items()}
    lines = ((talk.days[at], talk.messages[at], at + 1) for at in sorted(positions))
    return [
        {
            "day": day.isoformat() if day else None,
            "messages": [f"{id} {short[line.speaker]}: {line.content}" for _, line, id in rows],
        }
        for day, rows in groupby(lines, key=lambda row: row[0])
    ]


def retrieve(state: State, deps: Deps) -> State:
    return {**steps.retrieve(state, deps), "too_long": too_long(deps)}


def too_long(deps: Deps) -> bool:
    """Whether there is a model, and the conversation does not fit into its context."""
    if deps.model is None:
        return False
    whole = shown(deps.talk, range(len(deps.talk.messages)))
    return _size(whole) + RESERVED > _context(deps)


def _context(deps: Deps) -> int:
    """Tokens: what the settings allow, but never more than the model takes."""
    own = context_of(deps.model) if deps.model else CONTEXT_TOKENS
    return min(deps.config.context_tokens, own)


def read(state: State, deps: Deps) -> State:
    """One call: the whole conversation, or the best messages that fit."""
    every = range(len(deps.talk.messages))
    positions = _fitting(state["ranked"], deps, share=1) if too_long(deps) else every
    turn, _ = _asked(_first(state, positions, deps, note=""), deps)
    return _concluded(turn, frozenset(positions), deps)


def look(state: State, deps: Deps) -> State:
    """Read what has been found so far: an answer, or what else is wanted."""
    positions, rounds = state["shown"], state.get("rounds", 0) + 1
    if "exchange" in state:
        exchange = list(state["exchange"])
    else:
        positions = frozenset(_fitting(state["ranked"], deps, share=SHARE))
        exchange = _first(state, positions, deps, note=NOTE)
    if last := rounds >= deps.config.max_rounds:
        exchange[-1] = ChatMessage("user", f"{exchange[-1].content}\n{LAST}")
    turn, said = _asked(exchange, deps)
    wanted = ([], []) if turn.phases or last else (turn.search[:SEARCHES], turn.read)
    return {
        **_concluded(turn, positions, deps),
        "wanted": wanted,
        "rounds": rounds,
        "exchange": [*exchange, ChatMessage("assistant", said)],
    }


def explore(state: State, deps: Deps) -> State:
    """The tools: ``search`` finds messages like a text, ``read`` shows those with these ids."""
    searches, ids = state["wanted"]
    size = len(deps.talk.messages)
    asked = [local - 1 for local in ids if 0 < local <= size]
    found = (deps.talk.index.rank_by("learned", text).indexes for text in searches)
    turns = (row for rows in zip(*found, strict=True) for row in rows)
    new = dict.fromkeys(at for at in (*asked, *turns) if at not in state["shown"])
    positions = _fitting(list(new), deps, share=SHARE)
    more = ChatMessage("user", f"More messages: {_text(shown(deps.talk, positions))}")
    return {
        "shown": state["shown"] | frozenset(positions),
        "exchange": [*state["exchange"], more],
    }


def _first(state: State, positions: Iterable[int], deps: Deps, *, note: str) -> list[ChatMessage]:
    prompt = prompting.read(PROMPTS, deps.config.prompt)
    conversation = {"speakers": deps.talk.short_names, "days": shown(deps.talk, positions)}
    return prompt.filled(conversation=conversation, note=note, question=state["question"])


def _asked(exchange: Sequence[ChatMessage], deps: Deps) -> tuple[Turn, str]:
    model: ChatModel | None = deps.model
    if model is None:
        raise ValueError("reading needs a model")
    reply = model.complete(exchange, schema=schema_of(len(deps.talk.messages)))
    try:
        turn = Turn.model_validate(reply.data)
    except ValidationError as error:
        wrong = {"prompt": deps.config.prompt, "fields": error.error_count()}
        raise InvalidReply("reply.wrong_fields", **wrong) from error
    return turn, json.dumps(reply.data, ensure_ascii=False)


def _fitting(ranked: Sequence[int], deps: Deps, *, share: int) -> list[int]:
    """The best messages that fit into a share of the context, whole."""
    left = (_context(deps) - RESERVED) // share
    chosen = []
    for at in ranked:
        left -= _size(shown(deps.talk, [at]))
        if left < 0:
            break
        chosen.append(at)
    return chosen


def _concluded(turn: Turn, seen: frozenset[int], deps: Deps) -> State:
    """Ids that were not shown are left out and counted; so is a phase that has no others."""
    named = dict.fromkeys(local - 1 for phase in turn.phases for local in phase.evidence)
    phases = [
        Phase(
            phase.title,
            tuple(sorted({local - 1 for local in phase.evidence} & seen)),
            phase.summary,
        )
        for phase in turn.phases
    ]
    chosen = [at for at in named if at in seen]
    return {
        "phases": [phase for phase in phases if phase.evidence],
        "chosen": chosen,
        "answer": turn.answer,
        "shown": seen,
        "unknown_ids": len(named) - len(chosen),
    }


def _size(days: Any) -> int:
    return tokens_in(_text(days))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
