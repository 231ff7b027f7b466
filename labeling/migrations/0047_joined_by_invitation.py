from django.db import migrations, models


def note(apps, schema_editor):
    """Who has opened a link themselves says the audit log, by the membership that it made."""
    accepted = apps.get_model("labeling", "Event").objects.filter(
        verb="invitation.accepted", object_type="membership"
    )
    keys = [int(key) for key in accepted.order_by().values_list("object_id", flat=True)]
    memberships = apps.get_model("labeling", "Membership").objects
    for start in range(0, len(keys), 500):
        memberships.filter(pk__in=keys[start : start + 500]).update(by_invitation=True)


class Migration(migrations.Migration):
    dependencies = [("labeling", "0046_draw_indexes")]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="by_invitation",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="The person joined by opening an invitation link",
            ),
        ),
        migrations.RunPython(note, migrations.RunPython.noop),
    ]
