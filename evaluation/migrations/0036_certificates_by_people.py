from django.db import migrations, models


class Migration(migrations.Migration):
    """Judges are certified by people alone: their probes, and what they said of them, go."""

    dependencies = [("evaluation", "0035_models_by_name")]

    operations = [
        migrations.RemoveConstraint("judgecertificate", "certificate_once_per_sample"),
        migrations.RemoveField("judgecertificate", "probes"),
        migrations.RemoveField("judgecertificate", "probes_version"),
        migrations.AddConstraint(
            "judgecertificate",
            models.UniqueConstraint(
                condition=models.Q(("sample__isnull", False)),
                fields=("sample", "judge_sha256", "served_model"),
                name="certificate_once_per_sample",
            ),
        ),
        migrations.DeleteModel("Probing"),
    ]
