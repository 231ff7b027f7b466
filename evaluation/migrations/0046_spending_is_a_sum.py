from django.db import migrations, models

AMOUNTS = ("calls", "cached", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")


def sum_up(apps, schema_editor):
    """The columns as one usage; money is unknown where it was not known of some piece of work."""
    spendings = apps.get_model("evaluation", "RunSpending")
    for row in spendings.objects.iterator():
        row.usage = {
            **{name: int(getattr(row, name)) for name in AMOUNTS},
            "cost": None if row.unpriced else row.cost,
            "seconds": row.seconds,
            "estimated": row.estimated,
            "schema_by": row.schema_by,
            "models": row.served_by,
        }
        row.save(update_fields=["usage"])


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0045_checkpoints_of_outputs")]

    operations = [
        migrations.AddField(
            "runspending",
            "usage",
            models.JSONField(default=dict, help_text="By the names of Spent, in full"),
        ),
        migrations.RunPython(sum_up, migrations.RunPython.noop),
        *(
            migrations.RemoveField("runspending", name)
            for name in (
                *AMOUNTS, "cost", "seconds", "unpriced", "estimated", "schema_by", "served_by"
            )
        ),
    ]
