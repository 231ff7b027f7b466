from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0023_plain_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='scored_cases',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='While it is scored: of how many cases the scores are stored'),
        ),
    ]
