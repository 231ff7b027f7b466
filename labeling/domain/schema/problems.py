from typing import NamedTuple


class Problem(NamedTuple):
    """What is wrong with a payload, and where: ``requirements.0.title``."""

    path: str
    message: str
