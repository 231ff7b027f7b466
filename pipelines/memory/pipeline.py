"""``memory``: which messages of a long conversation answer a question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labeling.domain.encoding import network
from pipelines import prompting
from pipelines.errors import NoModel, PipelineError
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel, Metered
from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.mind import LocalMind, Mind
from pipelines.memory.query.oneshot import MemoryAnswer, answer_once
from pipelines.memory.query.reading import ModelMind
from pipelines.memory.query.talk import Talk, local_ids
from pipelines.memory.trace import retrieval_trace
from pipelines.trained_on import SOURCES
from pipelines.types import Case, Config, Output

NAME = "memory"


class NoQuestion(PipelineError):
    """The case asks nothing, so there is nothing to look for."""


class Memory:
    name = NAME

    def __init__(
        self, config: MemoryConfig, *, open_talk: Callable[[Case], Talk], model: ChatModel | None
    ) -> None:
        """``open_talk`` returns the built conversation of a case, as ``memory.talks`` does."""
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
        if not (case.question or "").strip():
            raise NoQuestion("pipeline.no_question", case=case.case_id)
        talk = self._open_talk(case)
        meter = Metered(self._model) if self._model else None
        answered = self._answer(case, talk, meter)
        return self._output(talk, answered, meter)

    def _answer(self, case: Case, talk: Talk, meter: Metered | None) -> MemoryAnswer:
        question = (case.question or "").strip()
        mind: Mind = ModelMind(self._config, meter) if meter else LocalMind(self._config)
        if self._config.mode == "oneshot":
            return answer_once(question, talk, mind, self._config, task=case.task)
        from pipelines.memory.agent.graph import answer_by_agent
        from pipelines.memory.agent.nodes import Deps

        return answer_by_agent(question, Deps(talk, mind, self._config), task=case.task)

    def _output(self, talk: Talk, answered: MemoryAnswer, meter: Metered | None) -> Output:
        phased = answered.phased
        output: Output = {
            "evidence": local_ids(phased.chosen),
            "ranked": local_ids(_ranking(answered)),
            "phases": [phase.as_json(talk) for phase in phased.phases],
            "answer": phased.answer,
            "cards": answered.cards,
            "model": meter.id if meter else None,
            "mode": self._config.mode,
            "held_out": bool(talk.left_out),
            "trace": retrieval_trace(
                talk,
                answered.candidates,
                answered.verdict,
                phased,
                full=self._config.trace == "full",
            ),
            "steps": answered.steps,
        }
        return output | ({"usage": meter.as_json()} if meter else {})


def _ranking(answered: MemoryAnswer) -> list[int]:
    """What was judged, best first, then the rest of the candidates in their own order."""
    judged = answered.verdict.ranked
    known = set(judged)
    return [*judged, *(at for at in answered.candidates.positions if at not in known)]
