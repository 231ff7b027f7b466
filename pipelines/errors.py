"""What a caller did wrong, told in a sentence that says what to do next."""

from __future__ import annotations

from typing import Any


class PipelineError(Exception):
    """A pipeline cannot be built or run as asked (broken code stays another exception)."""

    code = "pipeline_error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class UnknownPipeline(PipelineError):
    code = "unknown_pipeline"


class UnknownSetting(PipelineError):
    code = "unknown_setting"


class InvalidSetting(PipelineError):
    code = "invalid_setting"


class NoModel(PipelineError):
    """What was asked for needs a language model, and there is none."""

    code = "no_model"


class WrongWeights(PipelineError):
    """The encoder's file is not the one that every figure was made with."""

    code = "wrong_weights"
