from django.db import migrations, models


def carry_over(apps, schema_editor):
    """Figures of all labels stay, and rows of labels by origin; workers wrote all of them."""
    apps.get_model("labeling", "Measurement").objects.exclude(
        selection="", measured_at__isnull=False
    ).delete()
    rows = apps.get_model("labeling", "ConversationAgreement").objects
    for origin in ("typed", "assisted"):
        rows.filter(selection=f"origin={origin}").update(selection=origin)
    rows.exclude(selection__in=["", "typed", "assisted"]).delete()
    for row in rows.exclude(marks=None).only("annotators", "marks").iterator():
        marks, people = bytes(row.marks), row.annotators
        size = len(marks) // len(people) if people else 0
        row.units = {
            "names": [str(place) for place in range(size)],
            "labels": {
                who: [None if mark == 255 else mark for mark in marks[at * size : at * size + size]]
                for at, who in enumerate(people)
            },
        }
        row.save(update_fields=["units"])
    if schema_editor.connection.vendor == "postgresql":  # it alters no table with open checks
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0008_no_targets")]

    operations = [
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveConstraint("measurement", "measurement_once"),
        migrations.AlterModelOptions("measurement", {"ordering": ["round", "layer"]}),
        migrations.RemoveField("measurement", "selection"),
        migrations.RemoveField("measurement", "asked_at"),
        migrations.AlterField("measurement", "measured_at", models.DateTimeField()),
        migrations.AddConstraint(
            "measurement",
            models.UniqueConstraint(fields=["round", "layer"], name="measurement_once"),
        ),
        migrations.RemoveField("conversationagreement", "marks"),
        migrations.AlterField(
            "conversationagreement",
            "selection",
            models.CharField(
                blank=True, help_text="typed or assisted; empty: all labels", max_length=200
            ),
        ),
        migrations.AlterField(
            "conversationagreement",
            "units",
            models.JSONField(help_text="Their names, and the labels by annotator", null=True),
        ),
        migrations.DeleteModel("EmptyLayer"),
        migrations.RemoveField("checkplan", "show_labels"),
    ]
