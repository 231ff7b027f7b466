"""``memory``: which messages of a long conversation answer a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from labeling.domain.encoding import network
from pipelines import prompting
from pipelines.errors import NoModel, PipelineError
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel
from pipelines.memory.config import MemoryConfig
from pipelines.memory.query import reading, steps
from pipelines.memory.query.phases import format_cards
from pipelines.memory.query.steps import Deps, State
from pipelines.memory.talks import Talk, local_ids
from pipelines.trained_on import SOURCES
from pipelines.types import Case, Config, Output

NAME = "memory"
DECIMALS = 4


class NoQuestion(PipelineError):
    """The case asks nothing, so there is nothing to look for."""


class Memory:
    name = NAME

    def __init__(
        self, config: MemoryConfig, *, open_talk: Callable[[Case], Talk], model: ChatModel | None
    ) -> None:
        """``open_talk`` returns the conversation of a case, as ``memory.talks`` does."""
        if config.use_model and model is None:
            raise NoModel("pipeline.setting_needs_model", setting="use_model")
        self.config: Config = config.model_dump(mode="json")
        self._config = config
        self._open_talk = open_talk
        self._model = model if config.use_model else None

    @property
    def version(self) -> str:
        return (
            f"1+{fingerprint(Path(__file__).parent, network.SOURCE, *prompting.READING, *SOURCES)}"
        )

    def prepare(self, case: Case) -> None:
        self._open_talk(case)

    def run(self, case: Case) -> Output:
        if not (question := (case.question or "").strip()):
            raise NoQuestion("pipeline.no_question", case=case.case_id)
        deps = Deps(self._open_talk(case), self._config, self._model)
        start: State = {"question": question, "task": case.task}
        way = _once if self._config.mode == "oneshot" else _by_agent
        state, told = way(start, deps)
        output = self._output(deps.talk, state, told)
        return output | {"model": self._model.id if self._model else None}

    def _output(self, talk: Talk, state: State, told: Sequence[Mapping[str, object]]) -> Output:
        phases = state["phases"]
        return {
            "evidence": local_ids(state["chosen"]),
            "ranked": local_ids(_ranking(state)),
            "phases": [phase.as_json(talk) for phase in phases],
            "answer": state["answer"],
            "cards": format_cards(talk, phases),
            "mode": self._config.mode,
            "held_out": talk.held_out,
            "trace": self._trace(talk, state),
            "steps": list(told),
        }

    def _trace(self, talk: Talk, state: State) -> Mapping[str, object]:
        """The messages at each checkpoint: found, ranked, and chosen; and what was shown."""
        full = self._config.trace == "full"
        found = [*state["ranked"], *sorted(state["shown"] - set(state["ranked"]))]
        places = {"candidates": found, "reranked": _ranking(state), "selected": state["chosen"]}

        def checkpoint(positions: Sequence[int]) -> Mapping[str, object]:
            ids = {"ids": local_ids(positions), "set_size": len(positions)}
            scores = [round(state["chances"].get(at, 0.0), DECIMALS) for at in positions]
            return ids | ({"scores": scores} if full else {})

        return {
            **{name: checkpoint(positions) for name, positions in places.items()},
            "shown": local_ids(sorted(state["shown"])),
            "verbosity": self._config.trace,
            "unknown_ids": state["unknown_ids"],
            "corpus_size": len(talk.messages),
            **({"anchors": list(state["anchors"])} if full and talk.layers else {}),
        }


def _once(start: State, deps: Deps) -> tuple[State, list[Mapping[str, object]]]:
    state = start
    told: list[Mapping[str, object]] = []
    last = reading.read if deps.model else steps.answer
    for name, step in (("intent", steps.plan), ("candidates", steps.retrieve), ("phases", last)):
        added = step(state, deps)
        state = {**state, **added}
        told.append({"node": name, **steps.described(added)})
    told.insert(1, {"node": "anchors", "nodes": list(state["anchors"])})
    cards = format_cards(deps.talk, state["phases"])
    return state, [*told, {"node": "cards", "characters": len(cards)}]


def _by_agent(start: State, deps: Deps) -> tuple[State, list[Mapping[str, object]]]:
    from pipelines.memory import agent

    state = start
    told: list[Mapping[str, object]] = []
    for update in agent.updates(start, deps):
        for node, added in update.items():
            state = {**state, **added}
            told.append({"node": node, **steps.described(added)})
    return state, told


def _ranking(state: State) -> list[int]:
    """What was chosen, then the rest of what was found in its own order."""
    return list(dict.fromkeys((*state["chosen"], *state["ranked"])))
