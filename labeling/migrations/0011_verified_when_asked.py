from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("labeling", "0010_doubts_are_open")]
    operations = [migrations.DeleteModel(name="ReleaseCheck")]
