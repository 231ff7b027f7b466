"""The cache of replies has a limit, so each reply says how large it is."""

from django.db import migrations, models
from django.db.models.functions import Cast, Length


def measure(apps, schema_editor):
    """By characters, which is near enough for what is there already."""
    replies = apps.get_model("evaluation", "CachedReply")
    replies.objects.update(size=Length(Cast("reply", models.TextField())))


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0029_yardsticks_under_way")]

    operations = [
        migrations.AddField(
            model_name="cachedreply",
            name="size",
            field=models.PositiveIntegerField(
                default=0, help_text="Bytes of the reply as it is stored"
            ),
        ),
        migrations.RunPython(measure, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="cachedreply",
            index=models.Index(models.F("size"), name="reply_size"),
        ),
    ]
