"""What a server says it counted is not always true; a run says how often, and gives an example."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0029_reply_sizes")]

    operations = [
        migrations.AddField(
            model_name="runspending",
            name="doubted",
            field=models.FloatField(
                default=0,
                help_text="Replies whose count of tokens cannot be true, and was estimated",
            ),
        ),
        migrations.AddField(
            model_name="runspending",
            name="doubt",
            field=models.CharField(
                blank=True, max_length=100, help_text="What one of these counts said"
            ),
        ),
    ]
