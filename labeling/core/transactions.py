"""Transactions that PostgreSQL ended so that others could go on: they are carried out again.

Everybody locks in one order, so this is rare; but triggers and foreign keys lock, too, and nobody
should hear of it: nothing was stored, and the second time others are done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction

logger = logging.getLogger(__name__)

Given = ParamSpec("Given")
Result = TypeVar("Result")

TIMES = 3
ENDED = {"40001", "40P01"}  # could not be put in an order with others; waited in a ring


def atomic(act: Callable[Given, Result]) -> Callable[Given, Result]:
    """As Django's decorator; within another transaction that one decides."""

    @wraps(act)
    def carried_out(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for _ in range(TIMES - 1):
            try:
                with transaction.atomic():
                    return act(*args, **kwargs)
            except OperationalError as error:
                if connection.in_atomic_block or not was_ended(error):
                    raise
                logger.warning("%s is carried out again: %s", act.__qualname__, error)
        with transaction.atomic():
            return act(*args, **kwargs)

    return carried_out


def was_ended(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) in ENDED
