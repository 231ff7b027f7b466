from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("labeling", "0012_no_hint_marks")]
    operations = [migrations.DeleteModel(name="ReleaseCheck")]
