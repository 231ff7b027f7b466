from django.db import migrations


def drop(apps, schema_editor):
    """The layers of a conversation are built by runs: nobody asks a worker for them."""
    jobs = apps.get_model("labeling", "Job").objects.using(schema_editor.connection.alias)
    jobs.filter(kind="layers").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0042_spending_in_plain"),
        ("labeling", "0006_membership_as_it_counts"),
    ]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
