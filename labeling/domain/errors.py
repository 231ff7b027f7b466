"""Errors that a person can act on.

RuleError
├── StaleVersion      somebody saved in between
├── AlreadySubmitted  the answer has to be reopened first
├── NotCanonical      data that cannot be written down in exactly one way
└── EncoderUnusable   the text encoder is missing or not the one that was promised

Further errors derive from :class:`RuleError`, next to the rule they belong to.
"""

import re
from collections.abc import Mapping
from typing import Any

from labeling.domain.facts import Fact

CODE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


class RuleError(Exception):
    """The request breaks a rule (as opposed to: the code is broken, which stays a 500).

    ``fact`` says what happened; the page, command or API that shows it words it. ``code`` (of
    the class) and ``details`` (plain JSON) are what the API tells a program, and do not change.

    >>> error = RuleError("round.too_large", most=500, details={"most": 500})
    >>> error.fact == Fact("round.too_large", most=500), error.details, error.code
    (True, {'most': 500}, 'rule_broken')
    """

    code = "rule_broken"

    def __init__(
        self, fact: str | Fact, /, *, details: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        # A text instead of a code, with the details as keywords: until all of them are facts.
        is_text = isinstance(fact, str) and not CODE.fullmatch(fact)
        if is_text:
            details = {**values, **(details or {})}
            self.fact = Fact("legacy.text", text=fact)
        else:
            self.fact = Fact(fact, **values) if isinstance(fact, str) else fact
        self.message: str = fact if isinstance(fact, str) and is_text else str(self.fact)
        self.details = dict(details or {})
        super().__init__(self.message)


class FileFault(Exception):
    """A file, or a part of one, cannot be taken; ``fact`` says why.

    What a reader of files says of a line is in English in a ``file.fault``.
    """

    def __init__(self, fact: Fact | str) -> None:
        self.fact = fact if isinstance(fact, Fact) else file_fault(fact)
        super().__init__(str(self.fact))


def file_fault(text: str) -> Fact:
    return Fact("file.fault", text=text)


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
