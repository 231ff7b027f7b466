from django.db import migrations, models


def name_projects(apps, schema_editor):
    """Of drafts of processes that ended: what they have inserted says the project."""
    Conversation = apps.get_model("labeling", "Conversation")
    Project = apps.get_model("labeling", "Project")
    for draft in apps.get_model("labeling", "ConversationDraft").objects.all():
        inserted = Conversation.objects.filter(pk__gte=draft.first, pk__lte=draft.last)
        project = inserted.order_by("pk").values_list("project_id", flat=True).first()
        if project is None:
            known = Project.objects.filter(slug=draft.slug)
            project = known.values_list("pk", flat=True).first() or 0  # nothing was inserted
        draft.project_id = project
        draft.save(update_fields=["project"])


class Migration(migrations.Migration):
    dependencies = [("labeling", "0048_unconfirmed_addresses")]

    operations = [
        migrations.AddField(
            model_name="conversationdraft",
            name="project",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                default=0,
                on_delete=models.deletion.DO_NOTHING,
                related_name="+",
                to="labeling.project",
            ),
            preserve_default=False,
        ),
        migrations.RunPython(name_projects, migrations.RunPython.noop),
    ]
