"""Errors that a person can act on.

RuleError
├── StaleVersion      somebody saved in between
├── AlreadySubmitted  the answer has to be reopened first
├── NotCanonical      data that cannot be written down in exactly one way
└── EncoderUnusable   the text encoder is missing or not the one that was promised

Further errors derive from :class:`RuleError` beside the rule they belong to.
"""

from typing import Any


class RuleError(Exception):
    """The request breaks a rule (as opposed to: the code is broken, which stays a 500).

    ``message`` tells a person what to do next, ``code`` and ``details`` (plain
    JSON) tell a program what happened.
    """

    code = "rule_broken"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class StaleVersion(RuleError):
    """Somebody (often another tab of the same person) saved in between."""

    code = "stale_version"


class AlreadySubmitted(RuleError):
    """A submitted answer never changes: it has to be reopened first."""

    code = "already_submitted"


class NotCanonical(RuleError):
    """A value has no single written form (NaN, infinity, a key that is not text)."""

    code = "not_canonical"


class EncoderUnusable(RuleError):
    """The packaged text encoder is missing, or its weights are not the recorded ones."""

    code = "encoder_unusable"
