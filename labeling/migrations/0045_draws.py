import hashlib

import labeling.models.assignments
from django.db import migrations, models

AT_ONCE = 2000


def draw(apps, schema_editor):
    """As the sample has always been drawn: by the seed of the round and the key."""
    Assignment = apps.get_model("labeling", "Assignment")
    last = 0
    while rows := list(
        Assignment.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "round__seed")[:AT_ONCE]
    ):
        with schema_editor.connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE labeling_assignment SET draw = %s WHERE id = %s",
                [(_drawn(seed, pk), pk) for pk, seed in rows],
            )
        last = rows[-1][0]


def _drawn(seed, pk):
    digest = hashlib.sha256(f"{seed}:{pk}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class Migration(migrations.Migration):
    dependencies = [("labeling", "0044_guideline_reasons")]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="draw",
            field=labeling.models.assignments.DrawField(
                editable=False,
                help_text="From 0 to 1, by the round's seed: below the rate of the project it is reviewed",
                null=True,
            ),
        ),
        migrations.RunPython(draw, migrations.RunPython.noop),
    ]
