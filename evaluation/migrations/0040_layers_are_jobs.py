from django.db import migrations


def ask(apps, schema_editor):
    """The layers that are still asked for: the job of a build is now that of its conversation."""
    alias = schema_editor.connection.alias
    jobs = apps.get_model("labeling", "Job").objects.using(alias)
    builds = apps.get_model("evaluation", "LayerBuild").objects.using(alias)
    jobs.filter(kind="layers").delete()
    open_ = builds.filter(finished_at=None, failure=None).values_list("conversation", flat=True)
    for conversation in open_.order_by().distinct():
        jobs.create(kind="layers", key=conversation)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0001_squashed_0039_trials_are_runs"),
        ("labeling", "0003_suggestions_of_runs"),
    ]

    operations = [
        migrations.RunPython(ask, migrations.RunPython.noop),
        migrations.DeleteModel("LayerBuild"),
    ]
