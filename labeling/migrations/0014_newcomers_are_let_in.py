from django.db import migrations, models


def end_tries(apps, schema_editor):
    """What somebody has begun and not answered leaves their queue; what they answered stays."""
    Assignment = apps.get_model("labeling", "Assignment")
    parts = Assignment._base_manager.filter(purpose="calibration")
    parts.exclude(annotation__status__in=["submitted", "skipped"]).update(slot=None)
    apps.get_model("labeling", "Qualification").objects.filter(kind="calibration").delete()


class Migration(migrations.Migration):
    dependencies = [("labeling", "0013_verified_when_asked")]
    operations = [
        migrations.RunPython(end_tries, migrations.RunPython.noop),
        migrations.RemoveConstraint("qualification", "qualification_once_per_kind"),
        migrations.RemoveField("qualification", "kind"),
        migrations.RemoveField("qualification", "layers"),
        migrations.RemoveField("qualification", "outcomes"),
        migrations.AddConstraint(
            "qualification",
            models.UniqueConstraint(fields=("project", "user"), name="qualification_once"),
        ),
        migrations.RemoveField("checkplan", "calibrate_on"),
    ]
