from django.db import migrations, models
from django.db.models import Count

WORK = (("CaseRun", "run"), ("Answer", "case__run"), ("Judgement", "judging__run"))


def count_estimated(apps, schema_editor):
    """Of runs that were made before there was such a count."""
    spending = apps.get_model("evaluation", "RunSpending")
    for name, run in WORK:
        rows = apps.get_model("evaluation", name).objects.filter(usage__estimated=True)
        for pk, n in rows.order_by().values_list(run).annotate(n=Count("pk")):
            spending.objects.filter(run=pk).update(estimated=models.F("estimated") + n)


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0032_figures_by_run"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="command_until",
            field=models.DateTimeField(
                help_text="Until then it is left to the command that works on it", null=True
            ),
        ),
        migrations.AddField(
            model_name="runspending",
            name="estimated",
            field=models.IntegerField(
                default=0, help_text="Pieces of work of which some tokens are our estimate"
            ),
        ),
        migrations.RunPython(count_estimated, migrations.RunPython.noop),
    ]
