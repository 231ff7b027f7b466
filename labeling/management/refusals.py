"""What stops an import, as a command says it: all that is wrong, and that nothing was stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from labeling.domain.errors import RuleError
from labeling.management.lint_lines import open_lines
from labeling.services.exchange.conversations import ImportRefused
from labeling.services.gold.lint import LintOpen
from labeling.words import in_english


@contextmanager
def said_on(stderr: Any) -> Iterator[None]:
    try:
        yield
    except ImportRefused as refused:
        for problem in refused.problems:
            stderr.write(in_english(problem))
        raise SystemExit(1) from None
    except LintOpen as error:
        stderr.write("\n".join(open_lines(error)))
        raise CommandError(in_english(error.fact)) from None
    except RuleError as error:
        raise CommandError(in_english(error.fact)) from None
    except OSError as error:
        name = Path(error.filename or "").name
        stderr.write(f"{name}: cannot be read ({error.strerror}); nothing was stored")
        raise SystemExit(1) from None
