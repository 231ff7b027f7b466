from django.db import migrations


def open_what_was_asked(apps, schema_editor):
    """What waited for a lead in 0.6.0 is decided now."""
    apps.get_model("labeling", "Reopening").objects.filter(state="asked").update(state="open")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0009_one_figure_a_layer")]
    operations = [migrations.RunPython(open_what_was_asked, migrations.RunPython.noop)]
