"""Suggestions come from runs without gold: what was asked for and not made has to be asked again."""

from __future__ import annotations

from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    """Jobs of those requests, and figures of the answers under one version of the guidelines."""
    apps.get_model("labeling", "Job").objects.filter(kind="suggestions").delete()
    for name in ("Measurement", "ConversationAgreement"):
        rows = apps.get_model("labeling", name).objects
        rows.filter(selection__contains="guideline=").delete()


class Migration(migrations.Migration):
    dependencies = [("labeling", "0002_webhooks_of_one_secret")]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.DeleteModel(name="SuggestionRequest"),
        migrations.DeleteModel(name="AgreementWithGold"),
        migrations.RemoveField("measurement", "mean_interval"),
    ]
