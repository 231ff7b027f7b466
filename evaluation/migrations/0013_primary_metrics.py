"""A project declares which metric decides; a run knows since when its figures could be seen."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F


def fill(apps: Any, schema_editor: Any) -> None:
    """Of a run that is being scored again only its launch is known."""
    runs = apps.get_model("evaluation", "Run").objects.using(schema_editor.connection.alias)
    runs.filter(scored_at__isnull=False).update(first_scored_at=F("scored_at"))
    aggregates = apps.get_model("evaluation", "Aggregate").objects
    again = aggregates.using(schema_editor.connection.alias).filter(run__scored_at=None)
    runs.filter(pk__in=again.values("run")).update(first_scored_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0012_violations_as_facts"),
        ("labeling", "0017_facts_of_checks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "run",
            "first_scored_at",
            models.DateTimeField(
                help_text="Since when its figures could be seen; scoring again leaves it",
                null=True,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.CreateModel(
            "PrimaryMetric",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("layer", models.CharField(max_length=20)),
                ("metric", models.CharField(max_length=100)),
                (
                    "margin",
                    models.FloatField(
                        help_text="The smallest difference of interest, as a share of the "
                        "metric's range"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="primary_metrics",
                        to="labeling.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("margin__gt", 0), ("margin__lt", 1)),
                        name="primary_margin_is_a_share",
                    )
                ],
            },
        ),
    ]
