"""What flows along the edges, and what the nodes need from outside."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from pipelines.requirements.analyst import Analyst
from pipelines.types import Case


class RequirementsState(TypedDict, total=False):
    """Each key but ``steps`` is written by one node; requirements may be given instead."""

    case: Case  # input
    requirements: list[dict[str, Any]]  # extraction, or input
    inferred_requirements: list[dict[str, Any]]  # inference
    issues: list[dict[str, Any]]  # validation
    document: dict[str, Any]  # document
    steps: Annotated[list[dict[str, Any]], operator.add]  # every node


@dataclass(frozen=True, slots=True)
class Deps:
    analyst: Analyst
