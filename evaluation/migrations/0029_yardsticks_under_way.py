from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0028_run_spending")]

    operations = [
        migrations.AlterField(
            model_name="yardstick",
            name="computed_at",
            field=models.DateTimeField(help_text="NULL: cases are missing", null=True),
        ),
    ]
