from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0042_unanswered_layers")]

    operations = [
        migrations.AddField(
            model_name="qualification",
            name="outcomes",
            field=models.JSONField(default=dict, help_text="What the last calibration is held to"),
        ),
    ]
