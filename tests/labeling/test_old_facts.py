"""Rows of versions that stored English sentences: migrated to facts, or read as they are."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.test import override_settings
from django.utils.translation import override

from labeling.domain.facts import Fact
from labeling.models import GoldCheck, Project, Round, guards
from labeling.words import in_english, words
from tests import factories

migration = import_module("labeling.migrations.0016_facts")

REWORDED = {
    "their common samples hold no unit that both labelled": "nobody used this layer on the same "
    "items, so agreement can't be measured"
}
"""What is said in other words now."""

ONE_LABEL = "both used one and the same label throughout, so chance alone explains the agreement"


@pytest.mark.parametrize(
    "text",
    [
        *migration.TEXTS,
        "skipped: Too long; I gave up",
        "labelled under guidelines v3",
        "“Log in” is about a requirement that they do not have",
        "“a-1” is a label that they do not have or did not rate",
        f"ana and ben, ana and cleo: {ONE_LABEL}; ben and d.e@f: neither marked an event",
        "somebody else's words",
    ],
)
def test_an_old_reason_becomes_a_fact_that_says_the_same(text: str) -> None:
    fact = Fact.from_json(migration.fact_of(text))

    assert in_english(fact) == REWORDED.get(text, text)
    assert (fact.code == "legacy.text") == (text == "somebody else's words")


def test_the_reasons_of_an_old_round_are_migrated_once(project: Project) -> None:
    old = {
        "value": None,
        "reasons": {"value": f"ana and ben: {ONE_LABEL}"},
        "pairs": [{"a": "ana", "b": "ben", "undefined": ONE_LABEL}],
        "excluded": [{"conversation": "c", "annotator": "ana", "reason": "not submitted"}],
        "records": {"layers": {"extraction": [{"undefined": {"fields": "not known here"}}]}},
    }
    measured = factories.open_calibration(project, 1)
    Round.objects.filter(pk=measured.pk).update(agreement=old)

    for _again in range(2):
        migration.forwards(apps, SimpleNamespace(connection=connection))

    figures: Any = Round.objects.get(pk=measured.pk).agreement
    pair = Fact("agreement.pair", a="ana", b="ben")
    of_pair = Fact("agreement.undefined_of_pairs", pairs=[pair], why=Fact("agreement.one_label"))
    assert figures["reasons"]["value"] == Fact("agreement.undefined", reasons=[of_pair]).as_json()
    assert figures["pairs"][0]["undefined"]["code"] == "agreement.one_label"
    assert figures["excluded"][0]["reason"]["code"] == "agreement.not_submitted"
    assert figures["records"]["layers"]["extraction"][0]["undefined"]["fields"] == (
        Fact("legacy.text", text="not known here").as_json()
    )
    with override("de"):
        assert words(Fact.from_json(figures["reasons"]["value"])).startswith("ana und ben: ")


def test_the_reason_of_an_old_check_is_migrated_and_the_check_stays_guarded(
    project: Project,
) -> None:
    checks = import_module("labeling.migrations.0017_facts_of_checks")
    assignment = factories.open_full(project, 1).assignments.all()[0]
    texts = ["", "skipped: nothing of it was found", "words of an older version"]
    for version, text in enumerate(texts):
        row = GoldCheck.objects.create(assignment=assignment, version=version, value=0.0)
        guards.remove(connection)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE labeling_goldcheck SET reason = %s WHERE id = %s", [text, row.pk]
            )
    with override_settings(MIGRATION_MODULES={}):  # also where the tests run without migrations
        steps = MigrationLoader(None, replace_migrations=False)
        state = steps.project_state([("labeling", "0017_facts_of_checks")])

    for _again in range(2):
        checks.forwards(state.apps, SimpleNamespace(connection=connection))
    guards.install(connection)

    rows = GoldCheck.objects.order_by("version")
    assert [row.reason for row in rows] == [
        None,
        Fact("check.skipped"),
        Fact("legacy.text", text="words of an older version"),
    ]
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        rows.update(value=1.0)
