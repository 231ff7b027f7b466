from django.core.validators import MinValueValidator
from django.db import migrations, models
from django.db.models import Count, Q


def keep_the_length(apps, schema_editor):
    """A test stays as long as what a lead had chosen for it in 0.6.0."""
    chosen = Count("check_conversations", filter=Q(check_conversations__purpose="qualification"))
    plans = apps.get_model("labeling", "CheckPlan").objects
    for project in apps.get_model("labeling", "Project").objects.annotate(n=chosen):
        if project.n:
            plans.filter(project=project).update(test_on=project.n)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0010_doubts_are_open")]

    operations = [
        migrations.AddField(
            "checkplan",
            "test_on",
            models.PositiveSmallIntegerField(
                default=5,
                help_text="How many conversations it has",
                validators=[MinValueValidator(1)],
            ),
        ),
        migrations.RunPython(keep_the_length, migrations.RunPython.noop),
        migrations.DeleteModel("CheckConversation"),
        migrations.RemoveIndex("conversationagreement", "agreement_by_differing"),
        migrations.RemoveIndex("conversationagreement", "agreement_with_splits"),
        migrations.RemoveField("conversationagreement", "n_annotators"),
        migrations.RemoveField("conversationagreement", "n_units"),
        migrations.RemoveField("conversationagreement", "n_differing"),
        migrations.RemoveField("measurement", "n_conversations"),
    ]
