from django.db import migrations


class Migration(migrations.Migration):
    """Which fields were changed after a hint: nothing ever read it."""

    dependencies = [("labeling", "0011_checks_from_gold")]
    operations = [migrations.RemoveField("annotation", "hinted")]
