import labeling.models.assignments
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0045_draws")]

    operations = [
        migrations.AlterField(
            model_name="assignment",
            name="draw",
            field=labeling.models.assignments.DrawField(
                editable=False,
                help_text="From 0 to 1, by the round's seed: below the rate of the project it is reviewed",
            ),
        ),
        migrations.RemoveIndex(model_name="assignment", name="assignment_work"),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=[
                    *("round", "purpose", "annotator", "status"),
                    *("active_seconds", "answered_at", "slot", "draw"),
                ],
                name="assignment_work",
            ),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(
                condition=models.Q(("status", "submitted")),
                fields=["submitted_at", "id", "assignment"],
                name="annotation_submitted",
            ),
        ),
    ]
