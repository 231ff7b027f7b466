"""The audit log says once a day from which addresses a token is used."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0052_tokens_with_scopes")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="used_from",
            field=models.JSONField(
                default=dict, help_text="The day on which each address used it last"
            ),
        ),
    ]
