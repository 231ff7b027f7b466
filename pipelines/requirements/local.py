"""``requirements-local``: extraction without any language model."""

from __future__ import annotations

from pathlib import Path

from pipelines.fingerprint import fingerprint
from pipelines.requirements.extraction import nodes
from pipelines.requirements.extraction.state import ExtractionState
from pipelines.requirements.extraction.wanted import Floats
from pipelines.requirements.language import NOTICE, is_foreign, readable
from pipelines.types import Case, Config, Encoder, Output, Settings, setting

NAME = "requirements-local"


class LocalConfig(Settings):
    min_keep: float = setting(
        0.09,
        "What can be said with its verb first is put out when a reader lists it at least this "
        "likely; a rule word for word needs one and a half times that, what leans on what was said "
        "before three times, what is only told 4.2 times.",
        least=0,
        most=1,
    )
    merge_duplicates: bool = setting(True, "Merge requirements that say the same.")
    merge_above: float = setting(
        0.85, "Similarity above which two of them are merged.", least=0, most=1
    )


class RequirementsLocal:
    name = NAME

    def __init__(
        self, config: LocalConfig, encoder: Encoder, weights: Floats | None = None
    ) -> None:
        self.config: Config = config.model_dump(mode="json")
        self._deps = nodes.Deps(
            encoder=encoder,
            min_keep=config.min_keep,
            merge=config.merge_duplicates,
            merge_above=config.merge_above,
            weights=weights,
        )

    @property
    def version(self) -> str:
        return f"5+{fingerprint(Path(__file__).parent)}"

    def run(self, case: Case) -> Output:
        output: Output = {"requirements": self.trace(case)["requirements"], "model": None}
        return output | ({"notice": NOTICE} if is_foreign(case.messages) else {})

    def trace(self, case: Case) -> ExtractionState:
        return trace(case, self._deps)


def trace(case: Case, deps: nodes.Deps) -> ExtractionState:
    """All steps, with what each of them added; of a talk in another language, nothing."""
    state: ExtractionState = {"case": readable(case)}
    state.update(nodes.read_talk(state))
    state.update(nodes.settle(state))
    state.update(nodes.select(state, deps))
    state.update(nodes.word(state))
    state.update(nodes.finish(state, deps))
    return state
