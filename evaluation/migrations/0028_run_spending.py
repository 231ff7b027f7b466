"""What runs have spent is summed as it is spent, not each time that somebody looks."""

from collections import defaultdict

import django.db.models.deletion
from django.db import migrations, models

SUMMED = (
    "calls",
    "cached",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "saved",
    "saved_tokens",
    "seconds",
)
PAID = (("CaseRun", "run"), ("Answer", "case__run"), ("Judgement", "judging__run"))


def sums(apps):
    """What the pieces of work of each run have used together, by the columns of the table."""
    spent = defaultdict(lambda: defaultdict(float))
    served = defaultdict(set)
    for name, run in PAID:
        rows = apps.get_model("evaluation", name).objects.exclude(usage={}).order_by()
        for number, usage in rows.values_list(run, "usage").iterator(chunk_size=2000):
            served[number].update(usage.get("models", []))
            if "calls" not in usage:
                continue
            for amount in SUMMED:
                spent[number][amount] += usage.get(amount) or 0
            asked = (usage["calls"] or 0) > 0
            spent[number]["unpriced"] += asked and usage.get("cost", 0) is None
            spent[number]["unsaved"] += asked and usage.get("saved", 0) is None
    return {number: {**spent[number], "served_by": sorted(served[number])} for number in served}


def sum_up(apps, schema_editor):
    spending = apps.get_model("evaluation", "RunSpending")
    rows = [spending(run_id=number, **values) for number, values in sums(apps).items()]
    spending.objects.bulk_create(rows, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0027_counted_cases")]

    operations = [
        migrations.CreateModel(
            name="RunSpending",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="spending",
                        serialize=False,
                        to="evaluation.run",
                    ),
                ),
                ("calls", models.FloatField(default=0)),
                ("cached", models.FloatField(default=0)),
                ("prompt_tokens", models.FloatField(default=0)),
                ("completion_tokens", models.FloatField(default=0)),
                ("cost", models.FloatField(default=0)),
                ("saved", models.FloatField(default=0)),
                ("saved_tokens", models.FloatField(default=0)),
                ("seconds", models.FloatField(default=0)),
                (
                    "unpriced",
                    models.IntegerField(
                        default=0, help_text="Pieces of work of which the cost is unknown"
                    ),
                ),
                (
                    "unsaved",
                    models.IntegerField(
                        default=0,
                        help_text="Pieces of work of which nobody knows what the cache saved",
                    ),
                ),
                (
                    "served_by",
                    models.JSONField(
                        default=list,
                        help_text="The models that replied, as the server named them",
                    ),
                ),
            ],
            options={"verbose_name": "spending", "verbose_name_plural": "spending"},
        ),
        migrations.RunPython(sum_up, migrations.RunPython.noop),
    ]
