from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    dependencies = [("labeling", "0012_index_of_checks")]

    operations = [
        # Not in the database: SQLite would write the table anew and lose its triggers.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="adjudication",
                    name="decided_at",
                    field=models.DateTimeField(default=timezone.now, editable=False),
                )
            ]
        )
    ]
