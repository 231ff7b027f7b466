"""Why a figure of agreement is missing becomes a code with values, and so do reasons of decisions.

Decisions, releases and the audit log never change: their old texts stay, and pages show them as
they are. What agreement held in English is recognised below; any other text is kept as it is
under the code ``legacy.text``. A row that holds facts already is left alone.
"""

import re
from typing import Any

from django.db import migrations, models

BATCH = 100

TEXTS = {
    "they submitted no sample in common": "agreement.nothing_in_common",
    "their common samples hold no unit that both labelled": "agreement.no_common_unit",
    "both used one and the same label throughout, so chance alone explains the agreement": (
        "agreement.one_label"
    ),
    "agreement needs the submitted labels of at least two annotators": (
        "agreement.too_few_annotators"
    ),
    "no unit was labelled by two annotators": "agreement.no_unit_labelled_by_two",
    "all annotators used one and the same label throughout": "agreement.one_label_of_all",
    "nobody else submitted it": "agreement.submitted_alone",
    "events have no units that could be left out, so they are compared by F1": (
        "agreement.events_without_units"
    ),
    "neither marked an event": "agreement.no_event_marked",
    "no two of their requirements have similar text": "agreement.no_similar_text",
    "these records cite no messages": "agreement.no_messages_cited",
    "not submitted": "agreement.not_submitted",
    "submitted without having seen suggestions": "agreement.no_suggestions_seen",
}

PATTERNS = (
    (r"skipped: (?P<why>.+)", "agreement.skipped"),
    (r"labelled under guidelines v(?P<version>\d+)", "agreement.other_guidelines"),
    (
        r"“(?P<name>.+)” is a label that they do not have or did not rate",
        "agreement.label_not_rated",
    ),
    (
        r"“(?P<name>.+)” is about a requirement that they do not have",
        "agreement.requirement_missing",
    ),
)

PAIR = r"[\w.@+-]+ and [\w.@+-]+"
OF_PAIRS = re.compile(rf"(?P<pairs>{PAIR}(?:, {PAIR})*): (?P<why>.+)", re.DOTALL)
NEXT_PAIRS = re.compile(rf"; (?={PAIR}(?:, {PAIR})*: )")


def fact_of(text: str) -> dict[str, Any]:
    """The JSON of the fact that this English text said."""
    if text in TEXTS:
        return _fact(TEXTS[text])
    for pattern, code in PATTERNS:
        if match := re.fullmatch(pattern, text, re.DOTALL):
            values = match.groupdict()
            return _fact(code, **{k: int(v) if k == "version" else v for k, v in values.items()})
    parts = [OF_PAIRS.fullmatch(part) for part in NEXT_PAIRS.split(text)]
    if all(parts):
        reasons = [_of_pairs(part["pairs"], part["why"]) for part in parts if part]
        return _fact("agreement.undefined", reasons=reasons)
    return _fact("legacy.text", text=text)


def _of_pairs(pairs: str, why: str) -> dict[str, Any]:
    people = [pair.split(" and ") for pair in pairs.split(", ")]
    named = [_fact("agreement.pair", a=a, b=b) for a, b in people]
    return _fact("agreement.undefined_of_pairs", pairs=named, why=fact_of(why))


def _fact(code: str, **values: Any) -> dict[str, Any]:
    return {"code": code, "values": values}


def with_facts(figures: Any) -> Any:
    """Stored agreement with a fact for each English reason."""
    if isinstance(figures, list):
        return [with_facts(one) for one in figures]
    if not isinstance(figures, dict):
        return figures
    return {
        key: _reasons(value) if key in ("reason", "reasons", "undefined") else with_facts(value)
        for key, value in figures.items()
    }


def _reasons(value: Any) -> Any:
    if isinstance(value, str):
        return fact_of(value)
    if isinstance(value, dict) and value.keys() != {"code", "values"}:
        return {name: _reasons(one) for name, one in value.items()}
    return value


def forwards(apps: Any, schema_editor: Any) -> None:
    _rewrite(apps.get_model("labeling", "Round"), ["agreement"])
    _rewrite(apps.get_model("labeling", "Measurement"), ["figures", "records"])


def _rewrite(model: Any, names: list[str]) -> None:
    changed = []
    for row in model._base_manager.order_by("pk").only("pk", *names).iterator(chunk_size=BATCH):
        old = {name: getattr(row, name) for name in names}
        new = {name: with_facts(value) for name, value in old.items()}
        if new == old:
            continue
        for name, value in new.items():
            setattr(row, name, value)
        changed.append(row)
        if len(changed) == BATCH:
            model._base_manager.bulk_update(changed, names)
            changed = []
    model._base_manager.bulk_update(changed, names)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0015_facts_of_suggestions")]

    operations = [
        migrations.RemoveConstraint(model_name="adjudication", name="adjudication_has_reason"),
        migrations.AlterField(
            model_name="adjudication",
            name="reason",
            field=models.TextField(blank=True, help_text="What the person wrote, if anything"),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
