"""Errors that a person can act on.

RuleError
├── StaleVersion      somebody saved in between
├── AlreadySubmitted  the answer must be reopened first
├── NotCanonical      data that cannot be written down in exactly one way
└── EncoderUnusable   the text encoder is missing or not the one that was promised

Further errors derive from :class:`RuleError`, next to the rule they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labeling.domain.facts import Fact, Value


class RuleError(Exception):
    """The request breaks a rule (unlike a bug, which stays a 500).

    ``fact`` says what happened; the page, command or API that shows it words it. ``code`` (which
    a class names as it is derived) and ``details`` (plain JSON) are what the API tells a program,
    and do not change.

    >>> error = RuleError("round.too_large", most=500, details={"most": 500})
    >>> error.fact == Fact("round.too_large", most=500), error.details, error.code
    (True, {'most': 500}, 'rule_broken')
    """

    code = "rule_broken"

    def __init_subclass__(cls, code: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.code = code or cls.code

    def __init__(
        self, fact: str | Fact, /, *, details: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        self.fact = Fact(fact, **values) if isinstance(fact, str) else fact
        self.details = dict(details or {})
        super().__init__(str(self.fact))


class FileFault(Exception):
    """A file, or a part of one, cannot be taken; ``fact`` says why."""

    def __init__(self, fact: str | Fact, /, **values: Value | Sequence[Value]) -> None:
        self.fact = Fact(fact, **values) if isinstance(fact, str) else fact
        super().__init__(str(self.fact))


class StaleVersion(RuleError, code="stale_version"):
    """Somebody (often another tab of the same person) saved in between."""


class AlreadySubmitted(RuleError, code="already_submitted"):
    """A submitted answer never changes: it must be reopened first."""


class NotCanonical(RuleError, code="not_canonical"):
    """A value has no single written form (NaN, infinity, a key that is not text)."""


class EncoderUnusable(RuleError, code="encoder_unusable"):
    """The packaged text encoder is missing, or its weights are not the recorded ones."""
