"""The page of experiments is the list of runs; its views named columns that this one lacks."""

from typing import Any

from django.db import migrations, models


def drop(apps: Any, editor: Any) -> None:
    apps.get_model("evaluation", "SavedView").objects.filter(page="experiments").delete()


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0033_run_command_until")]

    operations = [
        migrations.RunPython(drop, migrations.RunPython.noop),
        migrations.AlterField(
            "savedview",
            "page",
            models.CharField(choices=[("runs", "Runs"), ("cases", "Cases")], max_length=20),
        ),
    ]
