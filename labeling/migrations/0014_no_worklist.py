from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("labeling", "0013_verified_when_asked")]
    operations = [migrations.DeleteModel(name="GuidelineCheck")]
