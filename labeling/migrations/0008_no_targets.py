from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("labeling", "0007_one_way_to_hand_out")]

    operations = [migrations.RemoveField("project", "targets")]
