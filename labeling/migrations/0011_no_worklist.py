from django.db import migrations


class Migration(migrations.Migration):
    """What was checked on the worklist of the guidelines stays in the audit log."""

    dependencies = [("labeling", "0010_doubts_are_open")]
    operations = [migrations.DeleteModel("GuidelineCheck")]
