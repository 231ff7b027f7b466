from django.db import migrations


def write_down(apps, schema_editor):
    """The tags of a run stand in its note, where they are found again."""
    alias = schema_editor.connection.alias
    notes = apps.get_model("evaluation", "RunNote").objects.using(alias)
    tags = {}
    rows = apps.get_model("evaluation", "RunTag").objects.using(alias).order_by("run", "tag")
    for run, tag in rows.values_list("run", "tag"):
        tags.setdefault(run, []).append(tag)
    for run, words in tags.items():
        note, _ = notes.get_or_create(run_id=run, defaults={"text": ""})
        note.text = "\n\n".join(filter(None, [note.text, ", ".join(words)]))
        note.save()


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0043_layers_of_runs")]

    operations = [
        migrations.RunPython(write_down, migrations.RunPython.noop),
        migrations.DeleteModel("RunTag"),
        migrations.RemoveConstraint("gatethresholds", "gate_coverage_is_a_share"),
        migrations.RemoveField("gatethresholds", "min_coverage"),
    ]
