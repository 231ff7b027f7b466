from django.db import migrations


class Migration(migrations.Migration):
    """What each checkpoint held is read from the outputs, where it has always been."""

    dependencies = [("evaluation", "0044_one_note_a_run")]

    operations = [migrations.DeleteModel("StageTrace")]
