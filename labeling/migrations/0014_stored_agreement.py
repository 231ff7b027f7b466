import django.db.models.deletion
from django.db import migrations, models


def ask_for_everything(apps, schema_editor):
    """What was computed before is computed once more, in the form in which it is stored now."""
    Round = apps.get_model("labeling", "Round")
    PendingUpdate = apps.get_model("labeling", "PendingUpdate")
    rounds = Round.objects.exclude(kind="qualifying").order_by("project", "number")
    projects = dict.fromkeys(rounds.values_list("project", flat=True))
    PendingUpdate.objects.bulk_create(PendingUpdate(project_id=project) for project in projects)
    closed = rounds.exclude(state="open").values_list("project", "pk")
    PendingUpdate.objects.bulk_create(
        PendingUpdate(project_id=project, round_id=pk) for project, pk in closed
    )


class Migration(migrations.Migration):
    dependencies = [("labeling", "0013_time_of_decision")]

    operations = [
        migrations.CreateModel(
            name="Measurement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("layer", models.CharField(max_length=20)),
                (
                    "selection",
                    models.CharField(blank=True, help_text="Empty: all labels", max_length=200),
                ),
                ("answers_sha256", models.CharField(blank=True, max_length=64)),
                ("figures", models.JSONField(default=dict, help_text="Agreement on the layer")),
                (
                    "mean_interval",
                    models.JSONField(help_text="95 % interval of the mean of the pairs", null=True),
                ),
                (
                    "units",
                    models.JSONField(help_text="The units, where they had to be matched", null=True),
                ),
                (
                    "conversations",
                    models.JSONField(
                        help_text="By conversation: annotators, units, and units labelled "
                        "differently",
                        default=dict,
                    ),
                ),
                (
                    "splits",
                    models.JSONField(
                        default=list, help_text="Units labelled differently, and who says what"
                    ),
                ),
                (
                    "records",
                    models.JSONField(
                        help_text="Labels of each pair matched one to one", null=True
                    ),
                ),
                (
                    "asked_at",
                    models.DateTimeField(help_text="Asked for since it was measured", null=True),
                ),
                ("measured_at", models.DateTimeField(null=True)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="labeling.round",
                    ),
                ),
            ],
            options={
                "ordering": ["round", "layer", "selection"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["round", "layer", "selection"], name="measurement_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingUpdate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="labeling.conversation",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pending_updates",
                        to="labeling.project",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="labeling.round",
                    ),
                ),
            ],
            options={"ordering": ["pk"]},
        ),
        migrations.DeleteModel(name="Discussion"),
        migrations.RunPython(ask_for_everything, migrations.RunPython.noop),
    ]
