import json

from django.db import migrations, models


def carry_over(apps, schema_editor):
    """The findings of each report, but for a kind that is gone; releases state what was accepted."""
    LintFinding = apps.get_model("labeling", "LintFinding")
    for report in apps.get_model("labeling", "LintReport").objects.iterator():
        rows = LintFinding.objects.filter(report=report).exclude(kind="dangling").order_by("pk")
        report.found = [
            [kind, json.loads(fact), conversation]
            for kind, fact, conversation in rows.values_list("kind", "fact", "conversation")
            if fact
        ]
        report.save(update_fields=["found"])
    if schema_editor.connection.vendor == "postgresql":  # it alters no table with open checks
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0004_no_sign_ins")]

    operations = [
        migrations.AddField("lintreport", "found", models.JSONField(default=list)),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.DeleteModel("LintFinding"),
        migrations.RenameField("lintreport", "found", "findings"),
        migrations.DeleteModel("LintWaiver"),
    ]
