"""Reading the revisions of an answer. Writing them is part of saving; see annotations."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Func, IntegerField, QuerySet, Value

from labeling.models import AnnotationRevision, Assignment
from labeling.schema import LAYERS


class _LabelCount(Func):
    """How many labels of one layer a payload holds, counted by the database."""

    output_field = IntegerField()

    def __init__(self, key: str) -> None:
        super().__init__(F("payload"), Value(key))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "COALESCE(json_array_length(%(expressions)s), 0)"
        return self.as_sql(
            compiler, connection, template=template, arg_joiner=", '$.' || ", **context
        )

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "COALESCE(jsonb_array_length(%(expressions)s), 0)"
        return self.as_sql(compiler, connection, template=template, arg_joiner=" -> ", **context)


def revisions(assignment: Assignment) -> QuerySet[AnnotationRevision]:
    """Newest first, without their payloads; ``n_labels`` counts the labels of all layers."""
    counts = [_LabelCount(LAYERS[layer].key) for layer in assignment.round.project.layers]
    return (
        AnnotationRevision.objects.filter(annotation__assignment=assignment)
        .select_related("author")
        .defer("payload")
        .annotate(n_labels=sum(counts, start=Value(0)))
        .order_by("-version")
    )
