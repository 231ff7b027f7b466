from django.db import migrations

GONE = ("copy_elsewhere", "open_comment", "small_split", "target_missed")


def forget(apps, schema_editor):
    """A report is made anew by the next check; what it covered is known by keys."""
    apps.get_model("labeling", "LintFinding").objects.filter(kind__in=GONE).delete()


class Migration(migrations.Migration):
    dependencies = [("labeling", "0060_reopenings")]

    operations = [
        migrations.RemoveField("lintfinding", "waiver"),
        migrations.RunPython(forget, migrations.RunPython.noop, elidable=True),
    ]
