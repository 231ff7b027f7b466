from django.db import migrations


class Migration(migrations.Migration):
    """Every round hands out by priority and then by its seed; a skip goes to somebody else.

    Suggestions are taken over or left: none is dismissed.
    """

    dependencies = [("labeling", "0006_membership_as_it_counts")]

    operations = [
        migrations.RemoveField(model_name="round", name="order"),
        migrations.RemoveField(model_name="round", name="skip_policy"),
        migrations.RemoveField(model_name="firstpass", name="dismissed"),
    ]
