"""The pace of a run is read from its newest cases that have ended, every other second."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0018_case_exposure")]

    operations = [
        migrations.AddIndex(
            "caserun", models.Index(fields=["run", "finished_at"], name="case_ended")
        ),
    ]
