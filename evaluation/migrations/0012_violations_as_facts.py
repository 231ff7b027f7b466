"""What events break in their schema was an English sentence and becomes a fact.

A sentence that is not recognised is kept under the code ``legacy.text``. A row that holds facts
already is left alone, so that the migration may be tried again.
"""

import re
from typing import Any

from django.db import migrations

SENTENCES = (
    (r"The reply did not parse\.", "metric.not_parsed"),
    (r"The answer is not a list of events\.", "violation.not_a_list"),
    (r"An event is not a JSON object\.", "violation.event_not_an_object"),
    (r"An event has no event_type\.", "violation.no_event_type"),
    (r"An event of type (?P<type>.+) has no list of arguments\.", "violation.no_arguments"),
    (r"There is no event type (?P<type>.+)\.", "violation.unknown_type"),
    (
        r"An argument of (?P<type>.+) is not a JSON object\.",
        "violation.argument_not_an_object",
    ),
    (r"An argument of (?P<type>.+) has no role\.", "violation.no_role"),
    (r"The role (?P<role>.+) of (?P<type>.+) has no argument\.", "violation.no_argument"),
    (r"The event type (?P<type>.+) has no role (?P<role>.+)\.", "violation.unknown_role"),
)
BATCH = 500


def fact_of(text: str) -> dict[str, Any]:
    for pattern, code in SENTENCES:
        if match := re.fullmatch(pattern, text, re.DOTALL):
            return {"code": code, "values": match.groupdict()}
    return {"code": "legacy.text", "values": {"text": text}}


def of_case(detail: dict[str, Any]) -> dict[str, Any]:
    violation = detail["violation"]
    return {**detail, "violation": fact_of(violation)} if isinstance(violation, str) else detail


def of_run(detail: dict[str, Any]) -> dict[str, Any]:
    counts = detail["violations"]
    if not isinstance(counts, dict):
        return detail
    rows = [{"reason": fact_of(text), "count": count} for text, count in counts.items()]
    return {**detail, "violations": rows}


def forwards(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    for model, key, convert in (("Score", "violation", of_case), ("Aggregate", "violations", of_run)):
        rows = apps.get_model("evaluation", model)._base_manager.using(alias)
        rows = rows.filter(metric="schema_compliance_rate", detail__has_key=key)
        last = 0
        while batch := list(rows.filter(pk__gt=last).order_by("pk").only("detail")[:BATCH]):
            for row in batch:
                row.detail = convert(row.detail)
            rows.bulk_update(batch, ["detail"])
            last = batch[-1].pk
    if schema_editor.connection.vendor == "postgresql":
        # Foreign keys of changed rows are looked at now: a table with waiting checks cannot be
        # altered by a later migration.
        schema_editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0011_shares")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
