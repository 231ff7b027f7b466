"""What a run writes down of itself is read and written in one place, older rows as well."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from evaluation.models import Run, RunSpec

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

OLD = {
    "gold": {"name": "demo", "version": 1, "sha256": "abc"},
    "layer": "extraction",
    "matching": {"threshold": 1, "synonyms": [["a", "b"]]},
    "of a later version": {"kept": True},
}


def test_an_older_row_is_read_with_defaults_and_kept_as_it_is(launch: Any) -> None:
    run = launch()
    Run.objects.filter(pk=run.pk).update(spec=RunSpec.model_validate(OLD))

    spec = Run.objects.get(pk=run.pk).spec

    assert (spec.gold.name, spec.matching.threshold, spec.layer) == ("demo", 1, "extraction")
    assert (spec.model, spec.has_answers, spec.predictions, spec.thresholds) == (
        None,
        False,
        None,
        {},
    )
    assert spec.as_json() == OLD
    assert spec.with_values(ruler="r").as_json() == OLD | {"ruler": "r"}


def test_the_column_holds_plain_json_that_can_be_searched(launch: Any) -> None:
    run = launch(seed=7)

    assert Run.objects.filter(spec__seed=7, spec__gold__name="demo").get() == run
    assert Run.objects.values_list("spec__gold__name", flat=True).get() == "demo"
    with connection.cursor() as cursor:
        cursor.execute("SELECT spec FROM evaluation_run")
        assert '"seed": 7' in str(cursor.fetchone()[0]).replace("'", '"')


def test_a_run_keeps_only_the_keys_that_it_has(launch: Any) -> None:
    stored = launch().spec.as_json()

    assert stored["model"] is None
    assert not {"answers", "predictions", "thresholds", "size", "configuration"} & stored.keys()
