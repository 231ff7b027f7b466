"""What the items of a release are made of, in one hash: did anything change meanwhile?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from labeling.domain.canonical import canonical_json
from labeling.models import Adjudication, Assignment, DisputeOutcome, Project, Review

CHUNK = 2000


def basis_of(project: Project) -> str:
    """Changes with every answer, review, decision and setting that items follow from.

    Answers and rounds may change; what else is named here is only ever added to.
    """
    digest = hashlib.sha256(canonical_json(list(_settings(project))).encode())
    for rows in _rows(project):
        for row in rows.iterator(chunk_size=CHUNK):
            digest.update(repr(row).encode())
    return digest.hexdigest()


def _settings(project: Project) -> Iterator[object]:
    names = ("match_threshold", "actor_synonyms", "layers", "publish_names")
    yield Project.objects.filter(pk=project.pk).values(*names).get()


def _rows(project: Project) -> Iterator[QuerySet[Any, Any]]:
    answers = Assignment.objects.labelling().filter(round__project=project)
    of_answer = ("id", "version", "status", "guideline")
    rounds = project.rounds.labelling()
    reviews = Review.objects.filter(annotation__assignment__round__project=project)
    decisions = Adjudication.objects.filter(conversation__project=project)
    outcomes = DisputeOutcome.objects.filter(dispute__conversation__project=project)
    yield project.conversations.order_by("pk").values_list(
        *("pk", "external_id", "domain", "difficulty", "split")
    )
    yield rounds.order_by("pk").values_list("pk", "kind", "state", "overlap")
    yield answers.order_by("pk").values_list(
        *("pk", "round", "slot"), *(f"annotation__{name}" for name in of_answer)
    )
    yield reviews.order_by("pk").values_list("pk")
    yield decisions.order_by("pk").values_list("pk")
    yield outcomes.order_by("pk").values_list("pk")
