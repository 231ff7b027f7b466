"""Why an answer to a check has no figure becomes a fact; the comparison itself stays as it is."""

import json
from typing import Any

from django.db import migrations, models

from labeling.models import guards

CODES = {
    "skipped: nothing of it was found": "check.skipped",
    "no layer of this project has gold for it any more": "check.no_gold",
}

GUARDS = guards.never(
    "labeling_goldcheck", "A comparison with gold never changes: it is made anew."
)


def forwards(apps: Any, schema_editor: Any) -> None:
    checks = apps.get_model("labeling", "GoldCheck")._base_manager
    guards.remove(schema_editor.connection, GUARDS)  # written again after every migration
    checks.filter(reason="").update(reason=None)
    for text in checks.exclude(reason=None).values_list("reason", flat=True).distinct():
        if not text.startswith('{"code": '):
            code = CODES.get(text, "legacy.text")
            values = {} if text in CODES else {"text": text}
            fact = json.dumps({"code": code, "values": values}, sort_keys=True)
            checks.filter(reason=text).update(reason=fact)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0016_facts")]

    operations = [
        migrations.AlterField(
            model_name="goldcheck",
            name="reason",
            field=models.TextField(blank=True, help_text="Why there is no value", null=True),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
