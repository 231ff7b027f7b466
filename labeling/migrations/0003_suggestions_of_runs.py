"""Suggestions come from runs without gold: what was asked for and not made has to be asked again."""

from __future__ import annotations

from typing import Any

from django.db import migrations


def forget_jobs(apps: Any, schema_editor: Any) -> None:
    apps.get_model("labeling", "Job").objects.filter(kind="suggestions").delete()


class Migration(migrations.Migration):
    dependencies = [("labeling", "0002_webhooks_of_one_secret")]

    operations = [
        migrations.RunPython(forget_jobs, migrations.RunPython.noop),
        migrations.DeleteModel(name="SuggestionRequest"),
    ]
