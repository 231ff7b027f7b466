"""Pages count the cases of a run by these, without reading the cases themselves."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0026_trials")]

    operations = [
        migrations.AddIndex(
            "caserun",
            models.Index(
                fields=["run", "state", "error_class", "exposure"], name="case_counted"
            ),
        ),
        migrations.AddIndex(
            "caserun",
            models.Index(
                condition=models.Q(("earlier_failures", []), _negated=True),
                fields=["run"],
                name="case_retried",
            ),
        ),
    ]
