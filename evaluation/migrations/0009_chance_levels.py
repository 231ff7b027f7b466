"""What a random answer of the same size is expected to score, of each case and of a run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0008_facts")]

    operations = [
        migrations.AddField(
            "score",
            "chance",
            models.FloatField(
                help_text="Expected of a random answer of the same size", null=True
            ),
        ),
        migrations.AddField(
            "aggregate",
            "chance",
            models.FloatField(
                help_text="Mean chance level of the cases; NULL where the metric has none",
                null=True,
            ),
        ),
    ]
