"""Programs name no idempotency keys anymore."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0056_addresses_are_mailed'),
    ]

    operations = [
        migrations.DeleteModel(
            name='KeyedRequest',
        ),
    ]
