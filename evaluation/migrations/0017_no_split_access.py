"""The table that looks have left."""

from django.db import migrations

GUARDS = ("update", "delete")


def drop_guards(apps, schema_editor):
    """SQLite drops a table with its triggers, PostgreSQL keeps their functions."""
    if schema_editor.connection.vendor == "postgresql":
        for operation in GUARDS:
            name = f"guard_evaluation_splitaccess_{operation}"
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0016_looks_in_one_ledger")]

    operations = [
        migrations.RunPython(drop_guards, migrations.RunPython.noop),
        migrations.DeleteModel(name="SplitAccess"),
    ]
