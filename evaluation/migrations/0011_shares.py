"""What each case adds to a run's figure is stored; of a mean it follows from the value.

Micro averages that were scored before have no weights: comparing them asks for scoring again.
"""

from typing import Any

from django.db import migrations, models
from django.db.models import F

MICRO = [
    *(f"{kind}_{figure}" for kind in ("pii", "strict", "relaxed", "type")
      for figure in ("precision", "recall", "f1")),
    "hallucination_entity_rate",
]  # fmt: skip


def fill(apps: Any, schema_editor: Any) -> None:
    scores = apps.get_model("evaluation", "Score").objects.using(schema_editor.connection.alias)
    means = scores.filter(value__isnull=False).exclude(metric__in=MICRO)
    means.update(numerator=F("value"), weight=1.0)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0010_judge_samples")]

    operations = [
        migrations.AddField(
            "aggregate",
            "conversations",
            models.PositiveIntegerField(
                help_text="With a value; unknown for what was scored before it was counted",
                null=True,
            ),
        ),
        migrations.AddField(
            "score",
            "numerator",
            models.FloatField(help_text="What the case adds to the run's sum", null=True),
        ),
        migrations.AddField(
            "score",
            "weight",
            models.FloatField(
                help_text="What the sum is divided by; 1 unless the metric is a micro average",
                null=True,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
