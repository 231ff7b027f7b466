"""Looks at test items move into the ledger of labeling, each with its run."""

import django.db.models.deletion
from django.db import migrations, models


def carry_over(apps, schema_editor):
    """In the order in which they were taken; runs from before looks were counted come in, too."""
    Look = apps.get_model("labeling", "Look")
    Run = apps.get_model("evaluation", "Run")
    CaseRun = apps.get_model("evaluation", "CaseRun")
    SplitAccess = apps.get_model("evaluation", "SplitAccess")

    counted = {
        run: (release, user, reason, n_items, at)
        for run, release, user, reason, n_items, at in SplitAccess.objects.order_by(
            "pk"
        ).values_list("run", "release", "user", "reason", "n_items", "at")
    }
    tested = CaseRun.objects.filter(item__split="test").exclude(run__in=counted)
    earlier = dict(
        tested.order_by()
        .values("run")
        .annotate(n=models.Count("item", distinct=True))
        .values_list("run", "n")
    )
    for run in Run.objects.filter(pk__in=earlier):
        whose = (run.release_id, run.requested_by_id, run.reason)
        counted[run.pk] = (*whose, earlier[run.pk], run.created_at)
    for pk, (release, user, reason, n_items, at) in sorted(
        counted.items(), key=lambda row: (row[1][-1], row[0])
    ):
        look = Look.objects.create(
            release_id=release,
            user_id=user,
            purpose="run",
            reason=reason,
            subject="run",
            named=str(pk),
            n_items=n_items,
            at=at,
        )
        Run.objects.filter(pk=pk).update(look=look)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0015_carried_runs"),
        ("labeling", "0025_looks_at_test_items"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="look",
            field=models.OneToOneField(
                help_text="At test items, written down when it was launched; empty: it has none",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="run",
                to="labeling.look",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="reason",
            field=models.TextField(blank=True, help_text="Why test items were looked at"),
        ),
        migrations.AlterField(
            model_name="run",
            name="split",
            field=models.CharField(
                blank=True,
                help_text="Empty: every split; open: all but the test split",
                max_length=5,
            ),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
    ]
